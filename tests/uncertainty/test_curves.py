"""Areas, bands and exchange weights: against formulas, scikit-learn, hand calculations and row-wise bootstraps."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

import compromis as cp
from compromis.uncertainty.area_intervals import TRUSTED, clustered_variance, delong_variance
from compromis.uncertainty.bands import MOST_CUTS, draw_cuts, thinned


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


def test_many_cuts_are_thinned_and_the_value_is_exact(rng):
    truth, score = scored(rng, 60_000, share=0.05)
    points = cp.OperatingPoints.from_predictions(truth, score)
    kept = thinned(points)
    assert len(kept) < 1.3 * MOST_CUTS
    assert kept[0] == 0
    assert kept[-1] == len(points) - 1
    found = cp.uncertainty.average_precision_interval(points)
    assert found.value == pytest.approx(average_precision_score(truth, score))
    assert found.low < found.value < found.high


def test_draws_of_cuts_start_and_end_right(rng):
    truth, score = scored(rng)
    drawn = draw_cuts(cp.OperatingPoints.from_predictions(truth, score), draws=50)
    for rate in (drawn.tpr, drawn.fpr):
        assert (rate[:, 0] == 0).all()
        np.testing.assert_allclose(rate[:, -1], 1)
        assert (np.diff(rate, axis=1) >= 0).all()
    again = draw_cuts(cp.OperatingPoints.from_predictions(truth, score), draws=50)
    np.testing.assert_array_equal(drawn.tpr, again.tpr)


def test_roc_band_holds_scikit_learns_curve(rng):
    truth, score = scored(rng)
    band = cp.uncertainty.roc_band(cp.OperatingPoints.from_predictions(truth, score))
    fpr, tpr, _ = roc_curve(truth, score, drop_intermediate=False)
    np.testing.assert_allclose(band.value, np.interp(band.at + 1e-12, fpr, tpr))
    assert (band.low <= band.value).all()
    assert (band.value <= band.high).all()
    wide = cp.uncertainty.roc_band(cp.OperatingPoints.from_predictions(truth, score), simultaneous=True)
    assert (wide.low <= band.low + 1e-12).all()
    assert (wide.high - wide.low).mean() > 1.1 * (band.high - band.low).mean()


def test_precision_recall_band_has_scikit_learns_precisions(rng):
    truth, score = scored(rng, digits=1)
    band = cp.uncertainty.precision_recall_band(cp.OperatingPoints.from_predictions(truth, score))
    precision, recall, _ = precision_recall_curve(truth, score)
    for place in (10, 33, 50, 77, 100):
        first = np.flatnonzero(recall >= band.at[place] - 1e-12)[-1]  # recalls fall along scikit-learn's curve
        assert band.value[place] == pytest.approx(precision[first])


@pytest.mark.parametrize("metric", ["kulczynski", "f", "fowlkes_mallows", "jaccard"])
def test_tradeoff_band_and_area_are_the_best_cuts(rng, metric):
    truth, score = scored(rng)
    points = cp.OperatingPoints.from_predictions(truth, score)
    band = cp.uncertainty.tradeoff_band(points, metric=metric)
    precision, recall = points.precision[1:], points.recall[1:]
    best = [cp.metric_value(precision, recall, weight, metric=metric).max() for weight in band.at]
    np.testing.assert_allclose(band.value, best)
    assert (band.high - band.low).mean() > 0.02
    area = cp.uncertainty.tradeoff_area_interval(points, metric=metric)
    assert area.value == pytest.approx(np.trapezoid(best, band.at), abs=2e-3)
    assert area.low < area.value < area.high
    part = cp.uncertainty.tradeoff_area_interval(points, metric=metric, low=0.4, high=0.6)
    assert part.value == pytest.approx(np.mean(best[40:61]), abs=2e-3)


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.5), (-0.1, 1), (0.2, 1.1)])
def test_tradeoff_area_of_no_range(rng, low, high):
    with pytest.raises(cp.InputError, match="0 <= low < high <= 1"):
        cp.uncertainty.tradeoff_area_interval(
            cp.OperatingPoints.from_predictions([1, 0], [1, 0]), low=low, high=high, metric="kulczynski"
        )


def test_exchange_by_hand():
    """Cuts (p, r) = (30/32, 1/2) and (60/82, 1): for f they are equal where (1 - l)/p + l/r is: l = 0.3/1.3."""
    score = [3] * 30 + [2] * 30 + [3] * 2 + [2] * 20 + [1] * 38
    points = cp.OperatingPoints.from_predictions([1] * 60 + [0] * 60, score)
    (found,) = cp.uncertainty.switch_points(points, metric="f")
    assert found.recall_weight.value == pytest.approx(0.3 / 1.3)
    assert (found.below, found.above) == (3, 2)
    assert 0 < found.recall_weight.low < 0.3 / 1.3 < found.recall_weight.high < 1
    (plane,) = cp.uncertainty.switch_points(points, metric="kulczynski")
    assert plane.recall_weight.value == pytest.approx((30 / 32 - 60 / 82) / (30 / 32 - 60 / 82 + 0.5))
    (jaccard,) = cp.uncertainty.switch_points(points, metric="jaccard")
    assert jaccard.recall_weight.value == pytest.approx(cp.metrics.METRICS["jaccard"].bend(0.3 / 1.3).item())


def test_an_exchange_is_surer_with_more_rows():
    def width(times):
        score = [3] * 30 * times + [2] * 30 * times + [3] * 2 * times + [2] * 20 * times + [1] * 38 * times
        points = cp.OperatingPoints.from_predictions([1] * 60 * times + [0] * 60 * times, score)
        return cp.uncertainty.switch_points(points, metric="f")[0].recall_weight.width

    assert width(16) == pytest.approx(width(1) / 4, rel=0.3)


def test_exchange_needs_a_transform():
    own = cp.Metric("own", lambda p, r, weight: (1 - weight) * p + weight * r)
    with pytest.raises(cp.InputError, match="'own' has no transform"):
        cp.uncertainty.switch_points(cp.OperatingPoints.from_predictions([1, 0], [1, 0]), metric=own)


def test_sure_ranges(rng):
    truth, score = scored(rng, 2000, shift=2.0)
    good = cp.OperatingPoints.from_predictions(truth, score)
    poor = cp.OperatingPoints.from_predictions(truth, rng.normal(size=2000))
    ranges = cp.uncertainty.confident_winners({"poor": poor, "good": good}, metric="f")
    middle = [one for one in ranges if one.low <= 0.5 <= one.high]
    assert middle[0].model == "good"
    assert middle[0].sure
    assert ranges[0].low == 0
    assert ranges[-1].high == 1
    assert all(one.high == other.low for one, other in pairwise(ranges))
    twins = cp.uncertainty.confident_winners({"one": good, "other": good}, metric="f")
    assert not any(one.sure for one in twins if one.low < 0.5 < one.high)
    with pytest.raises(cp.InputError, match="at least two models, got 1"):
        cp.uncertainty.confident_winners({"good": good}, metric="kulczynski")
