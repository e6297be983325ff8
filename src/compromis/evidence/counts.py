"""Confusion counts: the evidence behind every measure of decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._typing import Label
from compromis.errors import InputError, shown
from compromis.evidence.labels import (
    LabelColumn,
    check_same_index,
    check_same_rows,
    pandas_index,
    read_classes,
    read_labels,
    refuse_probabilities,
)
from compromis.evidence.prevalence import prevalence_factors
from compromis.evidence.room import check_room
from compromis.evidence.tabulate import PairTable, tabulate
from compromis.evidence.weights import read_weights
from compromis.limits import check_labels


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Confusion counts: rows are the truth, columns the prediction; they add up with ``+``.

    Attributes
    ----------
    matrix : ndarray of shape (K, K)
        Exact int64 counts; float64 sums where there are sample weights.
    classes : tuple
        The labels of rows and columns, as plain Python values.
    rows : int
        The number of rows counted.
    squares : ndarray of shape (K, K), optional
        The sums of squared weights, where there are sample weights.

    Examples
    --------
    >>> import compromis as cp
    >>> counts = cp.Counts.from_predictions(["bad", "good", "good"], ["bad", "bad", "good"])
    >>> counts.classes
    ('bad', 'good')
    >>> counts.matrix.tolist()
    [[1, 0], [1, 1]]
    >>> (counts + counts).rows
    6
    """

    matrix: NDArray[Any]
    classes: tuple[Label, ...]
    rows: int
    squares: NDArray[np.float64] | None = None

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, labels: Sequence[Any] | None = None, sample_weight: ArrayLike | None = None
    ) -> Counts:
        """Count true against predicted classes.

        Parameters
        ----------
        y_true, y_pred : list, array or series of labels
            Integers, strings, booleans, pandas or polars columns of any such type; categorical columns keep the order of their categories.
        labels : sequence, optional
            The classes in the order wanted, absent ones included. Without it: the order of the categories, else sorted.
        sample_weight : array-like, optional
            A weight of at least 0 per row.
        """
        truth, prediction = read_labels(y_true, "y_true"), read_labels(y_pred, "y_pred")
        check_same_rows(truth, prediction)
        check_same_index(truth, pandas_index(sample_weight), "sample_weight")
        weight = read_weights(sample_weight, len(truth))
        found, matrix, squares = tabulate(truth, prediction, weight)
        support = matrix.sum(axis=1).tolist()
        refuse_probabilities([label for label, rows in zip(found, support, strict=True) if not rows], prediction.name)
        order = class_order(found, labels, truth.categories or prediction.categories or ())
        return cls(
            _arranged(matrix, found, order),
            order,
            len(truth),
            None if squares is None else _arranged(squares, found, order),
        )

    @classmethod
    def from_frame(
        cls, frame: Any, *, truth: str, prediction: str, weight: str | None = None, labels: Sequence[Any] | None = None
    ) -> Counts:
        """Count the rows of a data frame in its own engine; only the counts come back.

        Parameters
        ----------
        frame : data frame
            Of polars (eager or lazy), pandas, pyarrow, DuckDB, ibis, Dask or Spark; `compromis.scan` opens files.
        truth, prediction : str
            The columns of true and predicted classes; rows that lack one are refused.
        weight : str, optional
            A column of row weights, finite and at least 0.
        labels : sequence, optional
            The classes in the order wanted, absent ones included.

        Examples
        --------
        >>> import compromis as cp, pandas
        >>> frame = pandas.DataFrame({"true": ["bad", "good", "good"], "predicted": ["bad", "bad", "good"]})
        >>> cp.Counts.from_frame(frame, truth="true", prediction="predicted").matrix.tolist()
        [[1, 0], [1, 1]]
        """
        from compromis.evidence.counts_frame import count_frame

        return count_frame(frame, truth=truth, prediction=prediction, weight=weight, labels=labels)

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, classes: Sequence[Any]) -> Counts:
        """Return counts that are known already: K x K numbers of at least 0, rows the truth.

        Examples
        --------
        >>> import compromis as cp
        >>> int(cp.Counts.from_matrix([[94, 11], [37, 23]], ["good", "bad"]).matrix.sum())
        165
        """
        cells = np.array(matrix)
        labels = read_classes(classes, "classes")
        if cells.ndim != 2 or cells.shape != (len(labels), len(labels)) or len(labels) == 0:
            raise InputError(
                f"a matrix of counts for {len(labels)} classes has shape ({len(labels)}, {len(labels)}), got {cells.shape}"
            )
        if cells.dtype.kind not in "iuf" or not np.all(np.isfinite(cells)) or np.any(cells < 0):
            raise InputError("counts are finite numbers of at least 0; the matrix holds something else")
        total = sum(map(int, cells.flat)) if cells.dtype.kind in "iu" else float(cells.sum())
        check_room(int(total))  # of weights too: their sum stands for a number of rows
        whole = cells.dtype.kind in "iu" or (total < 2**53 and bool(np.all(cells == np.floor(cells))))
        return cls(cells.astype(np.int64 if whole else np.float64), labels, round(total))

    @classmethod
    def from_positions(
        cls,
        truth: NDArray[np.int64],
        prediction: NDArray[np.int64],
        classes: Sequence[Label],
        weight: NDArray[np.float64] | None = None,
    ) -> Counts:
        """Count checked positions of classes; an out-of-range position is an error of the caller."""
        positions = [
            LabelColumn(name, values, "int") for name, values in (("truth", truth), ("prediction", prediction))
        ]
        table = PairTable(weighted=weight is not None)
        table.room_for(len(classes))
        table.add_columns(positions[0], positions[1], weight)
        matrix, squares = table.matrices(len(classes))
        return cls(matrix, tuple(classes), len(truth), squares)

    @property
    def support(self) -> NDArray[Any]:
        """The rows (or weights) of each true class."""
        return self.matrix.sum(axis=1)

    @property
    def predicted(self) -> NDArray[Any]:
        """The rows (or weights) predicted as each class."""
        return self.matrix.sum(axis=0)

    @property
    def total(self) -> float:
        """All rows (or weights)."""
        return self.matrix.sum().item()

    def with_prevalence(self, shares: Mapping[Any, float] | Sequence[float]) -> Counts:
        """Return what the same decisions come to where the classes have other shares and still look the same (pure prior shift).

        Examples
        --------
        >>> import compromis as cp
        >>> counts = cp.Counts.from_matrix([[90, 10], [20, 80]], ["no", "yes"])
        >>> counts.with_prevalence({"no": 0.9, "yes": 0.1}).matrix.tolist()
        [[162.0, 18.0], [4.0, 16.0]]
        """
        factor = prevalence_factors(shares, self.classes, self.support)[:, np.newaxis]
        squares = self.matrix if self.squares is None else self.squares
        return Counts(self.matrix * factor, self.classes, self.rows, np.asarray(squares * factor**2, dtype=np.float64))

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        check_room(self.total + other.total)
        order = self.classes if self.classes == other.classes else _sorted([*self.classes, *other.classes])
        parts = [part.arranged_as(order) for part in (self, other)]
        squares = None
        if self.squares is not None or other.squares is not None:  # an unweighted row weighs 1, squared too
            first, second = (part.matrix if part.squares is None else part.squares for part in parts)
            squares = np.asarray(first + second, dtype=np.float64)
        return Counts(parts[0].matrix + parts[1].matrix, order, self.rows + other.rows, squares)

    def arranged_as(self, order: tuple[Label, ...]) -> Counts:
        """Return the same counts with the classes in another order, which may hold further classes."""
        squares = None if self.squares is None else _arranged(self.squares, self.classes, order)
        return Counts(_arranged(self.matrix, self.classes, order), order, self.rows, squares)


def class_order(
    found: Sequence[Label], labels: Sequence[Any] | None, categories: tuple[Label, ...]
) -> tuple[Label, ...]:
    """Return the classes in the order wanted: `labels`, else the categories and then what else was found, sorted."""
    check_labels(found)
    if labels is None:
        return categories + _sorted([label for label in found if label not in categories])
    order = read_classes(labels)
    known = set(order)
    missing = [label for label in found if label not in known]
    if missing:
        raise InputError(
            f"labels misses {shown(missing)}, which the data has; add {'it' if len(missing) == 1 else 'them'} to labels"
        )
    return order


def _sorted(labels: Sequence[Label]) -> tuple[Label, ...]:
    try:
        return tuple(sorted(set(labels)))  # type: ignore[type-var]
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise InputError(
            f"the labels are of types {' and '.join(kinds)}, which have no common order; convert them to one type"
        ) from None


def _arranged(matrix: NDArray[Any], found: Sequence[Label], order: tuple[Label, ...]) -> NDArray[Any]:
    if tuple(found) == order:
        return matrix
    position = {label: place for place, label in enumerate(order)}
    places = [position[label] for label in found]
    arranged = np.zeros((len(order), len(order)), dtype=matrix.dtype)
    arranged[np.ix_(places, places)] = matrix
    return arranged
