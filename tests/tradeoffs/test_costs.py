"""Cost curves and decision curves."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.tradeoffs import CostCurve, constant_cost, decision_curve, probability_cost
from tests.tradeoffs.cases import SIX, groups, random_models


class TestCostCurves:
    def test_lower_envelope(self) -> None:
        rng = np.random.default_rng(1)
        for _ in range(60):
            points = next(iter(random_models(rng).values()))
            curve = CostCurve(points)
            shares = np.concatenate([[0, 1], rng.random(10)])
            costs = (1 - points.tpr)[:, None] * shares + points.fpr[:, None] * (1 - shares)
            np.testing.assert_allclose(curve.value(shares), costs.min(axis=0), atol=1e-14)
            np.testing.assert_allclose(curve.lines(shares), costs, atol=1e-15)
            assert (curve.value(shares) <= constant_cost(shares) + 1e-15).all()
            pieces = (quad(lambda x, c=curve: float(c.value(x)), a, b)[0] for a, b in pairwise(curve.breaks.tolist()))
            assert curve.area() == pytest.approx(sum(pieces), abs=1e-12)
            assert (np.diff(curve.breaks) > 0).all()

    def test_constant_decisions_are_always_there(self) -> None:
        curve = CostCurve(groups([(1, 9)], 10, 10))
        assert curve.positions.tolist() == [-1, -1]
        assert curve.value(0.5) == 0.5
        assert curve.area() == pytest.approx(0.25)

    def test_probability_cost(self) -> None:
        assert probability_cost(0.3) == 0.3
        assert probability_cost(0.2, 3, 1) == pytest.approx(0.6 / 1.4)
        assert math.isnan(probability_cost(0.2, 0, 0))

    def test_refusals(self) -> None:
        with pytest.raises(InputError, match="rows of both kinds"):
            CostCurve(OperatingPoints.from_predictions([1], [1]))
        curve = CostCurve(OperatingPoints.from_predictions(*SIX))
        with pytest.raises(InputError, match="probability cost lies between"):
            curve.value(1.5)
        with pytest.raises(InputError, match="low < high"):
            curve.area(0.5, 0.5)
        with pytest.raises(InputError, match="share"):
            probability_cost(2)
        with pytest.raises(InputError, match="at least 0"):
            probability_cost(0.5, -1)


class TestDecisionCurves:
    def test_by_counting(self) -> None:
        rng = np.random.default_rng(2)
        y, chance = rng.integers(0, 2, 50), rng.random(50).round(1)
        levels = np.array([0, 0.05, 0.1, 0.35, 0.5, 0.9, 0.95])
        curve = decision_curve(OperatingPoints.from_predictions(y, chance), levels)
        for place, level in enumerate(levels.tolist()):
            act = chance >= level
            benefit = (act & (y == 1)).mean() - (act & (y == 0)).mean() * level / (1 - level)
            assert curve.model[place] == pytest.approx(benefit, abs=1e-15)
            assert curve.everyone[place] == pytest.approx(y.mean() - (1 - y.mean()) * level / (1 - level))
        assert curve.nobody.tolist() == [0] * 7
        assert curve.useful.tolist() == (curve.model > np.maximum(curve.everyone, 0)).tolist()
        assert list(curve.to_frame("pandas")) == ["probability", "model", "everyone", "nobody"]
        assert len(decision_curve(OperatingPoints.from_predictions(y, chance)).model) == 100

    def test_refusals(self) -> None:
        with pytest.raises(InputError, match="predicted probabilities, got scores from 1 to 3"):
            decision_curve(OperatingPoints.from_predictions([0, 1], [1, 3]))
        with pytest.raises(InputError, match="below 1"):
            decision_curve(OperatingPoints.from_predictions(*SIX), [1.0])


def test_cost_curves_at_their_borders():
    assert probability_cost([0.0, 1.0]).tolist() == [0.0, 1.0]
    assert probability_cost(0.25, 0.0, 1.0) == 0.0
    assert probability_cost(0.25, 1.0, 0.0) == 1.0
    for wrong in ((-0.1, 1, 1), (1.1, 1, 1), (0.5, -1, 1), (0.5, 1, -1), (math.nan, 1, 1)):
        with pytest.raises(InputError):
            probability_cost(*wrong)
    curve = CostCurve(groups([(3, 1)], 4, 4))
    assert curve.breaks.tolist() == pytest.approx([0, 0.25, 0.75, 1])  # 1/4 = x, (1 - x) / ... by symmetry
    assert curve.value([0.0, 0.25, 0.5, 1.0]).tolist() == pytest.approx([0, 0.25, 0.25, 0])
    assert curve.area() == pytest.approx(0.25 * 0.5 + 2 * 0.25**2 / 2)
    assert curve.area(0.25, 0.75) == pytest.approx(0.125)
    assert curve.positions.tolist() == [-1, 0, -1]
    assert constant_cost([0.0, 0.25, 1.0]).tolist() == [0.0, 0.25, 0.0]
    for wrong in (-0.1, 1.1, math.nan):
        with pytest.raises(InputError, match="a probability cost lies between 0 and 1"):
            constant_cost(wrong)


def test_decision_curves_at_their_borders():
    points = OperatingPoints.from_predictions([1, 0, 1, 0], [1.0, 0.6, 0.7, 0.0])
    curve = decision_curve(points)
    assert curve.probability.tolist() == pytest.approx([k / 100 for k in range(100)])
    assert curve.model[60] == pytest.approx(2 / 4 - 1 / 4 * 0.6 / 0.4)  # at the score itself one acts
    assert curve.model[61] == pytest.approx(2 / 4)
    assert curve.model[71] == pytest.approx(1 / 4)
    assert curve.everyone[50] == 0.0
    assert curve.model[0] == curve.everyone[0] == 0.5
    assert not curve.useful[0]
    assert curve.useful[50]
    for scores in ([-0.1, 0.5], [0.5, 1.1]):
        with pytest.raises(InputError, match="needs predicted probabilities"):
            decision_curve(OperatingPoints.from_predictions([0, 1], scores))
    for wrong in ([-0.01], [1.0], [math.nan]):
        with pytest.raises(InputError, match="at least 0 and below 1"):
            decision_curve(points, wrong)
    assert decision_curve(points, [0.0]).model.tolist() == [0.5]


def test_every_score_of_a_decision_curve_is_a_probability():
    for scores in ([0.5, 0.2, -0.1], [1.5, 0.2, 0.1], [0.5, -0.2, -0.1]):
        with pytest.raises(InputError, match=f"got scores from {min(scores):g} to {max(scores):g}"):
            decision_curve(OperatingPoints.from_predictions([1, 0, 1], scores))
    assert decision_curve(OperatingPoints.from_predictions([1, 0, 1], [1.0, 0.5, 0.0]), [0.0]).model.tolist() == [2 / 3]


def test_curves_as_tables():
    curve = CostCurve(groups([(3, 1)], 4, 4))
    frame = curve.to_frame("pandas")
    assert frame["low"].tolist() == pytest.approx([0, 0.25, 0.75])
    assert frame["position"].tolist() == [-1, 0, -1]
    assert frame["tpr"].tolist() == [0, 0.75, 1]
    cuts = CostCurve(OperatingPoints.from_predictions(*SIX))
    assert cuts.to_frame("polars")["threshold"].to_list() == [0.9, 0.4]
    assert str(curve).startswith("Expected cost 0.1875 if every probability cost is as likely.\n")
    decision = decision_curve(OperatingPoints.from_predictions(*SIX), [0.25, 0.5])
    assert str(decision).splitlines()[4].split() == ["probability", "model", "everyone", "nobody"]
    assert decision.to_markdown().count("\n") == 6
    with pytest.raises(InputError, match=r"got 1\.5"):
        constant_cost([0.5, 1.5, 2.5])
