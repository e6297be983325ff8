"""Laws of evaluations of numbers: scikit-learn's values, shift and scale, sums that add up, undefined numbers with a note."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn import metrics

import compromis as cp
from tests.properties.laws import law, refused
from tests.properties.strategies import columns_of, confidences, number_pairs, same, seeds, shuffled

whole_pairs = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=2, max_size=15)
"""Small whole numbers: ties, constants and perfect predictions are common."""


@law()
@given(number_pairs, st.data())
def test_errors_are_those_of_scikit_learn(rows, data):
    truth, prediction = columns_of(rows)
    weight = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)).filter(any))
    for options in ({}, {"sample_weight": weight}):
        result = cp.regression.evaluate(truth, prediction, **options).summary
        for name in ("mean_absolute_error", "mean_squared_error"):
            expected = getattr(metrics, name)(truth, prediction, **options)
            assert getattr(result, name) == pytest.approx(expected, rel=1e-12, abs=1e-12)
        used = [t for t, w in zip(truth, options.get("sample_weight", [1] * len(rows)), strict=True) if w]
        if np.ptp(used) > 1e-3 * max(map(abs, used)):
            expected = metrics.r2_score(truth, prediction, **options)
            assert result.r2 == pytest.approx(expected, rel=1e-8, abs=1e-8)
    median = cp.regression.evaluate(truth, prediction).quantiles[0.5]
    assert median == pytest.approx(metrics.median_absolute_error(truth, prediction), rel=1e-12, abs=1e-12)


@law()
@given(whole_pairs, st.integers(-100, 100), st.sampled_from([0.25, 0.5, 2.0, 1024.0]), seeds)
def test_errors_move_with_the_unit_and_ignore_order_and_origin(rows, shift, scale, seed):
    plain = cp.regression.evaluate(*columns_of(rows)).summary
    moved = cp.regression.evaluate(*columns_of([(t + shift, p + shift) for t, p in rows])).summary
    scaled = cp.regression.evaluate(*columns_of([(t * scale, p * scale) for t, p in rows])).summary
    turned = cp.regression.evaluate(*columns_of(shuffled(rows, seed))).summary
    swapped = cp.regression.evaluate(*columns_of([(p, t) for t, p in rows])).summary
    for name in ("mean_error", "mean_absolute_error", "root_mean_squared_error"):
        value = getattr(plain, name)
        assert getattr(moved, name) == pytest.approx(value, abs=1e-9)
        assert getattr(scaled, name) == pytest.approx(value * scale, rel=1e-12, abs=1e-12)
        assert getattr(turned, name) == pytest.approx(value, abs=1e-12)
        assert abs(getattr(swapped, name)) == pytest.approx(abs(value), abs=1e-12)
    for name in ("r2", "correlation", "relative_absolute_error"):
        value = getattr(plain, name)
        for other in (moved, scaled, turned):
            assert same(getattr(other, name), value, 1e-9)
    assert same(swapped.correlation, plain.correlation, 1e-9)
    assert plain.mean_absolute_error <= plain.root_mean_squared_error + 1e-12
    assert abs(plain.mean_error) <= plain.mean_absolute_error + 1e-12


@law()
@given(whole_pairs, whole_pairs, whole_pairs, st.floats(0, 20))
def test_sums_of_parts_are_those_of_the_whole_in_any_order(first, second, third, mean):
    def sums(rows):
        return cp.regression.evaluate(*columns_of(rows), y_train=mean, tolerance=1).sums

    a, b, c = map(sums, (first, second, third))
    whole = cp.regression.evaluate(*columns_of([*first, *second, *third]), y_train=mean, tolerance=1)
    for total in ((a + b) + c, a + (b + c), c + b + a):
        result = cp.regression.evaluate(total)
        assert result.summary.rows == whole.summary.rows
        for one in result.measures:
            expected = next(other.value for other in whole.measures if other.name == one.name)
            assert same(one.value, expected, 1e-9), one.name
    refused(lambda: a + cp.regression.evaluate(*columns_of(first), y_train=mean + 1).sums)


@law()
@given(whole_pairs)
def test_what_is_undefined_is_nan_here_null_in_json_and_explained(rows):
    truth, prediction = columns_of(rows)
    result = cp.regression.evaluate(truth, prediction)
    constant = len({*truth}) == 1
    assert math.isnan(result.summary.correlation) == (constant or len({*prediction}) == 1)
    assert not math.isnan(result.summary.mean_absolute_error)
    if math.isnan(result.summary.r2):
        assert constant
        assert any("R2" in note for note in result.notes)
    if math.isnan(result.summary.correlation):
        assert any("correlation" in note for note in result.notes)
    text = result.to_json()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"JSON has no {name}"))
    assert str(result)
    assert len(result.to_frame()) == len(result.measures)
    negative = cp.regression.evaluate([-1.0, *truth], [0.0, *prediction])
    assert math.isnan(negative.summary.root_mean_squared_log_error)
    assert any("log error" in note for note in negative.notes)


@law(examples=8)
@example([(13, 5), (14, 7)], 0.5, 0.8)
@given(whole_pairs, confidences, confidences)
def test_intervals_of_errors_hold_them_and_widen(rows, one, other):
    low, high = sorted((one, other))
    narrow, wide = (cp.regression.evaluate(*columns_of(rows), confidence=level).measures for level in (low, high))
    for inner, outer in zip(narrow, wide, strict=True):
        if inner.low is None or math.isnan(inner.low) or math.isnan(outer.low):
            continue
        assert outer.low <= inner.low + 1e-9, inner.name
        assert inner.high <= outer.high + 1e-9, inner.name
        if inner.name in ("mean_absolute_error", "mean_squared_error", "root_mean_squared_error"):
            assert inner.low >= 0, inner.name
            assert inner.low <= inner.value + 1e-9, inner.name


@law()
@given(whole_pairs)
def test_what_cannot_be_evaluated_is_one_sentence(rows):
    truth, prediction = columns_of(rows)
    refused(cp.regression.evaluate, truth, prediction[1:])
    refused(cp.regression.evaluate, [math.nan, *truth], [0, *prediction])
    refused(cp.regression.evaluate, truth, prediction, confidence=95)
    refused(cp.regression.evaluate, truth, prediction, under_weight=0, over_weight=0)
