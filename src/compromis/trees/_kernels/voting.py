"""The leaves that rows reach in grown trees, and the votes and class shares there."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from compromis._kernel import kernel
from compromis._typing import Bytes, Floats, Ints
from compromis.trees._kernels.gains import Whole
from compromis.trees._kernels.growing import CHILD, CUT, FEATURE, KIND, LEAF, NOMINAL, goes_left
from compromis.trees._kernels.histograms import Labels, Numbers

Steps = NDArray[np.uint64]

CHILD_BITS: Final = np.uint64(2**32 - 1)  # a node packed in 64 bits: the left child (of a leaf: itself)
CUT_AT: Final = np.uint64(32)  # the last bin that goes left (of a leaf: 255), one more where missing values go left
SHIFT_AT: Final = np.uint64(40)  # 1 where missing values go left
FEATURE_AT: Final = np.uint64(42)
BYTE: Final = np.uint64(255)
ONE: Final = np.uint64(1)
MOST_FEATURES: Final = 2**22


@kernel
def find_leaves(bins: Bytes, root: Whole, nodes: Numbers, subsets: Bytes, leaves: Numbers) -> None:
    """Write the leaf of every row for the tree at `root`."""
    for row in range(np.uintp(bins.shape[1])):
        node = np.uintp(root)
        feature = nodes[node, FEATURE]
        # Down one level at a time: the right child follows the left one.
        while feature != LEAF:
            left = goes_left(bins[feature, row], nodes[node, CUT], nodes[node, KIND], subsets)
            node = np.uintp(nodes[node, CHILD]) + np.uintp(not left)
            feature = nodes[node, FEATURE]
        leaves[row] = nodes[node, CHILD]


@kernel
def step_from(step: np.uint64, b: np.uint8) -> np.uint64:
    """The node after the one packed in `step`, for bin `b`; a leaf comes back to itself."""
    shifted = (np.uint64(b) + ((step >> SHIFT_AT) & ONE)) & BYTE  # missing values become 0 where they go left
    return (step & CHILD_BITS) + np.uint64(shifted > ((step >> CUT_AT) & BYTE))


@kernel
def find_leaves_abreast(bins: Bytes, root: Whole, steps: Steps, nodes: Numbers, leaves: Numbers) -> None:
    """`find_leaves` without nominal features, for at least eight rows, which go down side by side.

    One row waits for memory at each step; eight of them wait together. The last eight rows may overlap.
    """
    rows = np.uint64(bins.shape[1])
    start = np.uint64(root)
    blocks = (rows + np.uint64(7)) // np.uint64(8)
    for block in range(blocks):
        first = min(block * np.uint64(8), rows - np.uint64(8))
        # a to h are the nodes of eight rows. A row at a leaf stays there, so the block is done when none of them moved.
        a = b = c = d = e = f = g = h = start
        moving = True
        while moving:
            step = steps[a]
            now = step_from(step, bins[step >> FEATURE_AT, first])
            moved = now ^ a
            a = now
            step = steps[b]
            now = step_from(step, bins[step >> FEATURE_AT, first + np.uint64(1)])
            moved |= now ^ b
            b = now
            step = steps[c]
            now = step_from(step, bins[step >> FEATURE_AT, first + np.uint64(2)])
            moved |= now ^ c
            c = now
            step = steps[d]
            now = step_from(step, bins[step >> FEATURE_AT, first + np.uint64(3)])
            moved |= now ^ d
            d = now
            step = steps[e]
            now = step_from(step, bins[step >> FEATURE_AT, first + np.uint64(4)])
            moved |= now ^ e
            e = now
            step = steps[f]
            now = step_from(step, bins[step >> FEATURE_AT, first + np.uint64(5)])
            moved |= now ^ f
            f = now
            step = steps[g]
            now = step_from(step, bins[step >> FEATURE_AT, first + np.uint64(6)])
            moved |= now ^ g
            g = now
            step = steps[h]
            now = step_from(step, bins[step >> FEATURE_AT, first + np.uint64(7)])
            moved |= now ^ h
            h = now
            moving = moved != np.uint64(0)
        leaves[first] = nodes[a, CHILD]
        leaves[first + np.uint64(1)] = nodes[b, CHILD]
        leaves[first + np.uint64(2)] = nodes[c, CHILD]
        leaves[first + np.uint64(3)] = nodes[d, CHILD]
        leaves[first + np.uint64(4)] = nodes[e, CHILD]
        leaves[first + np.uint64(5)] = nodes[f, CHILD]
        leaves[first + np.uint64(6)] = nodes[g, CHILD]
        leaves[first + np.uint64(7)] = nodes[h, CHILD]


@kernel
def find_majorities(leaf_starts: Ints, leaf_classes: Labels, leaf_shares: Floats, majorities: Labels) -> None:
    """Write the class of largest share of every leaf, the first of equals: the classes of a leaf ascend."""
    for leaf in range(majorities.size):
        best = leaf_starts[leaf]
        # `best` is the first of the largest shares so far.
        for entry in range(best + 1, leaf_starts[leaf + 1]):
            if leaf_shares[entry] > leaf_shares[best]:
                best = entry
        majorities[leaf] = leaf_classes[best]


@kernel
def divide_by_leaf(leaf_starts: Ints, leaf_weights: Floats) -> None:
    """Turn the class weights of every leaf into shares, in place."""
    for leaf in range(leaf_starts.size - 1):
        total = 0.0
        for entry in range(leaf_starts[leaf], leaf_starts[leaf + 1]):
            total += leaf_weights[entry]
        for entry in range(leaf_starts[leaf], leaf_starts[leaf + 1]):
            leaf_weights[entry] /= total


@kernel
def place_nodes(
    nodes: Numbers, first: Whole, last: Whole, first_subset: Whole, first_leaf: Whole, steps: Steps
) -> None:
    """Renumber, in place, nodes `first` to `last` of a tree that joins others, and pack them."""
    for node in range(first, last):
        feature = np.uint64(nodes[node, FEATURE])
        # A leaf leads to itself, whatever the bin: its cut is the largest byte.
        if nodes[node, FEATURE] == LEAF:
            nodes[node, CHILD] += np.uint32(first_leaf)
            steps[node] = np.uint64(node) | (BYTE << CUT_AT)
            continue
        nodes[node, CHILD] += np.uint32(first)
        if nodes[node, KIND] & NOMINAL:
            nodes[node, CUT] += np.uint32(first_subset)
        # Where missing values go left, bins are shifted by one, so that 255 becomes 0 and one comparison serves both.
        shift = np.uint64(nodes[node, KIND]) & ONE
        cut = (np.uint64(nodes[node, CUT]) + shift) & BYTE
        steps[node] = np.uint64(nodes[node, CHILD]) | (cut << CUT_AT) | (shift << SHIFT_AT) | (feature << FEATURE_AT)


@kernel
def add_votes_out_of_bag(leaves: Numbers, in_bag: Labels, majorities: Labels, votes: Floats) -> None:
    """Add a tree's vote for every row that it was not grown on."""
    for row in range(np.uintp(leaves.size)):
        if in_bag[row] == 0:
            votes[row, majorities[leaves[row]]] += 1.0


@kernel
def add_votes(leaves: Numbers, majorities: Labels, votes: Floats) -> None:
    """Add a tree's vote for every row."""
    for row in range(np.uintp(leaves.size)):
        votes[row, majorities[leaves[row]]] += 1.0


@kernel
def add_shares(leaves: Numbers, leaf_starts: Ints, leaf_classes: Labels, leaf_shares: Floats, total: Floats) -> None:
    """Add the class shares of a tree's leaves for every row."""
    for row in range(np.uintp(leaves.size)):
        leaf = np.uintp(leaves[row])
        # Only classes present in the leaf have an entry.
        for entry in range(np.uintp(leaf_starts[leaf]), np.uintp(leaf_starts[leaf + np.uintp(1)])):
            total[row, leaf_classes[entry]] += leaf_shares[entry]
