"""Draws of counts and effective sizes: against the Dirichlet distribution, with weights and with groups."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import compromis as cp
from compromis.measures import rates
from compromis.uncertainty.draws import draw_counts, effective_sizes, prior_cells, typical_group
from compromis.uncertainty.report_intervals import report_intervals


def labels(rng, rows, classes=3, right=0.7):
    truth = rng.integers(0, classes, rows)
    return truth, np.where(rng.random(rows) < right, truth, rng.integers(0, classes, rows))


def test_the_prior_gives_each_class_the_same_against_the_rest():
    for classes in (2, 3, 10):
        prior = prior_cells(classes)
        np.testing.assert_allclose(prior.sum(axis=0), 1.4)
        np.testing.assert_allclose(prior.sum(axis=1), 1.4)
    assert prior_cells(2).tolist() == [[0.7, 0.7], [0.7, 0.7]]


def test_draws_repeat_and_are_chunked_alike(monkeypatch):
    counts = cp.Counts.from_matrix([[8, 2], [12, 978]], ["sick", "well"])
    first = np.concatenate(list(draw_counts(counts, 100, 3)))
    monkeypatch.setattr("compromis.uncertainty.draws.CELLS_AT_ONCE", 4 * 7)
    chunks = list(draw_counts(counts, 100, 3))
    assert len(chunks) == 15
    np.testing.assert_array_equal(first, np.concatenate(chunks))
    assert not np.array_equal(first, np.concatenate(list(draw_counts(counts, 100, 4))))


def test_draws_have_the_moments_of_dirichlet():
    counts = cp.Counts.from_matrix([[8, 2], [12, 978]], ["sick", "well"])
    drawn = np.concatenate(list(draw_counts(counts, 40_000, 0)))
    shares = (drawn / drawn.sum(axis=(1, 2), keepdims=True)).reshape(-1, 4)
    expected = stats.dirichlet(counts.matrix.ravel() + 0.7)
    np.testing.assert_allclose(shares.mean(axis=0), expected.mean(), rtol=0.02)
    np.testing.assert_allclose(shares.var(axis=0), expected.var(), rtol=0.05)


def test_an_absent_class_stays_absent():
    counts = cp.Counts.from_matrix([[5, 1, 0], [1, 5, 0], [0, 0, 0]], [0, 1, 2])
    report = report_intervals(counts, arrays=cp.Preferences.prioritise([1]).on(counts.classes))
    assert math.isnan(report.per_class[2]["loss"].value)
    assert math.isnan(report.per_class[2]["loss"].low)
    assert math.isnan(report.per_class[2]["recall"].low)
    assert report.summary["balanced_accuracy"].value == pytest.approx(5 / 6)
    assert report.summary["balanced_accuracy"].low > 0.4


def test_weighted_draws_spread_like_reweighted_rows(rng):
    """The draws on sums of weights and squares against a Bayesian bootstrap of the rows themselves, and of the prior's."""
    spreads = []
    for _ in range(4):
        truth, predicted = labels(rng, 2000)
        weight = rng.exponential(size=2000)
        effective_row = (weight**2).sum() / weight.sum()
        counts = cp.Counts.from_predictions(truth, predicted, sample_weight=weight)
        rowwise = []
        for _ in range(300):
            drawn = cp.Counts.from_positions(truth, predicted, (0, 1, 2), weight * rng.exponential(size=2000))
            prior = rng.standard_gamma(prior_cells(3)) * effective_row
            rowwise.append(rates.kappa(cp.Counts(drawn.matrix + prior, drawn.classes, drawn.rows)))
        stack = np.concatenate(list(draw_counts(counts, 4000)))
        ours = rates.summaries(stack, rates.class_rates(stack))["kappa"]
        assert ours.mean() == pytest.approx(np.mean(rowwise), abs=4 * np.std(rowwise) / math.sqrt(300))
        spreads.append(ours.std() / np.std(rowwise))
    assert np.mean(spreads) == pytest.approx(1, abs=0.12)  # 4 standard errors


def test_size_of_groups_by_hand():
    """Four groups of two rows, 2, 2, 1 and 0 right: the ratio estimator's variance written out."""
    truth = [0] * 8
    predicted = [0, 0, 0, 0, 0, 1, 1, 1]
    evidence = cp.evidence.GroupedCounts.from_predictions(truth, predicted, groups=list("aabbccdd"), labels=[0, 1])
    share = 5 / 8
    spread = sum((right - share * 2) ** 2 for right in (2, 2, 1, 0)) / 64 * 4 / 3
    few = (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 3)) ** 2
    assert effective_sizes(evidence, 0.95)["recall"][0] == pytest.approx(share * (1 - share) / spread * few)


def test_grouped_counts_add_up(rng):
    truth, predicted = labels(rng, 400)
    groups = rng.integers(0, 120, 400)
    whole = cp.evidence.GroupedCounts.from_predictions(truth, predicted, groups=groups)
    assert whole.groups == len(np.unique(groups))
    assert (whole.times[:, None, None] * whole.tables).sum(axis=0).tolist() == whole.counts.matrix.tolist()
    part = groups < 60
    first, second = (
        cp.evidence.GroupedCounts.from_predictions(truth[rows], predicted[rows], groups=groups[rows], labels=[0, 1, 2])
        for rows in (part, ~part)
    )
    total = first + second
    assert total.counts.matrix.tolist() == whole.counts.matrix.tolist()
    order = [np.lexsort(one.tables.reshape(len(one.tables), -1).T) for one in (whole, total)]
    assert whole.tables[order[0]].tolist() == total.tables[order[1]].tolist()
    assert whole.times[order[0]].tolist() == total.times[order[1]].tolist()
    with pytest.raises(cp.InputError, match="same classes"):
        _ = first + cp.evidence.GroupedCounts.from_predictions([5], [5], groups=[1])


def test_typical_group():
    evidence = cp.evidence.GroupedCounts.from_predictions([0] * 6, [0] * 6, groups=[1, 2, 2, 3, 3, 3], labels=[0, 1])
    assert typical_group(evidence) == pytest.approx((1 + 4 + 9) / 6)


def test_a_cell_of_few_rows_varies_as_the_rows_of_its_class_do(rng):
    """Eight missed rows that happen to weigh 1 each do not say that rows of the class weigh alike: Kish's scale is the class's."""
    weight = np.append(np.exp(rng.normal(size=40)), np.ones(8))
    predicted = [0] * 40 + [1] * 8
    counts = cp.Counts.from_predictions(
        [0] * 48 + [1] * 400, predicted + [1] * 400, sample_weight=[*weight, *[1.0] * 400]
    )
    missed = np.concatenate(list(draw_counts(counts, 20_000)))[:, 0, 1]
    scale = (weight**2).sum() / weight.sum()
    assert missed.var() == pytest.approx((8 / scale + 0.7) * scale**2, rel=0.05)


def test_rows_labelled_by_prediction_count_as_their_inverse_probabilities_make_them():
    """Of a class 190 flagged rows were labelled, and 5 of the unflagged ones, each for 8: by linearisation, not by Kish."""
    counts = cp.Counts.from_predictions(
        [0] * 195 + [1] * 600, [0] * 190 + [1] * 605, sample_weight=[1.0] * 190 + [8.0] * 605
    )
    share = 190 / 230
    variance = (190 * (1 - share) ** 2 + 5 * 64 * share**2) / 230**2
    size = effective_sizes(counts, 0.95)["recall"][0]
    assert size == pytest.approx(share * (1 - share) / variance)
    assert size < 0.4 * 230**2 / (190 + 5 * 64)  # Kish's
    missed = np.concatenate(list(draw_counts(counts, 20_000)))[:, 0, 1]
    assert missed.std() == pytest.approx(8 * math.sqrt(5 + 0.7), rel=0.03)


def test_independent_rows_in_few_groups_are_nearly_as_good_as_rows(rng):
    """Fifteen groups of forty rows that have nothing in common: pseudo-rows that weigh a whole group made the interval 2.8 times as wide."""
    truth = np.where(rng.random(600) < 0.2, "rare", "rest")
    predicted = np.where(rng.random(600) < 0.85, truth, np.where(truth == "rare", "rest", "rare"))
    preferences = cp.Preferences.prioritise(["rare"], metric="kulczynski")
    widths = [
        cp.evaluate(truth, predicted, preferences=preferences, groups=groups, confidence=0.95)
        .intervals.summary["loss"]
        .width
        for groups in (None, np.arange(600) // 40)
    ]
    assert 0.8 * widths[0] < widths[1] < 1.7 * widths[0]
