"""Intervals from counts: against scipy, against row-wise bootstraps, with weights and with groups."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import compromis as cp
from compromis.measures import rates
from compromis.measures import rates as agreement
from compromis.measures.pragma import average_cost, pragma
from compromis.uncertainty import report_intervals as stacked
from compromis.uncertainty.draws import draw_counts, effective_sizes, prior_cells, share_parts, typical_group
from compromis.uncertainty.intervals import Interval, from_draws, wilson, wilson_bounds
from compromis.uncertainty.report_intervals import centre, report_intervals

PREFERENCES = cp.Preferences.prioritise([1])


def labels(rng, rows, classes=3, right=0.7):
    truth = rng.integers(0, classes, rows)
    return truth, np.where(rng.random(rows) < right, truth, rng.integers(0, classes, rows))


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (0, 10), (3, 10), (10, 10), (1, 1), (731, 5000), (5, 7)])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_wilson_is_scipys(successes, trials, confidence):
    expected = stats.binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    found = wilson(successes, trials, confidence=confidence)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert found.value == successes / trials
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_wilson_of_nothing_is_undefined():
    assert math.isnan(wilson(0, 0).low)
    low, high = wilson_bounds([0.0, math.nan], [0, 5], 0.95)
    assert np.isnan(low).all()
    assert np.isnan(high).all()


@pytest.mark.parametrize("confidence", [0, 1, -0.1, 1.5, 95, math.nan, "high", None])
def test_confidence_outside_0_and_1(confidence):
    with pytest.raises(cp.InputError, match=r"confidence is a share between 0 and 1.*for 95 % write 0.95"):
        wilson(1, 2, confidence=confidence)


@pytest.mark.parametrize("confidence", [0, 1, 95])
def test_evaluate_checks_the_confidence(confidence):
    with pytest.raises(cp.InputError, match=f"got {confidence}"):
        cp.evaluate([0, 1], [0, 1], confidence=confidence)


def test_stacked_measures_are_the_measures(rng):
    """Every measure of a stack against the measure of each matrix by itself, undefined values included."""
    cost = rng.random((4, 4))
    seen_undefined = 0
    for _ in range(300):
        matrix = rng.integers(0, 6, (4, 4)) * rng.integers(0, 2, (4, 4))
        if rng.random() < 0.3:
            matrix[rng.integers(4)] = 0
        if rng.random() < 0.3:
            matrix[:, rng.integers(4)] = 0
        if not matrix.any():
            continue
        counts = cp.Counts.from_matrix(matrix, [0, 1, 2, 3])
        preferences = cp.Preferences.prioritise([1], metric=["kulczynski", "f", "fowlkes_mallows"][rng.integers(3)]).on(
            counts.classes
        )
        stack = stacked.Stack.of(matrix[np.newaxis], counts.support > 0)
        found = stacked.class_rates(stack)
        whole = stacked.summaries(stack, found)
        whole["loss"] = stacked.losses(stacked.class_losses(stack, preferences, found), preferences)
        for name in ("recall", "precision", "specificity", "negative_predictive_value", "false_negative_rate",
                     "false_positive_rate", "f_measure", "share_predicted"):  # fmt: skip
            np.testing.assert_allclose(found[name][0], getattr(rates, name)(counts), rtol=1e-12, atol=1e-15)
            seen_undefined += int(np.isnan(found[name]).any())
        np.testing.assert_allclose(found["roc_area"][0], rates.roc_area_of_decisions(counts), rtol=1e-12)
        np.testing.assert_allclose(
            stacked.class_losses(stack, preferences, found)[0], pragma(counts, preferences).by_class, atol=1e-12
        )
        expected = {
            "accuracy": agreement.accuracy(counts),
            "error_rate": 1 - agreement.accuracy(counts),
            "kappa": agreement.kappa(counts),
            "balanced_accuracy": agreement.balanced_accuracy(counts),
            "matthews": agreement.matthews(counts),
            "g_mean": agreement.g_mean(counts),
            "loss": pragma(counts, preferences).total,
        }
        for kind, average in (("macro", agreement.macro_average), ("weighted", agreement.weighted_average)):
            for name in stacked.AVERAGED:
                undefined = {"undefined": 0.0} if name == "precision" else {}
                expected[f"{kind}_{name}"] = average(getattr(rates, name)(counts), counts, **undefined)
        assert whole.keys() == expected.keys()
        for name, value in expected.items():
            np.testing.assert_allclose(whole[name].item(), value, rtol=1e-9, atol=1e-12, err_msg=name)
        assert stacked.average_costs(stack, cost).item() == pytest.approx(average_cost(counts, cost))
    assert seen_undefined > 50


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


def test_the_interval_holds_its_own_value():
    perfect = cp.Counts.from_matrix([[5, 0], [0, 95]], ["sick", "well"])
    report = report_intervals(perfect, arrays=cp.Preferences.prioritise(["sick"]).on(perfect.classes))
    for name, one in {**report.summary, **report.per_class["sick"]}.items():
        assert one.low <= one.value <= one.high, name
    assert report.summary["loss"].value == 0 == report.summary["loss"].low
    assert report.summary["loss"].high > 0.1  # five rows of a class do not prove much


def test_agreement_with_the_rowwise_bootstrap_of_scipy(rng):
    """With enough rows the pseudo-rows do not matter, and both estimate the same spread within Monte-Carlo error."""
    truth, predicted = labels(rng, 3000, right=0.6)
    report = report_intervals(
        cp.Counts.from_predictions(truth, predicted), arrays=PREFERENCES.on([0, 1, 2]), draws=4000, random_state=1
    )

    def measures(first, second):
        counts = cp.Counts.from_predictions(first.astype(int), second.astype(int), labels=[0, 1, 2])
        return np.array(
            [
                agreement.kappa(counts),
                agreement.matthews(counts),
                agreement.balanced_accuracy(counts),
                pragma(counts, PREFERENCES.on([0, 1, 2])).total,
                agreement.macro_average(rates.f_measure(counts), counts),
            ]
        )

    rowwise = stats.bootstrap(
        (truth, predicted), measures, n_resamples=1000, paired=True, vectorized=False, method="percentile",
        random_state=np.random.default_rng(0),
    )  # fmt: skip
    names = ["kappa", "matthews", "balanced_accuracy", "loss", "macro_f_measure"]
    for k, name in enumerate(names):
        width = rowwise.confidence_interval.high[k] - rowwise.confidence_interval.low[k]
        # the ends of a bootstrap interval of 1,000 draws vary by about 3 % of its width
        assert report.summary[name].low == pytest.approx(rowwise.confidence_interval.low[k], abs=0.1 * width)
        assert report.summary[name].high == pytest.approx(rowwise.confidence_interval.high[k], abs=0.1 * width)


def test_counts_of_any_size_cost_the_same():
    counts = cp.Counts.from_matrix(np.array([[8, 2], [12, 978]]) * 10**12, ["sick", "well"])
    report = report_intervals(counts)
    assert report.summary["kappa"].width < 1e-5
    assert report.per_class["sick"]["recall"].width < 1e-5


def test_equal_weights_are_no_weights(rng):
    truth, predicted = labels(rng, 300)
    plain = cp.evaluate(truth, predicted, preferences=PREFERENCES, confidence=0.9).intervals
    doubled = cp.evaluate(
        truth, predicted, preferences=PREFERENCES, sample_weight=np.full(300, 2.5), confidence=0.9
    ).intervals
    for name, one in plain.summary.items():
        assert doubled.summary[name].low == pytest.approx(one.low, rel=1e-9, abs=1e-12), name
    for label, named in plain.per_class.items():
        for name, one in named.items():
            assert doubled.per_class[label][name].high == pytest.approx(one.high, rel=1e-9, abs=1e-12), name


def test_weights_make_fewer_rows(rng):
    truth, predicted = labels(rng, 2000)
    weight = rng.exponential(size=2000) ** 2
    counts = cp.Counts.from_predictions(truth, predicted, sample_weight=weight)
    size = effective_sizes(counts, 0.95)["accuracy"].item()
    assert size == pytest.approx(weight.sum() ** 2 / (weight**2).sum())  # Kish
    interval = report_intervals(counts).summary["accuracy"]
    expected = stats.norm.ppf(0.975) * math.sqrt(interval.value * (1 - interval.value) / size)
    assert interval.width / 2 == pytest.approx(expected, rel=0.05)


def test_weighted_draws_spread_like_reweighted_rows(rng):
    """The draws on sums of weights and squares against a Bayesian bootstrap of the rows themselves, and of the prior's."""
    truth, predicted = labels(rng, 2000)
    weight = rng.exponential(size=2000)
    effective_row = (weight**2).sum() / weight.sum()
    counts = cp.Counts.from_predictions(truth, predicted, sample_weight=weight)
    rowwise = []
    for _ in range(600):
        drawn = cp.Counts.from_positions(truth, predicted, (0, 1, 2), weight * rng.exponential(size=2000))
        prior = rng.standard_gamma(prior_cells(3)) * effective_row
        rowwise.append(agreement.kappa(cp.Counts(drawn.matrix + prior, drawn.classes, drawn.rows)))
    stack = stacked.Stack.of(np.concatenate(list(draw_counts(counts, 4000))), counts.support > 0)
    ours = stacked.summaries(stack, stacked.class_rates(stack))["kappa"]
    assert ours.mean() == pytest.approx(np.mean(rowwise), abs=4 * np.std(rowwise) / math.sqrt(600))
    assert ours.std() == pytest.approx(np.std(rowwise), rel=0.12)


def test_repeated_rows_in_groups_count_once(rng):
    """Five copies of each row, grouped, are worth the rows once; ungrouped they would look five times as many."""
    truth, predicted = labels(rng, 200)
    once = cp.evaluate(truth, predicted, preferences=PREFERENCES, confidence=0.95).intervals
    copies = [np.repeat(part, 5) for part in (truth, predicted, np.arange(200))]
    grouped = cp.evaluate(copies[0], copies[1], groups=copies[2], preferences=PREFERENCES, confidence=0.95).intervals
    naive = cp.evaluate(copies[0], copies[1], preferences=PREFERENCES, confidence=0.95).intervals
    for name in ("accuracy", "kappa", "loss", "macro_f_measure"):
        assert grouped.summary[name].width == pytest.approx(once.summary[name].width, rel=0.1), name
        assert naive.summary[name].width < 0.6 * once.summary[name].width, name


def test_size_of_groups_by_hand():
    """Four groups of two rows, 2, 2, 1 and 0 right: the ratio estimator's variance written out."""
    truth = [0] * 8
    predicted = [0, 0, 0, 0, 0, 1, 1, 1]
    evidence = cp.evidence.GroupedCounts.from_predictions(truth, predicted, groups=list("aabbccdd"), labels=[0, 1])
    share = 5 / 8
    spread = sum((right - share * 2) ** 2 for right in (2, 2, 1, 0)) / 64 * 4 / 3
    few = (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 3)) ** 2
    assert effective_sizes(evidence, 0.95)["class_recall"][0] == pytest.approx(share * (1 - share) / spread * few)


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


def test_groups_of_other_length():
    with pytest.raises(cp.InputError, match="groups has 3 rows, the data has 2; give one key per row"):
        cp.evaluate([0, 1], [0, 1], groups=["a", "b", "c"], confidence=0.95)


def test_share_parts_are_rates(rng):
    truth, predicted = labels(rng, 100)
    counts = cp.Counts.from_predictions(truth, predicted)
    parts = share_parts(counts.matrix)
    for name in ("recall", "precision", "specificity", "negative_predictive_value", "false_negative_rate",
                 "false_positive_rate", "share_predicted"):  # fmt: skip
        above, below = parts[f"class_{name}"]
        np.testing.assert_allclose(above / below, getattr(rates, name)(counts))


def test_from_draws_of_undefined():
    assert math.isnan(from_draws(math.nan, np.ones((10, 1)), 0.95)[0].low)
    assert str(Interval(math.nan, math.nan, math.nan)) == "?"


def test_the_report_shows_intervals():
    result = cp.evaluate(["a", "b", "b"], ["a", "b", "a"], preferences=cp.Preferences.prioritise(["a"]), confidence=0.9)
    text = str(result)
    assert "=== Intervals (90 % confidence) ===" in text
    low, high = wilson(1, 2, confidence=0.9).low, wilson(1, 2, confidence=0.9).high
    assert f"{low:.3f} to {high:.3f}" in text
    document = result.document()["intervals"]
    assert document["confidence"] == 0.9
    assert document["per_class"][0]["label"] == "a"
    assert document["per_class"][0]["precision"] == pytest.approx([low, high])
    assert cp.evaluate(["a"], ["a"]).document()["intervals"] is None
    assert (
        result.to_json()
        == cp.evaluate(
            ["a", "b", "b"], ["a", "b", "a"], preferences=cp.Preferences.prioritise(["a"]), confidence=0.9
        ).to_json()
    )


def test_draws_of_a_share_stay_where_its_own_pseudo_rows_move_it():
    """For a recall the centred draws are those of Beta(hits + 0.7, misses + 0.7), whatever the number of classes."""
    counts = cp.Counts.from_matrix([[18, 1, 1, 0], [0, 30, 2, 3], [4, 0, 40, 0], [1, 1, 1, 60]], list("abcd"))

    def recalls(matrix):
        return {"recall": stacked.class_rates(stacked.Stack.of(matrix, counts.support > 0))["recall"]}

    drawn = recalls(np.concatenate(list(draw_counts(counts, 20_000))))
    moved = centre(counts, recalls, drawn)["recall"]
    for k, (hits, misses) in enumerate([(18, 2), (30, 5), (40, 4), (60, 3)]):
        assert moved[:, k].mean() == pytest.approx(stats.beta(hits + 0.7, misses + 0.7).mean(), abs=3e-3)


def test_the_shifts_of_many_classes_do_not_add_up():
    """Ten good classes: uncentred, each class adds 0.7 errors, 7 in all beside the 30 there are."""
    matrix = np.full((10, 10), 0)
    np.fill_diagonal(matrix, 97)
    matrix[np.arange(10), (np.arange(10) + 1) % 10] = 3
    counts = cp.Counts.from_matrix(matrix, range(10))

    def accuracies(stack):
        whole = stacked.Stack.of(stack, counts.support > 0)
        return {"accuracy": stacked.summaries(whole, stacked.class_rates(whole))["accuracy"]}

    drawn = accuracies(np.concatenate(list(draw_counts(counts, 4000))))
    moved = centre(counts, accuracies, drawn)["accuracy"]
    # all errors together are one binomial share: Beta(970 + 0.7, 30 + 0.7)
    expected = stats.beta(970.7, 30.7)
    assert moved.mean() == pytest.approx(expected.mean(), abs=3e-4)
    assert drawn["accuracy"].mean() < expected.mean() - 4e-3
    assert moved.std() == pytest.approx(expected.std(), rel=0.15)


def test_very_many_classes_are_not_centred(monkeypatch):
    monkeypatch.setattr("compromis.uncertainty.report_intervals.MOST_CLASSES", 1)
    counts = cp.Counts.from_matrix([[8, 2], [12, 978]], ["sick", "well"])
    drawn = {"accuracy": np.ones(3)}
    assert centre(counts, dict, drawn) is drawn
