"""Paired counts: the truth against the predictions of two models on the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts, check_drawn, check_room
from compromis.evidence.grouped import distinct_tables
from compromis.evidence.readers import read_weights
from compromis.evidence.strata import Sample, Strata, read_sample
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
    strata : Strata, optional
        Where rows are a stratified sample: the strata of the population; `tables` are then the labelled rows of each, and
        the counts estimate those of the population.

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
    strata: Strata | None = None

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
        sample: Sample | None = None,
    ) -> PairedCounts:
        """Count the true classes against the predictions of two models on the same rows.

        `groups` holds one key per row; `sample` says of which stratum each row was drawn.
        """
        (truth, one, two), classes = encode_models(y_true, {"first": first, "second": second}, labels)
        if sample is not None:
            sample = read_sample(sample, len(truth), sample_weight=sample_weight, groups=groups)
            return cls.from_positions(truth, one, two, classes, sample=sample)
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
        sample: Sample | None = None,
    ) -> PairedCounts:
        """Count checked positions of classes; with the number of each row's group where there are groups, or with its stratum."""
        size = len(classes)
        filled, cell = _filled((truth * size + first) * size + second, size**3)
        cells = np.stack(np.unravel_index(filled, (size,) * 3), axis=1).astype(np.int64)
        if sample is not None:
            flat = np.bincount(sample.stratum * len(cells) + cell, minlength=len(sample.strata) * len(cells))
            return cls._of_sample(cells, sample.strata, flat.reshape(-1, len(cells)), classes)
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

    @classmethod
    def _of_sample(cls, cells: Ints, strata: Strata, tables: Ints, classes: Sequence[Label]) -> PairedCounts:
        weight, rows = strata.weights(tables.sum(axis=1)), int(tables.sum())
        parts: dict[str, Any] = {"counts": weight @ tables, "squares": weight**2 @ tables, "tables": tables}
        return cls(cells=cells, classes=tuple(classes), rows=rows, strata=strata, **parts)

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
        if self.strata is not None or other.strata is not None:
            return self._with_sample(other, cells, np.split(cell.ravel(), [len(self.cells)]))
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

    def _with_sample(self, other: PairedCounts, cells: Ints, index: list[Ints]) -> PairedCounts:
        if self.strata is None or other.strata is None or self.tables is None or other.tables is None:
            raise InputError("paired counts of a stratified sample and others do not add up; give sample= to both")
        strata, *places = self.strata.join(other.strata)
        tables = np.zeros((len(strata), len(cells)), dtype=np.int64)
        for part, place, own in zip((self.tables, other.tables), places, index, strict=True):
            tables[np.ix_(place, own)] += part
        check_drawn(strata, tables.sum(axis=1))
        return self._of_sample(cells, strata, tables, self.classes)

    def _of_model(self, column: int) -> Counts:
        size, where = len(self.classes), (self.cells[:, 0], self.cells[:, column])
        if self.strata is not None and self.tables is not None:
            of_strata = np.zeros((len(self.strata), size, size), dtype=np.int64)
            for number, (true, predicted) in enumerate(zip(*where, strict=True)):
                of_strata[:, true, predicted] += self.tables[:, number]
            return Counts.from_tables(self.strata, of_strata, self.classes)
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
    y_true: Any, predictions: Mapping[str, Any], labels: Sequence[Any] | None
) -> tuple[list[Ints], tuple[Label, ...]]:
    """Encode the true classes and the predictions of each model; refuse predictions for other rows than the truth's."""
    truth = read_labels(y_true, "y_true")
    columns = [read_labels(values, name) for name, values in predictions.items()]
    for column in columns:
        if len(column) != len(truth):
            raise InputError(
                f"the predictions of {column.name!r} are for {len(column):,} rows, y_true has {len(truth):,}; "
                "compare models on the same rows"
            )
    return encode_classes(truth, *columns, labels=labels)


def _added(cell: Ints, first: NDArray[Any], second: NDArray[Any], size: int) -> NDArray[Any]:
    both = np.concatenate([first, second])
    total = np.zeros(size, dtype=both.dtype)
    np.add.at(total, cell, both)
    return total
