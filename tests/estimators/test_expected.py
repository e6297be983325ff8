"""The truth that votes lead one to expect."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from threadpoolctl import threadpool_info, threadpool_limits

import compromis as cp
from compromis.estimators import expected as module
from compromis.estimators.expected import ENOUGH, with_expected_truth


def votes_of(rng, *, power, rows=300, rare=0.1, trees=40):
    """Votes of two classes whose probabilities are their shares to a power, scaled."""
    true = rng.beta(0.5, 0.5 / rare, rows)
    odds = ((true + 0.01) / (1.01 - true)) ** (1 / power)
    shares = odds / (1 + odds) if trees is None else np.round(trees * odds / (1 + odds)) / trees
    return (rng.random(rows) < true).astype(int), np.column_stack([1 - shares, shares])


def test_rows_keep_their_weight_and_classes_their_number(rng):
    """A bias per class, but for its ridge, makes as many of each class expected as there are."""
    truth, shares = votes_of(rng, power=1.5)
    votes = cp.Votes.from_proba(truth, shares, labels=[0, 1])
    expected, trust = with_expected_truth(votes, rng)
    assert trust == 1.0
    assert expected.multiplicity.sum() == pytest.approx(votes.multiplicity.sum(), rel=1e-3)
    assert expected.support == pytest.approx(votes.support, rel=0.1)
    assert set(map(tuple, expected.votes.tolist())) == set(map(tuple, votes.votes.tolist()))


def test_a_row_of_weight_two_is_two_rows(rng):
    truth, shares = votes_of(rng, power=1.5)
    weight = 1 + (np.arange(len(truth)) % 2)
    weighted = cp.Votes.from_proba(truth, shares, labels=[0, 1], sample_weight=weight, merge=True)
    repeated = cp.Votes.from_proba(
        np.repeat(truth, weight), np.repeat(shares, weight, axis=0), labels=[0, 1], merge=True
    )
    one, other = (with_expected_truth(votes, rng)[0].merge() for votes in (weighted, repeated))
    np.testing.assert_allclose(one.multiplicity, other.multiplicity, rtol=1e-4)


def test_the_bolder_votes_are_the_less_they_are_trusted(rng):
    """Odds to a power are bolder than the truth; powers of calibration are one over it, and trust goes from 0.3 to 1."""
    found = []
    for power in (1.0, 1.6, 20.0):
        true = rng.beta(0.5, 2, 400)
        odds = ((true + 0.01) / (1.01 - true)) ** power
        shares = np.column_stack([1 / (1 + odds), odds / (1 + odds)])
        votes = cp.Votes.from_proba((rng.random(400) < true).astype(int), shares, labels=[0, 1])
        found.append(with_expected_truth(votes, rng)[1])
    assert found[0] > 0.8
    assert found[0] > found[1] > found[2]
    assert found[2] < 0.2


def test_where_every_class_has_many_rows_nothing_is_expected(rng):
    truth, shares = votes_of(rng, power=1.5, rows=4000, rare=0.4)
    assert np.bincount(truth).min() >= ENOUGH
    assert with_expected_truth(cp.Votes.from_proba(truth, shares, labels=[0, 1]), rng) is None


def test_rows_without_votes_are_left_out(rng):
    truth, shares = votes_of(rng, power=1.5)
    silent = np.concatenate([shares, np.zeros((50, 2))])
    votes = cp.Votes.from_proba(np.concatenate([truth, np.ones(50, int)]), silent, labels=[0, 1])
    expected, without = (
        with_expected_truth(one, rng)[0] for one in (votes, cp.Votes.from_proba(truth, shares, labels=[0, 1]))
    )
    assert expected.multiplicity.sum() == pytest.approx(without.multiplicity.sum())


def test_a_calibration_runs_on_one_thread_and_gives_the_others_back(rng, monkeypatch):
    """BLAS threads that wait for each other took ten times as long as the calibration itself."""

    def threads():
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    seen = []
    monkeypatch.setattr(
        module, "minimize", lambda *given, **named: (seen.append(threads()), minimize(*given, **named))[1]
    )
    votes = cp.Votes.from_proba(*votes_of(rng, power=1.5), labels=[0, 1])
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        with_expected_truth(votes, rng)
        assert threads() == before
    assert seen == [{1}]
