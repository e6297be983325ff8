"""Paired counts: the truth against the decisions of two models on the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts, check_room
from compromis.evidence.grouped import distinct_tables
from compromis.evidence.readers import read_weights
from compromis.labels import encode_classes, read_groups, read_labels

MOST_TABLE = 1 << 24
"""Cells looked up in a table; more are sorted instead."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairedCounts:
    """Counts of truth x first prediction x second prediction, only the cells that are filled; they add up with ``+``.

    Attributes
    ----------
    cells : ndarray of shape (C, 3)
        Positions of the true class and of the two predicted ones, sorted.
    counts : ndarray of shape (C,)
        The rows of each cell; sums of weights where there are sample weights.
    classes : tuple
        The labels.
    rows : int
        The number of rows counted.
    squares : ndarray of shape (C,), optional
        The sums of squared weights, where there are sample weights.
    tables, times : ndarray of shape (T, C) and (T,), optional
        Where rows come in groups: the distinct tables of cells of a group, and how many groups have each.

    Examples
    --------
    >>> import compromis as cp
    >>> paired = cp.PairedCounts.from_predictions([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 0])
    >>> paired.first.matrix.tolist(), paired.second.matrix.tolist()
    ([[1, 1], [0, 2]], [[2, 0], [1, 1]])
    >>> paired.discordant
    (1, 1)
    """

    cells: NDArray[np.int64]
    counts: NDArray[Any]
    classes: tuple[Label, ...]
    rows: int
    squares: NDArray[np.float64] | None = None
    tables: NDArray[Any] | None = None
    times: NDArray[np.int64] | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        first: Any,
        second: Any,
        *,
        labels: Sequence[Any] | None = None,
        sample_weight: ArrayLike | None = None,
        groups: Any = None,
    ) -> PairedCounts:
        """Count the true classes against the decisions of two models on the same rows; `groups` holds one key per row."""
        (truth, one, two), classes = encode_models(y_true, {"first": first, "second": second}, labels)
        group = None if groups is None else read_groups(groups, len(truth))
        return cls.from_positions(truth, one, two, classes, read_weights(sample_weight, len(truth)), group)

    @classmethod
    def from_positions(
        cls,
        truth: Ints,
        first: Ints,
        second: Ints,
        classes: Sequence[Label],
        weight: Floats | None = None,
        group: Ints | None = None,
    ) -> PairedCounts:
        """Count checked positions of classes; with the number of each row's group where there are groups."""
        size = len(classes)
        filled, cell = _filled((truth * size + first) * size + second, size**3)
        cells = np.stack(np.unravel_index(filled, (size,) * 3), axis=1).astype(np.int64)
        counts: NDArray[Any] = np.bincount(cell, weights=weight, minlength=len(cells))
        squares: Any = None if weight is None else np.bincount(cell, weights=weight * weight, minlength=len(cells))
        tables = times = None
        if group is not None:
            codes, inverse = np.unique(group * len(cells) + cell, return_inverse=True)
            sums = np.bincount(inverse, weights=weight)
            tables, times = distinct_tables(codes // len(cells), codes % len(cells), sums, len(cells))
        return cls(
            cells=cells,
            counts=counts,
            classes=tuple(classes),
            rows=len(truth),
            squares=squares,
            tables=tables,
            times=times,
        )

    @property
    def first(self) -> Counts:
        """The confusion counts of the first model."""
        return self._of_model(1)

    @property
    def second(self) -> Counts:
        """The confusion counts of the second model."""
        return self._of_model(2)

    @property
    def discordant(self) -> tuple[Any, Any]:
        """The rows that only the first model decides rightly, and those that only the second does."""
        truth, first, second = self.cells.T
        only_first, only_second = (first == truth) & (second != truth), (first != truth) & (second == truth)
        return self.counts[only_first].sum().item(), self.counts[only_second].sum().item()

    def __add__(self, other: PairedCounts) -> PairedCounts:
        if not isinstance(other, PairedCounts):
            return NotImplemented
        if self.classes != other.classes:
            raise InputError("paired counts add up when they have the same classes in one order; pass labels= to both")
        if (self.tables is None) != (other.tables is None):
            raise InputError("paired counts with groups and without do not add up; give groups= to both")
        check_room(sum(self.counts.tolist()) + sum(other.counts.tolist()))
        cells, cell = np.unique(np.concatenate([self.cells, other.cells]), axis=0, return_inverse=True)
        counts = _added(cell.ravel(), self.counts, other.counts, len(cells))
        squares = None
        if self.squares is not None or other.squares is not None:  # an unweighted row weighs 1, squared too
            one, two = (part.counts if part.squares is None else part.squares for part in (self, other))
            squares = _added(cell.ravel(), one, two, len(cells)).astype(np.float64)
        tables = times = None
        if self.tables is not None and other.tables is not None and self.times is not None and other.times is not None:
            tables, times = np.zeros((len(self.tables) + len(other.tables), len(cells))), np.r_[self.times, other.times]
            own, others = np.split(cell.ravel(), [len(self.cells)])
            tables[: len(self.tables), own], tables[len(self.tables) :, others] = self.tables, other.tables
        return PairedCounts(
            cells=cells,
            counts=counts,
            classes=self.classes,
            rows=self.rows + other.rows,
            squares=squares,
            tables=tables,
            times=times,
        )

    def _of_model(self, column: int) -> Counts:
        size, where = len(self.classes), (self.cells[:, 0], self.cells[:, column])
        matrix = np.zeros((size, size), dtype=self.counts.dtype)
        np.add.at(matrix, where, self.counts)
        squares = None
        if self.squares is not None:
            squares = np.zeros((size, size))
            np.add.at(squares, where, self.squares)
        return Counts(matrix, self.classes, self.rows, squares)


def _filled(codes: Ints, cells: int) -> tuple[Ints, Ints]:
    """Return the codes that occur, sorted, and the number of each row's code among them."""
    if cells > MOST_TABLE:
        return np.unique(codes, return_inverse=True)
    occurs = np.zeros(cells, dtype=bool)
    occurs[codes] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[codes]


def encode_models(
    y_true: Any, decisions: Mapping[str, Any], labels: Sequence[Any] | None
) -> tuple[list[Ints], tuple[Label, ...]]:
    """Encode the true classes and the predictions of each model; refuse predictions for other rows than the truth's."""
    truth = read_labels(y_true, "y_true")
    columns = [read_labels(values, name) for name, values in decisions.items()]
    for column in columns:
        if len(column) != len(truth):
            raise InputError(
                f"the decisions of {column.name!r} are for {len(column):,} rows, y_true has {len(truth):,}; "
                "compare models on the same rows"
            )
    return encode_classes(truth, *columns, labels=labels)


def _added(cell: Ints, first: NDArray[Any], second: NDArray[Any], size: int) -> NDArray[Any]:
    both = np.concatenate([first, second])
    total = np.zeros(size, dtype=both.dtype)
    np.add.at(total, cell, both)
    return total
