"""Measures of a whole matrix of counts; undefined values are NaN."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis.evidence import Counts
from compromis.measures.rates import Rates, recall


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
