"""One or many grown trees as flat arrays, and walks of rows through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Bytes, Floats
from compromis.trees._kernels import (
    CHILD,
    FEATURE,
    GAIN,
    LEAF,
    WEIGHT,
    Walk,
    find_leaves,
    find_majorities,
    place_nodes,
    sum_shares,
    sum_votes,
)

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
        """Return the share of each class in a leaf."""
        entries = slice(self.leaf_starts[leaf], self.leaf_starts[leaf + 1])
        shares = np.zeros(n_classes)
        shares[self.leaf_classes[entries]] = self.leaf_shares[entries]
        return shares

    def with_hard_leaves(self) -> Trees:
        """Return the same trees with leaves of one class each, the one they vote for."""
        starts = np.arange(self.n_leaves + 1, dtype=np.int64)
        return replace(self, leaf_starts=starts, leaf_classes=self.majorities, leaf_shares=np.ones(self.n_leaves))

    def importances(self, n_features: int) -> Floats:
        """Return gain times weight of each feature's splits, as shares: the mean over trees; zeros where nothing was split."""
        total = np.zeros(n_features)
        for first, last in zip(self.roots, [*self.roots[1:], len(self.nodes)], strict=True):
            features = self.nodes[first:last, FEATURE]
            inner = features != LEAF
            gains = (self.figures[first:last, GAIN] * self.figures[first:last, WEIGHT])[inner]
            if gains.sum() > 0:
                total += np.bincount(features[inner], weights=gains, minlength=n_features) / gains.sum()
        return total / total.sum() if total.any() else total

    def depth(self, tree: int = 0) -> int:
        """Return the most tests from the root of a tree to a leaf."""
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
    """Return one tree, with the votes of its leaves."""
    majorities = np.empty(len(leaf_starts) - 1, dtype=np.uint16)
    find_majorities(leaf_starts, leaf_classes, leaf_shares, majorities)
    steps = np.empty(len(nodes), dtype=np.uint64)
    place_nodes(nodes, 0, len(nodes), 0, 0, steps)
    roots = np.zeros(1, dtype=np.int64)
    return Trees(roots, nodes, figures, subsets, leaf_starts, leaf_classes, leaf_shares, majorities, steps)


def join(parts: list[Trees]) -> Trees:
    """Return all trees of `parts`, each of one tree, in their order; empties the list, so that memory holds no tree twice."""
    sizes = [(len(part.nodes), len(part.subsets), part.n_leaves, len(part.leaf_classes)) for part in parts]
    roots, first_subsets, first_leaves, first_entries = (_firsts(lengths) for lengths in zip(*sizes, strict=True))
    names = ("nodes", "figures", "subsets", "leaf_starts", "leaf_classes", "leaf_shares", "majorities")
    pieces = {name: [getattr(part, name) for part in parts] for name in names}
    parts.clear()
    starts = pieces["leaf_starts"]
    for index, first in enumerate(first_entries):
        starts[index] = starts[index][1:] + first
    starts.insert(0, np.zeros(1, dtype=np.int64))
    joined = {name: _chained(pieces.pop(name)) for name in names}
    nodes = joined["nodes"]
    steps = np.empty(len(nodes), dtype=np.uint64)
    for root, subset, leaf, size in zip(roots, first_subsets, first_leaves, sizes, strict=True):
        place_nodes(nodes, int(root), int(root) + size[0], int(subset), int(leaf), steps)
    return Trees(roots=roots, steps=steps, **joined)


def _chained(pieces: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the pieces one after the other; each is freed once it is copied."""
    whole = np.empty((sum(map(len, pieces)), *pieces[0].shape[1:]), pieces[0].dtype)
    stop = len(whole)
    while pieces:
        piece = pieces.pop()
        whole[stop - len(piece) : stop] = piece
        stop -= len(piece)
    return whole


def _firsts(lengths: Sequence[int]) -> NDArray[np.int64]:
    """Return where each part starts when parts of these lengths follow one another."""
    return np.cumsum([0, *lengths[:-1]], dtype=np.int64)


def tree_leaves(trees: Trees, tree: int, bins: Bytes) -> NDArray[np.uint32]:
    """Return the leaf of each row in one tree, numbered over all trees."""
    leaves = np.empty(bins.shape[1], dtype=np.uint32)
    find_leaves(_walk(trees, bins), int(trees.roots[tree]), leaves)
    return leaves


def mean_shares(trees: Trees, bins: Bytes, n_classes: int) -> Floats:
    """Return the class shares of the rows' leaves, averaged over trees."""
    total = np.zeros((bins.shape[1], n_classes))
    sum_shares(_walk(trees, bins), trees.roots, trees.leaf_starts, trees.leaf_classes, trees.leaf_shares, total)
    total /= len(trees)
    return total


def vote_shares(trees: Trees, bins: Bytes, n_classes: int) -> Floats:
    """Return the share of the trees that vote for each class."""
    votes = np.zeros((bins.shape[1], n_classes))
    sum_votes(_walk(trees, bins), trees.roots, trees.majorities, votes)
    votes /= len(trees)
    return votes


def _walk(trees: Trees, bins: Bytes) -> Walk:
    return Walk(bins, trees.nodes, trees.subsets, trees.steps)
