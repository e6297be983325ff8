"""Load, tune, compare and save through the routes: the numbers are those of the library."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import compromis as cp
from compromis.studio import workspace as tuning
from compromis.studio.jobs import Job
from tests.studio.conftest import votes_csv
from tests.studio.running import COLUMNS, LABELS

FORM = {
    "metric": "f",
    "classes": [
        {
            "label": "bad",
            "importance": 10.0,
            "precision_at_full_recall": 0.2,
            "recall_at_full_precision": 0.9,
            "min_precision": 0.25,
        },
        {"label": "good"},
        {"label": "ugly", "recall_weight": 0.3},
    ],
}
PREFERENCES = cp.Preferences(
    {
        "bad": cp.Preference(10, 0.2, 0.9, min_precision=0.25),
        "good": cp.Preference(),
        "ugly": cp.Preference(recall_weight=0.3),
    },
    metric="f",
)


def library_patterns(path):
    frame = pl.read_csv(path)
    classes = sorted(LABELS)
    votes = frame.select([f"p_{label}" for label in classes]).to_numpy().astype(float)
    return cp.Votes.from_proba(frame["truth"].to_list(), votes, labels=classes)


def test_loading_and_tuning_are_the_librarys(studio, votes):
    one = studio(votes)
    model = one.ask("/api/models", {"source": "1", "name": "mine", "columns": COLUMNS})
    expected = library_patterns(votes)
    assert (model["name"], model["classes"], model["rows"]) == ("mine", sorted(LABELS), 300)
    assert model["support"] == expected.support.tolist()
    found = one.ask(f"/api/models/{model['id']}/tune", {"preferences": FORM})
    search = cp.search_weights(expected, preferences=PREFERENCES, random_state=0)
    assert found["weights"] == search.weights.tolist()
    assert found["counts"] == search.counts.matrix.tolist()
    assert found["verdict"] == str(search.verdict)
    panel = one.ask(f"/api/models/{model['id']}/panel")
    assert panel["weights"] == found["weights"]
    assert panel["counts"] == found["counts"]
    assert panel["preferences"]["metric"] == "f"
    assert [each["importance"] for each in panel["preferences"]["classes"]] == [10.0, 1.0, 1.0]
    assert panel["preferences"]["classes"][2]["recall_weight"] == 0.3


def test_saved_files_are_read_by_the_library(studio, votes, tmp_path):
    one = studio(votes)
    model = one.ask("/api/models", {"source": "1", "name": "mine", "columns": COLUMNS})
    found = one.ask(f"/api/models/{model['id']}/tune", {"preferences": FORM})
    asked = {"model": model["id"], "preferences": FORM, "weights": found["weights"]}
    for kind, name in (
        ("preferences", "preferences.toml"),
        ("weights", "weights.json"),
        ("report", "überblick 1.html"),
    ):
        assert one.ask("/api/save", {**asked, "kind": kind, "name": name})["path"] == str(tmp_path / "saved" / name)
    assert cp.Preferences.from_toml(tmp_path / "saved" / "preferences.toml") == PREFERENCES
    decision = cp.Decision.from_json(tmp_path / "saved" / "weights.json")
    assert decision.weights.tolist() == found["weights"]
    assert "mine" in (tmp_path / "saved" / "überblick 1.html").read_text()
    assert "already" in one.failed("/api/save", {**asked, "kind": "weights", "name": "weights.json"})
    one.ask("/api/save", {**asked, "weights": [1, 2, 3], "kind": "weights", "name": "weights.json", "replace": True})
    assert cp.Decision.from_json(tmp_path / "saved" / "weights.json").weights.tolist() == [1, 2, 3]
    assert "there are 3 classes; give one weight per class" in one.failed(
        "/api/save", {**asked, "weights": [1], "kind": "weights", "name": "b.json"}
    )
    assert "kind" in one.failed("/api/save", {**asked, "kind": "secrets", "name": "b.json"})
    toml = (tmp_path / "saved" / "preferences.toml").read_text()
    opened = one.ask("/api/preferences", {"toml": toml, "model": model["id"]})
    assert {each["label"]: each["importance"] for each in opened["classes"]} == {"bad": 10, "good": 1, "ugly": 1}
    sentence = one.failed("/api/preferences", {"toml": "metric = [", "model": model["id"]})
    assert sentence.startswith("this file is not a preferences file")
    assert "did you mean 'good'" in one.failed(
        "/api/preferences", {"toml": '[[class]]\nlabel = "goood"', "model": model["id"]}
    )


def test_comparing_is_the_librarys(studio, tmp_path):
    paths = [votes_csv(tmp_path / f"{seed}.csv", seed=seed) for seed in (1, 2)]
    for path in paths:  # rows of more and of fewer members: what counts is the share of votes
        times = pl.int_range(pl.len()) % 3 + 1
        pl.read_csv(path).with_columns(pl.col("^p_.*$") * times).write_csv(path)
    one = studio(*paths)
    for number, name in ((1, "first"), (2, "second")):
        one.ask("/api/models", {"source": str(number), "name": name, "columns": COLUMNS})
    found = one.ask("/api/compare", {"label": "bad", "metric": "f"})
    points = {}
    for name, path in zip(("first", "second"), paths, strict=True):
        frame = pl.read_csv(path)
        score = (frame["p_bad"] / frame.select("^p_.*$").sum_horizontal()).to_numpy()
        points[name] = cp.OperatingPoints.from_predictions(frame["truth"].to_list(), score, pos_label="bad")
    expected = cp.compare_curves(points, metric="f")
    assert [curve["name"] for curve in found["curves"]] == ["first", "second"]
    for curve in found["curves"]:
        assert curve["area"] == pytest.approx(expected.areas[curve["name"]])
        np.testing.assert_allclose(curve["value"], expected.curves[curve["name"]].value(found["recall_weight"]))
    assert found["verdict"] == str(expected.verdict)
    assert [(part["low"], part["best"]) for part in found["winners"]] == [
        (pytest.approx(part.low), list(part.best)) for part in expected.intervals
    ]
    assert "no model is loaded" in one.failed("/api/compare", {"label": "worse", "metric": "f"})


def test_the_first_answer_to_much_evidence_comes_from_a_sample_and_is_counted_on_all(monkeypatch, rng):
    y = rng.choice(4, size=3000, p=[0.7, 0.2, 0.09, 0.01])
    votes = rng.dirichlet(np.ones(4), size=3000)
    votes[np.arange(3000), y] += 0.4
    patterns = cp.Votes.from_proba(y, votes, merge=False)
    some = tuning.sampled(patterns, 400)
    assert len(some) <= 400
    np.testing.assert_allclose(some.support, patterns.support)
    assert {tuple(row) for row in some.votes} <= {tuple(row) for row in patterns.votes}
    preferences = cp.Preferences({3: cp.Preference(10, 0.2, 0.9)}, metric="f")
    offers = []

    class Seen(Job):
        def offer(self, result):
            offers.append(result)
            super().offer(result)

    monkeypatch.setattr(tuning, "SAMPLE", 400)
    found = tuning.tune(patterns, preferences, cp.Decision(range(4), np.ones(4)), Seen("1", "x"))
    assert len(offers) == 1
    assert offers[0]["counts"] == patterns.counts(offers[0]["weights"]).matrix.tolist()
    assert offers[0]["loss"] == pytest.approx(
        cp.evaluate(patterns.counts(offers[0]["weights"]), preferences=preferences).summary.loss
    )
    full = cp.search_weights(patterns, preferences=preferences, random_state=0)
    assert found.loss <= full.loss
    assert offers[0]["loss"] < cp.evaluate(patterns.counts(np.ones(4)), preferences=preferences).summary.loss


def test_a_review_stays_as_long_as_its_weights():
    planned = cp.Decision(("a", "b"), [1.0, 2.0], pos_label="b", review=1.5)
    assert tuning.with_weights(planned, [1.0, 2.0]) is planned
    assert tuning.with_weights(planned, [1.0, 3.0]).review is None
