"""The kernels of evidence against their plain twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from compromis.evidence._kernels import count_cuts, count_pairs, split_scores, weigh_pairs
from compromis.evidence.counts import Counts
from compromis.evidence.points import OperatingPoints
from compromis.evidence.votes import Votes
from compromis.measures.ranking import pr_area, roc_area
from tests import naive


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 1000])
def test_count_pairs(rng, rows):
    truth, decision = rng.integers(0, 5, (2, rows))
    table = np.zeros((2, 5, 5), dtype=np.int64)
    assert count_pairs(truth + 3, decision + 3, 3, 7, table) == rows
    assert table.sum(axis=0).tolist() == naive.count_pairs(truth, decision, 5)


@pytest.mark.parametrize("place", [0, 1, 4, 5])
@pytest.mark.parametrize("bad", [-1, 5, 2**62])
def test_counting_stops_before_a_label_outside_the_table(place, bad):
    for column in range(2):
        columns = np.zeros((2, 6), dtype=np.int64)
        columns[column, place] = bad
        assert count_pairs(columns[0], columns[1], 0, 4, np.zeros((2, 5, 5), dtype=np.int64)) == place
        assert weigh_pairs(columns[0], columns[1], np.ones(6), 0, 4, np.zeros((2, 5, 5))) == place


def test_counting_does_not_wrap_around():
    low = 2**63 - 10
    truth = np.array([low, -(2**63)])
    assert count_pairs(truth, truth, low, 2**63 - 1, np.zeros((2, 16, 16), dtype=np.int64)) == 1


def test_weigh_pairs(rng):
    truth, decision = rng.integers(0, 4, (2, 300))
    weight = rng.integers(0, 8, 300) / 4  # sums of quarters are exact
    table = np.zeros((2, 4, 4))
    assert weigh_pairs(truth, decision, weight, 0, 3, table) == 300
    weights, squares = naive.weigh_pairs(truth, decision, weight, 4)
    assert table[0].tolist() == weights
    assert table[1].tolist() == squares


@pytest.mark.parametrize("values", [2, 5, 1000])
def test_count_cuts(rng, values):
    for _ in range(50):
        positive, negative = (np.sort(rng.integers(0, values, size).astype(float)) for size in rng.integers(0, 30, 2))
        threshold, above = np.empty(60), np.zeros((2, 60), dtype=np.int64)
        cuts = count_cuts(positive, negative, threshold, above)
        found = list(zip(threshold[:cuts].tolist(), *above[:, :cuts].tolist(), strict=True))
        assert found == naive.count_cuts(positive.tolist(), negative.tolist())


def test_split_scores():
    rng = np.random.default_rng(1)
    score, flags = rng.random(50), rng.random(50) < 0.3
    positive, negative = np.empty(flags.sum() + 1), np.empty((~flags).sum() + 1)
    split_scores(score, flags.view(np.uint8), positive, negative)
    assert positive[:-1].tolist() == score[flags].tolist()
    assert negative[:-1].tolist() == score[~flags].tolist()


def read_only(values):
    values = values.copy()
    values.setflags(write=False)
    return values


def packed(values):
    table = np.zeros(len(values), dtype=[("flag", "u1"), ("value", values.dtype)])
    table["value"] = values
    return table["value"]  # strided, and at odd addresses


@pytest.mark.parametrize("layout", [read_only, packed, lambda values: np.repeat(values, 2)[::2]])
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "float16", "float32", "float64"])
def test_any_type_and_layout_gives_the_same_evidence(rng, layout, dtype):
    truth, score = rng.integers(0, 3, 200), rng.integers(0, 20, 200)
    shares, weight = rng.integers(0, 5, (200, 3)), rng.integers(0, 4, 200)
    if dtype.startswith("f"):
        labels, numbers = truth, layout(score.astype(dtype))
    else:
        labels, numbers = layout(truth.astype(dtype)), layout(score.astype(dtype))
    counts = Counts.from_predictions(labels, labels[::-1], sample_weight=layout(weight.astype(dtype)))
    assert counts.matrix.tolist() == Counts.from_predictions(truth, truth[::-1], sample_weight=weight).matrix.tolist()
    points = OperatingPoints.from_predictions(labels == 1, numbers)
    expected = OperatingPoints.from_predictions(truth == 1, score)
    typed = replace(expected, true_positives=layout(expected.true_positives.astype(dtype)))
    assert points.true_positives.tolist() == expected.true_positives.tolist()
    assert typed.dominating.tolist() == expected.dominating.tolist()
    assert (roc_area(typed), pr_area(typed)) == (roc_area(expected), pr_area(expected))
    votes = Votes.from_proba(labels, np.asfortranarray(shares.astype(dtype)))
    assert votes.counts([1, 2, 3]).matrix.tolist() == Votes.from_proba(truth, shares).counts([1, 2, 3]).matrix.tolist()
    whole = replace(votes, votes=votes.votes.astype(dtype), multiplicity=layout(votes.multiplicity.astype(dtype)))
    assert whole.counts([1, 2, 3]).matrix.tolist() == votes.counts([1, 2, 3]).matrix.tolist()
