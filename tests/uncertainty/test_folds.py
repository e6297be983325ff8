"""Means over folds against Student's t-test."""

from __future__ import annotations

import math

import pytest
from scipy import stats

import compromis as cp
from compromis.uncertainty.paired_tests import fold_mean


def test_fold_mean_is_students_without_correction(rng):
    values = rng.normal(0.3, 1, 12)
    found = fold_mean(values, 1e-15, confidence=0.9)
    expected = stats.ttest_1samp(values, 0)
    bounds = expected.confidence_interval(0.9)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert (found.mean.low, found.mean.high) == pytest.approx((bounds.low, bounds.high))


def test_fold_mean_is_corrected(rng):
    """Nadeau and Bengio, equation for J folds: variance (1/J + n2/n1) s^2."""
    values = rng.normal(0.3, 1, 10)
    found = fold_mean(values, 1 / 9)
    statistic = values.mean() / math.sqrt((1 / 10 + 1 / 9) * values.var(ddof=1))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(statistic), 9))
    reach = stats.t.ppf(0.975, 9) * math.sqrt((1 / 10 + 1 / 9) * values.var(ddof=1))
    assert found.mean.width == pytest.approx(2 * reach)
    assert fold_mean([0.1, math.nan, 0.3], 0.5).folds == 2
    assert math.isnan(fold_mean([0.1], 0.5).mean.low)
    assert fold_mean([0.0, 0.0], 0.5).p_value == 1
    with pytest.raises(cp.InputError, match="above 0, got 0; for ten folds write 1/9"):
        fold_mean(values, 0)
