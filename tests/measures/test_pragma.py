"""The PRAGMA loss, baselines and costs against exact arithmetic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import compromis as cp
from compromis.measures.baselines import naive_baselines
from compromis.measures.pragma import pragma, preference_score
from tests import oracle
from tests.measures.test_rates import close, counts_of, matrices

shares = st.floats(0, 1).map(lambda share: round(share, 6))


@pytest.mark.filterwarnings("ignore:the weighted Jaccard")
@pytest.mark.parametrize("metric", list(cp.metrics.METRICS))
@given(data=st.data(), matrix=matrices)
def test_pragma(metric, data, matrix):
    size = len(matrix)
    importance = data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.5, 10.0]), min_size=size, max_size=size).filter(any))
    weight = data.draw(st.lists(shares, min_size=size, max_size=size))
    preferences = cp.Preferences(
        {k: cp.Preference(importance[k], recall_weight=weight[k]) for k in range(size)}, metric=metric
    ).on(range(size))
    exact = ([Fraction(one) for one in importance], [Fraction(one) for one in weight], metric)
    loss = pragma(counts_of(matrix), preferences)
    total, by_class = oracle.pragma(matrix.tolist(), *exact)
    assert close(loss.total, total)
    assert all(close(ours, theirs) for ours, theirs in zip(loss.by_class, by_class, strict=True))
    *constant, random = naive_baselines(counts_of(matrix), preferences)
    for baseline, theirs in zip(constant, oracle.constant_losses(matrix.tolist(), *exact), strict=True):
        assert close(baseline.loss, theirs)
    assert close(random.loss, oracle.random_loss(matrix.tolist(), *exact))


@given(matrix=matrices, data=st.data())
def test_baselines_are_what_the_decisions_would_reach(matrix, data):
    """Each constant decision, written out as counts and judged as any other result."""
    size = len(matrix)
    floors = st.lists(st.sampled_from([None, 0.0, 0.3, 1.0]), min_size=size, max_size=size)
    precision, recall = data.draw(floors), data.draw(floors)
    preferences = cp.Preferences(
        {k: cp.Preference(1 + k, 0.2, 0.7, min_precision=precision[k], min_recall=recall[k]) for k in range(size)},
        metric="f",
    ).on(range(size))
    cost = data.draw(arrays(np.int64, matrix.shape, elements=st.integers(0, 9))).astype(float)
    counts = counts_of(matrix)
    priced = replace(preferences, cost=cost)
    by_loss, by_cost = naive_baselines(counts, preferences)[:-1], naive_baselines(counts, priced)[:-1]
    for k in range(size):
        written_out = np.zeros_like(matrix)
        written_out[:, k] = matrix.sum(axis=1)
        result = counts_of(written_out)
        assert by_loss[k].loss == pytest.approx(pragma(result, preferences).total, nan_ok=True)
        if matrix.any():
            assert by_cost[k].loss == pytest.approx(pragma(result, priced).total)


@given(matrix=matrices, data=st.data())
def test_cost(matrix, data):
    if not matrix.any():
        return
    cost = data.draw(arrays(np.int64, matrix.shape, elements=st.integers(-5, 100)))
    loss = pragma(counts_of(matrix), replace(cp.Preferences().on(range(len(matrix))), cost=cost))
    assert close(loss.total, oracle.cost(matrix.tolist(), cost.tolist()))
    assert loss.share.sum() == pytest.approx(loss.total)
    support = matrix.sum(axis=1)
    np.testing.assert_allclose((loss.by_class * support)[support > 0].sum(), loss.total * matrix.sum(), atol=1e-9)


def test_a_result_that_misses_a_constraint_scores_below_any_that_meets_it():
    """With costs too, whatever their unit: the dearest decisions that meet it are better."""
    worst, best = counts_of(np.array([[0, 10], [90, 0]])), counts_of(np.array([[5, 5], [0, 90]]))
    for unit in (1e-6, 1.0, 1e6):
        cost = np.array([[0.0, unit], [9 * unit, 0.0]])
        met = replace(cp.Preferences().on([0, 1]), cost=cost)
        missed = replace(cp.Preferences({0: cp.Preference(min_recall=0.8)}).on([0, 1]), cost=cost)
        assert preference_score(worst, met) == pytest.approx(1 - pragma(worst, met).total)
        assert preference_score(worst, met) == pytest.approx(1 - (10 * unit + 810 * unit) / 100)
        assert preference_score(best, missed) < preference_score(worst, met)
    plain = cp.Preferences({0: cp.Preference(min_recall=0.8)}).on([0, 1])
    assert preference_score(best, plain) == pytest.approx(0.5 - 0.8)
