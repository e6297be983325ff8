"""ROC hulls and dominance."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.tradeoffs import dominance, dominates, precision_recall_points, roc_hull, roc_points
from tests import naive_tradeoffs as naive
from tests.tradeoffs.cases import SIX, groups, of_counts, random_models

rows = st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=2, max_size=30)


def of(rows: list[tuple[bool, int]]) -> OperatingPoints:
    return OperatingPoints.from_predictions([flag for flag, _ in rows], [score for _, score in rows], pos_label=True)


def counted(points: OperatingPoints) -> list[tuple[int, int]]:
    return list(zip(points.true_positives.tolist(), points.false_positives.tolist(), strict=True))


class TestHull:
    @pytest.mark.parametrize("sets", [100, pytest.param(2500, marks=pytest.mark.stress)])
    def test_brute_force(self, sets: int) -> None:
        rng = np.random.default_rng(sets)
        for _ in range(sets):
            models = random_models(rng)
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
            models = random_models(rng)
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
            ranked = of_counts(np.array(hits), np.array(alarms), 100, 100)
            return replace(ranked, threshold=np.linspace(1, 0, len(hits)), names=None)

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
        assert "Can be dropped: M1, M4." in str(hull)
        assert hull.to_frame("pandas")["tpr"].tolist() == [0, 0.6, 0.95, 1]

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

    def test_weights_that_round_leave_one_prevalence(self) -> None:
        y, weight = [1, 0, 1, 0, 1, 1], [0.9, 0.9, 0.6, 0.4, 0.2, 0.5]
        falling = OperatingPoints.from_predictions(y, [6, 5, 4, 3, 2, 1], sample_weight=weight)
        rising = OperatingPoints.from_predictions(y, [1, 2, 3, 4, 5, 6], sample_weight=weight)
        hull = roc_hull({"falling": falling, "rising": rising})
        assert hull.prevalence == pytest.approx(2.2 / 3.5)
        assert hull.best().fpr == 1.0
        engine = replace(rising, positives=rising.positives * (1 + 1e-15))  # engines add up in an order of their own
        assert roc_hull({"falling": falling, "rising": engine}).prevalence == hull.prevalence

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
        assume(not a.reason and not b.reason)
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


def test_the_hull_in_words():
    hull = roc_hull({"m": OperatingPoints.from_predictions([1, 1, 0, 0], [4, 2, 3, 1])})
    assert str(hull).splitlines() == [
        "On the hull: m.",
        "None can be dropped.",
        "",
        "=== corners of the hull ===",
        "",
        "models     slope  cost ratio  score from     fpr     tpr",
        "m       1 to inf    1 to inf           4  0.0000  0.5000",
        "m         0 to 1      0 to 1           2  0.5000  1.0000",
    ]
    assert hull.area == pytest.approx(0.875)
    assert [part.thresholds for part in hull.parts] == [(4.0,), (2.0,)]
    for wrong in (
        {"cost_false_negative": -1},
        {"cost_false_positive": 0, "cost_false_negative": 0},
        {"cost_false_positive": math.inf},
        {"cost_false_positive": -0.5},
        {"cost_false_positive": math.nan},
    ):
        with pytest.raises(InputError, match="costs are at least 0 and not both 0"):
            hull.best(**wrong)
    for wrong in (0.0, 1.0, -0.1, 1.1):
        with pytest.raises(InputError, match="prevalence is a share strictly between 0 and 1"):
            hull.best(prevalence=wrong)
    assert hull.best(prevalence=0.01).tpr == 0.5
    assert hull.best(prevalence=0.99).tpr == 1.0
    assert hull.best(cost_false_positive=0).tpr == 1.0


def test_curves_and_hulls_as_tables():
    points = OperatingPoints.from_predictions(*SIX)
    for curve, last in ((roc_points(points), "tpr"), (precision_recall_points(points), "precision")):
        document = json.loads(curve.to_json())
        assert document["area"] == curve.area
        assert document["threshold"][0] is None  # infinity: nothing is predicted positive
        assert document[last][1:] == getattr(curve, last).tolist()[1:]
        assert curve.to_frame("pandas")[last].tolist()[1:] == document[last][1:]
        assert len(str(curve).splitlines()) == 4 + 1 + len(points)
    hull = roc_hull({"<m>": points})
    document = json.loads(hull.to_json())
    assert document["models"] == ["<m>"]
    assert [part["tpr"] for part in document["parts"]] == [part.tpr for part in hull.parts]
    for backend in ("pandas", "polars", "pyarrow"):
        assert len(hull.to_frame(backend)["tpr"]) == len(hull.parts)
    assert "<m>" not in hull.to_markdown() + hull._repr_html_()


def test_slopes_between_whole_numbers():
    hull = roc_hull({"m": OperatingPoints.from_predictions([1, 1, 0, 0, 0], [4, 2, 3, 1, 0])})
    # corners (0, 1/2) and (1/3, 1): between them the slope is 3/2
    assert [part.slope_low for part in hull.parts] == pytest.approx([1.5, 0.0])
    assert hull.best(cost_false_positive=1.4, prevalence=0.5).tpr == 1.0
    assert hull.best(cost_false_positive=1.6, prevalence=0.5).tpr == 0.5


def test_a_hull_of_groups_begins_and_ends_with_the_constant_decisions():
    hull = roc_hull({"groups": groups([(3, 1), (2, 5)], 4, 8)})
    assert [(part.fpr, part.tpr) for part in hull.parts] == [(0, 0), (1 / 8, 3 / 4), (1, 1)]


def test_ratios_of_costs_at_the_prevalence_of_the_data():
    """4 positives, 8 negatives; (0, 0) to (1/8, 3/4) has slope 6, to (1, 1) 2/7; a ratio of costs is half a slope."""
    hull = roc_hull({"groups": groups([(3, 1)], 4, 8)})
    ratios = [(part.cost_ratio_low, part.cost_ratio_high) for part in hull.parts]
    assert np.allclose(ratios, [(3, math.inf), (1 / 7, 3), (0, 1 / 7)])
    for part, ratio in zip(hull.parts, (4, 1, 0.1), strict=True):
        assert hull.best(cost_false_positive=ratio, cost_false_negative=1) == part


def test_who_dominates_whom():
    models = {
        name: OperatingPoints.from_predictions([1, 1, 0, 0], scores)
        for name, scores in (("right", [4, 3, 2, 1]), ("mixed", [4, 2, 3, 1]), ("wrong", [1, 2, 3, 4]))
    }
    assert dominance(models) == {"right": ("mixed", "wrong"), "mixed": ("wrong",), "wrong": ()}
