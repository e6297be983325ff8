"""Confusion counts of groups of rows that belong together: the evidence for rows that are not independent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.evidence.readers import read_weights
from compromis.labels import check_same_index, encode_classes, read_groups, read_labels


@dataclass(frozen=True, slots=True, eq=False)
class GroupedCounts:
    """How often each table of counts occurs among the groups; they add up with ``+`` if no group is in both parts.

    Examples
    --------
    >>> from compromis.evidence.grouped import GroupedCounts
    >>> patients = GroupedCounts.from_predictions([0, 0, 1, 1], [0, 0, 1, 1], groups=["a", "b", "a", "b"])
    >>> len(patients.tables), patients.groups
    (1, 2)
    """

    tables: NDArray[Any]
    """Of shape (T, K, K): the distinct confusion tables of the groups: many patients with few rows each share few tables."""
    times: NDArray[np.int64]
    """Of shape (T,): how many groups have each table."""
    counts: Counts
    """All groups together."""

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        groups: Any,
        labels: Sequence[Any] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> GroupedCounts:
        """Count true against predicted classes within each group; `groups` holds one key per row."""
        column = read_labels(y_true, "y_true")
        check_same_index(column, sample_weight, "y_true", "sample_weight")
        (truth, predicted), classes = encode_classes(column, read_labels(y_pred, "y_pred"), labels=labels)
        weight = read_weights(sample_weight, len(truth))
        counts = Counts.from_positions(truth, predicted, classes, weight)
        return cls.from_positions(truth, predicted, read_groups(groups, len(truth)), counts, weight)

    @classmethod
    def from_positions(
        cls,
        truth: NDArray[np.int64],
        predicted: NDArray[np.int64],
        group: NDArray[np.int64],
        counts: Counts,
        weight: NDArray[np.float64] | None = None,
    ) -> GroupedCounts:
        """Count checked positions of classes by the number of their group; `counts` are those of all rows."""
        cells = len(counts.classes) ** 2
        codes, inverse = np.unique(group * cells + truth * len(counts.classes) + predicted, return_inverse=True)
        sums = np.bincount(inverse, weights=weight)
        tables, times = distinct_tables(codes // cells, codes % cells, sums, cells)
        shaped = tables.reshape(-1, len(counts.classes), len(counts.classes))
        return cls(shaped.astype(counts.matrix.dtype), times, counts)

    @property
    def groups(self) -> int:
        """The number of groups."""
        return int(self.times.sum())

    def __add__(self, other: GroupedCounts) -> GroupedCounts:
        if not isinstance(other, GroupedCounts):
            return NotImplemented
        if self.counts.classes != other.counts.classes:
            raise InputError("grouped counts add up when they have the same classes; pass labels= to both")
        tables = np.concatenate([self.tables, other.tables])
        distinct, inverse = np.unique(tables.reshape(len(tables), -1), axis=0, return_inverse=True)
        times = np.bincount(inverse.ravel(), weights=np.concatenate([self.times, other.times])).astype(np.int64)
        return GroupedCounts(distinct.reshape(-1, *tables.shape[1:]), times, self.counts + other.counts)


def distinct_tables(
    group: NDArray[np.int64], cell: NDArray[np.int64], sums: NDArray[Any], cells: int
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Group the groups: the same cells with the same counts are one table; memory is that of the filled cells."""
    starts = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    ends = np.r_[starts[1:], len(group)]
    times: dict[bytes, int] = {}
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        key = cell[start:end].tobytes() + sums[start:end].tobytes()
        times[key] = times.get(key, 0) + 1
    tables = np.zeros((len(times), cells))
    for row, key in enumerate(times):
        filled = len(key) // 16  # half the bytes are the cells (int64), half the sums (int64 or float64)
        where = np.frombuffer(key[: 8 * filled], dtype=np.int64)
        tables[row, where] = np.frombuffer(key[8 * filled :], dtype=sums.dtype)
    return tables, np.fromiter(times.values(), dtype=np.int64, count=len(times))
