"""The interval of an area under the ROC curve, from the cuts of a score."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats
from compromis.evidence.points import OperatingPoints
from compromis.measures.ranking import roc_area
from compromis.uncertainty.interval import Interval, normal_quantile, read_confidence

TRUSTED = 10.0
"""With this many rows of the rarer kind, the spread seen in them and the spread of a model weigh the same."""


def roc_area_interval(
    points: OperatingPoints,
    *,
    confidence: float = 0.95,
    sizes: tuple[float, float] | None = None,
    variance: float | None = None,
) -> Interval:
    """Return the area under the ROC curve with its interval.

    Parameters
    ----------
    points : OperatingPoints
        The cuts of the score.
    confidence : float
        How often such intervals hold the true area.
    sizes : pair of float, optional
        The effective numbers of positives and negatives where rows have weights; without it, `points` counts rows.
    variance : float, optional
        The variance of the area where rows come in groups; see `clustered_variance`. Without it: DeLong's.

    Notes
    -----
    Newcombe's method 5 (2006): the areas q with (area - q)^2 <= z^2 c V(q), with Hanley and McNeil's
    V(q) = q (1 - q) (1 + (N/2 - 1) ((1 - q)/(2 - q) + q/(1 + q))) / (P Q), for P positives and Q negatives, N = P + Q. It works where all
    positives are ranked first, where the variance of DeLong is 0. V assumes exponential scores; c pulls it to DeLong's as rows grow:
    c = w DeLong / V(area) + (1 - w), w = m / (m + 10), m = min(P, Q).

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.uncertainty.roc_area import roc_area_interval
    >>> perfect = cp.OperatingPoints.from_predictions([1] * 5 + [0] * 95, [1.0] * 5 + [0.0] * 95)
    >>> print(roc_area_interval(perfect))
    1.000 (0.800 to 1.000)
    """
    z = normal_quantile(read_confidence(confidence))
    area = roc_area(points)
    if math.isnan(area):
        return Interval(area, math.nan, math.nan)
    positives, negatives = sizes or (points.positives, points.negatives)
    seen = delong_variance(points, positives, negatives) if variance is None else variance
    model = _model_variance(area, positives, negatives)
    trust = min(positives, negatives) / (min(positives, negatives) + TRUSTED)
    scale = trust * seen / model + 1 - trust if model > 0 else 1.0

    def reach(end: float) -> float:
        return _farthest(area, end, lambda other: z * math.sqrt(scale * _model_variance(other, positives, negatives)))

    return Interval(area, reach(0.0), reach(1.0))


def delong_variance(points: OperatingPoints, positives: float, negatives: float) -> float:
    """Return DeLong's variance of the area, from the shares of the other kind that the rows of each cut beat."""
    above, below = placements(points)
    hits, alarms = (np.diff(part) for part in (points.true_positives, points.false_positives))
    spread = 0.0
    for beaten, rows, size in ((above, hits, positives), (below, alarms, negatives)):
        if size > 1:
            mean = (rows @ beaten) / rows.sum()
            spread += float(rows @ (beaten - mean) ** 2 / rows.sum()) / (size - 1)
    return spread


def placements(points: OperatingPoints) -> tuple[Floats, Floats]:
    """Return for each cut the share of negatives ranked below it, and the share of positives ranked above it, ties half."""
    tpr, fpr = points.tpr, points.fpr
    return 1 - (fpr[1:] + fpr[:-1]) / 2, (tpr[1:] + tpr[:-1]) / 2


def clustered_variance(
    points: OperatingPoints, positive: NDArray[np.bool_], score: Floats, group: NDArray[np.int64], weight: Floats | None
) -> float:
    """Return the variance of the area where rows come in groups (Obuchowski 1997); this one needs the rows.

    `positive` says which rows are positive, `group` numbers the group of each row, from 0.
    """
    area = roc_area(points)
    above, below = placements(points)
    cut = np.searchsorted(-points.threshold[1:], -score)
    excess = (np.where(positive, above[cut], below[cut]) - area) * (1.0 if weight is None else weight)
    share = np.where(positive, points.positives, points.negatives)
    by_group = np.bincount(group, weights=excess / share)
    groups = len(np.unique(group))
    return float((by_group**2).sum()) * groups / max(groups - 1, 1)


def _model_variance(area: float, positives: float, negatives: float) -> float:
    middle = max((positives + negatives) / 2 - 1, 0.0)
    return area * (1 - area) * (1 + middle * ((1 - area) / (2 - area) + area / (1 + area))) / (positives * negatives)


def _farthest(start: float, end: float, allowed: Callable[[float], float]) -> float:
    """Return the last number on the way from `start` to `end` that is not farther away than `allowed` there."""
    near, far = start, end
    for _ in range(60):
        middle = (near + far) / 2
        if abs(middle - start) <= allowed(middle):
            near = middle
        else:
            far = middle
    return near
