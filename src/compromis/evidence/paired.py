"""Paired counts: the truth against the decisions of two models on the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._typing import Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts, check_room
from compromis.evidence.inputs import read_weights
from compromis.labels import positions_in, read_labels

MOST_TABLE = 1 << 24
"""Cells looked up in a table; more are sorted instead."""


@dataclass(frozen=True, slots=True, eq=False)
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

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        first: Any,
        second: Any,
        *,
        labels: Sequence[Any] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> PairedCounts:
        """Count the true classes against the decisions of two models on the same rows."""
        classes = classes_of(y_true, {"first": first, "second": second}, labels)
        truth, one, other = (
            positions_in(values, classes, name)
            for values, name in ((y_true, "y_true"), (first, "first"), (second, "second"))
        )
        return cls.from_positions(truth, one, other, classes, read_weights(sample_weight, len(truth)))

    @classmethod
    def from_positions(
        cls,
        truth: NDArray[np.int64],
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        classes: Sequence[Label],
        weight: NDArray[np.float64] | None = None,
    ) -> PairedCounts:
        """Count checked positions of classes."""
        size = len(classes)
        filled, place = _filled((truth * size + first) * size + second, size**3)
        cells = np.stack(np.unravel_index(filled, (size,) * 3), axis=1).astype(np.int64)
        if weight is None:
            return cls(cells, np.bincount(place, minlength=len(cells)).astype(np.int64), tuple(classes), len(truth))
        sums, squares = (np.bincount(place, weights=part).astype(np.float64) for part in (weight, weight * weight))
        return cls(cells, sums, tuple(classes), len(truth), squares)

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
        truth, one, other = self.cells.T
        only_first, only_second = (one == truth) & (other != truth), (one != truth) & (other == truth)
        return self.counts[only_first].sum().item(), self.counts[only_second].sum().item()

    def __add__(self, other: PairedCounts) -> PairedCounts:
        if not isinstance(other, PairedCounts):
            return NotImplemented
        if self.classes != other.classes:
            raise InputError("paired counts add up when they have the same classes in one order; pass labels= to both")
        check_room(sum(self.counts.tolist()) + sum(other.counts.tolist()))
        cells, place = np.unique(np.concatenate([self.cells, other.cells]), axis=0, return_inverse=True)
        counts = _added(place.ravel(), self.counts, other.counts, len(cells))
        squares = None
        if self.squares is not None or other.squares is not None:  # an unweighted row weighs 1, squared too
            one, two = (part.counts if part.squares is None else part.squares for part in (self, other))
            squares = _added(place.ravel(), one, two, len(cells)).astype(np.float64)
        return PairedCounts(cells, counts, self.classes, self.rows + other.rows, squares)

    def _of_model(self, column: int) -> Counts:
        size, where = len(self.classes), (self.cells[:, 0], self.cells[:, column])
        matrix = np.zeros((size, size), dtype=self.counts.dtype)
        np.add.at(matrix, where, self.counts)
        squares = None
        if self.squares is not None:
            squares = np.zeros((size, size))
            np.add.at(squares, where, self.squares)
        return Counts(matrix, self.classes, self.rows, squares)


def _filled(codes: NDArray[np.int64], cells: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the codes that occur, sorted, and the place of each row's code among them."""
    if cells > MOST_TABLE:
        return np.unique(codes, return_inverse=True)
    seen = np.zeros(cells, dtype=bool)
    seen[codes] = True
    filled = np.flatnonzero(seen)
    place = np.zeros(cells, dtype=np.int64)
    place[filled] = np.arange(len(filled))
    return filled, place[codes]


def classes_of(y_true: Any, decisions: dict[str, Any], labels: Sequence[Any] | None) -> tuple[Label, ...]:
    """Return the classes of the truth and of all decisions; refuse decisions on other rows than the truth's."""
    rows = len(read_labels(y_true, "y_true"))
    for name, predicted in decisions.items():
        found = len(read_labels(predicted, name))
        if found != rows:
            raise InputError(
                f"the decisions of {name!r} are for {found:,} rows, y_true has {rows:,}; compare models on the same rows"
            )
    known: Counts | None = None
    for predicted in decisions.values():
        counts = Counts.from_predictions(y_true, predicted, labels=labels)
        known = counts if known is None else known + counts
    assert known is not None
    return known.classes


def _added(place: NDArray[np.int64], first: NDArray[Any], second: NDArray[Any], size: int) -> NDArray[Any]:
    both = np.concatenate([first, second])
    total = np.zeros(size, dtype=both.dtype)
    np.add.at(total, place, both)
    return total
