"""The sweep: its results against brute force, its parameters, where it ends."""

from __future__ import annotations

import math

import numpy as np
import pytest

from compromis.errors import InputError
from compromis.evidence.votes import Votes
from compromis.preferences import Preference, Preferences
from compromis.weights import Sweep, search_weights
from compromis.weights.problem import SearchProblem
from tests import naive_weights as naive
from tests.weight_cases import costing, small_problem

pytestmark = pytest.mark.filterwarnings("ignore:the weighted Jaccard metric")  # every metric is searched


def share_that_equals_brute_force(cases: int) -> float:
    equal = 0
    for seed in range(cases):
        votes, y, preferences = small_problem(seed)
        classes = votes.shape[1]
        search = search_weights(
            y, votes, preferences=preferences, labels=range(classes), method="sweep", random_state=0
        )
        assert not search.optimal
        best = naive.brute_force(votes, y, preferences.on(range(classes)))
        assert search.loss >= best[1] - 1e-9
        equal += search.loss <= best[1] + 1e-9
        again = Votes.from_proba(y, votes, labels=range(classes), merge=False).counts(search.weights)
        np.testing.assert_array_equal(again.matrix, search.counts.matrix)
    return equal / cases


def test_the_sweep_equals_brute_force_nearly_always():
    assert share_that_equals_brute_force(300) >= 0.99


def test_passes_and_limits():
    rng = np.random.default_rng(0)
    votes, y = rng.multinomial(9, np.ones(6) / 6, size=400), rng.integers(0, 6, size=400)
    quick = search_weights(y, votes, method=Sweep(rounds=1, patience=1), random_state=0)
    default = search_weights(y, votes, method="sweep", random_state=0)
    long = search_weights(y, votes, method="sweep", max_evaluations=3 * default.evaluations, random_state=0)
    assert quick.evaluations < default.evaluations < long.evaluations
    assert long.loss <= default.loss <= quick.loss
    timed = search_weights(y, votes, method="sweep", max_seconds=0.2, random_state=0)
    assert 0.15 < timed.seconds < 5


def test_a_given_start_is_descended_from_and_never_made_worse(rng):
    for seed in range(20):
        patterns, preferences = _case(seed)
        start = np.exp(rng.normal(size=len(patterns.classes)))
        found = search_weights(
            patterns, preferences=preferences, method=Sweep(rounds=0, start=tuple(start)), random_state=0
        )
        problem = SearchProblem.read(patterns, preferences, smoothing=0.0, max_ratio=None)
        assert found.loss <= problem.value(patterns.counts(start))[1] + 1e-12
        again = search_weights(
            patterns, preferences=preferences, method=Sweep(rounds=0, start=tuple(found.weights)), random_state=0
        )
        assert again.loss <= found.loss + 1e-12
        best = search_weights(patterns, preferences=preferences, random_state=0)
        near = search_weights(
            patterns, preferences=preferences, method=Sweep(rounds=0, start=tuple(best.weights)), random_state=0
        )
        assert near.loss <= best.loss + 1e-12
    with pytest.raises(InputError, match="there are 5 classes; give one weight per class"):
        search_weights(patterns, preferences=preferences, method=Sweep(start=(1.0, 2.0)), random_state=0)


def _case(seed):
    rng = np.random.default_rng(seed)
    votes = rng.multinomial(6, rng.dirichlet(np.full(5, 0.4)), size=60).astype(float)
    y = np.concatenate([np.arange(5), rng.integers(0, 5, size=55)])
    return Votes.from_proba(y, votes, labels=range(5)), Preferences({0: Preference(10, 0.1, 0.9)}, metric="f")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("costs", [False, True])
def test_a_descent_ends_where_no_class_gains(seed, costs):
    """Rows of different weights, costs of either sign: on every line the plain search finds nothing better."""
    rng = np.random.default_rng(seed)
    votes = rng.integers(0, 9, (30, 4)) + 1.0
    truth, sizes = np.arange(30) % 4, rng.integers(1, 6, 30)
    preferences = costing(rng.integers(-2, 10, (4, 4)).astype(float)) if costs else Preferences()
    method = Sweep(rounds=0, start=(1.0, 1.0, 1.0, 1.0))
    search = search_weights(truth, votes, preferences=preferences, sample_weight=sizes, method=method)
    arrays = preferences.on(range(4))
    reached = naive.value(naive.matrix(truth, naive.decide(votes, search.weights), sizes, 4), arrays)
    assert search.loss == pytest.approx(reached[1])
    for k in range(4):
        line = naive.best_on_line(votes, truth, sizes, search.weights, k, arrays)
        assert reached[1] <= line[1] + 1e-9


def test_weights_end_in_the_middle_of_their_cell():
    """Two classes, cuts at 1/2 and 4: the middle is the root of 2."""
    search = search_weights([1, 0], [[1.0, 2.0], [4.0, 1.0]], method="sweep", random_state=0)
    assert search.weights[1] / search.weights[0] == pytest.approx(math.sqrt(2))
    assert search.loss == 0


def test_it_tells_how_far_it_is():
    """By rounds where passes do not end it first."""
    votes, y = np.array([[9, 1, 2], [3, 7, 1], [4, 6, 3], [1, 2, 9], [5, 1, 5]]), [0, 1, 0, 2, 2]
    told = []
    method = Sweep(rounds=5, passes=10_000, patience=10_000)
    search_weights(y, votes, method=method, progress=lambda done, _: told.append(done), random_state=0)
    assert set(told) == {0.0, 0.2, 0.4, 0.6, 0.8, 1.0}
