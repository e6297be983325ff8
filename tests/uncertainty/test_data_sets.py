"""Several models on several data sets: against scipy and Demsar's table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import compromis as cp
from compromis.uncertainty.data_sets import critical_difference


@pytest.mark.parametrize("values", [3, 50])
def test_friedman_is_scipys(rng, values):
    table = rng.integers(0, values, (9, 4)).astype(float)
    found = cp.uncertainty.compare_over_data_sets({f"m{k}": table[:, k] for k in range(4)})
    expected = stats.friedmanchisquare(*table.T)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)
    f = 8 * expected.statistic / (9 * 3 - expected.statistic)  # Iman and Davenport
    assert found.f_statistic == pytest.approx(f)
    assert found.f_p_value == pytest.approx(stats.f.sf(f, 3, 24))


def test_critical_differences_are_demsars_table():
    """Demsar 2006, table 5 (a): critical values of the two-tailed Nemenyi test at 0.05 for 2 to 10 models."""
    table = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    for models, value in enumerate(table, start=2):
        found = critical_difference(models, 7) / math.sqrt(models * (models + 1) / 42)
        assert found == pytest.approx(value, abs=1e-3)


def test_order_groups_and_pairs():
    losses = {"worst": [0.5, 0.6, 0.7, 0.8] * 5, "best": [0.1, 0.2, 0.3, 0.1] * 5, "near": [0.11, 0.19, 0.31, 0.11] * 5}
    found = cp.uncertainty.compare_over_data_sets(losses)
    assert found.models == ("best", "near", "worst")
    assert found.mean_ranks.tolist() == [1.25, 1.75, 3.0]
    assert found.groups == (("best", "near"),)
    told = {(pair.better, pair.worse): pair for pair in found.pairs}
    assert not told["best", "near"].apart
    assert told["best", "worst"].apart
    assert told["best", "worst"].p_value == pytest.approx(
        stats.studentized_range.sf(1.75 / math.sqrt(12 / (12 * 20)), 3, np.inf)
    )
    interval = told["best", "near"].difference
    difference = np.subtract(losses["best"], losses["near"])
    bounds = stats.ttest_1samp(difference, 0).confidence_interval(0.95)
    assert (interval.low, interval.high) == pytest.approx((bounds.low, bounds.high))
    assert "'best' ranks first over 20 data sets" in found.sentence
    assert "told apart from 'worst'" in found.sentence
    higher = cp.uncertainty.compare_over_data_sets(losses, lower_is_better=False)
    assert higher.models[0] == "worst"
    alike = cp.uncertainty.compare_over_data_sets({"a": [1, 2], "b": [1, 2]})
    assert alike.p_value == 1
    assert "not told apart" in str(alike)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"a": [1, 2]}, "at least two models, got 1"),
        ({"a": [1, 2], "b": [1]}, "'b' has values on 1 data sets, 'a' on 2; compare models on the same data sets"),
        ({"a": [1], "b": [1]}, "at least two of them, got 1"),
        ({"a": [1, 2], "b": [1, math.nan]}, "'b' has no finite value on data set 1"),
    ],
)
def test_bad_data_sets(values, message):
    with pytest.raises(cp.InputError, match=message):
        cp.uncertainty.compare_over_data_sets(values)
