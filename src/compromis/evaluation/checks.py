"""A check of constraints: which are met, and which of that is sure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from compromis._results import Result, columns_of
from compromis._text import Finding, Table, bounds
from compromis._typing import Label
from compromis.errors import InputError
from compromis.evaluation.evaluate import Evaluation, Summary
from compromis.evidence.counts import Counts
from compromis.measures.by_group import each_alone
from compromis.measures.pragma import missed_constraints
from compromis.measures.rates import class_rates
from compromis.preferences import PreferenceArrays
from compromis.uncertainty.intervals import Interval
from compromis.uncertainty.report_intervals import ReportIntervals, report_intervals
from compromis.uncertainty.verdict import Verdict


class State(StrEnum):
    """On which side of its bound the interval of a number lies."""

    MET = "surely met"
    UNKNOWN = "not told apart"
    MISSED = "surely missed"


FAIL_ON = ("missed", "surely-missed")
"""When a check fails: where a number misses its bound, or only where its whole interval does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A bound of a class's rate (or of the loss), what was reached, and whether that is enough."""

    rate: str
    """What is bounded: precision or recall, at least; loss or share predicted, at most."""
    label: Label | None = None
    """The class; None for the loss."""
    reached: float
    bound: float
    passed: bool
    low: float = math.nan
    high: float = math.nan
    """The confidence interval of what was reached; NaN where there is none."""
    group: Label | None = None
    """The group that it is of, where the minima must hold in each."""

    @property
    def name(self) -> str:
        """What is bounded, in words."""
        between = " of " if self.is_minimum else " "  # shorter: a table cuts long names in their middle
        of = self.rate if self.label is None else f"{self.rate}{between}{self.label!r}"
        return of if self.group is None else f"{self.group}: {of}"

    @property
    def is_minimum(self) -> bool:
        """Whether the bound is the least that is asked for."""
        return self.rate in ("precision", "recall")

    @property
    def asked(self) -> str:
        """The bound, in words."""
        return f"{'at least' if self.is_minimum else 'at most'} {self.bound:g}"

    @property
    def state(self) -> State:
        """Whether the condition is surely met, surely missed, or these rows do not tell."""
        low, high = (self.low, self.high) if self.is_minimum else (-self.high, -self.low)
        bound = self.bound if self.is_minimum else -self.bound
        if low >= bound:
            return State.MET
        return State.MISSED if high < bound else State.UNKNOWN

    @property
    def interval(self) -> Interval:
        """What was reached, with its interval."""
        return Interval(self.reached, self.low, self.high)


@dataclass(frozen=True, eq=False, kw_only=True)
class Check(Result):
    """The conditions of preferences, checked one by one; ``str()`` is a line for each."""

    evaluation: Evaluation
    """What was checked."""
    conditions: tuple[Condition, ...]
    """Each minimum of a class that occurs, each capacity, and the largest loss where one is given."""
    intervals: ReportIntervals
    """The intervals that tell what is sure."""
    fail_on: str = "missed"
    """Whether a condition that is missed fails the check, or only one that is surely missed."""

    schema = "compromis/check"

    def __repr__(self) -> str:
        return f"<Check of {len(self.conditions)} conditions on {self.evaluation!r}>"

    @property
    def passed(self) -> bool:
        """Whether no condition fails the check."""
        return not any(map(self._fails, self.conditions))

    @property
    def summary(self) -> Summary:
        """The numbers of the evaluation."""
        return self.evaluation.summary

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of the evaluation."""
        return self.evaluation.verdict

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, the evaluation included."""
        conditions = [{"name": item.name, **asdict(item), "state": item.state} for item in self.conditions]
        return {
            **self.heading(),
            "passed": self.passed,
            "fail_on": self.fail_on,
            "confidence": self.intervals.confidence,
            "conditions": conditions,
            "evaluation": self.evaluation.document(),
        }

    def columns(self) -> dict[str, list[Any]]:
        """Return the conditions, column by column."""
        return columns_of(self.conditions, Condition) | {"state": [str(item.state) for item in self.conditions]}

    def sentences(self) -> list[str]:
        """Return whether the check passed, then what the evaluation says."""
        failed, asked = sum(map(self._fails, self.conditions)), len(self.conditions)
        how = "missed" if self.fail_on == "missed" else "surely missed"
        number = f"{failed or 'none'} of {asked} conditions {'are' if failed > 1 else 'is'} {how}"
        told = number if asked > 1 else f"the condition is {how if failed else f'not {how}'}"
        first = f"check {'failed' if failed else 'passed'}: {told}"
        headline, *others = self.evaluation.sentences()
        return [Finding(first, "better" if self.passed else "no better"), headline, *others]

    def tables(self) -> list[Table]:
        """Return the conditions, then the tables of the evaluation, folded."""
        level = f"{100 * self.intervals.confidence:g} % interval"
        rows = [
            [
                item.name,
                f"{item.reached:.4f}",
                f"{'>=' if item.is_minimum else '<='} {item.bound:g}",
                "met" if item.passed else "MISSED",
                bounds(item.interval),
                str(item.state),
            ]
            for item in self.conditions
        ]
        conditions = Table("", ["Condition", "Reached", "Asked", "State", level, "By interval"], rows)
        return [conditions, *(table._replace(folded=True) for table in self.evaluation.tables())]

    def _fails(self, condition: Condition) -> bool:
        return not condition.passed if self.fail_on == "missed" else condition.state is State.MISSED


def check(
    evaluation: Evaluation, *, max_loss: float | None = None, confidence: float | None = None, fail_on: str = "missed"
) -> Check:
    """Check an evaluation against the constraints of its preferences.

    Parameters
    ----------
    evaluation : Evaluation
        With preferences that set at least one constraint, unless `max_loss` is given.
    max_loss : float, optional
        The largest loss to accept.
    confidence : float, optional
        That of the intervals which tell what is sure; without it the evaluation's own intervals (which count groups), else 0.95.
    fail_on : {"missed", "surely-missed"}
        Whether a condition that is missed fails the check, or only one whose whole interval lies beyond the bound: 14 rows of a class
        are no reason to stop a release.

    Notes
    -----
    The minima of a class that does not occur in the rows are not checked; a class that is never predicted has precision 0. A rate
    beyond its bound by rounding alone meets it.

    Examples
    --------
    >>> import compromis as cp
    >>> preferences = cp.Preferences({"bad": cp.Preference(10, min_recall=0.9)})
    >>> result = cp.evaluate(["bad", "bad", "good", "good"], ["bad", "good", "good", "good"], preferences=preferences)
    >>> checked = cp.check(result)
    >>> checked.passed, checked.sentences()[0], checked.conditions[0].name
    (False, 'check failed: the condition is missed', "recall of 'bad'")
    """
    if evaluation.arrays is None or evaluation.summary.loss is None:
        raise InputError("a check needs preferences: evaluate with preferences=")
    if fail_on not in FAIL_ON:
        raise InputError(f"fail_on is {' or '.join(map(repr, FAIL_ON))}, got {fail_on!r}", "fail_on")
    intervals = evaluation.intervals
    if intervals is None or confidence is not None:
        level = 0.95 if confidence is None else confidence
        intervals = report_intervals(evaluation.counts, arrays=evaluation.arrays, confidence=level)
    conditions = conditions_of(evaluation.counts, evaluation.arrays, intervals.per_class)
    conditions += tuple(_in_groups(evaluation, intervals.confidence))
    if max_loss is not None:
        loss, interval = evaluation.summary.loss, intervals.summary["loss"]
        conditions += (condition_on_loss(loss, max_loss, interval),)
    if not conditions:
        raise InputError(
            "the preferences set no constraint for a class of these rows, so nothing could be missed; "
            "set min_precision, min_recall or max_share"
        )
    return Check(evaluation=evaluation, conditions=conditions, intervals=intervals, fail_on=fail_on)


def _in_groups(evaluation: Evaluation, confidence: float) -> Iterator[Condition]:
    """Yield the minima in each group, with intervals of its rows."""
    if evaluation.by is None or evaluation.arrays is None:
        return
    alone = each_alone(evaluation.arrays)
    for name, counts in evaluation.by.items():
        intervals = report_intervals(counts, arrays=alone, confidence=confidence)
        for condition in conditions_of(counts, alone, intervals.per_class):
            yield replace(condition, group=name)


def condition_on_loss(loss: float, most: float, interval: Interval | None) -> Condition:
    """Return the condition that the loss is at most so large."""
    unknown = interval or Interval(loss, math.nan, math.nan)
    passed = bool(loss <= most)
    return Condition(rate="loss", reached=loss, bound=float(most), passed=passed, low=unknown.low, high=unknown.high)


def conditions_of(
    counts: Counts, arrays: PreferenceArrays, intervals: Mapping[Label, Mapping[str, Interval]]
) -> tuple[Condition, ...]:
    """Return the conditions of each class, precision first; minima only of those that occur."""
    return tuple(_conditions(counts, arrays, intervals))


def _conditions(
    counts: Counts, arrays: PreferenceArrays, intervals: Mapping[Label, Mapping[str, Interval]]
) -> Iterator[Condition]:
    missed = {(missed.label, missed.rate): missed.value for missed in missed_constraints(counts, arrays)}
    asked_of = (
        ("precision", arrays.min_precision),
        ("recall", arrays.min_recall),
        ("share_predicted", arrays.max_share),
    )
    values = class_rates(counts)
    for k, label in enumerate(counts.classes):
        for rate, bound in asked_of:
            asked = bound[k] < 1 if rate == "share_predicted" else bound[k] > 0 and counts.support[k] > 0
            if not asked:
                continue
            reached = missed.get((label, rate), float(values[rate][k]))
            interval = intervals.get(label, {}).get(rate) or Interval(reached, math.nan, math.nan)
            yield Condition(
                rate=rate.replace("_", " "),
                label=label,
                reached=reached,
                bound=float(bound[k]),
                passed=(label, rate) not in missed,
                low=interval.low,
                high=interval.high,
            )
