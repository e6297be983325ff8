"""Compiled kernels of the frames: cells of delimited text as codes and numbers."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

include "kernels/numbers.pxi"
include "kernels/labels.pxi"
include "kernels/cells.pxi"
