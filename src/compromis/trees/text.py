"""A tree in words: the tests of its nodes, and as indented text."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compromis.kernels.frontier import ROWS, WEIGHT
from compromis.kernels.growing import CHILD, FEATURE, LEAF, MISSING_LEFT, NOMINAL
from compromis.kernels.histograms import LAST_BIN
from compromis.trees.binning import Binning
from compromis.trees.forest import Trees


@dataclass(frozen=True, slots=True, eq=False)
class Wording:
    """Names for a tree's numbers: its features, the categories of nominal ones (None for numeric), and classes."""

    features: Sequence[str]
    categories: Sequence[Sequence[Hashable] | None]
    classes: Sequence[object]
    binning: Binning


def test_texts(trees: Trees, node: int, wording: Wording) -> tuple[str, str]:
    """What rows that go left, and rows that go right, have in common."""
    feature, cut, _, kind = (int(number) for number in trees.nodes[node])
    name = wording.features[feature]
    missing = (" or missing", "") if kind & MISSING_LEFT else ("", " or missing")
    if kind & NOMINAL:
        sides = _subset_texts(trees.subsets[cut], wording, feature)
        return f"{name} in {sides[0]}{missing[0]}", f"{name} in {sides[1]}{missing[1]}"
    if cut >= LAST_BIN:
        return f"{name} is not missing", f"{name} is missing"
    threshold = f"{wording.binning.thresholds[feature][cut]:.6g}"
    return f"{name} <= {threshold}{missing[0]}", f"{name} > {threshold}{missing[1]}"


def leaf_text(trees: Trees, node: int, wording: Wording) -> str:
    """The class a leaf votes for, its share, and the number of rows."""
    leaf = int(trees.nodes[node, CHILD])
    majority = int(trees.majorities[leaf])
    share = trees.shares_of_leaf(leaf, len(wording.classes))[majority]
    return f"{wording.classes[majority]} ({share:.3g} of {trees.figures[node, WEIGHT]:g})"


def tree_text(trees: Trees, tree: int, wording: Wording, max_depth: int) -> str:
    """One tree as indented text; deeper nodes than `max_depth` are counted, not shown."""
    lines: list[str] = []
    pending = [(int(trees.roots[tree]), 0, "")]
    while pending:
        node, depth, condition = pending.pop()
        indent = "|   " * max(depth - 1, 0)
        is_leaf = trees.nodes[node, FEATURE] == LEAF
        if is_leaf:
            lines.append(f"{indent}{condition}{': ' if condition else ''}{leaf_text(trees, node, wording)}")
            continue
        cut_off = depth >= max_depth
        if condition:
            more = f": ... {int(trees.figures[node, ROWS])} rows" if cut_off else ""
            lines.append(f"{indent}{condition}{more}")
        elif cut_off:
            lines.append(f"... {int(trees.figures[node, ROWS])} rows")
        if not cut_off:
            left = int(trees.nodes[node, CHILD])
            texts = test_texts(trees, node, wording)
            pending += [(left + 1, depth + 1, texts[1]), (left, depth + 1, texts[0])]
    return "\n".join(lines)


def _subset_texts(bits: NDArray[np.uint8], wording: Wording, feature: int) -> tuple[str, str]:
    categories = wording.categories[feature]
    assert categories is not None
    on_left = np.unpackbits(bits, bitorder="little").astype(bool)[wording.binning.code_bins[feature]]
    left = [str(category) for category, side in zip(categories, on_left, strict=True) if side]
    right = [str(category) for category, side in zip(categories, on_left, strict=True) if not side]
    return "{" + ", ".join(left) + "}", "{" + ", ".join(right) + "}"
