"""Wilson's interval against scipy, and one class of intervals for every function."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import compromis as cp
from compromis.uncertainty.intervals import Interval, from_draws, read_confidence, wilson_bounds


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (0, 10), (3, 10), (10, 10), (1, 1), (731, 5000), (5, 7)])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_wilson_is_scipys(successes, trials, confidence):
    expected = stats.binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    low, high = wilson_bounds(successes / trials, trials, confidence)
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert 0 <= low <= successes / trials <= high <= 1


def test_wilson_of_nothing_is_undefined():
    low, high = wilson_bounds([0.0, math.nan], [0, 5], 0.95)
    assert np.isnan(low).all()
    assert np.isnan(high).all()


@pytest.mark.parametrize("confidence", [0, 1, -0.1, 1.5, 95, math.nan, "high", None])
def test_confidence_outside_0_and_1(confidence):
    with pytest.raises(cp.InputError, match=r"confidence is a share between 0 and 1.*for 95 % write 0.95"):
        read_confidence(confidence)


def test_from_draws_of_undefined():
    assert math.isnan(from_draws(math.nan, np.ones((10, 1)), 0.95)[0].low)
    assert str(Interval(math.nan, math.nan, math.nan)) == "?"


def test_every_statistical_interval_is_of_the_public_class(rng):
    truth = rng.random(200) < 0.3
    points = cp.OperatingPoints.from_predictions(truth, truth + rng.normal(size=200), pos_label=True)
    reference = cp.Counts.from_matrix([[90, 10], [4, 16]], ["well", "sick"])
    by_em = cp.drift.prevalence_by_em([[0.1, 0.9], [0.8, 0.2]], priors={"sick": 0.1, "well": 0.9})
    by_confusion = cp.drift.prevalence_by_confusion(["well"] * 62 + ["sick"] * 38, reference=reference)
    report = cp.evaluate(reference, confidence=0.9).intervals
    ranked = cp.uncertainty.compare_over_data_sets({"a": [1.0, 2.0], "b": [2.0, 1.0]})
    intervals = [
        cp.uncertainty.roc_area_interval(points),
        cp.uncertainty.tradeoff_area_interval(points, draws=20),
        cp.uncertainty.average_precision_interval(points, draws=20),
        cp.uncertainty.switch_points(points, metric="f", draws=20)[0].recall_weight,
        *by_em.intervals,
        *by_confusion.intervals,
        *report.summary.values(),
        *report.per_class["sick"].values(),
        ranked.pairs[0].difference,
    ]
    assert all(isinstance(interval, cp.uncertainty.Interval) for interval in intervals)
