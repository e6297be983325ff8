"""The instances at the nodes of a growing C4.5 tree, and how a node's test is chosen from them.

There are two ways to hold them. Where weights are whole and no value is missing every sum is exact, so one
permutation of the rows, sorted once per attribute and parted in place, serves all nodes. Otherwise instances
are fractional, and each node keeps rows and weights of its own, in the order in which Weka would have them.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats
from compromis.kernels.c45 import Judgement, choose_in_order, choose_presorted
from compromis.kernels.c45_deal import deal, part_presorted
from compromis.kernels.c45_gain import times_log2_table
from compromis.trees.c45.table import Examples

Rows = NDArray[np.int32]
Sample = tuple[Rows, Floats]

LARGEST_LOG_TABLE = 1 << 20


class Samples(Protocol):
    """Instances by node."""

    judged: Judgement

    def choose(self, node: int, min_leaf: int) -> tuple[int, float]:
        """The attribute to test (or LEAF) and the total weight; details are left in `judged`."""

    def part(self, node: int, children: range, attribute: int, threshold: float) -> bool:
        """Hand the node's instances to its children; False if one of them would get them all."""

    def at(self, node: int) -> Sample:
        """Rows and weights of a node's instances."""


def new_judgement(examples: Examples, times_log2: Floats) -> Judgement:
    """Scratch for the choice of tests over this table."""
    n_values = examples.table.columns().n_values
    n_branches = np.where(n_values > 0, n_values, 2)
    first_branch = np.concatenate([[0], np.cumsum(n_branches)]).astype(np.int64)
    m, k = len(n_values), examples.n_classes
    # Nominal attributes with very many values do not count for the average, unless all attributes are such.
    few = (n_values == 0) | (0.3 * examples.table.n_rows - n_values > 1e-6)
    return Judgement(
        first_branch=first_branch,
        in_average=few | (not few.any()),
        is_test=np.zeros(m, dtype=bool),
        gain=np.zeros(m),
        ratio=np.zeros(m),
        cut=np.zeros(m),
        known=np.zeros(m),
        class_total=np.zeros((m, k)),
        branch_total=np.zeros(first_branch[-1]),
        branch_class=np.zeros((first_branch[-1], k)),
        node_class=np.zeros(k),
        times_log2=times_log2,
    )


class PresortedSamples:
    """All nodes share one permutation of the rows; a node is a stretch of it."""

    def __init__(self, examples: Examples, order: Rows) -> None:
        n_rows = examples.table.n_rows
        size = min(int(examples.weights.sum()) + 1, LARGEST_LOG_TABLE)
        self.judged = new_judgement(examples, times_log2_table(size))
        self._columns = examples.table.columns()
        self._classes = examples.classes
        self._weights = examples.weights
        self._order = order.copy()
        self._rows = np.arange(n_rows, dtype=np.int32)
        self._branch = np.empty(n_rows, dtype=np.int32)
        self._stretch = {0: (0, n_rows)}

    def choose(self, node: int, min_leaf: int) -> tuple[int, float]:
        """The attribute to test (or LEAF) and the total weight."""
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
        """Rows and weights of a node's instances."""
        rows = self._rows[slice(*self._stretch[node])]
        return rows, self._weights[rows]


class OrderedSamples:
    """Each node has rows and weights of its own, in Weka's order."""

    def __init__(self, examples: Examples) -> None:
        self.judged = new_judgement(examples, np.empty(0))
        self._columns = examples.table.columns()
        self._classes = examples.classes
        self._sample = {0: (np.arange(examples.table.n_rows, dtype=np.int32), examples.weights.copy())}
        self._total = 0.0

    def choose(self, node: int, min_leaf: int) -> tuple[int, float]:
        """The attribute to test (or LEAF) and the total weight."""
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
        """Rows and weights of a node's instances."""
        return self._sample[node]
