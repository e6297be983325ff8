"""The cell of given weights: how far each can move before a decision changes."""

from __future__ import annotations

import numpy as np

from compromis._kernel import kernel
from compromis.weights._kernels.flips import weight_bounds
from compromis.weights._kernels.state import Patterns, SearchState, best_background, has_background, set_weight, wins


@kernel
def cell_of(patterns: Patterns, state: SearchState, k: int) -> tuple[float, float]:
    """Return the range of class k's weight in which no decision changes; 0 and infinity where there is no flip."""
    table = patterns.table
    dense, class_row, class_value, smoothing = table.dense, table.class_row, table.class_value, table.smoothing
    first, first_score, second, second_score, stamp = (
        state.first,
        state.first_score,
        state.second,
        state.second_score,
        state.stamp,
    )
    background, background_score = best_background(table, state.weight, k)
    weight, is_dense = state.weight[k], dense.shape[0] > 0
    begin, end = 0, first.size
    if not is_dense:
        begin, end = table.class_start[k], table.class_start[k + 1]
    entries = end - begin
    below, above = 0.0, np.inf
    for e in range(entries + (first.size if has_background(table) else 0)):
        if e < entries:
            i = begin + e if is_dense else class_row[begin + e]
            value = (dense[i, k] if is_dense else class_value[begin + e]) + smoothing
            stamp[i] = k
        else:
            i = e - entries
            value = smoothing
            if stamp[i] == k:
                continue
        other, score = first[i], first_score[i]
        if other == k:
            other, score = second[i], second_score[i]
        if background >= 0 and (other < 0 or wins(background_score, background, score, other)):
            other, score = background, background_score
        if value <= 0.0 or other < 0 or score <= 0.0:
            continue
        if wins(weight * value, k, score, other):
            below = max(below, score / value)
        else:
            above = min(above, score / value)
    return below, above


@kernel
def centre(patterns: Patterns, state: SearchState, max_ratio: float, rounds: int) -> None:
    """Move each weight in turn to the geometric middle of its cell, so that rounding changes no decision.

    A cell without an end is taken to end a factor 4 beyond its other end: the weight then lies a factor 2 beyond it.
    """
    for _ in range(rounds):
        for k in range(state.weight.size):
            below, above = cell_of(patterns, state, k)
            if below == 0.0 and above == np.inf:
                continue
            low, high = weight_bounds(state.weight, k, max_ratio)
            low = max(low, below if below > 0.0 else 0.25 * above)
            high = min(high, above if above < np.inf else 4.0 * below)
            if high > low:
                set_weight(patterns, state, k, np.sqrt(low) * np.sqrt(high))
