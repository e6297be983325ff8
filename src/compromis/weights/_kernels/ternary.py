"""All cells of the weights of three classes, pruned by bounds on boxes of weights.

With weights (1, A, B) and x = ln A, y = ln B, row i is of the first class while x < x_i and y < y_i, of the second
while x > x_i and y - x < d_i, of the third otherwise; x_i = ln(v_1 / v_2), y_i = ln(v_1 / v_3), d_i = ln(v_2 / v_3).
Within a box of (x, y), rows that can go one way only are counted; if all others were predicted right as far as they can
be, the loss would be a bound. Boxes whose bound is no better than the best cell are dropped, the others are split, and
small ones are gone through cell by cell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from compromis._kernel import kernel
from compromis._typing import Floats, Ints
from compromis.evidence.vote_table_old import Short
from compromis.weights._kernels.sorting import insertion_sort, merge_sort
from compromis.weights._kernels.terms import COST, MERGED, Objective, class_loss, class_shortfall, is_better

LEAF = 1500
"""Boxes of at most about so many cells are gone through."""


class TernaryRows(NamedTuple):
    """Where each row changes its class, its true class and its multiplicity."""

    x: Floats
    y: Floats
    d: Floats
    truth: Ints
    size: Floats


class Boxes(NamedTuple):
    """The boxes still to be looked at, and what is predicted in each."""

    ends: Floats
    """(depth, 4): x and y from and to."""
    counts: Floats
    """(depth, 7): hits and predicted of the three classes, and the cost."""
    span: Ints
    """(depth, 2): the undecided rows of the box, as a part of the row list."""
    depth: Ints
    """One cell: how many boxes there are."""


class BestCell(NamedTuple):
    """The best cell so far."""

    value: Floats
    """Shortfall and loss of the best cell, then of any cell, those narrower than rounding included."""
    point: Floats
    """x and y in the middle of the best cell."""


@kernel
def value_of_three(objective: Objective, counts: Floats) -> tuple[float, float]:
    """Return shortfall and loss of hits, predicted and cost."""
    shortfall, loss = 0.0, counts[6]
    if objective.code != COST:
        loss = 0.0
        for k in range(3):
            loss += class_loss(objective, k, counts[k], counts[3 + k])
    if objective.constrained:
        for k in range(3):
            shortfall += class_shortfall(objective, k, counts[k], counts[3 + k])
    return shortfall, loss


@kernel
def settle_rows(
    rows: TernaryRows,
    objective: Objective,
    ends: Floats,
    listed: Short,
    undecided: Short,
    counts: Floats,
    ideal: Floats,
) -> tuple[int, int, int]:
    """Count the rows that a box decides, list the others; return their number and how many change at an x and at a y within.

    `counts` is added to; `ideal` becomes the counts with every undecided row right if it can be, and nowhere if not.
    """
    x, y, d, truth, size, cost = rows.x, rows.y, rows.d, rows.truth, rows.size, objective.cost
    costly = cost.shape[0] > 1
    x0, x1, y0, y1 = ends[0], ends[1], ends[2], ends[3]
    ideal[:] = 0.0
    count, across_x, across_y = 0, 0, 0
    for e in range(listed.size):
        # which classes some weights of the box give the row: the signs of x - x_i, y - y_i and y - x - d_i at its corners
        i = listed[e]
        t = truth[i]
        may_1 = x[i] > x0 and y[i] > y0
        may_2 = x[i] < x1 and d[i] > y0 - x1
        may_3 = y[i] < y1 and d[i] < y1 - x0
        ways = int(may_1) + int(may_2) + int(may_3)
        # one way only: the row is settled for every box within this one
        if ways == 1:
            k = 0 if may_1 else 1 if may_2 else 2
            counts[3 + k] += size[i]
            if k == t:
                counts[k] += size[i]
            if costly:
                counts[6] += size[i] * cost[t, k]
            continue
        # several ways, or none by rounding: the row stays undecided
        undecided[count] = i
        count += 1
        if may_1 and may_2 and x[i] > x0 and x[i] < x1:
            across_x += 1
        if may_1 and may_3 and y[i] > y0 and y[i] < y1:
            across_y += 1
        # no weights of the box do better than this: right where it can be, counted nowhere where it cannot
        if (t == 0 and may_1) or (t == 1 and may_2) or (t == 2 and may_3):
            ideal[t] += size[i]
            ideal[3 + t] += size[i]
        if costly:
            least = np.inf
            if may_1 or ways == 0:
                least = min(least, cost[t, 0])
            if may_2 or ways == 0:
                least = min(least, cost[t, 1])
            if may_3 or ways == 0:
                least = min(least, cost[t, 2])
            ideal[6] += size[i] * least
    ideal += counts
    return count, across_x, across_y


@kernel
def middle_of(rows: TernaryRows, undecided: Short, ends: Floats, axis: int) -> float:
    """Return about the median of where the undecided rows leave the first class within a box, along x (axis 0) or y (axis 2)."""
    x, y, d = rows.x, rows.y, rows.d
    x0, x1, y0, y1 = ends[0], ends[1], ends[2], ends[3]
    borders = np.empty(undecided.size)
    count = 0
    for e in range(undecided.size):
        i = undecided[e]
        if axis == 0:
            if x[i] > x0 and x[i] < x1 and y[i] > y0 and d[i] > y0 - x1:
                borders[count] = x[i]
                count += 1
        elif y[i] > y0 and y[i] < y1 and x[i] > x0 and d[i] < y1 - x0:
            borders[count] = y[i]
            count += 1
    # every step-th of them is sample enough for a split
    step = max(1, count // 31)
    taken = (count - 1) // step + 1
    sample = borders[:count:step].copy()
    order = np.arange(taken)
    insertion_sort(sample, order, 0, taken)
    return sample[order[taken // 2]]


@kernel
def sorted_by(values: Floats, listed: Short) -> Ints:
    """Return the listed rows by rising value."""
    order = listed.astype(np.int64)
    if order.size > 24:
        merge_sort(values, order, 0, order.size)
    else:
        insertion_sort(values, order, 0, order.size)
    return order


@kernel
def line_up(
    rows: TernaryRows,
    objective: Objective,
    order: Ints,
    values: Floats,
    side: Floats,
    k: int,
    ends: tuple[float, float, float],
) -> tuple[int, Floats, Floats]:
    """Follow one class k (0 or 1) of a slab upwards as its rows go over to the third class.

    The rows are those of `order` with `side` on k's side of the slab at ends[2]; `values` says where each goes over,
    within ends[0] and ends[1]. Returned: the steps, where each begins (and the last ends), and per step what class k
    keeps (hits, predicted), what the third class gains (hits, predicted) and the cost.
    """
    truth, size, cost = rows.truth, rows.size, objective.cost
    costly = cost.shape[0] > 1
    at = np.empty(order.size + 2)
    gained = np.zeros((order.size + 1, 5))
    at[0] = ends[0]
    steps = 0
    for turn in range(2):  # first everything as class k, then over one by one
        for e in range(order.size):
            i = order[e]
            if (k == 0) != (side[i] > ends[2]):
                continue
            t = truth[i]
            if turn == 0:
                gained[0, 1] += size[i]
                gained[0, 0] += size[i] if t == k else 0.0
                gained[0, 4] += size[i] * cost[t, k] if costly else 0.0
                continue
            if values[i] >= ends[1]:
                break
            if values[i] > at[steps]:
                steps += 1
                at[steps] = values[i]
                gained[steps] = gained[steps - 1]
            gained[steps, 1] -= size[i]
            gained[steps, 3] += size[i]
            gained[steps, 0] -= size[i] if t == k else 0.0
            gained[steps, 2] += size[i] if t == 2 else 0.0
            gained[steps, 4] += size[i] * (cost[t, 2] - cost[t, k]) if costly else 0.0
    at[steps + 1] = ends[1]
    return steps + 1, at, gained


@kernel
def walk_slab(
    objective: Objective,
    counts: Floats,
    slab: tuple[float, float],
    level: tuple[int, Floats, Floats],
    slanted: tuple[int, Floats, Floats],
    best: BestCell,
) -> int:
    """Try every cell of a slab lo < x < hi; return how many there are.

    Cell (i, j) lies above the i-th of the `level` lines y = s and the j-th of the `slanted` lines y = x + m; some x in
    the slab reaches it iff max(lo, s_i - m_j+1) < min(hi, s_i+1 - m_j).
    """
    lo, hi = slab
    levels, s, of_first = level
    slants, m, of_second = slanted
    now = np.empty(7)
    cells, begin = 0, 0
    for i in range(levels):
        # slanted lines that lie below this level all through the slab stay below the next ones too
        while begin < slants - 1 and m[begin + 1] <= s[i] - hi:
            begin += 1
        for j in range(begin, slants):
            if m[j] >= s[i + 1] - lo:  # from here on above the level all through the slab
                break
            # the x that reach the cell, and at their middle the y
            left, right = max(lo, s[i] - m[j + 1]), min(hi, s[i + 1] - m[j])
            if not left < right:
                continue
            x = 0.5 * (left + right)
            bottom, top = max(s[i], m[j] + x), min(s[i + 1], m[j + 1] + x)
            if not bottom < top:
                continue
            # what is settled, plus what the first and second class keep and the third gains
            cells += 1
            now[0], now[3] = counts[0] + of_first[i, 0], counts[3] + of_first[i, 1]
            now[1], now[4] = counts[1] + of_second[j, 0], counts[4] + of_second[j, 1]
            now[2], now[5] = counts[2] + of_first[i, 2] + of_second[j, 2], counts[5] + of_first[i, 3] + of_second[j, 3]
            now[6] = counts[6] + of_first[i, 4] + of_second[j, 4]
            shortfall, loss = value_of_three(objective, now)
            # any cell may disprove that the best is optimal; only one wider than rounding can be the best
            if is_better(shortfall, loss, best.value[2], best.value[3]):
                best.value[2], best.value[3] = shortfall, loss
            if min(right - left, top - bottom) > MERGED and is_better(shortfall, loss, best.value[0], best.value[1]):
                best.value[0], best.value[1] = shortfall, loss
                best.point[0], best.point[1] = x, 0.5 * (bottom + top)
    return cells


@kernel
def walk_box(
    rows: TernaryRows,
    objective: Objective,
    ends: Floats,
    undecided: Short,
    counts: Floats,
    limit: float,
    best: BestCell,
) -> int:
    """Try every cell of a box, slab by slab between the x of its undecided rows; return how many there are."""
    by_x, by_y, by_d = sorted_by(rows.x, undecided), sorted_by(rows.y, undecided), sorted_by(rows.d, undecided)
    cells, e, lo = 0, 0, ends[0]
    while lo < ends[1]:
        # within a slab the first class keeps the rows to its right, the second those to its left
        while e < by_x.size and not rows.x[by_x[e]] > lo:
            e += 1
        hi = min(rows.x[by_x[e]], ends[1]) if e < by_x.size else ends[1]
        level = line_up(rows, objective, by_y, rows.y, rows.x, 0, (ends[2], ends[3], lo))
        slanted = line_up(
            rows, objective, by_d, rows.d, rows.x, 1, (max(ends[2] - hi, -limit), min(ends[3] - lo, limit), lo)
        )
        cells += walk_slab(objective, counts, (lo, hi), level, slanted, best)
        lo = hi
    return cells


@kernel
def search_boxes(
    rows: TernaryRows, objective: Objective, boxes: Boxes, listed: Short, limit: float, best: BestCell, quota: int
) -> tuple[Short, int]:
    """Look at boxes until none is left or `quota` cells were tried; return the row list, which may have grown, and the cells tried.

    `limit` is the largest difference of y and x; boxes keep x and y within theirs.
    """
    counts, ideal = np.empty(7), np.empty(7)
    cells = 0
    while boxes.depth[0] > 0 and cells < quota:
        # take the last box off the stack, and settle its rows; their list is needed no longer once its children are done
        boxes.depth[0] -= 1
        depth = boxes.depth[0]
        ends = boxes.ends[depth].copy()
        counts[:] = boxes.counts[depth]
        begin, end = boxes.span[depth, 0], boxes.span[depth, 1]
        if end + (end - begin) > listed.size:
            listed = np.concatenate((listed, np.empty(listed.size + end - begin, dtype=np.int32)))
        count, across_x, across_y = settle_rows(rows, objective, ends, listed[begin:end], listed[end:], counts, ideal)
        cells += 1 + (end - begin) // 64
        # drop the box if even the ideal is no better than the best cell
        shortfall, loss = value_of_three(objective, ideal)
        if not is_better(shortfall, loss, best.value[0], best.value[1]):
            continue
        # go through a small box, or one that cannot be split; split any other at the middle of the busier axis
        undecided = listed[end : end + count]
        if (across_x + 1) * (count + 1) <= LEAF or across_x + across_y == 0 or depth + 2 > boxes.span.shape[0]:
            cells += walk_box(rows, objective, ends, undecided, counts, limit, best)
            continue
        axis = 0 if across_x >= across_y else 2
        at = middle_of(rows, undecided, ends, axis)
        for child in range(2):
            boxes.ends[depth + child] = ends
            boxes.ends[depth + child, axis + 1 - child] = at
            boxes.counts[depth + child] = counts
            boxes.span[depth + child, 0], boxes.span[depth + child, 1] = end, end + count
        boxes.depth[0] += 2
    return listed, cells
