"""Comparing algorithms: winners, crossings, distances, areas, words."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest

from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.tradeoffs import Beta, Comparison, TradeoffCurve, compare_curves, isoline, roc_hull
from tests import naive_tradeoffs as naive
from tests.tradeoffs.cases import NAMES, QUADRATIC, SIX, brute_force, check_cover, groups, random_points


def rivals(rng: np.random.Generator, number: int) -> dict[str, OperatingPoints]:
    """Algorithms that look for one target in one universe; some share results."""
    positives, negatives = int(rng.integers(5, 60)), int(rng.integers(5, 60))
    found = {}
    for place in range(number):
        size = int(rng.integers(1, 12))
        hits, alarms = rng.integers(1, positives + 1, size), rng.integers(0, negatives + 1, size)
        pairs = list(zip(hits.tolist(), alarms.tolist(), strict=True))
        if rng.random() < 0.5:
            pairs.append((positives, negatives))  # the maximal group, as both algorithms of the paper's figure 6
        found[f"algorithm {place}"] = groups(pairs, positives, negatives)
    return found


def check(result: Comparison, algorithms: dict[str, OperatingPoints], name: str, rng: np.random.Generator) -> None:
    check_cover(np.array([result.intervals[0].low, *(part.high for part in result.intervals)]))
    for left, right in pairwise(result.intervals):
        assert left.high == right.low
        assert left.best != right.best
    for part in result.intervals:
        for share in (0.5, *rng.random(2).tolist()):
            weight = np.array([part.low + (part.high - part.low) * share])
            values = {key: brute_force(points, name, weight)[0] for key, points in algorithms.items()}
            best = max(values.values())
            assert set(part.best) <= {key for key, value in values.items() if value >= best - 1e-12}
            assert {key for key, value in values.items() if value == best} >= set(
                part.best
            ) or part.high - part.low < 1e-9
        if part.high - part.low > 1e-6:
            losers = set(algorithms) - set(part.best)
            middle = np.array([(part.low + part.high) / 2])
            best = brute_force(algorithms[part.best[0]], name, middle)[0]
            assert all(brute_force(algorithms[key], name, middle)[0] < best for key in losers)


class TestIntervals:
    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("sets", [40, pytest.param(2500, marks=pytest.mark.stress)])
    def test_winners_and_crossings(self, name: str, sets: int) -> None:
        rng = np.random.default_rng(sets)
        for _ in range(sets):
            algorithms = rivals(rng, int(rng.integers(2, 5)))
            result = compare_curves(algorithms, name)
            check(result, algorithms, name, rng)
            for left, right in pairwise(result.intervals):
                weight = np.array([left.high])
                values = [brute_force(algorithms[part.best[0]], name, weight)[0] for part in (left, right)]
                assert values[0] == pytest.approx(values[1], abs=1e-12)

    @pytest.mark.parametrize("name", NAMES)
    def test_crossing_is_exact(self, name: str) -> None:
        """Two algorithms of one result each cross where fractions say."""
        rng = np.random.default_rng(1)
        crossed = 0
        for _ in range(300):
            (a, b), (c, d) = rng.integers(1, 10**6, (2, 2)).tolist()
            algorithms = {"A": groups([(a, b)], 10**6, 10**7), "B": groups([(c, d)], 10**6, 10**7)}
            result = compare_curves(algorithms, name)
            rates = [(Fraction(x, x + y), Fraction(x, 10**6)) for x, y in ((a, b), (c, d))]
            first, second = sorted(rates, key=lambda rate: rate[1])
            if first[0] <= second[0]:
                assert len(result.intervals) == 1
                continue
            crossed += 1
            assert result.intervals[0].high == pytest.approx(naive.crossing(name, first, second), abs=1e-15)
        assert crossed > 50

    def test_equal_where_both_take_everything(self) -> None:
        """As in the paper's figure 6: CC first, then ISA, then both return the whole matrix."""
        cc = groups([(10, 0), (40, 160)], 40, 160)
        isa = groups([(25, 8), (40, 160)], 40, 160)
        result = compare_curves({"CC": cc, "ISA": isa}, "f")
        assert [part.best for part in result.intervals] == [("CC",), ("ISA",), ("CC", "ISA")]
        rates = [(Fraction(1), Fraction(1, 4)), (Fraction(25, 33), Fraction(5, 8)), (Fraction(1, 5), Fraction(1))]
        expected = [naive.crossing("f", *pair) for pair in pairwise(rates)]
        assert [part.high for part in result.intervals] == pytest.approx([*expected, 1.0], abs=1e-15)
        assert result.intervals[2].name == "CC = ISA"
        assert result.verdict.exchanges == tuple(part.low for part in result.intervals[1:])

    def test_own_metric(self) -> None:
        rng = np.random.default_rng(3)
        for _ in range(20):
            algorithms = rivals(rng, 3)
            result = compare_curves(algorithms, QUADRATIC)
            for part in result.intervals:
                weight = (part.low + part.high) / 2
                values = {key: float(curve.value(weight)) for key, curve in result.curves.items()}
                assert values[part.best[0]] == pytest.approx(max(values.values()), abs=1e-12)

    def test_twins_and_one_alone(self) -> None:
        points = OperatingPoints.from_predictions(*SIX)
        assert [part.best for part in compare_curves({"a": points, "b": points}, metric="kulczynski").intervals] == [
            ("a", "b")
        ]
        assert compare_curves({"a": points, "b": points}, metric="kulczynski").verdict.largest == ("a", "b")
        alone = compare_curves({"a": points}, pair=TradeoffCurve(points).pair, metric="kulczynski")
        assert [part.best for part in alone.intervals] == [("a",)]
        assert alone.verdict.exchanges == ()

    def test_one_undefined(self) -> None:
        points = OperatingPoints.from_predictions(*SIX)
        empty = OperatingPoints.from_predictions([0, 0], [1, 2])
        assert [part.best for part in compare_curves({"a": points, "b": empty}, metric="kulczynski").intervals] == [
            ("a",)
        ]
        nothing = compare_curves({"b": empty}, metric="kulczynski")
        assert nothing.intervals == ()
        assert nothing.verdict.winners == ()
        assert list(nothing.verdict.undefined) == ["b"]
        assert nothing.verdict.largest == ()

    def test_other_space(self) -> None:
        rng = np.random.default_rng(4)
        for _ in range(30):
            algorithms = {name: replace(random_points(rng), pos_label="t") for name in "ab"}
            result = compare_curves(algorithms, pair="specificity-sensitivity", metric="kulczynski")
            for part in result.intervals:
                weight = (part.low + part.high) / 2
                values = {k: np.max((1 - weight) * p.specificity + weight * p.recall) for k, p in algorithms.items()}
                assert values[part.best[0]] == pytest.approx(max(values.values()), abs=1e-12)


class TestNumbers:
    algorithms: ClassVar = {
        "A": groups([(10, 0), (30, 30)], 40, 160),
        "B": groups([(25, 8)], 40, 160),
        "C": groups([(5, 5)], 40, 160),
    }

    def test_areas(self) -> None:
        result = compare_curves(self.algorithms, "f")
        assert set(result.areas) == {"A", "B", "C"}
        for name, curve in result.curves.items():
            assert result.areas[name] == curve.area()
            assert result.area(0.2, 0.6)[name] == curve.area(0.2, 0.6)
            assert result.mean(0, 1, Beta(2, 3))[name] == curve.mean(0, 1, Beta(2, 3))

    def test_distance(self) -> None:
        result = compare_curves(self.algorithms, metric="kulczynski")
        weights = np.linspace(0, 1, 7)
        values = np.array([brute_force(points, "kulczynski", weights) for points in self.algorithms.values()])
        ordered = np.sort(values, axis=0)
        np.testing.assert_allclose(result.distance(weights), ordered[-1] - ordered[-2], atol=1e-15)
        np.testing.assert_allclose(result.distance(weights, "A", "B"), values[0] - values[1], atol=1e-15)
        assert math.isclose(result.distance(0.5), ordered[-1][3] - ordered[-2][3])

    def test_frame_table_and_verdict(self) -> None:
        result = compare_curves(self.algorithms, "f")
        frame = result.to_frame("pandas")
        assert frame["best"].tolist() == [part.name for part in result.intervals]
        assert (frame["low"].iloc[0], frame["high"].iloc[-1]) == (0, 1)
        text = str(result)
        for name in self.algorithms:
            assert name in text
        assert result.to_text(width=1000).splitlines()[:2] == [f"{sentence}." for sentence in result.verdict.sentences]
        assert "\n" not in str(result.verdict)
        assert sum(result.shares[name] for name in ("A", "B")) == pytest.approx(1)
        assert result.shares["C"] == 0
        assert result.verdict.largest == (max(result.areas, key=lambda name: result.areas[name]),)
        assert list(result.verdict.areas.values()) == sorted(result.areas.values(), reverse=True)

    def test_verdict_warns_of_different_rows(self) -> None:
        verdict = compare_curves(
            {"A": self.algorithms["A"], "B": groups([(5, 5)], 40, 100)}, metric="kulczynski"
        ).verdict
        assert not verdict.same_prevalence
        assert "compare on the same rows" in str(verdict)
        assert compare_curves(self.algorithms, metric="kulczynski").verdict.same_prevalence

    def test_constraints_leave_algorithms_out(self) -> None:
        result = compare_curves(self.algorithms, "f", min_recall=0.7)
        assert list(result.curves) == ["A"]
        assert list(result.left_out) == ["B", "C"]
        assert result.curves["A"].points.recall.min() >= 0.7
        assert "Only thresholds with recall at least 0.7" in result.report()
        assert "'B' is left out: no group has recall >= 0.7; recall never exceeds 0.625" in result.report()
        with pytest.raises(InputError, match=r"A: no group has precision >= 1 and recall >= 1.*; C: no group"):
            compare_curves(self.algorithms, min_precision=1, min_recall=1, metric="kulczynski")

    def test_document(self) -> None:
        import json

        result = compare_curves(self.algorithms, "f", min_recall=0.2)
        document = json.loads(result.to_json())
        assert (document["schema"], document["metric"], document["positives"]) == ("compromis/tradeoff", "f", 40)
        assert [model["name"] for model in document["models"]] == ["A", "B"]
        assert [model["area"] for model in document["models"]] == list(result.areas.values())
        assert document["best"][0] == {
            "low": 0,
            "high": result.intervals[0].high,
            "best": list(result.intervals[0].best),
        }
        assert document["verdict"] == str(result.verdict)
        assert list(document["left_out"]) == ["C"]


@pytest.mark.parametrize(
    ("algorithms", "words"),
    [
        ({}, "at least one entry"),
        ([1], "mapping"),
        ({"a": [1]}, "OperatingPoints, got list for 'a'"),
        (
            {"a": OperatingPoints.from_predictions(*SIX), "b": OperatingPoints.from_predictions(*SIX, pos_label=0)},
            "one positive class",
        ),
    ],
)
def test_bad_algorithms(algorithms: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        compare_curves(algorithms, metric="kulczynski")  # type: ignore[arg-type]


def test_bad_distance() -> None:
    result = compare_curves({"a": OperatingPoints.from_predictions(*SIX)}, metric="kulczynski")
    with pytest.raises(InputError, match="needs two"):
        result.distance(0.5)
    with pytest.raises(InputError, match="no algorithm 'z'"):
        result.distance(0.5, "a", "z")
    with pytest.raises(InputError, match="recall weight"):
        result.distance(2, "a", "a")


def test_equal_models_are_equal_whatever_the_order_of_their_weighted_rows(rng):
    """Sums of weights round by their order; the last bit must not choose between two models."""
    for _ in range(30):
        y, score, order = rng.integers(0, 2, 50), rng.integers(0, 8, 50), rng.permutation(50)
        weight = rng.random(50) * 10 ** rng.uniform(-3, 3)
        models = {
            "first": OperatingPoints.from_predictions(y, score, pos_label=1, sample_weight=weight),
            "again": OperatingPoints.from_predictions(y[order], score[order], pos_label=1, sample_weight=weight[order]),
        }
        verdict = compare_curves(models, metric="f").verdict
        assert [part.best for part in verdict.winners] == [("first", "again")]
        assert verdict.largest == ("first", "again")
        models["other"] = OperatingPoints.from_predictions(y, rng.random(50), pos_label=1, sample_weight=weight)
        assert compare_curves(models, metric="f").verdict.same_prevalence


def test_two_weighted_models_take_everything_from_one_recall_weight_on():
    y, weight = [1, 0, 1, 0, 1, 1], [0.9, 0.9, 0.6, 0.4, 0.2, 0.5]
    falling, rising = [6, 5, 4, 3, 2, 1], [1, 2, 3, 4, 5, 6]
    models = {
        name: OperatingPoints.from_predictions(y, score, sample_weight=weight)
        for name, score in (("a", falling), ("b", rising))
    }
    assert [part.best for part in compare_curves(models, metric="f").intervals] == [("a",), ("a", "b")]


def test_a_comparison_in_words():
    """Precision 1, recall 1/4 against precision 1/2, recall 1: they cross at 2/5; areas 5/8 and 3/4."""
    few, many = groups([(10, 0)], 40, 160), groups([(40, 40)], 40, 160)
    result = compare_curves({"few": few, "many": many}, metric="kulczynski")
    assert result.areas == pytest.approx({"few": 0.625, "many": 0.75})
    assert result.shares == pytest.approx({"few": 0.4, "many": 0.6})
    assert result.mean(0.0, 0.4) == pytest.approx({"few": 0.85, "many": 0.6})
    assert result.distance(0.0) == pytest.approx(0.5)
    assert result.distance(1.0, "few", "many") == pytest.approx(-0.75)
    assert str(result.verdict) == (
        "By kulczynski, few is best for recall weights from 0 to 0.4; many is best for recall weights from 0.4 to 1. "
        "Over all recall weights many has the largest area (0.75; few 0.625)."
    )
    assert result.to_text(width=1000).splitlines()[3:] == [
        "=== Best by recall weight ===",
        "",
        "Best     Recall weight",
        "few   0.0000 to 0.4000",
        "many  0.4000 to 1.0000",
        "",
        "=== Areas ===",
        "",
        "Model    Area  Best on",
        "few    0.6250   40.0 %",
        "many   0.7500   60.0 %",
    ]
    alone = compare_curves({"few": few}, metric="kulczynski")
    assert str(alone.verdict) == "By kulczynski, few is alone."
    level = compare_curves({"a": few, "b": few}, metric="kulczynski")
    assert str(level.verdict) == (
        "By kulczynski, a and b are equal at every recall weight. Over all recall weights a and b are level (area 0.625)."
    )
    assert (level.intervals[0].name, level.intervals[0].best) == ("a = b", ("a", "b"))
    best = compare_curves({"few": few, "all": groups([(40, 0)], 40, 160)}, metric="kulczynski")
    assert str(best.verdict).startswith("By kulczynski, all is best at every recall weight. ")
    nothing = compare_curves(
        {"none": OperatingPoints.from_predictions([0, 0], [1, 2], pos_label=1)}, metric="kulczynski"
    )
    assert str(nothing.verdict).startswith("Nothing can be compared (none: ")
    some = compare_curves(
        {
            "none": OperatingPoints.from_predictions([0, 0], [1, 2], pos_label=1),
            "two": OperatingPoints.from_predictions([1, 0], [2, 1]),
        },
        metric="kulczynski",
    )
    assert "two has the largest area (1; none nan)" in str(some.verdict)


def test_answers_cannot_be_changed_and_options_are_named():
    points = groups([(3, 1)], 4, 4)
    result = compare_curves({"m": points}, metric="kulczynski")
    for value, name in (
        (result.intervals[0], "low"),
        (result.verdict, "winners"),
        (result.curves["m"].candidates, "owner"),
        (roc_hull({"m": points}).parts[0], "fpr"),
    ):
        with pytest.raises(AttributeError):
            setattr(value, name, 0)
    assert result.mean() == result.area() == result.areas
    for call in (
        lambda: compare_curves({"m": points}, "f", "precision-recall"),
        lambda: isoline(0.5, 0.5, "f", 3),
        lambda: roc_hull({"m": points}).best(1.0),
        lambda: TradeoffCurve(points, "f", "precision-recall"),
    ):
        with pytest.raises(TypeError):
            call()


CURVE = TradeoffCurve(OperatingPoints.from_predictions(*SIX), metric="f")


@pytest.mark.parametrize(
    ("curves", "words"),
    [
        ({}, "mapping from names to trade-off curves with at least one entry"),
        ([CURVE], "mapping from names to trade-off curves"),
        ({"a": CURVE, "b": CURVE.points}, "trade-off curves, got OperatingPoints for 'b'"),
        ({"a": CURVE, "b": CURVE.with_metric("kulczynski")}, "by one metric, got a: f; b: kulczynski; use with_metric"),
        (
            {"a": CURVE, "b": TradeoffCurve(CURVE.points, "f", pair="specificity-sensitivity")},
            "one pair of rates, got a: precision-recall; b: specificity-sensitivity",
        ),
        (
            {"a": CURVE, "b": TradeoffCurve(OperatingPoints.from_predictions(*SIX, pos_label=0), "f")},
            "a comparison needs points for one positive class, got points for 0, 1",
        ),
    ],
)
def test_curves_that_cannot_be_compared(curves: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Comparison(curves)  # type: ignore[arg-type]
