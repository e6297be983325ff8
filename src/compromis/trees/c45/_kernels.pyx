"""Compiled kernels of C4.5: how good a test is, which one a node gets, how its instances are dealt to the branches."""

from libc.math cimport NAN, fabs, isnan, log, pow, sqrt

import numpy as np

cpdef enum:
    LEAF = -1

cdef double TOLERANCE = 1e-6
SMALL = TOLERANCE  # what Python sees of it

include "kernels/gain.pxi"
include "kernels/split.pxi"
include "kernels/deal.pxi"
