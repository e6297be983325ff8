"""Compiled kernels of the search for weights."""

from libc.math cimport INFINITY, exp, fabs, pow, sqrt

import numpy as np

include "kernels/objective.pxi"
include "kernels/votes.pxi"
include "kernels/sorting.pxi"
include "kernels/state.pxi"
include "kernels/line_search.pxi"
include "kernels/annealing.pxi"
include "kernels/binary.pxi"
include "kernels/ternary.pxi"
