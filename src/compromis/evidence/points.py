"""Operating points: the cuts of a score, or found groups, with their counts for one class against the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._text import nearest, shown
from compromis._typing import Flags, Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.counts import check_room
from compromis.evidence.readers import read_sets, read_weights
from compromis.evidence.scores import as_dense, check_order_is_said, check_scores, read_ranking, read_scores
from compromis.labels import LabelColumn, check_row_order, encode, plain_label, positive_class, read_labels

_NUMBERS = {"int", "bool", "float"}


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
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
    squares : pair of float, optional
        The sums of the squared weights of the positives and of the negatives, where there are sample weights.

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
    squares: tuple[float, float] | None = None

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
        check_row_order(y_true, y_score=y_score, sample_weight=sample_weight)
        flags, label = _read_flags(y_true, pos_label)
        score = read_ranking(y_score, len(flags))
        return cls.from_flags(flags, score, label, read_weights(sample_weight, len(flags)))

    @classmethod
    def from_flags(
        cls,
        flags: Flags,
        score: Floats,
        pos_label: Label,
        weight: Floats | None = None,
        squares: Floats | None = None,
    ) -> OperatingPoints:
        """Return the cuts of checked scores; `flags` says which rows are positive, `squares` what they weigh squared, if not weight^2."""
        threshold, above = _count_flags(flags, score) if weight is None else _weigh_flags(flags, score, weight)
        points = cls._from_cuts(threshold, above, pos_label)
        if weight is None:
            return points
        squared = weight**2 if squares is None else squares
        return replace(points, squares=(float(squared[flags].sum()), float(squared[~flags].sum())))

    @classmethod
    def _from_cuts(
        cls, threshold: Floats, above: NDArray[Any], pos_label: Label, binned: bool = False
    ) -> OperatingPoints:
        """Return cuts with the positives and negatives at or above each; the last cut takes all rows."""
        return cls(
            threshold=threshold,
            true_positives=above[0],
            false_positives=above[1],
            positives=above[0, -1].item(),
            negatives=above[1, -1].item(),
            pos_label=pos_label,
            binned=binned,
        )

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
        wanted, found = read_sets(target, groups, universe_size)
        hits = np.array([len(wanted & group) for group in found.values()], dtype=np.int64)
        sizes = np.array([len(group) for group in found.values()], dtype=np.int64)
        return cls(
            threshold=np.full(len(found), np.nan),
            true_positives=hits,
            false_positives=sizes - hits,
            positives=len(wanted),
            negatives=int(universe_size) - len(wanted),
            pos_label=pos_label,
            names=tuple(found),
        )

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
        return cls.from_counts(edges, inside, pos_label, binned=True)

    @classmethod
    def from_counts(
        cls, threshold: Floats, inside: NDArray[Any], pos_label: Label, *, binned: bool = False
    ) -> OperatingPoints:
        """Return cuts at checked, falling thresholds; `inside` has two rows, the positives and negatives from each to the one before."""
        above = running_sums(inside) if inside.dtype.kind == "f" else np.cumsum(inside, axis=1, dtype=np.int64)
        return cls._from_cuts(np.insert(threshold, 0, np.inf), np.insert(above, 0, 0, axis=1), pos_label, binned)

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
        frame, truth, weight
            As in `Counts.from_frame`.
        score : str
            The column of scores.
        pos_label : label
            The positive class.
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
        score, label = _score_rows(estimator, X, pos_label)
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
        (truth,), classes = encode(_read_truth(y_true), labels=labels)
        scores = as_dense(read_scores(y_proba, classes, len(truth), dtype=np.float64))
        check_order_is_said(y_proba, classes, labels)
        check_scores(scores, negative=True)
        weight = read_weights(sample_weight, len(truth))
        return {
            label: cls.from_flags(truth == k, np.ascontiguousarray(scores[:, k]), label, weight)
            for k, label in enumerate(classes)
        }

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
    def sizes(self) -> tuple[float, float]:
        """The rows of either kind; of weighted rows the effective numbers, Kish's (sum w)^2 / sum w^2."""
        if self.squares is None:
            return self.positives, self.negatives
        totals = zip((self.positives, self.negatives), self.squares, strict=True)
        positives, negatives = (float(whole**2 / part) if part else 0.0 for whole, part in totals)
        return positives, negatives

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
    def dominating(self) -> Flags:
        """Whether no other point is at least as good in precision and recall and better in one (the trade-off paper, section 3)."""
        marked = np.zeros(len(self), dtype=bool)
        if self.positives and self.names is None:
            from compromis.evidence._kernels import mark_dominating_cuts

            mark_dominating_cuts(*self.counts_above(), marked.view(np.uint8))
        elif self.positives:
            precision, recall = self.precision, np.asarray(self.recall, dtype=np.float64)
            order = np.argsort(recall)
            marked[dominating_of(precision, recall, order[~np.isnan(precision[order])])] = True
        return marked

    def counts_above(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return true and false positives as kernels are compiled for: contiguous, both int64 or both float64."""
        hits, alarms = self.true_positives, self.false_positives
        dtype = np.int64 if hits.dtype.kind in "iu" and alarms.dtype.kind in "iu" else np.float64
        return np.ascontiguousarray(hits, dtype), np.ascontiguousarray(alarms, dtype)

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
        self._check_addition(other)
        threshold = self.threshold
        first: slice | Ints = slice(None)
        second: slice | Ints = slice(None)
        if not self._same_cuts(other):
            threshold, (first, second) = _interleaved(self.threshold, other.threshold)
        return replace(
            self,
            threshold=threshold,
            true_positives=self.true_positives[first] + other.true_positives[second],
            false_positives=self.false_positives[first] + other.false_positives[second],
            positives=self.positives + other.positives,
            negatives=self.negatives + other.negatives,
            squares=_added_squares(self, other),
        )

    def _same_cuts(self, other: OperatingPoints) -> bool:
        return np.array_equal(self.threshold, other.threshold, equal_nan=True)

    def _check_addition(self, other: OperatingPoints) -> None:
        if self.pos_label != other.pos_label:
            raise InputError(
                f"points for {self.pos_label!r} and for {other.pos_label!r} do not add up; count both for one class"
            )
        if self.names != other.names:
            raise InputError("groups add up with groups of the same names, in the same order; these differ")
        if (self.binned or other.binned) and not self._same_cuts(other):
            raise InputError(
                "binned points add up only with points of the same thresholds; count both with the same edges"
            )
        check_room(self.positives + other.positives + self.negatives + other.negatives)

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


def dominating_of(first: Floats, second: Floats, order: Ints) -> Ints:
    """Return the points that no other point beats in both rates; `order`, which sorts `second` upwards, says which are looked at."""
    from compromis.evidence._kernels import mark_dominating

    marked = np.zeros(len(first), dtype=bool)
    mark_dominating(first, second, order, marked.view(np.uint8))
    return order[marked[order]]


def _added_squares(*points: OperatingPoints) -> tuple[float, float] | None:
    if all(part.squares is None for part in points):
        return None
    pairs = [part.squares or (part.positives, part.negatives) for part in points]  # an unweighted row weighs 1
    return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)


def _share(part: NDArray[Any], whole: float) -> Floats:
    return part / whole if whole else np.full(len(part), np.nan)


def _interleaved(first: Floats, second: Floats) -> tuple[Floats, Ints]:
    """Return the thresholds of both lists, falling, and for each the last cut of either list at or above it."""
    from compromis.evidence._kernels import merge_cuts

    room = len(first) + len(second)
    threshold, taken = np.empty(room), np.empty((2, room), dtype=np.int64)
    cuts = merge_cuts(first, second, threshold, taken)
    return threshold[:cuts].copy(), taken[:, :cuts] - 1  # both lists start at infinity, so at least one cut is taken


def _count_flags(flags: Flags, score: Floats) -> tuple[Floats, Ints]:
    """Sort positives and negatives apart and merge them: two plain sorts are faster than one that moves indices."""
    from compromis.evidence._kernels import count_cuts, split_scores

    hits = int(np.count_nonzero(flags))
    positive, negative = np.empty(hits + 1), np.empty(len(flags) - hits + 1)
    split_scores(score, flags.view(np.uint8), positive, negative)
    positive, negative = positive[:-1], negative[:-1]
    positive.sort()
    negative.sort()
    threshold, above = np.empty(len(score) + 1), np.empty((2, len(score) + 1), dtype=np.int64)
    threshold[0], above[:, 0] = np.inf, 0
    cuts = count_cuts(positive, negative, threshold[1:], above[:, 1:]) + 1
    if 2 * cuts < len(threshold):  # many ties: do not keep the room for all rows
        return threshold[:cuts].copy(), above[:, :cuts].copy()
    return threshold[:cuts], above[:, :cuts]


def _weigh_flags(flags: Flags, score: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the cuts of weighted rows; rows of weight 0 make no cut."""
    order = np.flatnonzero(weight > 0)
    order = order[np.argsort(-score[order], kind="stable")]
    ordered, positive, weight = score[order], flags[order], weight[order]
    last = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(order) - 1)
    above = np.zeros((2, len(last) + 1))
    above[:, 1:] = running_sums(np.where([positive, ~positive], weight, 0.0))[:, last]
    return np.insert(ordered[last], 0, np.inf), above


def running_sums(weight: Floats) -> Floats:
    """Return the running sums along the last axis; the same weights have the same sum in any order.

    Sums that round as they go would let the last bit decide which of two equal models is better. The upper bits add up without
    rounding; the sums of the lower ones are so much smaller that the order in which they round does not show in the total.
    """
    exponent = np.frexp(weight.sum(axis=-1, keepdims=True))[1]
    scaled = np.ldexp(weight, -exponent)  # the sums stay below 1
    upper = (scaled + 1.0) - 1.0
    sums: Floats = np.ldexp(np.cumsum(upper, axis=-1) + np.cumsum(scaled - upper, axis=-1), exponent)
    return sums


def _read_truth(y_true: Any) -> LabelColumn:
    column = read_labels(y_true, "y_true")
    if len(column) == 0:
        raise InputError("y_true is empty; there is nothing to rank", parameter="y_true")
    return column


def _read_flags(y_true: Any, pos_label: Any) -> tuple[Flags, Label]:
    """Return which rows are positive, and the positive label as the data writes it."""
    column = _read_truth(y_true)
    if pos_label is not None:
        positive = plain_label(pos_label)
        flags = _equal(column, positive)
        labels = [positive] if flags.any() else _occurring(column)
        if len(labels) > 1 or (not flags.any() and column.kind != type(positive).__name__):
            raise InputError(
                f"pos_label is {positive!r}, which is no true class{nearest(positive, labels, aside=True)}; "
                f"the classes are {shown(labels)}",
                parameter="pos_label",
            )
        return flags, _as_written(column, positive)
    for negative in (0, -1):
        if column.kind in _NUMBERS and column.categories is None:
            flags = column.values == 1
            if bool((flags | (column.values == negative)).all()):
                return flags, True if column.kind == "bool" else 1
    raise InputError(f"which class is positive? pass pos_label, one of {shown(_occurring(column))}")


def _equal(column: LabelColumn, positive: Label) -> Flags:
    kind = type(positive).__name__
    if kind != column.kind and not {kind, column.kind} <= _NUMBERS:
        return np.zeros(len(column), dtype=bool)  # numpy would compare "1" with 1 row by row, or refuse
    if column.categories is not None:
        matching = [code for code, label in enumerate(column.categories) if label == positive]
        return np.isin(column.values, matching)
    if column.values.dtype == object and not isinstance(positive, str):
        return np.fromiter((value == positive for value in column.values), dtype=bool, count=len(column))
    return np.asarray(column.values == positive, dtype=bool)


def _as_written(column: LabelColumn, positive: Label) -> Label:
    if column.kind == "bool" and isinstance(positive, (int, float)):
        return bool(positive)
    return int(positive) if column.kind == "int" and isinstance(positive, (bool, float)) else positive


def _occurring(column: LabelColumn) -> list[Label]:
    labels = set().union(*map(set, column.lists()))
    return sorted(
        labels, key=lambda label: (str(type(label)), label if isinstance(label, (int, float)) else str(label))
    )


def _score_rows(estimator: Any, X: Any, pos_label: Any) -> tuple[Floats, Label]:
    """Return the estimator's score for the positive class, and that class."""
    if not hasattr(estimator, "classes_"):
        raise InputError(f"{type(estimator).__name__} has no classes_; pass a fitted classifier")
    classes = [plain_label(label) for label in estimator.classes_]
    positive = positive_class(classes, pos_label)
    if hasattr(estimator, "predict_proba"):
        scores = np.asarray(estimator.predict_proba(X))
    elif hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X))
    else:
        raise InputError(
            f"{type(estimator).__name__} has neither predict_proba nor decision_function; there is no score to cut"
        )
    column = classes.index(positive)
    if scores.ndim == 2:
        return scores[:, column], positive
    return (scores if column == 1 else -scores), positive
