"""Intervals of areas under curves: ROC by formula, precision-recall and trade-off by draws of the cuts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Unpack

import numpy as np

from compromis._typing import Flags, Floats, Ints
from compromis.evidence.counts import ratio
from compromis.evidence.points import OperatingPoints
from compromis.measures.ranking import roc_area
from compromis.metrics import Metric, check_range, get_metric
from compromis.uncertainty.bands import DrawOptions, draw_cuts, tradeoff_draws
from compromis.uncertainty.intervals import Interval, from_draws, normal_quantile, read_confidence

TRUSTED = 10.0
"""With this many rows of the rarer class, the observed variance and that of the model weigh the same."""


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
        The effective numbers of positives and negatives; without it those of `points`, Kish's where rows have weights.
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
    >>> from compromis.uncertainty.area_intervals import roc_area_interval
    >>> perfect = cp.OperatingPoints.from_predictions([1] * 5 + [0] * 95, [1.0] * 5 + [0.0] * 95)
    >>> print(roc_area_interval(perfect))
    1.000 (0.800 to 1.000)
    """
    z = normal_quantile(read_confidence(confidence))
    area = roc_area(points)
    if math.isnan(area):
        return Interval(area, math.nan, math.nan)
    positives, negatives = sizes or points.sizes
    seen = delong_variance(points, positives, negatives) if variance is None else variance
    model = _model_variance(area, positives, negatives)
    trust = min(positives, negatives) / (min(positives, negatives) + TRUSTED)
    scale = trust * seen / model + 1 - trust if model > 0 else 1.0

    def holds(other: float) -> bool:
        return abs(other - area) <= z * math.sqrt(scale * _model_variance(other, positives, negatives))

    return Interval(area, farthest(area, 0.0, holds), farthest(area, 1.0, holds))


def farthest(start: float, end: float, holds: Callable[[float], bool]) -> float:
    """Return the farthest number from `start` towards `end` up to which `holds` is true, by bisection."""
    if holds(end):
        return end
    near, far = start, end
    for _ in range(60):
        middle = (near + far) / 2
        near, far = (middle, far) if holds(middle) else (near, middle)
    return near


def delong_variance(points: OperatingPoints, positives: float, negatives: float) -> float:
    """Return DeLong's variance of the area, from the share of the other class that the rows of each cut are ranked before."""
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
    points: OperatingPoints, positive: Flags, score: Floats, group: Ints, weight: Floats | None
) -> float:
    """Return the variance of the area where rows come in groups (Obuchowski 1997); it needs the rows.

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


def average_precision_interval(
    points: OperatingPoints, *, confidence: float = 0.95, **options: Unpack[DrawOptions]
) -> Interval:
    """Return the average precision with its interval; the options are those of `compromis.uncertainty.bands.draw_cuts`.

    Notes
    -----
    AP = sum over cuts of (recall_c - recall_{c-1}) precision_c. Merging cuts changes it a little, so the draws are shifted by
    the difference on the data.

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.uncertainty.area_intervals import average_precision_interval
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1], pos_label=1)
    >>> print(average_precision_interval(points))
    0.806 (0.3... to 0.9...)
    """
    level = read_confidence(confidence)
    drawn = draw_cuts(points, **options)
    value, merged = (
        _average_precision(points.true_positives[kept][np.newaxis], points.false_positives[kept][np.newaxis]).item()
        for kept in (slice(None), drawn.kept)
    )
    draws = _average_precision(drawn.true_positives, drawn.false_positives) + value - merged
    return from_draws(value, np.clip(draws, 0.0, 1.0), level)[0]


def tradeoff_area_interval(
    points: OperatingPoints,
    *,
    metric: str | Metric = "f",
    low: float = 0.0,
    high: float = 1.0,
    confidence: float = 0.95,
    **options: Unpack[DrawOptions],
) -> Interval:
    """Return the mean of the optimal trade-off curve over recall weights from `low` to `high`, with its interval.

    Notes
    -----
    Simpson's rule on 101 recall weights; see `compromis.uncertainty.bands.tradeoff_band` for the draws. The best of many cuts is
    optimistic on the rows it was chosen on: 95 % intervals hold the population's value in about 91 %.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1] * 60 + [0] * 60, [3] * 30 + [2] * 30 + [3] * 2 + [2] * 20 + [1] * 38)
    >>> area = cp.uncertainty.tradeoff_area_interval(points, metric="f")
    >>> area.low < area.value < area.high
    True
    """
    from scipy.integrate import simpson

    level = read_confidence(confidence)
    check_range(low, high)
    at = np.linspace(low, high, 101)
    observed, curves = tradeoff_draws(points, get_metric(metric), at, **options)
    value, draws = (np.asarray(simpson(part, x=at, axis=-1)) / (high - low) for part in (observed, curves))
    return from_draws(value, draws, level)[0]


def _average_precision(hits: Floats, alarms: Floats) -> Floats:
    precision = np.nan_to_num(ratio(hits, hits + alarms))
    steps = np.diff(hits, axis=1) / hits[:, -1:]
    area: Floats = (steps * precision[:, 1:]).sum(axis=1)
    return area
