"""6. Few distinct scores and neighbours of floating point: what is stored is what the cut, or the weights, decide."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

import compromis as cp
from tests.stress.counting import count_seeds
from tests.stress.outcome import Outcome, Progress, scaled, silent

TITLE = "near-equal scores: points and weights applied give the stored counts"
FULL = 100_000
QUICK = 0.0008
METRICS = ("kulczynski", "f", "fowlkes_mallows", "jaccard")


class Told(ClassifierMixin, BaseEstimator):
    """A classifier that repeats the votes it is given as X."""

    def fit(self, X: Any, y: Any) -> Told:
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.asarray(X)

    def predict(self, X: Any) -> Any:
        return self.classes_[np.asarray(X).argmax(axis=1)]


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count the cases in which re-applying gives other counts."""
    return count_seeds(check, range(scaled(FULL, scale)), progress)


def check(seed: int) -> None:
    """Cuts of one score, then weights of two or three classes."""
    rng = np.random.default_rng(seed)
    check_cuts(rng, METRICS[seed % 4])
    if seed % 2:
        check_weights(rng, seed)
    else:
        check_sweep(rng, seed)
    if seed % 100 == 1:
        check_predict(rng)


def near_equal(rng: Any, shape: Any) -> Any:
    """Positive numbers of few values, each with its neighbours one and two steps away."""
    values = rng.choice([0.1, 0.2, 0.3, 1 / 3, 0.5, 0.7, 1.0, 1e-5], shape)
    steps = rng.integers(-2, 3, shape)
    for step in (1, 2):
        values = np.where(np.abs(steps) >= step, np.nextafter(values, np.where(steps > 0, 2.0, 0.0)), values)
    return values


def check_cuts(rng: Any, metric: str) -> None:
    """Every cut and every interval of the optimal curve, by its threshold."""
    rows = int(rng.integers(2, 14))
    flags, score = rng.random(rows) < 0.5, near_equal(rng, rows)
    flags[0] = True
    points = cp.OperatingPoints.from_predictions(flags, score)
    for threshold, hits, alarms in zip(points.threshold, points.true_positives, points.false_positives, strict=True):
        above = score >= threshold
        assert (hits, alarms) == ((above & flags).sum(), (above & ~flags).sum()), f"cut at {threshold!r}"
    curve = cp.TradeoffCurve(points, metric)
    for part in curve.intervals:
        above = score >= part.threshold
        assert part.recall == (above & flags).sum() / flags.sum(), f"recall of the interval from {part.low}"
        assert not above.any() or part.precision == (above & flags).sum() / above.sum(), f"precision from {part.low}"
    choice = curve.best(float(rng.random()))
    assert choice.recall == (flags & (score >= choice.threshold)).sum() / flags.sum(), "recall of the chosen cut"


def small_problem(rng: Any, seed: int) -> tuple[Any, Any, cp.Preferences, int]:
    """Votes that nearly tie, true classes, preferences, and the number of classes."""
    classes, rows = 2 + seed // 2 % 2, int(rng.integers(2, 12))
    votes = near_equal(rng, (rows, classes))
    if seed % 3 == 0:
        votes = votes * (rng.random(votes.shape) < 0.8)
        votes[0, 0] = votes[1, 1] = 0.3
    y = rng.integers(0, classes, rows)
    y[: min(rows, 2)] = [0, 1][: min(rows, 2)]
    preferences = cp.Preferences(
        {0: cp.Preference(float(rng.integers(1, 10)), 0.1, 0.9)}, metric=METRICS[seed // 4 % 4]
    )
    return votes, y, preferences, classes


def predicted(votes: Any, y: Any, decision: Any, classes: int) -> list[list[int]]:
    """Count labels by hand; rows without votes do not count."""
    matrix = [[0] * classes for _ in range(classes)]
    for row, truth, label in zip(votes, y, decision, strict=True):
        matrix[truth][label] += int(row.any())
    return matrix


def check_weights(rng: Any, seed: int) -> None:
    """Weights found, carried away as JSON, and applied: plain arithmetic and the library decide alike, as stored."""
    votes, y, preferences, classes = small_problem(rng, seed)
    method = "exact" if seed % 8 < 6 else "sweep"
    search = cp.search_weights(y, votes, preferences=preferences, labels=range(classes), method=method, random_state=0)
    carried = cp.Decision.from_json(search.decision.to_json())
    stored = search.counts.matrix.tolist()
    assert predicted(votes, y, carried.decide(votes), classes) == stored, f"weights of {method}, applied"
    plain = (votes * search.weights).argmax(axis=1)
    assert predicted(votes, y, plain, classes) == stored, f"weights of {method}, by plain arithmetic"


def check_sweep(rng: Any, seed: int) -> None:
    """Every point of the weight sweep, at its ratio."""
    votes, y, preferences, classes = small_problem(rng, seed)
    label = int(rng.integers(classes))
    sweep = cp.weights.weight_sweep(y, votes, label=label, preferences=preferences, labels=range(classes))
    for ratio, errors, recall in zip(sweep.ratio, sweep.errors, sweep.recall, strict=True):
        weights = np.ones(classes)
        weights[label] = ratio
        matrix = np.array(predicted(votes, y, cp.Decision(range(classes), weights).decide(votes), classes))
        assert errors == matrix.sum() - matrix.trace(), f"errors at ratio {ratio!r}"
        support = matrix.sum(axis=1)
        expected = np.divide(matrix.diagonal(), support, out=np.full(classes, np.nan), where=support > 0)
        assert np.array_equal(recall, expected, equal_nan=True), f"recalls at ratio {ratio!r}"


def check_predict(rng: Any) -> None:
    """The same through fit and predict of the estimator."""
    votes, y, preferences, classes = small_problem(rng, 1)
    model = cp.TunedDecisionClassifier(
        Told().fit(votes, np.arange(classes)), preferences=preferences, cv="prefit", smoothing=0.0, resamples=0
    )
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such preferences may well be uninformative, and the rows are those searched
        model.fit(votes, y)
    assert predicted(votes, y, model.predict(votes), classes) == model.search_.counts.matrix.tolist(), "through predict"
