"""A panel of prompts, models or trees that vote: which members earn their cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from compromis._results import Result
from compromis._text import Table, bounds, fixed, shown
from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.estimators.tuning import predicted_by_others, share_out
from compromis.evidence.answers import AnswerMapping, read_answers
from compromis.evidence.counts import Counts
from compromis.evidence.paired import PairedCounts
from compromis.evidence.readers import read_class_numbers
from compromis.evidence.scores import as_dense, check_order_is_said, check_scores, column_labels, read_scores
from compromis.evidence.votes import Votes
from compromis.labels import by_label, encode, read_labels
from compromis.measures.pragma import pragma
from compromis.preferences import PreferenceArrays, Preferences
from compromis.uncertainty.intervals import Interval, read_confidence
from compromis.uncertainty.paired_tests import Difference, compare_paired
from compromis.uncertainty.verdict import Verdict, verdict_on
from compromis.weights.problem import SearchProblem
from compromis.weights.sweep import Sweep


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of a committee, judged by what the others lose without it."""

    name: Label
    alone: float
    """The loss of its own votes, tuned without the others."""
    without: float
    """The loss of the committee without it."""
    gain: Interval
    """What the committee loses more without it, with its interval; below 0 where the others do better alone."""
    cost: float | None
    """What its answer for a row costs."""

    @property
    def state(self) -> str:
        """Whether the committee is ``"better with"`` it or ``"better without"`` it, or ``"not told apart"``."""
        if not self.gain.low <= 0 <= self.gain.high:
            return "better with" if self.gain.value > 0 else "better without"
        return "not told apart"


@dataclass(frozen=True, eq=False, kw_only=True)
class Committee(Result):
    """Which members of a committee earn their cost, made by `evaluate_members`."""

    members: tuple[Member, ...]
    counts: Counts
    """What all members together predict, each part of the rows by weights searched on the others."""
    arrays: PreferenceArrays
    confidence: float

    schema = "compromis/committee"

    @property
    def loss(self) -> float:
        """The loss of all members together on rows that did not choose the weights."""
        return float(pragma(self.counts, self.arrays).total)

    @property
    def cost(self) -> float | None:
        """What the answers of all members for a row cost."""
        costs = [member.cost for member in self.members if member.cost is not None]
        return sum(costs) if costs else None

    @property
    def summary(self) -> dict[str, float]:
        """Rows, loss, and cost of a row where costs are known."""
        return {"rows": self.counts.rows, "loss": self.loss, **({} if self.cost is None else {"cost": self.cost})}

    @cached_property
    def verdict(self) -> Verdict:
        """Whether the committee is better than no model."""
        return verdict_on(self.counts, self.arrays, rows="cross-fitted")

    def in_state(self, state: str) -> tuple[Label, ...]:
        """Return the members in a state; see `Member`."""
        return tuple(member.name for member in self.members if member.state == state)

    def columns(self) -> dict[str, list[Any]]:
        """Return the numbers of each member, column by column."""
        members = self.members
        return {
            "member": [member.name for member in members],
            "alone": [member.alone for member in members],
            "without": [member.without for member in members],
            "gain": [member.gain.value for member in members],
            "low": [member.gain.low for member in members],
            "high": [member.gain.high for member in members],
            "cost": [member.cost for member in members],
            "state": [member.state for member in members],
        }

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        members = [{**asdict(member), "state": member.state} for member in self.members]
        verdict = {"state": self.verdict.state, "sentence": str(self.verdict)}
        return {
            **self.heading(),
            "confidence": self.confidence,
            "summary": self.summary,
            "members": members,
            "verdict": verdict,
        }

    def sentences(self) -> list[str]:
        """Return the loss of all members, who is needed and who is not, and the verdict."""
        paid = "" if self.cost is None else f" and {self.cost:g} a row"
        sentences = [
            f"loss {self.loss:.4f}{paid} with all {len(self.members)} members, on rows that did not choose the weights"
        ]
        told = {
            "better with": "the committee loses more without {}",
            "better without": "the committee loses less without {}",
            "not told apart": "these rows do not tell whether {} earns its cost",
        }
        for state, sentence in told.items():
            if names := self.in_state(state):
                each = ", each alone" if len(names) > 1 else ""
                sentences.append(sentence.format(shown(names)) + each)
        if len(self.in_state("not told apart")) > 1:
            sentences.append("members may stand in for each other: leave out one, the dearest first, and ask again")
        return [*sentences, f"verdict: {self.verdict}"]

    def tables(self) -> list[Table]:
        """Return the members in their order."""
        level = f"{100 * self.confidence:g} % interval"
        header = ["Member", "Loss alone", "Loss without", "Gain", level, "Cost", "Committee is"]
        rows = [
            [
                str(one.name),
                fixed(one.alone, 4),
                fixed(one.without, 4),
                fixed(one.gain.value, 4),
                bounds(one.gain),
                "" if one.cost is None else f"{one.cost:g}",
                one.state,
            ]
            for one in self.members
        ]
        return [Table(f"Members, on {self.counts.rows:,} rows", header, rows)]


def evaluate_members(
    y_true: Any,
    members: Any,
    *,
    preferences: Preferences | Mapping[Any, Any] | None = None,
    labels: Sequence[Any] | None = None,
    costs: Mapping[Any, float] | None = None,
    mapping: AnswerMapping | None = None,
    smoothing: float = 0.5,
    confidence: float = 0.95,
    random_state: int = 0,
) -> Committee:
    """Say which members of a committee of prompts, models or trees earn their cost.

    Parameters
    ----------
    y_true : labels
        The true class of each row.
    members : mapping of name to votes, or frame
        Of each member one answer (or several) in words for each row, or a matrix of probabilities or votes, a column per class. A frame
        has a column of answers for each member.
    preferences : Preferences or mapping by class, optional
        What matters; without it every class alike.
    labels : sequence, optional
        The classes in the order of the columns of matrices; without it those of `y_true`, sorted.
    costs : mapping of name to number, optional
        What a member's answer for a row costs.
    mapping
        What texts mean, as in `Votes.from_answers`.
    smoothing : float
        Added to the votes of every class, of which each member has one.
    confidence : float
        The confidence of the intervals.
    random_state : int
        The seed of the parts.

    Returns
    -------
    Committee
        Of each member the loss of its votes alone, the loss without it, and what it gains the others, with its interval.

    Notes
    -----
    All members' votes are added up. Each fifth of the rows is predicted by weights searched on the other four, once with all members and
    once without each; both predictions of a row are compared in pairs. A row that nobody votes in has a vote for every class. Members are
    judged one at a time: of two that always agree neither is needed, of both one is.

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.choice(["bug", "feature"], 400)
    >>> says = lambda right: np.where(rng.random(400) < right, truth, rng.choice(["bug", "feature"], 400))
    >>> panel = {"long prompt": says(0.8), "short prompt": says(0.3), "coin": says(0.0)}
    >>> committee = cp.model_selection.evaluate_members(truth, panel, costs={"long prompt": 3, "short prompt": 1, "coin": 1})
    >>> committee.in_state("better with"), committee.cost
    (('long prompt',), 5.0)
    """
    level = read_confidence(confidence)
    column = read_labels(y_true, "y_true")
    _, classes = encode(column, labels=labels)
    votes = _votes_of(members, classes, len(column), mapping, labels)
    paid = None if costs is None else _paid(costs, tuple(votes))
    whole = reduce(add, votes.values())
    rows = Votes.from_proba(y_true, _answered(whole), labels=classes, merge=False)
    problem = SearchProblem.read(rows, preferences, smoothing=smoothing, max_ratio=None)
    part = share_out(rows, np.random.default_rng(random_state)).argmax(axis=0)
    quick = "auto" if problem.classes <= 2 else Sweep(rounds=0)

    def predicted(matrix: Floats) -> Ints:
        voted = replace(problem, votes=replace(rows, votes=_answered(matrix)))
        return predicted_by_others(voted, part, quick, random_state)

    def without(own: Floats, together: Ints) -> Difference:
        paired = PairedCounts.from_positions(rows.truth, predicted(whole - own), together, classes)
        return compare_paired(paired, arrays=problem.arrays, confidence=level).difference

    def loss(predictions: Ints) -> float:
        return float(pragma(Counts.from_positions(rows.truth, predictions, classes), problem.arrays).total)

    together, found = predicted(whole), []
    for place, (name, own) in enumerate(votes.items()):
        compared, cost = without(own, together), None if paid is None else paid[place]
        found.append(
            Member(name=name, alone=loss(predicted(own)), without=compared.first, gain=compared.difference, cost=cost)
        )
    counts = Counts.from_positions(rows.truth, together, classes)
    return Committee(members=tuple(found), counts=counts, arrays=problem.arrays, confidence=level)


def _paid(costs: Mapping[Any, float], names: Sequence[Any]) -> list[float]:
    """Return what each member costs."""
    named = by_label(costs)
    if named is None or {*named} == {*names}:
        paid = read_class_numbers(costs, names, name="costs", noun="cost")
        if ((paid >= 0) & (paid < np.inf)).all():
            return list(paid.tolist())
    raise InputError(
        f"costs has a number of at least 0 for each member ({shown(names)}), got {shown([costs])}", "costs"
    )


def _answered(votes: Floats) -> Floats:
    """Return the votes, with one for each class where a row has none: every committee predicts every row."""
    return np.where(votes.any(axis=1, keepdims=True), votes, 1.0)


def _votes_of(
    members: Any, classes: Sequence[Label], rows: int, mapping: AnswerMapping | None, labels: Any
) -> dict[Label, Floats]:
    names = [*members] if isinstance(members, Mapping) else column_labels(members)
    if names is None or len(names) < 2:
        raise InputError(
            "members is a mapping of names to answers or probabilities, or a frame of answers, with at least two members",
            "members",
        )
    return {name: _votes(members[name], classes, rows, name, mapping=mapping, labels=labels) for name in names}


def _votes(
    given: Any, classes: Sequence[Label], rows: int, name: Label, *, mapping: AnswerMapping | None, labels: Any
) -> Floats:
    called = f"members[{name!r}]"
    array = np.asarray(given) if hasattr(given, "dtype") else None
    if array is not None and array.ndim == 2 and array.dtype.kind in "iufb":
        check_order_is_said(given, classes, labels, called)
        matrix = as_dense(read_scores(given, classes, rows, name=called))
        check_scores(matrix, called)
        return matrix
    votes, _ = read_answers(given, classes, mapping)
    if len(votes) != rows:
        raise InputError(
            f"{called} has {len(votes):,} rows, y_true has {rows:,}; they must describe the same rows", "members"
        )
    return votes
