"""The precision-recall space, isolines, and the domain of application."""

from __future__ import annotations

import numpy as np
import pytest

from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.metrics import METRICS, Metric
from compromis.tradeoffs import PrecisionRecallSpace, TradeoffCurve, domain_of_application, isoline
from tests import naive_tradeoffs as naive
from tests.tradeoffs.cases import NAMES, QUADRATIC, SIX, brute_force, groups, random_points


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
        ((low, high),) = domain_of_application(points, metric="kulczynski")
        assert (low, high) == (0, pytest.approx((p - q) / ((p - q) + (1 - r)), abs=1e-14))
        ((_, by_f),) = domain_of_application(points, "f")
        lost, won = 1 / q - 1 / p, 1 / r - 1
        assert by_f == pytest.approx(lost / (lost + won), abs=1e-14)
        assert by_f > high, "the paper: the domain of Kulczynski is smaller"

    def test_domain_edges(self) -> None:
        assert domain_of_application(groups([(1, 9)], 5, 5), metric="kulczynski") == ()
        assert domain_of_application(groups([(5, 0)], 5, 5), metric="kulczynski") == ((0, 1),)
        assert domain_of_application(OperatingPoints.from_predictions([1, 0], [0, 0]), metric="kulczynski") == ()
        assert domain_of_application(OperatingPoints.from_predictions([0, 0], [0, 1]), metric="kulczynski") == ()
        assert domain_of_application(OperatingPoints.from_predictions(*SIX), metric="kulczynski") == ((0, 1),)

    def test_domain_by_specificity_and_sensitivity(self) -> None:
        """Specificity 19/20 and sensitivity 1/2 against 0 and 1: better up to (19/20) / (19/20 + 1/2)."""
        curve = TradeoffCurve(groups([(2, 1)], 4, 20), pair="specificity-sensitivity", metric="kulczynski")
        assert curve.domain == ((0, pytest.approx(0.95 / 1.45, abs=1e-14)),)

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
            isoline(1.5, 0.5, metric="kulczynski")
        with pytest.raises(InputError, match="recall weight"):
            isoline(0.5, 2, metric="kulczynski")


def test_the_space_at_its_borders():
    space = PrecisionRecallSpace(4, 4)
    assert (space.prevalence, space.maximal_group) == (1.0, (1.0, 1.0))
    assert space.lowest_precision([0.0, 0.5, 1.0]).tolist() == [0.0, 1.0, 1.0]
    with pytest.raises(InputError, match="more than 0 elements"):
        PrecisionRecallSpace(0, 4)
    half = PrecisionRecallSpace(2, 8)
    assert half.landmarks() == {
        "perfect": (1.0, 1.0), "null": (0.0, 0.0), "maximal": (0.25, 1.0), "single element": (1.0, 0.5),
    }  # fmt: skip
    precision, recall = half.random_groups([0, 8])
    assert (precision.tolist(), recall.tolist()) == ([0.25, 0.25], [0.0, 1.0])
    for wrong in (-1, 9):
        with pytest.raises(InputError, match="between 0 and 8 elements"):
            half.random_groups(wrong)
    curves = half.curves([0.0, 0.5, 1.0], "kulczynski")
    assert curves["random"].tolist() == [0.25, 0.375, 0.5]  # half of the universe
    assert curves["single element"].tolist() == [1.0, 0.75, 0.5]
    assert half.curves([1.0], random_size=8)["random"].tolist() == [1.0]
    assert half.reachable(0.25, 1.0)


def test_isolines_at_their_borders():
    recall, precision = isoline(0.5, 0.5, size=3, metric="kulczynski")  # p + r = 1
    assert (recall.tolist(), precision.tolist()) == ([0.0, 0.5, 1.0], pytest.approx([1.0, 0.5, 0.0]))
    recall, precision = isoline(0.25, 1.0, size=3, metric="kulczynski")
    assert (recall.tolist(), precision.tolist()) == (pytest.approx([0.25] * 3), [0.0, 0.5, 1.0])
    recall, precision = isoline(0.25, 0.0, size=3, metric="kulczynski")
    assert (recall.tolist(), precision.tolist()) == ([0.0, 0.5, 1.0], pytest.approx([0.25] * 3))
    assert isoline(1.0, 0.5, metric="kulczynski")[0].tolist() == [1.0]
    assert isoline(0.0, 0.5, metric="kulczynski")[1].tolist() == [0.0]
    assert len(isoline(0.0, 0.0, metric="kulczynski")[0]) == 201
    with pytest.raises(InputError, match="values between 0 and 1"):
        isoline(-0.1, 0.5, metric="kulczynski")


def test_a_target_of_one_element_and_less():
    assert PrecisionRecallSpace(1, 5).maximal_group == (0.2, 1.0)
    assert PrecisionRecallSpace(0.5, 5).maximal_group == (0.1, 1.0)  # weights
    for target in (0, -1, 6):
        with pytest.raises(InputError, match="more than 0 elements"):
            PrecisionRecallSpace(target, 5)
