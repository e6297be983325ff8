"""Growing one tree: its sample, the node that is split next, and the arrays it is written to."""

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

FEATURE: Final = 0  # columns of the nodes; LEAF in a leaf
CUT: Final = 1  # last bin that goes left, or the number of the subset of a nominal feature
CHILD: Final = 2  # the left child, the right one follows it; in a leaf its number among leaves
KIND: Final = 3  # flags: MISSING_LEFT, NOMINAL
NODE_FIELDS: Final = 4

LEAF: Final = 2**32 - 1

MISSING_LEFT: Final = 1
NOMINAL: Final = 2

PLACE: Final = 0  # columns of the frontier, a node that waits to be split: its number, its rows, its depth
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
def push_best(heap: Numbers, figures: Floats, length: Whole) -> None:
    """Sift the last of `length` entries up a heap ordered by gain, then by the older node."""
    i = length - 1
    while i > 0:
        # The entry has reached i; all others are in order. It moves on while it comes before its parent.
        parent = (i - 1) // 2
        if not comes_first(np.int64(heap[i, 0]), np.int64(heap[parent, 0]), figures):
            return
        swap_rows(heap, i, parent)
        i = parent


@kernel
def pop_best(heap: Numbers, figures: Floats, length: Whole) -> None:
    """Bring the best of `length` entries to the last position and mend the heap of the others."""
    swap_rows(heap, 0, length - 1)
    i = 0
    while True:
        # The former last entry has sunk to i; the heap is in order but for it and its children.
        child = 2 * i + 1
        if child >= length - 1:
            return
        # The earlier of the two children is the only one that may stand above the other.
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
    """Draw as many rows as there are, with replacement; count how often each is drawn, and return how many are at all."""
    distinct = 0
    for _ in range(in_bag.size):
        row = np.uintp(rng.random() * in_bag.size)
        distinct += in_bag[row] == 0
        in_bag[row] += 1
    return distinct


@kernel
def take_sample(in_bag: Labels, labels: Labels, weights: Floats, sample: Sample) -> None:
    """Fill the sample with the rows drawn, their classes, and their weights times how often they were drawn."""
    filled = 0
    weighted = weights.size > 0
    for row in range(in_bag.size):
        # Rows come in ascending order, each once: a row drawn twice has twice the weight.
        if in_bag[row]:
            sample.rows[filled] = row
            sample.classes[filled] = labels[row]
            sample.weights[filled] = np.float64(in_bag[row]) * weights[row] if weighted else np.float64(in_bag[row])
            filled += 1


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
        # Rows of the front child stand from `start` to `front`, those of the other in `scratch`, `spared` of them; front <= i.
        row = rows[i]
        label = classes[i]
        weight = weights[i]
        rows[front] = row  # both are written, one is kept: cheaper than a branch that cannot be predicted
        classes[front] = label
        weights[front] = weight
        spare_rows[spared] = row
        spare_classes[spared] = label
        spare_weights[spared] = weight
        step = np.uintp(goes_left(bins[feature, row], test.cut, test.kind, subsets) == left_first)
        front += step
        spared += np.uintp(1) - step
    # The other child follows the front one, in its old order.
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
def write_split(node: Whole, split: Split, nominal: Flag, space: Workspace, room: Room, subset: Whole) -> None:
    """Write the test of an inner node; that of a nominal feature takes the subset of categories with number `subset`."""
    room.figures[node, GAIN] = max(split.gain, 0.0)
    room.nodes[node, FEATURE] = split.feature
    room.nodes[node, CUT] = split.cut
    room.nodes[node, KIND] = MISSING_LEFT if split.missing_left else 0
    if nominal:
        for byte in range(SUBSET_BYTES):
            room.subsets[subset, byte] = space.subset[byte]
        room.nodes[node, CUT] = subset
        room.nodes[node, KIND] = room.nodes[node, KIND] | NOMINAL


@kernel
def write_leaf(node: Whole, leaf: Whole, classes: Whole, space: Workspace, room: Room) -> None:
    """Write a leaf: its number, its classes in ascending order, and their weights, after those of the leaf before it."""
    first = np.int64(room.leaf_starts[leaf])
    for k in range(classes):
        # The first k classes are sorted; the next one moves down to its position among them.
        label = space.present[k]
        j = first + k - 1
        while j >= first and room.leaf_classes[j] > label:
            room.leaf_classes[j + 1] = room.leaf_classes[j]
            room.leaf_weights[j + 1] = room.leaf_weights[j]
            j -= 1
        room.leaf_classes[j + 1] = label
        room.leaf_weights[j + 1] = space.node[0, k]
    room.leaf_starts[leaf + 1] = first + classes
    room.nodes[node, FEATURE] = LEAF
    room.nodes[node, CHILD] = leaf
    room.figures[node, GAIN] = 0.0


@kernel
def part_node(
    columns: Columns, sample: Sample, room: Room, waiting: Whole, used: Whole, scratch: Sample, fresh: Numbers
) -> None:
    """Part the rows of a node of the frontier; its children become nodes `used` and `used` + 1, described in `fresh`."""
    node = np.int64(room.frontier[waiting, PLACE])
    start = np.int64(room.frontier[waiting, START])
    stop = np.int64(room.frontier[waiting, STOP])
    test = Test(np.int64(room.nodes[node, FEATURE]), np.int64(room.nodes[node, CUT]), np.int64(room.nodes[node, KIND]))
    # The larger child goes to the front, so that at most half of the rows pass through the scratch arrays.
    left = count_left(columns.bins, sample, start, stop, test, room.subsets)
    left_first = 2 * left >= stop - start
    partition(columns.bins, sample, start, stop, test, room.subsets, left_first, scratch)
    middle = start + left if left_first else stop - left
    room.nodes[node, CHILD] = used
    for child in range(2):
        fresh[child, PLACE] = used + child
        is_front = left_first == (child == 0)
        fresh[child, START] = start if is_front else middle
        fresh[child, STOP] = middle if is_front else stop
        fresh[child, DEPTH] = np.int64(room.frontier[waiting, DEPTH]) + 1


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
    fresh = np.zeros((2, PLACE_FIELDS), np.uint32)  # the nodes to be weighed, as the frontier has them
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
        # Weigh the fresh nodes. The rows of each stand side by side in the sample, from START to STOP.
        for child in range(born):
            node = np.int64(fresh[child, PLACE])
            start = np.int64(fresh[child, START])
            stop = np.int64(fresh[child, STOP])
            classes, n = count_classes(sample, start, stop, space)
            if node == 0:
                root_weight = n
            room.figures[node, WEIGHT] = n
            room.figures[node, ROWS] = stop - start
            split = Split(-np.inf, -1, 0, False)
            if not closing and may_split(rules, np.int64(fresh[child, DEPTH]), stop - start, classes, n, space.node):
                least = rules.min_weight_share * root_weight
                split = best_split(columns, sample, start, stop, rules, own, space, classes, n, least, rng)
            if split.feature >= 0 and max(split.gain, 0.0) * n >= rules.min_gain * root_weight:
                # A split worth making: the node joins those that wait.
                nominal = columns.nominal[split.feature] != 0
                write_split(node, split, nominal, space, room, used_subsets)
                if nominal:
                    used_subsets += 1
                for field in range(PLACE_FIELDS):
                    room.frontier[waiting, field] = fresh[child, field]
                waiting += 1
                if best_first:
                    push_best(room.frontier, room.figures, waiting)
            else:
                write_leaf(node, leaves, classes, space, room)
                leaves += 1
            forget_classes(classes, space)
        if waiting == 0:
            break
        # Take the next node: the last one, or the best one, which is brought to the last position.
        closing = closing or leaves + waiting >= rules.max_leaf_nodes
        if best_first:
            pop_best(room.frontier, room.figures, waiting)
        waiting -= 1
        if closing:
            # There is room for no further leaf: what waits is weighed once more, and becomes a leaf.
            for field in range(PLACE_FIELDS):
                fresh[0, field] = room.frontier[waiting, field]
            born = 1
        else:
            part_node(columns, sample, room, waiting, used, scratch, fresh)
            used += 2
            born = 2
    return Used(used, used_subsets, leaves)
