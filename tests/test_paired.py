"""Comparing models: paired counts, McNemar, differences, folds, data sets, the command line."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import compromis as cp
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


def test_the_diagram_draws_what_was_computed(rng):
    pytest.importorskip("matplotlib")
    found = cp.uncertainty.compare_over_data_sets({f"m{k}": rng.normal(k / 2, 1, 10) for k in range(5)})
    display = cp.plots.CriticalDifferenceDisplay(found).plot()
    texts = [text.get_text() for text in display.ax_.texts]
    for name, rank in zip(found.models, found.mean_ranks, strict=True):
        assert any(f"{name} ({rank:.2f})" in text for text in texts)
    assert f"critical difference {found.critical_difference:.2f}" in texts
    assert display.columns()["mean_rank"] == found.mean_ranks.tolist()


def test_drawing_without_matplotlib(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
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
