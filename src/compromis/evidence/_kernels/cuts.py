"""Counting pairs of small integers, and the cuts of a ranking with areas over them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._kernel import kernel
from compromis._typing import Flags, Floats, Ints


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


Numbers = NDArray[Any]


@kernel
def split_scores(score: Floats, flags: NDArray[np.bool_], positive: Floats, negative: Floats) -> None:
    """Write the scores of the flagged rows into `positive`, the others into `negative`.

    Both have room for one number more than they need, so that every row can write to both without a branch.
    """
    i = 0
    # every score is written to the next free entry of both arrays; only one of the two then moves on
    for row in range(score.size):
        positive[i] = score[row]
        negative[row - i] = score[row]
        i += flags[row]


@kernel
def count_cuts(positive: Floats, negative: Floats, threshold: Floats, above: NDArray[np.int64]) -> int:
    """Write every distinct score, falling, with the positives and negatives at or above it; return how many there are.

    `positive` and `negative` are sorted upwards. `above` has two rows: true and false positives.
    """
    i, j = positive.size - 1, negative.size - 1
    cut = 0
    # both arrays have scores left: the larger of their last scores is the next cut, all rows of equal score together
    while i >= 0 and j >= 0:
        p, n = positive[i], negative[j]
        score = max(p, n)
        i -= p == score
        j -= n == score
        while i >= 0 and positive[i] == score:
            i -= 1
        while j >= 0 and negative[j] == score:
            j -= 1
        threshold[cut] = score
        above[0, cut] = positive.size - 1 - i
        above[1, cut] = negative.size - 1 - j
        cut += 1
    # one array is used up: the scores left in the other are cuts that change only its own count
    rest, k = (positive, i) if i >= 0 else (negative, j)
    row = 0 if i >= 0 else 1
    while k >= 0:
        score = rest[k]
        while k >= 0 and rest[k] == score:
            k -= 1
        threshold[cut] = score
        above[row, cut] = rest.size - 1 - k
        above[1 - row, cut] = negative.size if row == 0 else positive.size
        cut += 1
    return cut


@kernel
def merge_cuts(first: Floats, second: Floats, threshold: Floats, taken: NDArray[np.int64]) -> int:
    """Merge two falling lists of thresholds; return how many distinct ones there are.

    `taken` has two rows: for each merged threshold, how many of either list are at or above it.
    """
    i, j, cut = 0, 0, 0
    # the larger of the next thresholds of either list; equal ones of both are one cut
    while i < first.size or j < second.size:
        take_first = j == second.size or (i < first.size and first[i] >= second[j])
        score = first[i] if take_first else second[j]
        while i < first.size and first[i] == score:
            i += 1
        while j < second.size and second[j] == score:
            j += 1
        threshold[cut] = score
        taken[0, cut] = i
        taken[1, cut] = j
        cut += 1
    return cut


@kernel
def mark_dominating_cuts(true_positives: NDArray[Any], false_positives: NDArray[Any], marked: Flags) -> None:
    """Mark the cuts of a ranking that no other cut beats in precision and recall; both counts rise with the cuts."""
    best, found, last = -1.0, -1.0, -1  # precision, hits and position of the last cut marked
    # from the cut that predicts most to the one that predicts least: recall falls, so a cut counts only if its precision rises
    for k in range(true_positives.size - 1, -1, -1):
        hits = float(true_positives[k])
        predicted = hits + false_positives[k]
        marked[k] = False
        if predicted == 0.0:
            continue
        precision = hits / predicted
        # better than all cuts after it; those that find as many among more rows are beaten now
        if precision > best:
            if hits == found:
                marked[k + 1 : last + 1] = False
            best, found, last = precision, hits, k
            marked[k] = True
        # a twin of the cut marked last
        elif precision == best and hits == found:
            marked[k] = True


@kernel
def mark_dominating(first: Floats, second: Floats, order: Ints, marked: Flags) -> None:
    """Mark the points that no other point beats in both rates; `order` sorts `second` upwards, NaN left out."""
    best = -math.inf
    end = order.size
    # runs of equal second rates, from the highest rate down
    while end > 0:
        rate = second[order[end - 1]]
        start = end
        top = -math.inf
        # the best first rate of the run
        while start > 0 and second[order[start - 1]] == rate:
            start -= 1
            top = max(top, first[order[start]])
        # it is marked, with its twins, if no run of a higher second rate reached it
        for k in range(start, end):
            marked[order[k]] = top > best and first[order[k]] == top
        best = max(best, top)
        end = start


@kernel
def twice_roc_area(true_positives: Numbers, false_positives: Numbers) -> Any:
    """Twice the area under (false positives, true positives), in the type of the counts: exact for integers."""
    total = true_positives[0] * false_positives[0]
    # trapezoids between neighbouring cuts, without the division by 2
    for k in range(1, true_positives.size):
        width = false_positives[k] - false_positives[k - 1]
        total += width * (true_positives[k] + true_positives[k - 1])
    return total


@kernel
def step_pr_area(true_positives: Numbers, false_positives: Numbers) -> float:
    """Sum of precision times newly found positives over the cuts."""
    total, lost = 0.0, 0.0
    before = 0.0
    # a step for each cut that finds more positives; `lost` carries the rounding error on (Kahan's sum)
    for k in range(true_positives.size):
        found = float(true_positives[k])
        if found > before:
            term = (found - before) * (found / (found + false_positives[k])) - lost
            new = total + term
            lost = (new - total) - term
            total = new
        before = found
    return total


@kernel
def log_remainder(z: float) -> float:
    """(z - log(1 + z)) / z^2 for z >= 0, by its series where the difference would lose digits."""
    if z > 0.1:
        return (z - math.log1p(z)) / (z * z)
    total, power = 0.0, 1.0
    # 1/2 - z/3 + z^2/4 - ...: 18 terms are exact to the last digit for z <= 0.1
    for n in range(2, 20):
        total += power / n
        power *= -z
    return total


@kernel
def interpolated_pr_area(true_positives: Numbers, false_positives: Numbers) -> float:
    """The area under precision over true positives when rows between two cuts are taken at random.

    From a cut with a true positives among d rows to one with b among e, precision at x true positives is
    x / (d + (x - a) (e - d) / (b - a)); its integral is (b - a)^2 / d M(z) + (b - a) a / d L(z), z = (e - d) / d,
    L(z) = log(1 + z) / z, M(z) = (z - log(1 + z)) / z^2: sums of positive terms, no digits are lost.
    """
    total = 0.0
    a, d = 0.0, 0.0  # true positives and rows at the cut before
    # a piece between each cut and the one before, where positives are found; the first piece has constant precision
    for k in range(true_positives.size):
        b = float(true_positives[k])
        e = b + false_positives[k]
        if b > a and d == 0.0:
            total += b * (b / e)
        elif b > a:
            z = (e - d) / d
            remainder = log_remainder(z)
            total += (b - a) ** 2 / d * remainder + (b - a) * (a / d) * (1.0 - z * remainder)
        a, d = b, e
    return total
