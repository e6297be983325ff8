"""Choosing the test of a C4.5 node: Weka's order of instances, ties included, and the best test of all attributes.

Weights of instances are summed in this order. With fractional weights another order of equal values gives other
last bits, and those can decide a tie, so a library sort would not do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compromis._kernel import kernel
from compromis._typing import Floats
from compromis.trees.c45_kernels_old.c45_gain import SMALL, judge_nominal, judge_numeric

Places = NDArray[np.int32]
"""Positions in an array of keys."""


@kernel
def order_if_needed(keys: Floats, places: Places, i: int, j: int) -> None:
    """Exchange two positions if their keys descend."""
    if keys[places[i]] > keys[places[j]]:
        places[i], places[j] = places[j], places[i]


@kernel
def part(keys: Floats, places: Places, low: int, high: int) -> int:
    """Put the median of three where it belongs within low..high and return its index."""
    centre = (low + high) // 2
    order_if_needed(keys, places, low, centre)
    order_if_needed(keys, places, low, high)
    order_if_needed(keys, places, centre, high)
    # The median of three is in the centre; it waits before the last while the others are parted by it.
    places[centre], places[high - 1] = places[high - 1], places[centre]
    pivot = keys[places[high - 1]]
    i = low
    j = high - 1
    while True:
        # No key up to i is above the pivot, none from j on below it. Keys equal to it stop both scans, as in Weka.
        i += 1
        while keys[places[i]] < pivot:
            i += 1
        j -= 1
        while keys[places[j]] > pivot:
            j -= 1
        if i >= j:
            break
        places[i], places[j] = places[j], places[i]
    places[i], places[high - 1] = places[high - 1], places[i]
    return i


@kernel
def quicksort_places(keys: Floats, places: Places, pending: NDArray[np.int64]) -> None:
    """Order `places` so that keys[places] ascends; `pending` is scratch of twice the length.

    The parts of a range are disjoint, so the order of work does not change the result.
    """
    if len(places) < 2:
        return
    pending[0] = 0
    pending[1] = len(places) - 1
    n_pending = 2
    while n_pending > 0:
        # `pending` holds pairs (low, high) of ranges that are still to be ordered; ranges of up to three are ordered by hand.
        n_pending -= 2
        low = pending[n_pending]
        high = pending[n_pending + 1]
        if high - low > 2:
            at = part(keys, places, low, high)
            pending[n_pending] = low
            pending[n_pending + 1] = at - 1
            pending[n_pending + 2] = at + 1
            pending[n_pending + 3] = high
            n_pending += 4
        elif high - low == 2:
            order_if_needed(keys, places, low, low + 1)
            order_if_needed(keys, places, low, high)
            order_if_needed(keys, places, low + 1, high)
        elif high - low == 1:
            order_if_needed(keys, places, low, high)


Rows = NDArray[np.int32]

LEAF = -1
LARGEST = 1.7976931348623157e308  # missing values are ordered as if they were this one
NEAR_AVERAGE = 1e-3


class Columns(NamedTuple):
    """A table without its classes: attribute a is row `slot[a]` of `numeric`, or of `nominal` if it has values."""

    numeric: Floats
    nominal: Rows
    slot: NDArray[np.int64]
    n_values: NDArray[np.int64]


class Judgement(NamedTuple):
    """Scratch for one node: what was found about each attribute's test, branches laid end to end."""

    first_branch: NDArray[np.int64]
    in_average: NDArray[np.bool_]
    is_test: NDArray[np.bool_]
    gain: Floats
    ratio: Floats
    cut: Floats
    known: Floats
    class_total: Floats
    branch_total: Floats
    branch_class: Floats
    node_class: Floats
    times_log2: Floats


@kernel
def heaviest_class(class_total: Floats) -> int:
    """The first class that no other exceeds by more than the tolerance."""
    best = 0
    most = 0.0
    for c in range(len(class_total)):
        if class_total[c] - most > SMALL:
            most = class_total[c]
            best = c
    return best


@kernel
def is_final(node_weight: float, node_class: Floats, min_leaf: int) -> bool:
    """Whether a node is too light to split, or of one class."""
    if 2.0 * min_leaf - node_weight > SMALL:
        return True
    return abs(node_weight - float(node_class[heaviest_class(node_class)])) < SMALL


@kernel
def best_test(judged: Judgement) -> int:
    """The attribute of largest gain ratio among the tests of at least average gain; LEAF if there is none."""
    # The average gain of the tests that count for it.
    total = 0.0
    n_tests = 0
    for a in range(len(judged.gain)):
        if judged.is_test[a] and judged.in_average[a]:
            total += judged.gain[a]
            n_tests += 1
    if n_tests == 0:
        return LEAF
    average = total / n_tests
    # Among tests of about that gain at least, the first of largest ratio.
    best = LEAF
    most = 0.0
    for a in range(len(judged.gain)):
        if judged.is_test[a] and judged.gain[a] >= average - NEAR_AVERAGE and judged.ratio[a] - most > SMALL:
            best = a
            most = judged.ratio[a]
    return best


@kernel
def judge_keys(
    judged: Judgement, a: int, keys: Floats, classes: Rows, weights: Floats, n_known: int, at_node: tuple[float, int]
) -> None:
    """Write the best cut of attribute `a` into the judgement; `at_node` is (node weight, min_leaf)."""
    first = judged.first_branch[a]
    found = judge_numeric(
        keys,
        classes,
        weights,
        n_known,
        at_node[0],
        at_node[1],
        judged.times_log2,
        judged.class_total[a],
        judged.branch_total[first : first + 2],
        judged.branch_class[first : first + 2],
    )
    judged.is_test[a], judged.gain[a], judged.ratio[a], judged.cut[a], judged.known[a] = found


@kernel
def judge_codes(
    judged: Judgement, a: int, codes: Rows, classes: Rows, rows: Rows, weights: Floats, at_node: tuple[float, int]
) -> None:
    """Write the nominal test of attribute `a` into the judgement; `at_node` is (node weight, min_leaf)."""
    first = judged.first_branch[a]
    last = judged.first_branch[a + 1]
    found = judge_nominal(
        codes,
        rows,
        classes,
        weights,
        at_node[0],
        at_node[1],
        judged.times_log2,
        judged.class_total[a],
        judged.branch_total[first:last],
        judged.branch_class[first:last],
    )
    judged.is_test[a], judged.gain[a], judged.ratio[a], judged.known[a] = found


@kernel
def is_missing(columns: Columns, a: int, row: int) -> bool:
    """Whether the value of attribute `a` is unknown in this row."""
    if columns.n_values[a] == 0:
        return np.isnan(columns.numeric[columns.slot[a], row])
    return columns.nominal[columns.slot[a], row] < 0


@kernel
def add_unknown(
    columns: Columns,
    a: int,
    classes: Rows,
    rows: Rows,
    weights: Floats,
    known: float,
    class_total: Floats,
    branch_total: Floats,
    branch_class: Floats,
) -> float:
    """Spread the instances whose value is missing over the branches, in proportion; return the new total."""
    n_branches = len(branch_total)
    share = np.empty(n_branches)
    for b in range(n_branches):
        share[b] = 1.0 / n_branches if abs(known) < SMALL else branch_total[b] / known
    # Shares are those of the known instances, fixed before the first of the others is added.
    total = known
    for i in range(len(rows)):
        if not is_missing(columns, a, rows[i]):
            continue
        label = classes[rows[i]]
        class_total[label] += weights[i]
        total += weights[i]
        for b in range(n_branches):
            part = share[b] * weights[i]
            branch_class[b, label] += part
            branch_total[b] += part
    return total


@kernel
def sort_by_attribute(values: Floats, rows: Rows, weights: Floats, keys: Floats) -> int:
    """Order a node's instances by one attribute, in place, missing last; return the number known before them.

    `keys` receives the ordered values.
    """
    # Missing values are ordered as the largest number, in Weka's own order of equal keys.
    n = len(rows)
    unordered = np.empty(n)
    places = np.empty(n, dtype=np.int32)
    for i in range(n):
        value = values[rows[i]]
        unordered[i] = LARGEST if np.isnan(value) else value
        places[i] = i
    quicksort_places(unordered, places, np.empty(2 * n + 4, dtype=np.int64))
    # Rows and weights follow the order; the first missing value ends the known ones.
    old_rows = rows.copy()
    old_weights = weights.copy()
    n_known = n
    for i in range(n):
        rows[i] = old_rows[places[i]]
        weights[i] = old_weights[places[i]]
        keys[i] = unordered[places[i]]
        if n_known == n and np.isnan(values[rows[i]]):
            n_known = i
    return n_known


@kernel
def choose_in_order(
    columns: Columns, classes: Rows, rows: Rows, weights: Floats, min_leaf: int, judged: Judgement
) -> tuple[int, float]:
    """The test of a node and its total weight; leaves the node's instances in Weka's order.

    The totals of the test chosen, missing values included, stay in `judged`; for a leaf, those of the node.
    """
    # The node's own distribution, in the order of its instances.
    node_weight = 0.0
    judged.node_class[:] = 0.0
    for i in range(len(rows)):
        judged.node_class[classes[rows[i]]] += weights[i]
        node_weight += weights[i]
    if is_final(node_weight, judged.node_class, min_leaf):
        return LEAF, node_weight
    # Judge each attribute's test; each numeric one reorders the instances, and the next one starts from that order, as in Weka.
    keys = np.empty(len(rows))
    key_classes = np.empty(len(rows), dtype=np.int32)
    for a in range(len(columns.slot)):
        if columns.n_values[a] > 0:
            codes = columns.nominal[columns.slot[a]]
            judge_codes(judged, a, codes, classes, rows, weights, (node_weight, min_leaf))
        else:
            n_known = sort_by_attribute(columns.numeric[columns.slot[a]], rows, weights, keys)
            for i in range(n_known):
                key_classes[i] = classes[rows[i]]
            judge_keys(judged, a, keys, key_classes, weights, n_known, (node_weight, min_leaf))
    best = best_test(judged)
    if best == LEAF:
        return LEAF, node_weight
    # Instances whose value is missing go to all branches of the test chosen.
    first = judged.first_branch[best]
    last = judged.first_branch[best + 1]
    branch_total = judged.branch_total[first:last]
    branch_class = judged.branch_class[first:last]
    class_total = judged.class_total[best]
    total = add_unknown(
        columns, best, classes, rows, weights, judged.known[best], class_total, branch_total, branch_class
    )
    return best, total


@kernel
def choose_presorted(
    columns: Columns,
    classes: Rows,
    order: Rows,
    rows: Rows,
    weights: Floats,
    stretch: tuple[int, int],
    min_leaf: int,
    judged: Judgement,
) -> tuple[int, float]:
    """The test of a node and its total weight, where all values are known and all weights whole numbers.

    The node's rows are a stretch of `rows`, and in ascending order of each numeric attribute the same stretch of
    that attribute's `order`; `weights` is a whole column.
    """
    n = stretch[1] - stretch[0]
    own_rows = rows[stretch[0] : stretch[1]]
    own_weights = np.empty(n)
    # The node's own distribution.
    node_weight = 0.0
    judged.node_class[:] = 0.0
    for i in range(n):
        own_weights[i] = weights[own_rows[i]]
        judged.node_class[classes[own_rows[i]]] += own_weights[i]
        node_weight += own_weights[i]
    if is_final(node_weight, judged.node_class, min_leaf):
        return LEAF, node_weight
    # Judge each attribute's test, numeric ones in the order that was sorted once for the whole table.
    keys = np.empty(n)
    key_classes = np.empty(n, dtype=np.int32)
    key_weights = np.empty(n)
    for a in range(len(columns.slot)):
        slot = columns.slot[a]
        if columns.n_values[a] > 0:
            judge_codes(judged, a, columns.nominal[slot], classes, own_rows, own_weights, (node_weight, min_leaf))
        else:
            for i in range(n):
                row = order[slot, stretch[0] + i]
                keys[i] = columns.numeric[slot, row]
                key_classes[i] = classes[row]
                key_weights[i] = weights[row]
            judge_keys(judged, a, keys, key_classes, key_weights, n, (node_weight, min_leaf))
    return best_test(judged), node_weight
