"""The same decision period by period: what it reaches, what has changed since the reference, and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from compromis._results import Result
from compromis._text import Finding, Table, fixed, shown, uncapitalised
from compromis._typing import Floats, Ints, Label
from compromis.drift.anytime import SURE, AnytimeTests
from compromis.drift.prevalence import PrevalenceEstimate, from_predicted, prevalence_by_em
from compromis.errors import InputError
from compromis.evaluation.checks import Condition, State, condition_on_loss, conditions_of
from compromis.evaluation.evaluate import Evaluation
from compromis.evaluation.scoring import required_preferences
from compromis.evidence.counts import Counts
from compromis.labels import encode, positions_in, read_classes, read_labels
from compromis.measures.headline import Headline, headline_of
from compromis.measures.pragma import pragma
from compromis.measures.rates import precision, recall
from compromis.preferences import PreferenceArrays, Preferences
from compromis.uncertainty.draws import SEED
from compromis.uncertainty.intervals import read_confidence
from compromis.uncertainty.report_intervals import report_intervals
from compromis.uncertainty.verdict import Verdict, verdict_on
from compromis.weights.review import Reviewed

AGAIN = "search the weights again for these shares"
MOST = 4
"""The most classes whose shares the table shows."""


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Unlabelled:
    """A period without labels: how many rows were predicted as each class and, where there are probabilities, the shares by them.

    Parameters
    ----------
    y_pred : labels, or mapping of label to number of rows
        What was predicted.
    by_em : PrevalenceEstimate, optional
        The shares that `prevalence_by_em` estimates from the probabilities of the same rows.
    needs_review : array of bool, optional
        Which rows are sent to a person, as `Decision.decide` returns it.

    Examples
    --------
    >>> import compromis as cp
    >>> march = cp.drift.Unlabelled(["bad", "good", "good"])
    >>> march.classes, march.predicted.tolist()
    (('bad', 'good'), [1, 2])
    """

    classes: tuple[Label, ...]
    predicted: Ints
    """The rows predicted as each class."""
    by_em: PrevalenceEstimate | None
    reviewed: float | None
    """The share of rows sent to a person."""

    def __init__(
        self, y_pred: Any, *, by_em: PrevalenceEstimate | None = None, needs_review: ArrayLike | None = None
    ) -> None:
        if isinstance(y_pred, Mapping):
            classes, predicted = read_classes(y_pred), np.array([*y_pred.values()], dtype=np.int64)
        else:
            (codes,), classes = encode(read_labels(y_pred, "y_pred"))
            predicted = np.bincount(codes, minlength=len(classes))
        reviewed = None if needs_review is None else float(np.mean(np.asarray(needs_review, dtype=bool)))
        fields = {"classes": classes, "predicted": predicted, "by_em": by_em, "reviewed": reviewed}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_predictions(cls, y_pred: Any, reference: Counts, *, y_proba: Any = None) -> Unlabelled:
        """Count the predictions of a period by the classes of the reference; with probabilities, estimate its shares too.

        Examples
        --------
        >>> import compromis as cp
        >>> spring = cp.Counts.from_matrix([[950, 50], [10, 90]], ["good", "bad"])
        >>> cp.drift.Unlabelled.from_predictions(["bad", "good", "good"], spring).predicted.tolist()
        [2, 1]
        """
        positions = positions_in(y_pred, reference.classes, "prediction")
        rows = np.bincount(positions, minlength=len(reference.classes)).tolist()
        predicted = dict(zip(reference.classes, rows, strict=True))
        support = reference.support / reference.support.sum()
        if y_proba is None or not support.all():
            return cls(predicted)
        return cls(predicted, by_em=prevalence_by_em(y_proba, priors=support.tolist(), labels=reference.classes))

    def arranged_as(self, order: Sequence[Label]) -> Ints:
        """Return the rows predicted as each of the classes, which hold all that were predicted."""
        rows = dict(zip(self.classes, self.predicted.tolist(), strict=True))
        return np.array([rows.get(label, 0) for label in order], dtype=np.int64)


class Cause(StrEnum):
    """What differs from the reference beyond chance."""

    NOTHING = "nothing"
    SHARES = "shares"
    """The class shares only; without labels this is the assumption."""
    ROWS = "rows"
    """What the rows of a class are predicted as, which no class shares explain."""
    UNEXPLAINED = "unexplained"
    """Without labels: no class shares explain the decisions."""
    CONFLICTING = "conflicting"
    """Without labels: decisions and probabilities point to different class shares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The difference of a period from the reference."""

    cause: Cause
    classes: tuple[Label, ...]
    """Those whose rows are predicted differently, where that is the cause; else those whose shares moved most."""
    shares: tuple[tuple[float, float], ...]
    """The shares of these classes in the reference and in the period."""


@dataclass(frozen=True, kw_only=True)
class Period:
    """A period of a monitor; rates are NaN where undefined, and expected ones where there are no labels."""

    name: str
    rows: int
    labelled: bool
    shares: tuple[float, ...]
    bounds: tuple[tuple[float, float], ...] | None
    """The interval of each share where it is estimated."""
    loss_expected: float
    """The loss of the reference at these shares; a loss far above it means that more has changed."""
    recall: tuple[float, ...]
    precision: tuple[float, ...]
    verdict: Verdict
    max_loss: float | None
    """The largest loss that meets the preferences."""
    conditions: tuple[Condition, ...]
    """Each constraint (and the largest loss), with the interval of what was reached; no interval where shares are estimated."""
    change: Change
    headline: Headline | None
    """What happens to the rows of the classes that matter; None without labels."""
    reviewed: float | None = None
    """The share of rows that a person looks at, where it is known."""
    review_cap: float | None = None
    """The largest share that the reference planned, where the period is above it beyond chance."""

    @property
    def state(self) -> State:
        """Whether the period surely meets the preferences, surely misses them, or has too few rows to tell."""
        states = [condition.state for condition in self.conditions]
        if State.MISSED in states or (self.verdict.state == "no better" and not self.verdict.cause.single_class):
            return State.MISSED
        sure = self.verdict.state == "better" and all(state is State.MET for state in states)
        return State.MET if sure and self.labelled else State.UNKNOWN

    @property
    def loss(self) -> float:
        """The loss of the period."""
        return self.verdict.loss

    @property
    def too_large(self) -> bool:
        """Whether the loss is above its maximum, or unknown."""
        return self.max_loss is not None and not self.loss <= self.max_loss

    @property
    def met(self) -> bool:
        """Whether the period meets the preferences; rows of one class cannot show that a model is better than none."""
        better = self.verdict.difference > 0 or self.verdict.cause.single_class
        return better and not self.verdict.constraints and not self.too_large

    @property
    def retune(self) -> bool:
        """Whether weights for these shares are what helps."""
        return not self.met and self.change.cause is Cause.SHARES

    @cached_property
    def missed(self) -> tuple[str, ...]:
        """What the period misses of the preferences, in sentences."""
        sentences = [str(missed) for missed in self.verdict.constraints]
        if self.too_large:
            sentences.append(f"the loss is {self.loss:.4f}, above your maximum of {self.max_loss:g}")
        return tuple(sentences) if sentences or self.met else (self.verdict.sentence,)

    @cached_property
    def advice(self) -> str:
        """What has changed and what to do about it, in one sentence; empty where there is nothing to say."""
        change = self.change
        pairs = zip(change.classes, change.shares, strict=True)
        moved = ", ".join(f"{label!r} {100 * before:.1f} % -> {100 * after:.1f} %" for label, (before, after) in pairs)
        match change.cause:
            case Cause.UNEXPLAINED:
                return "no class shares explain the decisions, so more than the shares has changed: label a sample of the rows"
            case Cause.CONFLICTING:
                return (
                    "decisions and probabilities point to different class shares, so more than the shares may have changed, "
                    "or the probabilities are not calibrated: label a sample of the rows"
                )
            case Cause.ROWS:
                met, missed = (
                    "the preferences are met all the same, look into it",
                    "tune or fit again on new labelled rows",
                )
                what = f"the rows of {shown(change.classes)} are predicted differently than in the reference"
                return f"{what}, which class shares do not explain: {met if self.met else missed}"
            case Cause.NOTHING:
                missed = "nothing has changed beyond chance: review the preferences, or gather more rows"
                return "" if self.met else missed
        if not self.labelled:
            missed = f"if only the class shares have changed ({moved}), {AGAIN}; label a sample to be sure"
            return "" if self.met else missed
        what = f"the class shares have changed ({moved}), the rows of each class are predicted as before"
        return f"{what}: {'weights for these shares may do better' if self.met else AGAIN}"

    def document(self) -> dict[str, Any]:
        """Return what JSON holds of it."""
        numbers = ("name", "rows", "labelled", "shares", "bounds", "loss", "loss_expected", "recall", "precision")
        names = (*numbers, "met", "state", "missed", "advice", "retune")
        conditions = [{"name": one.name, **asdict(one), "state": one.state} for one in self.conditions]
        review: dict[str, Any] = {}
        if self.reviewed is not None:
            review = {"reviewed": self.reviewed, "above_review_cap": self.review_cap is not None}
        headline = None if self.headline is None else self.headline.document()
        numbers_of = {name: getattr(self, name) for name in names} | review
        return numbers_of | {"headline": headline, "cause": self.change.cause, "conditions": conditions}


@dataclass(frozen=True, eq=False)
class Monitor(Result):
    """The periods of a decision, judged by what matters; ``str()`` is the report."""

    periods: tuple[Period, ...]
    """Rows, class shares, loss, rates, whether the preferences are met, and what to do, for each period."""
    classes: tuple[Label, ...]
    """The classes."""
    preferences: Preferences
    """What matters."""
    tests: AnytimeTests | None = None
    """The tests of the minima over all labelled rows so far, to be carried on; None without minima, or with sample weights."""

    schema = "compromis/monitor"

    def __repr__(self) -> str:
        return f"<Monitor of {len(self.periods)} periods, {len(self.classes)} classes>"

    @property
    def met(self) -> bool:
        """Whether the last period meets the preferences."""
        return self.periods[-1].met

    @property
    def verdict(self) -> Verdict:
        """The verdict on the last period."""
        return self.periods[-1].verdict

    @property
    def summary(self) -> dict[str, float]:
        """Rows, loss and expected loss of the last period."""
        last = self.periods[-1]
        return {"rows": last.rows, "loss": last.loss, "loss_expected": last.loss_expected}

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per period and class, column by column."""
        rows = [(period, k) for period in self.periods for k in range(len(self.classes))]
        columns: dict[str, list[Any]] = {
            name: [getattr(period, name) for period, _ in rows] for name in ("name", "rows", "labelled", "loss", "met")
        }
        columns["state"] = [str(period.state) for period, _ in rows]
        columns["label"] = [self.classes[k] for _, k in rows]
        for column, name in (("share", "shares"), ("recall", "recall"), ("precision", "precision")):
            columns[column] = [getattr(period, name)[k] for period, k in rows]
        return columns

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        periods = [period.document() for period in self.periods]
        tests = None if self.tests is None else {**self.tests.document(), "alarm": self.tests.alarm}
        return {**self.heading(), "classes": list(self.classes), "periods": periods, "tests": tests}

    def sentences(self) -> list[str]:
        """Return what is missed in the last period and in rows, what to do in each, then what the table means."""
        last, missed = self.periods[-1], sum(not period.met for period in self.periods)
        first = "your preferences are met in every period"
        if missed:
            told = f"missed in {missed} of {len(self.periods)} periods"
            first = f"period {last.name}: your preferences are {'met' if last.met else 'not met'} ({told})"
        sentences: list[str] = [Finding(first, "better" if last.met else "no better")]
        if last.headline is not None:
            sentences += [
                Finding(f"period {last.name}: {uncapitalised(one)}", "headline")
                for one in last.headline.sentences()[:1]
            ]
        sentences += (
            [] if self.tests is None else [Finding(str(test), "missed") for test in self.tests.tests if test.alarm]
        )
        for period in self.periods:
            if not period.met:
                sure = ", though these rows do not make it sure" if period.state is State.UNKNOWN else ""
                sentences.append(Finding(f"period {period.name}: not met{sure}: {'; '.join(period.missed)}", "missed"))
            if period.advice:
                sentences.append(f"period {period.name}: {period.advice}")
            if period.reviewed is not None and period.review_cap is not None:
                sent, cap = 100 * period.reviewed, 100 * period.review_cap
                sentences.append(
                    f"period {period.name}: {sent:.3g} % of rows are to review, above the cap of {cap:g} % beyond chance: plan the "
                    f"review again on new labelled rows"
                )
        notes = ["Expected: what the reference loses at these class shares"]
        if not all(period.labelled for period in self.periods):
            notes.append("* without labels: shares estimated from the decisions, loss if only the shares have changed")
        followed = [] if self.tests is None else [str(test) for test in self.tests.tests if not test.alarm]
        return [*sentences, *followed, *(Finding(note, "small") for note in notes)]

    def tables(self) -> list[Table]:
        """Return the periods; with many classes the shares of those that moved most."""
        shares = np.array([period.shares for period in self.periods])
        moved = np.argsort(-(shares.max(axis=0) - shares.min(axis=0)), kind="stable")[:MOST]
        chosen = range(len(self.classes)) if len(self.classes) <= MOST else sorted(moved.tolist())
        judged, rows = self._judged(), []
        reviewed = any(period.reviewed is not None for period in self.periods)
        for period in self.periods:
            mark = "" if period.labelled else "*"
            losses = [fixed(period.loss, 4) + mark, fixed(period.loss_expected, 4)]
            cells = [fixed(rates[k]) + mark for k in judged for rates in (period.recall, period.precision)]
            cells += [f"{100 * period.shares[k]:.2f} %{mark}" for k in chosen]
            if reviewed:
                cells.append("" if period.reviewed is None else f"{100 * period.reviewed:.2f} %")
            judgement = ["met" if period.met else "NOT MET", str(period.state)]
            rows.append([period.name, f"{period.rows:,}", *judgement, *losses, *cells])
        names = [f"{rate} of {self.classes[k]}" for k in judged for rate in ("Recall", "Precision")]
        names += [f"Share of {self.classes[k]}" for k in chosen]
        names += ["To review"] if reviewed else []
        return [Table("", ["Period", "Rows", "Preferences", "By intervals", "Loss", "Expected", *names], rows)]

    def _judged(self) -> list[int]:
        """Return the classes whose rates the table shows: those with constraints or the highest importance."""
        importance = [self.preferences.of(label).importance for label in self.classes]
        asked = {one.label for period in self.periods for one in period.conditions}
        matter = [
            k
            for k, label in enumerate(self.classes)
            if label in asked or min(importance) < importance[k] == max(importance)
        ]
        return matter[:MOST]


def monitor(
    periods: Mapping[str, Counts | Evaluation | Unlabelled | Reviewed],
    *,
    preferences: Preferences | Mapping[Any, Any],
    reference: Counts | Evaluation | None = None,
    max_loss: float | None = None,
    confidence: float = 0.95,
    tests: AnytimeTests | None = None,
) -> Monitor:
    """Judge the same decision period by period, and say what to do where the preferences are no longer met.

    Parameters
    ----------
    periods : mapping of name to Counts, Evaluation, Unlabelled or Reviewed
        In the order of time: true against predicted classes, or decisions without labels.
    preferences : Preferences
        What matters; minima are what a period can miss.
    reference : Counts or Evaluation, optional
        The rows on which the decision was tuned or accepted; without it the first period with labels.
    max_loss : float, optional
        The largest loss that still meets the preferences.
    confidence : float
        The confidence of estimated class shares, and of the intervals that tell what is surely met or missed.
    tests : AnytimeTests, optional
        The ``tests`` of an earlier result, to carry on. Tests of the minima run over all labelled periods but the reference; one may
        look at them as often as one likes, and all together raise a false alarm in at most 1 % of streams, however long.

    Notes
    -----
    A period meets the preferences if every minimum is met, the loss is at most `max_loss`, and no decision without a model does as
    well. New class shares change precision but not what the rows of one class are predicted as: tests of independence tell the
    two apart, by chi-squared or, where few rows are expected, by random tables. Without labels the shares are estimated from the
    decisions, and the numbers are those of the reference at these shares.

    Examples
    --------
    >>> import compromis as cp
    >>> spring = cp.Counts.from_matrix([[950, 50], [10, 90]], ["good", "bad"])
    >>> autumn = cp.Counts.from_matrix([[1900, 100], [2, 18]], ["good", "bad"])
    >>> preferences = cp.Preferences({"bad": cp.Preference(10, min_precision=0.5)}, metric="f")
    >>> result = cp.monitor({"spring": spring, "autumn": autumn}, preferences=preferences)
    >>> [period.met for period in result.periods]
    [True, False]
    >>> print(result.periods[1].advice)
    the class shares have changed ('bad' 9.1 % -> 1.0 %), the rows of each class are predicted as before:
    search the weights again for these shares
    """
    if not isinstance(periods, Mapping) or not periods:
        raise InputError("periods maps names to Counts, Evaluation or Unlabelled, and holds at least one")
    wanted = required_preferences(preferences)
    level = read_confidence(confidence)
    counted = {name: _counted(period) for name, period in periods.items()}
    labelled = (period for period in counted.values() if isinstance(period, Counts))
    first = next(labelled, None) if reference is None else _counted(reference)
    if not isinstance(first, Counts):
        raise InputError("no period has labels, so nothing is known of the decision's errors; give reference=")
    arrays = wanted.on(first.classes)
    judged = [_period(name, period, first, arrays, max_loss, level) for name, period in counted.items()]
    planned = next((one for one in (reference, *periods.values()) if isinstance(one, Reviewed)), None)
    judged = [_with_review(period, periods[name], planned) for period, name in zip(judged, counted, strict=True)]
    fresh = {name: period for name, period in counted.items() if period is not first}
    return Monitor(tuple(judged), first.classes, wanted, _tested(tests, fresh, arrays))


def _tested(
    tests: AnytimeTests | None, periods: Mapping[str, Counts | Unlabelled], arrays: PreferenceArrays
) -> AnytimeTests | None:
    """Return the tests after the labelled periods; None where there is nothing to test, or rows are weighed."""
    labelled = {name: period for name, period in periods.items() if isinstance(period, Counts)}
    weighed = any(period.matrix.dtype.kind == "f" for period in labelled.values())
    if tests is None and (weighed or not arrays.has_minimum.any()):
        return None
    carried = AnytimeTests.on(arrays) if tests is None else tests.check_for(arrays)
    for name, period in labelled.items():
        carried = carried.after(str(name), period)
    return carried


def _with_review(period: Period, given: Any, planned: Reviewed | None) -> Period:
    """Return the period with the share sent to a person, and the cap where that is above it beyond chance."""
    share = given.share if isinstance(given, Reviewed) else getattr(given, "reviewed", None)
    if share is None:
        return period
    rows = given.rows if isinstance(given, Reviewed) else period.rows
    cap = None if planned is None or planned.review is None else planned.review.share
    above = cap is not None and binom.sf(round(share * rows) - 1, rows, cap) < SURE
    return replace(period, reviewed=share, review_cap=cap if above else None)


def _counted(period: Any) -> Counts | Unlabelled:
    if isinstance(period, (Evaluation, Reviewed)):  # the rows that a person looks at count as right
        period = period.counts
    if isinstance(period, Counts) and period.strata is not None:
        raise InputError(
            "periods are compared by rows of equal chances, which those of a planned sample had not; evaluate the sample of each period, "
            "or label rows drawn at random",
            "periods",
        )
    if isinstance(period, (Counts, Unlabelled)):
        return period
    raise InputError(
        f"a period is compromis.Counts, an Evaluation or compromis.drift.Unlabelled, got {type(period).__name__}"
    )


def _period(
    name: str,
    given: Counts | Unlabelled,
    reference: Counts,
    arrays: PreferenceArrays,
    max_loss: float | None,
    level: float,
) -> Period:
    unknown = [label for label in given.classes if label not in reference.classes]
    if unknown:
        raise InputError(f"period {name!r} has the classes {shown(unknown)}, which the reference has not")
    estimate = None
    if isinstance(given, Unlabelled):
        estimate = from_predicted(given.arranged_as(reference.classes), reference, level)
        counts = reference.with_prevalence(estimate.shares.tolist())
        change = _change_without_labels(reference, counts, estimate, given.by_em)
    else:
        counts = given.arranged_as(reference.classes)
        change = change_between(reference, counts)
    shares = _shares(counts).tolist()
    verdict = verdict_on(counts, arrays)
    return Period(
        name=str(name),
        rows=counts.rows if estimate is None else estimate.rows,
        labelled=estimate is None,
        shares=tuple(shares),
        bounds=None if estimate is None else tuple((share.low, share.high) for share in estimate.intervals),
        loss_expected=pragma(reference.with_prevalence(shares), arrays).total,
        recall=tuple(recall(counts).tolist()),
        precision=tuple(precision(counts).tolist()),
        verdict=verdict,
        max_loss=max_loss,
        conditions=_conditions(counts, arrays, max_loss, None if estimate is not None else level),
        change=change,
        headline=None if estimate is not None else headline_of(counts, arrays, state=verdict.state),
    )


def _conditions(
    counts: Counts, arrays: PreferenceArrays, max_loss: float | None, level: float | None
) -> tuple[Condition, ...]:
    """Return the conditions of a period, with intervals of that level where there is one."""
    if level is None:
        per_class, loss = {}, None
    else:
        intervals = report_intervals(counts, arrays=arrays, confidence=level)
        per_class, loss = dict(intervals.per_class), intervals.summary["loss"]
    conditions = conditions_of(counts, arrays, per_class)
    if max_loss is None:
        return conditions
    return (*conditions, condition_on_loss(pragma(counts, arrays).total, max_loss, loss))


def change_between(reference: Counts, counts: Counts) -> Change:
    """Compare counts of the same classes: the class totals, and what the rows of each class are predicted as.

    Notes
    -----
    One test for each class and one for the totals, each at the level SURE / (K + 1), so that all together raise a false alarm in at most
    a share SURE of the periods.
    """
    before, after = _effective(reference), _effective(counts)
    limit = SURE / (len(counts.classes) + 1)
    differing = [k for k in range(len(counts.classes)) if _p_value(before[k], after[k], limit) < limit]
    if differing:
        return _change(Cause.ROWS, reference, counts, differing)
    moved = _p_value(before.sum(axis=1), after.sum(axis=1), limit) < limit
    return _change(Cause.SHARES if moved else Cause.NOTHING, reference, counts)


def _change_without_labels(
    reference: Counts, counts: Counts, estimate: PrevalenceEstimate, by_em: PrevalenceEstimate | None
) -> Change:
    cause = Cause.SHARES
    if not estimate.plausible:
        cause = Cause.UNEXPLAINED
    elif by_em is not None and any(
        first.low > second.high or second.low > first.high
        for first, second in zip(estimate.intervals, by_em.intervals, strict=True)
    ):
        cause = Cause.CONFLICTING
    return _change(cause, reference, counts)


def _change(cause: Cause, reference: Counts, counts: Counts, chosen: Sequence[int] | None = None) -> Change:
    before, after = _shares(reference), _shares(counts)
    if chosen is None:  # the share of the other of two classes adds nothing
        order = np.argsort(-np.abs(np.log((after + 1e-9) / (before + 1e-9))), kind="stable")
        chosen = order[: 1 if len(before) == 2 else 3].tolist()
    shares = tuple((float(before[k]), float(after[k])) for k in chosen)
    return Change(cause=cause, classes=tuple(counts.classes[k] for k in chosen), shares=shares)


def _shares(counts: Counts) -> Floats:
    shares: Floats = counts.support / counts.support.sum()
    return shares


def _effective(counts: Counts) -> Floats:
    """Return counts scaled to the effective number of rows: weighted rows count as fewer unweighted ones."""
    cells = counts.matrix.astype(np.float64)
    if counts.squares is None or not counts.squares.sum() > 0:
        return cells
    scaled: Floats = cells * (cells.sum() / counts.squares.sum())
    return scaled


FEWEST = 5.0
"""Expected rows from which on a cell's count is as good as normal; the tail of chi-squared with fewer is too thin."""
MOST_ROWS = 5e8
"""Rows of a random table: numpy draws up to 1e9."""


def _p_value(first: Floats, second: Floats, limit: float) -> float:
    """The chance of so large a difference if there were none, exact enough to compare with `limit`; 1 where nothing can differ."""
    from scipy.stats import chi2_contingency
    from scipy.stats.contingency import expected_freq

    counts = np.array([first, second])
    counts = counts[:, counts.sum(axis=0) > 0]
    if counts.shape[1] < 2 or not counts.sum(axis=1).all():
        return 1.0
    if expected_freq(counts).min() >= FEWEST:
        return float(chi2_contingency(counts).pvalue)
    return _simulated_p_value(counts, limit)


def _simulated_p_value(counts: Floats, limit: float) -> float:
    """The same from random tables with both margins fixed; a difference that is plainly chance ends the draws early."""
    counts = np.rint(counts / max(1.0, counts.sum() / MOST_ROWS)).astype(np.int64)
    counts = counts[:, counts.sum(axis=0) > 0]
    columns, rng = counts.sum(axis=0), np.random.default_rng(SEED)
    rows, part = counts[0].sum(), columns / columns.sum()
    observed = (((counts[0] - rows * part) ** 2) / part).sum()  # chi-squared but for a factor
    above = drawn = 0
    while drawn < 4 / limit and above < 10:
        table = rng.multivariate_hypergeometric(columns, rows, 500)
        above += int(((((table - rows * part) ** 2) / part).sum(axis=1) >= observed * (1 - 1e-9)).sum())
        drawn += len(table)
    return (above + 1) / (drawn + 1)
