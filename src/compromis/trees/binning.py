"""Columns of numbers and categories as at most 255 bins, built once per forest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Bytes, Floats
from compromis.trees._kernels import bin_columns, few_distinct

MOST_BINS: Final = 255
SAMPLED_ROWS: Final = 50_000

Matrix = NDArray[np.floating]


class Columns(NamedTuple):
    """Binned features: one row of `bins` per feature, bin 255 for missing values."""

    bins: Bytes
    bin_counts: NDArray[np.uint32]
    nominal: Bytes


@dataclass(frozen=True, slots=True, eq=False)
class Binning:
    """How each column becomes bins: by thresholds, or by a bin for each category's code.

    Notes
    -----
    A value goes to the bin whose number is the number of thresholds below it, so a value equal to a threshold is left
    of it. Missing values and categories that were not seen have bin 255.
    """

    thresholds: tuple[Floats, ...]
    """Ascending; empty for a nominal column."""
    code_bins: tuple[Bytes, ...]
    """The bin of each code; empty for a numeric column."""
    nominal: Bytes

    @property
    def bin_counts(self) -> NDArray[np.uint32]:
        """Number of bins of each column, missing values not counted."""
        numeric = [len(cuts) + 1 for cuts in self.thresholds]
        nominal = [int(codes.max(initial=0)) + 1 for codes in self.code_bins]
        return np.where(self.nominal, nominal, numeric).astype(np.uint32)

    def columns(self, X: Matrix) -> Columns:
        """Bin the rows of X, one row of bins per column of X."""
        bins = np.empty((X.shape[1], X.shape[0]), dtype=np.uint8)
        plain = X.flags.aligned and X.dtype in (np.dtype(np.float64), np.dtype(np.float32))
        bin_columns(X if plain else np.array(X, dtype=np.float64), self.thresholds, self.code_bins, self.nominal, bins)
        return Columns(bins, self.bin_counts, self.nominal)


def fit_binning(X: Matrix, nominal: NDArray[np.bool_]) -> Binning:
    """Learn bins: every distinct value its own where a column has at most 255, else bins of like numbers of rows.

    Columns that are `nominal` hold codes 0, 1, ...; missing values are NaN. Bins of like numbers are learned from 50,000 rows where there
    are more. Of more than 255 categories the 254 most frequent have a bin each, and the others share one.
    """
    rows = np.arange(len(X))
    if len(X) > SAMPLED_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(len(X), SAMPLED_ROWS, replace=False))
    thresholds: list[Floats] = []
    code_bins: list[Bytes] = []
    for feature in range(X.shape[1]):
        column = np.array(X[:, feature], dtype=np.float64)
        thresholds.append(np.empty(0) if nominal[feature] else column_thresholds(column, rows))
        code_bins.append(bins_of_codes(column) if nominal[feature] else np.empty(0, dtype=np.uint8))
    return Binning(tuple(thresholds), tuple(code_bins), np.asarray(nominal, dtype=np.uint8))


def column_thresholds(column: Floats, rows: NDArray[np.intp]) -> Floats:
    """Return thresholds between the distinct values of a column, or between at most 255 groups of them of like size."""
    values = few_distinct(column, MOST_BINS)
    if len(values) <= MOST_BINS:
        return midpoints(values[:-1], values[1:])
    sampled = column[rows]
    values, counts = np.unique(sampled[~np.isnan(sampled)], return_counts=True)
    if len(values) <= MOST_BINS:
        return midpoints(values[:-1], values[1:])
    below = np.cumsum(counts)[:-1]
    wanted = below[-1] * np.arange(1, MOST_BINS) / MOST_BINS
    last = np.unique(np.minimum(np.searchsorted(below, wanted), len(below) - 1))  # of each group but the last
    return midpoints(values[last], values[last + 1])


def midpoints(low: Floats, high: Floats) -> Floats:
    """Return the middle between neighbours; where rounding would reach the upper one, the lower one."""
    middle = low / 2 + high / 2
    return np.where((middle >= low) & (middle < high), middle, low)


def bins_of_codes(column: Floats) -> Bytes:
    """Return the bin of each category's code: its own, or where there are more than 255 a shared one for the rarer."""
    known = column[~np.isnan(column)].astype(np.intp)
    counts = np.bincount(known) if len(known) else np.zeros(0, dtype=np.intp)
    if len(counts) <= MOST_BINS:
        return np.arange(len(counts), dtype=np.uint8)
    frequent = np.sort(np.argsort(-counts, kind="stable")[: MOST_BINS - 1])
    bins = np.full(len(counts), MOST_BINS - 1, dtype=np.uint8)
    bins[frequent] = np.arange(MOST_BINS - 1)
    return bins
