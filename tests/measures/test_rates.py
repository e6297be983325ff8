"""Rates, averages and agreement against exact arithmetic, and against scikit-learn where it defines the same."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn import metrics

import compromis as cp
from compromis.measures import rates
from compromis.measures.pragma import losses, pragma
from tests import oracle
from tests.weight_cases import costing

matrices = st.integers(1, 5).flatmap(
    lambda size: arrays(np.int64, (size, size), elements=st.sampled_from([0, 0, 0, 1, 2, 3, 17, 1000, 2**40]))
)


def close(value, expected):
    """8 ulp or 1e-15; None is NaN."""
    if expected is None:
        return bool(np.isnan(value))
    exact = float(expected)
    return abs(value - exact) <= max(1e-15, 8 * np.spacing(abs(exact)))


def counts_of(matrix, classes=None):
    return cp.Counts.from_matrix(matrix, list(range(len(matrix)) if classes is None else classes))


def whole(counts):
    return rates.summaries(counts, rates.class_rates(counts))


RATES = {
    "recall": oracle.recall,
    "precision": oracle.precision,
    "specificity": oracle.specificity,
    "negative_predictive_value": oracle.npv,
    "false_negative_rate": oracle.fn_rate,
    "false_positive_rate": oracle.fp_rate,
    "f_measure": oracle.f_beta,
}


@given(matrix=matrices)
def test_rates(matrix):
    found = rates.class_rates(counts_of(matrix))
    for name, theirs in RATES.items():
        for k, value in enumerate(found[name]):
            assert close(value, theirs(matrix.tolist(), k)), (name, k, value)


@given(matrix=matrices, beta=st.sampled_from([0.5, 2.0, 3.0]))
def test_f_beta(matrix, beta):
    for k, value in enumerate(rates.f_measure(counts_of(matrix), beta)):
        assert close(value, oracle.f_beta(matrix.tolist(), k, Fraction(beta)))


@given(matrix=matrices)
def test_agreement(matrix):
    if not matrix.any():
        return
    counts, exact = counts_of(matrix), matrix.tolist()
    assert close(rates.accuracy(counts), oracle.accuracy(exact))
    assert close(whole(counts)["balanced_accuracy"], oracle.balanced_accuracy(exact))
    assert close(whole(counts)["g_mean"], oracle.g_mean(exact))
    for ours, theirs in (
        (rates.kappa(counts), oracle.kappa(exact)),
        (rates.matthews(counts), oracle.mcc(exact)),
    ):
        assert close(ours, theirs)


@given(matrix=matrices)
def test_averages(matrix):
    counts, exact = counts_of(matrix), matrix.tolist()
    support = oracle.supports(exact)
    present = [k for k, rows in enumerate(support) if rows]
    found, names = rates.class_rates(counts), ("recall", "precision")
    macro, weighted = (rates.averages(found, weights, names) for weights in (counts.support > 0, counts.support))
    for name, theirs, undefined in (("recall", oracle.recall, None), ("precision", oracle.precision, Fraction(0))):
        values = [theirs(exact, k) for k in present]
        values = [undefined if value is None else value for value in values]
        assert close(macro[name], oracle.macro(values))
        assert close(weighted[name], oracle.weighted(values, [support[k] for k in present]))


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
        assert rates.accuracy(counts) == pytest.approx(metrics.accuracy_score(truth, decision, sample_weight=weights))
        assert rates.kappa(counts) == pytest.approx(metrics.cohen_kappa_score(truth, decision, sample_weight=weights))
        assert rates.matthews(counts) == pytest.approx(
            metrics.matthews_corrcoef(truth, decision, sample_weight=weights)
        )
        balanced = metrics.balanced_accuracy_score(truth, decision, sample_weight=weights)
        assert whole(counts)["balanced_accuracy"] == pytest.approx(balanced)


def test_a_class_that_weighs_little_keeps_its_digits():
    """A difference of sums would be 0, or far off; exactly, the rates of the light class are 3/4 and 1/4."""
    heavy, light = 1e12, 2.0**-20
    counts = cp.Counts(np.array([[heavy, 0.0], [light, 3 * light]]), ("heavy", "light"), 3)
    assert rates.class_rates(counts)["specificity"][0] == 0.75
    assert rates.class_rates(counts)["false_positive_rate"][0] == 0.25
    assert rates.negative_predictive_value(counts)[0] == 1.0
    matrix = [[Fraction(x) for x in row] for row in counts.matrix.tolist()]
    assert rates.kappa(counts) == float(oracle.kappa(matrix))
    assert rates.matthews(counts) == pytest.approx(float(oracle.mcc(matrix)), rel=1e-15)


def test_the_area_of_decisions_is_scikit_learns(rng):
    truth, decision = rng.integers(0, 3, (2, 200))
    areas = rates.class_rates(cp.Counts.from_predictions(truth, decision))["roc_area"]
    expected = [metrics.roc_auc_score(truth == k, (decision == k).astype(float)) for k in range(3)]
    np.testing.assert_allclose(areas, expected, rtol=1e-14)


def test_averages_by_hand():
    counts = counts_of([[2, 2, 0], [0, 1, 0], [0, 0, 0]], "abc")
    occurs, full, part = counts.support > 0, np.array([0.5, 1.0, 7.0]), np.array([np.nan, 1.0, 7.0])
    assert rates.averages({"recall": full}, occurs, ["recall"]) == {"recall": 0.75}  # c does not occur
    assert rates.averages({"recall": full}, counts.support, ["recall"])["recall"] == pytest.approx((4 * 0.5 + 1) / 5)
    assert rates.averages({"recall": part, "precision": part}, occurs, ["recall", "precision"]) == {
        "recall": 1.0,
        "precision": 0.5,
    }
    assert whole(counts)["g_mean"] == pytest.approx(math.sqrt(0.5))
    assert math.isnan(whole(counts_of([[0, 0], [0, 0]]))["g_mean"])
    assert rates.class_rates(counts)["share_predicted"].tolist() == [0.4, 0.6, 0.0]


def test_weights_of_three_classes_are_added_cell_by_cell():
    """The same rates as of the counts that the weights are multiples of, whose sums are exact."""
    matrix = np.array([[5, 1, 2], [3, 7, 11], [13, 17, 23]])
    whole = counts_of(matrix, "abc")
    for scale in (0.5, 2.0**-30, 2.0**30):
        weighted = cp.Counts(matrix * scale, ("a", "b", "c"), 82)
        ours, exact = rates.outcomes(weighted), rates.outcomes(whole)
        for name in ("misses", "alarms", "rejections"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(exact, name) * scale)
        assert rates.kappa(weighted) == rates.kappa(whole)
        assert rates.matthews(weighted) == rates.matthews(whole)


def test_kappa_of_weights_with_all_their_digits():
    """Odd last bits: on a whole scale no bit may be lost."""
    matrix = np.array([[1 + 2.0**-52, 3.0], [0.0, 7 + 2.0**-50]])
    exact = [[Fraction(cell) for cell in row] for row in matrix.tolist()]
    assert rates.kappa(cp.Counts(matrix, ("a", "b"), 11)) == float(oracle.kappa(exact))


def test_stacks_have_the_rates_of_each_matrix(rng):
    """Every number of a stack against that of each matrix by itself, undefined ones and draws included."""
    cost = rng.random((4, 4))
    matrices = rng.integers(0, 6, (300, 4, 4)) * rng.integers(0, 2, (300, 4, 4))
    matrices[:60, 1] = 0
    matrices[40:100, :, 2] = 0
    matrices = matrices[matrices.any(axis=(1, 2))]
    assert np.isnan(rates.precision(matrices)).sum() > 50
    preferences, priced = cp.Preferences.prioritise([1]).on(range(4)), costing(cost).on(range(4))
    for stack in (matrices, matrices + 0.3):
        found, (by_class, shares) = rates.class_rates(stack), losses(stack, preferences)
        numbers = whole(stack)
        totals, costs = shares.sum(axis=-1), losses(stack, priced)[1].sum(axis=-1)
        for k, matrix in enumerate(stack):
            counts = cp.Counts(matrix, (0, 1, 2, 3), 1)
            single = rates.class_rates(counts)
            for name, values in found.items():
                np.testing.assert_allclose(values[k], single[name], rtol=1e-12, atol=1e-15, err_msg=name)
            expected = {
                **{name: getattr(rates, name)(counts) for name in ("accuracy", "kappa", "matthews")},
                "balanced_accuracy": np.nanmean(single["recall"]),
                "g_mean": stats.gmean(single["recall"][counts.support > 0]),
            }
            expected["error_rate"] = 1 - expected["accuracy"]
            for kind, weights in (("macro", counts.support > 0), ("weighted", counts.support)):
                for name in rates.AVERAGED:
                    rate = np.nan_to_num(single[name]) if name == "precision" else single[name]
                    use = (weights > 0) & ~np.isnan(rate)
                    expected[f"{kind}_{name}"] = (
                        np.average(rate[use], weights=weights[use].astype(float)) if use.any() else np.nan
                    )
            assert numbers.keys() == expected.keys()
            for name, value in expected.items():
                np.testing.assert_allclose(numbers[name][k], value, rtol=1e-9, atol=1e-12, err_msg=name)
            loss = pragma(counts, preferences)
            np.testing.assert_array_equal(by_class[k], loss.by_class)
            average = (matrix * cost).sum() / matrix.sum()
            np.testing.assert_allclose((totals[k], costs[k]), (loss.total, average), rtol=1e-14)


def test_share_parts_are_rates(rng):
    counts = cp.Counts.from_matrix(rng.integers(1, 9, (3, 3)), [0, 1, 2])
    parts = rates.share_parts(counts)
    assert set(parts) == {*rates.SHARES, "accuracy", "error_rate"}
    for name in rates.SHARES:
        np.testing.assert_allclose(parts[name][0] / parts[name][1], rates.class_rates(counts)[name])
    assert (parts["accuracy"][0] / parts["accuracy"][1]).tolist() == [rates.accuracy(counts)]


def test_few_predictions():
    counts = cp.Counts.from_matrix([[15, 5, 0], [4, 76, 0], [0, 3, 0]], ["a", "b", "c"])
    assert rates.few_predictions(counts) == (("a", 19.0),)
    weighted = cp.Counts.from_predictions([0] * 40, [0] * 40, sample_weight=[10.0] * 2 + [0.1] * 38)
    ((label, rows),) = rates.few_predictions(weighted)
    assert label == 0
    assert math.isclose(rows, (20 + 3.8) ** 2 / (200 + 0.38))
