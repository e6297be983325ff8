"""The running state of a search for weights: the two best scores of each row, and the counts they lead to.

Hot loops unpack the state into local arrays first, and write out what they do with a row: numba pays for every array handed
to a function, and helpers that walk or move rows made sparse sweeps a third slower. With smoothing, classes without a vote
in a row share one background value; of these only the class with the largest weight can win, so the state keeps scores of
voted classes alone and compares with the best background class.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from compromis._kernel import kernel
from compromis._typing import Floats, Ints
from compromis.evidence.vote_table_old import Short, VoteTable
from compromis.weights._kernels.terms import Objective, class_loss, class_shortfall


class Patterns(NamedTuple):
    """What is searched: votes, true classes and multiplicities."""

    table: VoteTable
    truth: Ints
    multiplicity: Floats


class SearchState(NamedTuple):
    """Weights, the two best voted classes of each row, and what the decisions add up to."""

    weight: Floats
    first: Short
    first_score: Floats
    second: Short
    second_score: Floats
    hits: Floats
    predicted: Floats
    loss: Floats
    shortfall: Floats
    cost: Floats
    """One cell: the scaled cost of all rows."""
    ranked: Short
    """Rows by rising first score; kept only with a background."""
    flip: Floats
    """Scratch: where each entry of the class at hand flips; with row and other class beside it."""
    flip_row: Short
    flip_other: Short
    cell_loss: Floats
    """Scratch: shortfall, loss, ends and flips before each cell that a line search tried."""
    cell_shortfall: Floats
    cell_low: Floats
    cell_high: Floats
    cell_taken: Ints
    stamp: Short
    """Scratch: the class for which each row was visited last."""
    saved: Floats
    """Scratch of shape (2, 4, K + 1): hits, predicted, loss, shortfall and cost set aside, twice."""


@kernel
def has_background(table: VoteTable) -> bool:
    """Return whether rows can be predicted as classes they have no vote for, by the background alone."""
    return table.dense.shape[0] == 0 and table.smoothing > 0.0


@kernel
def best_background(table: VoteTable, weight: Floats, without: int) -> tuple[int, float]:
    """Return the class with the best background score, `without` left aside, and the score; (-1, 0) if there is none."""
    if not has_background(table):
        return -1, 0.0
    best, best_score = -1, 0.0
    for k in range(weight.size):
        score = weight[k] * table.smoothing
        if k != without and score > best_score:
            best, best_score = k, score
    return best, best_score


@kernel
def wins(score: float, k: int, other_score: float, other: int) -> bool:
    """Return whether class k beats another: the larger score, at a tie the first class."""
    return score > other_score or (score == other_score and k < other)


@kernel
def best_two(
    dense: NDArray[Any], start: Ints, column: Short, value: Floats, smoothing: float, weight: Floats, i: int
) -> tuple[int, float, int, float]:
    """Return the two best voted classes of row i with their scores, -1 and 0 where there is none."""
    first, second = -1, -1
    first_score, second_score = 0.0, 0.0
    is_dense = dense.shape[0] > 0
    begin, end = 0, dense.shape[1]
    if not is_dense:
        begin, end = start[i], start[i + 1]
    for e in range(begin, end):
        k = e if is_dense else column[e]
        score = weight[k] * ((dense[i, e] if is_dense else value[e]) + smoothing)
        if score > first_score:  # classes come in order, so a tie stays with the first
            second, second_score = first, first_score
            first, first_score = k, score
        elif score > second_score:
            second, second_score = k, score
    return first, first_score, second, second_score


@kernel
def span_of(table: VoteTable, rows: int, k: int) -> tuple[int, int]:
    """Return where the votes for class k begin and how many there are; dense votes have one per row."""
    if table.dense.shape[0] > 0:
        return 0, rows
    return table.class_start[k], table.class_start[k + 1] - table.class_start[k]


@kernel
def refresh_losses(objective: Objective, state: SearchState) -> None:
    """Work out what each class adds to loss and shortfall."""
    for k in range(state.hits.size):
        state.loss[k] = class_loss(objective, k, state.hits[k], state.predicted[k])
        if objective.constrained:
            state.shortfall[k] = class_shortfall(objective, k, state.hits[k], state.predicted[k])


@kernel
def prepare(patterns: Patterns, objective: Objective, state: SearchState) -> None:
    """Bring everything in `state` in line with its weights."""
    table, truth, multiplicity = patterns.table, patterns.truth, patterns.multiplicity
    dense, smoothing = table.dense, table.smoothing
    start, column, value = table.row_start, table.row_class, table.row_value
    weight, hits, predicted, cost = state.weight, state.hits, state.predicted, objective.cost
    first, first_score, second, second_score = state.first, state.first_score, state.second, state.second_score
    hits[:] = 0.0
    predicted[:] = 0.0
    total_cost = 0.0
    costly = cost.shape[0] > 1
    background, background_score = best_background(table, weight, -1)
    for i in range(truth.size):
        first[i], first_score[i], second[i], second_score[i] = best_two(
            dense, start, column, value, smoothing, weight, i
        )
        # the decision: the best voted class, unless the background beats it; a row without either counts nowhere
        k = int(first[i])
        if background >= 0 and wins(background_score, background, first_score[i], k):
            k = background
        if k < 0:
            continue
        predicted[k] += multiplicity[i]
        if truth[i] == k:
            hits[k] += multiplicity[i]
        if costly:
            total_cost += multiplicity[i] * cost[truth[i], k]
    state.cost[0] = total_cost
    refresh_losses(objective, state)
    if background >= 0:
        state.ranked[:] = np.argsort(first_score)


@kernel
def set_weight(patterns: Patterns, state: SearchState, k: int, new: float) -> None:
    """Give class k a new weight and bring the two best of the rows with votes for it in line; counts are the caller's business."""
    table = patterns.table
    dense, smoothing, class_row, class_value = table.dense, table.smoothing, table.class_row, table.class_value
    start, column, value = table.row_start, table.row_class, table.row_value
    weight, first, first_score = state.weight, state.first, state.first_score
    second, second_score = state.second, state.second_score
    moved_row, moved_score = state.flip_row, state.flip
    weight[k] = new
    is_dense = dense.shape[0] > 0
    begin, entries = span_of(table, first.size, k)
    moved = 0
    for e in range(begin, begin + entries):
        i = e if is_dense else class_row[e]
        own = (dense[i, k] if is_dense else class_value[e]) + smoothing
        if own <= 0.0:
            continue
        score = new * own
        before = first_score[i]
        # k was first, second or neither. Where it was among the two and falls, a third class may come up: look at the
        # whole row again. Otherwise comparing with the two is enough.
        anew = False
        if first[i] == k:
            if wins(score, k, second_score[i], second[i]):
                first_score[i] = score
            else:
                anew = True
        elif wins(score, k, first_score[i], first[i]):
            second[i], second_score[i] = first[i], first_score[i]
            first[i], first_score[i] = k, score
        elif second[i] == k:
            if score >= second_score[i]:
                second_score[i] = score
            else:
                anew = True
        elif wins(score, k, second_score[i], second[i]):
            second[i], second_score[i] = k, score
        if anew:
            first[i], first_score[i], second[i], second_score[i] = best_two(
                dense, start, column, value, smoothing, weight, i
            )
        if first_score[i] != before:
            moved_row[moved] = i
            moved_score[moved] = first_score[i]
            moved += 1
    if moved > 0 and has_background(table):
        rank_moved(state, moved)


@kernel
def rank_moved(state: SearchState, moved: int) -> None:
    """Put the rows whose first score changed back into `ranked`; scratch holds them and their scores."""
    ranked, moved_row, moved_score, first_score = state.ranked, state.flip_row, state.flip, state.first_score
    order = np.argsort(moved_score[:moved])
    is_moved = np.zeros(ranked.size, dtype=np.bool_)
    for e in range(moved):
        is_moved[moved_row[e]] = True
    # the rows that did not move are still in order
    kept = np.empty(ranked.size, dtype=np.int32)
    count = 0
    for r in range(ranked.size):
        if not is_moved[ranked[r]]:
            kept[count] = ranked[r]
            count += 1
    # merge the two ordered lists; at a tie the rows that did not move come first
    a, b = 0, 0
    for r in range(ranked.size):
        if b == moved or (a < count and first_score[kept[a]] <= moved_score[order[b]]):
            ranked[r] = kept[a]
            a += 1
        else:
            ranked[r] = moved_row[order[b]]
            b += 1


@kernel
def set_aside(state: SearchState, out: Floats) -> None:
    """Copy what the decisions add up to."""
    classes = state.hits.size
    out[0, :classes], out[1, :classes] = state.hits, state.predicted
    out[2, :classes], out[3, :classes] = state.loss, state.shortfall
    out[0, classes] = state.cost[0]


@kernel
def take_back(state: SearchState, saved: Floats) -> None:
    """Restore what `set_aside` copied."""
    classes = state.hits.size
    state.hits[:], state.predicted[:] = saved[0, :classes], saved[1, :classes]
    state.loss[:], state.shortfall[:] = saved[2, :classes], saved[3, :classes]
    state.cost[0] = saved[0, classes]
