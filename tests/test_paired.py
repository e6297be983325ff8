"""Comparing models: paired counts, McNemar, differences, folds, data sets, the command line."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pytest
from scipy import stats

import compromis as cp
from compromis.measures.pragma import pragma
from compromis.measures.rates import accuracy
from compromis.uncertainty.data_sets import critical_difference
from compromis.uncertainty.folds import fold_mean
from compromis.uncertainty.paired import compare_paired, draw_pairs, mcnemar
from tests.command_line import run

PREFERENCES = cp.Preferences.prioritise([1])


def models(rng, rows, rights=(0.8, 0.7), classes=3):
    truth = rng.integers(0, classes, rows)
    predicted = [np.where(rng.random(rows) < right, truth, rng.integers(0, classes, rows)) for right in rights]
    return truth, *predicted


@pytest.mark.parametrize("weighted", [False, True])
def test_paired_counts_hold_both_confusion_matrices(rng, weighted):
    truth, first, second = models(rng, 500)
    weight = rng.integers(1, 9, 500) / 4 if weighted else None
    paired = cp.PairedCounts.from_predictions(truth, first, second, sample_weight=weight)
    for one, predicted in ((paired.first, first), (paired.second, second)):
        expected = cp.Counts.from_predictions(truth, predicted, sample_weight=weight)
        assert one.matrix.tolist() == expected.matrix.tolist()
        assert (one.squares is None) == (not weighted)
        if weighted:
            assert one.squares.tolist() == expected.squares.tolist()
    weights = np.ones(500) if weight is None else weight
    assert paired.discordant[0] == weights[(first == truth) & (second != truth)].sum()
    assert paired.discordant[1] == weights[(first != truth) & (second == truth)].sum()


def test_paired_counts_add_up(rng):
    truth, first, second = models(rng, 300)
    whole = cp.PairedCounts.from_predictions(truth, first, second)
    parts = [cp.PairedCounts.from_predictions(*(part[rows] for part in (truth, first, second)), labels=[0, 1, 2])
             for rows in (slice(0, 100), slice(100, 130), slice(130, 300))]  # fmt: skip
    total = parts[2] + (parts[0] + parts[1])
    assert total.cells.tolist() == whole.cells.tolist()
    assert total.counts.tolist() == whole.counts.tolist()
    assert total.rows == 300
    weighted = cp.PairedCounts.from_predictions([0], [1], [2], labels=[0, 1, 2], sample_weight=[0.5])
    mixed = parts[0] + weighted
    assert mixed.squares.sum() == pytest.approx(100.25)
    with pytest.raises(cp.InputError, match="same classes"):
        _ = whole + cp.PairedCounts.from_predictions([7], [7], [7])


def test_many_classes_are_counted_by_sorting(rng, monkeypatch):
    truth, first, second = models(rng, 300, classes=7)
    table = cp.PairedCounts.from_predictions(truth, first, second)
    monkeypatch.setattr("compromis.evidence.paired.MOST_TABLE", 1)
    by_sorting = cp.PairedCounts.from_predictions(truth, first, second)
    assert table.cells.tolist() == by_sorting.cells.tolist()
    assert table.counts.tolist() == by_sorting.counts.tolist()


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
    """Without rows but one per class, the margins of the draws must have the pseudo-rows of draw_counts."""
    from compromis.uncertainty.paired import _cells_with_prior

    paired = cp.PairedCounts.from_predictions([0, 1, 2], [0, 1, 2], [0, 1, 2])
    cells, shape, _ = _cells_with_prior(paired)
    pseudo = shape - np.array([(cell[0] == cell[1] == cell[2]) for cell in cells])
    for column in (1, 2):
        margin = np.zeros((3, 3))
        np.add.at(margin, (cells[:, 0], cells[:, column]), pseudo)
        np.testing.assert_allclose(margin, [[0.7, 0.35, 0.35], [0.35, 0.7, 0.35], [0.35, 0.35, 0.7]])


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


@pytest.mark.parametrize("values", [3, 50])
def test_friedman_is_scipys(rng, values):
    table = rng.integers(0, values, (9, 4)).astype(float)
    found = cp.uncertainty.compare_over_data_sets({f"m{k}": table[:, k] for k in range(4)})
    expected = stats.friedmanchisquare(*table.T)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)
    f = 8 * expected.statistic / (9 * 3 - expected.statistic)  # Iman and Davenport
    assert found.f_statistic == pytest.approx(f)
    assert found.f_p_value == pytest.approx(stats.f.sf(f, 3, 24))


def test_critical_differences_are_demsars_table():
    """Demsar 2006, table 5 (a): critical values of the two-tailed Nemenyi test at 0.05 for 2 to 10 models."""
    table = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    for models, value in enumerate(table, start=2):
        found = critical_difference(models, 7) / math.sqrt(models * (models + 1) / 42)
        assert found == pytest.approx(value, abs=1e-3)


def test_order_groups_and_pairs():
    losses = {"worst": [0.5, 0.6, 0.7, 0.8] * 5, "best": [0.1, 0.2, 0.3, 0.1] * 5, "near": [0.11, 0.19, 0.31, 0.11] * 5}
    found = cp.uncertainty.compare_over_data_sets(losses)
    assert found.models == ("best", "near", "worst")
    assert found.mean_ranks.tolist() == [1.25, 1.75, 3.0]
    assert found.groups == (("best", "near"),)
    told = {(pair.better, pair.worse): pair for pair in found.pairs}
    assert not told["best", "near"].apart
    assert told["best", "worst"].apart
    assert told["best", "worst"].p_value == pytest.approx(
        stats.studentized_range.sf(1.75 / math.sqrt(12 / (12 * 20)), 3, np.inf)
    )
    interval = told["best", "near"].difference
    difference = np.subtract(losses["best"], losses["near"])
    bounds = stats.ttest_1samp(difference, 0).confidence_interval(0.95)
    assert (interval.low, interval.high) == pytest.approx((bounds.low, bounds.high))
    assert "'best' ranks first over 20 data sets" in found.sentence
    assert "told apart from 'worst'" in found.sentence
    higher = cp.uncertainty.compare_over_data_sets(losses, lower_is_better=False)
    assert higher.models[0] == "worst"
    alike = cp.uncertainty.compare_over_data_sets({"a": [1, 2], "b": [1, 2]})
    assert alike.p_value == 1
    assert "not told apart" in str(alike)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"a": [1, 2]}, "at least two models, got 1"),
        ({"a": [1, 2], "b": [1]}, "'b' has values on 1 data sets, 'a' on 2; compare models on the same data sets"),
        ({"a": [1], "b": [1]}, "at least two of them, got 1"),
        ({"a": [1, 2], "b": [1, math.nan]}, "'b' has no finite value on data set 1"),
    ],
)
def test_bad_data_sets(values, message):
    with pytest.raises(cp.InputError, match=message):
        cp.uncertainty.compare_over_data_sets(values)


def test_the_diagram_draws_what_was_computed(rng):
    pytest.importorskip("matplotlib")
    found = cp.uncertainty.compare_over_data_sets({f"m{k}": rng.normal(k / 2, 1, 10) for k in range(5)})
    display = cp.plots.CriticalDifferenceDisplay(found).plot()
    texts = [text.get_text() for text in display.ax_.texts]
    for name, rank in zip(found.models, found.mean_ranks, strict=True):
        assert any(f"{name} ({rank:.2f})" in text for text in texts)
    assert f"critical difference {found.critical_difference:.2f}" in texts
    assert display.frame()["mean_rank"] == found.mean_ranks.tolist()


def test_drawing_without_matplotlib(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    found = cp.uncertainty.compare_over_data_sets({"a": [1, 2], "b": [2, 1]})
    with pytest.raises(cp.MissingExtra, match=r"compromis\[plot\]"):
        cp.plots.CriticalDifferenceDisplay(found).plot()


@pytest.fixture
def table(tmp_path, rng):
    truth, first, second = models(rng, 60)
    path = tmp_path / "decisions.csv"
    rows = zip(truth, first, second, rng.integers(1, 5, 60), strict=True)
    path.write_text("truth,first,second,weight\n" + "".join(f"{t},{a},{b},{w}\n" for t, a, b, w in rows))
    return path


def columns(path):
    header, *rows = (line.split(",") for line in path.read_text().splitlines())
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def test_the_command_is_the_librarys(table):
    given = ["compare", table, "--truth", "truth", "--prediction", "first", "--prediction", "second"]
    data = columns(table)
    decisions = {name: data[name] for name in ("first", "second")}
    expected = cp.compare_models(data["truth"], decisions, preferences=cp.Preferences.prioritise(["1"]))
    done = run(*given, "--prioritise", "1")
    assert done.exit_code == 0, done.output
    assert done.stdout == str(expected)
    assert json.loads(run(*given, "--prioritise", "1", "--json").stdout) == json.loads(expected.to_json())
    weighted = cp.compare_models(
        data["truth"], decisions, measure="kappa", sample_weight=[int(w) for w in data["weight"]], confidence=0.9
    )
    done = run(*given, "--measure", "kappa", "--weight", "weight", "--confidence", "0.9", "--json")
    assert json.loads(done.stdout) == json.loads(weighted.to_json())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--prediction", "first"], "at least two models, got 1"),
        (["--prediction", "first", "--prediction", "secnd"], "there is no column 'secnd'; did you mean 'second'"),
        (["--prediction", "first", "--prediction", "second", "--confidence", "95"], "got 95; for 95 % write 0.95"),
        (["--prediction", "first", "--prediction", "second", "--measure", "loss"], "needs preferences"),
    ],
)
def test_the_command_fails_in_one_sentence(table, options, message):
    done = run("compare", table, "--truth", "truth", *options)
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_evaluate_takes_confidence_and_groups(table):
    data = columns(table)
    done = run(
        "evaluate",
        table,
        "--truth",
        "truth",
        "--prediction",
        "first",
        "--confidence",
        "0.9",
        "--group",
        "weight",
        "--json",
    )
    expected = cp.evaluate(data["truth"], data["first"], confidence=0.9, groups=data["weight"])
    assert json.loads(done.stdout) == json.loads(expected.to_json())
    assert (
        "=== Intervals (95 % confidence)"
        in run("evaluate", table, "--truth", "truth", "--prediction", "first", "--confidence", "0.95").stdout
    )
