"""What grown trees say about binned rows."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Bytes, Floats
from compromis.kernels.voting import MOST_FEATURES, add_shares, add_votes, find_leaves, find_leaves_abreast
from compromis.trees.forest import Trees

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
