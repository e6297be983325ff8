"""Tune a decision on honest votes: the search, its resamples, and what it promises on new rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._text import shown_label
from compromis._typing import Floats
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.evidence.votes import Votes
from compromis.measures.pragma import pragma, shortfall
from compromis.preferences import Preferences
from compromis.uncertainty.intervals import Interval
from compromis.uncertainty.report_intervals import report_intervals
from compromis.uncertainty.verdict import Verdict, verdict_on
from compromis.weights.decision import threshold_sentence
from compromis.weights.descent import Value, precedes
from compromis.weights.search import WeightSearch, search_weights
from compromis.weights.sweep import Sweep

FIFTHS = 5
"""The parts of the evidence that are judged by weights searched on the others."""
MOST_SHUFFLED = 1_000_000
"""More rows are shared out at random, without equal numbers of each class in each part."""
AUTO_SMOOTHING = 0.0
"""Half a vote for every class ranked best but once predicted constantly; see docs/tuning.md."""
AUTO_RESAMPLES, AUTO_RESAMPLES_MANY = 20, 6
"""For up to three classes, and for more, where a search takes longer; see docs/tuning.md for the comparison."""


@dataclass(frozen=True, slots=True, eq=False)
class Stability:
    """How much the chosen weights depend on the rows they were searched on.

    Attributes
    ----------
    weights : ndarray of shape (resamples, K)
        The weights that a search finds on each bootstrap resample of the evidence.
    losses : ndarray of shape (resamples,)
        What those weights lose on the whole evidence.
    """

    weights: Floats
    losses: Floats

    @property
    def ratio(self) -> Floats:
        """For each class, how many times its weight the 95 % point of the resamples is above the 5 % point; 1 is steady."""
        low, high = np.quantile(np.log(self.weights), [0.05, 0.95], axis=0)
        return np.exp(high - low)

    def __str__(self) -> str:
        low, high = np.quantile(self.losses, [0.05, 0.95])
        return (
            f"over {len(self.losses)} resamples the loss lies between {low:.4f} and {high:.4f}; "
            f"the weights vary by factors up to {self.ratio.max():.3g}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningOptions:
    """What weights are searched for, and how."""

    preferences: Preferences = field(default_factory=Preferences)
    method: str | Sweep = "auto"
    smoothing: float = 0.0
    resamples: int | str = "auto"
    max_ratio: float | None = None

    def resamples_for(self, classes: int) -> int:
        """Return over how many resamples the weights are averaged."""
        given = self.resamples
        if isinstance(given, str) and given == "auto":
            return AUTO_RESAMPLES if classes <= 3 else AUTO_RESAMPLES_MANY
        if not isinstance(given, int | np.integer) or given < 0:
            raise InputError(f"resamples is 'auto' or a number of at least 0, got {given!r}")
        return int(given)

    def check(self, classes: Sequence[Any]) -> None:
        """Raise what the search on honest votes would raise for these options, before there are any.

        The search itself reads its options, so it gets one vote for each class.
        """
        self.resamples_for(len(classes))
        self.search(Votes.from_proba(classes, np.eye(len(classes)), labels=classes), seed=0)

    def search(self, votes: Votes, seed: int) -> WeightSearch:
        """Search weights on the votes."""
        return search_weights(
            votes,
            preferences=self.preferences,
            method=self.method,
            smoothing=self.smoothing,
            max_ratio=self.max_ratio,
            random_state=seed,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Tuned:
    """The weights that an estimator decides with, and what they are worth on the evidence.

    Attributes
    ----------
    weights : ndarray of shape (K,)
        One weight per class, geometric mean 1.
    counts : Counts
        What they decide on the evidence.
    fitted_across : Counts
        What weights decide on each fifth of the evidence that a search on the other four found: nothing here chose its own weights.
    search : WeightSearch
        The search on the whole evidence, whose weights may be others.
    options : TuningOptions
        How it was searched.
    stability : Stability or None
        The spread over resamples, where there were any.
    """

    weights: Floats
    counts: Counts
    fitted_across: Counts
    search: WeightSearch
    options: TuningOptions
    stability: Stability | None = None

    @cached_property
    def verdict(self) -> Verdict:
        """Whether they are better than no model, by `fitted_across`: an estimate that chose weights must not judge them."""
        return verdict_on(self.fitted_across, self.search.arrays, rows="cross-fitted")

    @property
    def loss(self) -> float:
        """Their PRAGMA loss on the evidence, which chose them; `verdict.loss` and `promised` do not look too good."""
        return pragma(self.counts, self.search.arrays).total

    @cached_property
    def promised(self) -> Interval:
        """The loss to expect on new rows, that of `fitted_across`, with its 95 % interval."""
        return report_intervals(self.fitted_across, arrays=self.search.arrays).summary["loss"]

    def __str__(self) -> str:
        search, weights = self.search, zip(self.search.classes, self.weights, strict=True)
        how = f"{'proven to be the lowest' if search.optimal else 'the lowest found'} on these votes"
        if self.stability is not None and self.weights is not search.weights:
            lowest = f"{search.loss:.4f} is {how}, and would promise too much" if self.loss > search.loss else how
            how = f"with weights averaged over {len(self.stability.losses)} resamples ({lowest})"
        lines = [
            f"loss {self.loss:.4f}, {how}",
            f"on new rows expect {self.promised}, from weights searched on other rows",
            "weights: " + ", ".join(f"{shown_label(label)} {weight:.4g}" for label, weight in weights),
            *threshold_sentence(replace(search.decision, weights=self.weights), self.counts),
        ]
        lines += [f"note: {search.message}"] if search.message else []
        return "\n".join([*lines, f"Verdict: {self.verdict}."])


def tune(votes: Votes, options: TuningOptions, generator: np.random.Generator) -> Tuned:
    """Return the weights to decide with, what they are worth, the search on the whole evidence and the stability.

    With resamples the weights are the geometric mean of what the resamples find: steadier for rare classes. Where that is worse than
    equal weights on the evidence, or misses a constraint, the weights of the search on the whole evidence are kept.
    """
    classes = len(votes.classes)
    resamples = options.resamples_for(classes)
    seed = int(generator.integers(2**31))
    search = options.search(votes, seed)
    # neither a mean nor a verdict needs a search to the end: with many classes only descents from the starts, without perturbations
    quick = replace(options, method=Sweep(rounds=0)) if options.method == "auto" and classes > 3 else options
    across = fitted_across(votes, quick, seed)
    tuned = Tuned(weights=search.weights, counts=search.counts, fitted_across=across, search=search, options=options)
    if resamples == 0:
        return tuned

    def value(weights: Floats) -> Value:
        counts = votes.counts(weights, smoothing=options.smoothing)
        return shortfall(counts, search.arrays), pragma(counts, search.arrays).total

    weights = np.array([quick.search(resampled(votes, generator), seed).weights for _ in range(resamples)])
    tuned = replace(tuned, stability=Stability(weights, np.array([value(row)[1] for row in weights])))
    mean = np.exp(np.log(weights).mean(axis=0))
    missed = value(mean)[0] > 0  # what the search meets, the mean meets too, or it is not taken
    if missed or not search.feasible or precedes(value(np.ones(classes)), value(mean)):
        return tuned
    return replace(tuned, weights=mean, counts=votes.counts(mean, smoothing=options.smoothing))


def fitted_across(votes: Votes, options: TuningOptions, seed: int) -> Counts:
    """Return what weights decide on each fifth of the votes that a search on the other four found."""
    held_out = _fifths(votes, np.random.default_rng(seed))
    parts = []
    for rows in held_out:
        others = _with_rows(votes, votes.multiplicity - rows)
        tradable = np.unique(others.truth).size > 1
        weights = options.search(others, seed).weights if tradable else np.ones(len(votes.classes))
        parts.append(_with_rows(votes, rows).counts(weights, smoothing=options.smoothing))
    matrix = np.sum([part.matrix for part in parts], axis=0)
    return Counts(matrix, votes.classes, votes.rows)


def _fifths(votes: Votes, generator: np.random.Generator) -> NDArray[Any]:
    """Share the rows of each pattern out over five parts, so that each has a fifth of the rows of each class."""
    whole = votes.multiplicity.dtype.kind == "i"
    if whole and votes.multiplicity.sum() > MOST_SHUFFLED:
        return generator.multinomial(votes.multiplicity, np.full(FIFTHS, 1 / FIFTHS)).T
    parts = np.zeros((FIFTHS, len(votes)), dtype=votes.multiplicity.dtype)
    for k in range(len(votes.classes)):
        own = np.flatnonzero((votes.truth == k) & (votes.multiplicity > 0))
        row = np.repeat(own, votes.multiplicity[own]) if whole else own  # a weighted row goes to one part
        part = (generator.permutation(len(row)) + generator.integers(FIFTHS)) % FIFTHS
        np.add.at(parts, (part, row), 1 if whole else votes.multiplicity[row])
    return parts


def _with_rows(votes: Votes, multiplicity: NDArray[Any]) -> Votes:
    chosen = np.flatnonzero(multiplicity > 0)
    return replace(
        votes,
        votes=votes.votes[chosen],
        truth=votes.truth[chosen],
        multiplicity=multiplicity[chosen],
        rows=0,
        left_out=0,
    )


def resampled(votes: Votes, generator: np.random.Generator) -> Votes:
    """Return a bootstrap resample of the rows, drawn within each true class so that no rare class disappears."""
    multiplicity = votes.multiplicity.copy()
    for k in range(len(votes.classes)):
        own = np.flatnonzero((votes.truth == k) & (votes.multiplicity > 0))
        if own.size == 0:
            continue
        weight = votes.multiplicity[own]
        if multiplicity.dtype.kind == "i":
            multiplicity[own] = generator.multinomial(weight.sum(), weight / weight.sum())
        else:  # weighted rows: each row is drawn so many times, with its weight
            multiplicity[own] = weight * generator.multinomial(own.size, np.full(own.size, 1 / own.size))
    return replace(votes, multiplicity=multiplicity)
