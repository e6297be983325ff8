"""The optimal trade-off curve: envelope, intervals, areas, selection, and the space around it."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad

from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.metrics import METRICS, Metric
from compromis.tradeoffs import Beta, PrecisionRecallSpace, TradeoffCurve, domain_of_application, isoline
from compromis.tradeoffs._kernels import hull
from tests import naive_tradeoffs as naive

NAMES = tuple(METRICS)
SIX = ([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
QUADRATIC = Metric("quadratic", lambda p, r, w: np.sqrt((1 - w) * p**2 + w * r**2), defined_at_zero=True)
HARMONIC_AGAIN = Metric("again", lambda p, r, w: 1 / (w / r + (1 - w) / p), transform=lambda rate: -1 / rate)
SETS = [pytest.param(250, id="250"), pytest.param(10_000, id="10000", marks=pytest.mark.stress)]


def groups(pairs: list[tuple[int, int]], positives: int, negatives: int, positive: Hashable = "t") -> OperatingPoints:
    hits, alarms = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    return OperatingPoints(
        threshold=np.full(len(hits), np.nan),
        true_positives=hits,
        false_positives=alarms,
        positives=positives,
        negatives=negatives,
        pos_label=positive,
        names=tuple(range(len(hits))),
    )


def random_points(rng: np.random.Generator) -> OperatingPoints:
    """Cuts of a score or groups, few or many, with twins and groups that miss the target."""
    positives, negatives = int(rng.integers(1, 60)), int(rng.integers(1, 60))
    if rng.random() < 0.5:
        y = np.repeat([1, 0], [positives, negatives])
        score = (rng.normal(size=len(y)) + rng.uniform(-1, 3) * y).round(int(rng.integers(0, 4)))
        return OperatingPoints.from_predictions(y, score)
    size = int(rng.integers(1, 25))
    hits, alarms = rng.integers(0, positives + 1, size), rng.integers(0, negatives + 1, size)
    alarms[(hits == 0) & (alarms == 0)] = 1
    return groups(list(zip(hits.tolist(), alarms.tolist(), strict=True)), positives, negatives)


def brute_force(points: OperatingPoints, name: str, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    rates = list(zip(points.precision.tolist(), points.recall.tolist(), strict=True))
    valid = [rate for rate in rates if not math.isnan(rate[0])]
    return np.array([max(naive.metric_value(name, p, r, w) for p, r in valid) for w in weights.tolist()])


def fractions(points: OperatingPoints) -> list[naive.Rates]:
    counted = zip(points.true_positives.tolist(), points.false_positives.tolist(), strict=True)
    return [(Fraction(tp, tp + fp), Fraction(tp, points.positives)) for tp, fp in counted if tp + fp]


def check_cover(breaks: NDArray[np.float64]) -> None:
    assert breaks[0] == 0
    assert breaks[-1] == 1
    assert (np.diff(breaks) > 0).all()


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
            chosen = TradeoffCurve(points).positions
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
        assert TradeoffCurve(exact).positions.tolist() == [0, 2]
        assert len(TradeoffCurve(points).positions) == 3

    def test_a_corner_best_on_a_very_narrow_range(self) -> None:
        """Off the line between its neighbours by one row in five million."""
        points = groups([(6_000_000, 0), (15_000_000, 4_999_999), (24_000_000, 24_000_000)], 24_000_000, 60_000_000)
        curve = TradeoffCurve(points)
        assert curve.positions.tolist() == [0, 1, 2]
        rates = fractions(points)
        expected = [naive.crossing("kulczynski", *pair) for pair in pairwise(rates)]
        assert 0 < expected[1] - expected[0] < 1e-6
        assert curve.breaks[1:-1].tolist() == pytest.approx(expected, abs=1e-15)

    def test_the_way_through_the_hull_of_f_loses_no_corner(self, monkeypatch: pytest.MonkeyPatch) -> None:
        recall = np.arange(1, 5001) / 5000
        hits, size = recall * 5000, recall * 5000 / (1 - recall**2 / 2)
        front = groups([(0, 0)] * 5000, 5000, 90_000, 1)
        front = replace(front, true_positives=hits, false_positives=size - hits)
        assert TradeoffCurve(front, "fowlkes_mallows").positions.tolist() == list(range(5000))
        rng = np.random.default_rng(5)
        for _ in range(5):
            y = rng.random(40_000) < rng.uniform(0.2, 0.6)
            points = OperatingPoints.from_predictions(y, rng.normal(size=40_000) + y)
            through = TradeoffCurve(points, "fowlkes_mallows")
            with monkeypatch.context() as patch:
                patch.setattr("compromis.tradeoffs.envelope._MANY_envelope", 10**9)
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
        shuffled = groups(list(zip(cuts.true_positives[order], cuts.false_positives[order], strict=True)), 0, 0, 1)
        shuffled = replace(shuffled, positives=cuts.positives, negatives=cuts.negatives)
        weights = np.linspace(0.01, 0.99, 37)
        for points in (cuts, shuffled):
            best = np.nanmax(METRICS[name].value(points.precision[:, None], points.recall[:, None], weights), axis=0)
            np.testing.assert_allclose(TradeoffCurve(points, name).value(weights), best, rtol=1e-13)

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
        assert (part.low, part.high, part.position, part.name) == (0, 1, 0, 0)
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
        curve = TradeoffCurve(OperatingPoints.from_predictions([0, 0], [1, 2]))
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
            in TradeoffCurve(OperatingPoints.from_predictions([1], [1]), pair="specificity-sensitivity").reason
        )


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


class TestOwnIndex:
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
        exact, numeric = TradeoffCurve(points), TradeoffCurve(points, plain)
        assert exact.positions.tolist() == [0, 1, 2]
        assert exact.breaks[2] - exact.breaks[1] < 1 / 256
        assert math.floor(exact.breaks[1] * 256) == math.floor(exact.breaks[2] * 256)
        assert numeric.positions.tolist() == [0, 1, 2]
        np.testing.assert_allclose(numeric.breaks, exact.breaks, atol=1e-12)

    def test_a_change_on_the_grid_and_next_to_the_ends(self) -> None:
        plain = Metric("plain", METRICS["kulczynski"].formula, defined_at_zero=True)
        for pairs in ([(10, 0), (20, 20)], [(10, 0), (10_000, 1)], [(9_999, 0), (10_000, 9_000)]):
            points = groups(pairs, 20 if pairs[1][0] == 20 else 10_000, 20_000)
            exact, numeric = TradeoffCurve(points), TradeoffCurve(points, plain)
            assert numeric.positions.tolist() == exact.positions.tolist()
            np.testing.assert_allclose(numeric.breaks, exact.breaks, atol=1e-12)

    def test_own_transform(self) -> None:
        rng = np.random.default_rng(7)
        for _ in range(40):
            points = random_points(rng)
            ours, theirs = TradeoffCurve(points, HARMONIC_AGAIN), TradeoffCurve(points, "f")
            assert ours.positions.tolist() == theirs.positions.tolist()
            np.testing.assert_allclose(ours.breaks, theirs.breaks, atol=1e-12)


class TestAreas:
    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("density", [None, Beta(2, 5), Beta(0.5, 0.5), Beta(400, 100), lambda w: 3 * w * w])
    def test_quadrature(self, name: str, density: object) -> None:
        rng = np.random.default_rng(11)
        for _ in range(6):
            points = random_points(rng)
            curve = TradeoffCurve(points, name)
            low, high = sorted(rng.random(2).tolist())
            for a, b in ((0.0, 1.0), (low, high)):
                expected = self.by_quadrature(curve, a, b, density)
                assert curve.area(a, b, density) == pytest.approx(expected, abs=1e-9)  # type: ignore[arg-type]

    @staticmethod
    def by_quadrature(curve: TradeoffCurve, low: float, high: float, density: object) -> float:
        """scipy, over the same curve; a Beta density over t with l = sin(t)^2, where a, b >= 1/2 is bounded."""
        from scipy.special import betaln
        from scipy.stats import beta

        def integral(function: object, edges: list[float]) -> float:
            return sum(quad(function, a, b, epsabs=1e-12, epsrel=1e-10, limit=500)[0] for a, b in pairwise(edges))

        knots = sorted({low, high, *(k for k in (0.5, *curve.breaks.tolist()) if low < k < high)})
        if not isinstance(density, Beta):
            return integral(lambda w: float(curve.value(w)) * (1.0 if density is None else density(w)), knots)  # type: ignore[operator]
        bulk = beta(density.a, density.b).ppf([1e-12, 1e-6, 0.01, 0.5, 0.99, 1 - 1e-6, 1 - 1e-12]).tolist()
        knots = sorted({*knots, *(k for k in bulk if low < k < high)})
        scale = 2 * math.exp(-betaln(density.a, density.b))

        def weighed(t: float) -> float:
            powers = math.sin(t) ** (2 * density.a - 1) * math.cos(t) ** (2 * density.b - 1)
            return scale * float(curve.value(math.sin(t) ** 2)) * powers

        return integral(weighed, [math.asin(math.sqrt(knot)) for knot in knots])

    @pytest.mark.parametrize("shape", [(0.5, 0.5), (0.05, 0.2), (3, 0.7), (5000, 2000), (1, 1)])
    def test_beta_closed_form_for_the_plane(self, shape: tuple[float, float]) -> None:
        """The mean of (1 - l) p + l r is at the mean of l."""
        a, b = shape
        curve = TradeoffCurve(groups([(17, 3)], 34, 100))
        mean = a / (a + b)
        assert curve.area(0, 1, Beta(a, b)) == pytest.approx((1 - mean) * 0.85 + mean * 0.5, abs=1e-11)

    def test_the_single_point_of_figure_three(self) -> None:
        """Precision 0.85, recall 0.5: closed forms worked out by hand."""
        points = groups([(17, 3)], 34, 100)
        assert TradeoffCurve(points).area() == pytest.approx(0.675, abs=1e-15)
        expected = 0.85 * 0.5 * math.log(0.85 / 0.5) / 0.35
        assert TradeoffCurve(points, "f").area() == pytest.approx(expected, abs=1e-15)
        expected = (0.85 - 0.5) / math.log(0.85 / 0.5)
        assert TradeoffCurve(points, "fowlkes_mallows").area() == pytest.approx(expected, abs=1e-15)

    def test_mean_divides_by_the_mass(self) -> None:
        curve = TradeoffCurve(groups([(3, 0)], 3, 7))
        assert curve.mean() == 1
        assert curve.mean(0.2, 0.3) == pytest.approx(1, abs=1e-14)
        assert curve.mean(0.2, 0.3, Beta(3, 1)) == pytest.approx(1, abs=1e-12)
        assert curve.mean(0, 1, lambda w: 7.0) == pytest.approx(1, abs=1e-12)
        assert curve.area(0, 1, lambda w: 7.0) == pytest.approx(7, abs=1e-11)
        assert curve.area(0.999, 1, Beta(2, 90)) >= 0

    @pytest.mark.parametrize("width", [0.1, 0.001, 0.0002])
    @pytest.mark.parametrize("peak", [0.3, 0.50001, 0.7])
    def test_narrow_density(self, width: float, peak: float) -> None:
        """A triangle of area `width` around the peak: the plane's mean is its value at the peak."""
        curve = TradeoffCurve(groups([(17, 3)], 34, 100))
        area = curve.area(0, 1, lambda w: max(0.0, 1 - abs(w - peak) / width))
        assert area == pytest.approx(width * ((1 - peak) * 0.85 + peak * 0.5), rel=1e-8)

    @pytest.mark.parametrize("power", [-0.5, -0.9, 0.0, 4.0])
    def test_powers_that_integrate(self, power: float) -> None:
        curve = TradeoffCurve(groups([(3, 0)], 3, 7))
        for density in (lambda w: w**power, lambda w: (1 - w) ** power):
            assert curve.area(0, 1, density) == pytest.approx(1 / (1 + power), rel=1e-9)

    def test_own_metric(self) -> None:
        curve = TradeoffCurve(OperatingPoints.from_predictions(*SIX), QUADRATIC)
        assert curve.area() == pytest.approx(self.by_quadrature(curve, 0, 1, None), abs=1e-10)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"low": 0.5, "high": 0.5}, "low < high"),
            ({"low": 0.7, "high": 0.2}, "low=0.7 and high=0.2"),
            ({"low": -0.1}, "0 <= low"),
            ({"high": 1.1}, "high <= 1"),
            ({"low": math.nan}, "low"),
            ({"density": lambda w: 1 / w}, "does not integrate"),
            ({"density": lambda w: 1 / (1 - w) ** 2}, "does not integrate"),
            ({"density": lambda w: 1 / (1 - w)}, "does not integrate"),
            ({"density": lambda w: w**-2.0}, "does not integrate"),
            ({"density": lambda w: w**-1.5 + 1e7}, "does not integrate"),
            ({"density": lambda w: (1 - w) ** -1.5 + 1e7}, "does not integrate"),
            ({"density": lambda w: abs(w - 0.3) ** -1.5 + 1e5}, "does not integrate"),
            ({"density": lambda w: w - 0.5}, "at least 0"),
            ({"density": lambda w: math.nan}, "finite"),
            ({"density": lambda w: 1 / 0}, "finite"),
            ({"density": lambda w: [w, w]}, "finite"),
            ({"density": lambda w: 0.0}, "no mass"),
            ({"density": 3}, "function of the recall weight"),
        ],
    )
    def test_bad_areas(self, options: dict[str, object], words: str) -> None:
        curve = TradeoffCurve(OperatingPoints.from_predictions(*SIX))
        for method in (curve.area, curve.mean):
            with pytest.raises(InputError, match=words) as caught:
                method(**options)  # type: ignore[arg-type]
            assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("shape", [(0, 1), (1, -1), (math.nan, 1), (math.inf, 1)])
    def test_bad_beta(self, shape: tuple[float, float]) -> None:
        with pytest.raises(InputError, match="above 0"):
            Beta(*shape)


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
        choice = TradeoffCurve(points, pair="specificity-sensitivity").best(0.9, min_precision=0.9)
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
        curve = TradeoffCurve(OperatingPoints.from_predictions(*SIX))
        assert "recall reaches 0.3333" in curve.best(0.5, min_precision=0.8, min_recall=0.5).reason
        low = TradeoffCurve(groups([(1, 9)], 5, 20)).best(0.5, min_precision=0.5)
        assert "precision never exceeds 0.1" in low.reason
        assert "no group" in low.reason

    @pytest.mark.parametrize("weight", [-0.01, 1.01, math.nan])
    def test_bad_weight(self, weight: float) -> None:
        curve = TradeoffCurve(OperatingPoints.from_predictions(*SIX))
        for method in (curve.value, curve.best, curve.family):
            with pytest.raises(InputError, match=r"between 0 .* and 1 .*, got"):
                method(weight)

    def test_bad_minimum(self) -> None:
        curve = TradeoffCurve(OperatingPoints.from_predictions(*SIX))
        with pytest.raises(InputError, match="min_precision is a share"):
            curve.best(0.5, min_precision=90)

    def test_bad_construction(self) -> None:
        with pytest.raises(InputError, match="got list"):
            TradeoffCurve([1, 2])  # type: ignore[arg-type]
        with pytest.raises(InputError, match="no metric 'fmeasure'"):
            TradeoffCurve(OperatingPoints.from_predictions(*SIX), "fmeasure")
        with pytest.raises(InputError, match="no pair"):
            TradeoffCurve(OperatingPoints.from_predictions(*SIX), pair="x")


class TestSpace:
    def test_unreachable_zone_is_sharp(self) -> None:
        """All groups of 12 elements, 4 wanted, are reachable; those with all false alarms lie on the edge."""
        space = PrecisionRecallSpace(4, 12)
        for hits in range(1, 5):
            for alarms in range(9):
                p, r = hits / (hits + alarms), hits / 4
                assert space.reachable(p, r) or p == pytest.approx(space.lowest_precision(r))
            edge = hits / (hits + 8)
            assert space.lowest_precision(hits / 4) == pytest.approx(edge, abs=1e-15)
            assert not space.reachable(edge - 1e-9, hits / 4)
        assert space.lowest_precision(0.0) == 0
        assert space.lowest_precision(1.0) == pytest.approx(space.maximal_group[0])

    def test_random_groups(self) -> None:
        """The mean over all groups of 3 out of 7 elements, 2 of them wanted."""
        from itertools import combinations

        found = [sum(x < 2 for x in group) for group in combinations(range(7), 3)]
        precision, recall = PrecisionRecallSpace(2, 7).random_groups([3])
        assert precision[0] == pytest.approx(np.mean(found) / 3)
        assert recall[0] == pytest.approx(np.mean(found) / 2)

    @pytest.mark.parametrize("metric", [*NAMES, QUADRATIC])
    @pytest.mark.parametrize("weight", [0.0, 0.2, 0.5, 0.8, 1.0])
    def test_isolines(self, metric: str | Metric, weight: float) -> None:
        family = METRICS[metric] if isinstance(metric, str) else metric
        for value in (0.1, 0.5, 0.9):
            recall, precision = isoline(value, weight, metric)
            assert len(recall) > 10
            np.testing.assert_allclose(family.value(precision, recall, weight), value, atol=1e-14)

    def test_f_isoline_in_closed_form(self) -> None:
        recall, precision = isoline(0.4, 0.2, "f")
        np.testing.assert_allclose(precision, 0.8 / (1 / 0.4 - 0.2 / recall), rtol=1e-13)

    def test_domain_of_one_result(self) -> None:
        """Where (1-l) p + l r = (1-l) q + l: l = (p - q) / ((p - q) + (1 - r))."""
        points = groups([(17, 3)], 34, 170 - 34)
        p, r, q = 0.85, 0.5, 0.2
        ((low, high),) = domain_of_application(points)
        assert (low, high) == (0, pytest.approx((p - q) / ((p - q) + (1 - r)), abs=1e-14))
        ((_, by_f),) = domain_of_application(points, "f")
        lost, won = 1 / q - 1 / p, 1 / r - 1
        assert by_f == pytest.approx(lost / (lost + won), abs=1e-14)
        assert by_f > high, "the paper: the domain of Kulczynski is smaller"

    def test_domain_edges(self) -> None:
        assert domain_of_application(groups([(1, 9)], 5, 5)) == ()
        assert domain_of_application(groups([(5, 0)], 5, 5)) == ((0, 1),)
        assert domain_of_application(OperatingPoints.from_predictions([1, 0], [0, 0])) == ()
        assert domain_of_application(OperatingPoints.from_predictions([0, 0], [0, 1])) == ()
        assert domain_of_application(OperatingPoints.from_predictions(*SIX)) == ((0, 1),)

    @pytest.mark.parametrize("name", NAMES)
    def test_domain_against_grid(self, name: str) -> None:
        rng = np.random.default_rng(13)
        for _ in range(60):
            points = random_points(rng)
            ranges = domain_of_application(points, name)
            for weight in rng.random(6).tolist():
                best = brute_force(points, name, np.array([weight]))[0]
                gain = best - naive.metric_value(name, points.prevalence, 1.0, weight)
                if abs(gain) > 1e-9:
                    assert any(low < weight < high for low, high in ranges) == (gain > 0)

    def test_bad_space(self) -> None:
        with pytest.raises(InputError, match="target"):
            PrecisionRecallSpace(5, 4)
        with pytest.raises(InputError, match="between 0 and"):
            PrecisionRecallSpace(2, 4).random_groups(5)
        with pytest.raises(InputError, match="values between 0 and 1"):
            isoline(1.5, 0.5)
        with pytest.raises(InputError, match="recall weight"):
            isoline(0.5, 2)


def test_with_index_is_a_new_curve() -> None:
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
    frame = curve.frame()
    assert frame["threshold"] == [0.9, 0.4]
    assert frame["low"] == [0, pytest.approx(1 / 7)]
    assert "score >= 0.4" in str(curve)
    assert "pos_label=1" in repr(curve)
    assert PrecisionRecallSpace.of(points).prevalence == 0.5
