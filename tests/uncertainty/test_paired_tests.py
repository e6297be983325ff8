"""Two models on the same rows: McNemar's test, and differences against row-wise bootstraps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import compromis as cp
from compromis.measures.pragma import pragma
from compromis.measures.rates import accuracy
from compromis.uncertainty.draws import prior_cells
from compromis.uncertainty.paired_tests import compare_paired, draw_pairs, fold_mean, mcnemar

PREFERENCES = cp.Preferences.prioritise([1])


def models(rng, rows, rights=(0.8, 0.7), classes=3):
    truth = rng.integers(0, classes, rows)
    predicted = [np.where(rng.random(rows) < right, truth, rng.integers(0, classes, rows)) for right in rights]
    return truth, *predicted


@pytest.mark.parametrize(("first", "second"), [(1, 7), (0, 5), (10, 10), (3, 4), (200, 150), (0, 0), (51_000, 50_000)])
def test_mcnemar_is_the_binomial_test(first, second):
    found = mcnemar(first, second)
    rows = first + second
    if rows == 0:
        assert (found.exact, found.mid_p) == (1.0, 1.0)
        return
    assert found.exact == pytest.approx(stats.binomtest(first, rows).pvalue)
    # Fagerland, Lydersen and Laake: the exact p-value minus the probability of what was seen
    expected = 1.0 if first == second else found.exact - stats.binom.pmf(first, rows, 0.5)
    assert found.mid_p == pytest.approx(expected)


def test_difference_agrees_with_the_paired_bootstrap_of_scipy(rng):
    truth, first, second = models(rng, 1500, (0.7, 0.62))
    second = np.where(rng.random(1500) < 0.7, first, second)  # models that agree on much, as models do
    found = compare_paired(
        cp.PairedCounts.from_predictions(truth, first, second), arrays=PREFERENCES.on([0, 1, 2]), draws=4000
    )

    def difference(*columns):
        y, one, other = (column.astype(int) for column in columns)
        counts = [cp.Counts.from_predictions(y, part, labels=[0, 1, 2]) for part in (one, other)]
        losses = [pragma(part, PREFERENCES.on([0, 1, 2])).total for part in counts]
        return np.array([losses[0] - losses[1], accuracy(counts[0]) - accuracy(counts[1])])

    rowwise = stats.bootstrap(
        (truth, first, second), difference, n_resamples=1000, paired=True, vectorized=False, method="percentile",
        random_state=np.random.default_rng(0),
    ).confidence_interval  # fmt: skip
    for k, name in enumerate(("loss", "accuracy")):
        one = found.differences[name].difference
        width = rowwise.high[k] - rowwise.low[k]
        assert one.low == pytest.approx(rowwise.low[k], abs=0.1 * width)
        assert one.high == pytest.approx(rowwise.high[k], abs=0.1 * width)


def test_the_prior_of_pairs_is_that_of_single_models():
    """With a single row per class, the draws of either model have the mean of its rows and of the pseudo-rows of draw_counts."""
    paired = cp.PairedCounts.from_predictions([0, 1, 2], [0, 1, 2], [0, 1, 2])
    for drawn in draw_pairs(paired, 200_000, 0)[0]:
        np.testing.assert_allclose(drawn.mean(axis=0), np.eye(3) + prior_cells(3), atol=0.01)


def test_draws_repeat():
    paired = cp.PairedCounts.from_predictions([0, 1, 1], [0, 1, 0], [0, 0, 1])
    first, second = draw_pairs(paired, 10, 5)[0], draw_pairs(paired, 10, 5)[0]
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_allclose(first[0].sum(axis=(1, 2)), first[1].sum(axis=(1, 2)))


def test_the_paired_interval_keeps_its_level(rng):
    """Two models that are equally good: 95 % intervals hold 0 in about 95 %, here of 400 data sets."""
    hold = 0
    for seed in range(400):
        truth, first, second = models(rng, 150, (0.8, 0.8), classes=2)
        paired = cp.PairedCounts.from_predictions(truth, first, second)
        hold += not compare_paired(paired, measure="accuracy", draws=400, random_state=seed).difference.clear
    assert 0.92 <= hold / 400 <= 0.985


def test_pairs_of_few_weighted_rows_vary_as_the_rows_of_their_class_do(rng):
    """Eight rows on which the models differ, each of weight 1: Kish's scale is the class's, as in draws of one model."""
    weight = np.append(np.exp(rng.normal(size=40)), np.ones(8))
    truth, first, second = np.zeros(48, int), np.zeros(48, int), np.repeat([0, 1], [40, 8])
    paired = cp.PairedCounts.from_predictions(truth, first, second, labels=[0, 1], sample_weight=weight)
    drawn = np.concatenate([pair[1][:, 0, 1] for pair in draw_pairs(paired, 20_000, 0)])
    scale = (weight**2).sum() / weight.sum()
    assert drawn.var() == pytest.approx((8 / scale + 0.7) * scale**2, rel=0.05)


def test_independent_rows_in_few_groups_tell_models_apart_nearly_as_well(rng):
    """Fifteen groups of forty rows that have nothing in common: pseudo-rows that weigh a whole group never told two models apart."""
    truth, first, second = models(rng, 600, (0.9, 0.8), classes=2)
    widths = [
        compare_paired(
            cp.PairedCounts.from_predictions(truth, first, second, groups=groups), measure="accuracy", draws=1000
        ).difference.difference.width
        for groups in (None, np.arange(600) // 40)
    ]
    assert 0.6 * widths[0] < widths[1] < 1.7 * widths[0]


def test_fold_mean_is_students_without_correction(rng):
    values = rng.normal(0.3, 1, 12)
    found = fold_mean(values, 1e-15, confidence=0.9)
    expected = stats.ttest_1samp(values, 0)
    bounds = expected.confidence_interval(0.9)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert (found.mean.low, found.mean.high) == pytest.approx((bounds.low, bounds.high))


def test_fold_mean_is_corrected(rng):
    """Nadeau and Bengio, equation for J folds: variance (1/J + n2/n1) s^2."""
    values = rng.normal(0.3, 1, 10)
    found = fold_mean(values, 1 / 9)
    statistic = values.mean() / math.sqrt((1 / 10 + 1 / 9) * values.var(ddof=1))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(statistic), 9))
    reach = stats.t.ppf(0.975, 9) * math.sqrt((1 / 10 + 1 / 9) * values.var(ddof=1))
    assert found.mean.width == pytest.approx(2 * reach)
    assert fold_mean([0.1, math.nan, 0.3], 0.5).folds == 2
    assert math.isnan(fold_mean([0.1], 0.5).mean.low)
    assert fold_mean([0.0, 0.0], 0.5).p_value == 1
    with pytest.raises(cp.InputError, match="above 0, got 0; for ten folds write 1/9"):
        fold_mean(values, 0)
