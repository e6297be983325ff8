"""ROC and precision-recall: areas, hull, dominance, cost curves, decision curves."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from sklearn.metrics import average_precision_score, roc_auc_score

from compromis.errors import InputError
from compromis.evidence._kernels import ranking
from compromis.evidence.points import OperatingPoints
from compromis.measures.ranking import area_in_words, average_precision, pr_area, roc_area
from compromis.tradeoffs import (
    CostCurve,
    constant_cost,
    decision_curve,
    dominance,
    dominates,
    precision_recall_points,
    probability_cost,
    roc_hull,
    roc_points,
)
from tests import naive_tradeoffs as naive
from tests.test_tradeoff_curve import SIX, groups

rows = st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=2, max_size=30)


def of(rows: list[tuple[bool, int]]) -> OperatingPoints:
    return OperatingPoints.from_predictions([flag for flag, _ in rows], [score for _, score in rows], pos_label=True)


def counted(points: OperatingPoints) -> list[tuple[int, int]]:
    return list(zip(points.true_positives.tolist(), points.false_positives.tolist(), strict=True))


class TestAreas:
    @given(rows)
    @settings(max_examples=200, deadline=None)
    def test_roc_area_is_the_probability_of_correct_ordering(self, rows: list[tuple[bool, int]]) -> None:
        flags, scores = zip(*rows, strict=True)
        if len(set(flags)) == 2:
            assert roc_area(of(rows)) == float(naive.ordering_probability(flags, scores))

    @given(rows)
    @settings(max_examples=200, deadline=None)
    def test_precision_recall_areas(self, rows: list[tuple[bool, int]]) -> None:
        points = of(rows)
        if not points.positives:
            return
        counts = counted(points)
        assert average_precision(points) == pytest.approx(float(naive.average_precision(counts)), rel=1e-15)
        knots = sorted({tp for tp, _ in counts})
        pieces = (
            quad(lambda x: naive.interpolated_precision(counts, x), a, b, epsabs=1e-12)[0] for a, b in pairwise(knots)
        )
        assert pr_area(points) == pytest.approx(sum(pieces) / points.positives, abs=1e-9)

    def test_davis_and_goadrich(self) -> None:
        """Their section 4.2: A = (5, 5), B = (10, 30) of 20 positives; between them 5 more alarms per positive."""
        counts = [(5, 5), (10, 30)]
        printed = {6: 0.375, 7: 0.318, 8: 0.286, 9: 0.265}
        for hits, precision in printed.items():
            assert naive.interpolated_precision(counts, hits) == pytest.approx(precision, abs=5e-4)

    def test_course_examples(self) -> None:
        six = OperatingPoints.from_predictions(*SIX)
        assert roc_area(six) == pytest.approx(7 / 9, abs=1e-16)
        assert average_precision(six) == pytest.approx((1 + 2 / 3 + 3 / 4) / 3)
        by_hand = (1 + (1 - math.log(3 / 2)) + (1 - math.log(4 / 3))) / 3
        assert pr_area(six) == pytest.approx(by_hand, abs=1e-15)
        curve = precision_recall_points(six)
        assert curve.recall.tolist() == [0, 1 / 3, 1 / 3, 2 / 3, 1, 1, 1]
        assert math.isnan(curve.precision[0])
        assert curve.precision[1:].tolist() == [1, 1 / 2, 2 / 3, 3 / 4, 3 / 5, 3 / 6]
        roc = roc_points(six)
        assert roc.fpr.tolist() == [0, 0, 1 / 3, 1 / 3, 1 / 3, 2 / 3, 1]
        assert (roc.words, roc.reason) == ("good", "")

    def test_hard_labels(self) -> None:
        rng = np.random.default_rng(0)
        for _ in range(50):
            y, predicted = rng.integers(0, 2, (2, 30))
            points = OperatingPoints.from_predictions(y, predicted)
            if points.reason or len(points) < 3:
                continue
            tpr, fpr = predicted[y == 1].mean(), predicted[y == 0].mean()
            assert roc_area(points) == pytest.approx((1 + tpr - fpr) / 2, abs=1e-15)

    def test_reports_of_the_course(self) -> None:
        """Weka's ROC area 0.639 of the SVM, from its confusion matrix."""
        y = ["good"] * 105 + ["bad"] * 60
        predicted = [1] * 94 + [0] * 11 + [1] * 37 + [0] * 23
        assert roc_area(OperatingPoints.from_predictions(y, predicted, pos_label="good")) == pytest.approx(
            0.639, abs=5e-4
        )

    @pytest.mark.parametrize("seeds", [range(40), pytest.param(range(1000), marks=pytest.mark.stress)])
    def test_scikit_learn(self, seeds: range) -> None:
        for seed in seeds:
            rng = np.random.default_rng(seed)
            size = int(rng.integers(5, 300))
            y, score = rng.integers(0, 2, size), rng.integers(0, 20, size)
            y[:2] = 0, 1
            weight = rng.random(size) if seed % 2 else None
            points = OperatingPoints.from_predictions(y, score, sample_weight=weight)
            assert roc_area(points) == pytest.approx(roc_auc_score(y, score, sample_weight=weight), abs=1e-12)
            expected = average_precision_score(y, score, sample_weight=weight)
            assert average_precision(points) == pytest.approx(expected, abs=1e-12)

    def test_large_counts_do_not_overflow(self) -> None:
        many = 3_000_000_000
        points = OperatingPoints.from_bins([1.0, 0.0], [many, many], [0, 2 * many], pos_label=1)
        assert roc_area(points) == pytest.approx(0.75)

    def test_small_steps_keep_their_digits(self) -> None:
        for z in (1e-12, 1e-6, 0.05, 0.1, 0.10001, 3.0):
            exact = 0.5 - z / 3 + z * z / 4 - z**3 / 5 if z < 1e-3 else (z - math.log1p(z)) / z**2
            assert ranking.log_remainder(z) == pytest.approx(exact, rel=1e-13)

    def test_one_class_only(self) -> None:
        positive = OperatingPoints.from_predictions([1, 1], [1, 2])
        assert math.isnan(roc_area(positive))
        assert average_precision(positive) == pr_area(positive) == 1
        assert "all rows" in roc_points(positive).reason
        assert roc_points(positive).words == "undefined"
        assert precision_recall_points(positive).reason == ""
        negative = OperatingPoints.from_predictions([0, 0], [1, 2])
        assert all(math.isnan(area(negative)) for area in (roc_area, average_precision, pr_area))
        assert "no rows" in precision_recall_points(negative).reason

    def test_constant_scores(self) -> None:
        points = OperatingPoints.from_predictions([1, 0, 0, 0], [1, 1, 1, 1])
        assert (roc_area(points), average_precision(points), pr_area(points)) == (0.5, 0.25, 0.25)

    def test_groups_have_no_ranking(self) -> None:
        found = groups([(1, 1)], 2, 2)
        for measure in (roc_area, average_precision, pr_area, roc_points, precision_recall_points, decision_curve):
            with pytest.raises(InputError, match="needs the cuts of one score"):
                measure(found)

    @pytest.mark.parametrize(
        ("area", "words"),
        [
            (1, "excellent"),
            (0.901, "excellent"),
            (0.9, "discriminating"),
            (0.87, "discriminating"),
            (0.869, "good"),
            (0.71, "good"),
            (0.7, "weak"),
            (0.5, "no better"),
        ],
    )
    def test_words_of_the_course(self, area: float, words: str) -> None:
        assert area_in_words(area).startswith(words)
        assert "wrong way round" in area_in_words(0.3)


class TestHull:
    @staticmethod
    def random_models(rng: np.random.Generator) -> dict[str, OperatingPoints]:
        y = rng.integers(0, 2, 40)
        y[:2] = 0, 1
        return {
            name: OperatingPoints.from_predictions(
                y, (rng.normal(size=40) + rng.uniform(-0.5, 2) * y).round(int(rng.integers(0, 3)))
            )
            for name in "ABCD"[: int(rng.integers(1, 5))]
        }

    @pytest.mark.parametrize("sets", [100, pytest.param(2500, marks=pytest.mark.stress)])
    def test_brute_force(self, sets: int) -> None:
        rng = np.random.default_rng(sets)
        for _ in range(sets):
            models = self.random_models(rng)
            hull = roc_hull(models)
            assert hull.parts[0].slope_high == math.inf
            assert hull.parts[-1].slope_low == 0
            for left, right in pairwise(hull.parts):
                assert left.slope_low == right.slope_high
                edge = (right.tpr - left.tpr) / (right.fpr - left.fpr) if right.fpr > left.fpr else math.inf
                assert left.slope_low == pytest.approx(edge, rel=1e-12)
            for slope in rng.exponential(1.5, 5).tolist():
                part = next(part for part in hull.parts if part.slope_low <= slope <= part.slope_high)
                gains = {name: (points.tpr - slope * points.fpr) for name, points in models.items()}
                best = max(0.0, 1 - slope, *(gain.max() for gain in gains.values()))
                assert part.tpr - slope * part.fpr == pytest.approx(best, abs=1e-12)
                for name, threshold in zip(part.models, part.thresholds, strict=True):
                    if name in models:
                        at = models[name].threshold.tolist().index(threshold)
                        assert gains[name][at] == pytest.approx(best, abs=1e-12)

    def test_models_and_droppable_are_exact(self) -> None:
        rng = np.random.default_rng(3)
        for _ in range(150):
            models = self.random_models(rng)
            corners = {
                name: {(Fraction(p.negatives - fp, p.negatives), Fraction(tp, p.positives)) for tp, fp in counted(p)}
                for name, p in models.items()
            }
            constant = {(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))}
            on_hull = set(naive.plane_hull([*constant, *set().union(*corners.values())])) - constant
            expected = tuple(name for name in models if corners[name] & on_hull)
            hull = roc_hull(models)
            assert hull.models == expected
            assert set(hull.droppable) == set(models) - set(expected)

    def test_the_picture_of_the_course(self) -> None:
        """M1 below everything; M4 above M3 somewhere, but below M2 there; the hull is M3 and M2."""

        def cuts(*pairs: tuple[int, int]) -> OperatingPoints:
            hits, alarms = zip((0, 0), *pairs, (100, 100), strict=True)
            return OperatingPoints(
                threshold=np.linspace(1, 0, len(hits)),
                true_positives=np.array(hits),
                false_positives=np.array(alarms),
                positives=100,
                negatives=100,
                pos_label="+",
            )

        models = {
            "M1": cuts((20, 15)),
            "M2": cuts((50, 20), (95, 40)),
            "M3": cuts((60, 8), (70, 50)),
            "M4": cuts((68, 20), (80, 45)),
        }
        hull = roc_hull(models)
        assert hull.models == ("M2", "M3")
        assert hull.droppable == ("M1", "M4")
        assert not dominates(models["M3"], models["M4"])
        assert all(dominates(models[name], models["M1"]) for name in ("M3", "M4"))
        assert [(part.models, part.fpr, part.tpr) for part in hull.parts] == [
            (("never positive",), 0, 0),
            (("M3",), 0.08, 0.6),
            (("M2",), 0.4, 0.95),
            (("always positive",), 1, 1),
        ]
        assert [part.slope_low for part in hull.parts] == pytest.approx([7.5, 35 / 32, 5 / 60, 0])
        assert "can be dropped: M1, M4" in str(hull)
        assert hull.frame()["tpr"] == [0, 0.6, 0.95, 1]

    def test_costs(self) -> None:
        points = OperatingPoints.from_predictions([1] * 2 + [0] * 8, [9, 5, 7, 6, 4, 3, 2, 1, 0, 0])
        hull = roc_hull({"m": points})
        assert hull.prevalence == 0.2
        for part in hull.parts:
            assert part.cost_ratio_low == pytest.approx(part.slope_low / 4)
        rng = np.random.default_rng(0)
        for _ in range(50):
            alarm, miss, share = rng.random(3).tolist()
            part = hull.best(cost_false_positive=alarm, cost_false_negative=miss, prevalence=share)
            costs = share * miss * (1 - points.tpr) + (1 - share) * alarm * points.fpr
            assert share * miss * (1 - part.tpr) + (1 - share) * alarm * part.fpr == pytest.approx(
                costs.min(), abs=1e-15
            )
        assert hull.best(cost_false_negative=0).fpr == 0
        assert hull.best(cost_false_positive=0).tpr == 1

    def test_perfect_and_useless(self) -> None:
        perfect = OperatingPoints.from_predictions([1, 1, 0], [3, 2, 1])
        hull = roc_hull({"m": perfect})
        assert [(part.fpr, part.tpr, part.slope_low, part.slope_high) for part in hull.parts] == [(0, 1, 0, math.inf)]
        assert hull.area == 1
        useless = roc_hull({"m": OperatingPoints.from_predictions([1, 0], [1, 1])})
        assert useless.models == ()
        assert useless.droppable == ("m",)
        assert useless.area == 0.5

    def test_groups_and_twins(self) -> None:
        found = OperatingPoints.from_groups({1, 2, 3}, {"g": {1, 2, 5}}, 10)
        hull = roc_hull({"a": found, "b": found})
        (part,) = (part for part in hull.parts if part.models == ("a", "b"))
        assert part.names == ("g", "g")

    def test_different_rows(self) -> None:
        models = {
            "a": OperatingPoints.from_predictions([1, 0, 0], [3, 2, 1]),
            "b": OperatingPoints.from_predictions([1, 0], [1, 2]),
        }
        hull = roc_hull(models)
        assert math.isnan(hull.prevalence)
        assert math.isnan(hull.parts[0].cost_ratio_low)
        with pytest.raises(InputError, match="prevalence"):
            hull.best()

    def test_refusals(self) -> None:
        with pytest.raises(InputError, match="at least one entry"):
            roc_hull({})
        with pytest.raises(InputError, match="'a' has no place in ROC space: all rows"):
            roc_hull({"a": OperatingPoints.from_predictions([1, 1], [1, 2])})
        hull = roc_hull({"a": OperatingPoints.from_predictions(*SIX)})
        with pytest.raises(InputError, match="costs"):
            hull.best(cost_false_positive=-1)


class TestDominance:
    @given(rows, rows)
    @settings(max_examples=150, deadline=None)
    def test_against_exact_interpolation(self, first: list[tuple[bool, int]], second: list[tuple[bool, int]]) -> None:
        a, b = of(first), of(second)
        if a.reason or b.reason:
            return
        ahead = [self.height(a, x, side) - self.height(b, x, side) for x in self.knots(a, b) for side in (0, -1)]
        assert dominates(a, b) == (min(ahead) >= 0 and max(ahead) > 0)

    @staticmethod
    def knots(*models: OperatingPoints) -> set[Fraction]:
        return {Fraction(fp, points.negatives) for points in models for _, fp in counted(points)}

    @staticmethod
    def height(points: OperatingPoints, x: Fraction, side: int) -> Fraction:
        corners = [(Fraction(fp, points.negatives), Fraction(tp, points.positives)) for tp, fp in counted(points)]
        here = [y for fpr, y in corners if fpr == x]
        if here:
            return here[side]
        (x0, y0), (x1, y1) = next((left, right) for left, right in pairwise(corners) if left[0] < x < right[0])
        return y0 + (y1 - y0) * (x - x0) / (x1 - x0)

    def test_refusals(self) -> None:
        points = OperatingPoints.from_predictions(*SIX)
        with pytest.raises(InputError, match="rows of both kinds"):
            dominates(points, OperatingPoints.from_predictions([1, 1], [1, 2]))
        with pytest.raises(InputError, match="cuts of one score"):
            dominance({"a": points, "b": groups([(1, 1)], 2, 2, positive=1)})
        assert dominance({"a": points, "b": points}) == {"a": (), "b": ()}


class TestCostCurves:
    def test_lower_envelope(self) -> None:
        rng = np.random.default_rng(1)
        for _ in range(60):
            points = next(iter(TestHull.random_models(rng).values()))
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
        assert list(curve.frame()) == ["probability", "model", "everyone", "nobody"]
        assert len(decision_curve(OperatingPoints.from_predictions(y, chance)).model) == 100

    def test_refusals(self) -> None:
        with pytest.raises(InputError, match="predicted probabilities, got scores from 1 to 3"):
            decision_curve(OperatingPoints.from_predictions([0, 1], [1, 3]))
        with pytest.raises(InputError, match="below 1"):
            decision_curve(OperatingPoints.from_predictions(*SIX), [1.0])
