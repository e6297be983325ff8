"""Counting pairs of small integers: the door through which all rows pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compromis.kernels.jit import kernel

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@kernel
def count_pairs(truth: Codes, decision: Codes, low: int, table: NDArray[np.int64]) -> int:
    """Add the pairs (truth - low, decision - low) to `table`; return how many rows came before one outside of it.

    `table` has shape (2, width, width): two halves take turns, because a store to the cell just written would have to
    wait for it, and most rows of a good classifier hit the same few cells.
    """
    width = table.shape[1]
    first, second = table[0], table[1]
    rows = truth.size
    for i in range(0, rows - 1, 2):
        a, b = truth[i] - low, decision[i] - low
        c, d = truth[i + 1] - low, decision[i + 1] - low
        if a < 0 or a >= width or b < 0 or b >= width:
            return i
        first[a, b] += 1
        if c < 0 or c >= width or d < 0 or d >= width:
            return i + 1
        second[c, d] += 1
    if rows % 2:
        a, b = truth[rows - 1] - low, decision[rows - 1] - low
        if a < 0 or a >= width or b < 0 or b >= width:
            return rows - 1
        first[a, b] += 1
    return rows


@kernel
def weigh_pairs(truth: Codes, decision: Codes, weight: Floats, low: int, table: Floats) -> int:
    """Add weights to ``table[0]`` and squared weights to ``table[1]``; return how many rows came before one outside."""
    width = table.shape[1]
    for i in range(truth.size):
        a, b = truth[i] - low, decision[i] - low
        if a < 0 or a >= width or b < 0 or b >= width:
            return i
        table[0, a, b] += weight[i]
        table[1, a, b] += weight[i] * weight[i]
    return truth.size
