"""One or many grown trees as flat arrays, and growing many of them in parallel."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Bytes, Floats
from compromis.trees._kernels.growing import CHILD, FEATURE, GAIN, LEAF, MISSING_LEFT, NOMINAL, ROWS, WEIGHT
from compromis.trees._kernels.histograms import LAST_BIN
from compromis.trees._kernels.voting import (
    MOST_FEATURES,
    add_shares,
    add_votes,
    find_leaves,
    find_leaves_abreast,
    find_majorities,
    place_nodes,
)
from compromis.trees.binning import Binning

Numbers = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """One or many trees: nodes and leaves of all of them in a row.

    Notes
    -----
    A row of `nodes` has the feature (2^32 - 1 in a leaf), the last bin that goes left (or the number of a subset of
    categories), the left child, which the right one follows (in a leaf: its number among leaves), and flags: 1 if
    missing values go left, 2 if the feature is nominal. `figures` has the gain, the weight and the number of rows.
    The classes of leaf i and their shares are the entries from `leaf_starts[i]` to `leaf_starts[i + 1]`.
    """

    roots: NDArray[np.int64]
    nodes: Numbers
    figures: Floats
    subsets: NDArray[np.uint8]
    leaf_starts: NDArray[np.int64]
    leaf_classes: NDArray[np.uint16]
    leaf_shares: Floats
    majorities: NDArray[np.uint16]
    """The class that each leaf votes for: the largest share, the first of equals."""
    steps: NDArray[np.uint64]
    """The nodes once more, packed for quick walks."""

    def __len__(self) -> int:
        return len(self.roots)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.majorities)

    def shares_of_leaf(self, leaf: int, n_classes: int) -> Floats:
        """Share of each class in a leaf."""
        entries = slice(self.leaf_starts[leaf], self.leaf_starts[leaf + 1])
        shares = np.zeros(n_classes)
        shares[self.leaf_classes[entries]] = self.leaf_shares[entries]
        return shares

    def importances(self, n_features: int) -> Floats:
        """Gain times weight of each feature's splits, as shares: the mean over trees; zeros where nothing was split."""
        total = np.zeros(n_features)
        for first, last in zip(self.roots, [*self.roots[1:], len(self.nodes)], strict=True):
            features = self.nodes[first:last, FEATURE]
            inner = features != LEAF
            gains = (self.figures[first:last, GAIN] * self.figures[first:last, WEIGHT])[inner]
            if gains.sum() > 0:
                total += np.bincount(features[inner], weights=gains, minlength=n_features) / gains.sum()
        return total / total.sum() if total.any() else total

    def depth(self, tree: int = 0) -> int:
        """Most tests from the root of a tree to a leaf."""
        level, deepest = np.array([self.roots[tree]]), 0
        while True:
            inner = level[self.nodes[level, FEATURE] != LEAF]
            if not len(inner):
                return deepest
            left = self.nodes[inner, CHILD].astype(np.int64)
            level, deepest = np.concatenate([left, left + 1]), deepest + 1


def tree_of_leaves(
    nodes: Numbers,
    figures: Floats,
    subsets: NDArray[np.uint8],
    leaf_starts: NDArray[np.int64],
    leaf_classes: NDArray[np.uint16],
    leaf_shares: Floats,
) -> Trees:
    """One tree, with the votes of its leaves."""
    majorities = np.empty(len(leaf_starts) - 1, dtype=np.uint16)
    find_majorities(leaf_starts, leaf_classes, leaf_shares, majorities)
    steps = np.empty(len(nodes), dtype=np.uint64)
    place_nodes(nodes, 0, len(nodes), 0, 0, steps)
    roots = np.zeros(1, dtype=np.int64)
    return Trees(roots, nodes, figures, subsets, leaf_starts, leaf_classes, leaf_shares, majorities, steps)


def join(parts: list[Trees]) -> Trees:
    """All trees of `parts`, each of one tree, in their order; empties the list, so that memory holds no tree twice."""
    sizes = [(len(part.nodes), len(part.subsets), part.n_leaves, len(part.leaf_classes)) for part in parts]
    roots, first_subsets, first_leaves, first_entries = (_firsts(lengths) for lengths in zip(*sizes, strict=True))
    names = ("nodes", "figures", "subsets", "leaf_starts", "leaf_classes", "leaf_shares", "majorities")
    pieces = {name: [getattr(part, name) for part in parts] for name in names}
    parts.clear()
    starts = pieces["leaf_starts"]
    for place, first in enumerate(first_entries):
        starts[place] = starts[place][1:] + first
    starts.insert(0, np.zeros(1, dtype=np.int64))
    joined = {name: _chained(pieces.pop(name)) for name in names}
    nodes = joined["nodes"]
    steps = np.empty(len(nodes), dtype=np.uint64)
    for root, subset, leaf, size in zip(roots, first_subsets, first_leaves, sizes, strict=True):
        place_nodes(nodes, int(root), int(root) + size[0], int(subset), int(leaf), steps)
    return Trees(roots=roots, steps=steps, **joined)


def _chained(pieces: list[NDArray[Any]]) -> NDArray[Any]:
    """The pieces one after the other, each let go once it is copied."""
    whole = np.empty((sum(map(len, pieces)), *pieces[0].shape[1:]), pieces[0].dtype)
    stop = len(whole)
    while pieces:
        piece = pieces.pop()
        whole[stop - len(piece) : stop] = piece
        stop -= len(piece)
    return whole


def _firsts(lengths: Sequence[int]) -> NDArray[np.int64]:
    """Where each part starts when parts of these lengths follow one another."""
    return np.cumsum([0, *lengths[:-1]], dtype=np.int64)


ROWS_ABREAST: Final = 8


def tree_leaves(trees: Trees, tree: int, bins: Bytes) -> NDArray[np.uint32]:
    """The leaf of each row in one tree, numbered over all trees."""
    root = int(trees.roots[tree])
    leaves = np.empty(bins.shape[1], dtype=np.uint32)
    if len(leaves) < ROWS_ABREAST or len(trees.subsets) or len(bins) > MOST_FEATURES:
        find_leaves(bins, root, trees.nodes, trees.subsets, leaves)
    else:
        find_leaves_abreast(bins, root, trees.steps, trees.nodes, leaves)
    return leaves


def mean_shares(trees: Trees, bins: Bytes, n_classes: int) -> Floats:
    """Class shares of the rows' leaves, averaged over trees."""
    total = np.zeros((bins.shape[1], n_classes))
    for tree in range(len(trees)):
        leaves = tree_leaves(trees, tree, bins)
        add_shares(leaves, trees.leaf_starts, trees.leaf_classes, trees.leaf_shares, total)
    total /= len(trees)
    return total


def vote_shares(trees: Trees, bins: Bytes, n_classes: int) -> Floats:
    """Share of the trees that vote for each class."""
    votes = np.zeros((bins.shape[1], n_classes))
    for tree in range(len(trees)):
        add_votes(tree_leaves(trees, tree, bins), trees.majorities, votes)
    votes /= len(trees)
    return votes


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
