"""What an estimator's tuning is: the search on honest votes, and what its weights are worth on votes that did not choose them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._results import Result
from compromis._text import Table
from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.estimators.expected import with_expected_truth
from compromis.evidence.counts import Counts
from compromis.evidence.grouped import GroupedCounts
from compromis.evidence.readers import read_whole
from compromis.evidence.votes import Votes
from compromis.measures.by_group import ByGroup
from compromis.measures.headline import Headline, headline_of
from compromis.measures.rates import Evidence, counts_of
from compromis.preferences import Preferences, read_preferences
from compromis.uncertainty.intervals import Interval
from compromis.uncertainty.report_intervals import report_intervals
from compromis.uncertainty.verdict import Verdict, verdict_on
from compromis.weights.decision import Decision
from compromis.weights.guarantee import Guarantee, warn_if_not_given
from compromis.weights.problem import SearchProblem, normalised
from compromis.weights.review import Review, Reviewed, check_review
from compromis.weights.search import WeightSearch, search_problem, with_review
from compromis.weights.stability import Stability, is_kept, warn_of_few_rows
from compromis.weights.sweep import Sweep

PARTS = 5
"""The parts of the votes, each judged by weights searched on the others."""
MOST_SHUFFLED = 1_000_000
"""More rows are shared out at random, without equal numbers of each class in each part."""
AUTO_SMOOTHING = 0.0
"""Half a vote for every class ranked best but once predicted constantly; see docs/tuning.md."""
ANSWER_SMOOTHING = 0.5
"""Answers: half a one for every class; a few answers leave most classes without one; see docs/answers.md for the comparison."""
AUTO_RESAMPLES, AUTO_RESAMPLES_MANY = 20, 6
"""For up to three classes, and for more, where a search takes longer; see docs/tuning.md for the comparison."""
STEPS = 16
"""In so many steps averaged weights go towards those of a search until constraints are met."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningOptions:
    """What weights are searched for, and how."""

    preferences: Preferences = field(default_factory=Preferences)
    method: str | Sweep = "auto"
    smoothing: float = 0.0
    resamples: int | str = "auto"
    max_ratio: float | None = None
    calibration: str = "out-of-bag"
    """Where the votes come from, which a guarantee tells."""
    review: Review | None = None

    def resamples_for(self, classes: int) -> int:
        """Return over how many resamples the weights are averaged."""
        given = self.resamples
        if isinstance(given, str) and given == "auto":
            return AUTO_RESAMPLES if classes <= 3 else AUTO_RESAMPLES_MANY
        return read_whole(given, "resamples", 0, also="'auto' or ")

    def check(self, classes: Sequence[Any]) -> None:
        """Raise what the search on honest votes would raise for these options, before there are any.

        The search itself reads its options, so it gets one vote for each class.
        """
        self.resamples_for(len(classes))
        if self.review is not None:
            check_review(self.review)
        amount = np.ones(len(classes)) if self.preferences.costs_amounts else None
        votes = Votes.from_proba(classes, np.eye(len(classes)), labels=classes, amount=amount)
        search_problem(self.problem(votes), method=self.method, random_state=0)

    def problem(self, votes: Votes, by: ByGroup | None = None) -> SearchProblem:
        """Return what is searched, every part checked."""
        settings: dict[str, Any] = {"smoothing": self.smoothing, "max_ratio": self.max_ratio}
        return SearchProblem.read(votes, self.preferences, by=by, **settings)


@dataclass(frozen=True, eq=False, kw_only=True)
class Tuned(Result):
    """The weights that an estimator decides with, and what they are worth.

    Examples
    --------
    >>> import compromis as cp
    >>> votes = cp.Votes.from_proba(["bad"] * 40 + ["good"] * 60, [[3, 7]] * 40 + [[1, 9]] * 60)
    >>> tuned = cp.estimators.tune_votes(votes, random_state=0)
    >>> tuned.loss, tuned.decision.threshold.label, tuned.verdict.state
    (0.0, 'good', 'better')
    """

    chosen: WeightSearch
    """The search whose weights decide, an average where there were resamples."""
    judged: Evidence
    """What weights decide on each fifth of the votes that a search on the other four found: nothing here chose its own weights."""
    options: TuningOptions
    """How it was searched."""
    by_group: dict[Label, WeightSearch] | None = None
    """A search on the rows of each group alone, where minima must hold in each: its weights are those of ``predict(X, by=)``."""

    schema = "compromis/tuning"

    @property
    def weights(self) -> Floats:
        """One weight per class, geometric mean 1."""
        return self.chosen.weights

    @property
    def decision(self) -> Decision:
        """The weights as a decision that can be carried elsewhere."""
        return self.chosen.decision

    @property
    def counts(self) -> Counts:
        """What they decide on the votes, which chose them."""
        return self.chosen.counts

    @property
    def loss(self) -> float:
        """Their loss on the votes, which chose them; `verdict.loss` and `promised` do not look too good."""
        return self.chosen.loss

    @property
    def search(self) -> WeightSearch:
        """The search on the votes themselves, whose weights may be others."""
        return self.chosen.single or self.chosen

    @property
    def stability(self) -> Stability | None:
        """The spread over resamples, where there were any."""
        return self.chosen.stability

    @property
    def guarantee(self) -> Guarantee | None:
        """What holds on new rows, where a confidence was asked for."""
        return self.chosen.guarantee

    @property
    def review(self) -> Reviewed | None:
        """Which rows a person looks at, where a review was asked for."""
        return self.chosen.review

    @cached_property
    def verdict(self) -> Verdict:
        """Whether the decision is better than no model, by `judged`: an estimate that chose weights must not judge them."""
        return verdict_on(self.judged, self.chosen.arrays, rows="cross-fitted")

    @cached_property
    def promised(self) -> Interval:
        """The loss to expect on new rows, that of `judged`, with its 95 % interval."""
        return report_intervals(self.judged, arrays=self.chosen.arrays).summary["loss"]

    @cached_property
    def headline(self) -> Headline:
        """What to expect on new rows: what weights that other rows chose do to the rows of the classes that matter."""
        return headline_of(counts_of(self.judged), self.chosen.arrays, state=self.verdict.state)

    @property
    def summary(self) -> dict[str, float]:
        """The loss on the rows that chose the weights, and the one to expect on new rows."""
        return {"loss": self.loss, "loss_expected": self.verdict.loss}

    def sentences(self) -> list[str]:
        """Return what is found on rows that did not choose the weights, and without tuning, the verdict, the weights."""
        article = "an" if self.verdict.measure.startswith("a") else "a"
        expected = f"on new rows expect {article} {self.verdict.measure} of {self.promised}"
        last = f"{expected}; on these it is {self.loss:.4f}, {self.chosen.known}"
        return self.chosen.sentences_beside(self.headline, self.verdict, last)

    def __repr__(self) -> str:
        return f"<Tuned: {self.headline.sentences()[0]}; {self.verdict.word}>"

    def tables(self) -> list[Table]:
        """Return the weight and the rows of each class, before and after."""
        return self.chosen.tables_of(counts_of(self.judged))

    def text_tables(self) -> list[Table]:
        """Return the tables of the text, of many classes the first ones."""
        return self.chosen.cut(self.tables())

    def columns(self) -> dict[str, list[Any]]:
        """Return the weight and the numbers of each class, column by column."""
        return self.chosen.columns()

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values: what to expect, and the search."""
        promised = {"value": self.promised.value, "low": self.promised.low, "high": self.promised.high}
        return {
            **self.heading(),
            "headline": self.headline.document(),
            "verdict": self.verdict.document(),
            "promised": promised,
            "search": self.chosen.document(),
        }


def tune_votes(
    votes: Votes,
    *,
    preferences: Preferences | Mapping[Any, Any] | None = None,
    method: str | Sweep = "auto",
    smoothing: float | str = "auto",
    resamples: int | str = "auto",
    max_ratio: float | None = None,
    review: Review | None = None,
    random_state: int | None = None,
) -> Tuned:
    """Tune the decision on votes as an estimator tunes its own: steadier with few rows than one search, and judged by other rows.

    Parameters
    ----------
    votes : Votes
        Honest votes with true classes: answers of a language model, of people, or of any model that did not see the rows.
    preferences : Preferences or mapping by class, optional
        What matters; without it every class alike.
    method, resamples, max_ratio, review
        As in `TunedDecisionClassifier`.
    smoothing : float or "auto"
        What is added to every vote; "auto" is half an answer where the votes are answers in words, else 0.
    random_state : int, optional
        The same seed gives the same result.

    Returns
    -------
    Tuned
        ``decision``; ``verdict`` and ``promised``, each fifth of the rows judged by weights searched on the others; ``guarantee``.

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.choice(["bug", "outage"], 900, p=[0.8, 0.2])
    >>> answers = np.where(rng.random((900, 5)) < 0.4, truth[:, None], "bug")  # most outages are called bugs
    >>> votes = cp.Votes.from_answers(answers, labels=["bug", "outage"], y_true=truth)
    >>> tuned = cp.estimators.tune_votes(votes, preferences=cp.Preferences.prioritise(["outage"]), random_state=0)
    >>> tuned.verdict.state, bool(tuned.decision.weights[1] > 1)
    ('better', True)
    """
    if isinstance(smoothing, str):
        if smoothing != "auto":
            raise InputError(f"smoothing is 'auto' or a number of at least 0, got {smoothing!r}", "smoothing")
        read = votes.answers
        smoothing = AUTO_SMOOTHING if read is None else ANSWER_SMOOTHING * read.rows / read.answers
    options = TuningOptions(
        preferences=read_preferences(preferences) or Preferences(),
        method=method,
        smoothing=smoothing,
        resamples=resamples,
        max_ratio=max_ratio,
        calibration="given",
        review=review,
    )
    return tune(votes, options, np.random.default_rng(random_state))


def tune(
    votes: Votes,
    options: TuningOptions,
    generator: np.random.Generator,
    rows: GroupedVotes | None = None,
    by: ByGroup | None = None,
) -> Tuned:
    """Return the weights to decide with, and what a search like it decides on votes that did not choose the weights.

    With resamples the weights are the geometric mean of what the resamples find, steadier for rare classes, and of what a search finds with
    the truth that the votes lead one to expect. Where that misses a constraint, out-of-bag votes are decided by weights as near to it as
    meet all of them; other votes by the mean over resamples alone, and else by the weights of the search on the votes themselves, also
    where the mean is worse than equal weights on the votes. `rows` are the votes row by row, where rows belong to groups; `by` is the
    group of each pattern, where minima must hold in each.
    """
    problem, resamples = options.problem(votes, by), options.resamples_for(len(votes.classes))
    warn_of_few_rows(problem, resamples)
    if rows is not None and problem.arrays.confidence.any():
        raise InputError(
            "a guarantee counts rows that were drawn one by one, which the rows of a group are not; leave groups out, or confidence",
            "groups",
        )
    if rows is not None and options.review is not None and options.review.is_sure:
        raise InputError(
            "a cap that is to hold with a confidence counts rows that were drawn one by one, which the rows of a group are not; leave "
            "groups out, or give max_share without confidence",
            "groups",
        )
    random_state = generator if resamples else int(generator.integers(2**31))
    chosen = search_problem(problem, method=options.method, resamples=resamples, random_state=random_state)
    if chosen.guarantee is not None:
        guarantee = replace(chosen.guarantee, calibration=options.calibration)
        warn_if_not_given(guarantee)
        chosen = replace(chosen, guarantee=guarantee)
    elif resamples and by is None:
        chosen = _towards_expected(problem, chosen, options, generator)
    # rows without honest votes were in every tree's sample, which no new row is
    chosen = with_review(problem, chosen, options.review, unvoted=0)
    if chosen.review is not None:
        chosen = replace(chosen, review=replace(chosen.review, calibration=options.calibration))
    # a verdict needs no search to the end: with many classes, or a single search, only descents from the starts
    slow = problem.classes > (3 if resamples else 2)
    quick = Sweep(rounds=0) if options.method == "auto" and slow else options.method
    seed = int(generator.integers(2**31))
    judged = cross_fitted(problem, quick, seed) if rows is None else rows.cross_fitted(problem, quick, seed)
    by_group = None if by is None else _each_group(problem, by, options, seed)
    return Tuned(chosen=chosen, judged=judged, options=options, by_group=by_group)


def _each_group(problem: SearchProblem, by: ByGroup, options: TuningOptions, seed: int) -> dict[Label, WeightSearch]:
    """Return a search on the rows of each group that has a choice to make; guarantees share the risk, so that all hold together."""
    votes, found = problem.votes, {}
    confidence = np.where(problem.arrays.confidence > 0, 1 - (1 - problem.arrays.confidence) / len(by.names), 0.0)
    arrays = replace(problem.arrays, confidence=confidence)
    for number, name in enumerate(by.names):
        own = np.flatnonzero((by.code == number) & (votes.multiplicity > 0))
        part = votes.with_rows(votes.multiplicity, own)
        present = np.unique(part.truth)
        if len(present) < 2 or not arrays.importance[present].any():
            continue
        part = replace(part, rows=int((part.multiplicity > 0).sum()), left_out=0)
        search = search_problem(
            replace(problem, votes=part, arrays=arrays, by=None), method=options.method, random_state=seed
        )
        if search.guarantee is not None:
            guarantee = replace(search.guarantee, calibration=options.calibration)
            warn_if_not_given(guarantee, f"with the weights of group {name!r} alone, ")
            search = replace(search, guarantee=guarantee)
        found[name] = search
    return found


def _towards_expected(
    problem: SearchProblem, averaged: WeightSearch, options: TuningOptions, generator: np.random.Generator
) -> WeightSearch:
    """Return the log-mean of the weights over resamples and those of a search with the expected truth.

    Out-of-bag votes come from a third of the members, so how bold they are, and what one set of weights loses on them against another, is
    in part noise that new votes do not have: there both count alike, whatever calibration says, and equal weights need not be beaten.
    """
    unfit = problem.arrays.cost is not None or problem.votes.strata is not None
    expected = None if unfit else with_expected_truth(problem.votes, generator)
    search, stability = averaged.single or averaged, averaged.stability
    if expected is None or stability is None or not search.feasible:
        return averaged
    votes, trust = expected
    brief = Sweep(rounds=0) if options.method == "auto" and problem.classes > 2 else options.method
    other = search_problem(replace(problem, votes=votes), method=brief, random_state=int(generator.integers(2**31)))
    mean, out_of_bag = np.log(stability.weights).mean(axis=0), options.calibration == "out-of-bag"
    share = 0.5 if out_of_bag else trust / 2
    weights = normalised(np.exp((1 - share) * mean + share * np.log(other.weights)))
    if out_of_bag:
        weights = _meeting_constraints(problem, weights, search.weights)
    elif not is_kept(problem, weights):
        return averaged
    counts = problem.counts(weights)
    found = replace(averaged, weights=weights, counts=counts, loss=problem.value(counts)[1])
    return replace(found, optimal=False, feasible=True, single=search)


def _meeting_constraints(problem: SearchProblem, weights: Floats, searched: Floats) -> Floats:
    """Return the weights, or the nearest to them on the way to those of a search, which meet all constraints."""
    for step in range(STEPS):
        logs = (STEPS - step) * np.log(weights) + step * np.log(searched)
        moved = normalised(np.exp(logs / STEPS))
        if problem.value(problem.counts(moved))[0] == 0:
            return moved
    return searched


def cross_fitted(problem: SearchProblem, method: str | Sweep, seed: int) -> Counts:
    """Return what weights decide on each fifth of the votes that a search on the other four found."""
    votes, counted = problem.votes, []
    parts = share_out(votes, np.random.default_rng(seed))
    if votes.strata is not None:  # of a sample the patterns stay whole, each in its stratum
        return votes.counted(predicted_by_others(problem, parts.argmax(axis=0), method, seed))
    for part in parts:
        weights = _weights(problem, votes.multiplicity - part, method, seed)
        counted.append(votes.with_rows(part).counts(weights, smoothing=problem.smoothing))
    return replace(reduce(add, counted), rows=votes.rows)


def predicted_by_others(problem: SearchProblem, part: Ints, method: str | Sweep, seed: int) -> Ints:
    """Return the position of each row's predicted class: each part of the votes, row by row, by a search on the other parts."""
    votes = problem.votes
    predicted = np.zeros(len(votes), dtype=np.int64)
    for number in range(PARTS):
        weights = _weights(problem, np.where(part == number, 0, votes.multiplicity), method, seed)
        predicted = np.where(part == number, votes.decide(weights, smoothing=problem.smoothing), predicted)
    return predicted


def _weights(problem: SearchProblem, others: NDArray[Any], method: str | Sweep, seed: int) -> Floats:
    """Return weights searched on the rows `others` of each pattern; equal ones where these ask for no trade."""
    votes, chosen = problem.votes, np.flatnonzero(others > 0)
    present = np.unique(votes.truth[chosen])
    if len(present) < 2 or not problem.arrays.importance[present].any():
        return np.ones(problem.classes)
    by, arrays = None if problem.by is None else problem.by[chosen], problem.arrays
    # of a class with a single row one part asks for nothing: there is no row to guarantee anything from
    sure = np.where(np.isin(np.arange(problem.classes), present), arrays.confidence, 0.0)
    found = votes.with_rows(others, chosen) if votes.strata is None else votes.with_patterns(chosen)
    part = replace(problem, votes=found, by=by, arrays=replace(arrays, confidence=sure))
    return search_problem(part, method=method, random_state=seed).weights


def share_out(votes: Votes, generator: np.random.Generator) -> NDArray[Any]:
    """Share the rows of each pattern out over the parts, so that each has as many rows of each class; of a sample patterns stay whole."""
    rows = votes.pattern_rows if votes.strata is None else np.asarray(votes.multiplicity > 0, dtype=np.int64)
    if rows.sum() > MOST_SHUFFLED:
        times = generator.multinomial(rows, np.full(PARTS, 1 / PARTS)).T
    else:
        times = np.zeros((PARTS, len(votes)), dtype=np.int64)
        for k in range(len(votes.classes)):
            own = np.flatnonzero((votes.truth == k) & (votes.multiplicity > 0))
            row = np.repeat(own, rows[own])
            part = (generator.permutation(len(row)) + generator.integers(PARTS)) % PARTS
            np.add.at(times, (part, row), 1)
    if votes.multiplicity.dtype.kind == "i":
        return times
    return np.where(times == rows, votes.multiplicity, times * (votes.multiplicity / np.maximum(rows, 1)))


@dataclass(frozen=True, slots=True, eq=False)
class GroupedVotes:
    """Votes row by row, and the number of each row's group: groups stay whole in a part, and verdicts count groups."""

    votes: Votes
    group: Ints

    def cross_fitted(self, problem: SearchProblem, method: str | Sweep, seed: int) -> GroupedCounts:
        """Return what weights decide on each fifth of the groups that a search on the other four found."""
        votes, groups = self.votes, int(self.group.max()) + 1
        part = (np.random.default_rng(seed).permutation(groups) % PARTS)[self.group]
        each = predicted_by_others(replace(problem, votes=votes), part, method, seed)
        used = np.flatnonzero(votes.multiplicity > 0)
        truth, predicted, group = votes.truth[used], each[used], self.group[used]
        weight = votes.multiplicity[used] if votes.multiplicity.dtype.kind == "f" else None
        counts = Counts.from_positions(truth, predicted, votes.classes, weight)
        return GroupedCounts.from_positions(truth, predicted, group, counts, weight)
