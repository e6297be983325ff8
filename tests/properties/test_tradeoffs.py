"""Laws of the trade-off space: curves against scikit-learn and brute force, envelopes, hulls, costs, bounds of bins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as sklearn_metrics

import compromis as cp
from tests import oracle
from tests.properties.laws import law, refused
from tests.properties.strategies import (
    any_scored_rows,
    columns_of,
    metrics,
    points_of,
    same,
    scored_rows,
    seeds,
    shares,
    shuffled,
)

inner_shares = st.floats(0.01, 0.99)
models = st.lists(scored_rows, min_size=2, max_size=3).map(
    lambda parts: {f"model {k}": points_of(rows) for k, rows in enumerate(parts)}
)


@law()
@given(any_scored_rows, seeds)
def test_the_roc_curve_is_that_of_scikit_learn_or_says_why_not(rows, seed):
    flags, scores = columns_of(rows)
    curve = cp.tradeoffs.roc_points(points_of(rows))
    if len({*flags}) == 1:
        assert math.isnan(curve.area)
        assert curve.reason
        return
    assert curve.reason == ""
    assert curve.area == pytest.approx(sklearn_metrics.roc_auc_score(flags, scores), abs=1e-14)
    assert (curve.fpr[0], curve.tpr[0], curve.fpr[-1], curve.tpr[-1]) == (0, 0, 1, 1)
    assert (np.diff(curve.fpr) >= 0).all()
    assert (np.diff(curve.tpr) >= 0).all()
    assert cp.tradeoffs.roc_points(points_of(shuffled(rows, seed))).area == curve.area
    stretched = points_of([(flag, math.exp(score) - 7) for flag, score in rows])
    assert cp.tradeoffs.roc_points(stretched).area == curve.area
    mirrored = points_of([(not flag, -score) for flag, score in rows])
    assert cp.tradeoffs.roc_points(mirrored).area == pytest.approx(curve.area, abs=1e-14)


@law()
@given(any_scored_rows)
def test_average_precision_is_that_of_scikit_learn_or_says_why_not(rows):
    flags, scores = columns_of(rows)
    curve = cp.tradeoffs.precision_recall_points(points_of(rows))
    if not any(flags):
        assert math.isnan(curve.average_precision)
        assert curve.reason
        return
    expected = sklearn_metrics.average_precision_score(flags, scores)
    assert curve.average_precision == pytest.approx(expected, abs=1e-14)
    assert math.isnan(curve.precision[0])
    predicted = [sum(score >= cut for score in scores) for cut in curve.threshold[1:]]
    hits = [sum(flag and score >= cut for flag, score in rows) for cut in curve.threshold[1:]]
    assert same(curve.precision[1:], np.divide(hits, predicted), 1e-15)
    assert same(curve.recall[1:], np.divide(hits, sum(flags)), 1e-15)


@law()
@given(any_scored_rows, any_scored_rows, any_scored_rows)
def test_operating_points_add_up_in_any_order(first, second, third):
    a, b, c = map(points_of, (first, second, third))
    whole = points_of([*first, *second, *third])
    for total in ((a + b) + c, a + (b + c), c + b + a):
        for name in ("threshold", "true_positives", "false_positives"):
            assert getattr(total, name).tolist() == getattr(whole, name).tolist()
        assert (total.positives, total.negatives) == (whole.positives, whole.negatives)


@law()
@given(scored_rows, metrics, st.lists(shares, min_size=3, max_size=3, unique=True))
def test_areas_over_neighbouring_ranges_add_up(rows, metric, bounds):
    low, middle, high = sorted(bounds)
    curve = cp.TradeoffCurve(points_of(rows), metric)
    assert curve.area(low, middle) + curve.area(middle, high) == pytest.approx(curve.area(low, high), abs=1e-13)
    assert 0 <= curve.area(low, high) <= high - low + 1e-13


@law()
@given(scored_rows, metrics, shares)
def test_the_curve_is_the_best_of_its_points_and_its_intervals_cover_everything(rows, metric, weight):
    points = points_of(rows)
    predicted = ~np.isnan(points.precision)
    values = cp.metric_value(points.precision[predicted], points.recall[predicted], weight, metric=metric)
    curve = cp.TradeoffCurve(points, metric)
    assert float(curve.value(weight)) == pytest.approx(values.max(), abs=1e-14)
    ends = [end for part in curve.intervals for end in (part.low, part.high)]
    assert (ends[0], ends[-1]) == (0, 1)
    assert ends[1:-1:2] == ends[2:-1:2]
    for part in curve.intervals:
        at = (part.low + part.high) / 2
        value = cp.metric_value(part.precision, part.recall, at, metric=metric)
        assert float(value) == pytest.approx(float(curve.value(at)), abs=1e-12)


@law()
@given(any_scored_rows, metrics, shares, st.sampled_from([None, 0.25, 0.5, 1.0]), st.sampled_from([None, 0.5, 1.0]))
def test_the_best_cut_with_minima_is_that_of_brute_force(rows, metric, weight, least_precision, least_recall):
    points = points_of(rows)
    choice = cp.TradeoffCurve(points, metric).best(weight, min_precision=least_precision, min_recall=least_recall)
    allowed = [
        float(cp.metric_value(precision, recall, weight, metric=metric))
        for precision, recall in zip(points.precision, points.recall, strict=True)
        if precision >= (least_precision or 0) and recall >= (least_recall or 0)
    ]
    assert choice.feasible == bool(allowed)
    if not allowed:
        assert choice.reason
        assert math.isnan(choice.value)
        return
    assert choice.value == pytest.approx(max(allowed), abs=1e-14)
    assert choice.precision == points.precision[choice.position] >= (least_precision or 0)
    assert choice.recall == points.recall[choice.position] >= (least_recall or 0)


@law()
@given(shares, shares, shares, metrics)
def test_a_metric_has_the_papers_value_is_a_mean_and_mirrors(p, r, weight, metric):
    value = float(cp.metric_value(p, r, weight, metric=metric))
    assert value == pytest.approx(float(oracle.metric_value(p, r, weight, metric)), abs=1e-14)
    heavy = max(weight, 1 - weight)
    light = 1 - heavy  # exact, as heavy is at least a half
    mirrored = float(cp.metric_value(r, p, heavy, metric=metric))
    assert float(cp.metric_value(p, r, light, metric=metric)) == pytest.approx(mirrored, abs=1e-14)
    assert value <= max(p, r) + 1e-15
    if metric != "jaccard":
        assert value >= min(p, r) - 1e-15
    assert math.isnan(float(cp.metric_value(math.nan, r, weight, metric=metric)))


@law(examples=10)
@given(scored_rows, inner_shares)
def test_a_metric_of_ones_own_with_a_known_formula_gives_the_known_curve(rows, weight):
    own = cp.Metric("own", lambda p, r, l: 1 / (l / r + (1 - l) / p))
    points = points_of(rows)
    expected = float(cp.TradeoffCurve(points, "f").value(weight))
    assert float(cp.TradeoffCurve(points, own).value(weight)) == pytest.approx(expected, abs=1e-12)
    assert own.recall_weight(0.3, 0.8) == pytest.approx(cp.metrics.METRICS["f"].recall_weight(0.3, 0.8), abs=1e-10)


@law()
@given(models, metrics, inner_shares)
def test_the_winners_are_the_best_and_the_order_of_models_does_not_matter(algorithms, metric, weight):
    result = cp.compare_curves(algorithms, metric)
    values = {name: float(curve.value(weight)) for name, curve in result.curves.items()}
    winner = next(part for part in result.intervals if part.low <= weight <= part.high)
    for name in winner.best:
        assert values[name] == pytest.approx(max(values.values()), abs=1e-12)
    assert float(result.distance(weight)) >= 0
    backward = cp.compare_curves(dict(reversed(algorithms.items())), metric)
    assert backward.areas == result.areas
    assert [(part.low, part.high, {*part.best}) for part in backward.intervals] == [
        (part.low, part.high, {*part.best}) for part in result.intervals
    ]
    assert sum(result.shares.values()) >= 1 - 1e-12
    first, second = list(algorithms)[:2]
    assert float(result.distance(weight, first, second)) == -float(result.distance(weight, second, first))


@law()
@given(scored_rows, scored_rows, st.floats(0.01, 100), st.floats(0.01, 0.99))
def test_no_cut_of_any_model_costs_less_than_the_corner_of_the_hull(first, second, cost, prevalence):
    both = {"a": points_of(first), "b": points_of(second)}
    hull = cp.roc_hull(both)

    def expected_cost(fpr, tpr):
        return cost * fpr * (1 - prevalence) + (1 - tpr) * prevalence

    corner = hull.best(cost_false_positive=cost, prevalence=prevalence)
    least = min(expected_cost(one.fpr, one.tpr).min() for one in both.values())
    assert expected_cost(corner.fpr, corner.tpr) == pytest.approx(least, abs=1e-12)
    assert hull.area >= max(cp.tradeoffs.roc_points(one).area for one in both.values()) - 1e-12
    assert {*hull.models, *hull.droppable} == {"a", "b"}
    assert [part.slope_low for part in hull.parts[:-1]] == [part.slope_high for part in hull.parts[1:]]


@law()
@given(models)
def test_dominance_is_an_order_and_costs_area(algorithms):
    above = cp.tradeoffs.dominance(algorithms)
    for name, below in above.items():
        for other in below:
            assert cp.tradeoffs.dominates(algorithms[name], algorithms[other])
            assert not cp.tradeoffs.dominates(algorithms[other], algorithms[name])
            assert (
                cp.tradeoffs.roc_points(algorithms[name]).area > cp.tradeoffs.roc_points(algorithms[other]).area - 1e-12
            )
            assert {*above[other]} <= {*below}
        assert name not in below
        assert not cp.tradeoffs.dominates(algorithms[name], algorithms[name])


@law(examples=5)
@given(any_scored_rows, scored_rows)
def test_dominance_without_rows_of_both_kinds_is_one_sentence(rows, others):
    assume(len({flag for flag, _ in rows}) == 1)
    refused(cp.tradeoffs.dominates, points_of(rows), points_of(others))


@law()
@given(any_scored_rows, st.lists(st.floats(0, 0.99), min_size=1, max_size=5))
def test_net_benefit_is_that_of_brute_force(rows, probabilities):
    rows = [(flag, score / 5) for flag, score in rows]
    curve = cp.tradeoffs.decision_curve(points_of(rows), probabilities)
    for place, chance in enumerate(probabilities):
        hits = sum(flag and score >= chance for flag, score in rows)
        alarms = sum(not flag and score >= chance for flag, score in rows)
        benefit = (hits - alarms * chance / (1 - chance)) / len(rows)
        assert curve.model[place] == pytest.approx(benefit, abs=1e-12)
        wins = sum(flag for flag, _ in rows)
        everyone = (wins - (len(rows) - wins) * chance / (1 - chance)) / len(rows)
        assert curve.everyone[place] == pytest.approx(everyone, abs=1e-12)
    assert not curve.nobody.any()
    refused(cp.tradeoffs.decision_curve, points_of([(flag, score + 2) for flag, score in rows]))


@law()
@given(any_scored_rows, metrics, inner_shares)
def test_in_its_domain_and_only_there_a_result_beats_taking_everything(rows, metric, weight):
    points = points_of(rows)
    domain = cp.tradeoffs.domain_of_application(points, metric)
    if not points.positives:
        assert domain == ()
        return
    assume(all(abs(weight - end) > 1e-6 for part in domain for end in part))
    everything = float(cp.metric_value(points.prevalence, 1.0, weight, metric=metric))
    better = float(cp.TradeoffCurve(points, metric).value(weight)) > everything + 1e-12
    assert any(low < weight < high for low, high in domain) == better


@law()
@given(st.floats(0.01, 1), shares, metrics)
def test_a_metric_has_one_value_along_its_line(value, weight, metric):
    recall, precision = cp.tradeoffs.isoline(value, weight, metric, size=21)
    assert len(recall) == len(precision)
    assert ((recall >= 0) & (recall <= 1) & (precision >= 0) & (precision <= 1)).all()
    assert same(cp.metric_value(precision, recall, weight, metric=metric), np.full(len(recall), value), 1e-9)
    refused(cp.tradeoffs.isoline, value + 1.01, weight, metric)


@law()
@given(scored_rows, st.lists(shares, min_size=1, max_size=5))
def test_the_cost_curve_is_the_lowest_line_and_never_above_the_constants(rows, chances):
    curve = cp.tradeoffs.CostCurve(points_of(rows))
    constant = cp.tradeoffs.constant_cost(chances)
    assert same(constant, [min(x, 1 - x) for x in chances], 1e-15)
    assert same(constant, cp.tradeoffs.constant_cost([1 - x for x in chances]), 1e-15)
    assert same(curve.value(chances), np.minimum(curve.lines(chances).min(axis=0), constant), 1e-14)
    assert curve.area() <= 0.25 + 1e-14
    assert curve.area(0, 0.5) + curve.area(0.5, 1) == pytest.approx(curve.area(), abs=1e-14)
    refused(cp.tradeoffs.constant_cost, [*chances, 1.5])


@law()
@given(shares, st.floats(0, 1e6), st.floats(0, 1e6), st.floats(1e-3, 1e3))
def test_the_probability_cost_is_a_share_that_mirrors(prevalence, missed, alarmed, scale):
    cost = float(cp.tradeoffs.probability_cost(prevalence, missed, alarmed))
    whole = prevalence * missed + (1 - prevalence) * alarmed
    if whole == 0:
        assert math.isnan(cost)
        return
    assert 0 <= cost <= 1
    assert cost == pytest.approx(prevalence * missed / whole, abs=1e-12)
    if min(prevalence, 1 - prevalence) > 1e-6:  # 1 - (1 - q) loses digits of a small q
        mirrored = 1 - float(cp.tradeoffs.probability_cost(1 - prevalence, alarmed, missed))
        assert cost == pytest.approx(mirrored, abs=1e-6)
    if whole > 1e-200:
        assert cost == pytest.approx(
            float(cp.tradeoffs.probability_cost(prevalence, missed * scale, alarmed * scale)), abs=1e-9
        )
    refused(cp.tradeoffs.probability_cost, prevalence, -1 - missed, alarmed)


@law()
@given(st.floats(0.5, 20), st.floats(0.5, 20), st.lists(shares, min_size=2, max_size=2), scored_rows)
def test_a_beta_density_has_scipys_mass_and_the_flat_one_changes_no_area(a, b, ends, rows):
    low, high = sorted(ends)
    expected = stats.beta(a, b).cdf(high) - stats.beta(a, b).cdf(low)
    assert cp.tradeoffs.Beta(a, b).mass(low, high) == pytest.approx(expected, abs=1e-12)
    assert cp.tradeoffs.Beta(a, b).mass(0, 1) == pytest.approx(1, abs=1e-14)
    curve = cp.TradeoffCurve(points_of(rows))
    assert curve.area(density=cp.tradeoffs.Beta(1, 1)) == pytest.approx(curve.area(), abs=1e-9)


@law()
@given(any_scored_rows)
def test_no_group_lies_in_the_unreachable_zone(rows):
    points = points_of(rows)
    assume(points.positives)
    space = cp.tradeoffs.PrecisionRecallSpace.of(points)
    predicted = ~np.isnan(points.precision)
    lowest = space.lowest_precision(points.recall[predicted])
    assert (points.precision[predicted] >= lowest - 1e-15).all()
    assert (space.prevalence, 1.0) == space.maximal_group
    assert float(space.lowest_precision(1.0)) == pytest.approx(space.prevalence, abs=1e-15)


@law()
@given(any_scored_rows, st.integers(1, 3), shares, metrics)
def test_bounds_of_bins_hold_the_exact_number_and_finer_bins_narrow_them(rows, width, weight, metric):
    flags, _ = columns_of(rows)
    exact, coarse, coarser = points_of(rows), _binned(rows, width), _binned(rows, 2 * width)
    for bounds, value in (
        (cp.frames.roc_area_bounds, cp.tradeoffs.roc_points(exact).area),
        (cp.frames.average_precision_bounds, cp.tradeoffs.precision_recall_points(exact).average_precision),
        (lambda points: cp.frames.tradeoff_bounds(points, weight, metric=metric), _best_value(exact, weight, metric)),
    ):
        low, high = bounds(coarse)
        if math.isnan(value):
            assert math.isnan(low) or low <= high
            continue
        assert low - 1e-12 <= value <= high + 1e-12
        wider = bounds(coarser)
        assert wider[0] - 1e-12 <= low
        assert high <= wider[1] + 1e-12
    if len({*flags}) == 2:
        assert cp.frames.roc_area_bounds(exact) == pytest.approx((cp.tradeoffs.roc_points(exact).area,) * 2, abs=1e-14)


def _binned(rows, width):
    edges = sorted({score // width * width for _, score in rows}, reverse=True)
    inside = [[flag for flag, score in rows if score // width * width == edge] for edge in edges]
    return cp.OperatingPoints.from_bins(
        edges, [sum(one) for one in inside], [len(one) - sum(one) for one in inside], pos_label=True
    )


def _best_value(points, weight, metric):
    values = cp.metric_value(points.precision[1:], points.recall[1:], weight, metric=metric)
    return float(values.max()) if points.positives else math.nan
