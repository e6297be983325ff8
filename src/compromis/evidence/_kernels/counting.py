"""Counting pairs of small integers."""

from __future__ import annotations

from compromis._kernel import kernel
from compromis._typing import Floats, Ints


@kernel
def count_pairs(truth: Ints, decision: Ints, low: int, high: int, table: Ints) -> int:
    """Add the pairs (truth - low, decision - low) to `table`; return how many rows came before one outside low..high.

    `table` has shape (2, width, width): two halves take turns, because a store to the cell just written would have to
    wait for it, and most rows of a good classifier hit the same few cells.
    """
    first, second = table[0], table[1]
    rows = truth.size
    # two rows at a time, one for each half; both labels of a row are checked before it is counted
    for i in range(0, rows - 1, 2):
        a, b, c, d = truth[i], decision[i], truth[i + 1], decision[i + 1]
        if a < low or a > high or b < low or b > high:
            return i
        first[a - low, b - low] += 1
        if c < low or c > high or d < low or d > high:
            return i + 1
        second[c - low, d - low] += 1
    # the last row of an odd number
    if rows % 2:
        a, b = truth[rows - 1], decision[rows - 1]
        if a < low or a > high or b < low or b > high:
            return rows - 1
        first[a - low, b - low] += 1
    return rows


@kernel
def weigh_pairs(truth: Ints, decision: Ints, weight: Floats, low: int, high: int, table: Floats) -> int:
    """Add weights to ``table[0]`` and squared weights to ``table[1]``; return how many rows came before one outside."""
    # row by row, in order: sums of weights round by their order
    for i in range(truth.size):
        a, b = truth[i], decision[i]
        if a < low or a > high or b < low or b > high:
            return i
        table[0, a - low, b - low] += weight[i]
        table[1, a - low, b - low] += weight[i] * weight[i]
    return truth.size
