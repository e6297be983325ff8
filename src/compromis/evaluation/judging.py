"""Judging the folds of a cross-validation: fitted models become evaluations, and evaluations are pooled."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from compromis._typing import Floats, Ints, Label
from compromis.evaluation.folding import Fold, take_rows
from compromis.evaluation.optimism import chosen_loss
from compromis.evaluation.scored import ScoredRows
from compromis.evidence.counts import Counts
from compromis.evidence.distributions import DistributionErrors
from compromis.evidence.grouped import GroupedCounts
from compromis.evidence.positions import positions_in
from compromis.measures.probability import smoothed_shares
from compromis.measures.rates import roc_area_of_decisions
from compromis.preferences import Preferences
from compromis.reporting.cross_evaluation import CrossEvaluation
from compromis.reporting.evaluation import Evaluation
from compromis.uncertainty.drawing import Evidence
from compromis.uncertainty.intervals import ReportIntervals, report_intervals


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """The checked input of a cross-validation; classes and groups are positions."""

    truth: Ints
    classes: tuple[Label, ...]
    group: Ints | None
    weight: Floats | None
    preferences: Preferences | None
    cost: Floats | None

    def counts(self, rows: Ints, predicted: Ints) -> Counts:
        """Count some rows against decisions."""
        return Counts.from_positions(self.truth[rows], predicted, self.classes, self.weight_of(rows))

    def weight_of(self, rows: Ints) -> Floats | None:
        """Return the weights of some rows."""
        return None if self.weight is None else self.weight[rows]


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What one fold's model says about its test rows."""

    predicted: Any
    shares: Floats | None
    classes: Any
    chosen: float
    """The loss on the rows on which the model chose its weights; NaN if it chose none."""
    fit_seconds: float
    predict_seconds: float


def fit_and_judge(estimator: Any, X: Any, y: Any, weight: Floats | None, fold: Fold) -> Judged:
    """Fit a model on a fold's training rows and let it decide the test rows; this is what runs in parallel."""
    train_X, train_y, test_X = take_rows(X, fold.train), take_rows(y, fold.train), take_rows(X, fold.test)
    start = time.perf_counter()
    estimator.fit(train_X, train_y, **({} if weight is None else {"sample_weight": weight[fold.train]}))
    fitted = time.perf_counter()
    predicted = estimator.predict(test_X)
    shares = None
    if hasattr(estimator, "predict_proba") and hasattr(estimator, "classes_"):
        shares = np.asarray(estimator.predict_proba(test_X), dtype=np.float64)
    done = time.perf_counter()
    classes = getattr(estimator, "classes_", None)
    return Judged(predicted, shares, classes, chosen_loss(estimator), fitted - start, done - fitted)


def evaluate_folds(setup: Setup, folds: Sequence[Fold], judged: Sequence[Judged]) -> list[Evaluation]:
    """Return the evaluation of each fold's test rows, relative errors against the fold's training rows."""
    parts = []
    for fold, one in zip(folds, judged, strict=True):
        counts = setup.counts(fold.test, _predicted(one, setup))
        scored = _scored(setup, [fold], [one])
        if scored is None:
            errors, areas = DistributionErrors.from_counts(counts), roc_area_of_decisions(counts)
        else:
            errors = DistributionErrors.from_distributions(scored.truth, scored.shares, scored.weight)
            areas = scored.roc_areas()
        priors = smoothed_shares(setup.counts(fold.train, setup.truth[fold.train]))
        parts.append(Evaluation(counts, errors, areas, priors, True, setup.preferences, setup.cost))
    return parts


def pool(
    setup: Setup,
    folds: Sequence[Fold],
    judged: Sequence[Judged],
    parts: Sequence[Evaluation],
    level: float | None,
    optimism: float,
) -> CrossEvaluation:
    """Return the evaluation of all test rows together, with the folds beside it."""
    tested = np.concatenate([fold.test for fold in folds])
    distinct = len(np.unique(tested))
    repeats = len(tested) / distinct
    counts = sum((part.counts for part in parts[1:]), parts[0].counts)
    errors = sum((part.errors for part in parts[1:]), parts[0].errors)
    scored = _scored(setup, folds, judged, repeats)
    areas = roc_area_of_decisions(counts) if scored is None else scored.roc_areas()
    pooled = CrossEvaluation(
        counts, errors, areas, smoothed_shares(counts), True, setup.preferences, setup.cost,
        votes=None if scored is None else scored.votes,
        folds=tuple(parts),
        train_rows=tuple(len(fold.train) for fold in folds),
        test_rows=tuple(len(fold.test) for fold in folds),
        fit_seconds=tuple(one.fit_seconds for one in judged),
        predict_seconds=tuple(one.predict_seconds for one in judged),
        untested=len(setup.truth) - distinct,
        repeats=repeats,
        optimism=optimism,
        level=level or 0.95,
    )  # fmt: skip
    if level is None:
        return pooled
    predicted = np.concatenate([_predicted(one, setup) for one in judged])
    return replace(pooled, intervals=_intervals(setup, pooled, tested, predicted, scored))


def _intervals(
    setup: Setup, pooled: CrossEvaluation, tested: Ints, predicted: Ints, scored: ScoredRows | None
) -> ReportIntervals:
    evidence: Evidence = _independent(pooled.counts, pooled.repeats)
    if setup.group is not None:
        truth, group = setup.truth[tested], setup.group[tested]
        evidence = GroupedCounts.from_positions(truth, predicted, group, pooled.counts, setup.weight_of(tested))
    intervals = report_intervals(evidence, arrays=pooled.arrays, cost=setup.cost, confidence=pooled.level)
    return intervals if scored is None else intervals.with_roc_areas(scored.roc_area_intervals(pooled.level))


def _independent(counts: Counts, repeats: float) -> Counts:
    """Return counts that say how many independent rows they rest on, where each row was tested several times."""
    if repeats == 1:
        return counts
    squares = counts.matrix if counts.squares is None else counts.squares
    return Counts(counts.matrix, counts.classes, counts.rows, squares * repeats)


def _predicted(one: Judged, setup: Setup) -> Ints:
    return positions_in(one.predicted, setup.classes, "the predictions")


def _scored(setup: Setup, folds: Sequence[Fold], judged: Sequence[Judged], repeats: float = 1.0) -> ScoredRows | None:
    """Return the distributions in the order of all classes; a class that a training fold lacks has probability 0."""
    parts = []
    for one in judged:
        if one.shares is None:
            return None
        shares = np.zeros((len(one.shares), len(setup.classes)))
        shares[:, positions_in(one.classes, setup.classes, "classes_")] = one.shares
        parts.append(shares)
    rows = np.concatenate([fold.test for fold in folds])
    group = None if setup.group is None else setup.group[rows]
    return ScoredRows(setup.truth[rows], np.concatenate(parts), setup.classes, setup.weight_of(rows), group, repeats)
