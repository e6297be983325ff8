"""Compiled kernels of the search for weights."""

from libc.math cimport INFINITY, exp, fabs, pow, sqrt

import numpy as np

include "kernels/terms.pxi"
include "kernels/votes.pxi"
include "kernels/sorting.pxi"
include "kernels/state.pxi"
include "kernels/flips.pxi"
include "kernels/moves.pxi"
include "kernels/binary.pxi"
include "kernels/ternary.pxi"
