"""Rates of each class against the rest, from counts; undefined rates are NaN.

For class k: TP = n_kk, FN = rest of row k, FP = rest of column k, TN = everything else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis.evidence import Counts

Rates = NDArray[np.float64]


def ratio(above: NDArray[Any], below: NDArray[Any]) -> Rates:
    """Divide, with NaN where the denominator is 0."""
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    quotient: Rates = np.divide(above, below, out=np.full(below.shape, np.nan), where=below != 0)
    return quotient


def recall(counts: Counts) -> Rates:
    """TP / (TP + FN): the share of a class that is found; also sensitivity, true positive rate."""
    return ratio(counts.matrix.diagonal(), counts.support)


def precision(counts: Counts) -> Rates:
    """TP / (TP + FP): the share of the decisions for a class that are right; also positive predictive value."""
    return ratio(counts.matrix.diagonal(), counts.predicted)


def specificity(counts: Counts) -> Rates:
    """TN / (TN + FP): the share of the other classes that is kept out; also true negative rate."""
    _, false_positives, true_negatives = outside(counts)
    return ratio(true_negatives, true_negatives + false_positives)


def negative_predictive_value(counts: Counts) -> Rates:
    """TN / (TN + FN): the share of the decisions against a class that are right."""
    false_negatives, _, true_negatives = outside(counts)
    return ratio(true_negatives, true_negatives + false_negatives)


def false_negative_rate(counts: Counts) -> Rates:
    """FN / (TP + FN): the share of a class that is missed."""
    return ratio(outside(counts)[0], counts.support)


def false_positive_rate(counts: Counts) -> Rates:
    """FP / (FP + TN): the share of the other classes that raises a false alarm."""
    _, false_positives, true_negatives = outside(counts)
    return ratio(false_positives, true_negatives + false_positives)


def f_measure(counts: Counts, beta: float = 1.0) -> Rates:
    """(1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP): recall counts b times as much as precision."""
    weight = beta * beta
    hits = counts.matrix.diagonal()
    return ratio((1 + weight) * hits, weight * counts.support + counts.predicted)


def roc_area_of_decisions(counts: Counts) -> Rates:
    """(1 + TPR - FPR) / 2: the area under the two-segment ROC curve of hard decisions."""
    return (1 + recall(counts) - false_positive_rate(counts)) / 2


def share_predicted(counts: Counts) -> Rates:
    """The share of all rows that is predicted as each class."""
    return ratio(counts.predicted, np.full(len(counts.classes), counts.total))


def outside(counts: Counts) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return FN, FP and TN of each class.

    Whole numbers are subtracted from the margins. Weights are added up cell by cell: a difference of sums loses the digits of
    a class that weighs little beside the others.
    """
    matrix = counts.matrix
    if matrix.dtype.kind in "iu":
        missed, alarms = (margin - matrix.diagonal() for margin in (counts.support, counts.predicted))
        return missed, alarms, counts.total - counts.support - alarms
    others = _all_but_own(matrix)
    missed, alarms = others.diagonal().copy(), _all_but_own(matrix.T).diagonal()
    np.fill_diagonal(others, 0.0)
    return missed, alarms, others.sum(axis=0)


def _all_but_own(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of each cell's row without the cell."""
    sums: NDArray[np.float64] = np.zeros_like(matrix, order="C")
    sums[:, 1:] = np.cumsum(matrix[:, :-1], axis=1)
    sums[:, :-1] += np.cumsum(matrix[:, :0:-1], axis=1)[:, ::-1]
    return sums
