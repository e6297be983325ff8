"""Numbers to bins: the distinct values of a column if they are few, and the bin of each value."""

from __future__ import annotations

from typing import Final

import numpy as np

from compromis._typing import Bytes, Floats
from compromis.kernels.criteria import Whole
from compromis.kernels.histograms import MISSING
from compromis.kernels.jit import kernel

HALVES: Final = (128, 64, 32, 16, 8, 4, 2, 1)


@kernel
def few_distinct(column: Floats, most: Whole) -> Floats:
    """The distinct values of a column, ascending, missing ones left out; `most` + 1 of them as soon as there are more."""
    values = np.empty(most + 1, np.float64)
    count = 0
    for i in range(column.size):
        value = column[i]
        if np.isnan(value):
            continue
        place = first_not_below(values, count, value)
        if place < count and values[place] == value:
            continue
        for j in range(count, place, -1):
            values[j] = values[j - 1]
        values[place] = value
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
