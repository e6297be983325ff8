"""Evaluate predictions: the numbers, the verdict and the intervals of one result."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis._results import Result, columns_of
from compromis._text import (
    Finding,
    Table,
    bounds,
    class_name,
    count,
    fixed,
    paragraph,
    rows_named,
    short_names,
    shown_label,
    text_table,
)
from compromis._typing import Floats, Label
from compromis.errors import InputError
from compromis.evaluation import text
from compromis.evaluation.scored_rows import (
    ScoredRows,
    counts_by_group,
    read_scored_rows,
    refuse_unlabelled_strata,
    rows_of_votes,
    with_reviewer,
)
from compromis.evidence.counts import Counts
from compromis.evidence.grouped import GroupedCounts
from compromis.evidence.scores import check_order_is_said
from compromis.evidence.strata import Sample, read_sample
from compromis.evidence.votes import Votes
from compromis.labels import check_row_order, positive_class, read_labels
from compromis.measures import rates
from compromis.measures.by_group import MissedInGroup, check_groups, group_table, missed_by_group, rows_of
from compromis.measures.headline import Headline, headline_of, screening
from compromis.measures.pragma import PragmaLoss, amount_missing, pragma, total_cost
from compromis.measures.probability import DistributionErrors, prior_errors, read_priors, smoothed_shares, weka_errors
from compromis.measures.rates import Evidence, counts_of, outcomes
from compromis.preferences import (
    PreferenceArrays,
    Preferences,
    read_preferences,
    refuse_amounts_of_groups,
    refuse_idle_amount,
)
from compromis.uncertainty.intervals import Interval, read_confidence
from compromis.uncertainty.report_intervals import ReportIntervals, report_intervals
from compromis.uncertainty.verdict import Verdict, verdict_on
from compromis.weights.search import WeightSearch, quick_search

MOST_COLUMNS = 20
"""The widest confusion matrix that a pull request should show."""
MOST_ROWS = 10
"""The classes that one screen of text has."""
MOST_CONFUSED = 4
"""The pairs of classes that the line on confusions names."""
_COLUMNS = {
    "importance": "Importance",
    "loss": "Loss",
    "loss_share": "Share of loss",
    "f_measure": "F-measure",
    "roc_area": "ROC area",
}


@dataclass(frozen=True, slots=True, kw_only=True)
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

    def __repr__(self) -> str:
        rates = f"recall {fixed(self.recall)}, precision {fixed(self.precision)}"
        return f"<{count(self.support)} {rows_named(self.label)}: {rates}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Averages:
    """Rates averaged over the classes that occur."""

    recall: float
    precision: float
    f_measure: float
    false_positive_rate: float
    specificity: float
    roc_area: float


@dataclass(frozen=True, slots=True, kw_only=True)
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
    """None without costs."""
    loss: float | None
    """The PRAGMA loss under the preferences, the average cost where they are costs; None without them."""

    def __repr__(self) -> str:
        loss = "" if self.loss is None else f", loss {self.loss:.4f}"
        return f"<{self.rows:,} rows: accuracy {fixed(self.accuracy)}, kappa {fixed(self.kappa)}{loss}>"


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluation(Result):
    """The evaluation of a classifier, made by `compromis.evaluate`.

    ``str(evaluation)`` is the short report: the headline in rows, the verdict, the classes. `weka` is Weka's layout, `full` everything.

    Examples
    --------
    >>> import compromis as cp
    >>> result = cp.evaluate(["bad", "good", "good", "good"], ["bad", "bad", "good", "good"])
    >>> result.summary.accuracy, result.per_class["bad"].recall, result.per_class["bad"].precision
    (0.75, 1.0, 0.5)
    >>> print(result.weka().splitlines()[2])
    Correctly Classified Instances           3               75      %
    """

    counts: Counts
    """The confusion counts."""
    errors: DistributionErrors
    """The sums behind Weka's probability errors."""
    roc_areas: Floats
    """The area under each class's ROC curve; Weka's of the predictions alone where there are no distributions."""
    scored: bool = False
    """Whether there are distributions over the classes; ROC areas of predictions, and their relative errors without priors, are Weka's."""
    priors: Floats
    """The shares of the classes in the training rows."""
    prior_errors: tuple[float, float]
    """The sums of absolute and squared errors that these shares alone would make, which relative errors are relative to."""
    priors_given: bool = False
    """Whether they are the training shares, or only those of the evaluated rows."""
    preferences: Preferences | None = None
    """What matters."""
    pos_label: Label | None = None
    """Of two classes, the condition looked for; without it the more important one, else the rarer one."""
    intervals: ReportIntervals | None = None
    """The confidence intervals, where they were asked for."""
    votes: Votes | None = None
    """The distributions over the classes, where they were given; reports need them for curves and sliders."""
    arrays: PreferenceArrays | None = None
    """The preferences laid out for the classes."""
    evidence: Evidence | None = None
    """The counts as the verdict takes them: by group where there are groups, rows that were tested several times once."""
    by: dict[Label, Counts] | None = None
    """The counts of each group of `by`, in which the minima must hold each."""

    schema = "compromis/evaluation"
    template = "evaluation.html"

    @cached_property
    def pragma(self) -> PragmaLoss | None:
        """The PRAGMA loss and its parts; None without preferences."""
        return None if self.arrays is None else pragma(self.counts, self.arrays)

    @cached_property
    def headline(self) -> Headline:
        """The result in rows of the classes that matter most, its loss and the verdict's state: what every surface says first."""
        state, offer = None if self.verdict is None else self.verdict.state, self.offer
        tuned = None if offer is None else offer.counts
        return headline_of(self.counts, self.arrays, pos_label=self.pos_label, state=state, tuned=tuned)

    @cached_property
    def offer(self) -> WeightSearch | None:
        """What tuning could change: weights searched on these rows, where there are preferences and the highest score predicts.

        A result of weights that were tuned already is offered none: rows that test a decision should not choose another.
        """
        if self.votes is None or self.preferences is None or self.preferences.costs_amounts:
            return None
        votes = self.votes.merge()
        if not np.array_equal(votes.counts(np.ones(len(votes.classes))).matrix, self.counts.matrix):
            return None
        return quick_search(votes, self.preferences)

    @cached_property
    def verdict(self) -> Verdict | None:
        """Whether the result is better than no model, by average cost where there are costs; None without preferences."""
        if self.arrays is None:
            return None
        confidence = None if self.intervals is None else self.intervals.confidence
        return verdict_on(self.evidence or self.counts, self.arrays, confidence=confidence)

    def findings(self, *, heading: str = "Verdict: ") -> list[str]:
        """Return what the verdict says, beside what tuning could reach; nothing without preferences."""
        if self.verdict is None:
            return []
        tuned = self.offer.verdict if self.offer is not None and self.offer.feasible else None
        return self.verdict.findings(tuned, heading=heading)

    @cached_property
    def screening(self) -> str | None:
        """For two classes, what the test is good for; None for more, and without rows."""
        two = len(self.counts.classes) == 2 and self.counts.total > 0
        return screening(self.counts, self.arrays, self.pos_label) if two else None

    @cached_property
    def per_class(self) -> Mapping[Label, ClassSummary]:
        """The numbers of each class, by label, in the order of the classes."""
        counts, arrays, loss = self.counts, self.arrays, self.pragma
        unknown = np.full(len(counts.classes), math.nan)
        numbers = {
            "support": counts.support.astype(np.float64),
            "predicted": counts.predicted.astype(np.float64),
            **self._rates,
            "importance": unknown if arrays is None else arrays.importance,
            "recall_weight": unknown if arrays is None else arrays.recall_weight,
            "loss": unknown if loss is None else loss.by_class,
            "loss_share": unknown if loss is None else loss.share,
        }
        rows = zip(counts.classes, *(column.tolist() for column in numbers.values()), strict=True)
        return MappingProxyType(
            {row[0]: ClassSummary(**dict(zip(("label", *numbers), row, strict=True))) for row in rows}
        )

    @cached_property
    def summary(self) -> Summary:
        """The numbers of the whole."""
        counts, accuracy = self.counts, rates.accuracy(self.counts)
        macro, weighted = self._averages(counts.support > 0), self._averages(counts.support)
        correct = counts.matrix.trace().item()
        loss = None if self.pragma is None else self.pragma.total
        cost = None if self.arrays is None else total_cost(counts, self.arrays)
        return Summary(
            rows=counts.rows,
            total=counts.total,
            correct=correct,
            incorrect=counts.total - correct,
            accuracy=accuracy,
            error_rate=1 - accuracy,
            kappa=rates.kappa(counts),
            balanced_accuracy=macro.recall,
            matthews=rates.matthews(counts),
            g_mean=float(rates.geometric_mean(self._rates["recall"])),
            **self._errors(),
            macro=macro,
            weighted=weighted,
            total_cost=cost,
            average_cost=None if cost is None else loss,
            loss=loss,
        )

    def weka(self) -> str:
        """Return Weka's report: summary, rates by class, confusion matrix."""
        shown = self if self.scored else replace(self, scored=True)
        summary = text.weka_summary(shown.summary, priors_given=self.priors_given)
        by_class = text.weka_classes(shown.per_class.values(), shown.summary)
        return "\n".join([summary, by_class, text.weka_confusion(self.counts)])

    def to_html(self, path: str | os.PathLike[str] | None = None, **options: Any) -> str:
        """Return the report as one HTML page that needs no network; with `path`, also write it there, atomically.

        Parameters
        ----------
        path : path, optional
            Where to write the page.
        **options
            Those of `compromis.report`: weights, smoothing, title and so on.
        """
        from compromis.reports.contents import report

        return report(self, path, **options).html

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        counts, preferences, verdict = self.counts, self.preferences, self.verdict
        return {
            **self.heading(),
            "headline": self.headline.document(),
            "classes": list(counts.classes),
            "counts": {"rows": counts.rows, "matrix": counts.matrix.tolist()},
            "priors": {"given": self.priors_given, "shares": self.priors.tolist()},
            "summary": asdict(self.summary),
            "per_class": [asdict(row) for row in self.per_class.values()],
            "preferences": None if preferences is None else _preferences_document(preferences),
            "verdict": None if verdict is None else verdict.document(),
            "screening": self.screening,
            "intervals": None if self.intervals is None else self.intervals.document(),
            **({} if self.by is None else {"by": rows_of(self.by, self.arrays)}),
        }

    def columns(self) -> dict[str, list[Any]]:
        """Return the numbers of each class, column by column."""
        return columns_of(self.per_class.values(), ClassSummary)

    def sentences(self) -> list[str]:
        """Return the headline, the verdict with what is missed, and in small print the numbers."""
        first, *more = self.headline.sentences()
        missed = [Finding(str(shortfall), "missed") for shortfall in self.missed_by_group]
        few = [] if self.intervals is None else self.intervals.doubts()
        small = [
            *_confusions(self.counts),
            self._numbers(),
            *([] if self.screening is None else [self.screening]),
        ]
        if self.counts.strata is not None:
            more.append(f"estimated for {self.summary.total:,.0f} rows from {self.summary.rows:,} labelled ones")
        return [
            Finding(first, "headline"),
            *more,
            *self.findings(),
            *missed,
            *few,
            *(Finding(line, "small") for line in small),
        ]

    def _numbers(self) -> str:
        """Return accuracy and kappa, and the loss with its metric, with the intervals that there are."""
        summary, preferences = self.summary, self.preferences
        known = {} if self.intervals is None else self.intervals.summary
        numbers = {"accuracy": fixed(summary.accuracy), "kappa": fixed(summary.kappa)}
        if summary.loss is not None and summary.total:
            numbers["loss" if summary.average_cost is None else "average_cost"] = f"{summary.loss:.4f}"
        each = [
            f"{name.replace('_', ' ')} {value}" + (f" ({bounds(known[name])})" if name in known else "")
            for name, value in numbers.items()
        ]
        metric = "" if preferences is None or preferences.cost is not None else f"; metric {preferences.metric.name}"
        few = "; * the precision of fewer than 20 predictions" if rates.few_predictions(self.counts) else ""
        of = " labelled" * (self.counts.strata is not None)
        return f"{summary.rows:,} row{'s' * (summary.rows != 1)}{of}: {', '.join(each)}{metric}{few}"

    def _class_table(self, labels: Iterable[Label]) -> Table:
        """Return the rows of classes found and missed, their rates (intervals where there are some) and what preferences say."""
        header, counts, preferences = (
            ["Class", "Rows", "Found", "Missed", "False alarms"],
            self.counts,
            self.preferences,
        )
        level = "" if self.intervals is None else f" ({100 * self.intervals.confidence:g} %)"
        header += [f"Recall{level}", f"Precision{level}"]
        more = [] if preferences is None else ["importance", "loss", "loss_share"][preferences.cost is not None :]
        more += ["f_measure", *(["roc_area"] if self.scored else [])]
        cells, few = outcomes(counts), {label for label, _ in rates.few_predictions(counts)}
        parts = (cells.support, cells.hits, cells.misses, cells.alarms)
        position, rows = {label: k for k, label in enumerate(counts.classes)}, []
        for label in labels:
            row, known = self.per_class[label], {} if self.intervals is None else self.intervals.per_class[label]
            shown = [
                bounds(known[name]) if name in known else fixed(getattr(row, name)) for name in ("recall", "precision")
            ]
            shown[-1] += "*" * (label in few)
            last = [f"{row.importance:g}" if name == "importance" else fixed(getattr(row, name)) for name in more]
            rows.append([str(label), *(count(part[position[label]].item()) for part in parts), *shown, *last])
        return Table("By class", [*header, *(_COLUMNS[name] for name in more)], rows)

    def _group_tables(self) -> list[Table]:
        return [] if self.by is None else [group_table(self.by, self.arrays)]

    @property
    def missed_by_group(self) -> tuple[MissedInGroup, ...]:
        """The minima that groups miss; none without groups or preferences."""
        return () if self.by is None or self.arrays is None else missed_by_group(self.by, self.arrays)

    def tables(self) -> list[Table]:
        """Return the classes, the baselines where there is a verdict, and the confusion matrix unless it is wide."""
        tables = [self._class_table(self.per_class), *self._group_tables()]
        if self.verdict is not None:
            tables += [table._replace(folded=True) for table in self.verdict.tables()]
        classes, matrix = [str(label) for label in self.counts.classes], self.counts.matrix.tolist()
        if len(classes) <= MOST_COLUMNS:
            cells = [[label, *map(count, row)] for label, row in zip(classes, matrix, strict=True)]
            tables.append(Table("Confusion matrix (columns: predicted)", ["True class", *classes], cells, folded=True))
        return tables

    def text_tables(self) -> list[Table]:
        """Return the classes; of many those that the headline names first."""
        labels = list(self.per_class)
        if len(labels) <= MOST_ROWS:
            return [self._class_table(labels)._replace(title=""), *self._group_tables()]
        first = [row.label for row in self.headline.classes]
        missed = dict(zip(labels, outcomes(self.counts).misses.tolist(), strict=True))
        others = sorted(labels, key=lambda label: -missed[label])
        chosen = list(dict.fromkeys([*first, *others]))[:MOST_ROWS]
        table = self._class_table(chosen)
        title = f"{MOST_ROWS} of {len(labels)} classes; all: --full"
        return [table._replace(title=title), *self._group_tables()]

    def full(self) -> str:
        """Return everything as text: Weka's report, the intervals, what the preferences say, the verdict."""
        sections = [self.weka()]
        if self.intervals is not None:
            sections.append(text.intervals_section(self.intervals))
        if self.verdict is not None and self.preferences is not None:
            sections.append(text.verdict_section(self.preferences.metric, self.per_class, self.verdict))
        if self.by is not None:
            missed = [f"{shown_label(str(shortfall))}." for shortfall in self.missed_by_group]
            sections.append(text.section("By group", [text_table(group_table(self.by, self.arrays)), *missed]))
        if self.screening is not None:
            sections.append(f"{paragraph(self.screening)}\n")
        return "\n".join(sections)

    def __repr__(self) -> str:
        loss = "" if self.summary.loss is None else f", loss {self.summary.loss:.4f}"
        return f"<{type(self).__name__} of {self.counts.rows:,} rows, {len(self.counts.classes)} classes{loss}>"

    @cached_property
    def _rates(self) -> dict[str, Floats]:
        areas = self.roc_areas if self.scored else np.full(len(self.roc_areas), math.nan)
        return {**rates.class_rates(self.counts), "roc_area": areas}

    def _errors(self) -> dict[str, float]:
        errors = weka_errors(self.errors, self.prior_errors)
        if not (self.scored or self.priors_given):
            errors |= dict.fromkeys(("relative_absolute_error", "root_relative_squared_error"), math.nan)
        return errors

    def _averages(self, weights: Any) -> Averages:
        names = [field.name for field in fields(Averages)]
        means = rates.averages(self._rates, weights, names)
        return Averages(**{name: float(mean) for name, mean in means.items()})


def _confusions(counts: Counts) -> list[str]:
    """Return what is most often predicted as what, of more than two classes."""
    labels, pairs = counts.classes, rates.largest_confusions(counts, MOST_CONFUSED)
    if len(labels) < 3 or not pairs:
        return []
    shown = list(dict.fromkeys(k for pair in pairs for k in pair))
    names = dict(zip(shown, short_names([labels[k] for k in shown], 24), strict=True))
    phrases = [
        f"{count(counts.matrix[i, j])} {rows_named(labels[i], names[i])} predicted as {class_name(labels[j], names[j])}"
        for i, j in pairs
    ]
    return [f"most confused: {', '.join(phrases)}"]


def _preferences_document(preferences: Preferences) -> dict[str, Any]:
    return {
        "metric": preferences.metric.name,
        "cost": None if preferences.cost is None else {"labels": preferences.labels, "matrix": preferences.cost},
        "default": asdict(preferences.default),
        "class": [{"label": label, **asdict(preference)} for label, preference in preferences.by_class.items()],
    }


def evaluate(
    y_true: Any,
    y_pred: Any = None,
    *,
    y_proba: Any = None,
    preferences: Preferences | Mapping[Any, Any] | None = None,
    labels: Sequence[Any] | None = None,
    pos_label: Any = None,
    priors: Mapping[Any, float] | Sequence[float] | None = None,
    sample_weight: ArrayLike | None = None,
    amount: ArrayLike | None = None,
    groups: Any = None,
    by: Any = None,
    sample: Sample | None = None,
    needs_review: ArrayLike | None = None,
    confidence: float | None = None,
) -> Evaluation:
    """Evaluate predicted classes against the truth, by what matters.

    Parameters
    ----------
    y_true : list, array or series of labels; Counts, GroupedCounts or Votes
        The true classes; or evidence alone, without other arguments about rows. Votes are predicted by equal weights.
    y_pred : list, array or series of labels, optional
        The predicted classes. Without it: the class of the largest probability, the first one in a tie.
    y_proba : array-like of shape (n, K), optional
        A distribution over the classes per row, in the order of `labels` (else sorted); a frame whose columns are named after
        the classes; or one column, the probability of the positive one of two classes. Votes are scaled to shares.
    preferences : Preferences or mapping by class, optional
        What matters, or what each decision costs; adds the preference section, the baselines and the verdict.
    labels : sequence, Decision, estimator or Preferences, optional
        The classes in the order wanted, absent ones included; or what knows them, where rows may lack a rare class.
    pos_label : label, optional
        Of two classes, the one whose probability a single column of `y_proba` is (needed unless they are 0 and 1, -1 and 1, or False and
        True), and the condition that the sentence on screening looks for; without it the more important one, else the rarer one.
    priors : mapping or sequence, optional
        The classes' shares in the training rows, which Weka's relative errors are relative to; see `training_priors`.
    sample_weight : array-like, optional
        A weight of at least 0 per row.
    amount : array-like, optional
        A number of at least 0 per row (an amount of money), where decisions cost the amount of a row; see `Preferences`.
    groups : labels, optional
        A key per row: rows of one group (a patient, a day) belong together, and the intervals count groups, not rows.
    by : labels, optional
        A group per row (hospital, sex): shows the rates of each, and the minima of the preferences must hold in each.
    sample : Sample, optional
        The plan by which the rows were drawn, of `compromis.model_selection.plan_labels`: the numbers are then estimates for
        the whole population, and the intervals follow the design. ROC areas have no intervals then.
    needs_review : array of bool, optional
        Which rows a person looks at, as `Decision.decide` returns it; they count as right. Leave it out to see what is decided where nobody
        looks.
    confidence : float, optional
        Adds confidence intervals of every number, for example 0.95; their cost does not depend on the number of rows.

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
    Taking 'cancer' as the condition looked for: 99.7 % of the predictions 'no cancer' are right, good for screening
    (good from 97.5 % on); 47.5 % of the predictions 'cancer' are right, poor for diagnosis (good from 90 % on). Of 1,000
    rows 100 are predicted 'cancer'.
    """
    if isinstance(y_true, (Counts, GroupedCounts, Votes)):
        _refuse_rows(
            type(y_true).__name__,
            y_pred=y_pred,
            y_proba=y_proba,
            labels=labels,
            sample_weight=sample_weight,
            amount=amount,
            groups=groups,
            by=by,
            sample=sample,
            needs_review=needs_review,
        )
        evidence, scored = rows_of_votes(y_true) if isinstance(y_true, Votes) else (y_true, None)
    else:
        refuse_idle_amount(preferences, amount)
        given = {"labels": labels, "pos_label": pos_label, "sample_weight": sample_weight}
        if needs_review is not None:
            y_pred, given["labels"] = with_reviewer(y_true, y_pred, needs_review, labels)
            if y_proba is not None:
                check_order_is_said(y_proba, given["labels"], labels)
        evidence, scored = _read_rows(y_true, y_pred, y_proba, **given, amount=amount, groups=groups, sample=sample)
    counts = counts_of(evidence)
    if counts.strata is not None:
        refuse_unlabelled_strata(counts)
    terms = Terms.read(counts.classes, preferences, pos_label=pos_label, confidence=confidence)
    shares = smoothed_shares(counts) if priors is None else read_priors(priors, counts.classes)
    judged = terms.judge(evidence, scored, shares)
    if isinstance(y_true, Votes):
        judged["votes"] = y_true
    if by is not None:
        judged["by"] = parts = counts_by_group(by, (y_true, y_pred), scored, counts.classes, sample_weight)
        if terms.arrays is not None:
            check_groups(parts, terms.arrays)
    return Evaluation(**judged, priors_given=priors is not None)


def _read_rows(
    y_true: Any, y_pred: Any, y_proba: Any, *, pos_label: Any, amount: Any, groups: Any, sample: Any, **given: Any
) -> tuple[Evidence, ScoredRows | None]:
    """Read and count rows; with `y_proba` the distributions too. `given` are the labels and the sample weights."""
    if y_pred is None and y_proba is None:
        raise InputError(
            "there is nothing to evaluate: pass y_pred (predicted classes), y_proba (distributions), or both"
        )
    refuse_amounts_of_groups(amount, groups)
    check_row_order(y_true, y_proba=y_proba, sample_weight=given["sample_weight"], amount=amount, groups=groups)
    if y_proba is not None:
        beside = {"amount": amount, "groups": groups, "sample": sample}
        return read_scored_rows(y_true, y_pred, y_proba, pos_label=pos_label, **beside, **given)
    if sample is not None:
        read_sample(sample, len(read_labels(y_true, "y_true")), groups=groups)
    if groups is not None:
        return GroupedCounts.from_predictions(y_true, y_pred, groups=groups, **given), None
    return Counts.from_predictions(y_true, y_pred, amount=amount, sample=sample, **given), None


def _refuse_rows(evidence: str, **given: Any) -> None:
    named = [name for name, value in given.items() if value is not None]
    if named:
        raise InputError(
            f"y_true is {evidence}, which hold their rows already; leave out {' and '.join(named)}", named[0]
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Terms:
    """The checked arguments that results are judged by, for one evaluation or for every fold."""

    preferences: Preferences | None
    arrays: PreferenceArrays | None
    pos_label: Label | None
    confidence: float | None

    @classmethod
    def read(cls, classes: Sequence[Label], preferences: Any, *, pos_label: Any, confidence: Any) -> Terms:
        """Check what was given; a preference for an unknown class is an error here, not when the report is printed."""
        wanted = None if preferences is None else read_preferences(preferences)
        return cls(
            preferences=wanted,
            arrays=None if wanted is None else wanted.on(classes),
            pos_label=None if pos_label is None else positive_class(classes, pos_label),
            confidence=None if confidence is None else read_confidence(confidence),
        )

    def judge(
        self, evidence: Evidence, scored: ScoredRows | None, priors: Floats, repeats: float = 1.0
    ) -> dict[str, Any]:
        """Return the fields of an evaluation of counts and, where there are some, of distributions.

        `priors` are the class shares in the training rows; where rows occur `repeats` times on average, intervals count them once.
        """
        counts, bounds = counts_of(evidence), None
        if self.arrays is not None and self.arrays.by_amount is not None and counts.amounts is None:
            raise amount_missing()
        if repeats > 1 and isinstance(evidence, Counts):
            squares = evidence.matrix if evidence.squares is None else evidence.squares
            evidence = replace(evidence, squares=squares * repeats)
        if scored is None:
            errors, areas = DistributionErrors.from_counts(counts), rates.class_rates(counts)["roc_area"]
        else:
            errors = DistributionErrors.from_distributions(scored.rows.truth, scored.shares, scored.rows.weight)
            if self.confidence is None or counts.strata is not None:
                areas = scored.roc_areas()
            else:
                bounds = scored.roc_area_intervals(self.confidence, repeats)
                areas = np.array([interval.value for interval in bounds.values()])
        return {
            "counts": counts,
            "errors": errors,
            "roc_areas": areas,
            "scored": scored is not None,
            "priors": priors,
            "prior_errors": prior_errors(errors, priors),
            "preferences": self.preferences,
            "arrays": self.arrays,
            "pos_label": self.pos_label,
            "intervals": self._intervals(evidence, bounds),
            "evidence": evidence,
            "votes": None if scored is None else scored.votes(),
        }

    def _intervals(self, evidence: Evidence, roc_areas: Mapping[Label, Interval] | None) -> ReportIntervals | None:
        if self.confidence is None:
            return None
        options: dict[str, Any] = {"arrays": self.arrays, "confidence": self.confidence}
        return report_intervals(evidence, **options, roc_areas=roc_areas)
