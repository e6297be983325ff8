"""The doors of operating points: labels, scores, estimators and columns of scores become counted cuts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._arrays import on_host
from compromis._text import nearest, shown
from compromis._typing import Flags, Floats, Label
from compromis.errors import InputError
from compromis.evidence.counts import check_room
from compromis.evidence.inputs import read_weights
from compromis.evidence.scores import as_matrix, in_class_order
from compromis.labels import LabelColumn, plain_label, read_classes, read_labels


def count_flags(flags: Flags, score: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Sort positives and negatives apart and merge them: two plain sorts are faster than one that moves metrics."""
    from compromis.evidence._kernels.ranking import count_cuts, split_scores

    hits = int(np.count_nonzero(flags))
    positive, negative = np.empty(hits + 1), np.empty(len(flags) - hits + 1)
    split_scores(score, flags, positive, negative)
    positive, negative = positive[:-1], negative[:-1]
    positive.sort()
    negative.sort()
    threshold, above = np.empty(len(score) + 1), np.empty((2, len(score) + 1), dtype=np.int64)
    threshold[0], above[:, 0] = np.inf, 0
    cuts = count_cuts(positive, negative, threshold[1:], above[:, 1:]) + 1
    if 2 * cuts < len(threshold):  # many ties: do not keep the room for all rows
        return threshold[:cuts].copy(), above[:, :cuts].copy()
    return threshold[:cuts], above[:, :cuts]


def weigh_flags(flags: Flags, score: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the cuts of weighted rows; rows of weight 0 make no cut."""
    order = np.flatnonzero(weight > 0)
    order = order[np.argsort(-score[order], kind="stable")]
    ordered, positive, weight = score[order], flags[order], weight[order]
    last = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(order) - 1)
    above = np.zeros((2, len(last) + 1))
    above[0, 1:] = np.cumsum(np.where(positive, weight, 0.0))[last]
    above[1, 1:] = np.cumsum(np.where(positive, 0.0, weight))[last]
    return np.insert(ordered[last], 0, np.inf), above


def cumulate_bins(threshold: ArrayLike, positives: ArrayLike, negatives: ArrayLike) -> tuple[Floats, NDArray[Any]]:
    """Return the checked edges with infinity before them, and what lies at or above each."""
    edges = np.asarray(threshold, dtype=np.float64)
    inside = np.stack([np.asarray(positives), np.asarray(negatives)])
    if edges.ndim != 1 or inside.shape != (2, len(edges)) or len(edges) == 0:
        raise InputError(
            f"there must be one threshold, positives and negatives per bin, got shapes {edges.shape} and {inside.shape}"
        )
    if not (np.isfinite(edges).all() and (np.diff(edges) < 0).all()):
        raise InputError("the thresholds of bins are finite and fall; sort the bins by falling edges")
    if inside.dtype.kind not in "iuf" or not np.isfinite(inside).all() or (inside < 0).any():
        raise InputError("bins hold finite numbers of rows, at least 0; found something else")
    check_room(sum(inside.ravel().tolist()))
    above = np.cumsum(inside, axis=1, dtype=np.float64 if inside.dtype.kind == "f" else np.int64)
    return np.insert(edges, 0, np.inf), np.insert(above, 0, 0, axis=1)


def read_flags(y_true: Any, pos_label: Any) -> tuple[Flags, Label]:
    """Return which rows are positive, and the positive label as the data writes it."""
    column = read_labels(y_true, "y_true")
    if len(column) == 0:
        raise InputError("y_true is empty; there is nothing to rank")
    if pos_label is not None:
        return _flags_of(column, plain_label(pos_label)), _as_written(column, plain_label(pos_label))
    for negative in (0, -1):
        if column.kind in {"int", "bool", "float"} and column.categories is None:
            flags = column.values == 1
            if bool((flags | (column.values == negative)).all()):
                return flags, True if column.kind == "bool" else 1
    raise InputError(f"which class is positive? pass pos_label, one of {shown(_found(column))}")


def _flags_of(column: LabelColumn, positive: Label) -> Flags:
    flags = _equal(column, positive)
    if not flags.any():
        found = _found(column)
        if len(found) > 1 or column.kind != _kind(positive):
            raise InputError(
                f"pos_label is {positive!r}, which y_true does not have{nearest(positive, found)}; "
                f"it has {shown(found)}"
            )
    return flags


def _equal(column: LabelColumn, positive: Label) -> Flags:
    if _kind(positive) != column.kind and not {_kind(positive), column.kind} <= {"int", "bool", "float"}:
        return np.zeros(len(column), dtype=bool)  # numpy would compare "1" with 1 row by row, or refuse
    if column.categories is not None:
        matching = [code for code, label in enumerate(column.categories) if label == positive]
        return np.isin(column.values, matching)
    if column.values.dtype == object and not isinstance(positive, str):
        return np.fromiter((value == positive for value in column.values), dtype=bool, count=len(column))
    return np.asarray(column.values == positive, dtype=bool)


def _kind(label: Label) -> str:
    return type(label).__name__


def _as_written(column: LabelColumn, positive: Label) -> Label:
    if column.kind == "bool" and isinstance(positive, (int, float)):
        return bool(positive)
    return int(positive) if column.kind == "int" and isinstance(positive, (bool, float)) else positive


def _found(column: LabelColumn) -> list[Label]:
    found = {label for chunk in column.lists() for label in set(chunk)}
    labels = {bool(label) for label in found} if column.kind == "bool" else found
    return sorted(
        labels, key=lambda label: (str(type(label)), label if isinstance(label, (int, float)) else str(label))
    )


def read_scores(y_score: ArrayLike, rows: int) -> Floats:
    """Return the scores as float64, each distinct score still distinct."""
    given = np.asarray(on_host(y_score))
    if given.dtype.kind not in "iufb" or given.shape != (rows,):
        raise InputError(
            f"y_score must be one number per row, {rows:,} in all, got shape {given.shape} of {given.dtype}"
        )
    score = given.astype(np.float64, copy=False)
    finite = np.isfinite(score)
    if not finite.all():
        row = int((~finite).argmax())
        raise InputError(f"y_score must be finite, got {score[row]} in row {row}; drop such rows or give them a score")
    if given.dtype.itemsize >= 8 and given.dtype != np.float64 and (score.astype(given.dtype) != given).any():
        raise InputError(
            f"y_score of type {given.dtype} has values that float64 cannot tell apart; rank or rescale the scores first"
        )
    return score


def score_rows(estimator: Any, X: Any, pos_label: Any) -> tuple[Floats, Label]:
    """Return the estimator's score for the positive class, and that class."""
    if not hasattr(estimator, "classes_"):
        raise InputError(f"{type(estimator).__name__} has no classes_; pass a fitted classifier")
    classes = [plain_label(label) for label in estimator.classes_]
    positive = _positive_of(classes, pos_label)
    if hasattr(estimator, "predict_proba"):
        scores = np.asarray(estimator.predict_proba(X))
    elif hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X))
    else:
        raise InputError(
            f"{type(estimator).__name__} has neither predict_proba nor decision_function; there is no score to cut"
        )
    place = classes.index(positive)
    if scores.ndim == 2:
        return scores[:, place], positive
    return (scores if place == 1 else -scores), positive


def _positive_of(classes: list[Label], pos_label: Any) -> Label:
    if pos_label is None:
        if len(classes) == 2 and classes[1] in (1, True) and classes[0] in (0, -1, False):
            return classes[1]
        raise InputError(f"which class is positive? pass pos_label, one of {shown(classes)}")
    positive = plain_label(pos_label)
    if positive not in classes:
        raise InputError(
            f"pos_label is {positive!r}, which the estimator does not know{nearest(positive, classes)}; "
            f"it has {shown(classes)}"
        )
    return classes[classes.index(positive)]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreColumns:
    """True labels and one column of scores per class, checked."""

    truth: LabelColumn
    scores: Floats
    labels: tuple[Label, ...]

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.truth)

    def each(self) -> Iterator[tuple[Label, Flags, Floats]]:
        """Yield each class with its flags and scores."""
        for place, label in enumerate(self.labels):
            yield label, _equal(self.truth, label), np.ascontiguousarray(self.scores[:, place])


def read_columns(y_true: Any, y_proba: Any, labels: Sequence[Any] | None) -> ScoreColumns:
    """Return labels and columns of scores that belong together."""
    truth = read_labels(y_true, "y_true")
    if len(truth) == 0:
        raise InputError("y_true is empty; there is nothing to rank")
    found = _found(truth)
    classes = tuple(truth.categories or found) if labels is None else read_classes(labels)
    missing = [label for label in found if label not in classes]
    if missing:
        raise InputError(
            f"labels must name every class of y_true once, in the order of the columns; "
            f"got {shown(classes)} for {shown(found)}"
        )
    scores = as_matrix(in_class_order(y_proba, classes, "y_proba"), "y_proba")
    if scores.shape != (len(truth), len(classes)):
        raise InputError(
            f"y_proba has shape {scores.shape}, but there are {len(truth):,} rows and {len(classes)} classes "
            f"({shown(classes)}); give one column per class, and labels= if a class does not occur"
        )
    if not np.isfinite(scores).all():
        row, column = np.argwhere(~np.isfinite(scores))[0]
        raise InputError(f"y_proba must be finite, got {scores[row, column]} in row {row}, column {column}")
    return ScoreColumns(truth, scores, classes)


Members = frozenset[Any]


def count_groups(
    target: Any, groups: Mapping[Any, Any] | Iterable[Any], universe_size: int
) -> tuple[tuple[Label, ...], NDArray[np.int64], NDArray[np.int64], tuple[int, int]]:
    """Return the groups' names, hits and false alarms, and the sizes of the target and of the rest of the universe."""
    universe = _read_size(universe_size)
    wanted = _read_members(target, "the target", universe)
    named = _read_names(groups)
    found = {name: _read_members(group, f"group {name!r}", universe) for name, group in named.items()}
    everything = len(wanted.union(*found.values()))
    if everything > universe:
        raise InputError(
            f"target and groups hold {everything:,} distinct elements, but the universe has {universe:,}; "
            f"give its full size"
        )
    hits = np.array([len(wanted & group) for group in found.values()], dtype=np.int64)
    sizes = np.array([len(group) for group in found.values()], dtype=np.int64)
    return tuple(found), hits, sizes - hits, (len(wanted), universe - len(wanted))


def _read_size(universe_size: Any) -> int:
    if isinstance(universe_size, bool) or not isinstance(universe_size, (int, np.integer)) or universe_size < 1:
        raise InputError(
            f"universe_size is the number of all elements, a whole number of at least 1, got {universe_size!r}"
        )
    return int(universe_size)


def _read_names(groups: Any) -> dict[Label, Any]:
    if isinstance(groups, Mapping):
        named = {plain_label(name): group for name, group in groups.items()}
    elif isinstance(groups, (str, bytes)) or not hasattr(groups, "__iter__"):
        raise InputError(
            f"groups must be a sequence of groups or a mapping from names to groups, got {type(groups).__name__}"
        )
    else:
        named = dict(enumerate(groups))
    if not named:
        raise InputError("there are no groups; give at least one found group")
    return named


def _read_members(group: Any, what: str, universe: int) -> Members:
    if isinstance(group, (str, bytes)) or not hasattr(group, "__iter__"):
        raise InputError(f"{what} must be a set or sequence of ids or a boolean array, got {type(group).__name__}")
    values = group if isinstance(group, (set, frozenset)) else np.asarray(group)
    if isinstance(values, np.ndarray) and values.dtype == bool:
        if values.size != universe:
            raise InputError(
                f"{what} has {values.size:,} flags, but the universe has {universe:,} elements; "
                f"give one flag per element"
            )
        members: Members = frozenset(np.flatnonzero(values).tolist())
    else:
        members = frozenset(values.ravel().tolist() if isinstance(values, np.ndarray) else map(plain_label, values))
    if not members:
        raise InputError(f"{what} is empty, so its precision or recall is undefined; leave it out")
    outside = [element for element in members if isinstance(element, int) and not 0 <= element < universe]
    if outside:
        raise InputError(
            f"{what} holds {shown(sorted(outside), 3)}, outside the universe of {universe:,} elements; integers count "
            f"elements from 0 to {universe - 1:,}, write other ids as strings"
        )
    return members


def merge(first: OperatingPoints, second: OperatingPoints) -> OperatingPoints:
    """Return the points of both sets of rows together, as if they had been counted at once.

    Cuts of the same score are merged at every threshold of either; bins must have the same edges, groups the same
    names.
    """
    if first.pos_label != second.pos_label:
        raise InputError(
            f"points for {first.pos_label!r} and for {second.pos_label!r} do not add up; count both for one class"
        )
    if first.names != second.names:
        raise InputError("groups add up with groups of the same names, in the same order; these differ")
    same = np.array_equal(first.threshold, second.threshold, equal_nan=True)
    if not same and (first.binned or second.binned):
        raise InputError("binned points add up only with points of the same thresholds; count both with the same edges")
    check_room(first.positives + second.positives + first.negatives + second.negatives)
    threshold, hits, alarms = _aligned(first, second) if same else _interleaved(first, second)
    totals = first.positives + second.positives, first.negatives + second.negatives
    return OperatingPoints(threshold, hits, alarms, *totals, first.pos_label, first.names, first.binned)


def _aligned(first: OperatingPoints, second: OperatingPoints) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    hits, alarms = (a + b for a, b in _counts(first, second))
    return first.threshold, hits, alarms


def _interleaved(first: OperatingPoints, second: OperatingPoints) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    from compromis.evidence._kernels.ranking import merge_cuts

    room = len(first) + len(second)
    threshold, taken = np.empty(room), np.empty((2, room), dtype=np.int64)
    cuts = merge_cuts(first.threshold, second.threshold, threshold, taken)
    last = taken[:, :cuts] - 1  # both start at infinity, so at least one is taken
    hits, alarms = (a[last[0]] + b[last[1]] for a, b in _counts(first, second))
    return threshold[:cuts].copy(), hits, alarms


def _counts(first: OperatingPoints, second: OperatingPoints) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    return [(first.true_positives, second.true_positives), (first.false_positives, second.false_positives)]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OperatingPoints:
    """The distinct cuts of a score for one class against the rest, from 'nothing is positive' to 'everything is'.

    A row is predicted positive when its score is at least the threshold; rows of equal score stay together. Found groups
    (retrieval, clustering, biclustering) are operating points too: they have names instead of thresholds.

    Attributes
    ----------
    threshold : ndarray
        The cuts, falling; the first is infinite: nothing is predicted positive. NaN for groups.
    true_positives, false_positives : ndarray
        The rows (or weights) at or above each cut.
    positives, negatives : float
        All rows (or weights) of either kind.
    pos_label : label
        Which class is positive.
    names : tuple, optional
        The names of the groups; None for the cuts of a score.
    binned : bool
        Whether the thresholds are edges of bins, not scores that occur.

    Examples
    --------
    The six rows of the course's ROC example:

    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1], pos_label=1)
    >>> points
    OperatingPoints(7 cuts, pos_label=1, positives=3, negatives=3)
    >>> (points.tpr * 3).round().astype(int).tolist()
    [0, 1, 1, 2, 3, 3, 3]
    """

    threshold: Floats
    true_positives: NDArray[Any]
    false_positives: NDArray[Any]
    positives: float
    negatives: float
    pos_label: Label
    names: tuple[Label, ...] | None = None
    binned: bool = False

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_score: ArrayLike, *, pos_label: Any = None, sample_weight: ArrayLike | None = None
    ) -> OperatingPoints:
        """Return all distinct cuts of `y_score` for the class `pos_label` against the rest.

        Parameters
        ----------
        y_true : labels
            The true classes.
        y_score : array-like
            One finite number per row, higher for the positive class.
        pos_label : label, optional
            The positive class; needed unless the classes are 0 and 1, -1 and 1, or False and True.
        sample_weight : array-like, optional
            A weight of at least 0 per row.
        """
        flags, label = read_flags(y_true, pos_label)
        score = read_scores(y_score, len(flags))
        return cls.from_flags(flags, score, label, read_weights(sample_weight, len(flags)))

    @classmethod
    def from_flags(
        cls, flags: NDArray[np.bool_], score: Floats, pos_label: Label, weight: Floats | None = None
    ) -> OperatingPoints:
        """Return the cuts of checked scores; `flags` says which rows are positive."""
        threshold, above = count_flags(flags, score) if weight is None else weigh_flags(flags, score, weight)
        totals = above[:, -1]
        return cls(threshold, above[0], above[1], totals[0].item(), totals[1].item(), pos_label)

    @classmethod
    def from_groups(
        cls, target: Any, groups: Mapping[Any, Any] | Iterable[Any], universe_size: int, *, pos_label: Any = "target"
    ) -> OperatingPoints:
        """Return one point per found group, against a target set in a universe.

        Parameters
        ----------
        target : set, sequence or boolean array
            The elements looked for: ids, or a boolean array with one flag per element of the universe (of any shape,
            so that a bicluster can be given as a mask of its matrix).
        groups : mapping or sequence
            The groups found, written like `target`; the keys of a mapping are their names, else their positions are.
        universe_size : int
            The number of all elements. Integer ids are positions from 0 to universe_size - 1; strings and other ids
            may be anything.
        pos_label : label
            What reports call the target.

        Examples
        --------
        >>> import compromis as cp
        >>> found = {"small": {1, 2}, "large": {1, 2, 3, 4, 5, 6}}
        >>> points = cp.OperatingPoints.from_groups({1, 2, 3}, found, 10)
        >>> points.precision.tolist(), points.group_size.tolist()
        ([1.0, 0.5], [2, 6])
        """
        names, hits, alarms, sizes = count_groups(target, groups, universe_size)
        return cls(np.full(len(names), np.nan), hits, alarms, sizes[0], sizes[1], pos_label, names)

    @classmethod
    def from_bins(
        cls, threshold: ArrayLike, positives: ArrayLike, negatives: ArrayLike, *, pos_label: Any
    ) -> OperatingPoints:
        """Return the cuts at the lower edges of bins of a score, from the positives and negatives in each bin.

        Parameters
        ----------
        threshold : array-like
            The lower edges of the bins, falling.
        positives, negatives : array-like
            The rows (or weights) of either kind in each bin.
        pos_label : label
            The positive class.
        """
        edges, above = cumulate_bins(threshold, positives, negatives)
        totals = above[:, -1]
        return cls(edges, above[0], above[1], totals[0].item(), totals[1].item(), pos_label, binned=True)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        truth: str,
        score: str,
        pos_label: Any,
        weight: str | None = None,
        bins: int | str | None = "auto",
        within: tuple[float, float] | None = None,
    ) -> OperatingPoints:
        """Return the cuts of a column of scores, counted in the frame's own engine; see `compromis.frames.points`.

        Parameters
        ----------
        frame : data frame
            Of polars (eager or lazy), pandas, pyarrow, DuckDB, ibis, Dask or Spark; `compromis.frames.scan` opens files.
        truth, score : str
            The columns of true classes and of scores.
        pos_label : label
            The positive class.
        weight : str, optional
            A column of row weights.
        bins : "auto", int or None
            None: every score; a number: bins of equal width, whose edges are the cuts (exact there, unknown between them:
            `compromis.frames` has bounds for what that means). "auto" bins more than 2,000,000 scores.
        within : (low, high), optional
            The range of the bins; without it that of the scores, which takes one more pass.
        """
        from compromis.frames.points import points_of_frame

        return points_of_frame(
            frame, truth=truth, score=score, pos_label=pos_label, weight=weight, bins=bins, within=within
        )

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, pos_label: Any = None, sample_weight: ArrayLike | None = None
    ) -> OperatingPoints:
        """Return the cuts of a fitted classifier's scores: `predict_proba`, else `decision_function`.

        Parameters
        ----------
        estimator : classifier
            Anything with ``classes_`` and one of the two methods.
        X, y : rows and their true classes
            Rows that the estimator has not seen.
        pos_label : label, optional
            The positive class; needed unless the classes are 0 and 1, -1 and 1, or False and True.
        sample_weight : array-like, optional
            A weight of at least 0 per row.
        """
        score, label = score_rows(estimator, X, pos_label)
        return cls.from_predictions(y, score, pos_label=label, sample_weight=sample_weight)

    @classmethod
    def one_vs_rest(
        cls, y_true: Any, y_proba: Any, *, labels: Sequence[Any] | None = None, sample_weight: ArrayLike | None = None
    ) -> dict[Label, OperatingPoints]:
        """Return the cuts of each class against the rest, by class.

        Parameters
        ----------
        y_true : labels
            The true classes.
        y_proba : array-like or frame
            One column of scores per class; a frame's columns are named after the classes.
        labels : sequence, optional
            The classes in the order of the columns; without it the sorted classes of `y_true`.
        sample_weight : array-like, optional
            A weight of at least 0 per row.
        """
        columns = read_columns(y_true, y_proba, labels)
        weight = read_weights(sample_weight, columns.rows)
        return {label: cls.from_flags(flags, score, label, weight) for label, flags, score in columns.each()}

    @property
    def false_negatives(self) -> NDArray[Any]:
        """The positives below each cut."""
        return self.positives - self.true_positives

    @property
    def true_negatives(self) -> NDArray[Any]:
        """The negatives below each cut."""
        return self.negatives - self.false_positives

    @property
    def group_size(self) -> NDArray[Any]:
        """The rows (or weights) predicted positive at each cut."""
        return self.true_positives + self.false_positives

    @property
    def prevalence(self) -> float:
        """The share of the positives: the precision of the maximal group."""
        return self.positives / (self.positives + self.negatives)

    @property
    def tpr(self) -> Floats:
        """True positive rate of each cut: the share of the positives at or above it."""
        return _share(self.true_positives, self.positives)

    @property
    def recall(self) -> Floats:
        """Recall of each cut; the same as the true positive rate."""
        return self.tpr

    @property
    def fpr(self) -> Floats:
        """False positive rate of each cut: the share of the negatives at or above it."""
        return _share(self.false_positives, self.negatives)

    @property
    def specificity(self) -> Floats:
        """Specificity of each cut: the share of the negatives below it."""
        return _share(self.true_negatives, self.negatives)

    @property
    def precision(self) -> Floats:
        """Precision of each cut; NaN where nothing is predicted positive."""
        predicted = np.asarray(self.group_size, dtype=np.float64)
        rates: Floats = np.divide(
            self.true_positives, predicted, out=np.full(len(predicted), np.nan), where=predicted > 0
        )
        return rates

    @property
    def dominating(self) -> NDArray[np.bool_]:
        """Whether no other point is at least as good in precision and recall and better in one (002, section 3)."""
        from compromis.tradeoffs._kernels.hull import mark_dominating, mark_dominating_cuts

        marked = np.zeros(len(self), dtype=bool)
        if self.positives and self.names is None:
            mark_dominating_cuts(self.true_positives, self.false_positives, marked)
        elif self.positives:
            precision, recall = self.precision, self.recall
            order = np.argsort(recall)
            mark_dominating(precision, recall, order[~np.isnan(precision[order])], marked)
        return marked

    @property
    def reason(self) -> str:
        """Why some rates are NaN for every cut; empty where none is."""
        if not self.positives:
            undefined = "recall and the true positive rate are undefined"
            return f"there are no rows of the positive class {self.pos_label!r}: {undefined}"
        if not self.negatives:
            undefined = "specificity and the false positive rate are undefined"
            return f"all rows are of the positive class {self.pos_label!r}: {undefined}"
        return ""

    def __add__(self, other: OperatingPoints) -> OperatingPoints:
        if not isinstance(other, OperatingPoints):
            return NotImplemented

        return merge(self, other)

    def __len__(self) -> int:
        return len(self.threshold)

    def __repr__(self) -> str:
        kind = "cuts" if self.names is None else "groups"
        sizes = f"positives={self.positives:,}, negatives={self.negatives:,}"
        return f"OperatingPoints({len(self):,} {kind}, pos_label={self.pos_label!r}, {sizes})"

    def check_ranking(self, what: str) -> None:
        """Refuse groups where `what` needs the cuts of one score."""
        if self.names is not None:
            raise InputError(
                f"{what} needs the cuts of one score, got {len(self)} groups; use roc_hull or TradeoffCurve for groups"
            )


def _share(part: NDArray[Any], whole: float) -> Floats:
    return part / whole if whole else np.full(len(part), np.nan)
