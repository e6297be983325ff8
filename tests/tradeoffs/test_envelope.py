"""The envelope: exact breaks from counts, the numeric way for one's own metric, both pairs of rates."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from compromis.evidence.points import OperatingPoints
from compromis.metrics import METRICS, Metric
from compromis.tradeoffs import TradeoffCurve
from compromis.tradeoffs import _kernels as hull
from tests import naive_tradeoffs as naive
from tests.tradeoffs.cases import (
    NAMES,
    QUADRATIC,
    brute_force,
    check_cover,
    fractions,
    groups,
    of_counts,
    random_points,
)

HARMONIC_AGAIN = Metric("again", lambda p, r, w: 1 / (w / r + (1 - w) / p), transform=lambda rate: -1 / rate)
SETS = [pytest.param(250, id="250"), pytest.param(10_000, id="10000", marks=pytest.mark.stress)]


class TestEnvelope:
    @pytest.mark.parametrize("sets", SETS)
    def test_brute_force_grid(self, sets: int) -> None:
        rng = np.random.default_rng(sets)
        for _ in range(sets):
            points = random_points(rng)
            weights = np.sort(np.concatenate([[0, 0.5, 1], rng.random(6)]))
            for name in NAMES:
                curve = TradeoffCurve(points, name)
                np.testing.assert_allclose(
                    curve.value(weights), brute_force(points, name, weights), rtol=1e-12, atol=1e-15
                )
                check_cover(curve.breaks)
                assert points.dominating[curve.positions].all()
                assert len(set(curve.positions.tolist())) == len(curve.positions)
                self.check_breaks(points, curve, name)

    @staticmethod
    def check_breaks(points: OperatingPoints, curve: TradeoffCurve, name: str) -> None:
        rates = [
            (
                Fraction(int(points.true_positives[at]), int(points.group_size[at])),
                Fraction(int(points.true_positives[at]), points.positives),
            )
            for at in curve.positions.tolist()
        ]
        for weight, (first, second) in zip(curve.breaks[1:-1].tolist(), pairwise(rates), strict=True):
            assert weight == pytest.approx(naive.crossing(name, first, second), abs=1e-14)
            values = [naive.metric_value(name, float(p), float(r), weight) for p, r in (first, second)]
            assert values[0] == pytest.approx(values[1], abs=1e-13)
            assert max(values) >= brute_force(points, name, np.array([weight]))[0] - 1e-13

    @pytest.mark.parametrize("sets", [60, pytest.param(1000, marks=pytest.mark.stress)])
    def test_kulczynski_is_the_convex_hull(self, sets: int) -> None:
        rng = np.random.default_rng(4)
        for _ in range(sets):
            points = random_points(rng)
            rates = fractions(points)
            if max(p for p, _ in rates) == 0:
                continue
            chosen = TradeoffCurve(points, metric="kulczynski").positions
            exact = [
                (
                    Fraction(int(points.true_positives[a]), int(points.group_size[a])),
                    Fraction(int(points.true_positives[a]), points.positives),
                )
                for a in chosen
            ]
            assert exact == naive.plane_hull(rates)

    def test_a_point_on_the_line_between_two_is_left_out(self) -> None:
        # precision 1, 3/4, 1/2 at recall 1/4, 5/8, 1: one straight line
        points = groups([(10, 0), (25, 25 // 3), (40, 40)], 40, 60)
        exact = groups([(6, 0), (15, 5), (24, 24)], 24, 60)
        assert TradeoffCurve(exact, metric="kulczynski").positions.tolist() == [0, 2]
        assert len(TradeoffCurve(points, metric="kulczynski").positions) == 3

    def test_a_corner_best_on_a_very_narrow_range(self) -> None:
        """Off the line between its neighbours by one row in five million."""
        points = groups([(6_000_000, 0), (15_000_000, 4_999_999), (24_000_000, 24_000_000)], 24_000_000, 60_000_000)
        curve = TradeoffCurve(points, metric="kulczynski")
        assert curve.positions.tolist() == [0, 1, 2]
        rates = fractions(points)
        expected = [naive.crossing("kulczynski", *pair) for pair in pairwise(rates)]
        assert 0 < expected[1] - expected[0] < 1e-6
        assert curve.breaks[1:-1].tolist() == pytest.approx(expected, abs=1e-15)

    def test_the_way_through_the_hull_of_f_loses_no_corner(self, monkeypatch: pytest.MonkeyPatch) -> None:
        recall = np.arange(1, 5001) / 5000
        hits, size = recall * 5000, recall * 5000 / (1 - recall**2 / 2)
        front = of_counts(hits, size - hits, 5000.0, 9e4)
        assert TradeoffCurve(front, "fowlkes_mallows").positions.tolist() == list(range(5000))
        rng = np.random.default_rng(5)
        for _ in range(5):
            y = rng.random(40_000) < rng.uniform(0.2, 0.6)
            points = OperatingPoints.from_predictions(y, rng.normal(size=40_000) + y)
            through = TradeoffCurve(points, "fowlkes_mallows")
            with monkeypatch.context() as patch:
                patch.setattr("compromis.tradeoffs.envelope._MANY_CORNERS", 10**9)
                direct = TradeoffCurve(points, "fowlkes_mallows")
            assert len(through.candidates) > 1000
            assert len(direct.positions) > 20
            assert through.positions.tolist() == direct.positions.tolist()

    def test_hulls_are_nested(self) -> None:
        rng = np.random.default_rng(8)
        for _ in range(100):
            points = random_points(rng)
            found = {name: set(TradeoffCurve(points, name).positions.tolist()) for name in NAMES}
            if not points.true_positives.any():
                continue
            assert found["kulczynski"] <= found["fowlkes_mallows"] <= found["f"]
            assert found["jaccard"] == found["f"]

    @pytest.mark.parametrize("name", NAMES)
    def test_many_points(self, name: str) -> None:
        """Also the way through the hull of f for Fowlkes-Mallows, and unsorted groups through the bins."""
        rng = np.random.default_rng(3)
        y = rng.random(40_000) < 0.3
        score = rng.normal(size=40_000) + y
        cuts = OperatingPoints.from_predictions(y, score)
        order = rng.permutation(len(cuts) - 1) + 1
        counts = cuts.true_positives[order], cuts.false_positives[order]
        shuffled = of_counts(*counts, cuts.positives, cuts.negatives)
        weights = np.linspace(0.01, 0.99, 37)
        for points in (cuts, shuffled):
            best = np.nanmax(METRICS[name].value(points.precision[:, None], points.recall[:, None], weights), axis=0)
            np.testing.assert_allclose(TradeoffCurve(points, name).value(weights), best, rtol=1e-13)

    def test_promising_keeps_every_dominating_point(self) -> None:
        rng = np.random.default_rng(0)
        for _ in range(50):
            first, second = rng.random(300).round(2), rng.random(300).round(2)
            marked = np.empty(300, dtype=bool)
            hull.mark_promising(first, second, np.empty(17), marked.view(np.uint8))
            expected = np.array(naive.dominating(list(zip(first.tolist(), second.tolist(), strict=True))))
            assert marked[expected].all()
            assert marked.sum() < 300

    def test_cross_keeps_its_digits(self) -> None:
        rng = np.random.default_rng(0)
        for a, b in rng.random((50, 2)).tolist():
            assert hull.product_error(a, b, a * b) == float(Fraction(a) * Fraction(b) - Fraction(a * b))
        for _ in range(300):
            a, b = (int(x) for x in rng.integers(10**7, 10**8, 2))
            c, d = a + int(rng.integers(-3, 4)), b + int(rng.integers(-3, 4))
            assert hull.cross(float(a), float(b), float(c), float(d)) == pytest.approx(a * b - c * d, rel=1e-15)
        third = 1 / 3
        exact = Fraction(third) * Fraction(3.0) - 1
        assert hull.cross(third, 3.0, 1.0, 1.0) == float(exact)

    def test_large_counts_keep_exact_breaks(self) -> None:
        base = 40_000_000
        points = groups([(base, base // 3), (base + 1, base // 3 + 2), (base + 2, base // 3 + 5)], 2 * base, 3 * base)
        for name in NAMES:
            curve = TradeoffCurve(points, name)
            rates = fractions(points)
            assert curve.positions.tolist() == [0, 1, 2]
            for place in (0, 1):
                expected = naive.crossing(name, rates[place], rates[place + 1])
                assert curve.breaks[place + 1] == pytest.approx(expected, abs=1e-14)


class TestSpecificitySensitivity:
    @pytest.mark.parametrize("name", NAMES)
    def test_brute_force(self, name: str) -> None:
        rng = np.random.default_rng(9)
        for _ in range(100):
            points = random_points(rng)
            curve = TradeoffCurve(points, name, pair="specificity-sensitivity")
            rates = list(zip(points.specificity.tolist(), points.recall.tolist(), strict=True))
            weights = [0, 0.001, *rng.random(5).tolist(), 0.999, 1]
            expected = [max(naive.metric_value(name, p, r, w) for p, r in rates) for w in weights]
            np.testing.assert_allclose(curve.value(weights), expected, rtol=1e-12, atol=1e-15)
            check_cover(curve.breaks)

    def test_ends_stand_apart(self) -> None:
        """Never deciding positive has specificity 1: worth 1 at l = 0 and nothing by f anywhere else."""
        curve = TradeoffCurve(groups([(1, 5)], 2, 10), "f", pair="specificity-sensitivity")
        cuts = TradeoffCurve(
            OperatingPoints.from_predictions([0, 1, 0], [3, 2, 1]), "f", pair="specificity-sensitivity"
        )
        assert curve.value(0.0) == 0.5
        assert cuts.value(0.0) == 1
        assert cuts.value(1e-9) == pytest.approx(0.5)
        assert cuts.best(0.0).threshold == math.inf


class TestOwnMetric:
    def test_numeric_way_against_brute_force(self) -> None:
        rng = np.random.default_rng(6)
        for _ in range(40):
            points = random_points(rng)
            curve = TradeoffCurve(points, QUADRATIC)
            weights = rng.random(8)
            best = np.nanmax(QUADRATIC.value(points.precision[:, None], points.recall[:, None], weights), axis=0)
            np.testing.assert_allclose(curve.value(weights), best, rtol=1e-12)
            check_cover(curve.breaks)

    @pytest.mark.parametrize("name", NAMES)
    def test_numeric_way_finds_the_exact_breaks(self, name: str) -> None:
        plain = Metric("plain", METRICS[name].formula, defined_at_zero=METRICS[name].defined_at_zero)
        rng = np.random.default_rng(7)
        for _ in range(25):
            points = random_points(rng)
            exact, numeric = TradeoffCurve(points, name), TradeoffCurve(points, plain)
            assert numeric.positions.tolist() == exact.positions.tolist()
            np.testing.assert_allclose(numeric.breaks, exact.breaks, atol=1e-12)

    def test_a_result_between_two_weights_of_the_grid(self) -> None:
        """The middle one of three results, nearly on a line, is best on less than a 256th of the range."""
        plain = Metric("plain", METRICS["kulczynski"].formula, defined_at_zero=True)
        points = groups([(6000, 0), (15000, 4983), (24000, 24000)], 24000, 60000)
        exact, numeric = TradeoffCurve(points, metric="kulczynski"), TradeoffCurve(points, plain)
        assert exact.positions.tolist() == [0, 1, 2]
        assert exact.breaks[2] - exact.breaks[1] < 1 / 256
        assert math.floor(exact.breaks[1] * 256) == math.floor(exact.breaks[2] * 256)
        assert numeric.positions.tolist() == [0, 1, 2]
        np.testing.assert_allclose(numeric.breaks, exact.breaks, atol=1e-12)

    def test_a_change_on_the_grid_and_next_to_the_ends(self) -> None:
        plain = Metric("plain", METRICS["kulczynski"].formula, defined_at_zero=True)
        for pairs in ([(10, 0), (20, 20)], [(10, 0), (10_000, 1)], [(9_999, 0), (10_000, 9_000)]):
            points = groups(pairs, 20 if pairs[1][0] == 20 else 10_000, 20_000)
            exact, numeric = TradeoffCurve(points, metric="kulczynski"), TradeoffCurve(points, plain)
            assert numeric.positions.tolist() == exact.positions.tolist()
            np.testing.assert_allclose(numeric.breaks, exact.breaks, atol=1e-12)

    def test_results_that_are_level_at_a_single_weight_have_no_interval(self) -> None:
        """Precision and recall 1/2 each, 3/4 and 1/4, 1/4 and 3/4: all are level at 1/2, where the first has no room."""
        plane = Metric("plane", lambda p, r, w: (1 - w) * p + w * r)
        curve = TradeoffCurve(groups([(12, 12), (6, 2), (18, 54)], 24, 60), plane)
        assert (curve.positions.tolist(), curve.breaks.tolist()) == ([1, 2], [0, 0.5, 1])

    def test_own_transform(self) -> None:
        rng = np.random.default_rng(7)
        for _ in range(40):
            points = random_points(rng)
            ours, theirs = TradeoffCurve(points, HARMONIC_AGAIN), TradeoffCurve(points, "f")
            assert ours.positions.tolist() == theirs.positions.tolist()
            np.testing.assert_allclose(ours.breaks, theirs.breaks, atol=1e-12)


def test_a_transform_that_no_kernel_knows():
    rates = np.array([[0.9, 0.5], [1.0, 1.0]]), np.array([[0.2, 0.6], [1.0, 1.0]])
    for code in (-1, 3):
        with pytest.raises(ValueError, match=f"no transform {code}"):
            hull.switch_odds(*rates, 0, 1, code)
        with pytest.raises(ValueError, match=f"no transform {code}"):
            hull.upper_envelope(*rates, code, 4e-15, np.empty(2, dtype=np.int64), np.empty(2))


@pytest.mark.parametrize("name", METRICS)
def test_a_member_that_is_not_compiled_has_the_envelope_of_its_transform(name, monkeypatch):
    fifth = replace(METRICS[name], name="fifth")
    monkeypatch.setitem(METRICS, "fifth", fifth)
    points = OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    one, other = (TradeoffCurve(points, metric) for metric in (fifth, METRICS[name]))
    assert one.positions.tolist() == other.positions.tolist()
    np.testing.assert_allclose(one.breaks, other.breaks, rtol=1e-12)
