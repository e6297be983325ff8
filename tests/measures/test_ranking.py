"""Areas of rankings: scikit-learn, exact fractions, the course, Davis and Goadrich."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from sklearn.metrics import average_precision_score, roc_auc_score

from compromis.errors import InputError
from compromis.evidence import _kernels as ranking
from compromis.evidence.points import OperatingPoints
from compromis.measures.ranking import area_in_words, average_precision, pr_area, roc_area
from compromis.tradeoffs import decision_curve, precision_recall_points, roc_points
from tests import naive_tradeoffs as naive
from tests.tradeoffs.cases import SIX, groups

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
