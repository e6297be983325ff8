"""Grown trees for people: text and diagram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from compromis._typing import Bytes
from compromis.errors import MissingExtra
from compromis.trees._kernels import CHILD, FEATURE, LAST_BIN, LEAF, MISSING_LEFT, NOMINAL, ROWS, WEIGHT
from compromis.trees.binning import Binning
from compromis.trees.columns import Column
from compromis.trees.store import Trees


@dataclass(frozen=True, slots=True, eq=False)
class Wording:
    """Names for a tree's numbers: its columns, their bins, and the classes."""

    columns: Sequence[Column]
    binning: Binning
    classes: Sequence[object]


def test_texts(trees: Trees, node: int, wording: Wording) -> tuple[str, str]:
    """Return the condition of rows that go left, and that of rows that go right."""
    feature, cut, _, kind = (int(number) for number in trees.nodes[node])
    name = wording.columns[feature].name
    missing = (" or missing", "") if kind & MISSING_LEFT else ("", " or missing")
    if kind & NOMINAL:
        sides = _subset_texts(trees.subsets[cut], wording, feature)
        return f"{name} in {sides[0]}{missing[0]}", f"{name} in {sides[1]}{missing[1]}"
    if cut >= LAST_BIN:
        return f"{name} is not missing", f"{name} is missing"
    threshold = f"{wording.binning.thresholds[feature][cut]:.6g}"
    return f"{name} <= {threshold}{missing[0]}", f"{name} > {threshold}{missing[1]}"


def leaf_text(trees: Trees, node: int, wording: Wording) -> str:
    """Return the class a leaf votes for, its share, and the number of rows."""
    leaf = int(trees.nodes[node, CHILD])
    majority = int(trees.majorities[leaf])
    share = trees.shares_of_leaf(leaf, len(wording.classes))[majority]
    return f"{wording.classes[majority]} ({share:.3g} of {trees.figures[node, WEIGHT]:g})"


def tree_text(trees: Trees, tree: int, wording: Wording, max_depth: int) -> str:
    """Return one tree as indented text; rows of nodes deeper than `max_depth` are counted, not shown."""
    lines: list[str] = []
    pending = [(int(trees.roots[tree]), 0, "")]
    while pending:
        node, depth, condition = pending.pop()
        indent = "|   " * max(depth - 1, 0)
        colon = ": " if condition else ""
        if trees.nodes[node, FEATURE] == LEAF:
            lines.append(f"{indent}{condition}{colon}{leaf_text(trees, node, wording)}")
            continue
        if depth >= max_depth:
            lines.append(f"{indent}{condition}{colon}... {int(trees.figures[node, ROWS])} rows")
            continue
        if condition:
            lines.append(f"{indent}{condition}")
        left = int(trees.nodes[node, CHILD])
        texts = test_texts(trees, node, wording)
        pending += [(left + 1, depth + 1, texts[1]), (left, depth + 1, texts[0])]
    return "\n".join(lines)


def _subset_texts(bits: Bytes, wording: Wording, feature: int) -> tuple[str, str]:
    categories = wording.columns[feature].categories
    assert categories is not None
    on_left = np.unpackbits(bits, bitorder="little").astype(bool)[wording.binning.code_bins[feature]]
    left, right = (
        [str(category) for category, goes_left in zip(categories, on_left, strict=True) if goes_left == side]
        for side in (True, False)
    )
    return "{" + ", ".join(left) + "}", "{" + ", ".join(right) + "}"


def draw_tree(trees: Trees, tree: int, wording: Wording, max_depth: int, ax: Any = None) -> Any:
    """Draw a tree into `ax` (a new one if None), down to `max_depth`; return the axes."""
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise MissingExtra("drawing a tree needs matplotlib; install compromis[plot]") from error
        _, ax = plt.subplots()
    places, leaves = _layout(trees, int(trees.roots[tree]), max_depth)
    for node, (x, depth, shown_children) in places.items():
        for child, text in zip(shown_children, test_texts(trees, node, wording) if shown_children else (), strict=True):
            below = places[child]
            ax.plot([x, below[0]], [-depth, -below[1]], color="0.6", linewidth=1, zorder=1)
            middle = ((x + below[0]) / 2, -(depth + below[1]) / 2)
            ax.text(*middle, text, ha="center", va="center", fontsize=8, zorder=3)
        is_leaf = trees.nodes[node, FEATURE] == LEAF
        label = leaf_text(trees, node, wording) if is_leaf else f"{int(trees.figures[node, ROWS])} rows"
        box = {"boxstyle": "round", "facecolor": "white" if is_leaf else "0.92", "edgecolor": "0.5"}
        ax.text(x, -depth, label, ha="center", va="center", fontsize=8, bbox=box, zorder=2)
    ax.set_xlim(-0.6, leaves - 0.4)
    ax.set_ylim(-max(depth for _, depth, _ in places.values()) - 0.5, 0.5)
    ax.set_axis_off()
    return ax


def _layout(trees: Trees, root: int, max_depth: int) -> tuple[dict[int, tuple[float, int, tuple[int, ...]]], int]:
    """Return position, depth and shown children of each node, and the number of ends.

    Ends stand side by side, a node above the middle of its children.
    """
    places: dict[int, tuple[float, int, tuple[int, ...]]] = {}
    ends = 0
    pending: list[tuple[int, int, bool]] = [(root, 0, False)]
    while pending:
        node, depth, children_placed = pending.pop()
        if trees.nodes[node, FEATURE] == LEAF or depth >= max_depth:
            places[node] = (float(ends), depth, ())
            ends += 1
            continue
        left = int(trees.nodes[node, CHILD])
        if children_placed:
            places[node] = ((places[left][0] + places[left + 1][0]) / 2, depth, (left, left + 1))
        else:
            pending += [(node, depth, True), (left + 1, depth + 1, False), (left, depth + 1, False)]
    return places, ends
