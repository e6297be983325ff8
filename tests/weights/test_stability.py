"""Few rows: weights averaged over resamples, and the warning."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import compromis as cp


def rare(rows=400, share=0.03, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(rows) < share).astype(int)
    score = 1 / (1 + np.exp(2.5 - rng.normal(2 * y, 1)))
    return y, np.column_stack([1 - score, score])


def test_the_average_over_resamples():
    y, proba = rare()
    preferences = cp.Preferences.prioritise([1])
    search = cp.search_weights(y, proba, preferences=preferences, resamples=8, random_state=0)
    assert search.stability.weights.shape == (8, 2)
    np.testing.assert_allclose(search.weights, np.exp(np.log(search.stability.weights).mean(axis=0)))
    assert search.counts.matrix.tolist() == cp.Votes.from_proba(y, proba).counts(search.weights).matrix.tolist()
    assert search.loss >= search.single.loss
    assert (search.optimal, search.single.optimal, search.single.stability) == (False, True, None)
    assert "with weights averaged over 8 resamples" in str(search)
    plain = cp.search_weights(y, proba, preferences=preferences, random_state=0)
    assert (plain.stability, plain.single) == (None, None)
    np.testing.assert_array_equal(search.single.weights, plain.weights)
    assert search.decision.weights == pytest.approx(search.weights)


def test_the_same_seed_gives_the_same_average():
    y, proba = rare()
    runs = [cp.search_weights(y, proba, resamples=4, random_state=3).weights for _ in range(2)]
    np.testing.assert_array_equal(*runs)


def test_an_average_that_misses_a_constraint_is_not_taken():
    """The capacity leaves room for four rows; means of weights over resamples flag more."""
    y, proba = rare(seed=1)
    preferences = cp.Preferences({1: cp.Preference(10, 0.1, 0.9, max_share=0.01)})
    search = cp.search_weights(y, proba, preferences=preferences, resamples=10, random_state=0)
    assert search.feasible
    assert search.verdict.constraints == ()


@pytest.mark.parametrize("resamples", [-1, 1.5, "auto", True])
def test_resamples_are_a_number(resamples):
    with pytest.raises(cp.InputError, match="resamples is a whole number of at least 0") as caught:
        cp.search_weights(*rare(), resamples=resamples)
    assert caught.value.parameter == "resamples"


def test_time_is_shared_out():
    y, proba = rare(2000)
    search = cp.search_weights(y, proba, resamples=3, max_seconds=60, random_state=0)
    assert search.stability.losses.shape == (3,)


def few_rows_of(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return [str(one.message) for one in caught if one.category is cp.FewRowsWarning]


def test_few_rows_say_so():
    y, proba = rare()
    few = int(y.sum())
    assert few < 20
    (said,) = few_rows_of(lambda: cp.search_weights(y, proba, preferences=cp.Preferences.prioritise([1])))
    assert said.startswith(f"class 1 has {few} rows: ")
    assert "resamples=20" in said
    (told,) = few_rows_of(lambda: cp.search_weights(y, proba, preferences={1: 10}, resamples=2))
    assert "resamples=20" not in told
    assert few_rows_of(lambda: cp.search_weights(y, proba, preferences={0: 10})) == []  # 1 matters least
    assert len(few_rows_of(lambda: cp.search_weights(y, proba))) == 1  # all matter alike
    assert few_rows_of(lambda: cp.search_weights(y.repeat(4), proba.repeat(4, axis=0), preferences={1: 10})) == []


def test_weighted_rows_are_counted_as_rows():
    y, proba = rare()
    (said,) = few_rows_of(lambda: cp.search_weights(y, proba, preferences={1: 10}, sample_weight=np.full(len(y), 9.5)))
    assert f"class 1 has {int(y.sum())} rows" in said
    merged = cp.Votes.from_proba(y, proba.round(), sample_weight=np.full(len(y), 9.5))
    assert len(merged) == 3
    (said,) = few_rows_of(lambda: cp.search_weights(merged, preferences={1: 10}))
    assert f"class 1 has {int(y.sum())} rows" in said
