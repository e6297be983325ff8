"""Binned evidence: the true value lies inside the stated bound; and what is refined is exact."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

import compromis as cp
from compromis.frames import thresholds as cutting
from compromis.frames.bins import Bins

METRICS = ["kulczynski", "f", "fowlkes_mallows", "jaccard"]


def inside(value, bounds, slack=1e-12):
    low, high = bounds
    return low - slack <= value <= high + slack


def check_points(rng, cases):
    """Scores of few or many distinct values in few bins; areas by scikit-learn, the best cut by trying all."""
    for _ in range(cases):
        rows = int(rng.integers(2, 60))
        flags = rng.random(rows) < rng.uniform(0.1, 0.9)
        flags[:2] = True, False
        score = rng.normal(size=rows) + flags
        score = score if rng.random() < 0.5 else np.round(score, 1)
        bins = int(rng.integers(2, 12))
        frame = pd.DataFrame(
            {"t": flags, "s": score}
        )  # not polars, which cannot be used after a fork, as make mutation does
        points = cp.OperatingPoints.from_frame(frame, truth="t", score="s", pos_label=True, bins=bins)
        assert inside(roc_auc_score(flags, score), cp.frames.roc_area_bounds(points))
        assert inside(average_precision_score(flags, score), cp.frames.average_precision_bounds(points))
        weight, metric = float(rng.random()), METRICS[rng.integers(4)]
        true = best_by_hand(flags, score, weight, metric)[0]
        assert inside(true, cp.frames.tradeoff_bounds(points, weight, metric=metric))


def best_by_hand(flags, score, weight, metric, floors=(0.0, 0.0)):
    best = (-np.inf, np.nan)
    for cut in np.unique(score)[::-1]:
        predicted = score >= cut
        precision, recall = (flags & predicted).sum() / predicted.sum(), (flags & predicted).sum() / flags.sum()
        if precision >= floors[0] and recall >= floors[1]:
            value = float(cp.metric_value(precision, recall, weight, metric=metric))
            best = max(best, (value, cut), key=lambda one: one[0])
    return best


def check_votes(rng, cases):
    """Every count, rate and loss of random weights on the rows themselves, against the bounds of their bins."""
    for _ in range(cases):
        rows, classes = int(rng.integers(3, 50)), int(rng.integers(2, 5))
        votes = rng.dirichlet(np.ones(classes), rows) * rng.uniform(0.1, 9)
        names = [f"c{k}" for k in range(classes)]
        truth = rng.integers(0, classes, rows)
        truth[:2] = 0, 1
        frame = pl.DataFrame(votes, schema=names).with_columns(t=pl.Series(np.array(names)[truth]))
        bins = int(rng.integers(max(2, classes - 1), 40))  # fewer could round all votes of a row to 0, and are refused
        binned = cp.Votes.from_frame(frame, truth="t", proba=names, bins=bins)
        weights = np.exp(rng.normal(size=classes))
        shares = votes / votes.sum(axis=1, keepdims=True)
        smoothing = 0.0 if rng.random() < 0.5 else float(rng.random() / 5)
        predicted = (weights * (shares + smoothing)).argmax(axis=1)
        true = cp.Counts.from_predictions(np.array(names)[truth], np.array(names)[predicted], labels=names)
        bounds = binned.bounds(weights, smoothing=smoothing)
        assert (bounds.low <= true.matrix).all()
        assert (true.matrix <= bounds.high).all()
        assert inside(np.trace(true.matrix) / rows, bounds.accuracy)
        with np.errstate(invalid="ignore"):
            rates = {"recall": np.diag(true.matrix) / true.support, "precision": np.diag(true.matrix) / true.predicted}
        for name, rate in rates.items():
            low, high = getattr(bounds, name)
            known = ~np.isnan(rate)
            assert (low[known] <= rate[known] + 1e-12).all()
            assert (rate[known] <= high[known] + 1e-12).all()
        preferences = cp.Preferences.prioritise([names[0]]).with_metric(METRICS[rng.integers(3)])
        loss = cp.evaluate(true, preferences=preferences).summary.loss
        assert inside(loss, cp.frames.loss_bounds(bounds, preferences.on(tuple(names))))


def test_points_lie_inside_their_bounds(rng):
    check_points(rng, 60)


def test_votes_lie_inside_their_bounds(rng):
    check_votes(rng, 60)


@pytest.mark.stress
def test_ten_thousand_binned_cases(rng):
    check_points(rng, 5_000)
    check_votes(rng, 5_000)


def test_bounds_narrow_with_the_bins(rng):
    votes = rng.dirichlet(np.ones(3), 4000)
    frame = pl.DataFrame(votes, schema=["a", "b", "c"]).with_columns(t=pl.Series(rng.choice(["a", "b", "c"], 4000)))
    widths = []
    for bins in (10, 100, 1000):
        bounds = cp.Votes.from_frame(frame, truth="t", proba=["a", "b", "c"], bins=bins).bounds([1, 2, 3])
        widths.append((bounds.high - bounds.low).sum())
    assert widths[0] > 5 * widths[1] > 25 * widths[2]


def test_exact_votes_have_no_width(rng):
    votes = rng.integers(0, 5, (100, 3)) + np.array([1, 0, 0])
    patterns = cp.Votes.from_proba(rng.integers(0, 3, 100), votes, labels=[0, 1, 2])
    bounds = patterns.bounds([1, 1, 2])
    assert np.array_equal(bounds.low, bounds.high)
    assert np.array_equal(bounds.low, patterns.counts([1, 1, 2]).matrix)


@pytest.mark.parametrize("metric", METRICS)
def test_the_best_cut_is_the_best_of_all(rng, monkeypatch, metric):
    """Few bins, and few rows fetched at a time, so that bins are refined by scores and by finer bins."""
    for most in (2_000_000, 25):
        monkeypatch.setattr(cutting, "MOST_CUTS", most)
        for _ in range(12):
            flags = rng.random(300) < 0.3
            flags[0] = True
            score = rng.normal(size=300) + flags
            score[rng.random(300) < 0.2] = 0.5  # a spike that no bin can split
            weight = float(rng.random())
            frame = pl.DataFrame({"t": flags, "s": score})
            found = cp.frames.best_threshold(
                frame, truth="t", score="s", pos_label=True, recall_weight=weight, metric=metric, bins=8
            )
            value, _cut = best_by_hand(flags, score, weight, metric)
            assert found.value == pytest.approx(value, abs=1e-14)
            assert found.threshold in score
            assert found.passes >= 3
            predicted = score >= found.threshold
            assert found.precision == pytest.approx((flags & predicted).sum() / predicted.sum())


def test_the_best_cut_under_minima(rng):
    flags = rng.random(400) < 0.3
    score = rng.normal(size=400) + flags
    frame = pl.DataFrame({"t": flags, "s": score})
    found = cp.frames.best_threshold(
        frame, truth="t", score="s", pos_label=True, recall_weight=0.1, min_recall=0.7, bins=16
    )
    value, cut = best_by_hand(flags, score, 0.1, "kulczynski", (0.0, 0.7))
    assert (found.value, found.threshold) == (pytest.approx(value), cut)
    with pytest.raises(cp.InputError, match="no cut reaches precision 1 and recall 1; ask for less"):
        cp.frames.best_threshold(frame, truth="t", score="s", pos_label=True, min_precision=1, min_recall=1)


@pytest.mark.parametrize(
    "scores",
    [
        [0.5] * 4,
        [1.0, np.nextafter(1.0, 2), 1.0, np.nextafter(1.0, 2)],
        [0.0, 5e-324, -5e-324, 0.0],
        [-1e308, 0.0, 1.7e308, 1e308],
    ],
)
def test_scores_without_room_for_bins(scores):
    frame = pl.DataFrame({"t": [True, False, True, False], "s": scores})
    points = cp.OperatingPoints.from_frame(frame, truth="t", score="s", pos_label=True, bins=10)
    for cut, hits, alarms in zip(points.threshold, points.true_positives, points.false_positives, strict=True):
        assert hits == sum(score >= cut for score in scores[::2])
        assert alarms == sum(score >= cut for score in scores[1::2])
    assert points.true_positives[-1] == 2
    found = cp.frames.best_threshold(frame, truth="t", score="s", pos_label=True, bins=10)
    assert found.value == pytest.approx(
        best_by_hand(np.array([True, False, True, False]), np.array(scores), 0.5, "kulczynski")[0]
    )


def test_edges_are_the_first_numbers_of_their_bins(rng):
    for _ in range(300):
        low = float(rng.normal() * 10.0 ** rng.integers(-6, 7))
        high = low + float(10.0 ** rng.integers(-4, 5) * rng.uniform(0.5, 2))
        bins = Bins(low, high, int(rng.integers(2, 300)))
        edges = bins.edges()
        place = np.floor((edges - low) * bins.scale)
        before = np.floor((np.nextafter(edges[1:], -np.inf) - low) * bins.scale)
        assert (place >= np.arange(bins.count)).all()
        assert (before < np.arange(1, bins.count)).all()


def test_bounds_of_bins_by_hand():
    """Bins of 3 + 1 and 1 + 3 rows: 9 + 3 / 2 + 3 / 2 of 16 pairs at ties half, 3 pairs in each bin unknown."""
    points = cp.OperatingPoints.from_bins([0.5, 0.0], [3, 1], [1, 3], pos_label="a")
    assert cp.frames.roc_area_bounds(points) == pytest.approx((9 / 16, 15 / 16))
    low, high = cp.frames.average_precision_bounds(points)
    # best: 3 found at precision 1, the fourth after one alarm at 4/5; worst: after 1 alarm (0 + 3/4) / 2, after 4 (3/7 + 4/8) / 2
    assert high == pytest.approx(3 / 4 + (4 / 5) / 4)
    assert low == pytest.approx((3 / 4) * (3 / 4) / 2 + (1 / 4) * (3 / 7 + 4 / 8) / 2)
    pure = cp.OperatingPoints.from_bins([0.5, 0.0], [2, 0], [0, 2], pos_label="a")
    assert cp.frames.average_precision_bounds(pure) == (1.0, 1.0)
    assert cp.frames.roc_area_bounds(pure) == (1.0, 1.0)
    exact = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    assert cp.frames.roc_area_bounds(exact) == pytest.approx((7 / 9, 7 / 9))
    assert cp.frames.average_precision_bounds(exact) == pytest.approx(((1 + 2 / 3 + 3 / 4) / 3,) * 2)
    assert cp.frames.tradeoff_bounds(exact, 0.5) == pytest.approx(((0.75 + 1) / 2,) * 2)


def test_the_best_that_bins_may_hide():
    """After 3 + 1 rows a bin of 1 positive: all 4 found among 5, by Kulczynski at 1/4."""
    points = cp.OperatingPoints.from_bins([0.5, 0.0], [3, 1], [1, 3], pos_label="a")
    assert cp.frames.tradeoff_bounds(points, 0.25) == pytest.approx((0.75, 0.9375))
    assert cp.frames.tradeoff_bounds(points, 1.0) == (1.0, 1.0)


def test_bounds_of_an_area_stay_between_0_and_1():
    """One bin holds everything: the area may be anything."""
    points = cp.OperatingPoints.from_bins([0.0], [3], [5], pos_label=1)
    assert cp.frames.roc_area_bounds(points) == (0.0, 1.0)
