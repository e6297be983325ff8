"""Confusion counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._costs import read_named_matrix
from compromis._files import CLASSES
from compromis._results import face
from compromis._text import Table, count
from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.readers import prevalence_factors, read_weights
from compromis.evidence.strata import Sample, Strata, read_sample
from compromis.labels import (
    CHUNK,
    LabelColumn,
    check_predicted,
    check_same_index,
    check_same_rows,
    class_order,
    encode_classes,
    number,
    read_classes,
    read_labels,
    refuse_many_classes,
    sorted_labels,
)

_LARGEST = 2**63 - 1
_NARROW, _WIDEST = 16, 1024
"""The least width of a table of integers, and the widest range of integers that is counted without looking labels up."""


def ratio(above: ArrayLike, below: ArrayLike) -> Floats:
    """Divide, with NaN where the denominator is 0; the two are broadcast."""
    divisor = np.asarray(below, dtype=np.float64)
    quotient: Floats = np.divide(above, np.where(divisor == 0, np.nan, divisor))
    return quotient


MOST_SHOWN = 30
"""Classes of which a notebook shows the matrix."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
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
    amounts, amount_squares : ndarray of shape (K, K), optional
        The sums of the rows' amounts (times their weights) and of their squares, where decisions cost the amount of a row.
    strata, tables : Strata and ndarray of int64 of shape (strata, K, K), optional
        Where the rows are a stratified sample: the strata of the population, and the labelled rows of each. The matrix then
        estimates the counts of the population.

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
    amounts: NDArray[np.float64] | None = None
    amount_squares: NDArray[np.float64] | None = None
    strata: Strata | None = None
    tables: NDArray[Any] | None = None

    def __repr__(self) -> str:
        return f"<Counts of {self.rows:,} rows, {len(self.classes)} classes>"

    def _repr_html_(self) -> str:
        told = f"{self.rows:,} rows, {len(self.classes)} classes, {count(self.matrix.trace().item())} right"
        if len(self.classes) > MOST_SHOWN:
            return face([told])
        names = [str(label) for label in self.classes]
        rows = [[name, *map(count, row)] for name, row in zip(names, self.matrix.tolist(), strict=True)]
        return face([told], Table("Rows are the truth, columns the prediction", ["truth \\ predicted", *names], rows))

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        labels: Sequence[Any] | None = None,
        sample_weight: ArrayLike | None = None,
        amount: ArrayLike | None = None,
        sample: Sample | None = None,
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
        amount : array-like, optional
            A number of at least 0 per row, where decisions cost the amount of a row; see `Preferences`.
        sample : Sample, optional
            Of which stratum each row was drawn, as `compromis.model_selection.plan_labels` says it.
        """
        if sample is not None:
            return _count_sample(y_true, y_pred, labels, sample, sample_weight=sample_weight, amount=amount)
        if amount is not None:
            counts = cls.from_predictions(y_true, y_pred, labels=labels, sample_weight=sample_weight)
            priced = _times_amount(amount, sample_weight, counts.rows)
            return counts.with_amounts(
                cls.from_predictions(y_true, y_pred, labels=counts.classes, sample_weight=priced)
            )
        truth, prediction = read_labels(y_true, "y_true"), read_labels(y_pred, "y_pred")
        truth, prediction = check_same_rows(truth, prediction)
        check_same_index(truth, sample_weight, "y_true", "sample_weight")
        weight = None if sample_weight is None else read_weights(sample_weight, len(truth))
        codings = _codings(truth, prediction)
        counted = (_count_coding(truth, prediction, weight, labels, coding) for coding in codings)
        return next(counts for counts in counted if counts is not None)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        truth: str,
        prediction: str,
        weight: str | None = None,
        amount: str | None = None,
        labels: Sequence[Any] | None = None,
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
        amount : str, optional
            A column of amounts, finite and at least 0, where decisions cost the amount of a row; without `weight`, in a second query.
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

        columns = {"truth": truth, "prediction": prediction}
        counts = cls(*count_frame(frame, **columns, weight=weight, labels=labels))
        if amount is None:
            return counts
        refuse_weighted_amounts(weight)
        return counts.with_amounts(cls(*count_frame(frame, **columns, weight=amount, labels=counts.classes)))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, classes: Sequence[Any]) -> Counts:
        """Return counts that are known already: K x K numbers of at least 0, rows the truth; a pandas crosstab is read by its names.

        Examples
        --------
        >>> import compromis as cp
        >>> int(cp.Counts.from_matrix([[94, 11], [37, 23]], ["good", "bad"]).matrix.sum())
        165
        """
        labels = read_classes(classes, "classes")
        cells = np.array(read_named_matrix(matrix, labels, "matrix")[0] if hasattr(matrix, "loc") else matrix)
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
        cls, truth: Ints, prediction: Ints, classes: Sequence[Label], weight: Floats | None = None
    ) -> Counts:
        """Count checked positions of classes; an out-of-range position is an error of the caller."""
        refuse_many_classes(len(classes))
        cells = _count_pairs(truth, prediction, 0, len(classes), weight)
        assert cells is not None
        return cls(cells[0], tuple(classes), len(truth), cells[1])

    @classmethod
    def from_tables(cls, strata: Strata, tables: NDArray[Any], classes: Sequence[Label]) -> Counts:
        """Estimate the counts of a population from the labelled rows of each of its strata.

        Notes
        -----
        Horvitz and Thompson's estimator: a labelled row stands for N_h / n_h rows of its stratum. Rates are ratios of such sums.
        """
        weight = strata.weights(tables.sum(axis=(1, 2)))
        matrix, squares = (np.tensordot(part, tables, axes=1) for part in (weight, weight**2))
        return cls(matrix, tuple(classes), int(tables.sum()), squares, strata=strata, tables=tables)

    @property
    def labelled(self) -> NDArray[Any]:
        """The rows that were looked at: those of a stratified sample, else the matrix."""
        return self.matrix if self.tables is None else self.tables.sum(axis=0)

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
        refuse_sample(self.strata, "with_prevalence")
        factor = prevalence_factors(shares, self.classes, self.support)[:, np.newaxis]
        squares = self.matrix if self.squares is None else self.squares
        amounts = None if self.amounts is None else self.amounts * factor
        amount_squares = None if self.amount_squares is None else self.amount_squares * factor**2
        squares = np.asarray(squares * factor**2, dtype=np.float64)
        return Counts(self.matrix * factor, self.classes, self.rows, squares, amounts, amount_squares)

    def with_amounts(self, priced: Counts) -> Counts:
        """Return the same counts with amounts: `priced` are those of the same rows, weighted by their amounts."""
        return replace(self, amounts=np.asarray(priced.matrix, dtype=np.float64), amount_squares=priced.squares)

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        check_room(self.total + other.total)
        order = self.classes if self.classes == other.classes else sorted_labels([*self.classes, *other.classes])
        parts = [part.arranged_as(order) for part in (self, other)]
        if self.strata is not None or other.strata is not None:
            return Counts.from_tables(*_joined(*parts), order)
        squares = None
        if self.squares is not None or other.squares is not None:  # an unweighted row weighs 1, squared too
            first, second = (part.matrix if part.squares is None else part.squares for part in parts)
            squares = np.asarray(first + second, dtype=np.float64)
        if (self.amounts is None) != (other.amounts is None):
            raise InputError("counts with amounts and counts without do not add up; count both with amount=", "amount")
        pairs = (tuple(getattr(part, name) for part in parts) for name in ("amounts", "amount_squares"))
        amounts, amount_squares = (None if one is None else one + another for one, another in pairs)
        matrix = parts[0].matrix + parts[1].matrix
        return Counts(matrix, order, self.rows + other.rows, squares, amounts, amount_squares)

    def arranged_as(self, order: tuple[Label, ...]) -> Counts:
        """Return the same counts with the classes in another order, which may hold further classes."""
        given = (self.squares, self.amounts, self.amount_squares)
        squares, *amounts = (None if part is None else _arranged(part, self.classes, order) for part in given)
        tables = None if self.tables is None else _arranged(self.tables, self.classes, order)
        matrix = _arranged(self.matrix, self.classes, order)
        return Counts(matrix, order, self.rows, squares, amounts[0], amounts[1], self.strata, tables)


def _times_amount(amount: ArrayLike, sample_weight: ArrayLike | None, rows: int) -> Floats:
    given, weight = read_weights(amount, rows, name="amount"), read_weights(sample_weight, rows)
    assert given is not None
    return given if weight is None else given * weight


def refuse_weighted_amounts(weight: str | None) -> None:
    """Raise where a data frame has weights beside amounts: sums of products would take a further column."""
    if weight is not None:
        raise InputError(
            "amount and weight do not go together in a data frame; add a column of weight x amount, or leave weight out",
            "amount",
        )


def check_room(total: float) -> None:
    """Raise if 64 bits do not hold the sum of counts; numpy would overflow silently."""
    if not total < math.inf:
        raise InputError("the weights add up to more than 64 bits hold; divide them all by a common number")
    if isinstance(total, int) and total >= 2**63:
        raise InputError(f"counts add up to {total:.3g}, more than 64 bits hold; divide them all by a common number")


def _arranged(matrix: NDArray[Any], found: Sequence[Label], order: tuple[Label, ...]) -> NDArray[Any]:
    """Return the last two axes in another order."""
    if tuple(found) == order:
        return matrix
    position = {label: number for number, label in enumerate(order)}
    positions = np.array([position[label] for label in found], dtype=np.int64)
    arranged = np.zeros((*matrix.shape[:-2], len(order), len(order)), dtype=matrix.dtype)
    arranged[..., positions[:, np.newaxis], positions] = matrix
    return arranged


def _count_sample(y_true: Any, y_pred: Any, labels: Sequence[Any] | None, sample: Any, **others: Any) -> Counts:
    (truth, predicted), classes = encode_classes(
        read_labels(y_true, "y_true"), read_labels(y_pred, "y_pred"), labels=labels
    )
    drawn = read_sample(sample, len(truth), **others)
    return Counts.from_tables(drawn.strata, drawn.tabulate(truth, predicted, len(classes)), classes)


def _joined(first: Counts, second: Counts) -> tuple[Strata, Ints]:
    """Return the labelled rows of both by stratum; rows of the same stratum come together."""
    if first.strata is None or second.strata is None or first.tables is None or second.tables is None:
        raise InputError(
            "counts of a stratified sample and other counts do not add up; count both with sample=", "sample"
        )
    strata, *places = first.strata.join(second.strata)
    tables = np.zeros((len(strata), *first.tables.shape[1:]), dtype=np.int64)
    for place, part in zip(places, (first.tables, second.tables), strict=True):
        tables[place] += part
    check_drawn(strata, tables.sum(axis=(1, 2)))
    return strata, tables


def check_drawn(strata: Strata, drawn: Ints) -> None:
    """Raise if more rows of a stratum are labelled than it has: the same labels were added twice."""
    if (drawn > strata.sizes).any():
        k = int((drawn > strata.sizes).argmax())
        raise InputError(
            f"stratum {strata.names[k]!r} has {strata.sizes[k]:,} rows, but {drawn[k]:,} of them would be labelled; were the same "
            f"labels added twice?",
            "sample",
        )


def refuse_sample(strata: Strata | None, what: str) -> None:
    """Raise where a stratified sample cannot be used: it would lose what its intervals need."""
    if strata is not None:
        raise InputError(f"{what} takes no stratified sample; label rows that are drawn with equal chances", "sample")


class _Coding(NamedTuple):
    """Integers from `low` on that stand for labels."""

    truth: NDArray[Any]
    prediction: NDArray[Any]
    low: int
    labels: Sequence[Label]


def _codings(truth: LabelColumn, prediction: LabelColumn) -> Iterator[_Coding]:
    """Yield codings from the quickest to the one that always works: some may turn out too narrow for later rows."""
    categories = truth.categories
    if categories is not None and categories == prediction.categories:
        refuse_many_classes(len(categories))
        yield _Coding(truth.values, prediction.values, 0, categories)
        return
    if truth.is_integer and prediction.is_integer and categories is prediction.categories is None:
        kind = truth.number_type
        for rows in (CHUNK, len(truth)):  # the range of the first rows, then that of all
            parts = truth.values[:rows], prediction.values[:rows]
            low, high = min(int(part.min()) for part in parts), max(int(part.max()) for part in parts)
            if high - low >= _WIDEST or high > _LARGEST:
                break
            labels = [kind(label) for label in range(low, max(high + 1, low + _NARROW))]
            yield _Coding(truth.values, prediction.values, low, labels)
    codes, occurring = number(truth, prediction, most=CLASSES.most)
    refuse_many_classes(len(occurring))
    yield _Coding(codes[0], codes[1], 0, occurring)


def _count_coding(
    truth: LabelColumn, prediction: LabelColumn, weight: Floats | None, labels: Sequence[Any] | None, coding: _Coding
) -> Counts | None:
    """Return the counts of a coding, None if it is too narrow."""
    pairs, width = (coding.truth, coding.prediction, coding.low), len(coding.labels)
    cells = rows = _count_pairs(*pairs, width, weight)
    if cells is None or rows is None:
        return None
    if weight is not None and not weight.all():  # a class whose rows all weigh 0 occurs all the same
        rows = _count_pairs(*pairs, width) or cells
    true, predicted = (np.asarray(rows[0].any(axis=axis)) for axis in (1, 0))
    used = np.flatnonzero(true | predicted)
    occurring = [coding.labels[k] for k in used.tolist()]
    check_predicted(prediction, occurring, (true[used], predicted[used]), labels)
    order = class_order(occurring, labels, truth.categories or prediction.categories or ())
    refuse_many_classes(len(order))
    matrix, squares = (
        None if part is None else _arranged(part[np.ix_(used, used)], occurring, order) for part in cells
    )
    assert matrix is not None
    return Counts(matrix, order, len(truth), squares)


def _count_pairs(
    truth: NDArray[Any], prediction: NDArray[Any], low: int, width: int, weight: Floats | None = None
) -> tuple[NDArray[Any], Floats | None] | None:
    """Count pairs of integers from `low` on, chunk by chunk; return counts (or weights and squared weights), None if one is outside."""
    from compromis.evidence._kernels import count_pairs, weigh_pairs

    cells: NDArray[Any] = np.zeros((2, width, width), dtype=np.int64 if weight is None else np.float64)
    high = min(low + width - 1, _LARGEST)
    for start in range(0, len(truth), CHUNK):
        rows = slice(start, start + CHUNK)
        # the kernels are compiled for contiguous int64; anything else is copied, a chunk at a time
        first, second = _contiguous(truth[rows], np.int64), _contiguous(prediction[rows], np.int64)
        if weight is None:
            counted = count_pairs(first, second, low, high, cells)
        else:
            counted = weigh_pairs(first, second, _contiguous(weight[rows], np.float64), low, high, cells)
        if counted < len(first):
            return None
    return (cells.sum(axis=0), None) if weight is None else (cells[0], cells[1])


def _contiguous(part: NDArray[Any], dtype: type[np.generic]) -> NDArray[Any]:
    """Return what np.require would, in a tenth of its time: it counts where there are few rows."""
    array: NDArray[Any] = np.ascontiguousarray(part, dtype)
    return array if array.flags.aligned else array.copy()
