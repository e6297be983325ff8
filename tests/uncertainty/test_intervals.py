"""Wilson's interval against scipy, and one class of intervals for every function."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import compromis as cp
from compromis.uncertainty.intervals import Interval, from_draws, wilson, wilson_bounds


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (0, 10), (3, 10), (10, 10), (1, 1), (731, 5000), (5, 7)])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_wilson_is_scipys(successes, trials, confidence):
    expected = stats.binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    found = wilson(successes, trials, confidence=confidence)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert found.value == successes / trials
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_wilson_of_nothing_is_undefined():
    assert math.isnan(wilson(0, 0).low)
    low, high = wilson_bounds([0.0, math.nan], [0, 5], 0.95)
    assert np.isnan(low).all()
    assert np.isnan(high).all()


@pytest.mark.parametrize("confidence", [0, 1, -0.1, 1.5, 95, math.nan, "high", None])
def test_confidence_outside_0_and_1(confidence):
    with pytest.raises(cp.InputError, match=r"confidence is a share between 0 and 1.*for 95 % write 0.95"):
        wilson(1, 2, confidence=confidence)


def test_from_draws_of_undefined():
    assert math.isnan(from_draws(math.nan, np.ones((10, 1)), 0.95)[0].low)
    assert str(Interval(math.nan, math.nan, math.nan)) == "?"
