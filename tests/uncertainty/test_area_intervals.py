"""Intervals of areas: against formulas, scikit-learn and pairs of rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn.metrics import average_precision_score, roc_auc_score

import compromis as cp
from compromis.uncertainty.area_intervals import TRUSTED, clustered_variance, delong_variance


def scored(rng, rows=300, share=0.3, shift=1.0, digits=None):
    truth = rng.random(rows) < share
    score = truth * shift + rng.normal(size=rows)
    return truth, score if digits is None else score.round(digits)


def brute_delong(truth, score):
    positive, negative = score[truth], score[~truth]
    wins = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    return wins.mean(axis=1).var(ddof=1) / len(positive) + wins.mean(axis=0).var(ddof=1) / len(negative)


@pytest.mark.parametrize("digits", [None, 0])
def test_delong_by_all_pairs(rng, digits):
    truth, score = scored(rng, digits=digits)
    points = cp.OperatingPoints.from_predictions(truth, score)
    assert delong_variance(points, points.positives, points.negatives) == pytest.approx(brute_delong(truth, score))


def test_roc_area_interval_solves_its_equation(rng):
    truth, score = scored(rng)
    points = cp.OperatingPoints.from_predictions(truth, score)
    found = cp.uncertainty.roc_area_interval(points, confidence=0.9)
    area, z = roc_auc_score(truth, score), stats.norm.ppf(0.95)
    p, q = int(truth.sum()), int((~truth).sum())

    def model(theta):  # Hanley and McNeil with Newcombe's mean of the two sizes
        first, second = (1 - theta) / (2 - theta), theta / (1 + theta)
        return theta * (1 - theta) / (p * q) * (1 + ((p + q) / 2 - 1) * (first + second))

    w = min(p, q) / (min(p, q) + TRUSTED)
    scale = w * brute_delong(truth, score) / model(area) + 1 - w
    for bound, end in ((found.low, 1e-9), (found.high, 1 - 1e-9)):
        root = optimize.brentq(lambda t: (t - area) ** 2 - z * z * scale * model(t), area, end)
        assert bound == pytest.approx(root, abs=1e-9)
    assert found.value == pytest.approx(area)


def test_a_perfect_ranking_of_few_rows_is_not_certain():
    points = cp.OperatingPoints.from_predictions([1] * 5 + [0] * 95, np.arange(100)[::-1])
    interval = cp.uncertainty.roc_area_interval(points)
    assert interval.high == 1
    assert 0.6 < interval.low < 0.9
    assert delong_variance(points, 5, 95) == 0


def test_roc_area_of_one_kind_is_undefined():
    assert math.isnan(
        cp.uncertainty.roc_area_interval(cp.OperatingPoints.from_predictions([1, 1], [0.2, 0.3], pos_label=1)).low
    )


@pytest.mark.parametrize(
    "name", ["roc_area_interval", "average_precision_interval", "tradeoff_area_interval", "roc_band", "tradeoff_band"]
)
def test_a_weight_is_no_number_of_rows(rng, name):
    """Weights a thousand times as large say no more, equal ones are none, and unequal ones count as fewer rows: Kish's."""
    truth, score = scored(rng, rows=120, digits=1)
    weight = rng.lognormal(sigma=1.5, size=120)
    interval = getattr(cp.uncertainty, name)

    def bounds(given):
        points = cp.OperatingPoints.from_predictions(truth, score, sample_weight=given)
        found = interval(points)
        return np.atleast_1d(found.low), np.atleast_1d(found.high), points

    low, high, points = bounds(weight)
    assert points.sizes == pytest.approx([w.sum() ** 2 / (w**2).sum() for w in (weight[truth], weight[~truth])])
    assert bounds(1000 * weight)[0] == pytest.approx(low, abs=1e-9)
    assert bounds(1000 * weight)[1] == pytest.approx(high, abs=1e-9)
    plain, equal = bounds(None), bounds(np.full(120, 7.0))
    assert equal[0] == pytest.approx(plain[0], abs=1e-9)
    widths = [high - low, *(np.subtract(*bounds(rng.lognormal(sigma=1.5, size=120))[1::-1]) for _ in range(4))]
    assert np.mean(widths) > 1.2 * (plain[1] - plain[0]).mean()


def test_intervals_of_weighted_votes_are_those_of_their_rows(rng):
    truth, score = scored(rng, digits=1)
    proba, weight = np.column_stack([-score, score]).clip(0.1), rng.lognormal(size=len(truth))
    merged = cp.Votes.from_proba(truth, proba, sample_weight=weight, merge=True)
    assert len(merged) < len(truth) / 2
    of_votes = cp.evaluate(merged, confidence=0.95).intervals.per_class[True]["roc_area"]
    of_rows = cp.evaluate(truth, y_proba=proba, sample_weight=weight, confidence=0.95).intervals.per_class[True][
        "roc_area"
    ]
    assert (of_votes.low, of_votes.high) == pytest.approx((of_rows.low, of_rows.high))
    whole = cp.Votes.from_proba(truth, proba, merge=True).points([True])[True]
    assert whole.sizes == (truth.sum(), (~truth).sum())


def test_clustered_variance_of_single_rows_and_of_copies(rng):
    truth, score = scored(rng)
    points = cp.OperatingPoints.from_predictions(truth, score)
    single = clustered_variance(points, truth, score, np.arange(300), None)
    assert single == pytest.approx(brute_delong(truth, score), rel=0.03)  # n/(n - 1) in place of P/(P - 1), Q/(Q - 1)
    copies = [np.repeat(part, 4) for part in (truth, score, np.arange(300))]
    points = cp.OperatingPoints.from_predictions(copies[0], copies[1])
    assert clustered_variance(points, *copies, None) == pytest.approx(single)
    assert delong_variance(points, points.positives, points.negatives) < single / 3


def test_evaluate_gives_the_areas_intervals(rng):
    truth, score = scored(rng)
    proba = 1 / (1 + np.exp(-score))
    found = cp.evaluate(truth, y_proba=np.column_stack([1 - proba, proba]), confidence=0.95).intervals
    points = cp.OperatingPoints.from_predictions(truth, proba)
    assert found.per_class[True]["roc_area"] == cp.uncertainty.roc_area_interval(points)
    weighted = cp.evaluate(
        truth, y_proba=np.column_stack([1 - proba, proba]), sample_weight=np.full(300, 3.0), confidence=0.95
    ).intervals
    assert weighted.per_class[True]["roc_area"].low == pytest.approx(found.per_class[True]["roc_area"].low)
    grouped = cp.evaluate(
        np.repeat(truth, 4), y_proba=np.repeat(np.column_stack([1 - proba, proba]), 4, axis=0),
        groups=np.repeat(np.arange(300), 4), confidence=0.95,
    ).intervals  # fmt: skip
    width = found.per_class[True]["roc_area"].width
    assert grouped.per_class[True]["roc_area"].width == pytest.approx(width, rel=0.1)


def test_average_precision(rng):
    truth, score = scored(rng, 400)
    points = cp.OperatingPoints.from_predictions(truth, score)
    found = cp.uncertainty.average_precision_interval(points)
    assert found.value == pytest.approx(average_precision_score(truth, score))
    rowwise = []
    for _ in range(500):
        rows = rng.integers(0, 400, 400)
        rowwise.append(average_precision_score(truth[rows], score[rows]))
    assert found.width == pytest.approx(np.quantile(rowwise, 0.975) - np.quantile(rowwise, 0.025), rel=0.25)
    assert found.low < found.value < found.high


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.5), (-0.1, 1), (0.2, 1.1)])
def test_tradeoff_area_of_no_range(rng, low, high):
    with pytest.raises(cp.InputError, match="0 <= low < high <= 1"):
        cp.uncertainty.tradeoff_area_interval(
            cp.OperatingPoints.from_predictions([1, 0], [1, 0]), low=low, high=high, metric="kulczynski"
        )
