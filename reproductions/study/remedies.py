"""Remedies where weights tuned on few rows of a class do not hold on new rows: each on the votes of one forest.

One forest is fitted and its votes are gathered once for all remedies and all metrics; the time of each is that of the forest,
its votes and its own search.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold

from compromis.estimators.honest_votes import out_of_bag_votes, out_of_fold_votes, votes_of
from compromis.estimators.tuning import TuningOptions, tune
from compromis.evidence.votes import Votes, decide_votes
from reproductions.study.rivals import TREES, forest
from reproductions.study.rows import Answer, Answers, Clock, Floats, Labels, Rows, Settings

HALF_A_VOTE = 0.5 / TREES
REPEATS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Ballot:
    """Votes to search on, votes to decide new rows by, and what they cost."""

    honest: Floats
    new: Floats
    seconds: float


@dataclass(frozen=True, slots=True)
class Remedy:
    """Which votes are searched, half a vote for every class or none, and whether weights are averaged over resamples."""

    votes: str = "out of bag"
    smoothing: float = 0.0
    resampled: bool = False
    unless_idle: bool = False
    """Whether half a vote is taken back where the search then does no better than a decision without a model."""


REMEDIES = {
    "none": Remedy(),
    "half a vote": Remedy(smoothing=HALF_A_VOTE),
    "repeated out-of-fold": Remedy("out of fold"),
    "resamples": Remedy(resampled=True),
    "resamples, probabilities": Remedy("probabilities", resampled=True),
    "resamples, half a vote": Remedy(smoothing=HALF_A_VOTE, resampled=True),
    "resamples, half a vote unless idle": Remedy(smoothing=HALF_A_VOTE, resampled=True, unless_idle=True),
}


def remedies(train: Rows, test: Rows, settings: Settings) -> dict[str, Answers]:
    """What each remedy decides about the test rows under each metric."""
    ballots, labels = gathered(train, test, settings.seed)
    return {
        name: {
            metric: answer(remedy, ballots[remedy.votes], train.y, labels, (preferences, settings.seed))
            for metric, preferences in settings.by_metric.items()
        }
        for name, remedy in REMEDIES.items()
    }


def gathered(train: Rows, test: Rows, seed: int) -> tuple[dict[str, Ballot], Labels]:
    """Out-of-bag votes, out-of-bag probabilities, and votes of three times five folds."""
    fitting, bagging, likely, folding = Clock(), Clock(), Clock(), Clock()
    with fitting.running():
        model = forest(seed).fit(train.codes, train.y)
    labels = model.classes_
    with bagging.running():
        bag = out_of_bag_votes(model, train.codes, labels, hard=True)
    with likely.running():
        shares = out_of_bag_votes(model, train.codes, labels, hard=False)
    with folding.running():
        splits = RepeatedStratifiedKFold(n_splits=5, n_repeats=REPEATS, random_state=seed).split(train.codes, train.y)
        fold = out_of_fold_votes(forest(seed), train.codes, train.y, splits, labels, hard=True, fit_params={}, n_jobs=1)
    hard, soft = (votes_of(model, test.codes, labels, hard=flag) for flag in (True, False))
    return {
        "out of bag": Ballot(bag, hard, fitting.seconds + bagging.seconds),
        "probabilities": Ballot(shares, soft, fitting.seconds + likely.seconds),
        "out of fold": Ballot(fold, hard, fitting.seconds + folding.seconds),
    }, labels


def answer(remedy: Remedy, ballot: Ballot, truth: Labels, labels: Labels, asked: tuple[Any, int]) -> Answer:
    """The decisions with the weights that are found, as `TunedDecisionClassifier` finds them."""
    preferences, seed = asked
    clock = Clock()
    with clock.running():
        patterns = Votes.from_proba(truth, ballot.honest, labels=labels.tolist())
        options = TuningOptions(
            preferences=preferences, smoothing=remedy.smoothing, resamples="auto" if remedy.resampled else 0
        )
        found = tune(patterns, options, np.random.default_rng(seed))
        smoothing = remedy.smoothing
        if remedy.unless_idle and found.search.loss >= min(one.loss for one in found.search.baselines):
            smoothing = 0.0
            found = tune(patterns, replace(options, smoothing=0.0), np.random.default_rng(seed))
    predicted = labels[decide_votes(ballot.new, found.weights, smoothing)]
    return Answer(predicted, ballot.seconds + clock.seconds, found.loss)
