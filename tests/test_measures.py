"""Every measure against exact arithmetic, and against scikit-learn where it defines the same."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import metrics

import compromis as cp
from compromis.measures import rates
from compromis.measures import rates as agreement
from compromis.measures.pragma import average_cost, pragma, read_cost
from compromis.measures.verdict import naive_baselines, shortfall
from tests import oracle

matrices = st.integers(1, 5).flatmap(
    lambda size: arrays(np.int64, (size, size), elements=st.sampled_from([0, 0, 0, 1, 2, 3, 17, 1000, 2**40]))
)


def close(value, expected):
    """8 ulp or 1e-15; None is NaN."""
    if expected is None:
        return bool(np.isnan(value))
    exact = float(expected)
    return abs(value - exact) <= max(1e-15, 8 * np.spacing(abs(exact)))


def counts_of(matrix):
    return cp.Counts.from_matrix(matrix, list(range(len(matrix))))


RATES = {
    rates.recall: oracle.recall,
    rates.precision: oracle.precision,
    rates.specificity: oracle.specificity,
    rates.negative_predictive_value: oracle.npv,
    rates.false_negative_rate: oracle.fn_rate,
    rates.false_positive_rate: oracle.fp_rate,
    rates.f_measure: oracle.f_beta,
}


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: rate.__name__)
@given(matrix=matrices)
def test_rates(rate, matrix):
    values = rate(counts_of(matrix))
    for k, value in enumerate(values):
        assert close(value, RATES[rate](matrix.tolist(), k)), (k, value)


@given(matrix=matrices, beta=st.sampled_from([0.5, 2.0, 3.0]))
def test_f_beta(matrix, beta):
    for k, value in enumerate(rates.f_measure(counts_of(matrix), beta)):
        assert close(value, oracle.f_beta(matrix.tolist(), k, Fraction(beta)))


@given(matrix=matrices)
def test_agreement(matrix):
    if not matrix.any():
        return
    counts, exact = counts_of(matrix), matrix.tolist()
    assert close(agreement.accuracy(counts), oracle.accuracy(exact))
    assert close(agreement.balanced_accuracy(counts), oracle.balanced_accuracy(exact))
    assert close(agreement.g_mean(counts), oracle.g_mean(exact))
    for ours, theirs in (
        (agreement.kappa(counts), oracle.kappa(exact)),
        (agreement.matthews(counts), oracle.mcc(exact)),
    ):
        assert close(ours, theirs)


@given(matrix=matrices)
def test_averages(matrix):
    counts, exact = counts_of(matrix), matrix.tolist()
    support = oracle.supports(exact)
    present = [k for k, rows in enumerate(support) if rows]
    for rate, theirs, undefined in (
        (rates.recall, oracle.recall, None),
        (rates.precision, oracle.precision, Fraction(0)),
    ):
        values = [theirs(exact, k) for k in present]
        values = [undefined if value is None else value for value in values]
        fill = np.nan if undefined is None else 0.0
        assert close(agreement.macro_average(rate(counts), counts, undefined=fill), oracle.macro(values))
        weighted = oracle.weighted(values, [support[k] for k in present])
        assert close(agreement.weighted_average(rate(counts), counts, undefined=fill), weighted)


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
    by_loss, by_cost = naive_baselines(counts, preferences)[:-1], naive_baselines(counts, preferences, cost)[:-1]
    for k in range(size):
        written_out = np.zeros_like(matrix)
        written_out[:, k] = matrix.sum(axis=1)
        result = counts_of(written_out)
        assert by_loss[k].loss == pytest.approx(pragma(result, preferences).total, nan_ok=True)
        assert by_loss[k].shortfall == pytest.approx(shortfall(result, preferences), abs=1e-12)
        if matrix.any():
            assert by_cost[k].loss == pytest.approx(average_cost(result, cost))


@given(matrix=matrices, data=st.data())
def test_cost(matrix, data):
    if not matrix.any():
        return
    cost = data.draw(arrays(np.int64, matrix.shape, elements=st.integers(-5, 100)))
    assert close(
        average_cost(counts_of(matrix), read_cost(cost, range(len(matrix)))),
        oracle.cost(matrix.tolist(), cost.tolist()),
    )


@settings(max_examples=30)
@given(st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_against_scikit_learn(size, seed):
    """All classes occur and are predicted: there scikit-learn and we define everything alike."""
    rng = np.random.default_rng(seed)
    truth, decision = (np.concatenate([np.arange(size), rng.integers(0, size, 200)]) for _ in range(2))
    weight = rng.integers(1, 4, len(truth))
    for weights in (None, weight):
        counts = cp.Counts.from_predictions(truth, decision, sample_weight=weights)
        precision, recall, f, _ = metrics.precision_recall_fscore_support(truth, decision, sample_weight=weights)
        assert rates.precision(counts) == pytest.approx(precision, rel=1e-14)
        assert rates.recall(counts) == pytest.approx(recall, rel=1e-14)
        assert rates.f_measure(counts) == pytest.approx(f, rel=1e-14)
        assert agreement.accuracy(counts) == pytest.approx(
            metrics.accuracy_score(truth, decision, sample_weight=weights)
        )
        assert agreement.kappa(counts) == pytest.approx(
            metrics.cohen_kappa_score(truth, decision, sample_weight=weights)
        )
        assert agreement.matthews(counts) == pytest.approx(
            metrics.matthews_corrcoef(truth, decision, sample_weight=weights)
        )
        balanced = metrics.balanced_accuracy_score(truth, decision, sample_weight=weights)
        assert agreement.balanced_accuracy(counts) == pytest.approx(balanced)


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        ([[1, 2]], r"a cost matrix for 2 classes has shape \(2, 2\), got \(1, 2\)"),
        ([[0, np.inf], [1, 0]], "costs must be finite"),
    ],
)
def test_bad_cost(cost, said):
    with pytest.raises(cp.InputError, match=said):
        cp.evaluate([1, 2], [1, 2], cost=cost)


def test_a_class_that_weighs_little_keeps_its_digits():
    """A difference of sums would be 0, or far off; exactly, the rates of the light class are 3/4 and 1/4."""
    heavy, light = 1e12, 2.0**-20
    counts = cp.Counts(np.array([[heavy, 0.0], [light, 3 * light]]), ("heavy", "light"), 3)
    assert rates.specificity(counts)[0] == 0.75
    assert rates.false_positive_rate(counts)[0] == 0.25
    assert rates.negative_predictive_value(counts)[0] == 1.0
    matrix = [[Fraction(x) for x in row] for row in counts.matrix.tolist()]
    assert agreement.kappa(counts) == float(oracle.kappa(matrix))
    assert agreement.matthews(counts) == pytest.approx(float(oracle.mcc(matrix)), rel=1e-15)


def test_the_area_of_decisions_is_scikit_learns(rng):
    truth, decision = rng.integers(0, 3, (2, 200))
    areas = rates.roc_area_of_decisions(cp.Counts.from_predictions(truth, decision))
    expected = [metrics.roc_auc_score(truth == k, (decision == k).astype(float)) for k in range(3)]
    np.testing.assert_allclose(areas, expected, rtol=1e-14)
