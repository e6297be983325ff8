"""Measures of a whole matrix of counts; undefined values are NaN."""

from __future__ import annotations

import math

import numpy as np

from compromis.evidence import Counts
from compromis.measures.rates import Rates, recall


def accuracy(counts: Counts) -> float:
    """The share of rows decided rightly."""
    return _divide(float(counts.matrix.trace()), counts.total)


def kappa(counts: Counts) -> float:
    """Cohen's kappa: the agreement beyond chance, relative to the most there could be.

    Notes
    -----
    With n rows, a of them right and e expected right by chance, kappa = (a - e) / (n - e),
    e = sum_k support_k decided_k / n. The products are formed in floating point: those of counts above 2^31
    do not fit into 64 bits.
    """
    total = float(counts.total)
    expected = (
        float(np.dot(counts.support.astype(np.float64), counts.decided.astype(np.float64))) / total
        if total
        else math.nan
    )
    return _divide(float(counts.matrix.trace()) - expected, total - expected)


def balanced_accuracy(counts: Counts) -> float:
    """The mean recall of the classes that occur."""
    return macro_average(recall(counts), counts)


def g_mean(counts: Counts) -> float:
    """The geometric mean of the recalls of the classes that occur."""
    rates = recall(counts)[counts.support > 0]
    return math.nan if rates.size == 0 else 0.0 if (rates == 0).any() else math.exp(float(np.mean(np.log(rates))))


def matthews(counts: Counts) -> float:
    """Matthews' correlation coefficient, for any number of classes (Gorodkin's R_K)."""
    total = float(counts.total)
    truth, decision = counts.support.astype(np.float64), counts.decided.astype(np.float64)
    covariance = float(counts.matrix.trace()) * total - float(truth @ decision)
    spread_truth, spread_decision = total * total - float(truth @ truth), total * total - float(decision @ decision)
    return _divide(covariance, math.sqrt(spread_truth) * math.sqrt(spread_decision))


def macro_average(rates: Rates, counts: Counts, *, undefined: float = math.nan) -> float:
    """The plain mean over the classes that occur; undefined rates count as `undefined`, NaN leaves them out.

    A class that occurs but is never decided has no precision. Leaving it out would reward giving the class up, so
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


def _divide(above: float, below: float) -> float:
    return above / below if below else math.nan
