"""Exchange weights and the ranges of recall weights in which a comparison is sure."""

from __future__ import annotations

from itertools import pairwise

import pytest

import compromis as cp


def scored(rng, rows=300, share=0.3, shift=1.0, digits=None):
    truth = rng.random(rows) < share
    score = truth * shift + rng.normal(size=rows)
    return truth, score if digits is None else score.round(digits)


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


def test_of_two_equally_good_models_hardly_any_range_is_sure(rng):
    """All ranges taken together: each recall weight by itself, some range was sure in 36 % of data sets."""
    sure = 0
    for seed in range(15):
        truth = rng.random(300) < 0.2
        models = {
            name: cp.OperatingPoints.from_predictions(truth, 1.2 * truth + rng.normal(size=300))
            for name in ("one", "other")
        }
        ranges = cp.uncertainty.confident_winners(models, metric="f", draws=300, random_state=seed)
        sure += any(one.sure for one in ranges)
    assert sure <= 2
