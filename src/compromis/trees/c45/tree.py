"""C4.5's data: the table it reads, the tree it grows, and the tree as J48 prints it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats
from compromis.trees.c45._kernels import LEAF, SMALL, Columns, Nodes, class_shares, heaviest_class
from compromis.trees.columns import Column, values_by_column


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Values by column: `numeric` float64 with NaN for missing, `nominal` codes with -1 for missing.

    Both are (columns, rows); column by column, the next row of the one or of the other.
    """

    columns: tuple[Column, ...]
    numeric: Floats
    nominal: NDArray[np.int32]

    @classmethod
    def of(cls, rows: Any, columns: Sequence[Column]) -> Table:
        """Return the table of an array or a narwhals frame; categories not seen in training are missing."""
        by_kind: tuple[list[Any], list[Any]] = ([], [])
        for column, values in zip(columns, values_by_column(rows, columns), strict=True):
            by_kind[column.is_nominal].append(values)
        numeric, nominal = by_kind
        return cls(
            tuple(columns),
            np.array(numeric, dtype=np.float64).reshape(len(numeric), len(rows)),
            np.array(nominal, dtype=np.int32).reshape(len(nominal), len(rows)),
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.numeric.shape[1])

    @property
    def has_missing(self) -> bool:
        """Whether any value is missing."""
        return bool(np.isnan(self.numeric).any() or (self.nominal < 0).any())

    def arrays(self) -> Columns:
        """Return the arrays the kernels read."""
        nominal = np.array([column.is_nominal for column in self.columns], dtype=bool)
        slot = np.where(nominal, np.cumsum(nominal) - 1, np.cumsum(~nominal) - 1)
        # A nominal column whose values were all missing has no category; one that never occurs stands for it.
        n_values = [max(1, len(column.categories)) if column.categories is not None else 0 for column in self.columns]
        return Columns(self.numeric, self.nominal, slot.astype(np.int64), np.array(n_values, dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """A table with the class (a code below `n_classes`) and the weight of each row."""

    table: Table
    classes: NDArray[np.int32]
    n_classes: int
    weights: Floats

    def of_positive_weight(self) -> Examples:
        """Return the examples without the rows of weight 0."""
        counts = self.weights > 0
        if counts.all():
            return self
        numeric, nominal = self.table.numeric[:, counts].copy(), self.table.nominal[:, counts].copy()
        table = replace(self.table, numeric=numeric, nominal=nominal)
        return Examples(table, self.classes[counts], self.n_classes, self.weights[counts])

    @property
    def sums_are_exact(self) -> bool:
        """Whether every sum of weights is a whole number without rounding, whatever its order."""
        whole = bool((self.weights == np.floor(self.weights)).all())
        return whole and float(self.weights.sum()) < 2.0**53 and not self.table.has_missing


@dataclass(eq=False)
class Tree:
    """Node 0 is the root; the children of node i are `n_children[i]` nodes from `first_child[i]` on.

    `total` and `class_total` are the node's own distribution; `branch_total` and `branch_class` are what its
    parent's test recorded for the branch that leads to it. The two differ where values are missing.
    """

    attribute: NDArray[np.int64]
    threshold: Floats
    first_child: NDArray[np.int64]
    n_children: NDArray[np.int64]
    is_empty: NDArray[np.bool_]
    total: Floats
    class_total: Floats
    branch_total: Floats
    branch_class: Floats

    def nodes(self) -> Nodes:
        """Return the same arrays for the kernels (shared, not copied)."""
        return Nodes(**{**self._arrays(), "is_empty": self.is_empty.view(np.uint8)})

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {name: getattr(self, name) for name in _ARRAYS}

    def children(self, node: int) -> range:
        """Return the indices of the node's children; none for a leaf."""
        first = int(self.first_child[node])
        return range(first, first + int(self.n_children[node]))

    def make_leaf(self, node: int) -> None:
        """Cut off all that is under the node; its distribution stays."""
        self.attribute[node] = LEAF
        self.n_children[node] = 0

    @property
    def size(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.attribute)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int((self.n_children == 0).sum())

    @property
    def depth(self) -> int:
        """Tests on the longest path from the root."""
        depth = np.zeros(self.size, dtype=np.int64)
        for node in range(self.size):
            for child in self.children(node):
                depth[child] = depth[node] + 1
        return int(depth.max())

    def compact(self) -> Tree:
        """Return a copy of the nodes still reachable, in breadth-first order: parents come before their children."""
        kept = [0]
        for node in kept:
            kept.extend(self.children(node))
        first_child = np.zeros(len(kept), dtype=np.int64)
        following = 1
        for index, node in enumerate(kept):
            first_child[index] = following
            following += int(self.n_children[node])
        arrays = {name: array[kept] for name, array in self._arrays().items()}
        return Tree(**{**arrays, "first_child": first_child})


_ARRAYS = tuple(field.name for field in fields(Tree))


def shares(tree: Tree, table: Table) -> Floats:
    """Return the share of each class per row, as J48 gives them: where branches are empty they may fall short of 1."""
    out = np.zeros((table.n_rows, tree.class_total.shape[1]))
    class_shares(table.arrays(), tree.nodes(), table.n_rows, tree.depth + 1, out)
    return out


def tree_text(tree: Tree, columns: Sequence[Column], class_labels: Sequence[str]) -> str:
    """Return the tree as J48 prints it, with the lines 'Number of Leaves' and 'Size of the tree'.

    Notes
    -----
    A leaf shows (weight/errors) of the branch that leads to it; both have two decimals, thresholds six.
    """
    lines = [": " + _leaf(tree.total[0], tree.class_total[0], tree.class_total[0], class_labels)]
    if tree.n_children[0] > 0:
        lines = _branches(tree, columns, class_labels)
    ending = f"\nNumber of Leaves  : \t{tree.n_leaves}\n\nSize of the tree : \t{tree.size}\n"
    return "\n".join([*lines, ending])


def _branches(tree: Tree, columns: Sequence[Column], class_labels: Sequence[str]) -> list[str]:
    lines: list[str] = []
    pending = [(0, child, 0) for child in reversed(tree.children(0))]
    while pending:
        parent, node, depth = pending.pop()
        line = "|   " * depth + _condition(tree, columns, parent, node - int(tree.first_child[parent]))
        if tree.n_children[node] == 0:
            line += ": " + _leaf(
                tree.branch_total[node], tree.branch_class[node], tree.class_total[parent], class_labels
            )
        pending.extend((node, child, depth + 1) for child in reversed(tree.children(node)))
        lines.append(line)
    return lines


def _condition(tree: Tree, columns: Sequence[Column], node: int, branch: int) -> str:
    column = columns[int(tree.attribute[node])]
    if column.categories is not None:
        return f"{column.name} = {column.categories[branch]}"
    return f"{column.name} {'<=' if branch == 0 else '>'} {threshold_text(float(tree.threshold[node]))}"


def _leaf(total: float, class_total: Floats, fallback: Floats, class_labels: Sequence[str]) -> str:
    """Return `label (weight/errors)`; an empty branch has the label of the node above."""
    label = heaviest_class(class_total if total > SMALL else fallback)
    errors = float(total - class_total[label])
    counts = f"{_two_decimals(float(total))}/{_two_decimals(errors)}" if errors > SMALL else _two_decimals(float(total))
    return f"{class_labels[label]} ({counts})"


def _two_decimals(value: float) -> str:
    return _java_double(math.floor(value * 100.0 + 0.5) / 100.0)


def _java_double(value: float) -> str:
    """Return a number as Java prints it: from ten millions on with an exponent."""
    if value < 1e7:
        return repr(value)
    mantissa, exponent = f"{value:.17e}".split("e")
    for digits in range(1, 18):
        mantissa, exponent = f"{value:.{digits}e}".split("e")
        if float(f"{mantissa}e{exponent}") == value:
            break
    return f"{mantissa}E{int(exponent)}"


def threshold_text(value: float) -> str:
    """Return a threshold with at most six decimals, halves away from zero, no trailing zeros; beyond 64 bits as Java prints it."""
    sign, scaled = "-" if value < 0 else "", abs(value) * 1e6
    if scaled >= 2.0**63:
        return sign + _java_double(abs(value))
    whole = int(scaled + 0.5)
    if whole == 0:
        return "0"
    return sign + f"{whole // 10**6}.{whole % 10**6:06d}".rstrip("0").rstrip(".")
