"""Compiled kernels of the trade-off space."""

from libc.math cimport INFINITY, fabs, isnan, log1p

include "kernels/hull.pxi"
