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
from compromis.measures.pragma import pragma
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
