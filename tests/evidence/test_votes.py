"""Votes: reading, merging, adding, deciding."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import compromis as cp
from compromis.errors import InputError
from compromis.evidence.votes import Votes, decide_votes
from tests import naive_weights as naive


def random_votes(seed: int, rows: int = 60, classes: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    votes = rng.integers(0, 3, size=(rows, classes)).astype(float)
    votes[0] = 1
    return votes, np.concatenate([np.arange(classes), rng.integers(0, classes, size=rows - classes)])


@pytest.mark.parametrize("merge", [True, False, "auto"])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_counts_are_those_of_the_definition(merge, sparse, smoothing):
    for seed in range(20):
        votes, y = random_votes(seed)
        rng = np.random.default_rng(seed)
        weights = rng.choice([0.5, 1, 2], size=4)
        given = scipy.sparse.csr_array(votes) if sparse else votes
        patterns = Votes.from_proba(y, given, merge=merge)
        some = votes.sum(axis=1) > 0
        expected = naive.matrix(y, naive.decide(votes, weights, smoothing), some.astype(int), 4)
        counts = patterns.counts(weights, smoothing=smoothing)
        assert counts.matrix.dtype == np.int64
        np.testing.assert_array_equal(counts.matrix, expected)
        assert patterns.rows == some.sum()
        assert patterns.left_out == (~some).sum()


def test_merging_finds_every_distinct_row():
    votes, y = random_votes(3, rows=500, classes=3)
    patterns = Votes.from_proba(y, votes, merge=True)
    expected = {(tuple(row), t) for row, t in zip(votes.tolist(), y.tolist(), strict=True) if any(row)}
    assert {
        (tuple(row), t) for row, t in zip(patterns.votes.tolist(), patterns.truth.tolist(), strict=True)
    } == expected
    assert len(patterns) == len(expected)
    sparse = Votes.from_proba(y, scipy.sparse.csr_array(votes), merge=True)
    np.testing.assert_array_equal(sparse.votes.toarray(), patterns.votes)


def test_merging_many_distinct_rows_grows_the_table():
    rng = np.random.default_rng(0)
    votes = np.repeat(rng.random((3000, 3)), 2, axis=0)
    patterns = Votes.from_proba(np.tile([0, 0, 1, 1, 2, 2], 1000), votes, merge=True)
    assert len(patterns) == 3000
    assert set(patterns.multiplicity.tolist()) == {2}


def test_continuous_votes_are_used_as_they_are():
    votes = np.random.default_rng(0).random((1000, 3))
    patterns = Votes.from_proba(np.arange(1000) % 3, votes)
    assert np.shares_memory(patterns.votes, votes)
    assert not patterns.merged
    half = votes.astype(np.float32)
    assert np.shares_memory(Votes.from_proba(np.arange(1000) % 3, half).votes, half)


def test_sample_weights_add_up():
    votes, y = random_votes(5)
    weight = np.random.default_rng(5).random(len(y))
    for merge in (True, False):
        patterns = Votes.from_proba(y, votes, sample_weight=weight, merge=merge)
        expected = naive.matrix(y, naive.decide(votes, np.ones(4)), np.where(votes.sum(axis=1) > 0, weight, 0), 4)
        np.testing.assert_allclose(patterns.counts(np.ones(4)).matrix, expected, rtol=1e-12)


def test_squares_of_sample_weights_are_those_of_counted_rows():
    """Intervals count effective rows by them: as weighted rows that are counted directly, in parts, merged, with other shares."""
    votes, y = random_votes(5)
    voted = votes.sum(axis=1) > 0
    votes, y = votes[voted], y[voted]
    weight, predicted = np.random.default_rng(5).lognormal(size=len(y)), naive.decide(votes, np.ones(4))
    shares, half = [0.4, 0.3, 0.2, 0.1], len(y) // 2
    for merge in (True, False):
        patterns = Votes.from_proba(y, votes, labels=range(4), sample_weight=weight, merge=merge)
        plain = Votes.from_proba(y, votes, labels=range(4), merge=merge)
        parts = [
            Votes.from_proba(y[s], votes[s], labels=range(4), sample_weight=given, merge=merge)
            for s, given in ((slice(half), weight[:half]), (slice(half, None), None))
        ]
        partly = np.r_[weight[:half], np.ones(len(y) - half)]
        counted = cp.Counts.from_predictions(y, predicted, labels=range(4), sample_weight=weight)
        expected = (
            (patterns, counted),
            (parts[0] + parts[1], cp.Counts.from_predictions(y, predicted, labels=range(4), sample_weight=partly)),
            (patterns.with_prevalence(shares), counted.with_prevalence(shares)),
            (
                plain.with_prevalence(shares),
                cp.Counts.from_predictions(y, predicted, labels=range(4)).with_prevalence(shares),
            ),
        )
        for evidence, direct in expected:
            found = evidence.counts(np.ones(4))
            np.testing.assert_allclose(found.matrix, direct.matrix, rtol=1e-12)
            np.testing.assert_allclose(found.squares, direct.squares, rtol=1e-12)
        assert plain.counts(np.ones(4)).squares is None


@pytest.mark.parametrize("sparse", [True, False])
def test_parts_add_up(sparse):
    votes, y = random_votes(7, rows=80)
    for merge in (True, False):
        wrap = scipy.sparse.csr_array if sparse else np.asarray
        parts = [
            Votes.from_proba(y[s], wrap(votes[s]), labels=range(4), merge=merge) for s in (slice(0, 30), slice(30, 80))
        ]
        both, whole = parts[0] + parts[1], Votes.from_proba(y, wrap(votes), merge=merge)
        assert (both.rows, both.left_out, len(both)) == (whole.rows, whole.left_out, len(whole))
        np.testing.assert_array_equal(both.counts([1, 2, 3, 4]).matrix, whole.counts([1, 2, 3, 4]).matrix)
    with pytest.raises(InputError, match="same classes"):
        Votes.from_proba([0, 1], [[1, 2], [2, 1]]) + Votes.from_proba(["a", "b"], [[1, 2], [2, 1]])


def test_frames_are_put_into_the_order_of_the_classes():
    frame = pd.DataFrame({"good": [3, 0], "bad": [1, 2]})
    patterns = Votes.from_proba(["good", "bad"], frame, labels=["bad", "good"])
    assert patterns.votes.tolist() == [[1, 3], [2, 0]]
    assert Votes.from_proba(["good", "bad"], frame).classes == ("good", "bad")
    with pytest.raises(InputError, match="columns of y_proba"):
        Votes.from_proba(["good", "evil"], frame, labels=["good", "evil"])


def test_one_column_is_the_share_of_the_positive_class():
    patterns = Votes.from_proba(["a", "b"], [0.25, 0.75], pos_label="b")
    assert patterns.votes.tolist() == [[0.75, 0.25], [0.25, 0.75]]
    assert Votes.from_proba(["a", "b"], [0.25, 0.75], pos_label="a").votes.tolist() == [[0.25, 0.75], [0.75, 0.25]]
    with pytest.raises(InputError, match="at most 1"):
        Votes.from_proba(["a", "b"], [0.25, 7.0], pos_label="b")


def test_sparse_input_stays_as_it_is():
    matrix = scipy.sparse.csr_array(
        (np.array([1.0, 2.0, 0.0, 3.0]), np.array([1, 0, 2, 2]), np.array([0, 2, 3, 4])), shape=(3, 3)
    )
    before = matrix.copy()
    patterns = Votes.from_proba([0, 1, 2], matrix)
    assert patterns.left_out == 1
    np.testing.assert_array_equal(matrix.data, before.data)
    np.testing.assert_array_equal(matrix.indices, before.indices)


def test_a_row_without_votes_goes_to_the_first_class_or_the_heaviest():
    assert decide_votes(np.zeros((1, 3)), np.array([1.0, 5.0, 2.0])).tolist() == [0]
    assert decide_votes(np.zeros((1, 3)), np.array([1.0, 5.0, 2.0]), 0.1).tolist() == [1]


BAD = [
    (dict(votes=[[1, -1], [1, 1]], y=[0, 1]), "negative, got -1 in row 0, column 1"),
    (dict(votes=[[1, 1], [np.nan, 1]], y=[0, 1]), "finite, got nan in row 1, column 0"),
    (dict(votes=[[1, np.inf], [1, 1]], y=[0, 1]), "finite, got inf"),
    (dict(votes=scipy.sparse.csr_array([[1.0, -1.0], [1.0, 1.0]]), y=[0, 1]), "negative, got -1 in row 0, column 1"),
    (dict(votes=[[0, 0], [0, 0]], y=[0, 1]), "none of the 2 rows has a vote"),
    (dict(votes=np.zeros((0, 2)), y=[]), "y_true is empty"),
    (dict(votes=[[1, 2], [2, 1]], y=[0, 1, 1]), "y_proba has 2 rows, y has 3"),
    (dict(votes=[[1, 2, 3], [2, 1, 3]], y=[0, 1]), "3 columns, but there are 2 classes"),
    (dict(votes=[["a", "b"], ["c", "d"]], y=[0, 1]), "must hold numbers"),
    (dict(votes=[[1, 2], [2, 1]], y=[0, 1], labels=[0, 0]), "each class stands once"),
    (dict(votes=[[1, 2], [2, 1]], y=[0, 1], labels=[0, 2]), "labels misses 1"),
    (dict(votes=[[1, 2], [2, 1]], y=[0, 1], merge="never"), "merge is True, False or 'auto'"),
    (dict(votes=np.ones((2, 2, 2)), y=[0, 1]), "one column per class, got shape"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_votes_are_refused_in_one_sentence(arguments, message):
    with pytest.raises(InputError, match=message):
        Votes.from_proba(arguments.pop("y"), arguments.pop("votes"), **arguments)


@pytest.mark.parametrize("weights", [[1, 2, 3], [1, 0], [1, -1], [1, np.nan], ["a", "b"], {2: 1.0}])
def test_bad_weights_are_refused(weights):
    with pytest.raises(InputError, match="weight"):
        Votes.from_proba([0, 1], [[1, 2], [2, 1]]).decide(weights)


def test_weights_by_class():
    votes = Votes.from_proba(["a", "b"], [[3, 2], [2, 3]])
    assert votes.decide({"b": 2.0}).tolist() == votes.decide([1.0, 2.0]).tolist() == [1, 1]


@pytest.mark.parametrize("parts", [1, 2])
def test_merging_keeps_the_width_of_bins(parts):
    """What binned votes leave open stays open when rows are merged, also after they were added to unmerged ones."""
    frame = pd.DataFrame({"a": [0.52, 0.48, 0.9, 0.1], "b": [0.48, 0.52, 0.1, 0.9], "true": ["a", "b", "a", "b"]})
    binned = Votes.from_frame(frame, truth="true", proba=["a", "b"], bins=10)
    votes = binned if parts == 1 else binned + Votes.from_proba(["a", "b"], [[0.9, 0.1], [0.1, 0.9]], merge=False)
    merged = votes.merge()
    assert merged.width == votes.width == 0.05
    before, after = votes.bounds([1, 1]), merged.bounds([1, 1])
    assert (before.high - before.low).sum() == (after.high - after.low).sum() == 4
    assert after.low.tolist() == before.low.tolist()


def test_fields_are_given_by_name():
    with pytest.raises(TypeError, match="positional"):
        Votes(np.ones((1, 2)), np.zeros(1, dtype=np.int64), np.ones(1), (0, 1), 1)
    votes = Votes(
        votes=scipy.sparse.csr_array([[1.0, 0.0]]),
        truth=np.zeros(1, dtype=np.int64),
        multiplicity=np.ones(1, dtype=np.int64),
        classes=(0, 1),
        rows=1,
    )
    assert votes.dense().tolist() == [[1.0, 0.0]]


def test_points_of_a_class_hold_every_decision_that_its_weight_leads_to(rng):
    votes = rng.dirichlet(np.ones(3), size=200)
    patterns = cp.Votes.from_proba(rng.integers(0, 3, 200), votes, labels=[0, 1, 2])
    weights = np.array([1.0, 2.0, 0.5])
    points = patterns.points(weights=weights, smoothing=0.1)
    for k, factor in ((0, 1.0), (1, 0.3), (2, 5.0)):
        counts = patterns.counts(weights * np.where(np.arange(3) == k, factor, 1.0), smoothing=0.1)
        pair = counts.matrix[k, k], counts.predicted[k] - counts.matrix[k, k]
        assert pair in set(zip(points[k].true_positives, points[k].false_positives, strict=True))
    shares = cp.OperatingPoints.one_vs_rest(patterns.truth, votes)
    for k, plain in patterns.points().items():
        np.testing.assert_allclose(plain.true_positives, shares[k].true_positives)
    with pytest.raises(cp.InputError, match="there is no class 7"):
        patterns.points([7])
