"""Counting pairs of small integers: the door through which all rows pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compromis._kernel import kernel
from compromis._typing import Floats

Codes = NDArray[np.int64]


@kernel
def count_pairs(truth: Codes, decision: Codes, low: int, high: int, table: NDArray[np.int64]) -> int:
    """Add the pairs (truth - low, decision - low) to `table`; return how many rows came before one outside low..high.

    `table` has shape (2, width, width): two halves take turns, because a store to the cell just written would have to
    wait for it, and most rows of a good classifier hit the same few cells.
    """
    first, second = table[0], table[1]
    rows = truth.size
    for i in range(0, rows - 1, 2):
        a, b, c, d = truth[i], decision[i], truth[i + 1], decision[i + 1]
        if a < low or a > high or b < low or b > high:
            return i
        first[a - low, b - low] += 1
        if c < low or c > high or d < low or d > high:
            return i + 1
        second[c - low, d - low] += 1
    if rows % 2:
        a, b = truth[rows - 1], decision[rows - 1]
        if a < low or a > high or b < low or b > high:
            return rows - 1
        first[a - low, b - low] += 1
    return rows


@kernel
def weigh_pairs(truth: Codes, decision: Codes, weight: Floats, low: int, high: int, table: Floats) -> int:
    """Add weights to ``table[0]`` and squared weights to ``table[1]``; return how many rows came before one outside."""
    for i in range(truth.size):
        a, b = truth[i], decision[i]
        if a < low or a > high or b < low or b > high:
            return i
        table[0, a - low, b - low] += weight[i]
        table[1, a - low, b - low] += weight[i] * weight[i]
    return truth.size
