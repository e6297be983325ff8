"""Growing a C4.5 tree to its full size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats
from compromis.kernels.c45 import LEAF
from compromis.kernels.c45_deal import data_threshold
from compromis.kernels.c45_gain import SMALL
from compromis.trees.c45.samples import OrderedSamples, PresortedSamples, Samples
from compromis.trees.c45.table import Examples, Table
from compromis.trees.c45.tree import Tree

Rows = NDArray[np.int32]


def grow(examples: Examples, min_leaf: int) -> tuple[Tree, Samples]:
    """The unpruned tree and the instances at its nodes.

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
    """The nodes so far, one list per array of the tree."""

    def __init__(self, examples: Examples, min_leaf: int) -> None:
        self._table = examples.table
        self._columns = examples.table.columns()
        self._order, self._n_known = sort_columns(examples.table)
        self._min_leaf = min_leaf
        self._n_classes = examples.n_classes
        exact = examples.sums_are_exact
        self.samples: Samples = PresortedSamples(examples, self._order) if exact else OrderedSamples(examples)
        self._attribute: list[int] = []
        self._threshold: list[float] = []
        self._first_child: list[int] = []
        self._n_children: list[int] = []
        self._total: list[float] = []
        self._class_total: list[Floats] = []
        self._branch_total: list[Floats] = [np.zeros(1)]
        self._branch_class: list[Floats] = [np.zeros((1, self._n_classes))]
        self.size = 1

    def split(self, node: int) -> None:
        """Choose the node's test and append its children, or leave it a leaf."""
        attribute, total = self.samples.choose(node, self._min_leaf)
        judged = self.samples.judged
        if attribute == LEAF:
            self._append(LEAF, 0.0, 0, total, judged.node_class)
            return
        own = slice(judged.first_branch[attribute], judged.first_branch[attribute + 1])
        children = range(self.size, self.size + own.stop - own.start)
        threshold = self._threshold_of(attribute, float(judged.cut[attribute]))
        if not self.samples.part(node, children, attribute, threshold):
            # Values a tolerance apart can all fall on one side; the same test would follow for ever.
            self._append(LEAF, 0.0, 0, total, judged.node_class)
            return
        self._append(attribute, threshold, len(children), total, judged.class_total[attribute])
        self._branch_total.append(judged.branch_total[own].copy())
        self._branch_class.append(judged.branch_class[own].copy())
        self.size += len(children)

    def _threshold_of(self, attribute: int, cut: float) -> float:
        if self._columns.n_values[attribute] > 0:
            return 0.0
        slot = self._columns.slot[attribute]
        return data_threshold(self._table.numeric[slot], self._order[slot], self._n_known[slot], cut)

    def _append(self, attribute: int, threshold: float, n_children: int, total: float, class_total: Floats) -> None:
        self._attribute.append(attribute)
        self._threshold.append(threshold)
        self._first_child.append(self.size)
        self._n_children.append(n_children)
        self._total.append(total)
        self._class_total.append(class_total.copy())

    def tree(self) -> Tree:
        """The nodes as arrays."""
        total = np.array(self._total)
        n_children = np.array(self._n_children, dtype=np.int64)
        return Tree(
            attribute=np.array(self._attribute, dtype=np.int64),
            threshold=np.array(self._threshold),
            first_child=np.array(self._first_child, dtype=np.int64),
            n_children=n_children,
            is_empty=(n_children == 0) & (np.abs(total) < SMALL),
            total=total,
            class_total=np.stack(self._class_total),
            branch_total=np.concatenate(self._branch_total),
            branch_class=np.concatenate(self._branch_class),
        )


def sort_columns(table: Table) -> tuple[Rows, NDArray[np.int64]]:
    """Rows in ascending order of each numeric column, missing values last, and the number of known values."""
    order = np.argsort(table.numeric, axis=1, kind="stable").astype(np.int32)
    return order, (~np.isnan(table.numeric)).sum(axis=1)
