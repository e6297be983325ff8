"""Nodes that wait to be split, the one of largest gain first: a heap in an array."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from compromis._kernel import kernel
from compromis._typing import Bytes, Floats
from compromis.trees._kernels.gains import Flag, OwnGain, Whole
from compromis.trees._kernels.histograms import MISSING, Columns, Labels, Numbers, Sample
from compromis.trees._kernels.splitting import (
    SUBSET_BYTES,
    Rules,
    Split,
    Workspace,
    best_split,
    count_classes,
    forget_classes,
)

GAIN: Final = 0  # columns of the nodes' figures
WEIGHT: Final = 1
ROWS: Final = 2
FIGURES: Final = 3


@kernel
def push_best(heap: Numbers, figures: Floats, length: Whole) -> None:
    """Sift the last of `length` entries up a heap ordered by gain, then by the older node."""
    i = length - 1
    while i > 0:
        parent = (i - 1) // 2
        if not comes_first(np.int64(heap[i, 0]), np.int64(heap[parent, 0]), figures):
            return
        swap_rows(heap, i, parent)
        i = parent


@kernel
def pop_best(heap: Numbers, figures: Floats, length: Whole) -> None:
    """Bring the best of `length` entries to the last place and mend the heap of the others."""
    swap_rows(heap, 0, length - 1)
    i = 0
    while True:
        child = 2 * i + 1
        if child >= length - 1:
            return
        if child + 1 < length - 1 and comes_first(np.int64(heap[child + 1, 0]), np.int64(heap[child, 0]), figures):
            child += 1
        if not comes_first(np.int64(heap[child, 0]), np.int64(heap[i, 0]), figures):
            return
        swap_rows(heap, i, child)
        i = child


@kernel
def comes_first(a: Whole, b: Whole, figures: Floats) -> Flag:
    """Whether node `a` is to be split before node `b`: larger gain times weight, else the older one."""
    gain_a = figures[a, GAIN] * figures[a, WEIGHT]
    gain_b = figures[b, GAIN] * figures[b, WEIGHT]
    return gain_a > gain_b or (gain_a == gain_b and a < b)


@kernel
def swap_rows(array: Numbers, i: Whole, j: Whole) -> None:
    """Exchange two rows."""
    for field in range(array.shape[1]):
        value = array[i, field]
        array[i, field] = array[j, field]
        array[j, field] = value


@kernel
def draw_bootstrap(rng: np.random.Generator, in_bag: Labels) -> Whole:
    """Draw as many rows as there are, with replacement; count how often each is drawn, and how many are at all."""
    distinct = 0
    for _ in range(in_bag.size):
        row = np.uintp(rng.random() * in_bag.size)
        distinct += in_bag[row] == 0
        in_bag[row] += 1
    return distinct


@kernel
def take_sample(in_bag: Labels, labels: Labels, weights: Floats, sample: Sample) -> None:
    """Fill the sample with the rows drawn, their classes, and their weights times how often they were drawn."""
    place = 0
    weighted = weights.size > 0
    for row in range(in_bag.size):
        if in_bag[row]:
            sample.rows[place] = row
            sample.classes[place] = labels[row]
            sample.weights[place] = np.float64(in_bag[row]) * weights[row] if weighted else np.float64(in_bag[row])
            place += 1


FEATURE: Final = 0  # LEAF in a leaf
CUT: Final = 1  # last bin that goes left, or the number of the subset of a nominal feature
CHILD: Final = 2  # the left child, the right one follows it; in a leaf its number among leaves
KIND: Final = 3  # flags
NODE_FIELDS: Final = 4

LEAF: Final = 2**32 - 1

MISSING_LEFT: Final = 1
NOMINAL: Final = 2

PLACE: Final = 0  # a node waiting to be split: its number, its rows, its depth
START: Final = 1
STOP: Final = 2
DEPTH: Final = 3
PLACE_FIELDS: Final = 4

UNLIMITED: Final = 2**31 - 1


class Room(NamedTuple):
    """Where a tree is written, all zero: nodes and their figures, subsets of categories, class weights of leaves as sparse rows.

    As long as the largest tree that the rows and the stop rule allow; what is not written takes no memory.
    """

    nodes: Numbers
    figures: Floats
    subsets: Bytes
    leaf_starts: Numbers
    leaf_classes: Numbers
    leaf_weights: Floats
    frontier: Numbers


class Used(NamedTuple):
    """How much of the room a tree takes."""

    nodes: int
    subsets: int
    leaves: int


class Test(NamedTuple):
    """What an inner node asks: see FEATURE, CUT and KIND."""

    feature: Whole
    cut: Whole
    kind: Whole


@kernel
def goes_left(b: Whole, cut: Whole, kind: Whole, subsets: Bytes) -> Flag:
    """Whether bin `b` goes to the left child of a node."""
    if kind & NOMINAL:
        return (subsets[cut, b >> 3] >> (b & 7)) & 1 != 0
    return (b <= cut) | ((b == MISSING) & (kind & MISSING_LEFT != 0))


@kernel
def count_left(bins: Bytes, sample: Sample, start: Whole, stop: Whole, test: Test, subsets: Bytes) -> Whole:
    """How many of the node's rows go left."""
    rows = sample.rows
    feature = np.uintp(test.feature)
    left = np.int64(0)
    for i in range(np.uintp(start), np.uintp(stop)):
        left += np.int64(goes_left(bins[feature, rows[i]], test.cut, test.kind, subsets))
    return left


@kernel
def partition(
    bins: Bytes,
    sample: Sample,
    start: Whole,
    stop: Whole,
    test: Test,
    subsets: Bytes,
    left_first: Flag,
    scratch: Sample,
) -> None:
    """Move the rows of one child to the front, each child in the old order; the other child passes through `scratch`."""
    rows, classes, weights = sample
    spare_rows, spare_classes, spare_weights = scratch
    feature = np.uintp(test.feature)
    front = np.uintp(start)
    spared = np.uintp(0)
    for i in range(np.uintp(start), np.uintp(stop)):
        row = rows[i]
        label = classes[i]
        weight = weights[i]
        rows[front] = row  # both are written, one is kept: cheaper than a branch no one can predict
        classes[front] = label
        weights[front] = weight
        spare_rows[spared] = row
        spare_classes[spared] = label
        spare_weights[spared] = weight
        step = np.uintp(goes_left(bins[feature, row], test.cut, test.kind, subsets) == left_first)
        front += step
        spared += np.uintp(1) - step
    for i in range(spared):
        rows[front + i] = spare_rows[i]
        classes[front + i] = spare_classes[i]
        weights[front + i] = spare_weights[i]


@kernel
def may_split(rules: Rules, depth: Whole, rows: Whole, classes: Whole, n: float, node: Floats) -> Flag:
    """Whether the stop rule lets a node be split at all."""
    largest = 0.0
    for k in range(classes):
        largest = max(largest, node[0, k])
    # where the other classes' weights vanish by rounding the node is as good as pure
    return largest < n and depth < rules.max_depth and rows >= 2 * rules.min_samples_leaf


@kernel
def write_leaf(classes: Whole, space: Workspace, first: Whole, leaf_classes: Numbers, leaf_weights: Floats) -> None:
    """Write the classes of a leaf, ascending, and their weights from place `first` on."""
    for k in range(classes):
        label = space.present[k]
        j = first + k - 1
        while j >= first and leaf_classes[j] > label:
            leaf_classes[j + 1] = leaf_classes[j]
            leaf_weights[j + 1] = leaf_weights[j]
            j -= 1
        leaf_classes[j + 1] = label
        leaf_weights[j + 1] = space.node[0, k]


@kernel
def grow(
    columns: Columns, sample: Sample, rules: Rules, own: OwnGain, space: Workspace, room: Room, rng: np.random.Generator
) -> Used:
    """Grow one tree on the sample (whose arrays are reordered) into `room`, top down (TDIDT).

    Each new node is weighed at once: its best split, or a leaf. Nodes with a split wait; the last one is split next,
    or with max_leaf_nodes the one with the largest gain.
    """
    half = sample.rows.size // 2 + 1  # the smaller child of any node
    scratch = Sample(
        np.empty(half, sample.rows.dtype), np.empty(half, sample.classes.dtype), np.empty(half, sample.weights.dtype)
    )
    nodes, figures, subsets, leaf_starts, leaf_classes, leaf_weights, frontier = room
    fresh = np.zeros((2, PLACE_FIELDS), np.uint32)
    fresh[0, STOP] = sample.rows.size
    born = 1
    used = 1
    waiting = 0
    leaves = 0
    used_subsets = 0
    best_first = rules.max_leaf_nodes < UNLIMITED
    closing = False
    root_weight = 0.0
    while True:
        for child in range(born):
            node = np.int64(fresh[child, PLACE])
            start = np.int64(fresh[child, START])
            stop = np.int64(fresh[child, STOP])
            classes, n = count_classes(sample, start, stop, space)
            if node == 0:
                root_weight = n
            figures[node, WEIGHT] = n
            figures[node, ROWS] = stop - start
            split = Split(-np.inf, -1, 0, False)
            if not closing and may_split(rules, np.int64(fresh[child, DEPTH]), stop - start, classes, n, space.node):
                least = rules.min_weight_share * root_weight
                split = best_split(columns, sample, start, stop, rules, own, space, classes, n, least, rng)
            gain = max(split.gain, 0.0)
            if split.feature >= 0 and gain * n >= rules.min_gain * root_weight:
                figures[node, GAIN] = gain
                nodes[node, FEATURE] = split.feature
                nodes[node, CUT] = split.cut
                nodes[node, KIND] = MISSING_LEFT if split.missing_left else 0
                if columns.nominal[split.feature]:
                    for byte in range(SUBSET_BYTES):
                        subsets[used_subsets, byte] = space.subset[byte]
                    nodes[node, CUT] = used_subsets
                    nodes[node, KIND] = nodes[node, KIND] | NOMINAL
                    used_subsets += 1
                for field in range(PLACE_FIELDS):
                    frontier[waiting, field] = fresh[child, field]
                waiting += 1
                if best_first:
                    push_best(frontier, figures, waiting)
            else:
                first = np.int64(leaf_starts[leaves])
                write_leaf(classes, space, first, leaf_classes, leaf_weights)
                leaf_starts[leaves + 1] = first + classes
                nodes[node, FEATURE] = LEAF
                nodes[node, CHILD] = leaves
                figures[node, GAIN] = 0.0
                leaves += 1
            forget_classes(classes, space)
        if waiting == 0:
            break
        closing = closing or leaves + waiting >= rules.max_leaf_nodes
        if best_first:
            pop_best(frontier, figures, waiting)
        waiting -= 1
        if closing:
            for field in range(PLACE_FIELDS):
                fresh[0, field] = frontier[waiting, field]
            born = 1
            continue
        node = np.int64(frontier[waiting, PLACE])
        start = np.int64(frontier[waiting, START])
        stop = np.int64(frontier[waiting, STOP])
        test = Test(np.int64(nodes[node, FEATURE]), np.int64(nodes[node, CUT]), np.int64(nodes[node, KIND]))
        left = count_left(columns.bins, sample, start, stop, test, subsets)
        left_first = 2 * left >= stop - start
        partition(columns.bins, sample, start, stop, test, subsets, left_first, scratch)
        middle = start + left if left_first else stop - left
        nodes[node, CHILD] = used
        for child in range(2):
            fresh[child, PLACE] = used + child
            is_front = left_first == (child == 0)
            fresh[child, START] = start if is_front else middle
            fresh[child, STOP] = middle if is_front else stop
            fresh[child, DEPTH] = np.int64(frontier[waiting, DEPTH]) + 1
        used += 2
        born = 2
    return Used(used, used_subsets, leaves)
