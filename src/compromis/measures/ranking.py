"""Measures of a ranking, from operating points."""

from __future__ import annotations

import math

import numpy as np

from compromis.evidence.points import OperatingPoints

_LARGEST = 1 << 62
"""Twice the area in whole rows must fit into int64."""


def roc_area(points: OperatingPoints) -> float:
    """The area under the ROC curve: the probability that a positive row is ranked above a negative one, ties half.

    NaN where one of the two kinds of rows is missing; `points.reason` says which.

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.measures.ranking import roc_area
    >>> roc_area(cp.OperatingPoints.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    0.75
    """
    points.check_ranking("the area under the ROC curve")
    if not (points.positives and points.negatives):
        return math.nan
    from compromis.evidence._kernels import twice_roc_area

    hits, alarms = points.counts_above()
    if hits.dtype != np.float64 and 2 * points.positives * points.negatives >= _LARGEST:
        hits, alarms = hits.astype(np.float64), alarms.astype(np.float64)
    return float(twice_roc_area(hits, alarms) / (2 * points.positives * points.negatives))


def average_precision(points: OperatingPoints) -> float:
    """The area under the precision-recall curve in steps: the mean precision at the cuts of the positives.

    NaN where there are no positive rows.

    Notes
    -----
    sum over cuts of (recall - recall before) x precision; it neither interpolates nor needs negatives.
    """
    return _area_per_positive(points, "average precision", "step_pr_area")


def pr_area(points: OperatingPoints) -> float:
    """The area under the precision-recall curve with the interpolation of Davis and Goadrich.

    NaN where there are no positive rows.

    Notes
    -----
    Between two cuts rows are taken at random, so false positives grow in proportion to true positives and precision
    follows a hyperbola, not a straight line; before the first cut precision is that of the first cut. Davis and
    Goadrich, The relationship between precision-recall and ROC curves, ICML 2006; here integrated in closed form.
    """
    return _area_per_positive(points, "the area under the precision-recall curve", "interpolated_pr_area")


def _area_per_positive(points: OperatingPoints, what: str, kernel: str) -> float:
    points.check_ranking(what)
    if not points.positives:
        return math.nan
    from compromis.evidence import _kernels

    return float(getattr(_kernels, kernel)(*points.counts_above()) / points.positives)


def area_in_words(area: float) -> str:
    """Return the course's words for an area under the ROC curve.

    Notes
    -----
    0.5 is chance; 'good' from 0.7, 'discriminating' from 0.87 to 0.9, 'excellent' above 0.9. The other words are
    not the course's.
    """
    if math.isnan(area):
        return "undefined"
    if area < 0.5:
        return "worse than chance: the score ranks the wrong way round"
    scale = ((0.9, "excellent"), (0.87, "discriminating"), (0.7, "good"), (0.5, "weak"))
    return next((words for above, words in scale if area > above or (area == above == 0.87)), "no better than chance")
