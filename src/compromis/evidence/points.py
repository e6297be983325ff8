"""Operating points: what each cut of a score, or each found group, decides for one class against the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._typing import Floats, Label
from compromis.errors import InputError
from compromis.evidence.weights import read_weights


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
        from compromis.evidence.points_from import read_flags, read_scores

        flags, label = read_flags(y_true, pos_label)
        score = read_scores(y_score, len(flags))
        return cls.from_flags(flags, score, label, read_weights(sample_weight, len(flags)))

    @classmethod
    def from_flags(
        cls, flags: NDArray[np.bool_], score: Floats, pos_label: Label, weight: Floats | None = None
    ) -> OperatingPoints:
        """Return the cuts of checked scores; `flags` says which rows are positive."""
        from compromis.evidence.points_from import count_flags, weigh_flags

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
        from compromis.evidence.points_groups import count_groups

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
        from compromis.evidence.points_from import cumulate_bins

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
        """Return the cuts of a column of scores, counted in the frame's own engine; see `compromis.evidence.points_frame`.

        Parameters
        ----------
        frame : data frame
            Of polars (eager or lazy), pandas, pyarrow, DuckDB, ibis, Dask or Spark; `compromis.scan` opens files.
        truth, score : str
            The columns of true classes and of scores.
        pos_label : label
            The positive class.
        weight : str, optional
            A column of row weights.
        bins : "auto", int or None
            None: every score; a number: bins of equal width, whose edges are the cuts (exact there, unknown between them:
            `compromis.roc_area_bounds` and `compromis.best_cut` say what that means). "auto" bins more than 2,000,000 scores.
        within : (low, high), optional
            The range of the bins; without it that of the scores, which takes one more pass.
        """
        from compromis.evidence.points_frame import points_of_frame

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
        from compromis.evidence.points_from import score_rows

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
        from compromis.evidence.points_from import read_columns

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
        from compromis.kernels.hull import mark_dominating, mark_dominating_cuts

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
        from compromis.evidence.points_merge import merge

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
