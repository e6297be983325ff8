"""Numbers to bins, and the class weights of a node's rows by bin."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from compromis._kernel import kernel
from compromis._typing import Bytes, Floats
from compromis.trees._kernels.gains import Whole

MISSING: Final = 255  # the bin of missing values
LAST_BIN: Final = 254
HALVES: Final = (128, 64, 32, 16, 8, 4, 2, 1)

Numbers = NDArray[np.uint32]
Labels = NDArray[np.uint16]


class Columns(NamedTuple):
    """Binned features: one row of `bins` per feature, bin 255 for missing values."""

    bins: Bytes
    bin_counts: Numbers
    nominal: Bytes


class Sample(NamedTuple):
    """Rows being split, with their class and weight, each node's rows side by side; weights are whole where rows only repeat."""

    rows: Numbers
    classes: Labels
    weights: Floats | Labels


@kernel
def few_distinct(column: Floats, most: Whole) -> Floats:
    """The distinct values of a column, ascending, missing ones left out; `most` + 1 of them as soon as there are more."""
    values = np.empty(most + 1, np.float64)
    count = 0
    for i in range(column.size):
        value = column[i]
        if np.isnan(value):
            continue
        # The first `count` values are distinct and ascending; a new one goes where it keeps them so.
        position = first_not_below(values, count, value)
        if position < count and values[position] == value:
            continue
        for j in range(count, position, -1):
            values[j] = values[j - 1]
        values[position] = value
        count += 1
        if count > most:
            break
    return values[:count].copy()


@kernel
def first_not_below(values: Floats, count: Whole, value: float) -> Whole:
    """How many of the first `count` ascending values are below `value`."""
    low = 0
    length = count
    while length > 0:
        # All values before `low` are below, none from `low + length` on is.
        half = length >> 1
        if values[low + half] < value:
            low += half + 1
            length -= half + 1
        else:
            length = half
    return low


@kernel
def bin_column(column: Floats, thresholds: Floats, bins: Bytes) -> None:
    """The number of thresholds below each value, so that a value equal to a threshold stays left of it.

    `thresholds` is padded with infinity to 255, which makes the search eight steps without a branch.
    """
    for i in range(column.size):
        value = column[i]
        below = np.uintp(0)
        for half in HALVES:
            # The answer lies between `below` and `below` + 2 half - 1; a comparison becomes a number, not a branch.
            below += np.uintp(half) * np.uintp(thresholds[below + np.uintp(half - 1)] < value)
        bins[i] = MISSING if np.isnan(value) else below


@kernel
def bin_codes(column: Floats, code_bins: Bytes, bins: Bytes) -> None:
    """The bin of each category's code; codes that are not known are missing."""
    for i in range(column.size):
        value = column[i]
        if value >= 0.0 and value < code_bins.size:
            bins[i] = code_bins[np.int64(value)]
        else:
            bins[i] = MISSING


@kernel
def fill_weights(
    bins: Bytes,
    feature: Whole,
    sample: Sample,
    start: Whole,
    stop: Whole,
    local: Numbers,
    classes: Whole,
    histogram: Floats,
    seen: Bytes,
) -> None:
    """Add the class weights by bin, and mark the bins that have rows."""
    rows, labels, weights = sample
    width = np.uintp(classes)
    column = np.uintp(feature)
    for i in range(np.uintp(start), np.uintp(stop)):
        b = np.uintp(bins[column, rows[i]])
        seen[b] = 1
        histogram[b * width + np.uintp(local[labels[i]])] += weights[i]


@kernel
def fill_rows(bins: Bytes, feature: Whole, rows: Numbers, start: Whole, stop: Whole, bin_rows: Numbers) -> None:
    """Count the rows per bin."""
    column = np.uintp(feature)
    for i in range(np.uintp(start), np.uintp(stop)):
        bin_rows[bins[column, rows[i]]] += 1


@kernel
def list_met(
    bins: Bytes, feature: Whole, rows: Numbers, start: Whole, stop: Whole, order: Numbers, seen: Bytes
) -> Whole:
    """List in `order` the marked bins of a tiny node's rows, ascending, and unmark them; return their number."""
    met = 0
    column = np.uintp(feature)
    for i in range(np.uintp(start), np.uintp(stop)):
        b = bins[column, rows[i]]
        if seen[b] == 0:
            continue
        seen[b] = 0
        # Insertion sort: the first `met` bins of the order ascend, the new one moves down to its position.
        j = met - 1
        while j >= 0 and order[j] > b:
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = b
        met += 1
    return met


@kernel
def list_marked(bin_count: Whole, order: Numbers, seen: Bytes) -> Whole:
    """List in `order` the marked bins, ascending, missing last, and unmark them; return their number."""
    met = np.uintp(0)
    for b in range(np.uintp(bin_count)):
        order[met] = b  # overwritten by the next bin unless this one counts: no branch to mispredict
        met += np.uintp(seen[b])
        seen[b] = 0
    order[met] = MISSING
    met += np.uintp(seen[MISSING])
    seen[MISSING] = 0
    return np.int64(met)


@kernel
def clear_bins(histogram: Floats, bin_rows: Numbers, order: Numbers, met: Whole, classes: Whole) -> None:
    """Set the listed bins back to zero."""
    width = np.uintp(classes)
    for i in range(met):
        b = np.uintp(order[i])
        bin_rows[b] = 0
        for k in range(b * width, b * width + width):
            histogram[k] = 0.0


@kernel
def sort_by_share(k: Whole, length: Whole, classes: Whole, histogram: Floats, order: Numbers, shares: Floats) -> None:
    """Sort the bins of `order` by the share of class `k`; equal shares keep the order of their numbers."""
    # The share of the class in each bin; every listed bin has weight.
    for i in range(length):
        b = order[i]
        first = np.int64(b) * classes
        total = 0.0
        for j in range(classes):
            total += histogram[first + j]
        shares[b] = histogram[first + k] / total
    # Insertion sort, by share and then by number: no two bins are equal, so the order does not depend on the one before.
    for i in range(1, length):
        b = order[i]
        j = i - 1
        while j >= 0 and (shares[order[j]] > shares[b] or (shares[order[j]] == shares[b] and order[j] > b)):
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = b


@kernel
def sum_lefts(
    histogram: Floats, order: Numbers, length: Whole, classes: Whole, lefts: Floats, sizes: Floats
) -> tuple[Whole, Whole]:
    """Write the weights left of each cut of `order`; return the number of cuts without and with missing values left.

    Where the node has missing values every cut is written twice, and all other values against them is a cut too.
    """
    width = np.uintp(classes)
    bins = np.uintp(length)
    missing = np.uintp(MISSING) * width
    missing_weight = 0.0
    for k in range(width):
        missing_weight += histogram[missing + k]
    # With missing values the last cut has all known values left, and all cuts but it come again with missing values left.
    cuts = bins - np.uintp(1)
    again = np.uintp(0)
    if missing_weight > 0.0:
        again = cuts
        cuts = bins
    count = cuts + again
    for c in range(count):
        sizes[c] = 0.0
    # Class by class, so that `lefts` has each class's weights side by side, as the loops over cuts read them.
    for k in range(width):
        first = k * count
        total = 0.0
        for c in range(cuts):
            total += histogram[np.uintp(order[c]) * width + k]
            lefts[first + c] = total
            sizes[c] += total
        for c in range(again):
            lefts[first + cuts + c] = lefts[first + c] + histogram[missing + k]
            sizes[cuts + c] += lefts[first + cuts + c]
    return np.int64(cuts), np.int64(count)
