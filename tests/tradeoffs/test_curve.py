"""The optimal trade-off curve: its values, intervals, best points, constraints and renderings."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import compromis as cp
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.tradeoffs import Beta, PrecisionRecallSpace, TradeoffCurve, decision_curve, isoline, probability_cost
from tests import naive_tradeoffs as naive
from tests.tradeoffs.cases import NAMES, SIX, groups, random_points


class TestSpecialCurves:
    @pytest.mark.parametrize("name", NAMES)
    def test_one_point(self, name: str) -> None:
        points = groups([(3, 1)], 5, 20)
        curve = TradeoffCurve(points, name)
        weights = np.linspace(0, 1, 11)
        expected = [naive.metric_value(name, 0.75, 0.6, w) for w in weights.tolist()]
        np.testing.assert_allclose(curve.value(weights), expected, rtol=1e-14)
        assert curve.value(0.0) == 0.75
        assert curve.value(1.0) == 0.6
        (part,) = curve.intervals
        assert (part.low, part.high, part.position, part.name) == (0, 1, 0, "g0")
        assert (part.precision, part.recall, part.specificity, part.size) == (0.75, 0.6, 0.95, 4)

    @pytest.mark.parametrize("name", NAMES)
    def test_nothing_found(self, name: str) -> None:
        curve = TradeoffCurve(groups([(0, 3), (0, 5)], 5, 20), name)
        assert curve.value([0, 0.3, 1]).tolist() == [0, 0, 0]
        assert curve.area() == 0
        assert len(curve.intervals) == 1

    @pytest.mark.parametrize("name", NAMES)
    def test_landmarks(self, name: str) -> None:
        space = PrecisionRecallSpace(20, 100)
        weights = np.linspace(0, 1, 9)
        curves = space.curves(weights, name, random_size=30)
        rates = {
            "perfect": (1, 1),
            "null": (0, 0),
            "maximal": (0.2, 1),
            "single element": (1, 0.05),
            "random": (0.2, 0.3),
        }
        for kind, (p, r) in rates.items():
            expected = [naive.metric_value(name, p, r, w) for w in weights.tolist()]
            np.testing.assert_allclose(curves[kind], expected, rtol=1e-14)

    def test_no_positives(self) -> None:
        curve = TradeoffCurve(OperatingPoints.from_predictions([0, 0], [1, 2]), metric="kulczynski")
        assert math.isnan(curve.value(0.5))
        assert np.isnan(curve.value([0.1, 0.2])).all()
        assert math.isnan(curve.area())
        assert curve.intervals == ()
        assert "no rows of the positive class" in curve.reason
        assert "no rows of the positive class" in str(curve)
        assert not curve.best(0.5).feasible

    def test_no_negatives_and_constant_scores(self) -> None:
        curve = TradeoffCurve(OperatingPoints.from_predictions([1, 1], [1, 2]), "f")
        assert curve.value([0, 0.5, 1]).tolist() == [1, 1, 1]
        constant = TradeoffCurve(OperatingPoints.from_predictions([1, 0, 0, 0], [5, 5, 5, 5]), "f")
        assert constant.value([0, 1]).tolist() == [0.25, 1]
        assert (
            "all rows"
            in TradeoffCurve(
                OperatingPoints.from_predictions([1], [1]), pair="specificity-sensitivity", metric="kulczynski"
            ).reason
        )


class TestBest:
    def test_against_all_points(self) -> None:
        rng = np.random.default_rng(12)
        for _ in range(150):
            points = random_points(rng)
            weight, least_p, least_r = rng.random(3).tolist()
            for name in NAMES:
                choice = TradeoffCurve(points, name).best(weight, min_precision=least_p, min_recall=least_r)
                rates = zip(points.precision.tolist(), points.recall.tolist(), strict=True)
                values = [naive.metric_value(name, p, r, weight) for p, r in rates if p >= least_p and r >= least_r]
                assert choice.feasible == bool(values)
                if values:
                    assert choice.value == pytest.approx(max(values), rel=1e-13)
                    assert choice.precision >= least_p
                    assert choice.recall >= least_r
                    assert choice.precision == points.precision[choice.position]
                else:
                    assert choice.position == -1
                    assert choice.reason.startswith("no ")

    def test_minima_count_in_the_other_space_too(self) -> None:
        points = OperatingPoints.from_predictions(*SIX)
        choice = TradeoffCurve(points, pair="specificity-sensitivity", metric="kulczynski").best(0.9, min_precision=0.9)
        assert choice.threshold == 0.9
        rng = np.random.default_rng(14)
        for _ in range(100):
            points = random_points(rng)
            weight, least_p, least_r = rng.random(3).tolist()
            curve = TradeoffCurve(points, "f", pair="specificity-sensitivity")
            choice = curve.best(weight, min_precision=least_p, min_recall=least_r)
            rates = zip(points.precision.tolist(), points.recall.tolist(), points.specificity.tolist(), strict=True)
            values = [naive.metric_value("f", s, r, weight) for p, r, s in rates if p >= least_p and r >= least_r]
            assert choice.feasible == bool(values)
            assert not values or choice.value == pytest.approx(max(values), rel=1e-13)

    def test_ends_prefer_the_better_of_equals(self) -> None:
        points = groups([(1, 0), (2, 0), (5, 9), (5, 3)], 5, 20)
        curve = TradeoffCurve(points, "f")
        assert curve.best(0.0).position == 1
        assert curve.best(1.0).position == 3

    def test_reasons(self) -> None:
        curve = TradeoffCurve(OperatingPoints.from_predictions(*SIX), metric="kulczynski")
        assert "recall reaches 0.3333" in curve.best(0.5, min_precision=0.8, min_recall=0.5).reason
        low = TradeoffCurve(groups([(1, 9)], 5, 20), metric="kulczynski").best(0.5, min_precision=0.5)
        assert "precision never exceeds 0.1" in low.reason
        assert "no group" in low.reason

    @pytest.mark.parametrize("weight", [-0.01, 1.01, math.nan])
    def test_bad_weight(self, weight: float) -> None:
        curve = TradeoffCurve(OperatingPoints.from_predictions(*SIX), metric="kulczynski")
        for method in (curve.value, curve.best, curve.family):
            with pytest.raises(InputError, match=r"between 0 .* and 1 .*, got"):
                method(weight)

    def test_bad_minimum(self) -> None:
        curve = TradeoffCurve(OperatingPoints.from_predictions(*SIX), metric="kulczynski")
        with pytest.raises(InputError, match="min_precision is a share"):
            curve.best(0.5, min_precision=90)

    def test_bad_construction(self) -> None:
        with pytest.raises(InputError, match="got list"):
            TradeoffCurve([1, 2], metric="kulczynski")  # type: ignore[arg-type]
        with pytest.raises(InputError, match="no metric 'fmeasure'"):
            TradeoffCurve(OperatingPoints.from_predictions(*SIX), "fmeasure")
        with pytest.raises(InputError, match="no pair"):
            TradeoffCurve(OperatingPoints.from_predictions(*SIX), pair="x", metric="kulczynski")


def test_with_metric_is_a_new_curve() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        points = random_points(rng)
        for name in NAMES:
            again, direct = TradeoffCurve(points, "jaccard").with_metric(name), TradeoffCurve(points, name)
            assert again.metric.name == name
            assert again.intervals == direct.intervals or np.array_equal(again.breaks, direct.breaks)
            assert again.area() == direct.area()


def test_family_frame_and_text() -> None:
    points = OperatingPoints.from_predictions(*SIX)
    curve = TradeoffCurve(points, "f")
    family = curve.family([0.25, 0.5])
    assert family.shape == (7, 2)
    np.testing.assert_allclose(np.nanmax(family, axis=0), curve.value([0.25, 0.5]))
    for backend in ("pandas", "polars", "pyarrow"):
        frame = curve.to_frame(backend)
        assert list(frame["threshold"]) == [0.9, 0.4] or frame["threshold"].to_pylist() == [0.9, 0.4]
    assert curve.to_frame("pandas")["low"].tolist() == [0, pytest.approx(1 / 7)]
    with pytest.raises(InputError, match="there is no backend 'x'"):
        curve.to_frame("x")
    assert "score >= 0.4" in str(curve)
    assert "pos_label=1" in repr(curve)
    assert PrecisionRecallSpace.of(points).prevalence == 0.5


def test_curves_with_constraints(tmp_path):
    points = OperatingPoints.from_predictions(*SIX)
    curve = TradeoffCurve(points, "f")

    def kept(**constraints):
        return curve.with_constraints(**constraints).points

    assert curve.with_constraints() is curve
    assert curve.with_constraints(min_precision=0.0) is curve
    assert kept(min_recall=1.0).threshold.tolist() == [0.4, 0.3, 0.1]
    assert kept(min_precision=0.75).threshold.tolist() == [0.9, 0.4]
    both = kept(min_precision=0.75, min_recall=1 / 3)
    assert both.threshold.tolist() == [0.9, 0.4]
    assert (both.true_positives.tolist(), both.false_positives.tolist()) == ([1, 3], [0, 1])
    assert (both.positives, both.negatives, both.pos_label) == (3, 3, 1)
    named = TradeoffCurve(groups([(1, 0), (2, 2), (1, 3)], 4, 4), metric="kulczynski").with_constraints(
        min_precision=0.5
    )
    assert named.points.names == ("g0", "g1")
    constrained = curve.with_constraints(min_recall=0.5)
    assert (constrained.metric, constrained.pair) == (curve.metric, curve.pair)
    for weight in (0.0, 0.1, 0.5, 1.0):
        assert constrained.value(weight) == curve.best(weight, min_recall=0.5).value
    with pytest.raises(InputError, match=r"no threshold has precision >= 1 and recall >= 0\.5"):
        curve.with_constraints(min_precision=1.0, min_recall=0.5)
    with pytest.raises(InputError, match="min_recall is a share between 0 and 1, got 40"):
        curve.with_constraints(min_recall=40)


def test_renderings(tmp_path):
    import json

    curve = TradeoffCurve(groups([(1, 0), (4, 4)], 4, 4, positive="<b>"), metric="kulczynski")
    document = json.loads(curve.to_json(tmp_path / "curve.json"))
    assert json.loads((tmp_path / "curve.json").read_text()) == document
    assert document["area"] == curve.area()
    assert [part["name"] for part in document["intervals"]] == ["g0", "g1"]
    assert document["intervals"][0]["threshold"] is None  # NaN
    markdown = curve.to_markdown(tmp_path / "curve.md")
    assert (tmp_path / "curve.md").read_text() == markdown
    assert "| Best | Recall weight |" in markdown
    assert markdown.count("<code>g") == 2
    html = curve._repr_html_()
    assert html.count("<tr>") == 3
    assert "&lt;b&gt;" in html
    assert "<b>" not in html + markdown


def test_choices_at_their_borders():
    curve = TradeoffCurve(OperatingPoints.from_predictions(*SIX), metric="kulczynski")
    at = curve.best(0.5, min_precision=0.75, min_recall=1.0)  # both just met
    assert (at.feasible, at.threshold, at.precision, at.recall, at.value) == (True, 0.4, 0.75, 1.0, 0.875)
    assert curve.best(0.5, min_precision=0.0, min_recall=0.0).feasible
    assert curve.best(0.5, min_precision=1.0).recall == pytest.approx(1 / 3)
    missed = curve.best(0.5, min_precision=0.9, min_recall=0.5)
    assert missed.reason == (
        "no threshold has precision >= 0.9 and recall >= 0.5; with precision >= 0.9 recall reaches 0.3333, "
        "with recall >= 0.5 precision reaches 0.75"
    )
    assert math.isnan(missed.value)
    assert (missed.position, missed.name) == (-1, None)
    low = TradeoffCurve(groups([(1, 1)], 4, 4), metric="kulczynski").best(0.5, min_recall=0.5)
    assert low.reason == "no group has recall >= 0.5; recall never exceeds 0.25"
    for wrong in (-0.1, 1.1):
        with pytest.raises(InputError, match="min_recall is a share between 0 and 1"):
            curve.best(0.5, min_recall=wrong)


def test_a_curve_in_words():
    curve = TradeoffCurve(OperatingPoints.from_predictions(*SIX), metric="f")
    assert curve.to_text(width=200).splitlines() == [
        "Metric f for 1: area 0.8796, better than predicting all as positive for recall weights from 0 to 1.",
        "",
        "=== Best by recall weight ===",
        "",
        "Best             Recall weight  Precision  Recall  Missed  False alarms  Specificity",
        "score >= 0.9  0.0000 to 0.1429     1.0000  0.3333       2             0       1.0000",
        "score >= 0.4  0.1429 to 1.0000     0.7500  1.0000       0             1       0.6667",
    ]
    assert repr(curve).endswith("metric='f', pair='precision-recall': 2 intervals)")
    assert "g0" in str(TradeoffCurve(groups([(1, 0)], 4, 4), metric="kulczynski"))
    empty = TradeoffCurve(OperatingPoints.from_predictions([0, 0], [1, 2], pos_label=1), metric="kulczynski")
    assert empty.reason
    assert empty.to_text(width=200).rstrip() == f"{empty.reason[0].upper()}{empty.reason[1:]}."
    assert math.isnan(empty.area())
    part = curve.intervals[0]
    assert (part.position, part.specificity, part.size, part.name) == (1, 1.0, 1, None)
    both = TradeoffCurve(
        OperatingPoints.from_predictions(*SIX), pair="specificity-sensitivity", metric="kulczynski"
    ).family([0.0, 1.0])
    np.testing.assert_allclose(both[3], [2 / 3, 2 / 3])  # at 0.6 one of three negatives, two of three positives


def test_of_equal_values_the_better_all_in_all_is_chosen():
    """Precision 5/8 and recall 1/8, or 1/2 each: with a recall weight of 1/4 both are worth 1/2, their sums are 3/4 and 1."""
    best = TradeoffCurve(groups([(5, 3), (20, 20)], 40, 40), metric="kulczynski").best(0.25)
    assert (best.value, best.precision, best.recall, best.name) == (0.5, 0.5, 0.5, "g1")


def test_a_minimum_that_is_just_reached_counts_in_the_reason():
    """Precision 3/4 with recall 3/4, precision 1 with recall 1/4: no group has precision 1 and recall 3/4."""
    curve = TradeoffCurve(groups([(3, 1), (1, 0)], 4, 8), metric="kulczynski")
    reason = curve.best(0.5, min_precision=1.0, min_recall=0.75).reason
    assert reason.endswith("with precision >= 1 recall reaches 0.25, with recall >= 0.75 precision reaches 0.75")


def test_the_family_has_the_rates_of_its_pair():
    points = OperatingPoints.from_predictions(*SIX)
    precision = TradeoffCurve(points, metric="kulczynski").family([0.0])
    specificity = TradeoffCurve(points, pair="specificity-sensitivity", metric="kulczynski").family([0.0])
    np.testing.assert_array_equal(precision[:, 0], points.precision)
    np.testing.assert_array_equal(specificity[:, 0], points.specificity)


SIX_POINTS = OperatingPoints.from_predictions(*SIX)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda curve, wrong: curve.best(wrong), "recall weight"),
        (lambda curve, wrong: curve.best(0.5, min_precision=wrong), "min_precision is a share between 0 and 1"),
        (lambda curve, wrong: curve.with_constraints(min_recall=wrong), "min_recall is a share between 0 and 1"),
        (lambda curve, wrong: curve.area(0.0, wrong), "low and high are recall weights"),
        (lambda curve, wrong: TradeoffCurve(curve.points, pair=wrong), "there is no pair"),
        (
            lambda curve, wrong: cp.compare_curves({"a": curve.points}).distance(0.5, wrong, "a"),
            "there is no algorithm",
        ),
        (lambda curve, wrong: isoline(0.5, wrong), "recall weight"),
        (lambda curve, wrong: isoline(wrong, 0.5), "a metric has values between 0 and 1"),
        (lambda curve, wrong: PrecisionRecallSpace(wrong, 100), "the target has more than 0 elements"),
        (lambda curve, wrong: Beta(wrong, 2), "a Beta density has a and b above 0"),
        (lambda curve, wrong: probability_cost(0.5, wrong), "costs are at least 0"),
        (
            lambda curve, wrong: cp.tradeoffs.roc_hull({"a": curve.points}).best(prevalence=wrong),
            "prevalence is a share",
        ),
        (lambda curve, wrong: cp.tradeoffs.roc_hull({"a": curve.points}).best(cost_false_positive=wrong), "costs are"),
    ],
)
@pytest.mark.parametrize("wrong", ["x", [0.1, 0.2], ["precision"], {}])
def test_texts_and_lists_in_place_of_a_number_or_a_name(call: Any, words: str, wrong: object) -> None:
    with pytest.raises(InputError, match=words):
        call(TradeoffCurve(SIX_POINTS), wrong)


def test_texts_in_place_of_arrays() -> None:
    curve = TradeoffCurve(SIX_POINTS)
    for wrong in ("x", ["x"], [[0.1], [0.2, 0.3]], {}):
        for method in (curve.value, curve.family, cp.tradeoffs.CostCurve(SIX_POINTS).value, probability_cost):
            with pytest.raises(InputError, match="between 0"):
                method(wrong)
        with pytest.raises(InputError, match="at least 0 and below 1"):
            decision_curve(SIX_POINTS, wrong)
    for wrong in (1, [0.5, 1.0]):
        with pytest.raises(InputError, match="at least 0 and below 1, got 1"):
            decision_curve(SIX_POINTS, wrong)
