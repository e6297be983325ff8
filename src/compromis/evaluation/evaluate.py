"""The numbers of an evaluation, named: what text, HTML, JSON and frames render."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence import Counts
from compromis.evidence.grouped import GroupedCounts
from compromis.evidence.inputs import read_weights
from compromis.evidence.points import OperatingPoints
from compromis.evidence.scores import DistributionErrors, read_distributions
from compromis.evidence.votes import Votes
from compromis.labels import encode_classes, read_groups, read_labels
from compromis.measures import rates
from compromis.measures import rates as agreement
from compromis.measures.pragma import PragmaLoss, average_cost, pragma, read_cost, total_cost
from compromis.measures.probability import WekaErrors, read_priors, smoothed_shares, weka_errors
from compromis.measures.ranking import roc_area
from compromis.measures.rates import roc_area_of_decisions
from compromis.measures.verdict import Verdict, judge, screening
from compromis.preferences import PreferenceArrays, Preferences
from compromis.uncertainty.areas import clustered_variance, roc_area_interval
from compromis.uncertainty.draws import counts_of
from compromis.uncertainty.intervals import Interval, read_confidence
from compromis.uncertainty.report_intervals import ReportIntervals, report_intervals


@dataclass(frozen=True, slots=True)
class ClassSummary:
    """The numbers of one class against the rest; NaN where a number is undefined."""

    label: Label
    support: float
    predicted: float
    share_predicted: float
    recall: float
    precision: float
    specificity: float
    negative_predictive_value: float
    false_negative_rate: float
    false_positive_rate: float
    f_measure: float
    roc_area: float
    importance: float
    recall_weight: float
    loss: float
    loss_share: float
    """What the class adds to the PRAGMA loss."""


@dataclass(frozen=True, slots=True)
class Averages:
    """Rates averaged over the classes that occur."""

    recall: float
    precision: float
    f_measure: float
    false_positive_rate: float
    specificity: float
    roc_area: float


@dataclass(frozen=True, slots=True)
class Summary:
    """The numbers of the whole; NaN where a number is undefined."""

    rows: int
    total: float
    """The sum of the weights; the number of rows where there are none."""
    correct: float
    incorrect: float
    accuracy: float
    error_rate: float
    kappa: float
    balanced_accuracy: float
    matthews: float
    g_mean: float
    mean_absolute_error: float
    root_mean_squared_error: float
    relative_absolute_error: float
    root_relative_squared_error: float
    macro: Averages
    weighted: Averages
    total_cost: float | None
    average_cost: float | None
    loss: float | None
    """The PRAGMA loss under the preferences; None without them."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The evaluation of a classifier, made by `compromis.evaluate`.

    ``str(evaluation)`` is the report in Weka's layout, followed by what the preferences say.

    Attributes
    ----------
    counts : Counts
        The confusion counts.
    errors : DistributionErrors
        The sums behind Weka's probability errors.
    roc_areas : ndarray
        The area under each class's ROC curve.
    priors : ndarray
        The training shares that relative errors are relative to.
    priors_given : bool
        Whether they are the training shares, or only those of the evaluated rows.
    preferences : Preferences or None
        What matters.
    cost : ndarray or None
        The cost matrix, rows the truth.
    intervals : ReportIntervals or None
        The confidence intervals, where they were asked for.
    votes : Votes or None
        The distributions over the classes, where they were given: what reports draw curves and turn knobs with.

    Examples
    --------
    >>> import compromis as cp
    >>> result = cp.evaluate(["bad", "good", "good", "good"], ["bad", "bad", "good", "good"])
    >>> result.summary.accuracy, result.per_class["bad"].recall, result.per_class["bad"].precision
    (0.75, 1.0, 0.5)
    >>> print(str(result).splitlines()[2])
    Correctly Classified Instances           3               75      %
    """

    counts: Counts
    errors: DistributionErrors
    roc_areas: NDArray[np.float64]
    priors: NDArray[np.float64]
    priors_given: bool = False
    preferences: Preferences | None = None
    cost: NDArray[np.float64] | None = None
    intervals: ReportIntervals | None = None
    votes: Votes | None = None

    @cached_property
    def arrays(self) -> PreferenceArrays | None:
        """The preferences laid out for the classes."""
        return None if self.preferences is None else self.preferences.on(self.counts.classes)

    @cached_property
    def pragma(self) -> PragmaLoss | None:
        """The PRAGMA loss and its parts; None without preferences."""
        return None if self.arrays is None else pragma(self.counts, self.arrays)

    @cached_property
    def verdict(self) -> Verdict | None:
        """Whether the result is worth anything beside naive decisions; None without preferences."""
        return None if self.arrays is None else judge(self.counts, self.arrays)

    @cached_property
    def screening(self) -> str | None:
        """For two classes, what the test is good for; None for more, and without rows."""
        two = len(self.counts.classes) == 2 and self.counts.total > 0
        return str(screening(self.counts, self.arrays)) if two else None

    @cached_property
    def per_class(self) -> Mapping[Label, ClassSummary]:
        """The numbers of each class, by label, in the order of the classes."""
        columns = self._columns()
        rows = zip(*columns.values(), strict=True)
        names = list(columns)
        return MappingProxyType(
            {
                label: ClassSummary(label, **{name: float(value) for name, value in zip(names, row, strict=True)})
                for label, row in zip(self.counts.classes, rows, strict=True)
            }
        )

    @cached_property
    def summary(self) -> Summary:
        """The numbers of the whole."""
        counts, accuracy = self.counts, agreement.accuracy(self.counts)
        weka: WekaErrors = weka_errors(self.errors, self.priors)
        correct = counts.matrix.trace().item()
        return Summary(
            rows=counts.rows,
            total=counts.total,
            correct=correct,
            incorrect=counts.total - correct,
            accuracy=accuracy,
            error_rate=1 - accuracy,
            kappa=agreement.kappa(counts),
            balanced_accuracy=agreement.balanced_accuracy(counts),
            matthews=agreement.matthews(counts),
            g_mean=agreement.g_mean(counts),
            mean_absolute_error=weka.mean_absolute,
            root_mean_squared_error=weka.root_mean_squared,
            relative_absolute_error=weka.relative_absolute,
            root_relative_squared_error=weka.root_relative_squared,
            macro=self._averages(agreement.macro_average),
            weighted=self._averages(agreement.weighted_average),
            total_cost=None if self.cost is None else total_cost(counts, self.cost),
            average_cost=None if self.cost is None else average_cost(counts, self.cost),
            loss=None if self.pragma is None else self.pragma.total,
        )

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the numbers of each class as a data frame, one row per class.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Without it: pandas if it is installed, else polars, else pyarrow.
        """
        from compromis.evaluation.render.html import to_frame

        return to_frame(self, backend)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the evaluation as JSON of a versioned schema; with `path`, write it there too, whole or not at all."""
        from compromis.evaluation.render.json import to_json

        return to_json(self, path)

    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the evaluation as GitHub-flavoured Markdown; with `path`, write it there too, whole or not at all."""
        from compromis._files import write_whole
        from compromis.evaluation.render.markdown import to_markdown

        text = to_markdown(self)
        if path is not None:
            write_whole(path, text)
        return text

    def to_html(self, path: str | os.PathLike[str] | None = None, **options: Any) -> str:
        """Return the report as one HTML page that needs no network; with `path`, write it there too, whole or not at all.

        Parameters
        ----------
        path : path, optional
            Where to write the page.
        **options
            Those of `compromis.report`: weights, smoothing, title and so on.
        """
        from compromis.reports.result import report

        return report(self, path, **options).html

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        from compromis.evaluation.render.json import evaluation_document

        return evaluation_document(self)

    def __str__(self) -> str:
        from compromis.evaluation.render.text import to_text

        return to_text(self)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # what is cached is worked out anew

    def __repr__(self) -> str:
        loss = "" if self.summary.loss is None else f", loss {self.summary.loss:.4f}"
        return f"<Evaluation of {self.counts.rows:,} rows, {len(self.counts.classes)} classes{loss}>"

    def _repr_html_(self) -> str:
        from compromis.evaluation.render.html import to_fragment

        return to_fragment(self)

    def _columns(self) -> dict[str, NDArray[Any]]:
        counts, unknown = self.counts, np.full(len(self.counts.classes), math.nan)
        arrays, loss = self.arrays, self.pragma
        return {
            "support": counts.support,
            "predicted": counts.predicted,
            "share_predicted": rates.share_predicted(counts),
            "recall": rates.recall(counts),
            "precision": rates.precision(counts),
            "specificity": rates.specificity(counts),
            "negative_predictive_value": rates.negative_predictive_value(counts),
            "false_negative_rate": rates.false_negative_rate(counts),
            "false_positive_rate": rates.false_positive_rate(counts),
            "f_measure": rates.f_measure(counts),
            "roc_area": self.roc_areas,
            "importance": unknown if arrays is None else arrays.importance,
            "recall_weight": unknown if arrays is None else arrays.recall_weight,
            "loss": unknown if loss is None else loss.by_class,
            "loss_share": unknown if loss is None else loss.share,
        }

    def _averages(self, average: Any) -> Averages:
        counts = self.counts
        return Averages(
            recall=average(rates.recall(counts), counts),
            precision=average(rates.precision(counts), counts, undefined=0.0),
            f_measure=average(rates.f_measure(counts), counts),
            false_positive_rate=average(rates.false_positive_rate(counts), counts),
            specificity=average(rates.specificity(counts), counts),
            roc_area=average(self.roc_areas, counts),
        )


def evaluate(
    y_true: Any,
    y_pred: Any = None,
    *,
    y_proba: Any = None,
    preferences: Preferences | None = None,
    labels: Sequence[Any] | None = None,
    priors: Mapping[Any, float] | Sequence[float] | None = None,
    cost: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float | None = None,
    groups: Any = None,
) -> Evaluation:
    """Evaluate predicted classes against the truth, by what matters.

    Parameters
    ----------
    y_true : list, array or series of labels; Counts or GroupedCounts
        The true classes; or evidence that is counted already, and nothing else of the rows.
    y_pred : list, array or series of labels, optional
        The predicted classes. Without it: the class of the largest probability, the first one in a tie.
    y_proba : array-like of shape (n, K), optional
        A distribution over the classes per row, in the order of `labels` (else sorted); a frame whose columns are named after
        the classes; or one column, the probability of the second of two classes. Votes are scaled to shares.
    preferences : Preferences, optional
        What matters; adds the preference section, the baselines and the verdict.
    labels : sequence, optional
        The classes in the order wanted, absent ones included.
    priors : mapping or sequence, optional
        The classes' shares in the training rows, which Weka's relative errors are relative to; see `training_priors`.
    cost : array-like of shape (K, K), optional
        What each decision costs, rows the truth.
    sample_weight : array-like, optional
        A weight of at least 0 per row.
    confidence : float, optional
        Adds confidence intervals of every number, for example 0.95; they cost the same for 50 rows and 50 million.
    groups : labels, optional
        A key per row: rows of one group (a patient, a day) belong together, and the intervals count groups, not rows.

    Returns
    -------
    Evaluation
        ``str()`` is the report; ``.summary``, ``.per_class``, ``.counts``, ``.verdict``, ``.to_frame()``, ``.to_json()``.

    Examples
    --------
    >>> import compromis as cp
    >>> result = cp.evaluate(["bad", "good", "good", "good"], ["bad", "bad", "good", "good"])
    >>> result.per_class["bad"].precision
    0.5
    >>> result.summary.accuracy
    0.75

    Counts that are known already:

    >>> screening = cp.Counts.from_matrix([[190, 10], [210, 3590]], ["cancer", "no cancer"])
    >>> print(cp.evaluate(screening).screening)
    Taking 'cancer' as the condition looked for: a decision for 'no cancer' is right in 99.7 %, so it is good for screening;
    a decision for 'cancer' is right in 47.5 %, so it is poor for diagnosis.
    """
    if isinstance(y_true, (Counts, GroupedCounts)):
        _refuse_rows(y_pred=y_pred, y_proba=y_proba, labels=labels, sample_weight=sample_weight, groups=groups)
        return _evaluate_counts(y_true, preferences=preferences, priors=priors, cost=cost, confidence=confidence)
    if y_proba is None:
        if y_pred is None:
            raise InputError(
                "there is nothing to evaluate: pass y_pred (predicted classes), y_proba (distributions), or both"
            )
        evidence: Counts | GroupedCounts
        if groups is None:
            evidence = Counts.from_predictions(y_true, y_pred, labels=labels, sample_weight=sample_weight)
        else:
            evidence = GroupedCounts.from_predictions(
                y_true, y_pred, groups=groups, labels=labels, sample_weight=sample_weight
            )
        return _evaluate_counts(evidence, preferences=preferences, priors=priors, cost=cost, confidence=confidence)
    columns = [] if y_pred is None else [read_labels(y_pred, "y_pred")]
    (truth, *decided), classes = encode_classes(read_labels(y_true, "y_true"), *columns, labels=labels)
    shares = read_distributions(y_proba, len(truth), classes)
    weight = read_weights(sample_weight, len(truth))
    predicted = decided[0] if decided else shares.argmax(axis=1)
    counts = Counts.from_positions(truth, predicted, classes, weight)
    group = None if groups is None else read_groups(groups, len(truth))
    return _evaluation(
        counts if group is None else GroupedCounts.from_positions(truth, predicted, group, counts, weight),
        DistributionErrors.from_distributions(truth, shares, weight),
        ScoredRows(truth, shares, classes, weight, group),
        preferences=preferences,
        priors=priors,
        cost=cost,
        confidence=confidence,
    )


def _refuse_rows(**given: Any) -> None:
    named = [name for name, value in given.items() if value is not None]
    if named:
        raise InputError(f"counts hold their rows already; leave out {' and '.join(named)}")


def _evaluate_counts(
    counts: Counts | GroupedCounts,
    *,
    preferences: Preferences | None,
    priors: Mapping[Any, float] | Sequence[float] | None,
    cost: ArrayLike | None,
    confidence: float | None,
) -> Evaluation:
    errors = DistributionErrors.from_counts(counts_of(counts))
    return _evaluation(counts, errors, None, preferences=preferences, priors=priors, cost=cost, confidence=confidence)


def _evaluation(
    evidence: Counts | GroupedCounts,
    errors: DistributionErrors,
    scored: ScoredRows | None,
    *,
    preferences: Preferences | None,
    priors: Mapping[Any, float] | Sequence[float] | None,
    cost: ArrayLike | None,
    confidence: float | None,
) -> Evaluation:
    if preferences is not None and not isinstance(preferences, Preferences):
        raise InputError(f"preferences must be a compromis.Preferences, got {type(preferences).__name__}")
    level, counts = None if confidence is None else read_confidence(confidence), counts_of(evidence)
    shares = smoothed_shares(counts) if priors is None else read_priors(priors, counts.classes)
    costs = None if cost is None else read_cost(cost, counts.classes)
    areas = roc_area_of_decisions(counts) if scored is None else scored.roc_areas()
    votes = None if scored is None else scored.votes
    evaluation = Evaluation(counts, errors, areas, shares, priors is not None, preferences, costs, votes=votes)
    arrays = evaluation.arrays  # a preference for an unknown class is an error here, not when the report is printed
    if level is None:
        return evaluation
    intervals = report_intervals(evidence, arrays=arrays, cost=costs, confidence=level)
    if scored is not None:
        intervals = intervals.with_roc_areas(scored.roc_area_intervals(level))
    return replace(evaluation, intervals=intervals)


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """True classes (as positions) and distributions, with weights and groups where there are some."""

    truth: Ints
    shares: Floats
    classes: tuple[Label, ...]
    weight: Floats | None = None
    group: Ints | None = None
    repeats: float = 1.0
    """How often each row stands here, on average."""

    @property
    def votes(self) -> Votes:
        """The distributions as votes; rows without any are left out."""
        empty = ~self.shares.any(axis=1)
        counted = np.ones(len(self.truth), dtype=np.int64) if self.weight is None else self.weight
        multiplicity = np.where(empty, counted.dtype.type(0), counted)
        left_out = int(empty.sum())
        return Votes(
            votes=self.shares,
            truth=self.truth,
            multiplicity=multiplicity,
            classes=self.classes,
            rows=len(self.truth) - left_out,
            left_out=left_out,
        )

    def roc_areas(self) -> Floats:
        """Return the area under each class's ROC curve."""
        return np.array([roc_area(points) for _, points in self._points()])

    def roc_area_intervals(self, confidence: float) -> dict[Label, Interval]:
        """Return the area under each class's ROC curve with its interval."""
        return {
            label: roc_area_interval(
                points, confidence=confidence, sizes=self._sizes(k), variance=self._variance(k, points)
            )
            for k, (label, points) in enumerate(self._points())
        }

    def _points(self) -> Iterator[tuple[Label, OperatingPoints]]:
        for k, label in enumerate(self.classes):
            yield label, OperatingPoints.from_flags(self.truth == k, self.shares[:, k], label, self.weight)

    def _sizes(self, k: int) -> tuple[float, float]:
        """Return the effective numbers of rows of the class and of the rest."""
        own = self.truth == k
        weight = np.ones(len(own)) if self.weight is None else self.weight
        first, second = (
            float(weight[part].sum() ** 2 / max(float((weight[part] ** 2).sum()), np.finfo(float).tiny)) / self.repeats
            for part in (own, ~own)
        )
        return first, second

    def _variance(self, k: int, points: OperatingPoints) -> float | None:
        if self.group is None:
            return None
        return clustered_variance(points, self.truth == k, self.shares[:, k], self.group, self.weight)
