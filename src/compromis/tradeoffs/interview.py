"""Preferences by choices between two results that a model can reach."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from compromis._results import Result, columns_of
from compromis._text import LONG_NAME, Table, nearest, short_names, shown, shown_label
from compromis._typing import Flags, Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.evidence.readers import read_whole
from compromis.evidence.votes import Votes
from compromis.labels import plain_label
from compromis.measures.headline import ClassRows, class_rows
from compromis.measures.pragma import losses
from compromis.metrics import Metric, get_metric
from compromis.preferences import Preference, PreferenceArrays, Preferences
from compromis.tradeoffs.curve import TradeoffCurve

ANSWERS = "first", "second", "alike"
SLIP = 0.1
"""The chance that an answer to a choice is not what the person wants."""
ALIKE = 0.4
"""The scale, on the logarithm of the odds, of how far from a person's own trade-off two results still seem alike."""
ANYHOW = 0.02
"""How often results seem alike that are far apart, beside 1 for those that are worth the same."""
STEPS = 801
RECALL_WEIGHTS = np.linspace(-math.log(199), math.log(199), STEPS)
"""The logits of the recall weights told apart: 0.005 to 0.995."""
IMPORTANCES = np.linspace(math.log(0.1), math.log(1000), STEPS)
"""The logarithms of the importances told apart: 0.1 to 1000, 10 in their middle."""
IMPORTANT = 10.0
"""The importance of a class that matters until an answer says otherwise, as in the paper's setting."""
MOST_RESULTS = 64
"""Results that are paired, for each topic."""
VISIBLE = 0.02
"""The least difference of two results, as a share of the rows of the class, where there are such."""
NEAR = 0.01
"""How much further from the median a pair of better results may lie."""
MOST_ASKED = 8
"""Classes that one is asked about."""
QUANTILES = 0.1, 0.5, 0.9
FEWER = 2
"""How many questions fewer an importance has than a recall weight."""
FEWEST = 3
"""Pairs of results that there must be to ask for an importance: with fewer the classes do not compete, and it decides nothing."""
RATIO = 5.0
"""The logarithm of the largest weight of a class beside the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Two results that the model can reach, of which one is to be chosen."""

    topic: str
    """What the answer tells about: recall weight or importance."""
    label: Label
    beside: Label
    """The class it is about; for an importance also the class that it is compared with."""
    number: int
    """The number of the question, from 1."""
    first: tuple[ClassRows, ...]
    second: tuple[ClassRows, ...]
    """The results: what they mean for each class in which they differ."""

    @property
    def told(self) -> tuple[list[str], list[str]]:
        """Both results in words, class by class; shortened names of classes differ."""
        names = short_names([row.label for row in self.first], LONG_NAME)
        first, second = (
            [row.in_words(name) for row, name in zip(side, names, strict=True)] for side in (self.first, self.second)
        )
        return first, second

    def __str__(self) -> str:
        results = [f"  {n}  finds {'; '.join(side)}" for n, side in enumerate(self.told, start=1)]
        return "\n".join([f"Question {self.number}: which of these two results would you rather have?", *results])


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the answers tell about one number."""

    topic: str
    label: Label
    beside: Label
    """As in `Question`."""
    value: float
    """The median of what the answers leave possible."""
    low: float
    high: float
    """The true number lies between them with a probability of 80 %, for someone who answers as they mean nine times of ten."""
    answers: int
    """The answers it rests on."""

    @property
    def shares(self) -> tuple[float, float, float]:
        """Where low, value and high stand on a bar from 0 to 1; importances by their logarithm."""
        if self.topic == "recall weight":
            return self.low, self.value, self.high
        first, last = IMPORTANCES[[0, -1]].tolist()  # plain numbers, which JSON takes
        low, value, high = ((math.log(one) - first) / (last - first) for one in (self.low, self.value, self.high))
        return low, value, high

    @property
    def name(self) -> str:
        """The number in words."""
        beside = "" if self.beside is None else f" beside {shown_label(self.beside)}"
        return f"{self.topic} of {shown_label(self.label)}{beside}"


@dataclass(frozen=True, eq=False)
class _Topic:
    """One number that is asked for: results, what each is worth at every value of the number, and their pairs."""

    name: str
    label: Label
    beside: Label
    scale: Floats
    results: tuple[tuple[ClassRows, ...], ...]
    """Sorted so that later ones are preferred where the number is high."""
    worth: Floats
    """By result and by step of the scale."""

    def prior(self) -> Floats:
        """Return what is possible before any answer: recall weights as Beta(1/2, 1/2), importances evenly by their logarithm."""
        spread = 1 / np.cosh(self.scale / 2) if self.name == "recall weight" else np.ones(STEPS)
        return spread / spread.sum()

    @cached_property
    def pairs(self) -> tuple[Ints, Ints, Ints]:
        """The pairs that tell something: lower and higher result, and the number of steps at which the lower one is preferred."""
        low, high = np.triu_indices(len(self.results), 1)
        better = self.worth[low] > self.worth[high]
        once = better[:, 0] & ~better[:, -1] & ((better[:, 1:] != better[:, :-1]).sum(axis=1) == 1)
        return low[once], high[once], better[once].sum(axis=1)

    @cached_property
    def clear(self) -> Flags:
        """Whether the two results of a pair differ by more than a person or two."""
        own = np.array([(one[0].found, one[0].false_alarms, one[0].of) for one in self.results]).reshape(-1, 3)
        low, high, _ = self.pairs
        apart = np.abs(own[low, :2] - own[high, :2]).max(axis=1)
        return apart >= max(1.0, VISIBLE * own[0, 2])

    def ask(self, belief: Floats, asked: Sequence[int]) -> int | None:
        """Return the pair that halves what is possible, of such pairs the one of the best results; None if all were asked."""
        _, high, switch = self.pairs
        left = np.ones(len(switch), dtype=bool)
        left[list(asked)] = False
        if not left.any():
            return None
        far = np.abs(np.cumsum(belief)[switch - 1] - 0.5)
        for usable in (left & self.clear & (far <= 0.25), left):
            if usable.any():
                near = usable & (far <= far[usable].min() + NEAR)
                return int(np.argmax(np.where(near, self.worth[high, switch], -np.inf)))
        return None

    def learn(self, belief: Floats, pair: int, answer: str) -> Floats:
        """Return what is possible after an answer (Bayes)."""
        switch = int(self.pairs[2][pair])
        if answer == "alike":
            apart = np.abs(self.scale - (self.scale[switch - 1] + self.scale[switch]) / 2)
            likelihood = ANYHOW + (1 - ANYHOW) * np.exp(-apart / ALIKE)
        else:
            below = np.arange(STEPS) < switch
            likelihood = np.where(below == (answer == "first"), 1 - SLIP, SLIP)
        after: Floats = belief * likelihood
        return after / after.sum()

    def question(self, pair: int, number: int) -> Question:
        """Return a pair as a question, the one with fewer false alarms or less of the class first."""
        low, high, _ = (int(one[pair]) for one in self.pairs)
        sides = zip(self.results[low], self.results[high], strict=True)
        first, second = zip(*((one, other) for one, other in sides if one != other), strict=True)
        return Question(
            topic=self.name, label=self.label, beside=self.beside, number=number, first=first, second=second
        )

    def known(self, belief: Floats, answers: int) -> Known:
        """Return what is possible as a number with an interval."""
        low, value, high = np.interp(QUANTILES, np.cumsum(belief) - belief / 2, self.scale).tolist()
        number = _logistic if self.name == "recall weight" else math.exp
        return Known(
            topic=self.name, label=self.label, beside=self.beside,
            value=number(value), low=number(low), high=number(high), answers=answers,
        )  # fmt: skip


def _logistic(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


class Interview(Result):
    """Asks for preferences by choices between results that a model can reach, one question after the other.

    It asks for the recall weight of each class that matters, then for its importance beside another class. An interview does not
    change: `answer` and `back` return the next one.

    Parameters
    ----------
    votes : Votes
        The votes, or probabilities, of a model for rows that it did not see.
    classes : sequence of labels, optional
        The classes that matter, the most important first; without it the rarest.
    metric : str or Metric
        The metric whose recall weights are asked for.
    questions : int
        The questions for each recall weight; importances have two fewer.
    answers : sequence of {"first", "second", "alike"}
        The answers given so far, to take up an interview again.

    Notes
    -----
    Bayes on the logit of the recall weight, Beta(1/2, 1/2) before the first answer; an answer is taken as meant nine times of ten. The
    next pair is one that changes places (one result is better below, the other above) at the median of what is still possible; of the
    pairs near it, the one whose results are best. An importance is asked for in the same way, on its logarithm, between results that
    weigh the votes of one class more or less; until it is known, and where the classes do not compete, it is 10, as in the PRAGMA
    paper. With two classes, choices for one of them say everything, so the other gets the importance 0.

    Examples
    --------
    >>> import compromis as cp
    >>> y = ["ill"] * 4 + ["well"] * 8
    >>> p_ill = [0.9, 0.8, 0.4, 0.2, 0.7, 0.5, 0.3, 0.3, 0.1, 0.1, 0.1, 0.0]
    >>> votes = cp.Votes.from_proba(y, [[p, 1 - p] for p in p_ill])
    >>> interview = cp.tradeoffs.Interview(votes, ["ill"])
    >>> print(interview.question)
    Question 1: which of these two results would you rather have?
      1  finds 2 of 4 ill (misses 2), no false alarms
      2  finds 3 of 4 ill (misses 1), 2 false alarms
    >>> interview = interview.answer("second")
    >>> round(interview.known[0].value, 2)
    0.8
    >>> interview.back().question.number
    1
    """

    schema = "compromis/interview"

    def __init__(
        self,
        votes: Votes,
        classes: Sequence[Any] | None = None,
        *,
        metric: str | Metric = "f",
        questions: int = 7,
        answers: Sequence[str] = (),
    ) -> None:
        if not isinstance(votes, Votes):
            raise InputError(
                f"votes are compromis.Votes, got {type(votes).__name__}; make them with Votes.from_proba(y_true, y_proba)",
                "votes",
            )
        self.votes = votes
        self.metric = get_metric(metric)
        self.classes = _wanted(votes, classes)
        self.questions = read_whole(questions, "questions", 3)
        self.answers = tuple(_read_answer(answer) for answer in answers)
        self._made: dict[Any, _Topic] = {}

    @property
    def question(self) -> Question | None:
        """The question that comes next; None when all were answered."""
        return self._progress[1]

    @property
    def known(self) -> tuple[Known, ...]:
        """What the answers tell, for each number asked about so far."""
        return self._progress[0]

    @property
    def most(self) -> int:
        """The questions there are at most."""
        beside = len(self._others)
        return len(self.classes) * self.questions + beside * (self.questions - FEWER)

    def answer(self, answer: str) -> Interview:
        """Return the interview after an answer to its question: ``"first"``, ``"second"`` or ``"alike"``."""
        if self.question is None:
            raise InputError("every question was answered; see preferences(), or go back()")
        return self.taken_up((*self.answers, answer))

    def back(self) -> Interview:
        """Return the interview before the last answer."""
        return self.taken_up(self.answers[:-1])

    def preferences(self) -> Preferences:
        """Return what the answers say so far; classes that were not asked about have the default."""
        return self._preferences(self.known)

    def _preferences(self, known: Sequence[Known]) -> Preferences:
        weight = {one.label: round(one.value, 4) for one in known if one.topic == "recall weight"}
        importance = {label: IMPORTANT for label, _ in self._others}
        importance |= {one.label: float(f"{one.value:.3g}") for one in known if one.topic == "importance"}
        by_class = {label: Preference(importance.get(label, 1.0), recall_weight=own) for label, own in weight.items()}
        alone = len(self.votes.classes) == 2 and len(self.classes) == 1 and by_class
        return Preferences(by_class, Preference(importance=0.0) if alone else Preference(), self.metric)

    def taken_up(self, answers: Sequence[str]) -> Interview:
        """Return the interview after other answers; the results that it asks about are worked out once."""
        other = Interview(self.votes, self.classes, metric=self.metric, questions=self.questions, answers=answers)
        other._made = self._made
        return other

    @cached_property
    def _others(self) -> list[tuple[Label, Label]]:
        """The pairs of classes whose importances are compared: each class beside the most common one that is not asked about."""
        if len(self.votes.classes) == 2 and len(self.classes) == 1:
            return []
        support = dict(zip(self.votes.classes, self.votes.support.tolist(), strict=True))
        rest = [label for label in self.votes.classes if label not in self.classes]
        reference = max(rest, key=support.__getitem__) if rest else self.classes[-1]
        return [(label, reference) for label in self.classes if label != reference]

    @cached_property
    def _progress(self) -> tuple[tuple[Known, ...], Question | None]:
        """What is known of each number, and the question that comes next: the replay of the answers."""
        known: list[Known] = []
        given = 0
        for label, beside in (*((label, None) for label in self.classes), *self._others):
            topic = self._topic(label, beside, tuple(known))
            if beside is not None and len(topic.pairs[0]) < FEWEST:
                continue
            belief: Floats = topic.prior()
            asked: list[int] = []
            for _ in range(self.questions - FEWER * (beside is not None)):
                pair = topic.ask(belief, asked)
                if pair is None:
                    break
                if given == len(self.answers):
                    return (*known, *([topic.known(belief, len(asked))] if asked else [])), topic.question(
                        pair, given + 1
                    )
                belief = topic.learn(belief, pair, self.answers[given])
                asked.append(pair)
                given += 1
            if asked:
                known.append(topic.known(belief, len(asked)))
        if given < len(self.answers):
            raise InputError(
                f"there are {len(self.answers)} answers to {given} questions; leave out the last", "answers"
            )
        return tuple(known), None

    def _topic(self, label: Label, beside: Label, known: tuple[Known, ...]) -> _Topic:
        key = label, beside, known if beside is not None else ()
        if key not in self._made:
            if beside is None:
                self._made[key] = _recall_weight_topic(self.votes, label, self.metric)
            else:
                self._made[key] = _importance_topic(self.votes, label, beside, self._preferences(known))
        return self._made[key]

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        answers = {"answers": list(self.answers), "most": self.most}
        return self.heading() | answers | {"question": self.question, "known": self.known}

    def columns(self) -> dict[str, list[Any]]:
        """Return what is known as lists by column name."""
        return columns_of(self.known, Known)

    def sentences(self) -> list[str]:
        """Return the question, or that there is none any more."""
        asked = str(self.question) if self.question else "every question was answered; the preferences are ready"
        return [line.strip() for line in asked.splitlines()]

    def tables(self) -> list[Table]:
        """Return what is known."""
        rows = [
            [one.name, *(f"{number:.3g}" for number in (one.value, one.low, one.high)), str(one.answers)]
            for one in self.known
        ]
        return [Table("what your answers say", ("of", "value", "at least", "at most", "answers"), rows)] if rows else []

    def __repr__(self) -> str:
        return f"Interview(classes={list(self.classes)!r}, metric={self.metric.name!r}, answers={list(self.answers)!r})"


def _wanted(votes: Votes, classes: Sequence[Any] | None) -> tuple[Label, ...]:
    """Return the classes to ask about, checked; by default the rarest."""
    support = votes.support
    there = [label for label, rows in zip(votes.classes, support.tolist(), strict=True) if rows > 0]
    if len(there) < 2:
        raise InputError(f"choices need rows of at least two classes, got those of {shown(there)}", "votes")
    if classes is None:
        return (min(there, key=lambda label: float(support[votes.classes.index(label)])),)
    given = tuple(dict.fromkeys(plain_label(label) for label in ([classes] if isinstance(classes, str) else classes)))
    for label in given:
        if label not in there:
            raise InputError(
                f"there are no rows of the class {label!r}{nearest(label, there)}; the classes are {shown(there)}",
                "classes",
            )
    if not 1 <= len(given) <= MOST_ASKED:
        raise InputError(
            f"choices are for 1 to {MOST_ASKED} classes, got {len(given)}; name those that matter most", "classes"
        )
    return given


def _read_answer(answer: str) -> str:
    if answer not in ANSWERS:
        raise InputError(f"an answer is one of {', '.join(ANSWERS)}, got {answer!r}", "answer")
    return answer


def _recall_weight_topic(votes: Votes, label: Label, metric: Metric) -> _Topic:
    """Return the topic of a class's recall weight: results of its trade-off curve, from few false alarms to few misses."""
    points = votes.points([label], weights=np.ones(len(votes.classes)))[label]
    curve = TradeoffCurve(points, metric)
    weights = 1 / (1 + np.exp(-RECALL_WEIGHTS))
    best = curve.candidates.take(np.unique(curve.envelope.at(weights[:: STEPS // MOST_RESULTS]))).position
    at = np.union1d(best, _spread(points))
    found, alarms = points.true_positives[at], points.false_positives[at]
    results = tuple(
        (ClassRows(label=label, of=points.positives, found=one, missed=points.positives - one, false_alarms=other),)
        for one, other in zip(found.tolist(), alarms.tolist(), strict=True)
    )
    precision, recall = found / (found + alarms), found / points.positives
    worth = metric.value(precision[:, np.newaxis], recall[:, np.newaxis], weights)
    return _Topic("recall weight", label, None, RECALL_WEIGHTS, results, worth)


def _spread(points: OperatingPoints) -> Ints:
    """Return cuts from the first row found to the last, evenly spread over recall and the logarithm of false alarms.

    Also cuts that another dominates: a model that hardly errs has few others, and every cut can be reached.
    """
    found, alarms = points.true_positives, np.log1p(points.false_positives)
    way = found / found[-1] + alarms / max(alarms[-1], 1.0)
    inside = np.flatnonzero((found > 0) & np.r_[True, found[:-1] < found[-1]])
    steps = np.linspace(way[inside[0]], way[inside[-1]], MOST_RESULTS)
    return np.unique(inside[np.searchsorted(way[inside], steps).clip(max=len(inside) - 1)])


def _importance_topic(votes: Votes, label: Label, beside: Label, wanted: Preferences) -> _Topic:
    """Return the topic of a class's importance beside another: results that weigh its votes more or less than theirs."""
    arrays = wanted.on(votes.classes)
    own, other = votes.classes.index(label), votes.classes.index(beside)
    matrices = [_between(votes, arrays, own, against) for against in ([other], [])]
    matrix = np.unique(np.concatenate(matrices), axis=0)
    value, value_of_others = _values(matrix, arrays, own)
    kept = _not_dominated(value, value_of_others)
    order = [own, other, *(k for k in range(len(votes.classes)) if k not in (own, other))]
    results = tuple(class_rows(one, votes.classes, order) for one in matrix[kept])
    worth = value[kept, np.newaxis] * np.exp(IMPORTANCES) + value_of_others[kept, np.newaxis]
    return _Topic("importance", label, beside, IMPORTANCES, results, worth)


def _between(votes: Votes, arrays: PreferenceArrays, own: int, against: list[int]) -> Floats:
    """Return counts under weights that favour a class more and more, `against` others: closely where its value is traded for theirs."""

    def counts(steps: Floats) -> Floats:
        weights = np.zeros((len(steps), len(votes.classes)))
        weights[:, own] = steps
        weights[:, against] = -steps[:, np.newaxis]
        return np.array([votes.counts(one).matrix for one in np.exp(weights)], dtype=np.float64)

    steps = np.linspace(-RATIO, RATIO, MOST_RESULTS // 2)
    ends = sorted(int(np.argmax(value)) for value in _values(counts(steps), arrays, own))
    low, high = steps[max(0, ends[0] - 1)], steps[min(len(steps) - 1, ends[1] + 1)]
    return counts(np.linspace(low, high, MOST_RESULTS // 2))


def _values(matrix: Floats, arrays: PreferenceArrays, own: int) -> tuple[Floats, Floats]:
    """Return the value of each result for a class, and that for all others times their importances."""
    value = np.nan_to_num(1 - losses(matrix, arrays)[0])
    return value[:, own], np.delete(value * arrays.importance, own, axis=1).sum(axis=1)


def _not_dominated(first: Floats, second: Floats) -> Ints:
    """Return the results of which no other is better in both, the first rising, evenly thinned."""
    order = np.lexsort((-second, -first))
    highest = np.r_[-np.inf, np.maximum.accumulate(second[order])[:-1]]
    front = order[second[order] > highest][::-1]
    return front[np.unique(np.linspace(0, len(front) - 1, MOST_RESULTS).round().astype(np.int64))]
