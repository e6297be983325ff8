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
from compromis.tradeoffs import Beta, Comparison, compare_curves
from compromis.tradeoffs.envelope import PAIRS, upper_envelope
from tests import naive_tradeoffs as naive
from tests.test_tradeoff_curve import NAMES, QUADRATIC, SIX, brute_force, check_cover, groups, random_points


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
        assert "CC and ISA are equal" in result.verdict

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
        assert [part.best for part in compare_curves({"a": points, "b": points}).intervals] == [("a", "b")]
        assert "a and b are level" in compare_curves({"a": points, "b": points}).verdict
        alone = compare_curves({"a": points}, pair=PAIRS["precision-recall"])
        assert [part.best for part in alone.intervals] == [("a",)]
        assert alone.verdict == "By kulczynski, a is alone."

    def test_one_undefined(self) -> None:
        points = OperatingPoints.from_predictions(*SIX)
        empty = OperatingPoints.from_predictions([0, 0], [1, 2])
        assert [part.best for part in compare_curves({"a": points, "b": empty}).intervals] == [("a",)]
        nothing = compare_curves({"b": empty})
        assert nothing.intervals == ()
        assert "no rows of the positive class" in nothing.verdict

    def test_other_space(self) -> None:
        rng = np.random.default_rng(4)
        for _ in range(30):
            algorithms = {"a": random_points(rng), "b": random_points(rng)}
            algorithms: ClassVar = {k: replace(p, pos_label="t") for k, p in algorithms.items()}
            result = compare_curves(algorithms, pair="specificity-sensitivity")
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
        result = compare_curves(self.algorithms)
        weights = np.linspace(0, 1, 7)
        values = np.array([brute_force(points, "kulczynski", weights) for points in self.algorithms.values()])
        ordered = np.sort(values, axis=0)
        np.testing.assert_allclose(result.distance(weights), ordered[-1] - ordered[-2], atol=1e-15)
        np.testing.assert_allclose(result.distance(weights, "A", "B"), values[0] - values[1], atol=1e-15)
        assert math.isclose(result.distance(0.5), ordered[-1][3] - ordered[-2][3])

    def test_frame_table_and_verdict(self) -> None:
        result = compare_curves(self.algorithms, "f")
        frame = result.frame()
        assert frame["best"] == [part.name for part in result.intervals]
        assert frame["low"][0] == 0
        assert frame["high"][-1] == 1
        text = str(result)
        for name in self.algorithms:
            assert name in text
        assert result.verdict in text
        assert "\n" not in result.verdict
        assert sum(result.shares[name] for name in ("A", "B")) == pytest.approx(1)
        assert result.shares["C"] == 0
        best = max(result.areas, key=lambda name: result.areas[name])
        assert f"{best} has the largest area" in result.verdict

    def test_verdict_warns_of_different_rows(self) -> None:
        other = groups([(5, 5)], 40, 100)
        assert "compare on the same rows" in compare_curves({"A": self.algorithms["A"], "B": other}).verdict
        assert "same rows" not in compare_curves(self.algorithms).verdict


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
        compare_curves(algorithms)  # type: ignore[arg-type]


def test_bad_distance() -> None:
    result = compare_curves({"a": OperatingPoints.from_predictions(*SIX)})
    with pytest.raises(InputError, match="needs two"):
        result.distance(0.5)
    with pytest.raises(InputError, match="no algorithm 'z'"):
        result.distance(0.5, "a", "z")
    with pytest.raises(InputError, match="recall weight"):
        result.distance(2, "a", "a")


def test_an_empty_envelope() -> None:
    from compromis.metrics import KULCZYNSKI
    from compromis.tradeoffs.envelope import candidates_of, get_pair

    empty = candidates_of(OperatingPoints.from_predictions([0], [1]), get_pair("precision-recall"))
    assert len(upper_envelope(empty, KULCZYNSKI).chosen) == 0
