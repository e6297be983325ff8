"""The room there is for counts: 64 bits, checked before anything is added up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._files import CLASSES, check_labels
from compromis._text import shown
from compromis._typing import Label
from compromis.errors import InputError
from compromis.evidence.inputs import prevalence_factors, read_weights
from compromis.labels import (
    CHUNK,
    LabelColumn,
    check_same_index,
    check_same_rows,
    pandas_index,
    plain_label,
    read_classes,
    read_labels,
    refuse_probabilities,
)


def check_room(total: float) -> None:
    """Refuse whole counts whose sum 64 bits do not hold; numpy would wrap around without a word."""
    if isinstance(total, int) and total >= 2**63:
        raise InputError(f"counts add up to {total:.3g}, more than 64 bits hold; divide them all by a common number")


_LARGEST = 2**63 - 1
_WIDEST = 1024
"""The widest range of integers that is counted directly."""

Weights = NDArray[np.float64] | None
Tabulated = tuple[Sequence[Label], NDArray[Any], NDArray[np.float64] | None]


def refuse_many_classes(classes: int) -> None:
    """Refuse more classes than a table of pairs should have: it has the square of them as cells."""
    most = CLASSES.most
    if classes > most:
        raise InputError(
            f"there are more than {most:,} classes; is one of the columns an identifier or a number? "
            f"{CLASSES.setting} raises the limit"
        )


class PairTable:
    """A growing square table of pairs of codes: counts, or weights and squared weights."""

    def __init__(self, *, weighted: bool, low: int = 0) -> None:
        self.cells: NDArray[Any] = np.zeros((2, 16, 16), dtype=np.float64 if weighted else np.int64)
        self.low = low

    @property
    def _high(self) -> int:
        return min(self.low + self.cells.shape[1] - 1, _LARGEST)

    def room_for(self, classes: int) -> None:
        """Make the table at least `classes` wide."""
        width = self.cells.shape[1]
        refuse_many_classes(classes)
        if classes > width:
            wider = max(2 * width, classes)
            cells = np.zeros((2, wider, wider), dtype=self.cells.dtype)
            cells[:, :width, :width] = self.cells
            self.cells = cells

    def add(self, truth: NDArray[np.int64], prediction: NDArray[np.int64], weight: Weights) -> bool:
        """Add one chunk of codes; False if one lies outside the table."""
        from compromis.evidence._kernels.counting import count_pairs, weigh_pairs

        if weight is None:
            return count_pairs(truth, prediction, self.low, self._high, self.cells) == len(truth)
        return weigh_pairs(truth, prediction, weight, self.low, self._high, self.cells) == len(truth)

    def add_columns(self, truth: LabelColumn, prediction: LabelColumn, weight: Weights) -> bool:
        """Add whole columns of codes, chunk by chunk; False if one lies outside the table."""
        for start in range(0, len(truth), CHUNK):
            rows = slice(start, start + CHUNK)
            # the kernels are compiled for contiguous, writable int64; anything else is copied, a chunk at a time
            first, second = (
                np.require(column.values[rows], dtype=np.int64, requirements=["C", "A", "W"])
                for column in (truth, prediction)
            )
            if not self.add(first, second, None if weight is None else weight[rows]):
                return False
        return True

    def matrices(self, size: int) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Return the counts (or weights), and the squared weights if there are weights."""
        cells = self.cells[:, :size, :size]
        if cells.dtype == np.int64:
            return cells.sum(axis=0), None
        return cells[0].copy(), cells[1].copy()


def tabulate(truth: LabelColumn, prediction: LabelColumn, weight: Weights) -> Tabulated:
    """Return labels, and the table of their pairs (rows truth, columns prediction) with squared weights."""
    if truth.categories is not None and truth.categories == prediction.categories:
        table = PairTable(weighted=weight is not None)
        table.room_for(len(truth.categories))
        table.add_columns(truth, prediction, weight)
        return truth.categories, *table.matrices(len(truth.categories))
    if truth.is_integer and prediction.is_integer and truth.categories is prediction.categories is None:
        by_range = _tabulate_integers(truth, prediction, weight)
        if by_range is not None:
            return by_range
    return _tabulate_by_lookup(truth, prediction, weight)


def _tabulate_integers(truth: LabelColumn, prediction: LabelColumn, weight: Weights) -> Tabulated | None:
    """Count integers by their offset in a range guessed from the first rows; None if the range is too wide."""
    for rows in (CHUNK, len(truth)):
        low, high = _range(truth, prediction, rows)
        if high - low >= _WIDEST or high > _LARGEST:
            return None
        table = PairTable(weighted=weight is not None, low=low)
        table.room_for(high - low + 1)
        if table.add_columns(truth, prediction, weight):
            break
    matrix, squares = table.matrices(table.cells.shape[1])  # all of it: a later label may lie beyond the first guess
    used = np.flatnonzero(matrix.any(axis=0) | matrix.any(axis=1))
    if weight is not None and not weight.all():  # a class whose rows all weigh 0 occurs all the same
        used = np.unique(np.concatenate([column.values for column in (truth, prediction)])).astype(np.int64) - low
    kind = bool if truth.kind == "bool" else int
    labels = [kind(low + offset) for offset in used]
    return labels, matrix[np.ix_(used, used)], None if squares is None else squares[np.ix_(used, used)]


def _range(truth: LabelColumn, prediction: LabelColumn, rows: int) -> tuple[int, int]:
    parts = truth.values[:rows], prediction.values[:rows]
    return min(int(part.min()) for part in parts), max(int(part.max()) for part in parts)


class _Vocabulary(dict[Any, int]):
    """Numbers labels in the order in which they appear."""

    def __missing__(self, label: Any) -> int:
        self[label] = code = len(self)
        return code

    def codes(self, labels: list[Any], name: str) -> NDArray[np.int64]:
        """Return the numbers of the labels."""
        try:
            return np.fromiter(map(self.__getitem__, labels), dtype=np.int64, count=len(labels))
        except TypeError:
            raise InputError(
                f"{name} holds something that cannot be a label, such as a list; labels are text or numbers"
            ) from None


def _tabulate_by_lookup(truth: LabelColumn, prediction: LabelColumn, weight: Weights) -> Tabulated:
    vocabulary, table = _Vocabulary(), PairTable(weighted=weight is not None)
    for number, pair in enumerate(zip(truth.lists(), prediction.lists(), strict=True)):
        first, second = (
            vocabulary.codes(labels, name) for labels, name in zip(pair, (truth.name, prediction.name), strict=True)
        )
        table.room_for(len(vocabulary))
        table.add(first, second, None if weight is None else weight[number * CHUNK : (number + 1) * CHUNK])
    return [plain_label(label) for label in vocabulary], *table.matrices(len(vocabulary))


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
            Of polars (eager or lazy), pandas, pyarrow, DuckDB, ibis, Dask or Spark; `compromis.frames.scan` opens files.
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
        from compromis.frames.counts import count_frame

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
