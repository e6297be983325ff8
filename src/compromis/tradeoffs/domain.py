"""The domain of application: the recall weights for which a result is better than taking everything."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compromis.evidence.points import OperatingPoints
from compromis.metrics import Metric
from compromis.tradeoffs.candidates import Candidates, join, single
from compromis.tradeoffs.curve import TradeoffCurve
from compromis.tradeoffs.envelope import upper_envelope

Range = tuple[float, float]


def domain_of_application(points: OperatingPoints, metric: str | Metric = "kulczynski") -> tuple[Range, ...]:
    """Return the intervals of recall weights where some point is better than the maximal group.

    Outside of them a constant decision for the positive class is as good: the result is uninformative there (section
    4.1 of the trade-off paper). Empty if it is uninformative everywhere.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_groups(range(10), {"found": range(5, 15)}, 50)
    >>> [tuple(round(end, 3) for end in part) for part in domain_of_application(points)]
    [(0.0, 0.375)]
    """
    curve = TradeoffCurve(points, metric)
    if curve.reason:
        return ()
    total = points.positives + points.negatives
    maximal = single((points.positives, total), (points.positives, points.positives))
    both = join([curve.candidates, maximal])
    envelope = upper_envelope(both, curve.metric)
    better = ~_like_maximal(both, maximal)[envelope.chosen]
    edges = zip(better.tolist(), envelope.breaks[:-1].tolist(), envelope.breaks[1:].tolist(), strict=True)
    return _merged([(low, high) for wins, low, high in edges if wins])


def _like_maximal(candidates: Candidates, maximal: Candidates) -> NDArray[np.bool_]:
    same_first = candidates.first_rate == maximal.first_rate
    return np.asarray(same_first & (candidates.second_rate == maximal.second_rate))


def _merged(ranges: list[Range]) -> tuple[Range, ...]:
    merged: list[Range] = []
    for low, high in ranges:
        if merged and merged[-1][1] == low:
            merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return tuple(merged)
