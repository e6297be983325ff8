"""A diagram of one tree."""

from __future__ import annotations

from typing import Any

from compromis.errors import MissingExtra
from compromis.kernels.frontier import ROWS
from compromis.kernels.growing import CHILD, FEATURE, LEAF
from compromis.trees.forest import Trees
from compromis.trees.text import Wording, leaf_text, test_texts


def draw_tree(trees: Trees, tree: int, wording: Wording, max_depth: int, ax: Any = None) -> Any:
    """Draw a tree into `ax` (a new one if None), down to `max_depth`; gives the axes."""
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
    """Place, depth and shown children of each node: ends side by side, a node in the middle of its children."""
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
