"""Growing a C4.5 tree: the instances at its nodes, and the test of each node.

There are two ways to hold the instances. Where weights are whole and no value is missing every sum is exact, so one
permutation of the rows, sorted once per attribute and parted in place, serves all nodes. Otherwise instances
are fractional, and each node keeps rows and weights of its own, in the order in which Weka would have them.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats
from compromis.trees.c45._kernels import (
    LEAF,
    SMALL,
    Judgement,
    choose_in_order,
    choose_presorted,
    data_threshold,
    deal,
    part_presorted,
    times_log2_table,
)
from compromis.trees.c45.tree import Examples, Table, Tree

Rows = NDArray[np.int32]
Sample = tuple[Rows, Floats]

LARGEST_LOG_TABLE = 1 << 20


class Samples(Protocol):
    """Instances by node."""

    judged: Judgement

    def choose(self, node: int, min_leaf: int) -> tuple[int, float]:
        """Return the attribute to test (or LEAF) and the total weight; details are left in `judged`."""

    def part(self, node: int, children: range, attribute: int, threshold: float) -> bool:
        """Hand the node's instances to its children; return False if one of them would get them all."""

    def at(self, node: int) -> Sample:
        """Return rows and weights of a node's instances."""


def new_judgement(examples: Examples, times_log2: Floats) -> Judgement:
    """Return scratch arrays for the choice of tests over this table."""
    n_values = np.asarray(examples.table.arrays().n_values)
    n_branches = np.where(n_values > 0, n_values, 2)
    first_branch = np.concatenate([[0], np.cumsum(n_branches)]).astype(np.int64)
    m, k = len(n_values), examples.n_classes
    # Nominal attributes with very many values do not count for the average, unless all attributes are such.
    few = (n_values == 0) | (0.3 * examples.table.n_rows - n_values > 1e-6)
    return Judgement(
        first_branch=first_branch,
        in_average=(few | (not few.any())).view(np.uint8),
        is_test=np.zeros(m, dtype=np.uint8),
        gain=np.zeros(m),
        ratio=np.zeros(m),
        cut=np.zeros(m),
        known=np.zeros(m),
        class_total=np.zeros((m, k)),
        branch_total=np.zeros(first_branch[-1]),
        branch_class=np.zeros((first_branch[-1], k)),
        node_class=np.zeros(k),
        share=np.empty(first_branch[-1]),
        times_log2=times_log2,
    )


class PresortedSamples:
    """All nodes share one permutation of the rows; a node is a stretch of it."""

    def __init__(self, examples: Examples, order: Rows) -> None:
        n_rows = examples.table.n_rows
        size = min(int(examples.weights.sum()) + 1, LARGEST_LOG_TABLE)
        self.judged = new_judgement(examples, times_log2_table(size))
        self._columns = examples.table.arrays()
        self._classes = examples.classes
        self._weights = examples.weights
        self._order = order.copy()
        self._rows = np.arange(n_rows, dtype=np.int32)
        self._branch = np.empty(n_rows, dtype=np.int32)
        self._stretch = {0: (0, n_rows)}

    def choose(self, node: int, min_leaf: int) -> tuple[int, float]:
        """Return the attribute to test (or LEAF) and the total weight."""
        stretch = self._stretch[node]
        return choose_presorted(
            self._columns, self._classes, self._order, self._rows, self._weights, stretch, min_leaf, self.judged
        )

    def part(self, node: int, children: range, attribute: int, threshold: float) -> bool:
        """Part the node's stretch into those of its children."""
        start, stop = self._stretch[node]
        test = (attribute, threshold, len(children))
        begin = start + part_presorted(self._columns, test, self._order, self._rows, (start, stop), self._branch)
        for branch, child in enumerate(children):
            self._stretch[child] = int(begin[branch]), int(begin[branch + 1])
        return int(np.diff(begin).max()) < stop - start

    def at(self, node: int) -> Sample:
        """Return rows and weights of a node's instances."""
        rows = self._rows[slice(*self._stretch[node])]
        return rows, self._weights[rows]


class OrderedSamples:
    """Each node has rows and weights of its own, in Weka's order."""

    def __init__(self, examples: Examples) -> None:
        self.judged = new_judgement(examples, np.empty(0))
        self._columns = examples.table.arrays()
        self._classes = examples.classes
        self._sample = {0: (np.arange(examples.table.n_rows, dtype=np.int32), examples.weights.copy())}
        self._total = 0.0

    def choose(self, node: int, min_leaf: int) -> tuple[int, float]:
        """Return the attribute to test (or LEAF) and the total weight."""
        rows, weights = self._sample[node]
        chosen, self._total = choose_in_order(self._columns, self._classes, rows, weights, min_leaf, self.judged)
        return chosen, self._total

    def part(self, node: int, children: range, attribute: int, threshold: float) -> bool:
        """Deal the node's instances to its children, those with a missing value to all in proportion."""
        rows, weights = self._sample[node]
        own = slice(self.judged.first_branch[attribute], self.judged.first_branch[attribute + 1])
        branch_total = self.judged.branch_total[own]
        dealt = deal(self._columns, attribute, threshold, rows, weights, branch_total, self._total)
        begin, dealt_rows, dealt_weights = dealt
        for branch, child in enumerate(children):
            share = slice(begin[branch], begin[branch + 1])
            self._sample[child] = dealt_rows[share], dealt_weights[share]
        return int(np.diff(begin).max()) < len(rows)

    def at(self, node: int) -> Sample:
        """Return rows and weights of a node's instances."""
        return self._sample[node]


def grow(examples: Examples, min_leaf: int) -> tuple[Tree, Samples]:
    """Return the unpruned tree and the instances at its nodes.

    Notes
    -----
    Weka builds depth first; nodes do not depend on each other, so the order here is another one.
    """
    growth = _Growth(examples, min_leaf)
    node = 0
    while node < growth.size:
        growth.split(node)
        node += 1
    return growth.tree(), growth.samples


class _Growth:
    """The nodes so far."""

    def __init__(self, examples: Examples, min_leaf: int) -> None:
        self._table = examples.table
        self._columns = examples.table.arrays()
        self._order, self._n_known = sort_columns(examples.table)
        self._min_leaf = min_leaf
        exact = examples.sums_are_exact
        self.samples: Samples = PresortedSamples(examples, self._order) if exact else OrderedSamples(examples)
        self._nodes: list[tuple[int, float, int, int, float, Floats]] = []
        self._branches: list[tuple[Floats, Floats]] = [(np.zeros(1), np.zeros((1, examples.n_classes)))]
        self.size = 1

    def split(self, node: int) -> None:
        """Choose the node's test and append its children, or leave it a leaf."""
        attribute, total = self.samples.choose(node, self._min_leaf)
        judged = self.samples.judged
        if attribute != LEAF:
            n_children = judged.first_branch[attribute + 1] - judged.first_branch[attribute]
            children = range(self.size, self.size + n_children)
            threshold = self._threshold_of(attribute, float(judged.cut[attribute]))
            # Values a tolerance apart can all fall on one side; the same test would follow for ever.
            if self.samples.part(node, children, attribute, threshold):
                class_total, branch_total, branch_class = judged.of_test(attribute)
                self._nodes.append((attribute, threshold, self.size, n_children, total, class_total))
                self._branches.append((branch_total, branch_class))
                self.size += n_children
                return
        self._nodes.append((LEAF, 0.0, self.size, 0, total, judged.of_node()))

    def _threshold_of(self, attribute: int, cut: float) -> float:
        if self._columns.n_values[attribute] > 0:
            return 0.0
        slot = self._columns.slot[attribute]
        return data_threshold(self._table.numeric[slot], self._order[slot], self._n_known[slot], cut)

    def tree(self) -> Tree:
        """Return the nodes as arrays."""
        attribute, threshold, first_child, n_children, total, class_total = map(
            np.array, zip(*self._nodes, strict=True)
        )
        branch_total, branch_class = map(np.concatenate, zip(*self._branches, strict=True))
        return Tree(
            attribute=attribute,
            threshold=threshold,
            first_child=first_child,
            n_children=n_children,
            is_empty=(n_children == 0) & (np.abs(total) < SMALL),
            total=total,
            class_total=class_total,
            branch_total=branch_total,
            branch_class=branch_class,
        )


def sort_columns(table: Table) -> tuple[Rows, NDArray[np.int64]]:
    """Return rows in ascending order of each numeric column, missing values last, and the number of known values."""
    order = np.argsort(table.numeric, axis=1, kind="stable").astype(np.int32)
    return order, (~np.isnan(table.numeric)).sum(axis=1)
