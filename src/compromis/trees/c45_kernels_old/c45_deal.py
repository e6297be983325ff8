"""Sending a C4.5 node's instances down its branches: thresholds, shares of missing values, errors of a branch."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compromis._kernel import kernel
from compromis._typing import Floats, Ints
from compromis.trees.c45_kernels_old.c45_gain import SMALL
from compromis.trees.c45_kernels_old.c45_split import Columns, add_unknown, heaviest_class

Rows = NDArray[np.int32]


class Nodes(NamedTuple):
    """A tree as arrays: the children of a node are `n_children` nodes from `first_child` on.

    `total` and `class_total` are the node's own distribution; `branch_total` and `branch_class` are what its
    parent's test recorded for the branch that leads to it. The two differ where values are missing.
    """

    attribute: NDArray[np.int64]
    threshold: Floats
    first_child: Ints
    n_children: Ints
    is_empty: NDArray[np.bool_]
    total: Floats
    class_total: Floats
    branch_total: Floats
    branch_class: Floats


@kernel
def data_threshold(values: Floats, order: Rows, n_known: int, cut: float) -> float:
    """The largest value of the data not above the cut, as a scan through the data with tolerance finds it.

    Notes
    -----
    The scan replaces its candidate only by a value larger by more than 1e-6, so among values closer than that the
    first in the data wins. Only the chain of such neighbours below the cut can matter, and only it is scanned.
    """
    # Binary search: all values before `low` are not above the cut, none from `high` on is.
    low = 0
    high = n_known
    while low < high:
        at = (low + high) // 2
        value = values[order[at]]
        if value - cut < SMALL or value <= cut:
            low = at + 1
        else:
            high = at
    if low == 0:
        return cut
    # The chain of neighbours closer than the tolerance, down from the largest value not above the cut.
    last = low - 1
    first = last
    while first > 0 and not values[order[first]] - values[order[first - 1]] > SMALL:
        first -= 1
    largest = values[order[last]]
    if values[order[first]] == largest:
        return largest
    # Scan the chain in the order of the data, as Weka does.
    candidates = np.sort(order[first : last + 1])
    threshold = values[candidates[0]]
    for i in range(1, len(candidates)):
        if values[candidates[i]] - threshold > SMALL:
            threshold = values[candidates[i]]
    return threshold


@kernel
def branch_of(columns: Columns, a: int, threshold: float, row: int) -> int:
    """The branch a row takes at a test, -1 where its value is missing."""
    if columns.n_values[a] > 0:
        return columns.nominal[columns.slot[a], row]
    value = columns.numeric[columns.slot[a], row]
    if np.isnan(value):
        return -1
    return 0 if value - threshold < SMALL or value <= threshold else 1


@kernel
def share_of(branch_total: float, total: float) -> float:
    """The share of a branch; not a number where nothing is known, and then no comparison holds."""
    return branch_total / total if total != 0.0 else np.nan


@kernel
def deal(
    columns: Columns, a: int, threshold: float, rows: Rows, weights: Floats, branch_total: Floats, total: float
) -> tuple[Ints, Rows, Floats]:
    """Instances of each branch laid end to end: (where each begins, rows, weights); missing values go to all."""
    # Count the instances of each branch, then sum: branch b begins where those before it end.
    n_branches = len(branch_total)
    begin = np.zeros(n_branches + 1, dtype=np.int64)
    for i in range(len(rows)):
        branch = branch_of(columns, a, threshold, rows[i])
        if branch >= 0:
            begin[branch + 1] += 1
        else:
            for b in range(n_branches):
                if share_of(branch_total[b], total) > SMALL:
                    begin[b + 1] += 1
    for b in range(n_branches):
        begin[b + 1] += begin[b]
    # Write them, each branch in the order of the instances; `place` is where the next one of a branch goes.
    place = begin[:-1].copy()
    dealt_rows = np.empty(begin[-1], dtype=np.int32)
    dealt_weights = np.empty(begin[-1])
    for i in range(len(rows)):
        branch = branch_of(columns, a, threshold, rows[i])
        if branch >= 0:
            dealt_rows[place[branch]] = rows[i]
            dealt_weights[place[branch]] = weights[i]
            place[branch] += 1
            continue
        for b in range(n_branches):
            share = share_of(branch_total[b], total)
            if share > SMALL:
                dealt_rows[place[b]] = rows[i]
                dealt_weights[place[b]] = share * weights[i]
                place[b] += 1
    return begin, dealt_rows, dealt_weights


@kernel
def part_rows(rows: Rows, stretch: tuple[int, int], branch: Rows, begin: Ints, parted: Rows) -> None:
    """Part a stretch of rows by branch, in place and stably."""
    place = begin[:-1].copy()
    for i in range(stretch[0], stretch[1]):
        b = branch[rows[i]]
        parted[place[b]] = rows[i]
        place[b] += 1
    for i in range(stretch[0], stretch[1]):
        rows[i] = parted[i - stretch[0]]


@kernel
def part_presorted(
    columns: Columns, test: tuple[int, float, int], order: Rows, rows: Rows, stretch: tuple[int, int], branch: Rows
) -> Ints:
    """Part a node's stretch of the rows, and of the order by each attribute, by branch; return where each begins.

    `test` is (attribute, threshold, number of branches); `branch` is scratch, one entry per row of the table.
    """
    # The branch of each row, and where each branch begins within the stretch.
    begin = np.zeros(test[2] + 1, dtype=np.int64)
    for i in range(stretch[0], stretch[1]):
        b = branch_of(columns, test[0], test[1], rows[i])
        branch[rows[i]] = b
        begin[b + 1] += 1
    for b in range(test[2]):
        begin[b + 1] += begin[b]
    # The rows and every attribute's order part alike; a stable parting keeps the orders ascending.
    parted = np.empty(stretch[1] - stretch[0], dtype=np.int32)
    part_rows(rows, stretch, branch, begin, parted)
    for k in range(len(order)):
        part_rows(order[k], stretch, branch, begin, parted)
    return begin


@kernel
def distribution_at_test(
    columns: Columns, classes: Rows, a: int, threshold: float, rows: Rows, weights: Floats, n_sizes: tuple[int, int]
) -> tuple[float, Floats, Floats, Floats]:
    """Distribution of instances at a test: total, per class, per branch, per branch and class.

    `n_sizes` is (number of branches, number of classes).
    """
    class_total = np.zeros(n_sizes[1])
    branch_total = np.zeros(n_sizes[0])
    branch_class = np.zeros(n_sizes)
    known = 0.0
    # Known values first; those missing are spread over the branches in proportion to them.
    for i in range(len(rows)):
        branch = branch_of(columns, a, threshold, rows[i])
        if branch < 0:
            continue
        label = classes[rows[i]]
        branch_class[branch, label] += weights[i]
        branch_total[branch] += weights[i]
        class_total[label] += weights[i]
        known += weights[i]
    total = add_unknown(columns, a, classes, rows, weights, known, class_total, branch_total, branch_class)
    return total, class_total, branch_total, branch_class


@kernel
def leaf_distribution(classes: Rows, rows: Rows, weights: Floats, n_classes: int) -> tuple[float, Floats]:
    """Total and class weights of instances, summed in their order."""
    class_total = np.zeros(n_classes)
    total = 0.0
    for i in range(len(rows)):
        class_total[classes[rows[i]]] += weights[i]
        total += weights[i]
    return total, class_total


@kernel
def added_errors(total: float, errors: float, confidence: float, deviate: float) -> float:
    """What the upper limit of a binomial confidence interval adds to the errors observed.

    Notes
    -----
    With z the normal deviate of 1 - confidence, f = (e + 0.5) / N: N (f + z^2/2N + z sqrt(f/N - f^2/N + z^2/4N^2))
    / (1 + z^2/N) - e; for e = 0 exactly N (1 - confidence^(1/N)), between 0 and 1 linear (Quinlan 1993, 4.2).
    """
    if confidence > 0.5:
        return 0.0
    if errors < 1.0:
        base = total * (1.0 - math.pow(confidence, 1.0 / total))
        if errors == 0.0:
            return base
        return base + errors * (limit_errors(total, 1.0, deviate) - base)
    return limit_errors(total, errors, deviate)


@kernel
def limit_errors(total: float, errors: float, deviate: float) -> float:
    """The normal approximation of `added_errors`, for at least one error."""
    if errors + 0.5 >= total:
        return max(total - errors, 0.0)
    f = (errors + 0.5) / total
    z2 = deviate * deviate
    root = math.sqrt(f / total - f * f / total + z2 / (4.0 * total * total))
    limit = (f + z2 / (2.0 * total) + deviate * root) / (1.0 + z2 / total)
    return limit * total - errors


@kernel
def estimated_errors(total: float, class_total: Floats, confidence: float, deviate: float) -> float:
    """Pessimistic number of errors of a leaf with this distribution."""
    if abs(total) < SMALL:
        return 0.0
    errors = total - float(class_total[heaviest_class(class_total)])
    return errors + added_errors(total, errors, confidence, deviate)


@kernel
def sum_by_branch(
    columns: Columns, a: int, threshold: float, rows: Rows, weights: Floats, branch_total: Floats
) -> float:
    """Weight that each branch of a test gets of the instances, missing values in proportion; return the total."""
    branch_total[:] = 0.0
    known = 0.0
    n_missing = 0
    for i in range(len(rows)):
        branch = branch_of(columns, a, threshold, rows[i])
        if branch < 0:
            n_missing += 1
        else:
            branch_total[branch] += weights[i]
            known += weights[i]
    if n_missing == 0:
        return known
    # Missing values in proportion to the known ones, whose shares are fixed before the first of them is added.
    n_branches = len(branch_total)
    share = np.empty(n_branches)
    for b in range(n_branches):
        share[b] = 1.0 / n_branches if abs(known) < SMALL else branch_total[b] / known
    total = known
    for i in range(len(rows)):
        if branch_of(columns, a, threshold, rows[i]) < 0:
            total += weights[i]
            for b in range(n_branches):
                branch_total[b] += share[b] * weights[i]
    return total


@kernel
def branch_errors(
    columns: Columns, classes: Rows, nodes: Nodes, top: int, rows: Rows, weights: Floats, at_leaf: tuple[float, float]
) -> float:
    """Estimated errors of the subtree under `top` if it received these instances; `at_leaf` is (confidence, deviate).

    Errors are added child after child, as a recursion would; positions are given to the last child first, so that
    going backwards through them does just that.
    """
    n_classes = nodes.class_total.shape[1]
    parent = [-1]
    errors = [0.0]
    pending: list[tuple[int, int]] = [(top, 0)]
    pending_rows = [rows]
    pending_weights = [weights]
    while len(pending) > 0:
        # A node with the instances it would receive; its errors go to `position`, whose parent is in `parent`.
        node, position = pending.pop()
        own_rows = pending_rows.pop()
        own_weights = pending_weights.pop()
        if len(own_rows) == 0:
            continue
        if nodes.n_children[node] == 0:
            total, class_total = leaf_distribution(classes, own_rows, own_weights, n_classes)
            errors[position] = estimated_errors(total, class_total, at_leaf[0], at_leaf[1])
            continue
        # An inner node: deal its instances to its children, the last child first.
        a = nodes.attribute[node]
        threshold = nodes.threshold[node]
        branch_total = np.empty(nodes.n_children[node])
        total = sum_by_branch(columns, a, threshold, own_rows, own_weights, branch_total)
        begin, dealt_rows, dealt_weights = deal(columns, a, threshold, own_rows, own_weights, branch_total, total)
        for b in range(nodes.n_children[node] - 1, -1, -1):
            pending.append((nodes.first_child[node] + b, len(parent)))
            pending_rows.append(dealt_rows[begin[b] : begin[b + 1]])
            pending_weights.append(dealt_weights[begin[b] : begin[b + 1]])
            parent.append(position)
            errors.append(0.0)
    # Add up from the last position to the first: children come after their parents.
    for k in range(len(parent) - 1, 0, -1):
        errors[parent[k]] += errors[k]
    return errors[0]


@kernel
def write_shares(total: float, class_total: Floats, weight: float, out: Floats) -> None:
    """Put weight x class share into `out`, zeros where there is no weight to share."""
    for c in range(len(out)):
        out[c] = 0.0 if abs(total) < SMALL else weight * (class_total[c] / total)


@kernel
def settle(columns: Columns, nodes: Nodes, row: int, node: int, weight: float, out: Floats) -> int:
    """Follow known values from `node`: return -1 with the shares in `out`, or the node whose value is missing."""
    while nodes.n_children[node] > 0:
        branch = branch_of(columns, nodes.attribute[node], nodes.threshold[node], row)
        if branch < 0:
            return node
        child = nodes.first_child[node] + branch
        # No training instance reached this leaf: its parent's test has a record of the branch, or the parent itself answers.
        if nodes.is_empty[child]:
            if nodes.branch_total[child] > SMALL:
                write_shares(nodes.branch_total[child], nodes.branch_class[child], weight, out)
            else:
                write_shares(nodes.total[node], nodes.class_total[node], weight, out)
            return -1
        node = child
    write_shares(nodes.total[node], nodes.class_total[node], weight, out)
    return -1


@kernel
def add_to(total: Floats, k: int, part: Floats) -> None:
    """Add `part` to row k of `total`."""
    for c in range(len(part)):
        total[k, c] += part[c]


@kernel
def class_shares(columns: Columns, nodes: Nodes, n_rows: int, depth: int, out: Floats) -> None:
    """Shares of the classes for each row; sums are nested as the tree is, child after child.

    `depth` is the depth of the tree: one frame per missing value on a path is kept.
    """
    n_classes = out.shape[1]
    frame_sum = np.zeros((depth + 1, n_classes))
    frame_node = np.zeros(depth + 1, dtype=np.int64)
    frame_weight = np.zeros(depth + 1)
    frame_next = np.zeros(depth + 1, dtype=np.int64)
    shares = np.zeros(n_classes)
    for row in range(n_rows):
        top = -1
        node = 0
        weight = 1.0
        resumed = True
        while resumed:
            # Follow known values to a leaf, or to a node whose value is missing, which opens a frame for its children.
            missing_at = settle(columns, nodes, row, node, weight, shares)
            if missing_at >= 0:
                top += 1
                frame_node[top] = missing_at
                frame_weight[top] = weight
                frame_next[top] = 0
                for c in range(n_classes):
                    frame_sum[top, c] = 0.0
            elif top >= 0:
                add_to(frame_sum, top, shares)
            # The next child of the innermost frame goes on; a frame without any left closes into the one around it.
            resumed = False
            while top >= 0 and not resumed:
                parent = frame_node[top]
                if frame_next[top] == nodes.n_children[parent]:
                    for c in range(n_classes):
                        shares[c] = frame_sum[top, c]
                    top -= 1
                    if top >= 0:
                        add_to(frame_sum, top, shares)
                    continue
                child = nodes.first_child[parent] + frame_next[top]
                frame_next[top] += 1
                if not nodes.is_empty[child]:
                    node = child
                    weight = share_of(nodes.branch_total[child], nodes.total[parent]) * frame_weight[top]
                    resumed = True
        for c in range(n_classes):
            out[row, c] = shares[c]
