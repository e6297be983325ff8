"""compromis compare is the library's comparison; mistakes are one sentence."""

from __future__ import annotations

import json

import numpy as np
import pytest

import compromis as cp
from tests.command_line import run


def models(rng, rows, rights=(0.8, 0.7), classes=3):
    truth = rng.integers(0, classes, rows)
    predicted = [np.where(rng.random(rows) < right, truth, rng.integers(0, classes, rows)) for right in rights]
    return truth, *predicted


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
        (["--prediction", "first", "--prediction", "secnd"], "there is no column 'secnd' (did you mean 'second'"),
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
        in run("evaluate", table, "--truth", "truth", "--prediction", "first", "--confidence", "0.95", "--full").stdout
    )
