"""Operating points that the tests of trade-offs share, and the best of them by trying all."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis.evidence.points import OperatingPoints
from compromis.metrics import METRICS, Metric
from tests import naive_tradeoffs as naive

NAMES = tuple(METRICS)
SIX = ([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
QUADRATIC = Metric("quadratic", lambda p, r, w: np.sqrt((1 - w) * p**2 + w * r**2), defined_at_zero=True)


def groups(pairs: list[tuple[int, int]], positives: int, negatives: int, positive: Hashable = "t") -> OperatingPoints:
    """Groups g0, g1, ... of so many hits and false alarms each, in a universe of positives and negatives."""
    hits, alarms = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    return of_counts(hits, alarms, positives, negatives, positive)


def of_counts(
    hits: NDArray[Any], alarms: NDArray[Any], positives: float, negatives: float, positive: Hashable = "t"
) -> OperatingPoints:
    """The same from arrays of counts."""
    return OperatingPoints(
        threshold=np.full(len(hits), np.nan),
        true_positives=hits,
        false_positives=alarms,
        positives=positives,
        negatives=negatives,
        pos_label=positive,
        names=tuple(f"g{k}" for k in range(len(hits))),
    )


def random_points(rng: np.random.Generator) -> OperatingPoints:
    """Cuts of a score or groups, few or many, with twins and groups that miss the target."""
    positives, negatives = int(rng.integers(1, 60)), int(rng.integers(1, 60))
    if rng.random() < 0.5:
        y = np.repeat([1, 0], [positives, negatives])
        score = (rng.normal(size=len(y)) + rng.uniform(-1, 3) * y).round(int(rng.integers(0, 4)))
        return OperatingPoints.from_predictions(y, score)
    size = int(rng.integers(1, 25))
    hits, alarms = rng.integers(0, positives + 1, size), rng.integers(0, negatives + 1, size)
    alarms[(hits == 0) & (alarms == 0)] = 1
    return groups(list(zip(hits.tolist(), alarms.tolist(), strict=True)), positives, negatives)


def brute_force(points: OperatingPoints, name: str, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    rates = list(zip(points.precision.tolist(), points.recall.tolist(), strict=True))
    valid = [rate for rate in rates if not math.isnan(rate[0])]
    return np.array([max(naive.metric_value(name, p, r, w) for p, r in valid) for w in weights.tolist()])


def fractions(points: OperatingPoints) -> list[naive.Rates]:
    counted = zip(points.true_positives.tolist(), points.false_positives.tolist(), strict=True)
    return [(Fraction(tp, tp + fp), Fraction(tp, points.positives)) for tp, fp in counted if tp + fp]


def check_cover(breaks: NDArray[np.float64]) -> None:
    assert breaks[0] == 0
    assert breaks[-1] == 1
    assert (np.diff(breaks) > 0).all()


def random_models(rng: np.random.Generator) -> dict[str, OperatingPoints]:
    """Up to four scores of the same rows, good and bad, with ties."""
    y = rng.integers(0, 2, 40)
    y[:2] = 0, 1
    return {
        name: OperatingPoints.from_predictions(
            y, (rng.normal(size=40) + rng.uniform(-0.5, 2) * y).round(int(rng.integers(0, 3)))
        )
        for name in "ABCD"[: int(rng.integers(1, 5))]
    }
