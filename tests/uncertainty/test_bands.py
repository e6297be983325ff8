"""Bands of curves and areas under trade-off curves: draws of cuts, scikit-learn's curves, the best cuts."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_curve

import compromis as cp
from compromis.uncertainty.bands import MOST_CUTS, draw_cuts, thinned


def scored(rng, rows=300, share=0.3, shift=1.0, digits=None):
    truth = rng.random(rows) < share
    score = truth * shift + rng.normal(size=rows)
    return truth, score if digits is None else score.round(digits)


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
