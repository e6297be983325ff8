"""The exact line search for one class's weight, and descents that take the classes in turn.

With the other weights fixed, row i flips once from its best other class to k, at w_k = max_{j != k} w_j v_ij / v_ik. Between
two neighbouring flips lies a cell: an interval of w_k in which every decision stays.
"""

from __future__ import annotations

import numpy as np

from compromis._kernel import kernel
from compromis._typing import Floats, Ints
from compromis.weights._kernels.sorting import sort_order
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
from compromis.weights._kernels.terms import COST, MERGED, Objective, is_better, loss_term, shortfall_term


@kernel
def first_above(state: SearchState, level: float) -> int:
    """Return the position in `ranked` of the first row whose best score exceeds `level`."""
    ranked, first_score = state.ranked, state.first_score
    low, high = 0, ranked.size
    while low < high:
        middle = (low + high) // 2
        if first_score[ranked[middle]] > level:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def gather_flips(
    patterns: Patterns, objective: Objective, state: SearchState, k: int, bounds: tuple[float, float]
) -> tuple[int, int]:
    """Take every row that flips within `bounds` of class k's weight away from it, and note where it flips to it.

    Rows with a vote for k come first in the scratch arrays, those that only the background can flip after them, by rising
    flip; the numbers of both are returned.
    """
    table, truth, multiplicity = patterns.table, patterns.truth, patterns.multiplicity
    dense, class_row, class_value, smoothing = table.dense, table.class_row, table.class_value, table.smoothing
    first, first_score, second, second_score = state.first, state.first_score, state.second, state.second_score
    flip, flip_row, flip_other, stamp, ranked = state.flip, state.flip_row, state.flip_other, state.stamp, state.ranked
    hits, predicted, cost, weight = state.hits, state.predicted, objective.cost, state.weight[k]
    background, background_score = best_background(table, state.weight, k)
    costly, is_dense = cost.shape[0] > 1, dense.shape[0] > 0
    begin, entries = span_of(table, truth.size, k)
    # A row without a vote for k flips at its best other score / smoothing. `ranked` has the rows by that score, so those
    # that flip within the bounds stand next to each other; below the background's score all have the background's flip.
    begin_unvoted, end_unvoted = 0, 0
    if has_background(table) and background_score < bounds[1] * smoothing:
        if background_score <= bounds[0] * smoothing:
            begin_unvoted = first_above(state, bounds[0] * smoothing)
        end_unvoted = max(begin_unvoted, first_above(state, bounds[1] * smoothing))
    unvoted = end_unvoted - begin_unvoted
    voted, count = 0, 0
    for e in range(entries + unvoted):
        # the row, and its smoothed vote for k: votes first, then the background; a stamped row has had its turn
        if e < entries:
            i = begin + e if is_dense else class_row[begin + e]
            value = (dense[i, k] if is_dense else class_value[begin + e]) + smoothing
            if value <= 0.0:
                continue
            stamp[i] = k
        else:
            if e == entries:
                voted = count
            i = ranked[begin_unvoted + e - entries]
            value = smoothing
            if stamp[i] == k:
                continue
        # where it flips; a row without another class never does
        other, score = first[i], first_score[i]
        if other == k:
            other, score = second[i], second_score[i]
        if background >= 0 and (other < 0 or wins(background_score, background, score, other)):
            other, score = background, background_score
        if other < 0 or score <= bounds[0] * value or score >= bounds[1] * value:
            continue
        if wins(weight * value, k, score, other):
            predicted[k] -= multiplicity[i]
            predicted[other] += multiplicity[i]
            if truth[i] == k:
                hits[k] -= multiplicity[i]
            elif truth[i] == other:
                hits[other] += multiplicity[i]
            if costly:
                state.cost[0] += multiplicity[i] * (cost[truth[i], other] - cost[truth[i], k])
        flip[count], flip_row[count], flip_other[count] = score / value, i, other
        count += 1
    if unvoted == 0:
        voted = count
    return voted, count


@kernel
def keep_order(patterns: Patterns, k: int, order: Ints) -> None:
    """Put the votes for class k in the order of their flips: the next search finds them nearly sorted, and branches predictable."""
    table = patterns.table
    begin, end = table.class_start[k], table.class_start[k + 1]
    if order.size != end - begin:  # bounds left some of them out
        return
    class_row, class_value = table.class_row[begin:end], table.class_value[begin:end]
    row, value = class_row.copy(), class_value.copy()
    for e in range(order.size):
        class_row[e] = row[order[e]]
        class_value[e] = value[order[e]]


@kernel
def order_flips(patterns: Patterns, state: SearchState, k: int, voted: int, count: int) -> Ints:
    """Return the scratch entries by rising flip: those with votes are sorted and merged with the others, which are in order."""
    flip = state.flip
    order = sort_order(flip[:voted])
    if patterns.table.dense.shape[0] == 0:
        keep_order(patterns, k, order)
    if voted == count:
        return order
    merged = np.empty(count, dtype=np.int64)
    a, b = 0, voted
    for e in range(count):
        if b == count or (a < voted and flip[order[a]] <= flip[b]):
            merged[e] = order[a]
            a += 1
        else:
            merged[e] = b
            b += 1
    return merged


@kernel
def total_value(objective: Objective, state: SearchState) -> tuple[float, float]:
    """Return shortfall and loss of the state."""
    shortfall = state.shortfall.sum() if objective.constrained else 0.0
    return shortfall, state.cost[0] if objective.code == COST else state.loss.sum()


@kernel
def walk_flips(
    patterns: Patterns, objective: Objective, state: SearchState, k: int, order: Ints, bounds: tuple[float, float]
) -> int:
    """Write down every cell of class k's weight within `bounds`, from weight 0 upwards; return how many there are."""
    truth, multiplicity = patterns.truth, patterns.multiplicity
    flip, flip_row, flip_other = state.flip, state.flip_row, state.flip_other
    cell_loss, cell_shortfall, cell_taken = state.cell_loss, state.cell_shortfall, state.cell_taken
    cell_low, cell_high = state.cell_low, state.cell_high
    hits, predicted, loss, shortfall = state.hits, state.predicted, state.loss, state.shortfall
    code, formula, tiny, cost = objective.code, objective.formula, objective.tiny, objective.cost
    share, recall_weight, support = objective.share, objective.recall_weight, objective.support
    min_precision, min_recall = objective.min_precision, objective.min_recall
    constrained, is_cost = objective.constrained, code == COST
    now_shortfall, now_loss = total_value(objective, state)
    count, taken, cells, position = order.size, 0, 0, 0.0
    while count > 0:
        # the cell between the last flip taken and the coming one; counts, losses and shortfalls are those within it
        coming = flip[order[taken]] if taken < count else np.inf
        low = max(position if position > 0.0 else 0.25 * coming, bounds[0])
        high = min(coming if taken < count else 4.0 * position, bounds[1])
        if high > low * (1.0 + MERGED):
            if constrained:
                now_shortfall = shortfall.sum()
            cell_shortfall[cells], cell_loss[cells] = now_shortfall, now_loss
            cell_low[cells], cell_high[cells], cell_taken[cells] = low, high, taken
            cells += 1
        if taken == count:
            break
        # take every flip that rounding may have moved apart; each changes what its other class adds
        position = coming
        while taken < count and flip[order[taken]] <= position * (1.0 + MERGED):
            entry = order[taken]
            position = flip[entry]
            i, other = flip_row[entry], flip_other[entry]
            size = multiplicity[i]
            predicted[other] -= size
            predicted[k] += size
            if truth[i] == other:
                hits[other] -= size
            elif truth[i] == k:
                hits[k] += size
            if is_cost:
                now_loss += size * (cost[truth[i], k] - cost[truth[i], other])
            taken += 1
            certain = predicted[other] if predicted[other] > tiny else 0.0
            if not is_cost:
                changed = loss_term(
                    code, formula, share[other], recall_weight[other], hits[other], certain, support[other]
                )
                now_loss += changed - loss[other]
                loss[other] = changed
            if constrained:
                shortfall[other] = shortfall_term(
                    min_precision[other], min_recall[other], hits[other], certain, support[other]
                )
        # class k changed with each of them, and is worked out once
        certain = predicted[k] if predicted[k] > tiny else 0.0
        if not is_cost:
            changed = loss_term(code, formula, share[k], recall_weight[k], hits[k], certain, support[k])
            now_loss += changed - loss[k]
            loss[k] = changed
        if constrained:
            shortfall[k] = shortfall_term(min_precision[k], min_recall[k], hits[k], certain, support[k])
    return cells


@kernel
def best_cell(state: SearchState, cells: int) -> int:
    """Return the cell with the smallest shortfall, then loss; of equal ones the widest."""
    cell_loss, cell_shortfall = state.cell_loss, state.cell_shortfall
    cell_low, cell_high = state.cell_low, state.cell_high
    best = -1
    best_shortfall, best_loss, best_width = np.inf, np.inf, 0.0
    for cell in range(cells):
        if is_better(best_shortfall, best_loss, cell_shortfall[cell], cell_loss[cell]):
            continue
        width = cell_high[cell] / cell_low[cell]
        if is_better(cell_shortfall[cell], cell_loss[cell], best_shortfall, best_loss) or width > best_width:
            best, best_width = cell, width
            best_shortfall, best_loss = cell_shortfall[cell], cell_loss[cell]
    return best


@kernel
def drawn_cell(state: SearchState, cells: int, temperature: float, chance: float) -> int:
    """Return a cell drawn with probability in proportion to exp(-(shortfall + loss) / temperature)."""
    cell_loss, cell_shortfall = state.cell_loss, state.cell_shortfall
    lowest = np.inf
    for cell in range(cells):
        lowest = min(lowest, cell_shortfall[cell] + cell_loss[cell])
    # beyond a rise of 30 a cell has less than 1e-13 of the weight of the lowest
    total = 0.0
    for cell in range(cells):
        rise = (cell_shortfall[cell] + cell_loss[cell] - lowest) / temperature
        if rise < 30.0:
            total += np.exp(-rise)
    # walk until the drawn part of the total is used up; rounding may leave a rest, then the last cell is taken
    mark, last = chance * total, -1
    for cell in range(cells):
        rise = (cell_shortfall[cell] + cell_loss[cell] - lowest) / temperature
        if rise < 30.0:
            last = cell
            mark -= np.exp(-rise)
            if mark < 0.0:
                break
    return last


@kernel
def replay(patterns: Patterns, objective: Objective, state: SearchState, k: int, order: Ints, taken: int) -> None:
    """From class k at weight 0, take the first flips in `order`."""
    truth, multiplicity, hits, predicted = patterns.truth, patterns.multiplicity, state.hits, state.predicted
    flip_row, flip_other, cost = state.flip_row, state.flip_other, objective.cost
    costly = cost.shape[0] > 1
    for e in range(taken):
        i, other = flip_row[order[e]], flip_other[order[e]]
        predicted[other] -= multiplicity[i]
        predicted[k] += multiplicity[i]
        if truth[i] == other:
            hits[other] -= multiplicity[i]
        elif truth[i] == k:
            hits[k] += multiplicity[i]
        if costly:
            state.cost[0] += multiplicity[i] * (cost[truth[i], k] - cost[truth[i], other])
    refresh_losses(objective, state)


@kernel
def line_search(
    patterns: Patterns,
    objective: Objective,
    state: SearchState,
    k: int,
    bounds: tuple[float, float],
    heat: tuple[float, float],
) -> tuple[bool, float, int, int]:
    """Give class k the best weight within `bounds` if it improves; return whether it did, that weight, cells tried, entries visited.

    With a temperature above 0 in `heat`, a weight is drawn instead, by the chance beside it.
    """
    # saved[0]: as it was; saved[1]: with class k at the lower bound, from where the flips are walked and replayed
    set_aside(state, state.saved[0])
    shortfall, loss = total_value(objective, state)
    voted, count = gather_flips(patterns, objective, state, k, bounds)
    order = order_flips(patterns, state, k, voted, count)
    refresh_losses(objective, state)
    set_aside(state, state.saved[1])
    cells = walk_flips(patterns, objective, state, k, order, bounds)
    cell = best_cell(state, cells) if heat[0] <= 0.0 else drawn_cell(state, cells, heat[0], heat[1])
    changed = cell >= 0 and (
        heat[0] > 0.0 or is_better(state.cell_shortfall[cell], state.cell_loss[cell], shortfall, loss)
    )
    weight = state.weight[k]
    if (
        changed
    ):  # the geometric middle of the cell; its flips are counted again, as walking further has changed the counts
        weight = np.sqrt(state.cell_low[cell]) * np.sqrt(state.cell_high[cell])
        take_back(state, state.saved[1])
        replay(patterns, objective, state, k, order, state.cell_taken[cell])
        set_weight(patterns, state, k, weight)
    else:
        take_back(state, state.saved[0])
    return changed, weight, cells, count


@kernel
def weight_bounds(weight: Floats, k: int, max_ratio: float) -> tuple[float, float]:
    """Return the range in which class k's weight keeps every ratio of weights within `max_ratio`."""
    smallest, largest = np.inf, 0.0
    for j in range(weight.size):
        if j != k:
            smallest, largest = min(smallest, weight[j]), max(largest, weight[j])
    return largest / max_ratio, smallest * max_ratio


@kernel
def near_bounds(weight: Floats, k: int, max_ratio: float, window: float) -> tuple[float, float]:
    """Return the part of `weight_bounds` within a factor `window` of class k's weight."""
    low, high = weight_bounds(weight, k, max_ratio)
    return max(low, weight[k] / window), min(high, weight[k] * window)


@kernel
def descend(
    patterns: Patterns,
    objective: Objective,
    state: SearchState,
    turns: Ints,
    progress: Ints,
    limits: tuple[float, float, int],
) -> tuple[int, int]:
    """Take the classes in turn until none improves; return cells tried and entries visited.

    `progress` holds the turn at hand and how many classes in a row did not improve; as many as there are classes means
    done. `limits` are the largest ratio of weights, the largest factor of one search, and the entries after which to pause.
    """
    cells, entries = 0, 0
    while progress[1] < turns.size and entries < limits[2]:
        k = turns[progress[0] % turns.size]
        improved, _, tried, visited = line_search(
            patterns, objective, state, k, near_bounds(state.weight, k, limits[0], limits[1]), (0.0, 0.0)
        )
        progress[0] += 1
        progress[1] = 0 if improved else progress[1] + 1
        cells += tried
        entries += visited
    return cells, entries


@kernel
def one_against_rest(
    patterns: Patterns, objective: Objective, state: SearchState, max_ratio: float, best: Floats
) -> tuple[int, int]:
    """Write each class's best weight while all others keep theirs; return cells tried and entries visited."""
    cells, entries = 0, 0
    start = state.weight.copy()
    for k in range(start.size):
        improved, weight, tried, visited = line_search(
            patterns, objective, state, k, weight_bounds(state.weight, k, max_ratio), (0.0, 0.0)
        )
        best[k] = start[k]
        if improved:  # note it, and go back: saved[0] still holds what was before this search
            best[k] = weight
            set_weight(patterns, state, k, start[k])
            take_back(state, state.saved[0])
        cells += tried
        entries += visited
    return cells, entries


@kernel
def draw_in_turn(
    patterns: Patterns,
    objective: Objective,
    state: SearchState,
    drawn: tuple[Ints, Floats],
    temperature: float,
    limits: tuple[float, float],
) -> tuple[int, int]:
    """Draw a weight from its line for each drawn (class, chance); return cells tried and entries visited.

    `limits` are the largest ratio of weights, and the largest factor of one draw.
    """
    chosen, chance = drawn
    cells, entries = 0, 0
    for turn in range(chosen.size):
        k = chosen[turn]
        bounds = near_bounds(state.weight, k, limits[0], limits[1])
        _, _, tried, visited = line_search(patterns, objective, state, k, bounds, (temperature, chance[turn]))
        cells += tried
        entries += visited
    return cells, entries


@kernel
def cell_of(patterns: Patterns, state: SearchState, k: int) -> tuple[float, float]:
    """Return the range of class k's weight in which no decision changes; 0 and infinity where there is no flip."""
    table = patterns.table
    dense, class_row, class_value, smoothing = table.dense, table.class_row, table.class_value, table.smoothing
    first, first_score, second, second_score = state.first, state.first_score, state.second, state.second_score
    stamp, weight = state.stamp, state.weight[k]
    background, background_score = best_background(table, state.weight, k)
    is_dense = dense.shape[0] > 0
    begin, entries = span_of(table, first.size, k)
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
        # a row of class k has its flip below the weight, any other above it
        if wins(weight * value, k, score, other):
            below = max(below, score / value)
        else:
            above = min(above, score / value)
    return below, above


@kernel
def centre(patterns: Patterns, state: SearchState, max_ratio: float) -> None:
    """Move each weight in turn to the geometric middle of its cell, so that rounding changes no decision.

    A cell without an end is taken to end a factor 4 beyond its other end: the weight then lies a factor 2 beyond it.
    """
    for k in range(state.weight.size):
        below, above = cell_of(patterns, state, k)
        if below == 0.0 and above == np.inf:
            continue
        low, high = weight_bounds(state.weight, k, max_ratio)
        low = max(low, below if below > 0.0 else 0.25 * above)
        high = min(high, above if above < np.inf else 4.0 * below)
        if high > low:
            set_weight(patterns, state, k, np.sqrt(low) * np.sqrt(high))
