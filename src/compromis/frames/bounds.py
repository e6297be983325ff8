"""What bins of a score leave open: the areas and the best threshold that the rows inside them may have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats
from compromis.errors import InputError
from compromis.evidence.count_bounds import CountBounds
from compromis.evidence.counts import ratio
from compromis.evidence.points import OperatingPoints
from compromis.measures.pragma import loss_shares, losses_at
from compromis.measures.ranking import average_precision, roc_area
from compromis.metrics import Metric, get_metric
from compromis.preferences import PreferenceArrays


def roc_area_bounds(points: OperatingPoints) -> tuple[float, float]:
    """Return the lowest and the highest area under the ROC curve that binned points allow.

    Every edge of a bin is an exact cut, so only the order inside the bins is unknown: the area that pairs inside one bin
    add is between none and all of them. Points that are not binned give the area itself, twice.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_bins([0.5, 0.0], [3, 1], [1, 3], pos_label="a")
    >>> cp.frames.roc_area_bounds(points)
    (0.5625, 0.9375)
    """
    area = roc_area(points)
    if not points.binned or np.isnan(area):
        return area, area
    _, hits, alarms = _steps(points)
    half = 0.5 * float((hits / points.positives) @ (alarms / points.negatives))
    return max(area - half, 0.0), min(area + half, 1.0)


def average_precision_bounds(points: OperatingPoints) -> tuple[float, float]:
    """Return the lowest and the highest average precision that binned points allow.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_bins([0.5, 0.0], [2, 2], [0, 4], pos_label="a")
    >>> cp.frames.average_precision_bounds(points)
    (0.7083333333333333, 1.0)

    Notes
    -----
    A positive of a bin is found at a cut between the bin's edges. At best all positives are found together, before any
    negative of the bin. At worst they come one by one after all its negatives: with t, f rows above the bin and p, n
    inside it, the i-th at precision g(i) = (t + i) / (t + i + f + n), and as g is concave their mean is at least
    (g(0) + g(p)) / 2, for weights too.
    """
    area = average_precision(points)
    if not points.binned or np.isnan(area):
        return area, area
    before, hits, alarms = _steps(points)
    share = hits / points.positives
    best = _precision(before[0] + hits, before[1])
    below = before[1] + alarms
    worst = 0.5 * (_precision(before[0], below) + _precision(before[0] + hits, below))
    worst = np.where(below == 0, 1.0, worst)  # no negative so far: every precision is 1
    return float(share @ worst), float(share @ best)


def tradeoff_bounds(
    points: OperatingPoints, recall_weight: float, *, metric: str | Metric = "f"
) -> tuple[float, float]:
    """Return between which numbers the best value at a recall weight lies: the best edge, and the best that a bin may hide.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_bins([0.5, 0.0], [3, 1], [1, 3], pos_label="a")
    >>> cp.frames.tradeoff_bounds(points, 0.5, metric="kulczynski")
    (0.75, 0.9)
    """
    family = get_metric(metric)
    if not points.positives:
        return np.nan, np.nan
    at_edges = _value(family, points.true_positives[1:], points.false_positives[1:], points.positives, recall_weight)
    low = float(at_edges.max())
    if not points.binned:
        return low, low
    before, hits, _ = _steps(points)
    return low, max(low, float(best_inside(family, before, hits, points.positives, recall_weight).max()))


def best_inside(metric: Metric, before: Any, hits: Any, positives: float, recall_weight: float) -> Floats:
    """Return the best value that a threshold inside each bin may have: all its positives, none of its negatives."""
    return _value(metric, before[0] + hits, before[1], positives, recall_weight)


def _value(metric: Metric, hits: Any, alarms: Any, positives: float, recall_weight: float) -> Floats:
    hits = np.asarray(hits, dtype=np.float64)
    precision = _precision(hits, np.asarray(alarms, dtype=np.float64))
    return np.asarray(metric.value(precision, hits / positives, recall_weight))


def _precision(hits: Any, alarms: Any) -> Floats:
    return np.nan_to_num(ratio(hits, hits + alarms))


def _steps(points: OperatingPoints) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return what lies above each bin, and the positives and negatives inside it."""
    above = np.stack([points.true_positives, points.false_positives]).astype(np.float64)
    inside = np.diff(above, axis=1)
    return above[:, :-1], inside[0], inside[1]


def loss_bounds(bounds: CountBounds, arrays: PreferenceArrays) -> tuple[float, float]:
    """Return the lowest and the highest PRAGMA loss that the bounds allow.

    Notes
    -----
    Every metric rises with precision and with recall, so the best of both gives the lowest loss of a class and the worst of
    both the highest; a class that may never be predicted may have the loss 1.

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> sure = np.array([[4, 0], [0, 5]])
    >>> bounds = cp.evidence.CountBounds(low=sure, high=sure, support=np.array([4, 5]), classes=("bad", "good"))
    >>> cp.frames.loss_bounds(bounds, cp.Preferences().on(("bad", "good")))  # nothing is in doubt, and nothing is wrong
    (0.0, 0.0)
    """
    if arrays.cost is not None:
        raise InputError(
            "the bounds of a loss are for a metric, not for costs; give preferences without cost", "preferences"
        )
    low_precision, high_precision = bounds.precision
    low_recall, high_recall = bounds.recall
    best = losses_at(high_precision, high_recall, arrays)
    worst = losses_at(low_precision, low_recall, arrays)
    low, high = (float(loss_shares(by_class, arrays).sum()) for by_class in (best, worst))
    return low, high
