"""The family of metrics against the trade-off paper's table and properties, the PRAGMA paper's, and exact arithmetic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

import compromis as cp
from tests import oracle

NAMES = list(cp.metrics.METRICS)
inside = st.floats(0.001, 0.999)
rate = st.just(0.0) | st.floats(1e-18, 1.0)  # of counts below 2^60

TABLE_1 = [  # precision, recall, then the four metrics at l = 0.5 and at l = 0.2, as printed
    (0.7, 0.7, (0.7, 0.7, 0.7, 0.54), (0.7, 0.7, 0.7, 0.625)),
    (0.5, 0.9, (0.7, 0.64, 0.67, 0.47), (0.58, 0.55, 0.56, 0.49)),
    (0.9, 0.5, (0.7, 0.64, 0.67, 0.47), (0.82, 0.77, 0.8, 0.66)),
]


@pytest.mark.parametrize(("p", "r", "half", "fifth"), TABLE_1)
def test_table_1_of_the_trade_off_paper(p, r, half, fifth):
    for printed, weight in ((half, 0.5), (fifth, 0.2)):
        for name, figure in zip(NAMES, printed, strict=True):
            value = float(cp.metric_value(p, r, weight, metric=name))
            # two decimals; the paper cuts 0.776 to 0.77
            assert abs(value - figure) <= 0.005 or np.floor(value * 100) / 100 == figure, (name, weight, value)


@pytest.mark.parametrize("name", NAMES)
@given(x=inside, y=inside, r=st.floats(0.01, 0.99), p=st.floats(0.01, 0.99))
def test_properties_of_pragma(name, x, y, r, p):
    weight = cp.Preference(precision_at_full_recall=x, recall_at_full_precision=y).recall_weight_for(name)

    def f(recall, precision):
        return 1 - float(cp.metric_value(precision, recall, weight, metric=name))

    assert f(0, 0) == 1
    assert f(1, 1) == pytest.approx(0, abs=1e-15)
    assert f(1, x) == pytest.approx(f(y, 1), rel=1e-9)  # property 5: the two answers are worth the same
    if 1e-6 < weight < 1 - 1e-6:
        assert f(r + 0.005, p) < f(r, p)
        assert f(r, p + 0.005) < f(r, p)


@pytest.mark.parametrize("name", NAMES)
@given(p=rate, r=rate, weight=rate)
def test_value_in_exact_arithmetic(name, p, r, weight):
    expected = oracle.metric_value(Fraction(p), Fraction(r), Fraction(weight), name)
    assert float(cp.metric_value(p, r, weight, metric=name)) == pytest.approx(float(expected), rel=2e-15, abs=1e-15)


@pytest.mark.parametrize("name", NAMES)
@given(x=st.floats(0, 0.999), y=st.floats(0, 0.999))
def test_recall_weight_in_exact_arithmetic(name, x, y):
    expected = float(oracle.recall_weight(Fraction(x), Fraction(y), name))
    weight = cp.Preference(precision_at_full_recall=x, recall_at_full_precision=y).recall_weight_for(name)
    assert weight == pytest.approx(expected, rel=4e-15, abs=1e-15)
    assert 0 <= weight <= 1


@given(p=rate, r=rate, weight=rate)
def test_the_five_properties_of_the_weighted_jaccard(p, r, weight):
    def jaccard(p, r, weight):
        return float(cp.metric_value(p, r, weight, metric="jaccard"))

    assert 0 <= jaccard(p, r, weight) <= 1
    assert jaccard(1, 1, weight) == 1
    if p > 0 and r > 0:
        assert jaccard(p, r, 0.5) == pytest.approx(p * r / (p + r - p * r))
    assert jaccard(p, r, 0) == p
    assert jaccard(p, r, 1) == r


def test_figure_1_of_pragma():
    a, b = (0.8, 0.3), (0.3, 0.8)  # precision, recall
    for answers, better in (((0.8, 0.8), None), ((0.1, 0.9), b), ((0.9, 0.1), a)):
        weight = cp.Preference(1, *answers).recall_weight_for("kulczynski")
        values = {point: float(cp.metric_value(*point, weight, metric="kulczynski")) for point in (a, b)}
        if better is None:
            assert values[a] == pytest.approx(values[b])
        else:
            assert max(values, key=values.get) == better


def test_the_plane_of_the_paper():
    weight = cp.Preference(10, 0.10, 0.90).recall_weight_for("kulczynski")
    slope_recall = float(
        cp.metric_value(0, 0, weight, metric="kulczynski") - cp.metric_value(0, 1, weight, metric="kulczynski")
    )
    slope_precision = float(
        cp.metric_value(0, 0, weight, metric="kulczynski") - cp.metric_value(1, 0, weight, metric="kulczynski")
    )
    assert slope_recall == pytest.approx(-0.9)
    assert slope_precision == pytest.approx(-0.1)


@pytest.mark.parametrize("name", NAMES)
@given(p=rate, r=rate, low=st.floats(0, 1), width=st.floats(0.01, 1))
def test_area_against_quadrature(name, p, r, low, width):
    low, high = low * (1 - width), low * (1 - width) + width
    metric = cp.metrics.METRICS[name]
    inside = [] if not low < 0.5 < high else [0.5]
    expected, _ = quad(
        lambda weight: float(metric.value(p, r, np.clip(weight, 1e-300, 1 - 1e-16))),
        low,
        high,
        points=inside,
        limit=200,
    )
    assert float(metric.area(p, r, low, high)) == pytest.approx(expected, abs=2e-8)


@pytest.mark.parametrize("name", NAMES)
def test_the_transform_orders_as_the_metric_does(name, rng):
    metric = cp.metrics.METRICS[name]
    p, r = rng.uniform(0.01, 1, (2, 2, 2000))
    line = rng.uniform(0.001, 0.999, 2000)
    weight = np.asarray(metric.bend(line))
    lines = (1 - line) * metric.transform(p) + line * metric.transform(r)
    values = metric.value(p, r, weight)
    clear = np.abs(values[0] - values[1]) > 1e-9
    assert np.array_equal((lines[0] > lines[1])[clear], (values[0] > values[1])[clear])


def test_a_metric_of_ones_own():
    own = cp.Metric("own f", lambda p, r, weight: 1 / (weight / r + (1 - weight) / p))
    answers = cp.Preference(1, 0.2, 0.7)
    assert answers.recall_weight_for(own) == pytest.approx(answers.recall_weight_for("f"), abs=1e-12)
    assert own.area(0.3, 0.9, 0.2, 0.6) == pytest.approx(cp.metrics.METRICS["f"].area(0.3, 0.9, 0.2, 0.6), abs=1e-10)
    assert own.value([0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 1.0, 0.5]).tolist() == [0.0, 0.0, 0.5]


def test_only_the_family_is_built_in():
    assert all(metric.built_in for metric in cp.metrics.METRICS.values())
    own = cp.Metric("f", lambda p, r, weight: (1 - weight) * p + weight * r)
    assert not own.built_in
    assert not replace(cp.metrics.METRICS["f"], formula=own.formula).built_in
    with pytest.raises(TypeError, match="code"):  # or it would be searched as the metric of that number
        cp.Metric("mine", own.formula, code=1)


def test_nan_stays_nan():
    for name in NAMES:
        assert np.isnan(cp.metric_value(np.nan, 0.5, 0.5, metric=name))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((1.5, 0.5, 0.5, "f"), "precision is a share between 0 and 1, got 1.5"),
        ((0.5, 0.5, -0.1, "f"), "recall_weight is a share between 0 and 1, got -0.1"),
        ((0.5, 0.5, 0.5, "kulzynski"), "there is no metric 'kulzynski' .did you mean 'kulczynski'?"),
    ],
)
def test_bad_input(arguments, said):
    with pytest.raises(ValueError, match=said.replace("?", r"\?")):
        cp.metric_value(*arguments)
