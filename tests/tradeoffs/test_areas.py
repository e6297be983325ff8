"""Areas under trade-off curves: closed forms, densities, refusals."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta

from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.tradeoffs import Beta, TradeoffCurve
from tests.tradeoffs.cases import NAMES, QUADRATIC, SIX, groups, random_points


class TestAreas:
    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("density", [None, Beta(2, 5), Beta(0.5, 0.5), Beta(400, 100), lambda w: 3 * w * w])
    def test_quadrature(self, name: str, density: object) -> None:
        rng = np.random.default_rng(11)
        for _ in range(6 if density is None or isinstance(density, Beta) else 2):  # a function takes 256 quadratures
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
        curve = TradeoffCurve(groups([(17, 3)], 34, 100), metric="kulczynski")
        mean = a / (a + b)
        assert curve.area(0, 1, Beta(a, b)) == pytest.approx((1 - mean) * 0.85 + mean * 0.5, abs=1e-11)

    def test_the_single_point_of_figure_three(self) -> None:
        """Precision 0.85, recall 0.5: closed forms worked out by hand."""
        points = groups([(17, 3)], 34, 100)
        assert TradeoffCurve(points, metric="kulczynski").area() == pytest.approx(0.675, abs=1e-15)
        expected = 0.85 * 0.5 * math.log(0.85 / 0.5) / 0.35
        assert TradeoffCurve(points, "f").area() == pytest.approx(expected, abs=1e-15)
        expected = (0.85 - 0.5) / math.log(0.85 / 0.5)
        assert TradeoffCurve(points, "fowlkes_mallows").area() == pytest.approx(expected, abs=1e-15)

    def test_mean_divides_by_the_mass(self) -> None:
        curve = TradeoffCurve(groups([(3, 0)], 3, 7), metric="kulczynski")
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
        curve = TradeoffCurve(groups([(17, 3)], 34, 100), metric="kulczynski")
        area = curve.area(0, 1, lambda w: max(0.0, 1 - abs(w - peak) / width))
        assert area == pytest.approx(width * ((1 - peak) * 0.85 + peak * 0.5), rel=1e-8)

    @pytest.mark.parametrize("power", [-0.5, -0.9, 0.0, 4.0])
    def test_powers_that_integrate(self, power: float) -> None:
        curve = TradeoffCurve(groups([(3, 0)], 3, 7), metric="kulczynski")
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
        curve = TradeoffCurve(OperatingPoints.from_predictions(*SIX), metric="kulczynski")
        for method in (curve.area, curve.mean):
            with pytest.raises(InputError, match=words) as caught:
                method(**options)  # type: ignore[arg-type]
            assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("shape", [(0, 1), (1, 0), (-0.5, 1), (1, -1), (math.nan, 1), (math.inf, 1), (1, math.inf)])
    def test_bad_beta(self, shape: tuple[float, float]) -> None:
        with pytest.raises(InputError, match="above 0"):
            Beta(*shape)


def test_beta_by_hand():
    """Beta(2, 2) is 6 l (1 - l); Beta(3, 1) is 3 l^2."""
    assert Beta(2, 2)(0.25) == pytest.approx(6 * 0.25 * 0.75)
    assert Beta(3, 1)(0.5) == pytest.approx(0.75)
    assert Beta(3, 1).mass(0.0, 0.5) == pytest.approx(0.125)
    assert Beta(3, 1).mass(0.8, 0.9) == pytest.approx(0.9**3 - 0.8**3)
    assert Beta(1, 40).mass(0.9, 1.0) == pytest.approx(0.1**40, rel=1e-12)  # the tail keeps its digits
    assert Beta(2, 2).over_log_odds(0.0) == pytest.approx(1.5 * 0.25)  # dl / dx = l (1 - l)


def test_the_area_of_a_perfect_result_is_the_mass_of_the_density():
    perfect = TradeoffCurve(groups([(3, 0)], 3, 7), "f")
    assert perfect.area(0.25, 0.75) == 0.5
    assert perfect.area(0.0, 0.5, lambda w: 3 * w * w) == pytest.approx(0.125)
    assert perfect.area(0.25, 0.5, Beta(1, 1)) == pytest.approx(0.25)
    with pytest.raises(InputError, match=r"no mass between 0 and 0\.1"):
        perfect.area(0.0, 0.1, lambda w: float(w > 0.2))


def test_a_density_over_all_trade_offs_keeps_its_ends():
    """Beta(a, b) with most mass at an end: the plane's mean is at a / (a + b), whatever lies beyond the farthest log-odds."""
    curve = TradeoffCurve(groups([(17, 3)], 34, 100), metric="kulczynski")
    for a, b in ((0.01, 1.0), (1.0, 0.01), (0.01, 0.01)):
        mean = a / (a + b)
        assert curve.area(0, 1, Beta(a, b)) == pytest.approx((1 - mean) * 0.85 + mean * 0.5, rel=1e-9)
    assert curve.area(0.25, 0.75, Beta(1, 1)) == pytest.approx(0.5 * (0.85 + 0.5) / 2, rel=1e-12)
    assert Beta(2, 2).mass(0.6, 0.6 + 1e-9) == pytest.approx(1e-9 * 6 * 0.6 * 0.4, rel=1e-5)


def test_a_tail_keeps_its_digits_on_either_side():
    for a, b in ((0.5, 3.0), (3.0, 0.5), (2.0, 5.0)):
        assert Beta(a, b).mass(1 - 1e-9, 1) == pytest.approx(beta.sf(1 - 1e-9, a, b), rel=1e-12)
        assert Beta(a, b).mass(0, 1e-9) == pytest.approx(beta.cdf(1e-9, a, b), rel=1e-12)


@pytest.mark.parametrize(("a", "b"), [(1.0, 0.01), (0.01, 1.0), (0.01, 0.01)])
def test_mass_beyond_what_floats_can_tell_from_the_ends_counts(a, b):
    """A perfect result is worth 1 everywhere, so its area is the whole mass."""
    points = OperatingPoints.from_predictions([1, 0], [0.9, 0.1])
    for metric in ("kulczynski", "f"):
        assert TradeoffCurve(points, metric).area(density=Beta(a, b)) == pytest.approx(1, rel=1e-9)
