"""ROC and precision-recall curves of one score, and dominance between models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from compromis._typing import Floats
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.measures.ranking import area_in_words, average_precision, pr_area, roc_area
from compromis.tradeoffs.comparison import check_algorithms

_ROUNDING = 1e-12
"""Interpolated curves may differ by rounding where they coincide."""


@dataclass(frozen=True, slots=True, eq=False)
class RocCurve:
    """A ROC curve: from (0, 0), nothing positive, to (1, 1), everything positive.

    Attributes
    ----------
    fpr, tpr, threshold : ndarray
        The false and true positive rate at each cut; NaN where a class is missing, `reason` says which.
    area : float
        The probability that a positive row is ranked above a negative one, ties half.
    words : str
        What the course (004) says of such an area.
    reason : str
        Why rates are NaN; empty where none is.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    >>> curve = cp.roc_curve(points)
    >>> round(curve.area, 4), curve.words  # 7 of 9 pairs are in the right order
    (0.7778, 'good')
    """

    fpr: Floats
    tpr: Floats
    threshold: Floats
    area: float
    words: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class PrecisionRecallCurve:
    """A precision-recall curve, recall rising.

    Attributes
    ----------
    recall, precision, threshold : ndarray
        At each cut; the precision of the first, where nothing is predicted positive, is NaN.
    average_precision : float
        The area in steps.
    area : float
        The area with the interpolation of Davis and Goadrich.
    reason : str
        Why rates are NaN; empty where none is.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    >>> curve = cp.precision_recall_curve(points)
    >>> curve.precision.round(2).tolist()
    [nan, 1.0, 0.5, 0.67, 0.75, 0.6, 0.5]
    """

    recall: Floats
    precision: Floats
    threshold: Floats
    average_precision: float
    area: float
    reason: str


def roc_curve(points: OperatingPoints) -> RocCurve:
    """Return the ROC curve of the cuts of a score, with its area.

    Examples
    --------
    The six rows of the course (004):

    >>> import compromis as cp
    >>> from compromis.tradeoffs import roc_curve
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    >>> curve = roc_curve(points)
    >>> (3 * curve.fpr).round().astype(int).tolist(), round(curve.area, 4), curve.words
    ([0, 0, 1, 1, 1, 2, 3], 0.7778, 'good')
    """
    points.check_ranking("a ROC curve")
    area = roc_area(points)
    return RocCurve(points.fpr, points.tpr, points.threshold, area, area_in_words(area), points.reason)


def precision_recall_curve(points: OperatingPoints) -> PrecisionRecallCurve:
    """Return the precision-recall curve of the cuts of a score, with its areas.

    Notes
    -----
    There is no made-up point (recall 0, precision 1): where nothing is predicted positive precision is undefined.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    >>> round(cp.precision_recall_curve(points).average_precision, 4)  # (1 + 2/3 + 3/4) / 3
    0.8056
    """
    points.check_ranking("a precision-recall curve")
    reason = "" if points.positives else points.reason
    areas = average_precision(points), pr_area(points)
    return PrecisionRecallCurve(points.recall, points.precision, points.threshold, *areas, reason)


def dominates(first: OperatingPoints, second: OperatingPoints) -> bool:
    """Return whether the first ROC curve is nowhere below the second, and above it somewhere.

    Notes
    -----
    Then no costs and no priors make the second model better (004), and the same holds of their precision-recall
    curves on the same rows (Davis and Goadrich 2006, theorem 3.2).

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    >>> coin = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    >>> cp.dominates(points, coin), cp.dominates(coin, points)
    (True, False)
    """
    for points in (first, second):
        points.check_ranking("dominance")
        if points.reason:
            raise InputError(f"dominance needs rows of both kinds; {points.reason}")
    where = np.union1d(first.fpr, second.fpr)
    ahead = np.concatenate([_limit(first, where, side) - _limit(second, where, side) for side in ("left", "right")])
    return bool((ahead >= -_ROUNDING).all() and (ahead > _ROUNDING).any())


def _limit(points: OperatingPoints, fpr: Floats, side: str) -> Floats:
    """The curve at each fpr, coming from the left (the foot of an upright step) or from the right (its top)."""
    x, y = points.fpr, points.tpr
    firsts = np.searchsorted(x, fpr, side="left")
    lasts = np.searchsorted(x, fpr, side="right") - 1
    hit = firsts <= lasts
    between = np.interp(fpr, x, y)
    return np.where(hit, y[firsts] if side == "left" else y[lasts], between)


def dominance(models: Mapping[str, OperatingPoints]) -> dict[str, tuple[str, ...]]:
    """Return for each model the models whose ROC curves it dominates.

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.tradeoffs import dominance
    >>> y = [1, 1, 0, 0]
    >>> perfect = cp.OperatingPoints.from_predictions(y, [4, 3, 2, 1])
    >>> mixed = cp.OperatingPoints.from_predictions(y, [4, 2, 3, 1])
    >>> dominance({"perfect": perfect, "mixed": mixed})
    {'perfect': ('mixed',), 'mixed': ()}
    """
    check_algorithms(models, "dominance")
    return {
        name: tuple(other for other in models if other != name and dominates(points, models[other]))
        for name, points in models.items()
    }
