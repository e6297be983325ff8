"""Simulated annealing over weights, after section 3 of the PRAGMA paper: only rows that change are counted again."""

from __future__ import annotations

import numpy as np

from compromis._kernel import kernel
from compromis._typing import Floats, Ints
from compromis.weights._kernels.flips import total_value, weight_bounds
from compromis.weights._kernels.state import (
    Patterns,
    SearchState,
    best_background,
    has_background,
    refresh_losses,
    set_aside,
    set_weight,
    span_of,
    take_back,
    wins,
)
from compromis.weights._kernels.terms import Objective, is_better


@kernel
def recount(patterns: Patterns, objective: Objective, state: SearchState, k: int, new: float) -> None:
    """Bring counts and losses in line with a new weight of class k; weights and scores stay as they are."""
    table, truth, multiplicity = patterns.table, patterns.truth, patterns.multiplicity
    dense, class_row, class_value, smoothing = table.dense, table.class_row, table.class_value, table.smoothing
    first, first_score, second, second_score = state.first, state.first_score, state.second, state.second_score
    hits, predicted, cost, stamp, old = state.hits, state.predicted, objective.cost, state.stamp, state.weight[k]
    background, background_score = best_background(table, state.weight, k)
    costly, is_dense = cost.shape[0] > 1, dense.shape[0] > 0
    begin, entries = span_of(table, truth.size, k)
    for e in range(entries + (truth.size if has_background(table) else 0)):
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
        if value <= 0.0 or other < 0:
            continue
        # only a row that wins k or loses it changes anything
        before, after = wins(old * value, k, score, other), wins(new * value, k, score, other)
        if before == after:
            continue
        source, target = (k, other) if before else (other, k)
        predicted[source] -= multiplicity[i]
        predicted[target] += multiplicity[i]
        if truth[i] == source:
            hits[source] -= multiplicity[i]
        elif truth[i] == target:
            hits[target] += multiplicity[i]
        if costly:
            state.cost[0] += multiplicity[i] * (cost[truth[i], target] - cost[truth[i], source])
    refresh_losses(objective, state)


@kernel
def anneal(
    patterns: Patterns,
    objective: Objective,
    state: SearchState,
    drawn: tuple[Ints, Floats, Floats],
    temperature: Floats,
    best: tuple[Floats, Floats],
    history: Floats,
    max_ratio: float,
) -> None:
    """Make one step per drawn (class, logarithm of a factor, chance); keep the best value and weights in `best`, losses in `history`.

    A shortfall from the minima weighs as much as a loss of the same size when steps are accepted; the best is kept by
    the shortfall first.
    """
    classes, factors, chances = drawn
    best_value, best_weight = best
    shortfall, loss = total_value(objective, state)
    for step in range(classes.size):
        # try a weight: counts first, scores only once it is accepted
        k = classes[step]
        low, high = weight_bounds(state.weight, k, max_ratio)
        new = min(max(state.weight[k] * np.exp(factors[step]), low), high)
        set_aside(state, state.saved[0])
        recount(patterns, objective, state, k, new)
        new_shortfall, new_loss = total_value(objective, state)
        # accept what is no worse, and worse values by chance
        rise = new_shortfall + new_loss - shortfall - loss
        if rise <= 0.0 or chances[step] < np.exp(-rise / temperature[step]):
            shortfall, loss = new_shortfall, new_loss
            set_weight(patterns, state, k, new)
            if is_better(shortfall, loss, best_value[0], best_value[1]):
                best_value[0], best_value[1] = shortfall, loss
                best_weight[:] = state.weight
        else:
            take_back(state, state.saved[0])
        history[step] = loss
