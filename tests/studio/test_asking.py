"""Asking by choices, fitting a model, and opening what was saved: the studio's answers are those of the library."""

from __future__ import annotations

import numpy as np
import pytest

import compromis as cp
from tests.studio.running import COLUMNS


@pytest.fixture
def loaded(studio, votes):
    """A studio with one model loaded."""
    one = studio(votes)
    one.ask("/api/models", {"source": "1", "name": "one", "columns": COLUMNS})
    return one


def asked(one, answers, classes=("bad",)):
    return one.ask("/api/models/1/interview", {"classes": list(classes), "answers": list(answers)})


def test_questions_are_those_of_the_library(loaded):
    classes = "bad", "ugly"  # so that importances are asked for too
    interview = cp.tradeoffs.Interview(loaded.workspace.model("1").votes, classes)
    answers = []
    while interview.question is not None:
        now = asked(loaded, answers, classes)
        question = interview.question
        assert [[side["found"] for side in sides] for sides in now["question"]["sides"]] == [
            [one.found for one in sides] for sides in (question.first, question.second)
        ]
        assert (now["question"]["number"], now["most"]) == (question.number, interview.most)
        answers.append("second" if len(answers) % 3 else "first")
        interview = interview.answer(answers[-1])
    now = asked(loaded, answers, classes)
    assert now["question"] is None
    assert now["known"][-1]["topic"] == "importance"
    assert [one["value"] for one in now["known"]] == [one.value for one in interview.known]
    told = {row.pop("label"): row for row in now["preferences"]["classes"]}
    assert cp.Preference(**told["bad"]) == interview.preferences().of("bad")
    back = asked(loaded, answers[:-1], classes)
    assert back["question"]["number"] == len(answers)


def test_what_cannot_be_asked_is_one_sentence(loaded):
    answer = loaded.failed("/api/models/1/interview", {"classes": ["baad"]})
    assert "there are no rows of the class 'baad'; did you mean 'bad'" in answer
    assert "an answer is one of" in loaded.failed("/api/models/1/interview", {"classes": ["bad"], "answers": ["left"]})


def test_a_table_without_votes_gets_a_model(studio, tmp_path):
    generator = np.random.default_rng(1)
    y = np.where(generator.random(150) < 0.3, "bad", "good")
    x = generator.normal(size=150) + (y == "bad") * 2
    colour = np.where((y == "bad") ^ (generator.random(150) < 0.2), "red", "blue")
    path = tmp_path / "raw.csv"
    rows = [f"{7 + i},{a:.4f},{b},{c},K{i:04d}" for i, (a, b, c) in enumerate(zip(x, colour, y, strict=True))]
    path.write_text("row,x,colour,state,customer\n" + "\n".join(rows))
    one = studio(path)
    looked = one.ask("/api/sources/1/look", {"truth": "state"})
    assert (looked["fits"], looked["sets"], looked["truth"]) == (True, [], "state")
    assert looked["naming"] == ["row", "customer"]
    columns = {"truth": "state", "votes": {}, "ignore": ["row", "customer"]}
    table = cp.frames.read_table(str(path), lambda names: ["x", "colour", "state"])
    for kind in ("pragma-forest", "logistic", "c45"):
        recipe = {"source": "1", "name": kind, "fit": kind, "columns": columns}
        model = one.ask("/api/models", recipe)
        assert (model["name"], model["rows"], model["classes"]) == (kind, 150, ["bad", "good"])
        votes = cp.estimators.table_votes({"state": table["state"].tolist(), **table.texts()}, "state", model=kind)
        assert (
            one.workspace.model(model["id"]).votes.counts([1, 1]).matrix.tolist()
            == votes.counts([1, 1]).matrix.tolist()
        )
        assert votes.counts([1, 1]).matrix.trace() > 120
    assert "there is no model 'c5' (did you mean 'c45'?)" in one.failed("/api/models", {**recipe, "fit": "c5"})
    nothing = {**recipe, "columns": columns | {"ignore": ["row", "x", "colour", "customer"]}}
    assert "no column besides 'state' to learn from" in one.failed("/api/models", nothing)
    numbers = {"source": "1", "name": "", "fit": "c45", "columns": {"truth": "x", "votes": {}}}
    assert "at least two classes of two rows" in one.failed("/api/models", numbers)


def saved(one, kind, name):
    model = one.workspace.model("1")
    body = {"model": "1", "preferences": {}, "weights": model.decision.weights.tolist(), "kind": kind, "name": name}
    return one.ask("/api/save", body)


def test_what_was_saved_can_be_opened_with_its_link_alone(loaded, tmp_path):
    report = saved(loaded, "report", "my report.html")
    page = loaded.client.get(report["link"])
    assert page.status_code == 200
    assert page.text == (tmp_path / "saved" / "my report.html").read_text()
    policy = page.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in policy
    text = loaded.client.get(saved(loaded, "preferences", "p.toml")["link"])
    assert text.headers["content-type"] == "text/plain; charset=utf-8"
    assert "sandbox" not in text.headers["content-security-policy"]
    for other in ("/saved/1/report.html", "/saved/../report.html", report["link"].replace("/saved/", "/saved/x")):
        assert loaded.client.get(other).status_code in (400, 404)
    (tmp_path / "saved" / "my report.html").unlink()
    (tmp_path / "saved" / "my report.html").symlink_to("/etc/hostname")
    assert loaded.client.get(report["link"]).status_code == 400


def test_a_preview_that_takes_long_is_cancelled_at_once(loaded, monkeypatch):
    import threading

    from compromis.studio import app

    go_on = threading.Event()
    monkeypatch.setattr(app, "preview", lambda *_: go_on.wait(20))
    job = loaded.client.post("/api/sources/1/look", json={}).json()
    assert job["state"] == "running"
    loaded.client.post(f"/api/jobs/{job['id']}/cancel", json={})
    assert loaded.client.get(f"/api/jobs/{job['id']}").json()["state"] == "cancelled"
    go_on.set()
    assert loaded.client.get(f"/api/jobs/{job['id']}").json()["state"] == "cancelled"
