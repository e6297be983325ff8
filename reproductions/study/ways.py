"""The ways to tune: which votes are searched, and how weights are made of what searches find."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from compromis.estimators.tuning import Tuned, TuningOptions, tune
from compromis.evidence.votes import Votes, decide_votes
from compromis.measures.pragma import pragma
from compromis.weights.problem import SearchProblem
from compromis.weights.search import WeightSearch, search_problem
from compromis.weights.stability import resampled
from compromis.weights.sweep import Sweep
from reproductions.study.ballots import Ballot
from reproductions.study.rows import Asked, Floats, Fold, Ints

RESAMPLES, RESAMPLES_MANY = 20, 6
TRUST = 0.75
"""Votes whose calibration is below are too bold."""
NO_WEIGHT = 1e-4
"""Expected truths of less than this are left out."""


def calibrated(ballot: Ballot, truth: Ints) -> tuple[Floats, float]:
    """Probabilities softmax(e^t log v + c), with a ridge on t and c, and e^t: below 1 where votes are bolder than they should be."""
    logs = np.log(ballot.honest + max(ballot.half, 1e-6))
    rows, classes = logs.shape

    def loss(at: Floats) -> tuple[float, Floats]:
        scores = np.exp(at[0]) * logs + at[1:]
        own, off = log_softmax(scores, axis=1), softmax(scores, axis=1)
        off[np.arange(rows), truth] -= 1
        slope = np.concatenate([[np.exp(at[0]) * (off * logs).sum()], off.sum(axis=0)])
        return float(-own[np.arange(rows), truth].sum() + (at @ at) / 2), slope + at

    at = minimize(loss, np.zeros(classes + 1), jac=True, method="L-BFGS-B").x
    return softmax(np.exp(at[0]) * logs + at[1:], axis=1), float(np.exp(at[0]))


@dataclass(eq=False)
class Evidence:
    """Honest votes of a fold with their truth, and with what truth they lead one to expect; no preferences matter here."""

    ballot: Ballot
    fold: Fold
    calibration: str
    """Whether the votes are out-of-bag or out-of-fold."""

    @cached_property
    def votes(self) -> Votes:
        """The votes and what is true."""
        return Votes.from_proba(self.fold.train.y, self.ballot.honest, labels=self.fold.labels)

    @cached_property
    def _calibrated(self) -> tuple[Floats, float]:
        return calibrated(self.ballot, self.fold.truth)

    @property
    def trust(self) -> float:
        """By which power votes become probabilities: below 1 they are too bold, and what they lead one to expect is not to be trusted."""
        return self._calibrated[1]

    def mixed(self, share: float) -> Votes:
        """Votes whose truth is a mixture: a `share` of what is expected, the rest of what is true."""
        rows, classes = self.ballot.honest.shape
        truth = (1 - share) * np.eye(classes)[self.fold.truth] + share * self._calibrated[0]
        truth[self.ballot.honest.sum(axis=1) == 0] = 0
        row, label = np.nonzero(truth > NO_WEIGHT)
        return Votes(
            votes=self.ballot.honest[row],
            truth=label.astype(np.int64),
            multiplicity=truth[row, label],
            classes=tuple(self.fold.labels),
            rows=rows,
        )

    @cached_property
    def expected(self) -> Votes:
        """Votes with the truth that they lead one to expect."""
        return self.mixed(1.0)

    @cached_property
    def half(self) -> Votes:
        """Half and half."""
        return self.mixed(0.5)

    @cached_property
    def priors(self) -> Floats:
        """The class shares."""
        return np.bincount(self.fold.truth, minlength=len(self.fold.labels)) / len(self.fold.truth)


@dataclass(eq=False)
class Searches:
    """What searches under one metric and preferences find on one evidence; each is made when first asked for."""

    evidence: Evidence
    asked: Asked
    smoothing: float
    seed: int

    def _search(self, votes: Votes, bound: float | None = None) -> Floats:
        method = "auto" if len(votes.classes) == 2 else Sweep(rounds=0)
        problem = SearchProblem.read(votes, self.asked.preferences, smoothing=self.smoothing, max_ratio=bound)
        return search_problem(problem, method=method, random_state=self.seed).weights

    def _bagged(self, votes: Votes, bound: float | None = None) -> Floats:
        generator = np.random.default_rng(self.seed)
        number = RESAMPLES if len(votes.classes) <= 3 else RESAMPLES_MANY
        found = [self._search(resampled(votes, generator), bound) for _ in range(number)]
        return self._steady(np.exp(np.log(found).mean(axis=0)))

    def _steady(self, weights: Floats) -> Floats:
        """The weights, unless equal ones lose less on the evidence: then those of one search, as the library does."""
        return weights if self.loss(weights) <= self.loss(np.ones(len(weights))) else self.single

    def loss(self, weights: Floats) -> float:
        """What weights lose on the evidence."""
        return self.asked.loss(self.evidence.votes.counts(weights, smoothing=self.smoothing).matrix)

    @cached_property
    def single(self) -> Floats:
        """One search."""
        return self._search(self.evidence.votes)

    @cached_property
    def library(self) -> Floats:
        """The default of 0.1.0: resamples, unless equal weights lose less; with three classes searched exactly."""
        generator, votes = np.random.default_rng(self.seed), self.evidence.votes
        seed, classes = int(generator.integers(2**31)), len(votes.classes)

        def search(some: Votes, method: str | Sweep) -> WeightSearch:
            problem = SearchProblem.read(some, self.asked.preferences, smoothing=self.smoothing, max_ratio=None)
            return search_problem(problem, method=method, random_state=seed)

        single, quick = search(votes, "auto"), Sweep(rounds=0) if classes > 3 else "auto"
        number = RESAMPLES if classes <= 3 else RESAMPLES_MANY
        found = [search(resampled(votes, generator), quick).weights for _ in range(number)]
        mean = np.exp(np.log(np.array(found)).mean(axis=0))
        counts = [votes.counts(one, smoothing=self.smoothing) for one in (mean, np.ones(classes))]
        losses = [pragma(one, self.asked.arrays).total for one in counts]
        return mean if single.feasible and losses[0] <= losses[1] else single.weights

    @cached_property
    def tuned(self) -> Tuned:
        """What the library does today."""
        return self._tuned(self.evidence.calibration)

    def _tuned(self, calibration: str) -> Tuned:
        options = TuningOptions(preferences=self.asked.preferences, smoothing=self.smoothing, calibration=calibration)
        return tune(self.evidence.votes, options, np.random.default_rng(self.seed))

    @cached_property
    def first(self) -> Floats:
        """The default that was judged first: out-of-bag votes treated as out-of-fold votes are."""
        return self._tuned("out-of-fold").weights

    @property
    def default(self) -> Floats:
        """The library's default today."""
        return self.tuned.weights

    @property
    def judged(self) -> Floats:
        """The same; what it promises is cross-fitted, where other ways promise the loss on the votes that chose their weights."""
        return self.tuned.weights

    def promised(self, search: str, weights: Floats) -> float:
        """The loss that is promised."""
        return self.asked.loss(self.tuned.judged.matrix) if search == "judged" else self.loss(weights)

    @cached_property
    def bagged(self) -> Floats:
        """The geometric mean over resamples."""
        return self._bagged(self.evidence.votes)

    @cached_property
    def bounded(self) -> Floats:
        """The same, within e^4 of each other."""
        return self._bagged(self.evidence.votes, float(np.exp(4)))

    @cached_property
    def expected(self) -> Floats:
        """One search with the truth that is expected."""
        return self._search(self.evidence.expected)

    @cached_property
    def half(self) -> Floats:
        """One search with half of it."""
        return self._search(self.evidence.half)

    @cached_property
    def mean(self) -> Floats:
        """The log-mean of bagged and expected."""
        return self._steady(np.sqrt(self.bagged * self.expected))

    @cached_property
    def bagged_half(self) -> Floats:
        """The geometric mean over resamples, with half of the expected truth."""
        return self._bagged(self.evidence.half)

    @cached_property
    def mean_half(self) -> Floats:
        """The log-mean of bagged and half."""
        return self._steady(np.sqrt(self.bagged * self.half))

    @cached_property
    def trusted_mean(self) -> Floats:
        """The log-mean of bagged and expected where votes are not too bold, else bagged."""
        return self.mean if self.evidence.trust >= TRUST else self.bagged

    @cached_property
    def trusted_expected(self) -> Floats:
        """Expected where votes are not too bold, else bagged."""
        return self._steady(self.expected) if self.evidence.trust >= TRUST else self.bagged

    @cached_property
    def gradual_mean(self) -> Floats:
        """The log-mean of bagged and expected, with less of expected the bolder votes are."""
        share = 0.5 * min(1.0, self.evidence.trust**2)
        return self._steady(self.bagged ** (1 - share) * self.expected**share)

    @cached_property
    def bounded_mean(self) -> Floats:
        """The log-mean of bagged and expected, both bounded."""
        return self._steady(np.sqrt(self.bounded * self._search(self.evidence.expected, float(np.exp(4)))))

    @cached_property
    def shrunken(self) -> Floats:
        """Bagged weights shrunk to those of the best power of the class shares, by the rows of the class."""
        powers = [self.evidence.priors**-power for power in np.linspace(0, 1.5, 16)]
        tau = min(powers, key=self.loss)
        trust = self.evidence.priors * len(self.evidence.fold.truth)
        trust = trust / (trust + 20)
        return np.exp(trust * np.log(self.bagged) + (1 - trust) * np.log(tau / np.exp(np.log(tau).mean())))


@dataclass(frozen=True, slots=True)
class Way:
    """A base model, which of its votes are searched, how weights come of searches, and half a vote for every class or none."""

    base: str
    votes: str
    search: str
    half_a_vote: bool = False

    @property
    def name(self) -> str:
        """Its name in results."""
        return f"{self.votes}, {self.search}" + ", half a vote" * self.half_a_vote

    def decide(self, searches: Searches) -> tuple[Ints, float]:
        """Decisions about the test rows, and the loss that training promised."""
        weights = getattr(searches, self.search.replace(" ", "_"))
        new = searches.evidence.ballot.new
        return decide_votes(new, weights, searches.smoothing), searches.promised(self.search, weights)


TUNED = ("first", "default", "judged")
"""The default for out-of-bag votes that was judged first, the one that is judged second, and the same with its promise cross-fitted."""


def _ways() -> list[Way]:
    found = [Way("forest", "hard", "library"), Way("pragma", "hard", "library")]
    for base in ("forest", "pragma"):
        found += [Way(base, "hard", search) for search in ("bagged", "mean")]
        found += [Way(base, "hard", search, True) for search in ("bagged", "mean")]
    rich = ("single", "bagged", "bounded", "expected", "half", "mean", "bounded mean", "shrunken")
    for base in ("forest", "pragma"):
        found += [Way(base, "bag", search) for search in rich] + [
            Way(base, "bag", search, True) for search in ("bagged", "mean")
        ]
    for base in ("forest", "lightgbm", "logistic"):
        found += [
            Way(base, "folds 5", search)
            for search in ("library", "single", "bagged", "expected", "half", "mean", "bounded mean")
        ]
    found += [Way("logistic", "folds 10", search) for search in ("bagged", "mean")]
    for base in ("laplace", "m", "leaf 5", "class_weight leaf 5", "300", "balanced", "balanced 300", "balanced 3", "balanced 3, 300",
                 "balanced leaf 3"):  # fmt: skip
        found += [Way(f"pragma {base}", "bag", search) for search in ("bagged", "expected", "mean")]
    found += [
        Way(f"pragma {base}", "hard", "bagged")
        for base in ("leaf 5", "300", "balanced", "balanced 300", "balanced 3, 300")
    ]
    second = ("bagged half", "mean half", "trusted mean", "trusted expected", "gradual mean")
    for base, votes in (("forest", "bag"), ("forest", "folds 5"), ("pragma", "bag"), ("pragma 300", "bag"), ("lightgbm", "folds 5"),
                        ("logistic", "folds 5")):  # fmt: skip
        found += [Way(base, votes, search) for search in second]
    for base in ("few 25", "few 50"):
        found += [
            Way(f"pragma {base}", "bag", search)
            for search in ("bagged", "expected", "mean", "trusted mean", "trusted expected")
        ]
    found += [Way(base, "hard", search) for base in ("forest", "pragma auto") for search in TUNED]
    found += [Way(base, "folds 5", search) for base in ("lightgbm", "logistic") for search in ("default", "judged")]
    return found


WAYS: list[Way] = _ways()
"""Every way that was tried."""
CHOSEN: list[Way] = [
    *(Way(base, "hard", "library") for base in ("forest", "pragma")),
    *(Way(base, "folds 5", "library") for base in ("lightgbm", "logistic", "boosting")),
    *(Way(base, "hard", search) for base in ("forest", "pragma auto") for search in TUNED),
    *(
        Way(base, "folds 5", search)
        for base in ("lightgbm", "logistic", "boosting")
        for search in ("default", "judged")
    ),
]
"""Those that the confirming families judge: the default of 0.1.0, and those that the developing families chose, first and second."""
