"""A C4.5 tree in J48's layout."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from compromis.kernels.c45 import heaviest_class
from compromis.kernels.c45_gain import SMALL
from compromis.trees.c45.table import Attribute
from compromis.trees.c45.tree import Tree


def tree_text(tree: Tree, attributes: Sequence[Attribute], class_labels: Sequence[str]) -> str:
    """The tree as J48 prints it, with the lines 'Number of Leaves' and 'Size of the tree'.

    Notes
    -----
    A leaf shows (weight/errors) of the branch that leads to it; both have two decimals, thresholds six.
    """
    lines = [": " + _leaf(tree.total[0], tree.class_total[0], tree.class_total[0], class_labels)]
    if tree.n_children[0] > 0:
        lines = _branches(tree, attributes, class_labels)
    ending = f"\nNumber of Leaves  : \t{tree.n_leaves}\n\nSize of the tree : \t{tree.size}\n"
    return "\n".join([*lines, ending])


def _branches(tree: Tree, attributes: Sequence[Attribute], class_labels: Sequence[str]) -> list[str]:
    lines: list[str] = []
    pending = [(0, child, 0) for child in reversed(tree.children(0))]
    while pending:
        parent, node, depth = pending.pop()
        line = "|   " * depth + _condition(tree, attributes, parent, node - int(tree.first_child[parent]))
        if tree.n_children[node] == 0:
            line += ": " + _leaf(
                tree.branch_total[node], tree.branch_class[node], tree.class_total[parent], class_labels
            )
        pending.extend((node, child, depth + 1) for child in reversed(tree.children(node)))
        lines.append(line)
    return lines


def _condition(tree: Tree, attributes: Sequence[Attribute], node: int, branch: int) -> str:
    attribute = attributes[int(tree.attribute[node])]
    if attribute.values is not None:
        return f"{attribute.name} = {attribute.values[branch]}"
    return f"{attribute.name} {'<=' if branch == 0 else '>'} {threshold_text(float(tree.threshold[node]))}"


def _leaf(
    total: float, class_total: NDArray[np.float64], fallback: NDArray[np.float64], class_labels: Sequence[str]
) -> str:
    """`label (weight/errors)`; an empty branch has the label of the node above."""
    label = heaviest_class(class_total if total > SMALL else fallback)
    errors = float(total - class_total[label])
    counts = f"{_two_decimals(float(total))}/{_two_decimals(errors)}" if errors > SMALL else _two_decimals(float(total))
    return f"{class_labels[label]} ({counts})"


def _two_decimals(value: float) -> str:
    return _java_double(math.floor(value * 100.0 + 0.5) / 100.0)


def _java_double(value: float) -> str:
    """A number as Java prints it: from ten millions on with an exponent."""
    if value < 1e7:
        return repr(value)
    mantissa, exponent = f"{value:.17e}".split("e")
    for digits in range(1, 18):
        mantissa, exponent = f"{value:.{digits}e}".split("e")
        if float(f"{mantissa}e{exponent}") == value:
            break
    return f"{mantissa}E{int(exponent)}"


def threshold_text(value: float) -> str:
    """A threshold with at most six decimals, halves away from zero, no trailing zeros."""
    scaled = value * 1e6
    if abs(scaled) >= 2.0**63:
        return repr(value)
    whole = int(abs(scaled) + 0.5)
    if whole == 0:
        return "0"
    digits = f"{whole // 10**6}.{whole % 10**6:06d}".rstrip("0").rstrip(".")
    return ("-" if value < 0 else "") + digits
