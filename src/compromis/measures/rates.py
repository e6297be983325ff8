"""Rates of each class against the rest, from counts; undefined rates are NaN.

For class k: TP = n_kk, FN = rest of row k, FP = rest of column k, TN = everything else.
"""

from __future__ import annotations

import math
from fractions import Fraction
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


def accuracy(counts: Counts) -> float:
    """The share of rows predicted right."""
    return _divide(float(counts.matrix.trace()), counts.total)


def kappa(counts: Counts) -> float:
    """Cohen's kappa: the agreement beyond chance, relative to the most there could be.

    Notes
    -----
    With n rows, a of them right and c = sum_k support_k predicted_k, kappa = (n a - c) / (n^2 - c). The terms nearly cancel where
    one class dominates, and their products outgrow 64 bits, so they are formed exactly.
    """
    total, right, truth, decision = _exact(counts)
    chance = _product(truth, decision)
    return _divide(Fraction(total * right - chance), total * total - chance)


def balanced_accuracy(counts: Counts) -> float:
    """The mean recall of the classes that occur."""
    return macro_average(recall(counts), counts)


def g_mean(counts: Counts) -> float:
    """The geometric mean of the recalls of the classes that occur."""
    rates = recall(counts)[counts.support > 0]
    return math.nan if rates.size == 0 else 0.0 if (rates == 0).any() else math.exp(float(np.mean(np.log(rates))))


def matthews(counts: Counts) -> float:
    """Matthews' correlation coefficient, for any number of classes (Gorodkin's R_K); formed exactly, as `kappa` is."""
    total, right, truth, decision = _exact(counts)
    spread_truth, spread_decision = (total * total - _product(part, part) for part in (truth, decision))
    if not (spread_truth and spread_decision):
        return math.nan
    covariance, *spreads = (
        Fraction(one, total * total)
        for one in (total * right - _product(truth, decision), spread_truth, spread_decision)
    )
    return float(covariance) / (math.sqrt(spreads[0]) * math.sqrt(spreads[1]))


def macro_average(rates: Rates, counts: Counts, *, undefined: float = math.nan) -> float:
    """The plain mean over the classes that occur; undefined rates count as `undefined`, NaN leaves them out.

    A class that occurs but is never predicted has no precision. Leaving it out would reward giving the class up, so
    averages of precision count it as 0, as the loss counts it as 1.
    """
    return _average(rates, (counts.support > 0).astype(np.float64), undefined)


def weighted_average(rates: Rates, counts: Counts, *, undefined: float = math.nan) -> float:
    """The mean weighted by the classes' supports; undefined rates count as `undefined`, NaN leaves them out."""
    return _average(rates, counts.support.astype(np.float64), undefined)


def _average(rates: Rates, weights: Rates, undefined: float) -> float:
    filled = np.where(np.isnan(rates), undefined, rates)
    use = (weights > 0) & ~np.isnan(filled)
    return _divide(float(filled[use] @ weights[use]), float(weights[use].sum()))


def _exact(counts: Counts) -> tuple[int, int, list[int], list[int]]:
    """Return total, rows predicted right, supports and decisions as whole numbers; weights on a common scale."""
    matrix = counts.matrix if counts.matrix.dtype.kind in "iu" else _on_whole_scale(counts.matrix)
    truth, decision = (matrix.sum(axis=axis).tolist() for axis in (1, 0))
    return sum(truth), int(matrix.trace()), truth, decision


def _on_whole_scale(weights: NDArray[np.float64]) -> NDArray[Any]:
    """Return weights as Python's whole numbers, all multiplied by one power of two: margins add up without rounding."""
    mantissa, exponent = np.frexp(weights)
    exponent = np.where(weights > 0, exponent, exponent.max())
    shift = (exponent - exponent.min()).astype(object)
    scaled: NDArray[Any] = np.ldexp(mantissa, 53).astype(np.int64).astype(object) << shift
    return scaled


def _product(first: list[int], second: list[int]) -> int:
    return sum(a * b for a, b in zip(first, second, strict=True))


def _divide(above: float | Fraction, below: float | Fraction) -> float:
    return float(above / below) if below else math.nan
