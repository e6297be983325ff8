"""Laws of intervals and bands: they hold the estimate, stay in [0, 1], widen with confidence; ranks over data sets as scipy has them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import stats

import compromis as cp
from tests.properties.laws import answer, law, refused
from tests.properties.strategies import any_scored_rows, confidences, metrics, points_of, scored_rows

FEW = {"draws": 40}
"""Draws: the laws hold for any number of them."""
INTERVALS = {
    "roc": lambda points, **options: cp.uncertainty.roc_area_interval(points, **options),
    "average precision": lambda points, **options: cp.uncertainty.average_precision_interval(points, **FEW, **options),
    "trade-off": lambda points, **options: cp.uncertainty.tradeoff_area_interval(points, metric="f", **FEW, **options),
}
BANDS = {
    "roc": lambda points, **options: cp.uncertainty.roc_band(points, **FEW, **options),
    "precision-recall": lambda points, **options: cp.uncertainty.precision_recall_band(points, **FEW, **options),
    "trade-off": lambda points, **options: cp.uncertainty.tradeoff_band(points, metric="f", **FEW, **options),
}


@law(examples=10)
@given(scored_rows, confidences, confidences)
def test_intervals_of_areas_hold_the_area_stay_in_range_and_widen(rows, one, other):
    points, (low, high) = points_of(rows), sorted((one, other))
    exact = {
        "roc": (cp.tradeoffs.roc_points(points).area, 1e-12),
        "average precision": (cp.tradeoffs.precision_recall_points(points).average_precision, 1e-12),
        "trade-off": (cp.TradeoffCurve(points, "f").area(), 2e-3),  # Simpson's rule on 101 weights, steps at the ends
    }
    for name, interval in INTERVALS.items():
        narrow, wide = (interval(points, confidence=level) for level in (low, high))
        value, tolerance = exact[name]
        assert narrow.value == pytest.approx(value, abs=tolerance), name
        assert 0 <= wide.low <= narrow.low + 1e-12, name
        assert narrow.low - 1e-12 <= narrow.value <= narrow.high + 1e-12, name
        assert narrow.high - 1e-12 <= wide.high <= 1 + 1e-12, name


@law(examples=6)
@example([*[(False, 0)] * 5, (False, 1), (True, 0)], 0.5, 0.5)  # found with another seed: a cut of next to no weight
@given(scored_rows, confidences, confidences)
def test_bands_hold_the_curve_stay_in_range_and_widen(rows, one, other):
    points, (low, high) = points_of(rows), sorted((one, other))
    for name, band in BANDS.items():
        narrow, wide = (band(points, confidence=level) for level in (low, high))
        whole = band(points, confidence=low, simultaneous=True)
        for inner, outer in ((narrow, wide), (narrow, whole)):
            assert (inner.value == outer.value).all(), name
            assert (outer.low <= inner.low + 1e-12).all(), name
            assert (inner.low <= inner.value).all(), name
            assert (inner.value <= inner.high).all(), name
            assert (inner.high <= outer.high + 1e-12).all(), name
            assert (outer.low >= 0).all(), name
            assert (outer.high <= 1).all(), name


@law(examples=6)
@given(scored_rows, metrics)
def test_the_curves_of_bands_are_those_of_the_data(rows, metric):
    points = points_of(rows)
    band = cp.uncertainty.tradeoff_band(points, metric=metric, draws=5)
    inside = slice(1, -1)
    expected = cp.TradeoffCurve(points, metric).value(band.at[inside])
    assert band.value[inside] == pytest.approx(expected, abs=1e-12)
    flags = [flag for flag, _ in rows]
    roc = cp.uncertainty.roc_band(points, draws=5)
    assert roc.value[-1] == 1
    precision = cp.uncertainty.precision_recall_band(points, draws=5)
    best = points.precision[points.recall >= 1 - 1e-12].max()
    assert precision.value[-1] == pytest.approx(best, abs=1e-12)
    assert (precision.value > 0).all() == any(flags)


@law(examples=6)
@given(any_scored_rows, scored_rows)
def test_rows_of_one_kind_have_no_interval_and_a_sentence_or_nan_says_so(rows, others):
    assume(len({flag for flag, _ in rows}) == 1)
    points = points_of(rows)
    for one in (
        *INTERVALS.values(),
        *BANDS.values(),
        lambda points: cp.uncertainty.switch_points(points, **FEW),
        lambda points: cp.uncertainty.confident_winners({"one": points, "other": points_of(others)}, **FEW),
    ):
        result = answer(one, points)
        assert result is None or math.isnan(result.value)


@law(examples=8)
@given(scored_rows, metrics, confidences)
def test_cuts_are_exchanged_where_they_are_worth_the_same(rows, metric, confidence):
    points = points_of(rows)
    found = cp.uncertainty.switch_points(points, metric=metric, confidence=confidence, **FEW)
    for one in found:
        weight = one.recall_weight
        assert 0 <= weight.low <= weight.value <= weight.high <= 1
        values = [
            float(cp.metric_value(points.precision[cut], points.recall[cut], weight.value, metric=metric))
            for cut in (points.threshold.tolist().index(one.below), points.threshold.tolist().index(one.above))
        ]
        assert values[0] == pytest.approx(values[1], abs=1e-9)
        assert one.below > one.above  # a lower cut finds more
    assert [one.above for one in found[:-1]] == [one.below for one in found[1:]]


@law(examples=6)
@given(scored_rows, scored_rows, metrics, confidences, confidences)
def test_sure_ranges_cover_everything_with_the_best_model(first, second, metric, one, other):
    models = {"first": points_of(first), "second": points_of(second)}
    low, high = sorted((one, other))
    narrow, wide = (
        cp.uncertainty.confident_winners(models, metric=metric, confidence=level, **FEW) for level in (low, high)
    )
    for ranges in (narrow, wide):
        assert (ranges[0].low, ranges[-1].high) == (0, 1)
        assert [part.high for part in ranges[:-1]] == [part.low for part in ranges[1:]]
        for part in ranges:
            at = (part.low + part.high) / 2
            if 0.01 < at < 0.99 and part.high - part.low > 0.01:
                values = {name: float(cp.TradeoffCurve(points, metric).value(at)) for name, points in models.items()}
                assert values[part.model] == pytest.approx(max(values.values()), abs=0.02)
    assert _sure(wide) <= _sure(narrow) + 1e-9
    refused(cp.uncertainty.confident_winners, {"alone": models["first"]})


def _sure(ranges):
    return sum(part.high - part.low for part in ranges if part.sure)


@law(examples=10)
@given(st.integers(3, 4), st.data())
def test_ranks_over_data_sets_are_those_of_scipy(count, data):
    row = st.lists(st.integers(0, 5), min_size=count, max_size=count)
    table = np.array(data.draw(st.lists(row, min_size=2, max_size=6)), dtype=float)
    losses = {f"model {k}": table[:, k] for k in range(count)}
    result = cp.uncertainty.compare_over_data_sets(losses)
    expected = stats.rankdata(table, axis=1).mean(axis=0)
    found = dict(zip(result.models, result.mean_ranks.tolist(), strict=True))
    assert [found[f"model {k}"] for k in range(count)] == pytest.approx(expected.tolist(), abs=1e-12)
    assert result.mean_ranks.sum() == pytest.approx(count * (count + 1) / 2, abs=1e-12)
    if any(len({*values}) > 1 for values in table.tolist()):
        friedman = stats.friedmanchisquare(*table.T)
        assert result.statistic == pytest.approx(friedman.statistic, abs=1e-9)
        assert result.p_value == pytest.approx(friedman.pvalue, abs=1e-9)
    else:
        assert result.p_value == 1
    shown = cp.plots.CriticalDifferenceDisplay(result).to_frame()
    assert sorted(shown["model"]) == sorted(losses)


@law(examples=8)
@given(st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=2, max_size=6), st.permutations(range(3)))
def test_only_the_order_of_values_on_a_data_set_counts(table, order):
    table = np.array(table, dtype=float)
    names = ["a", "b", "c"]
    plain = cp.uncertainty.compare_over_data_sets({name: table[:, k] for k, name in enumerate(names)})
    moved = cp.uncertainty.compare_over_data_sets({names[k]: np.exp(table[:, k]) for k in order})
    turned = cp.uncertainty.compare_over_data_sets(
        {name: -table[:, k] for k, name in enumerate(names)}, lower_is_better=False
    )
    for other in (moved, turned):
        assert dict(zip(other.models, other.mean_ranks.tolist(), strict=True)) == pytest.approx(
            dict(zip(plain.models, plain.mean_ranks.tolist(), strict=True)), abs=1e-12
        )
        assert other.p_value == pytest.approx(plain.p_value, abs=1e-12)
        assert other.critical_difference == plain.critical_difference
    refused(cp.uncertainty.compare_over_data_sets, {"a": [1.0, 2.0], "b": [1.0]})
    refused(cp.uncertainty.compare_over_data_sets, {"a": [1.0, math.nan], "b": [1.0, 2.0]})
