"""A check of constraints: passed when each is met."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from compromis._results import Result, Table, columns_of
from compromis._text import shown_label
from compromis._typing import Label
from compromis.errors import InputError
from compromis.evaluation.evaluate import Evaluation, Summary
from compromis.uncertainty.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A bound on a class's rate (or the largest loss), what was reached, and whether that is enough."""

    rate: str
    """What is bounded: precision or recall, at least; share predicted or loss, at most."""
    label: Label | None = None
    """The class; None for the loss."""
    reached: float
    bound: float
    passed: bool

    @property
    def name(self) -> str:
        """What is bounded, in words."""
        return self.rate if self.label is None else f"{self.rate} of {self.label!r}"

    @property
    def asked(self) -> str:
        """The bound, in words."""
        return f"{'at least' if self.rate in ('precision', 'recall') else 'at most'} {self.bound:g}"


@dataclass(frozen=True, eq=False)
class Check(Result):
    """The conditions of preferences, checked one by one; ``str()`` is a line for each."""

    evaluation: Evaluation
    """What was checked."""
    conditions: tuple[Condition, ...]
    """Each minimum of a class that occurs, each capacity, and the largest loss where one is given."""

    schema = "compromis/check"

    @property
    def passed(self) -> bool:
        """Whether every condition is met."""
        return all(condition.passed for condition in self.conditions)

    @property
    def summary(self) -> Summary:
        """The numbers of the evaluation."""
        return self.evaluation.summary

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of the evaluation."""
        return self.evaluation.verdict

    def __str__(self) -> str:
        lines = [
            f"{'ok    ' if condition.passed else 'MISSED'}  {shown_label(condition.name)}: {condition.reached:.4f}, {condition.asked}"
            for condition in self.conditions
        ]
        missed = sum(not condition.passed for condition in self.conditions)
        end = "passed" if self.passed else f"failed: {missed} of {len(lines)} {'is' if missed == 1 else 'are'} missed"
        return "\n".join([*lines, f"The check of {self.evaluation.counts.rows:,} rows {end}."])

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, the evaluation included."""
        conditions = [{"name": condition.name, **asdict(condition)} for condition in self.conditions]
        return {
            **self.heading(),
            "passed": self.passed,
            "conditions": conditions,
            "evaluation": self.evaluation.document(),
        }

    def columns(self) -> dict[str, list[Any]]:
        """Return the conditions, column by column."""
        return columns_of(self.conditions, Condition)

    def sentences(self) -> list[str]:
        """Return whether the check passed."""
        return [f"compromis check: {'passed' if self.passed else 'failed'}", *self.evaluation.sentences()]

    def tables(self) -> list[Table]:
        """Return the conditions, then the tables of the evaluation."""
        rows = [
            [condition.name, f"{condition.reached:.4f}", condition.asked, "met" if condition.passed else "MISSED"]
            for condition in self.conditions
        ]
        return [Table("Conditions", ["Condition", "Reached", "Asked", "State"], rows), *self.evaluation.tables()]


def check(evaluation: Evaluation, *, max_loss: float | None = None) -> Check:
    """Check an evaluation against the constraints of its preferences.

    Parameters
    ----------
    evaluation : Evaluation
        With preferences that set at least one constraint, unless `max_loss` is given.
    max_loss : float, optional
        The largest loss to accept.

    Notes
    -----
    The minima of a class that does not occur in the rows are not checked; a class that is never predicted has precision 0. A rate
    beyond its bound by rounding alone meets it.

    Examples
    --------
    >>> import compromis as cp
    >>> preferences = cp.Preferences({"bad": cp.Preference(10, min_recall=0.9)})
    >>> result = cp.evaluate(["bad", "bad", "good", "good"], ["bad", "good", "good", "good"], preferences=preferences)
    >>> print(cp.check(result))
    MISSED  recall of 'bad': 0.5000, at least 0.9
    The check of 4 rows failed: 1 of 1 is missed.
    """
    verdict, loss = evaluation.verdict, evaluation.summary.loss
    if verdict is None or loss is None:
        raise InputError("a check needs preferences: evaluate with preferences=")
    conditions = list(_constraints(evaluation, verdict))
    if max_loss is not None:
        passed = bool(loss <= max_loss)
        conditions.append(Condition(rate="loss", reached=loss, bound=float(max_loss), passed=passed))
    if not conditions:
        raise InputError(
            "the preferences set no constraint for a class of these rows, so nothing could be missed; "
            "set min_precision, min_recall or max_share"
        )
    return Check(evaluation, tuple(conditions))


def _constraints(evaluation: Evaluation, verdict: Verdict) -> Iterator[Condition]:
    """Yield the conditions of each class, precision first; minima only of those that occur."""
    arrays = evaluation.arrays
    assert arrays is not None
    missed = {(missed.label, missed.rate): missed for missed in verdict.constraints}
    for k, (label, row) in enumerate(evaluation.per_class.items()):
        for rate, minimum in (("precision", arrays.min_precision[k]), ("recall", arrays.min_recall[k])):
            if minimum > 0 and row.support > 0:
                short = missed.get((label, rate))
                reached = getattr(row, rate) if short is None else short.value
                yield Condition(
                    rate=rate, label=label, reached=float(reached), bound=float(minimum), passed=short is None
                )
        if arrays.max_share[k] < 1:
            yield Condition(
                rate="share predicted",
                label=label,
                reached=row.share_predicted,
                bound=float(arrays.max_share[k]),
                passed=(label, "share_predicted") not in missed,
            )
