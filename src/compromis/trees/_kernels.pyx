"""Compiled kernels of trees: what a cut gains, histograms, the best split, growing, walks and votes."""

from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer
from libc.math cimport INFINITY, fabs, isnan, log2, sqrt
from libc.stdint cimport UINT32_MAX, UINT64_MAX, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t

import numpy as np

include "kernels/gains.pxi"
include "kernels/histograms.pxi"
include "kernels/splitting.pxi"
include "kernels/growing.pxi"
include "kernels/voting.pxi"
