"""A check of minima: passed when each is met."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from compromis._text import code, shown_label
from compromis._text import markdown_table as table
from compromis.errors import InputError
from compromis.evaluation.evaluate import Evaluation
from compromis.evaluation.render.json import write_json


@dataclass(frozen=True, slots=True)
class Condition:
    """One minimum (or the largest loss), what was reached, and whether that is enough."""

    name: str
    reached: float
    bound: float
    passed: bool


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """The conditions of preferences, checked one by one; ``str()`` is a line for each.

    Attributes
    ----------
    evaluation : Evaluation
        What was checked.
    conditions : tuple of Condition
        Each minimum of a class that occurs, and the largest loss where one is given.
    passed : bool
        Whether all are met.

    Examples
    --------
    >>> import compromis as cp
    >>> arrays = cp.Preferences({"bad": cp.Preference(10, min_recall=0.9)})
    >>> result = cp.evaluate(["bad", "bad", "good", "good"], ["bad", "good", "good", "good"], preferences=arrays)
    >>> checked = cp.check(result)
    >>> checked.passed, len(checked.conditions)
    (False, 1)
    """

    evaluation: Evaluation
    conditions: tuple[Condition, ...]

    @property
    def passed(self) -> bool:
        """Whether every condition is met."""
        return all(one.passed for one in self.conditions)

    def __str__(self) -> str:
        lines = [
            f"{'ok    ' if one.passed else 'MISSED'}  {shown_label(one.name)}: {one.reached:.4f}, {_bound(one)}"
            for one in self.conditions
        ]
        missed = sum(not one.passed for one in self.conditions)
        end = "passed" if self.passed else f"failed: {missed} of {len(lines)} {'is' if missed == 1 else 'are'} missed"
        return "\n".join([*lines, f"The check of {self.evaluation.counts.rows:,} rows {end}."])

    def to_markdown(self) -> str:
        """Return the conditions and the evaluation as GitHub-flavoured Markdown."""
        rows = [
            [code(one.name), f"{one.reached:.4f}", _bound(one), "met" if one.passed else "**missed**"]
            for one in self.conditions
        ]
        head = f"### compromis check: {'passed' if self.passed else 'failed'}"
        lines = [head, "", *table(["Condition", "Reached", "Asked", "State"], rows), ""]
        return "\n".join(lines) + "\n" + self.evaluation.to_markdown()

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the conditions and the evaluation as JSON; with `path`, write it there too, whole or not at all."""
        conditions: list[dict[str, Any]] = [
            {"name": one.name, "reached": one.reached, "bound": one.bound, "passed": one.passed}
            for one in self.conditions
        ]
        document = {"schema": "compromis/check", "version": 1, "passed": self.passed, "conditions": conditions}
        return write_json({**document, "evaluation": self.evaluation.document()}, path)


def check(evaluation: Evaluation, *, max_loss: float | None = None) -> Check:
    """Check an evaluation against the minima of its preferences.

    Parameters
    ----------
    evaluation : Evaluation
        With preferences that set at least one minimum, unless `max_loss` is given.
    max_loss : float, optional
        The largest loss to accept.

    Notes
    -----
    A class that does not occur in the rows asks for nothing; one that is never predicted has precision 0. A rate
    below its minimum by rounding alone meets it.

    Examples
    --------
    >>> import compromis as cp
    >>> arrays = cp.Preferences({"bad": cp.Preference(10, min_recall=0.9)})
    >>> result = cp.evaluate(["bad", "bad", "good", "good"], ["bad", "good", "good", "good"], preferences=arrays)
    >>> print(cp.check(result))
    MISSED  recall of 'bad': 0.5000, at least 0.9
    The check of 4 rows failed: 1 of 1 is missed.
    """
    arrays, verdict = evaluation.arrays, evaluation.verdict
    if arrays is None or verdict is None:
        raise InputError("a check needs preferences: evaluate with preferences=")
    missed = {(one.label, one.rate): one for one in verdict.shortfalls}
    conditions = []
    for k, (label, one) in enumerate(evaluation.per_class.items()):
        for rate, floor in (("precision", arrays.min_precision[k]), ("recall", arrays.min_recall[k])):
            if floor > 0 and one.support > 0:
                short = missed.get((label, rate))
                reached = getattr(one, rate) if short is None else short.value
                conditions.append(Condition(f"{rate} of {label!r}", float(reached), float(floor), short is None))
    if max_loss is not None:
        conditions.append(Condition("loss", verdict.loss, float(max_loss), bool(verdict.loss <= max_loss)))
    if not conditions:
        raise InputError(
            "the preferences set no minimum for a class of these rows, so nothing could be missed; set min_precision or min_recall"
        )
    return Check(evaluation, tuple(conditions))


def _bound(condition: Condition) -> str:
    return f"{'at most' if condition.name == 'loss' else 'at least'} {condition.bound:g}"
