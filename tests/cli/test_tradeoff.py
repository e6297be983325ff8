"""compromis tradeoff: intervals, comparison, areas and pictures."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn import metrics

import compromis as cp
from tests import command_line


@pytest.fixture
def given(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    truth = np.where(rng.random(200) < 0.3, "ill", "well")
    a, b = (np.round(k * (truth == "ill") + rng.normal(size=200), 2) for k in (1.5, 0.5))
    rows = "".join(f"{t},{x},{z},{1 + i % 2}\n" for i, (t, x, z) in enumerate(zip(truth, a, b, strict=True)))
    (tmp_path / "scores.csv").write_text("truth,a,b,w\n" + rows)
    return truth, {"a": a, "b": b}


def run(*arguments):
    return command_line.run("tradeoff", *arguments)


GIVEN = ["scores.csv", "--truth", "truth", "--pos-label", "ill", "--score", "a"]


@pytest.mark.parametrize("metric", ["kulczynski", "f"])
def test_intervals_and_areas_against_brute_force(given, metric):
    truth, scores = given
    done = run(*GIVEN, "--score", "b", "--metric", metric, "--json")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert (document["positives"], document["negatives"]) == ((truth == "ill").sum(), (truth == "well").sum())
    grid = np.linspace(0.0005, 0.9995, 1000)
    for model in document["models"]:
        score = scores[model["name"]]
        cuts = np.unique(score)
        p = np.array(
            [metrics.precision_score(truth, np.where(score >= c, "ill", "well"), pos_label="ill") for c in cuts]
        )
        r = np.array([metrics.recall_score(truth, np.where(score >= c, "ill", "well"), pos_label="ill") for c in cuts])
        cuts, p, r = cuts[r > 0], p[r > 0], r[r > 0]
        values = (1 - grid) * p[:, None] + grid * r[:, None]
        if metric == "f":
            values = 1 / (grid / r[:, None] + (1 - grid) / p[:, None])
        assert model["area"] == pytest.approx(values.max(axis=0).mean(), abs=1e-5)
        for part in model["intervals"]:
            inside = (grid > part["low"] + 1e-6) & (grid < part["high"] - 1e-6)
            place = int(np.flatnonzero(cuts == part["threshold"])[0])
            assert np.allclose(values[place, inside], values.max(axis=0)[inside])
    assert document["best"][0]["low"] == 0
    assert document["best"][-1]["high"] == 1


def test_text_has_intervals_comparison_and_areas(given):
    truth, scores = given
    text = run(*GIVEN, "--score", "b", "--metric", "f").stdout
    points = {
        name: cp.OperatingPoints.from_predictions(truth, score, pos_label="ill") for name, score in scores.items()
    }
    comparison = cp.compare_curves(points, metric="f")
    told, first = str(comparison).rstrip("\n"), text.index("'b': area")
    assert told in text[:first]  # before the tables of single models
    for name, curve in comparison.curves.items():
        assert f"'{name}': area {curve.area():.4f}, " in text
        assert "\n".join(str(curve).splitlines()[4:]) in text


def best_precision(truth, score, least_recall):
    precision, recall, _ = metrics.precision_recall_curve(truth, score, pos_label="ill")
    return precision[recall >= least_recall].max()


def test_minima(given):
    truth, scores = given
    document = json.loads(run(*GIVEN, "--min-precision", 0.5, "--min-recall", 0.4, "--json").stdout)
    parts = document["models"][0]["intervals"]
    assert all(part["precision"] >= 0.5 and part["recall"] >= 0.4 for part in parts)
    points = cp.OperatingPoints.from_predictions(truth, scores["a"], pos_label="ill")
    curve = cp.TradeoffCurve(points)
    for part in parts:
        middle = (part["low"] + part["high"]) / 2
        best = curve.best(middle, min_precision=0.5, min_recall=0.4)
        assert best.threshold == part["threshold"]
    poor, good = (best_precision(truth, scores[name], least_recall=0.5) for name in "ba")
    assert poor < good - 0.02
    between = round((poor + good) / 2, 2)
    done = run(*GIVEN, "--score", "b", "--min-precision", between, "--min-recall", 0.5)
    assert done.exit_code == 0
    assert f"'b' is left out: no threshold has precision >= {between:g} and recall >= 0.5" in done.stdout
    done = run(*GIVEN, "--min-precision", 1, "--min-recall", 1)
    assert done.exit_code == 2
    assert "a: no threshold has precision >= 1 and recall >= 1" in done.stderr


def test_weights_count(given):
    truth, _ = given
    weight = 1 + np.arange(200) % 2
    document = json.loads(run(*GIVEN, "--weight", "w", "--json").stdout)
    assert document["positives"] == weight[truth == "ill"].sum()


@pytest.mark.parametrize(("name", "start"), [("out.svg", b"<?xml"), ("out.png", b"\x89PNG"), ("out.pdf", b"%PDF")])
def test_plot(given, tmp_path, name, start):
    pytest.importorskip("matplotlib").use("Agg")
    done = run(*GIVEN, "--score", "b", "--plot", name)
    assert done.exit_code == 0, done.output
    assert (tmp_path / name).read_bytes().startswith(start)
    assert f"drawn into {name}" in done.stderr
    first = (tmp_path / name).read_bytes()
    run(*GIVEN, "--score", "b", "--plot", name)
    assert (tmp_path / name).read_bytes() == first


def test_one_class(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.csv").write_text("t,s\nwell,1\nwell,2\n")
    done = run("one.csv", "--truth", "t", "--pos-label", "ill", "--score", "s")
    assert done.exit_code == 2
    assert "there are no rows of the positive class 'ill'" in done.stderr
