"""Compiled kernels of evidence: counting, the cuts of a ranking and areas over them, rows of votes."""

from libc.math cimport INFINITY, log1p

import numpy as np

ctypedef long long int64

ctypedef fused Number:
    int64
    double

ctypedef fused Score:
    float
    double

ctypedef fused Bits:  # of a float32 or float64
    int
    int64

include "kernels/cuts.pxi"
include "kernels/vote_rows.pxi"
