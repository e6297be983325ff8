"""Bounds of binned evidence hold what the rows give, and narrow with the bins."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

import compromis as cp
from compromis.frames.bounds import loss_bounds

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
        preferences = cp.Preferences.prioritise([names[0]], metric="kulczynski").with_metric(METRICS[rng.integers(3)])
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
    assert cp.frames.tradeoff_bounds(exact, 0.5, metric="kulczynski") == pytest.approx(((0.75 + 1) / 2,) * 2)


def test_the_best_that_bins_may_hide():
    """After 3 + 1 rows a bin of 1 positive: all 4 found among 5, by Kulczynski at 1/4."""
    points = cp.OperatingPoints.from_bins([0.5, 0.0], [3, 1], [1, 3], pos_label="a")
    assert cp.frames.tradeoff_bounds(points, 0.25, metric="kulczynski") == pytest.approx((0.75, 0.9375))
    assert cp.frames.tradeoff_bounds(points, 1.0, metric="kulczynski") == (1.0, 1.0)


def test_bounds_of_an_area_stay_between_0_and_1():
    """One bin holds everything: the area may be anything."""
    points = cp.OperatingPoints.from_bins([0.0], [3], [5], pos_label=1)
    assert cp.frames.roc_area_bounds(points) == (0.0, 1.0)


def even(metric="kulczynski", **options):
    """Preferences of recall weight 1/2 for two classes that count alike."""
    return cp.Preferences(default=cp.Preference(recall_weight=0.5, **options), metric=metric).on(("a", "b"))


def counts_of(matrix, classes=("a", "b")):
    return cp.Counts.from_matrix(matrix, list(classes))


def test_loss_bounds_by_hand():
    """By Kulczynski at 1/2. a: 2 of 3 predicted to 3 of 3, and 2 to 3 of 4 rows; b: 1 of 3 predicted to 2 of 2, and 1 to 2 of 2 rows."""
    sure, possible = np.array([[2, 0], [0, 1]]), np.array([[3, 2], [1, 2]])
    bounds = cp.evidence.CountBounds(low=sure, high=possible, support=np.array([4, 2]), classes=("a", "b"))
    low, high = loss_bounds(bounds, even())
    assert low == pytest.approx(((1 - (1 + 3 / 4) / 2) + 0) / 2)
    assert high == pytest.approx(((1 - (2 / 3 + 2 / 4) / 2) + (1 - (1 / 3 + 1 / 2) / 2)) / 2)
    never = cp.evidence.CountBounds(
        low=np.array([[2, 0], [0, 0]]), high=np.array([[2, 2], [0, 2]]), support=np.array([4, 2]), classes=("a", "b")
    )
    assert loss_bounds(never, even())[1] == pytest.approx((1 / 4 + 1) / 2)  # b may never be predicted, which counts 1


def test_undefined_precision_between_bounds():
    """b is never predicted, surely: its loss is 1 at best and at worst."""
    never = cp.evidence.CountBounds(
        low=np.array([[2, 0], [2, 0]]), high=np.array([[2, 0], [2, 0]]), support=np.array([2, 2]), classes=("a", "b")
    )
    expected = ((1 - (0.5 + 1) / 2) + 1) / 2
    assert loss_bounds(never, even()) == pytest.approx((expected, expected))


def test_absent_classes_do_not_count_between_bounds():
    sure = np.array([[2, 0], [0, 0]])
    absent = cp.evidence.CountBounds(low=sure, high=sure, support=np.array([2, 0]), classes=("a", "b"))
    assert loss_bounds(absent, even()) == (0.0, 0.0)
