"""Operating points of data frames: every cut, or exact cuts at the edges of bins."""

from __future__ import annotations

import numpy as np
import pytest

import compromis as cp
from tests.frame_kinds import QUIET, make

pytestmark = QUIET


def random_labels(rng, labels, rows):
    return [labels[place] for place in rng.integers(0, len(labels), rows)]


def test_operating_points(kind, rng):
    score = np.round(rng.normal(size=300), 1)
    score[::10], score[5::10] = 0.0, -0.0  # one cut, in every part of the rows
    truth = random_labels(rng, ["p", "n", "other"], 300)
    frame = make(kind, {"t": truth, "s": score.tolist()})
    points = cp.OperatingPoints.from_frame(frame, truth="t", score="s", pos_label="p")
    cuts = sorted(set((score + 0.0).tolist()), reverse=True)
    assert points.threshold[1:].tolist() == cuts
    flags = np.array([label == "p" for label in truth])
    assert points.true_positives[1:].tolist() == [int((flags & (score >= cut)).sum()) for cut in cuts]
    assert points.false_positives[1:].tolist() == [int((~flags & (score >= cut)).sum()) for cut in cuts]
    assert (points.positives, points.negatives) == (flags.sum(), (~flags).sum())


@pytest.mark.parametrize("bins", [None, 20])
def test_squares_of_weights_come_with_the_points(engine, rng, bins):
    score, flags, weight = rng.normal(size=200), rng.random(200) < 0.3, rng.exponential(size=200)
    frame = make(engine, {"t": flags.tolist(), "s": score.tolist(), "w": weight.tolist()})
    points = cp.OperatingPoints.from_frame(frame, truth="t", score="s", pos_label=True, weight="w", bins=bins)
    assert points.squares == pytest.approx([(weight[part] ** 2).sum() for part in (flags, ~flags)])


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1e-3, 7.1), (1e10, 1e10 + 3)])
def test_binned_points_are_exact_at_their_edges(engine, rng, low, high):
    score = rng.uniform(low, high, 400)
    score[:50] = low + (high - low) * np.arange(50) / 50  # on the edges, as far as rounding allows
    flags = rng.random(400) < 0.3
    frame = make(engine, {"t": flags.tolist(), "s": score.tolist()})
    points = cp.OperatingPoints.from_frame(frame, truth="t", score="s", pos_label=True, bins=50)
    assert points.binned
    assert len(points) == 51
    for cut, hits, alarms in zip(points.threshold, points.true_positives, points.false_positives, strict=True):
        assert hits == (flags & (score >= cut)).sum()
        assert alarms == (~flags & (score >= cut)).sum()


@pytest.mark.parametrize("bins", [None, 8])
@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf"), None])
def test_bad_scores(engine, score, bins):
    frame = make(engine, {"t": ["p", "n", "n"], "s": [0.5, score, 0.25]})
    with pytest.raises(cp.InputError, match="column 's' has 1 row whose score is missing or not finite"):
        cp.OperatingPoints.from_frame(frame, truth="t", score="s", pos_label="p", bins=bins)


def test_other_bad_input_of_points(engine):
    frame = make(engine, {"t": ["p", None, "n"], "s": [0.5, 0.2, 0.25], "text": ["a", "b", "c"]})
    with pytest.raises(cp.InputError, match="column 't' has 1 row without a label"):
        cp.OperatingPoints.from_frame(frame, truth="t", score="s", pos_label="p")
    with pytest.raises(cp.InputError, match="column 'text' must hold numbers"):
        cp.OperatingPoints.from_frame(frame, truth="t", score="text", pos_label="p")
    with pytest.raises(cp.InputError, match="pos_label is 1, but column 't' holds labels of type String"):
        cp.OperatingPoints.from_frame(frame, truth="t", score="s", pos_label=1)
    whole = make(engine, {"t": ["good", "bad"], "s": [0.5, 0.2]})
    with pytest.raises(cp.InputError, match=r"pos_label is 'god', which column 't' does not have .did you mean 'good'"):
        cp.OperatingPoints.from_frame(whole, truth="t", score="s", pos_label="god")
    with pytest.raises(cp.InputError, match=r"has 1 scores outside 0 to 0\.3; widen within="):
        cp.OperatingPoints.from_frame(whole, truth="t", score="s", pos_label="good", bins=4, within=(0, 0.3))
