"""Means over the folds of a cross-validation, whose training rows overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from compromis.errors import InputError
from compromis.uncertainty.intervals import Interval, read_confidence, student_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldMean:
    """The mean of a number over folds, as the course takes it, its spread, and a corrected interval.

    Attributes
    ----------
    mean : Interval
        The mean and its interval.
    deviation : float
        The standard deviation over folds.
    p_value : float
        Two-sided, of the hypothesis that the mean is 0; meant for differences of two models.
    folds : int
        The folds in which the number is defined.
    """

    mean: Interval
    deviation: float
    p_value: float
    folds: int

    def __str__(self) -> str:
        return f"{self.mean}, deviation {self.deviation:.3f}"


def fold_mean(values: Sequence[float], test_share: float, *, confidence: float = 0.95) -> FoldMean:
    """Return the mean over folds with the interval of the corrected resampled t-test.

    Parameters
    ----------
    values : sequence of float
        The number in each fold, or the difference of two models; folds in which it is NaN are left out.
    test_share : float
        Test rows over training rows of a fold: 1/9 in ten-fold cross-validation.
    confidence : float
        The confidence of the interval.

    Notes
    -----
    Nadeau and Bengio (2003): the variance of the mean of J folds is (1/J + n_test/n_train) s^2, with J - 1 degrees of freedom. The second
    term makes up for training rows that folds share; without it the t-test rejects far too often.

    Examples
    --------
    >>> from compromis.uncertainty.folds import fold_mean
    >>> print(fold_mean([0.02, 0.05, 0.03, 0.01, 0.04], 1 / 4))
    0.030 (0.001 to 0.059), deviation 0.016
    """
    from scipy.stats import t

    level = read_confidence(confidence)
    if not test_share > 0:
        raise InputError(
            f"test_share is test rows over training rows, above 0, got {test_share:g}; for ten folds write 1/9"
        )
    known = np.array([value for value in values if not math.isnan(value)], dtype=np.float64)
    mean = float(known.mean()) if known.size else math.nan
    if known.size < 2:
        unknown = Interval(mean, math.nan, math.nan)
        return FoldMean(mean=unknown, deviation=math.nan, p_value=math.nan, folds=known.size)
    deviation = float(known.std(ddof=1))
    error = deviation * math.sqrt(1 / known.size + test_share)
    p_value = float(2 * t.sf(abs(mean) / error, known.size - 1)) if error > 0 else float(mean == 0)
    interval = student_interval(known, level, test_share)
    return FoldMean(mean=interval, deviation=deviation, p_value=p_value, folds=known.size)
