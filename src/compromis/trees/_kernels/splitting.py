"""The best cut of one node over the features drawn for it, in a workspace that all nodes share."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from compromis._kernel import kernel
from compromis._typing import Bytes, Floats
from compromis.trees._kernels.gains import (
    ENTROPY,
    GAIN_RATIO,
    GINI,
    OWN,
    Flag,
    OwnGain,
    Whole,
    add_gains,
    add_own_gains,
    divide_by_split_information,
)
from compromis.trees._kernels.histograms import (
    LAST_BIN,
    MISSING,
    Columns,
    Numbers,
    Sample,
    clear_bins,
    fill_rows,
    fill_weights,
    list_marked,
    list_met,
    sort_by_share,
    sum_lefts,
)

SUBSET_BYTES: Final = 32
ABSENT: Final = 2**32 - 1
TINY: Final = 12  # rows up to which sorting the bins met beats looking through all bins


class Rules(NamedTuple):
    """Quality and stop rule of a tree as numbers; a limit that does not apply is the largest int."""

    criterion: int
    max_features: int
    max_depth: int
    min_samples_leaf: int
    min_weight_share: float
    min_gain: float
    max_leaf_nodes: int


class Workspace(NamedTuple):
    """Arrays that every node of a tree uses anew; class arrays hold the classes present in the node first."""

    class_terms: Floats  # importance, recall weight and prior of all classes
    present: Numbers  # the classes present in the node
    local: Numbers  # the number of each class among them, or ABSENT
    node: Floats  # their weights and terms
    features: Numbers  # a permutation, from which features are drawn
    histogram: Floats  # weight by bin and present class
    bin_rows: Numbers  # rows by bin
    seen: Bytes  # marks bins that have rows
    order: Numbers  # those bins in the order of the cuts
    shares: Floats  # share of a class by bin, to sort categories
    lefts: Floats  # weight of each class left of each cut
    sizes: Floats  # weight of all classes there
    inverses: Floats  # 1 / weight left, 1 / weight right
    gains: Floats  # of each cut
    subset: Bytes  # categories that go left, as bits


class Split(NamedTuple):
    """A cut: bins up to `cut` (or in the workspace's subset, for a nominal feature) go left."""

    gain: float
    feature: Whole
    cut: Whole
    missing_left: Flag


@kernel
def count_classes(sample: Sample, start: Whole, stop: Whole, space: Workspace) -> tuple[Whole, float]:
    """Sum class weights of the node's rows, for present classes only; return their number and the total weight."""
    local, labels, weights = space.local, sample.classes, sample.weights
    classes = 0
    total = 0.0
    for i in range(np.uintp(start), np.uintp(stop)):
        label = labels[i]
        # A class met for the first time gets the next number in this node, and its terms beside its weight.
        if local[label] == ABSENT:
            local[label] = classes
            space.present[classes] = label
            space.node[0, classes] = 0.0
            for row in range(3):
                space.node[row + 1, classes] = space.class_terms[row, label]
            classes += 1
        space.node[0, local[label]] += weights[i]
        total += weights[i]
    return classes, total


@kernel
def forget_classes(classes: Whole, space: Workspace) -> None:
    """Undo the class numbering of `count_classes`, ready for the next node."""
    for k in range(classes):
        space.local[space.present[k]] = ABSENT


@kernel
def forbid_small(
    bin_rows: Numbers, order: Numbers, cuts: Whole, count: Whole, rows: Whole, least: Whole, gains: Floats
) -> None:
    """Set the gain of cuts with fewer than `least` rows in a child to -inf."""
    left = np.int64(0)
    for c in range(count):
        # From `cuts` on the same cuts come again, with missing values on the left.
        if c == cuts:
            left = np.int64(bin_rows[MISSING])
        left += np.int64(bin_rows[order[c % cuts]])
        if left < least or rows - left < least:
            gains[c] = -np.inf


@kernel
def first_largest(gains: Floats, sizes: Floats, count: Whole, n: float, least_weight: float) -> Whole:
    """The first cut of largest gain, both children having weight and at least `least_weight`; -1 if there is none."""
    best = -1
    largest = -np.inf
    for c in range(count):
        if gains[c] > largest and sizes[c] < n and min(sizes[c], n - sizes[c]) >= least_weight:
            largest = gains[c]
            best = c
    return best


@kernel
def write_subset(order: Numbers, position: Whole, length: Whole, other_left: Flag, subset: Bytes) -> None:
    """Write the bins left of the cut as bits; bins the node does not have take the side `other_left`."""
    for byte in range(SUBSET_BYTES):
        subset[byte] = 255 if other_left else 0
    # Bins of the node override that, by their position in the order of the cut.
    for i in range(length):
        b = np.int64(order[i])
        bit = 1 << (b & 7)
        if i < position:
            subset[b >> 3] = subset[b >> 3] | bit
        else:
            subset[b >> 3] = subset[b >> 3] & (255 - bit)


@kernel
def best_split(
    columns: Columns,
    sample: Sample,
    start: Whole,
    stop: Whole,
    rules: Rules,
    own: OwnGain,
    space: Workspace,
    classes: Whole,
    n: float,
    least_weight: float,
    rng: np.random.Generator,
) -> Split:
    """Best cut of the node over randomly drawn features (all, in their order, where max_features is their number).

    As in Breiman's forests k features are drawn without replacement; features constant in the node count, but
    drawing goes on until one that is not constant was seen. A numeric feature is cut half-way, in bins, between
    two bins that have rows. The categories of a nominal one are ordered by the share of one class, for each class
    in turn (once if there are two, gini or entropy, and no limits, where that finds the best of all subsets:
    Breiman et al. 1984, theorem 4.5), and the best subset is left in the workspace. Gain -inf means that no cut is allowed.
    """
    bins, bin_counts, nominals = columns
    (
        _,
        _,
        local,
        node,
        features,
        histogram,
        bin_rows,
        seen,
        order,
        shares,
        lefts,
        sizes,
        inverses,
        gains,
        subset,
    ) = space
    rows = stop - start
    least = rules.min_samples_leaf
    concave = rules.criterion == GINI or rules.criterion == ENTROPY
    one_order = classes == 2 and concave and least == 1 and least_weight <= 0.0
    remaining = features.size
    drawn = 0
    usable = 0
    best = Split(-np.inf, -1, 0, False)
    while remaining > 0 and (drawn < rules.max_features or usable == 0):
        feature = np.int64(drawn)
        if rules.max_features < features.size:
            # The features not yet drawn are the first `remaining`; one of them changes places with the last of them.
            drawn_at = np.int64(rng.random() * remaining)
            feature = np.int64(features[drawn_at])
            features[drawn_at] = features[remaining - 1]
            features[remaining - 1] = feature
        drawn += 1
        remaining -= 1
        # Class weights by bin; the histogram is zero outside the bins of this node's rows.
        fill_weights(bins, feature, sample, start, stop, local, classes, histogram, seen)
        if least > 1:
            fill_rows(bins, feature, sample.rows, start, stop, bin_rows)
        # The bins that have rows, ascending; missing values, if any, come last and are in no order of their own.
        if rows <= TINY:
            met = list_met(bins, feature, sample.rows, start, stop, order, seen)
        else:
            met = list_marked(np.int64(bin_counts[feature]), order, seen)
        has_missing = order[met - 1] == MISSING
        length = met - 1 if has_missing else met
        nominal = nominals[feature] != 0
        # One bin cannot be cut; numbers have one order, categories one for each class.
        orders = 0 if met < 2 else classes if nominal and length > 2 and not one_order else 1
        usable += min(orders, 1)
        for k in range(orders):
            if nominal:
                sort_by_share(k, length, classes, histogram, order, shares)
            cuts, count = sum_lefts(histogram, order, length, classes, lefts, sizes)
            # Gain of every cut: a sum over the classes, of which some criteria take a function at the end.
            for c in range(count):
                gains[c] = 0.0
                inverses[0, c] = np.divide(1.0, sizes[c])
                inverses[1, c] = np.divide(1.0, n - sizes[c])
            if rules.criterion == OWN:
                add_own_gains(own, lefts, sizes, count, node, classes, n, gains)
            else:
                add_gains(rules.criterion, lefts, sizes, inverses, count, node, classes, n, gains)
            if rules.criterion == GAIN_RATIO:
                divide_by_split_information(sizes, count, n, gains)
            if least > 1:
                forbid_small(bin_rows, order, cuts, count, rows, least, gains)
            chosen = first_largest(gains, sizes, count, n, least_weight)
            if chosen < 0 or gains[chosen] <= best.gain:
                continue
            # Cuts from `cuts` on are the same again with missing values left; without any, they go to the heavier side.
            position = chosen % cuts + 1
            missing_left = chosen >= cuts if has_missing else 2.0 * sizes[chosen] >= n
            cut = np.int64(LAST_BIN)  # all known values against missing ones
            if nominal:
                write_subset(order, position, length, missing_left, subset)
            elif position < length:
                cut = (np.int64(order[position - 1]) + np.int64(order[position])) >> 1
            best = Split(gains[chosen], feature, cut, missing_left)
        # Back to zero for the next feature, at the cost of the bins met rather than of all.
        clear_bins(histogram, bin_rows, order, met, classes)
    return best
