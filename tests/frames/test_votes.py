"""Vote patterns of data frames: every engine groups what memory groups."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

import compromis as cp
from tests.frame_kinds import QUIET, make

pytestmark = QUIET


def random_labels(rng, labels, rows):
    return [labels[place] for place in rng.integers(0, len(labels), rows)]


def forest_votes(rng, rows, classes=3, trees=4):
    return rng.multinomial(trees, rng.dirichlet(np.ones(classes)), rows)


def test_votes(kind, rng):
    votes = forest_votes(rng, 500)
    votes[:7] = 0
    truth = random_labels(rng, ["x", "y", "z"], 500)
    frame = make(kind, {"t": truth, "x": votes[:, 0].tolist(), "y": votes[:, 1].tolist(), "z": votes[:, 2].tolist()})
    found = cp.Votes.from_frame(frame, truth="t", proba=["x", "y", "z"])
    expected = Counter(
        (tuple(map(float, row)), label) for row, label in zip(votes.tolist(), truth, strict=True) if any(row)
    )
    got = {
        (tuple(row), found.classes[place]): int(count)
        for row, place, count in zip(found.votes.tolist(), found.truth, found.multiplicity, strict=True)
    }
    assert got == expected
    assert found.left_out == 7
    assert found.rows == 493


def test_votes_of_weighted_rows(kind, rng):
    votes, weight = forest_votes(rng, 200), rng.exponential(size=200)
    truth = random_labels(rng, ["x", "y", "z"], 200)
    columns = {name: votes[:, k].tolist() for k, name in enumerate("xyz")}
    frame = make(kind, {"t": truth, **columns, "w": weight.tolist()})
    found = cp.Votes.from_frame(frame, truth="t", proba=["x", "y", "z"], weight="w").counts([1, 1, 1])
    predicted = np.array(["x", "y", "z"])[votes.argmax(axis=1)]
    expected = cp.Counts.from_predictions(truth, predicted, labels=["x", "y", "z"], sample_weight=weight)
    assert np.allclose(found.matrix, expected.matrix, rtol=1e-12)
    assert np.allclose(found.squares, expected.squares, rtol=1e-12)


def test_votes_come_in_one_order(engine, rng):
    """Searches over equal evidence must give equal weights, whatever order an engine hands groups over in."""
    votes = forest_votes(rng, 300)
    columns = {"t": random_labels(rng, [0, 1, 2], 300)} | {f"v{k}": votes[:, k].tolist() for k in range(3)}
    found = cp.Votes.from_frame(make(engine, columns), truth="t", proba=["v0", "v1", "v2"])
    same = cp.Votes.from_frame(make("pandas", columns), truth="t", proba=["v0", "v1", "v2"])
    assert np.array_equal(found.votes, same.votes)
    assert np.array_equal(found.truth, same.truth)


@pytest.mark.parametrize("vote", [-0.25, float("nan"), float("inf"), None])
@pytest.mark.parametrize("bins", [None, 10])
def test_bad_votes(engine, vote, bins):
    frame = make(engine, {"t": ["a", "b", "b"], "a": [0.5, vote, 0.1], "b": [0.5, 1.0, 0.9]})
    with pytest.raises(
        cp.InputError, match="1 rows have a vote that is missing, negative or not finite, the first in column 'a'"
    ):
        cp.Votes.from_frame(frame, truth="t", proba=["a", "b"], bins=bins)


def test_binned_votes(kind, rng):
    votes = rng.dirichlet([1, 1, 1], 400) * rng.uniform(0.5, 3, 400)[:, None]
    votes[:5] = 0
    truth = random_labels(rng, ["x", "y", "z"], 400)
    columns = {"t": truth} | {name: votes[:, k].tolist() for k, name in enumerate("xyz")}
    found = cp.Votes.from_frame(make(kind, columns), truth="t", proba=["x", "y", "z"], bins=20)
    shares = votes[5:] / (votes[5:, 0] + votes[5:, 1] + votes[5:, 2])[:, None]
    steps = np.floor(shares * 20 + 0.5) / 20
    expected = Counter((tuple(row), label) for row, label in zip(steps.tolist(), truth[5:], strict=True))
    got = {
        (tuple(row), found.classes[place]): int(count)
        for row, place, count in zip(found.votes.tolist(), found.truth, found.multiplicity, strict=True)
    }
    assert got == expected
    assert found.width == 0.025
    assert found.left_out == 5


@pytest.mark.parametrize(("labels", "names"), [((0, 1), ("p_0", "p_1")), ((False, True), ("False", "True"))])
def test_columns_named_after_numbers_are_not_taken_by_position(labels, names):
    truth = [labels[0]] * 3 + [labels[1]]
    frame = pl.DataFrame({"t": truth, names[0]: [0.9, 0.8, 0.7, 0.1], names[1]: [0.1, 0.2, 0.3, 0.9]})
    for order in (names, names[::-1]):
        votes = cp.Votes.from_frame(frame, truth="t", proba=list(order))
        assert cp.evaluate(votes).summary.accuracy == 1
        assert cp.frames.search_weights(frame, truth="t", proba=list(order)).before.matrix.trace() == 4
        # a list in another order than the decision's classes is read by its names
        decided = cp.frames.decide(frame, proba=list(order), weights=cp.Decision(labels, [1.0, 1.0]))
        assert decided["decision"].to_list() == truth
    renamed = frame.rename({names[0]: "good", names[1]: "bad"})
    with pytest.raises(cp.InputError, match=r"the columns of votes are 'good', 'bad', the classes .*; pass labels="):
        cp.Votes.from_frame(renamed, truth="t", proba=["good", "bad"])
    assert cp.Votes.from_frame(renamed, truth="t", proba=["good", "bad"], labels=labels).classes == labels
