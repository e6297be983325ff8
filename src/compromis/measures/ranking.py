"""Measures of a ranking, from operating points."""

from __future__ import annotations

import numpy as np

from compromis.evidence.points import OperatingPoints


def roc_area(points: OperatingPoints) -> float:
    """The area under the ROC curve: the probability that a positive row is ranked above a negative one, ties half.

    NaN where one of the two kinds of rows is missing.
    """
    if not (points.positives and points.negatives):
        return float("nan")
    return float(np.trapezoid(points.tpr, points.fpr))
