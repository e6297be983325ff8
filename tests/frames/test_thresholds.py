"""The best threshold of a score, exact whatever the bins."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import compromis as cp
from compromis.frames import thresholds as cutting

METRICS = ["kulczynski", "f", "fowlkes_mallows", "jaccard"]


def best_by_hand(flags, score, weight, metric, floors=(0.0, 0.0)):
    best = (-np.inf, np.nan)
    for cut in np.unique(score)[::-1]:
        predicted = score >= cut
        precision, recall = (flags & predicted).sum() / predicted.sum(), (flags & predicted).sum() / flags.sum()
        if precision >= floors[0] and recall >= floors[1]:
            value = float(cp.metric_value(precision, recall, weight, metric=metric))
            best = max(best, (value, cut), key=lambda one: one[0])
    return best


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
        frame, truth="t", score="s", pos_label=True, recall_weight=0.1, min_recall=0.7, bins=16, metric="kulczynski"
    )
    value, cut = best_by_hand(flags, score, 0.1, "kulczynski", (0.0, 0.7))
    assert (found.value, found.threshold) == (pytest.approx(value), cut)
    with pytest.raises(cp.InputError, match="no threshold reaches precision 1 and recall 1; ask for less"):
        cp.frames.best_threshold(
            frame, truth="t", score="s", pos_label=True, min_precision=1, min_recall=1, metric="kulczynski"
        )


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
    found = cp.frames.best_threshold(frame, truth="t", score="s", pos_label=True, bins=10, metric="kulczynski")
    assert found.value == pytest.approx(
        best_by_hand(np.array([True, False, True, False]), np.array(scores), 0.5, "kulczynski")[0]
    )
