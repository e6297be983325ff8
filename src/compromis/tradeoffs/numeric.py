"""The envelope of a metric of one's own, without a transform: by a grid of weights and root finding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats
from compromis.metrics import Metric

GRID = 256
"""Steps of the first pass over [0, 1]."""
TOLERANCE = 1e-13
"""How much better a result must be at a crossing of two others to get an interval of its own."""


def numeric_envelope(first: Floats, second: Floats, metric: Metric) -> tuple[NDArray[np.int64], Floats]:
    """Return the best results in turn, and the weights where they change.

    Notes
    -----
    Breaks are roots to 1e-14. A result is found if it is best at a multiple of 1/256 or at the crossing of two results
    that are best next to each other; the envelope is never wrong by more than 1e-13 if the curves of two results cross
    at most once between two neighbouring multiples.
    """
    weights = np.linspace(0.0, 1.0, GRID + 1)
    winners = [_best(first, second, metric, weight) for weight in weights.tolist()]
    chosen, breaks = [winners[0]], [0.0]
    for low, high, left, right in zip(weights[:-1], weights[1:], winners[:-1], winners[1:], strict=True):
        for weight, winner in _changes(first, second, metric, (float(low), left), (float(high), right)):
            if weight > breaks[-1]:
                chosen.append(winner)
                breaks.append(weight)
            else:  # the change is at the very beginning of the interval before
                chosen[-1] = winner
    if breaks[-1] >= 1.0:
        chosen, breaks = chosen[:-1], breaks[:-1]
    return np.array(chosen), np.append(breaks, 1.0)


def _best(first: Floats, second: Floats, metric: Metric, weight: float) -> int:
    return int(np.argmax(metric.value(first, second, weight)))


Place = tuple[float, int]


def _changes(
    first: Floats, second: Floats, metric: Metric, start: Place, end: Place, depth: int = 0
) -> Iterator[Place]:
    """Yield where the best result changes between two weights whose best results are known."""
    (low, left), (high, right) = start, end
    if left == right:
        return
    crossing = _crossing(first[[left, right]], second[[left, right]], metric, low, high)
    values = metric.value(first, second, crossing)
    best = int(np.argmax(values))
    if values[best] > max(values[left], values[right]) + TOLERANCE and low < crossing < high and depth < 60:
        yield from _changes(first, second, metric, start, (crossing, best), depth + 1)
        yield from _changes(first, second, metric, (crossing, best), end, depth + 1)
    else:
        yield crossing, right


def _crossing(first: Floats, second: Floats, metric: Metric, low: float, high: float) -> float:
    """The weight between `low` and `high` where the second result draws level with the first."""
    from scipy.optimize import brentq

    def lead(weight: float) -> float:
        values = metric.value(first, second, weight)
        return float(values[0] - values[1])

    if lead(low) <= 0:
        return low
    if lead(high) >= 0:
        return high
    return float(brentq(lead, low, high, xtol=1e-14))
