"""The verdict: whether a result is better than no model, and what it misses of what was asked."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from compromis._results import Result, columns_of
from compromis._text import Finding, Table, capitalised, class_quoted, count, shown
from compromis._typing import Label
from compromis.evidence.counts import Counts, ratio
from compromis.measures.baselines import Baseline, Coin, naive_baselines
from compromis.measures.pragma import (
    GivenUp,
    MissedConstraint,
    OwnAnswer,
    given_up,
    missed_constraints,
    own_answers,
    with_mean_costs,
)
from compromis.measures.rates import Evidence, counts_of, effective_rows, few_predictions
from compromis.metrics import KULCZYNSKI
from compromis.preferences import PreferenceArrays
from compromis.uncertainty.intervals import Interval
from compromis.uncertainty.judgement import State, judge

CONFIDENCE = 0.95
CERTAIN = 1 - 1e-9
"""A coin that predicts a class more often predicts it always."""
MOST_NAMED = 3
"""Classes that the name of a coin has."""

Rows = Literal["given", "own", "cross-fitted"]
"""The rows judged: any rows, those on which the weights were chosen, or each part by weights chosen on the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What the sentence of a verdict says of the rows and of the best decision without a model."""

    single_class: bool
    """Whether only one class occurs."""
    rarest: Label | None
    """The class that matters and has the fewest rows, with their number (effective rows where they have weights)."""
    rarest_rows: float
    favoured: Label | None
    """The class that the best coin predicts mostly, and far more often than it occurs, if no `min_precision` speaks against it yet."""
    favoured_share: float
    """How often it occurs: the precision of such predictions, so that a higher `min_precision` rules them out."""
    other_metric: bool
    """Whether another metric would not reward giving up the other classes."""


@dataclass(frozen=True, kw_only=True)
class Verdict(Result):
    """Whether a result is better than the best decision without a model, and what it misses; ``str()`` is the text.

    Four facts that stand apart: `state`, the `constraints` missed, the user's own `answers`, and the classes `given_up`.

    Examples
    --------
    >>> import compromis as cp
    >>> counts = cp.Counts.from_matrix([[14, 4], [10, 972]], ["fraud", "ok"])
    >>> preferences = cp.Preferences({"fraud": cp.Preference(10, 0.1, 0.9, min_recall=0.8)})
    >>> verdict = cp.evaluate(counts, preferences=preferences).verdict
    >>> verdict.state, verdict.baseline.name, [(missed.rate, missed.rows) for missed in verdict.constraints]
    ('not told apart', "always predicting 'fraud'", [('recall', 1)])
    >>> round(verdict.difference, 3), [(answer.label, answer.reached) for answer in verdict.answers]
    (0.249, [('fraud', False)])
    """

    state: State
    """``"better"``: the interval of the gain lies above 0, and chance explains it in no more than 2.5 % of cases;
    ``"no better"``: the interval does not reach above 0; else ``"not told apart"``."""
    loss: float
    """The PRAGMA loss of the result; its average cost where `measure` says so."""
    measure: str
    """What results are compared by: ``"loss"`` or ``"average cost"``."""
    baseline: Baseline
    """The best decision without a model that meets every constraint as far as the result does."""
    interval: Interval
    """The gain, which is the loss of the baseline minus that of the result, with its confidence interval."""
    confidence: float
    """Of the interval and the test: 0.9995 at most, as draws tell nothing of thinner tails."""
    p_value: float
    """How often predictions that know nothing of the truth have a loss as low."""
    smallest_gain: float
    """The gain that would be called better in 80 % of samples like this one."""
    constraints: tuple[MissedConstraint, ...]
    """The constraints that are missed: by how much, and how many rows that is."""
    answers: tuple[OwnAnswer, ...]
    """For each class whose two answers were given, whether it reaches the level they stand for."""
    given_up: tuple[GivenUp, ...]
    """The classes that matter and occur, but are predicted next to never."""
    few_predictions: tuple[tuple[Label, float], ...]
    """The classes predicted in fewer than 20 rows, so that their precision says little, with that number."""
    rows: Rows
    """``"own"`` where the rows are those on which the weights were chosen, ``"cross-fitted"`` where each part was judged by weights
    chosen on the others, ``"given"`` else."""
    baselines: tuple[Baseline, ...]
    """To be shown beside it: each constant prediction, and random predictions at the classes' shares."""
    cause: Cause

    schema = "compromis/verdict"

    @property
    def difference(self) -> float:
        """The loss of the baseline minus that of the result."""
        return self.interval.value

    @property
    def met(self) -> bool:
        """Whether it is better than no model, misses no constraint and reaches every level of the user's own answers."""
        return self.state == "better" and not self.constraints and all(answer.reached for answer in self.answers)

    @property
    def by_chance(self) -> bool:
        """Whether predictions that know nothing of the truth may well have a loss as low."""
        return self.p_value > (1 - self.confidence) / 2

    @property
    def summary(self) -> dict[str, float]:
        """The numbers behind the state."""
        gain = {"difference": self.difference, "low": self.interval.low, "high": self.interval.high}
        return {"loss": self.loss, "baseline": self.baseline.loss, **gain, "p_value": self.p_value}

    @property
    def word(self) -> str:
        """The state in words."""
        return "nothing to judge: no class that matters occurs in these rows" if self._idle else _STATES[self.state]

    @cached_property
    def sentence(self) -> str:
        """Whether the result is better than no model, why, and what to do."""
        text = f"{self.word}: {self.reason}" if self.reason else self.word
        mark = ":" if self.state == "not told apart" and self.difference > 0 else ";"
        return f"{text}{mark} {self.advice}" if self.advice else text

    @property
    def _idle(self) -> bool:
        return math.isnan(self.difference)

    @property
    def reason(self) -> str:
        """The loss beside the best one without a model, with the interval of the gain, and what is known where they are not told apart."""
        if self._idle:
            return ""
        numbers = (_signed(bound) for bound in (self.difference, self.interval.low, self.interval.high))
        gain = "difference {}, {:g} % interval {} to {}".format(next(numbers), 100 * self.confidence, *numbers)
        best, better = self.baseline, self.state == "better"
        lower = (
            f", {100 * (1 - self.loss / best.loss):.0f} % below" if better and 0 < self.loss < best.loss else " against"
        )
        against = f"for {best.name}, the best without a model" if self._rivalled else f"the worst, as {best.name}"
        text = (
            f"{self.measure} {self.loss:.4f}{lower} {best.loss:.4f}{' ' if self._rivalled else ', '}{against} ({gain})"
        )
        return f"{text}; {self._doubt()}" if self.state == "not told apart" else text

    @property
    def _rivalled(self) -> bool:
        return self.baseline.name != _NO_COIN

    def _doubt(self) -> str:
        """Return how often chance does as well, and how large a gain would have been detected."""
        known = f"predictions shuffled at random do as well in {100 * self.p_value:.2g} % of cases"
        if self.difference <= 0:
            return known
        seen = f"a gain of {self.smallest_gain:.2g} would be detected in four of five samples of this size"
        if self.measure == "loss" and self.smallest_gain > self.baseline.loss:  # more than a loss of 0 would gain
            seen = "so few rows would seldom tell even a perfect model from none"
        return f"{known}; {seen}"

    @property
    def advice(self) -> str:
        """What to do where the result is not better than no model."""
        if self._idle or self.state == "better":
            return ""
        if self.state == "no better" or self.difference <= 0:
            return self._cure()
        rarest = self.cause.rarest
        more = "judge more rows" + (
            f", above all of class {rarest!r} ({count(self.cause.rarest_rows)})" if rarest is not None else ""
        )
        return f"improve the model, or {more}" if self.by_chance and self.loss else more

    def _cure(self) -> str:
        cause = self.cause
        if cause.single_class:
            return "there is only one class in these rows"
        if cause.favoured is None:
            return f"improve the model, or review the {'preferences' if self.measure == 'loss' else 'costs'}"
        above = f"set min_precision for {cause.favoured!r} above {cause.favoured_share:.3f}, its share of the rows"
        other = ", or use metric f, which does not reward giving up" if cause.other_metric else ""
        return f"improve the model, or {above}{other}"

    def _beside(self, tuned: Verdict) -> list[str]:
        """Return whether tuning would help where the result is not better than no model: what weights searched on the same rows reach."""
        if self.state == "better":
            return []
        reached = f"tuned on these rows, the {self.measure} is {tuned.loss:.4f}"
        if tuned.state == "better":
            below = f"{reached}, below {self.baseline.loss:.4f} without a model"
            return [f"tuning may help: {below}; tune first, and judge the result on other rows"]
        unsure = tuned.state == "not told apart"
        beside = f"{tuned.state} {'from' if unsure else 'than'} {self.baseline.loss:.4f} without a model"
        helps, cure = ("may", "improve the model, or bring more rows") if unsure else ("does", "improve the model")
        return [f"tuning alone {helps} not help: even {reached}, {beside}; {cure}"]

    def findings(self, tuned: Verdict | None = None, *, heading: str = "Verdict: ") -> list[str]:
        """Return what a report says of it: the state with its advice, what is missed, and in small print the loss.

        With the verdict on weights tuned on the same rows also what tuning would help; where it would, that is the one advice.
        """
        helps = tuned is not None and self.state != "better" and tuned.state == "better"
        advice = "" if helps else self.advice
        first = Finding(heading + "; ".join(part for part in (self.word, advice) if part), self.state)
        hopes = [] if tuned is None else self._beside(tuned)
        missed = [Finding(sentence, "missed") for sentence in self._missed(cures=not helps)]
        return [first, *hopes, *missed, *_ROWS[self.rows], *([Finding(self.reason, "small")] if self.reason else [])]

    def sentences(self) -> list[str]:
        """Return whether it is better, then the constraints missed, the answers not reached and the classes given up."""
        return [Finding(self.sentence, self.state), *self.flaws()]

    def flaws(self) -> list[str]:
        """Return what is missed of what was asked, and on which rows that was judged, in sentences."""
        return [*self._missed(), *_ROWS[self.rows]]

    def _missed(self, *, cures: bool = True) -> list[str]:
        asked = {missed.label for missed in self.constraints if missed.rate == "recall"}  # these have a minimum already
        labels = [given.label for given in self.given_up]
        several, lost = len(labels) > 1, [str(given) for given in self.given_up]
        if several:
            lost = [f"classes {shown(labels)} are given up, next to none of their rows are found"]
        if cures and not asked.issuperset(labels):
            raised = "importance" if self.measure == "loss" else f"cost of missing {'them' if several else 'it'}"
            lost = [f"{lost[0]}{':' if several else ';'} set min_recall, or a higher {raised}"]
        missed = [str(answer) if cures else answer.sentence for answer in self.answers if not answer.reached]
        return [*map(str, self.constraints), *missed, *lost]

    def __str__(self) -> str:
        first, *others = self.sentences()
        return ". ".join([first, *map(capitalised, others)])

    def __repr__(self) -> str:
        return (
            f"<Verdict: {_STATES[self.state]}, {self.measure} {self.loss:.4f}, difference {_signed(self.difference)}>"
        )

    def tables(self) -> list[Table]:
        """Return the result beside the three best decisions without a model."""
        best = sorted(self.shown_baselines(), key=lambda baseline: baseline.loss)[:3]
        rows = [("this result", self.loss), *((baseline.told, baseline.loss) for baseline in best)]
        return [
            Table("Baselines", ["Decision", capitalised(self.measure)], [[name, f"{loss:.4f}"] for name, loss in rows])
        ]

    def shown_baselines(self, most: int = 4) -> list[Baseline]:
        """Return the best decision without a model, the constant ones, only the best where there are many, and the random one."""
        constant = [baseline for baseline in self.baselines if baseline.label is not None]
        if len(constant) > most:
            constant = sorted(constant, key=lambda baseline: baseline.loss)[:most]
        random = [baseline for baseline in self.baselines if baseline.label is None]
        best = [self.baseline] if self._rivalled and self.baseline.label is None else []
        return [*best, *constant, *random]

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        numbers = {name: getattr(self, name) for name in ("state", "measure", "loss", "difference")}
        return {
            **self.heading(),
            **numbers,
            "interval": [self.interval.low, self.interval.high],
            **{name: getattr(self, name) for name in ("confidence", "p_value", "smallest_gain", "rows")},
            "baseline": asdict(self.baseline),
            "baselines": [asdict(baseline) for baseline in self.baselines],
            "constraints": [{**asdict(missed), "distance": missed.distance} for missed in self.constraints],
            "answers": [
                {**asdict(answer), "reached": answer.reached, "distance": answer.distance} for answer in self.answers
            ],
            "given_up": [asdict(lost) for lost in self.given_up],
            "few_predictions": [{"label": label, "predicted": rows} for label, rows in self.few_predictions],
            "sentence": str(self),
        }

    def columns(self) -> dict[str, list[Any]]:
        """Return the decisions without a model, column by column."""
        return columns_of(self.shown_baselines(len(self.baselines)), Baseline)


_STATES = {
    "better": "better than no model",
    "not told apart": "not told apart from no model",
    "no better": "no better than no model",
}
_ROWS = {
    "given": (),
    "own": ("these rows chose the weights, so the result looks better here than it is: judge it on other rows",),
    "cross-fitted": ("each part of the rows was judged by weights chosen on the others",),
}
_NO_COIN = "no decision without a model meets your constraints as far as this result"


def verdict_on(
    evidence: Evidence,
    arrays: PreferenceArrays,
    *,
    confidence: float | None = None,
    rows: Rows = "given",
) -> Verdict:
    """Judge counts, by group where they are grouped, by PRAGMA loss or average cost.

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.uncertainty.verdict import verdict_on
    >>> preferences = cp.Preferences.prioritise(["sick"]).on(["sick", "well"])
    >>> verdict_on(cp.Counts.from_matrix([[80, 20], [120, 9780]], ["sick", "well"]), preferences).state
    'better'
    """
    counts = counts_of(evidence)
    judged = judge(evidence, arrays, confidence=CONFIDENCE if confidence is None else confidence)
    return Verdict(
        state=judged.state,
        loss=judged.loss,
        measure="loss" if arrays.cost is None else "average cost",
        baseline=_best_baseline(judged.coin, counts),
        interval=judged.difference,
        confidence=judged.confidence,
        p_value=judged.p_value,
        smallest_gain=judged.smallest_gain,
        constraints=missed_constraints(counts, arrays),
        answers=() if arrays.cost is not None else own_answers(counts, arrays),
        given_up=given_up(counts, arrays),
        few_predictions=few_predictions(counts),
        rows=rows,
        baselines=naive_baselines(*_blindly(counts, arrays)),
        cause=_cause(counts, arrays, judged.coin),
    )


def _blindly(counts: Counts, arrays: PreferenceArrays) -> tuple[Counts, PreferenceArrays]:
    """Return counts and costs as decisions without a model pay them, which know nothing of amounts."""
    counts, arrays = with_mean_costs(counts, arrays)
    return counts, arrays if arrays.blind_cost is None else replace(arrays, cost=arrays.blind_cost)


def _cause(counts: Counts, arrays: PreferenceArrays, coin: Coin) -> Cause:
    occurs = counts.support > 0
    matter = np.flatnonzero(occurs & (arrays.importance > 0))
    rarest = int(matter[counts.support[matter].argmin()]) if matter.size else None
    shares = np.nan_to_num(ratio(counts.support, counts.total))
    likely = occurs & (coin.probability > np.maximum(2 * shares, 0.5)) & (arrays.min_precision <= shares)
    favour = np.where(likely, coin.probability - shares, 0.0)
    k = int(favour.argmax())
    favoured = arrays.cost is None and bool(favour[k] > 0)
    return Cause(
        single_class=int(occurs.sum()) == 1,
        rarest=None if rarest is None else counts.classes[rarest],
        rarest_rows=0.0 if rarest is None else float(effective_rows(counts, axis=1)[rarest]),
        favoured=counts.classes[k] if favoured else None,
        favoured_share=float(shares[k]) if favoured else math.nan,
        other_metric=arrays.metric is KULCZYNSKI,
    )


def _best_baseline(coin: Coin, counts: Counts) -> Baseline:
    chance, loss = coin.probability, float(coin.loss)
    if not coin.feasible:
        return Baseline(name=_NO_COIN, label=None, loss=loss)
    likely = np.argsort(-chance, kind="stable")
    first = counts.classes[int(likely[0])]
    if chance[likely[0]] > CERTAIN:
        name = f"always predicting {first!r}"
        return Baseline(
            name=name if coin.reached else f"almost {name}", label=first if coin.reached else None, loss=loss
        )
    if len(likely) == 2:  # one of the two says it all: the one that is predicted more often than it occurs
        likely = np.argsort(counts.support - chance * counts.total, kind="stable")[:1]
    named = [
        f"{class_quoted(counts.classes[k])} in {_percent(chance[k])}"
        for k in likely[:MOST_NAMED].tolist()
        if chance[k] > 1 - CERTAIN
    ]
    end = " of rows" if coin.reached else " of rows and others next to never"
    return Baseline(name=f"a coin that predicts {', '.join(named)}{end}", label=None, loss=loss)


def _signed(number: float) -> str:
    """Format without a sign before zero."""
    return f"{round(number, 4) + 0.0:.4f}"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.99 else f"{100 * share:.4g} %"
