"""Annealing: counts updated only where rows change, cooling, history."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from compromis.errors import InputError
from compromis.evidence.votes import Votes
from compromis.preferences import Preference, Preferences
from compromis.weights import Annealing, Budget, search_weights
from compromis.weights._kernels.moves import recount
from compromis.weights.descent import Descent
from compromis.weights.problem import SearchProblem
from tests import naive_weights as naive


def votes_and_truth(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    votes = rng.multinomial(7, rng.dirichlet(np.full(5, 0.5)), size=150).astype(float)
    votes[:5] = np.eye(5)
    return votes, np.concatenate([np.arange(5), rng.integers(0, 5, size=145)])


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("sparse", [True, False])
def test_recounting_the_changed_rows_is_counting_all(smoothing, sparse):
    votes, y = votes_and_truth(0)
    given = scipy.sparse.csr_array(votes) if sparse else votes
    patterns = Votes.from_proba(y, given, merge=False)
    cost = np.random.default_rng(0).random((5, 5))
    descent = Descent(SearchProblem.read(patterns, None, cost=cost, smoothing=smoothing, max_ratio=None))
    rng = np.random.default_rng(1)
    for _ in range(30):
        weights, k, new = np.exp(rng.normal(size=5)), int(rng.integers(5)), float(np.exp(rng.normal()))
        descent.start(weights)
        recount(descent.patterns, descent.objective, descent.state, k, new)
        moved = descent.within_ratio(weights) * (1 - 1e-9) ** np.arange(5)
        moved[k] = new
        expected = naive.matrix(y, naive.decide(votes, moved, smoothing), np.ones(150), 5)
        np.testing.assert_allclose(descent.state.predicted, expected.sum(axis=0))
        np.testing.assert_allclose(descent.state.hits, expected.diagonal())
        np.testing.assert_allclose(descent.state.cost[0], (expected * cost).sum() / 150 / cost.max())


def test_a_history_of_every_step_and_the_best_of_them():
    votes, y = votes_and_truth(1)
    search = search_weights(y, votes, method=Annealing(steps=2500), random_state=0)
    assert search.history.shape == (2500, 2)
    assert search.loss <= search.history[:, 1].min() + 1e-9
    assert search.evaluations == 2501
    hot = search_weights(
        y, votes, method=Annealing(steps=2500, start_temperature=1e9, end_temperature=1e8), random_state=0
    )
    cold = search_weights(
        y, votes, method=Annealing(steps=2500, start_temperature=1e-9, end_temperature=1e-9), random_state=0
    )
    assert (np.diff(cold.history[:, 1]) <= 1e-12).all()
    assert hot.history[:, 1].mean() > cold.history[:, 1].mean()


def test_budget_and_seed():
    votes, y = votes_and_truth(2)
    short = search_weights(y, votes, method="annealing", budget=Budget(evaluations=500), random_state=0)
    assert len(short.history) == 500
    method = Annealing(steps=2000)
    again = search_weights(y, votes, method=method, random_state=3)
    same = search_weights(y, votes, method=method, random_state=3)
    other = search_weights(y, votes, method=method, random_state=4)
    np.testing.assert_array_equal(again.weights, same.weights)
    assert not np.array_equal(again.history, other.history)


def test_minima_are_sought():
    votes, y = votes_and_truth(3)
    floor = search_weights(
        y, votes, preferences=Preferences({0: Preference(min_recall=0.6)}), method=Annealing(3000), random_state=0
    )
    sweep = search_weights(
        y, votes, preferences=Preferences({0: Preference(min_recall=0.6)}), method="sweep", random_state=0
    )
    assert floor.feasible == sweep.feasible


@pytest.mark.parametrize(
    "options", [{"steps": 0}, {"start_temperature": 0.0}, {"end_temperature": 100.0}, {"step": -1.0}]
)
def test_bad_parameters(options):
    with pytest.raises(InputError):
        Annealing(**options)
