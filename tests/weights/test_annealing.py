"""Annealing: its description step by step, history, limits, parameters."""

from __future__ import annotations

import math

import numpy as np
import pytest

from compromis.errors import InputError
from compromis.preferences import Preference, Preferences
from compromis.weights import Annealing, search_weights
from tests import naive_weights as naive


def votes_and_truth(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    votes = rng.multinomial(7, rng.dirichlet(np.full(5, 0.5)), size=150).astype(float)
    votes[:5] = np.eye(5)
    return votes, np.concatenate([np.arange(5), rng.integers(0, 5, size=145)])


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


def test_limit_and_seed():
    votes, y = votes_and_truth(2)
    short = search_weights(y, votes, method="annealing", max_evaluations=500, random_state=0)
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


@pytest.mark.parametrize("minima", [False, True])
def test_annealing_is_its_description(minima):
    """A twin from section 3 of the PRAGMA paper, all rows counted anew at every step, with the same random numbers."""
    votes = np.array([[9, 1, 2], [8, 2, 0], [3, 7, 1], [4, 6, 3], [1, 2, 9], [2, 2, 2], [5, 1, 5], [0, 3, 4]])
    truth, steps = [0, 0, 1, 0, 2, 1, 2, 2], 1300
    preferences = Preferences({2: Preference(3, 0.2, 0.8, min_precision=0.9 if minima else None)}, metric="f")
    method = Annealing(steps, start_temperature=4.0, end_temperature=0.1, step=0.8)
    search = search_weights(truth, votes, preferences=preferences, method=method, random_state=5)

    rng, arrays = np.random.default_rng(5), preferences.on(range(3))
    row = (0.2 / 3 + 0.2 / 2 + 0.6 / 3) / 3  # what one row weighs: the mean of importance in shares / support

    def value(weights):
        return naive.value(naive.matrix(truth, naive.decide(votes, weights), np.ones(8), 3), arrays)

    weights = (1 - 1e-9) ** np.arange(3)
    now = best = value(weights)
    expected = []
    for begin in range(0, steps, 1000):  # random numbers are drawn for 1000 steps at a time
        count = min(1000, steps - begin)
        cooled = (begin + np.arange(count)) / (steps - 1)
        factors = 0.8 * 0.1**cooled * rng.standard_normal(count)
        classes, chances = rng.integers(0, 3, count), rng.random(count)
        for k, factor, chance, cold in zip(classes, factors, chances, cooled, strict=True):
            tried = weights.copy()
            tried[k] *= math.exp(factor)
            other = value(tried)
            rise = sum(other) - sum(now)
            if rise <= 1e-15 or chance < math.exp(-rise / (row * 4.0 * (0.1 / 4.0) ** cold)):
                weights, now = tried, other
                best = min(best, now)
            expected.append(now[1])
    np.testing.assert_allclose(search.history[:, 1], expected, atol=1e-12)
    assert value(search.weights) == pytest.approx(best, abs=1e-12)
    assert search.evaluations == steps + 1


def test_it_tells_how_far_it_is_and_stops_when_told():
    votes, y = votes_and_truth(4)
    told = []
    search = search_weights(
        y, votes, method=Annealing(3000), max_evaluations=1501, progress=lambda done, _: told.append(done)
    )
    assert search.evaluations == 1502
    assert told == [pytest.approx(1 / 1501), pytest.approx(1001 / 1501), 1.0]
    assert search_weights(y, votes, method=Annealing(3000), progress=lambda done, _: done > 0.3).evaluations == 1001


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "whole number of steps above 0"),
        ({"steps": 2.0}, "whole number of steps above 0, got 2.0"),
        ({"start_temperature": np.inf}, "temperatures fall"),
        ({"start_temperature": 0.01}, "temperatures fall"),
        ({"end_temperature": 0.0}, "temperatures fall"),
        ({"step": 0.0}, "the step of annealing is above 0"),
        ({"step": np.inf}, "the step of annealing is above 0"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(InputError, match=message):
        Annealing(**options)


def test_one_step_at_one_temperature():
    votes, y = votes_and_truth(5)
    assert len(search_weights(y, votes, method=Annealing(1, 0.5, 0.5, 0.001), random_state=0).history) == 1
