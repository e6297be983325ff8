"""What the studio does through its routes: load, tune, compare, save; the library's numbers, and errors in one sentence."""

from __future__ import annotations

import gzip
import threading
import time

import numpy as np
import polars as pl
import pytest

import compromis as cp
from compromis.errors import InputError
from compromis.frames.reading import read_pieces, read_table
from compromis.studio import workspace as tuning
from compromis.studio.jobs import Cancelled, Job, Jobs
from compromis.studio.loading import propose
from tests.studio.conftest import votes_csv

LABELS = ["good", "bad", "ugly"]
COLUMNS = {"truth": "truth", "votes": {f"p_{label}": label for label in LABELS}}
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


def failed(one, path, body):
    """The sentence of a request or job that must fail."""
    content = one.client.post(path, json=body).json()
    while content.get("state") in {"waiting", "running"}:
        content = one.client.get(f"/api/jobs/{content['id']}?seen={content['version']}").json()
    assert content.get("error"), content
    return content["error"]


def test_loading_and_tuning_are_the_librarys(studio, votes):
    one = studio(votes)
    model = one.ask("/api/models", {"source": "1", "name": "mine", "columns": COLUMNS})
    expected = library_patterns(votes)
    assert (model["name"], model["classes"], model["rows"]) == ("mine", sorted(LABELS), 300)
    assert model["support"] == expected.support.tolist()
    found = one.ask(f"/api/models/{model['id']}/tune", {"preferences": FORM})
    search = cp.search_weights(expected, preferences=PREFERENCES)
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
    assert "already" in failed(one, "/api/save", {**asked, "kind": "weights", "name": "weights.json"})
    one.ask("/api/save", {**asked, "weights": [1, 2, 3], "kind": "weights", "name": "weights.json", "replace": True})
    assert cp.Decision.from_json(tmp_path / "saved" / "weights.json").weights.tolist() == [1, 2, 3]
    assert "3 weights are needed" in failed(
        one, "/api/save", {**asked, "weights": [1], "kind": "weights", "name": "b.json"}
    )
    assert "kind" in failed(one, "/api/save", {**asked, "kind": "secrets", "name": "b.json"})
    toml = (tmp_path / "saved" / "preferences.toml").read_text()
    opened = one.ask("/api/preferences", {"toml": toml, "model": model["id"]})
    assert {each["label"]: each["importance"] for each in opened["classes"]} == {"bad": 10, "good": 1, "ugly": 1}
    sentence = failed(one, "/api/preferences", {"toml": "metric = [", "model": model["id"]})
    assert sentence.startswith("this file is not a preferences file")
    assert "did you mean 'good'" in failed(
        one, "/api/preferences", {"toml": '[[class]]\nlabel = "goood"', "model": model["id"]}
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
    assert found["verdict"] == expected.verdict
    assert [(part["low"], part["best"]) for part in found["winners"]] == [
        (pytest.approx(part.low), list(part.best)) for part in expected.intervals
    ]
    assert "no model is loaded" in failed(one, "/api/compare", {"label": "worse", "metric": "f"})


def test_a_fitted_model_and_data(studio, tmp_path):
    pytest.importorskip("skops")
    from click.testing import CliRunner

    from compromis.cli import main

    rng = np.random.default_rng(0)
    y = rng.integers(3, size=240)
    rows = [f"{LABELS[k]},{k + rng.normal():.3f},{'red' if rng.random() < 0.5 else 'blue'}" for k in y]
    for name, part in (("train", rows[:160]), ("test", rows[160:])):
        (tmp_path / f"{name}.csv").write_text("class,size,colour\n" + "\n".join(part) + "\n")
    arguments = [
        "fit",
        "train.csv",
        "--target",
        "class",
        "--trees",
        "10",
        "--prioritise",
        "bad",
        "--output",
        "forest.model",
    ]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    predicted = CliRunner().invoke(main, ["predict", "forest.model", "test.csv"]).stdout.split()[1:]
    expected = cp.Counts.from_predictions([row.split(",")[0] for row in rows[160:]], predicted, labels=sorted(LABELS))
    one = studio(tmp_path / "forest.model", tmp_path / "test.csv")
    assert [source["kind"] for source in one.ask("/api/session")["sources"]] == ["model", "table"]
    recipe = {"source": "2", "model": "1", "name": "forest", "columns": {"truth": "class", "votes": {}}}
    model = one.ask("/api/models", recipe)
    assert one.ask(f"/api/models/{model['id']}/panel")["counts"] == expected.matrix.tolist()
    sentence = failed(one, "/api/models", {**recipe, "columns": {"truth": "klass", "votes": {}}})
    assert "did you mean 'class'" in sentence


def test_a_model_file_with_foreign_types_is_refused(studio, tmp_path):
    pytest.importorskip("skops")
    import zipfile

    import msgspec
    import skops.io

    class Danger:
        pass

    with zipfile.ZipFile(tmp_path / "bad.model", "w") as archive:
        header = {"schema": "compromis/model", "version": 1, "target": "t", "hard": False, "columns": []}
        archive.writestr("model.json", msgspec.json.encode(header))
        archive.writestr("decision.json", cp.Decision(("a", "b"), [1, 1]).to_json())
        archive.writestr("classifier.skops", skops.io.dumps(Danger()))
    table = votes_csv(tmp_path / "votes.csv")
    one = studio(tmp_path / "bad.model", table)
    recipe = {"source": "2", "model": "1", "name": "x", "columns": {"truth": "truth", "votes": {}}}
    sentence = failed(one, "/api/models", recipe)
    assert sentence.startswith("bad.model holds types that are not trusted")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"truth,p_a,p_b\na,1,0\nb,x,1\n", "column 'p_a' of broken.csv must hold numbers, got 'x' in data row 2"),
        (b"truth,p_a,p_b\na,1,0\nb,1\n", "broken.csv has 2 fields in record 3, but 3 columns"),
        (b"truth,p_a,p_b\na,1,0\n,0,1\n", "column 'truth' of broken.csv has a missing value in data row 2"),
        (b"truth,p_a,p_b\na,1,0\nc,0,1\n", "'c'"),
        (b"truth,p_a,p_b\na,-1,0\nb,0,1\n", "-1"),
        (b"truth,p_a,p_b\na,0,0\nb,0,0\n", "none of the 2 rows has a vote"),
        (b"truth,p_a\na,0\nb,0\n", "there is no column 'p_b'; did you mean 'p_a'?"),
        (b'truth,p_a,p_b\na,"1,0\n', "broken.csv cannot be read as a table"),
        (b"\xff\xfe\x00\x01", "broken.csv holds binary data"),
        (b"PAR1xxxx", "broken.csv is named as CSV but holds Parquet"),
        (b"\x1f\x8b\x08\x00broken", "broken.csv cannot be decompressed"),
        (b"truth,p_a,p_a\n", "several columns named 'p_a'"),
        (b"truth,p_a,p_b\n", "no rows"),
    ],
)  # fmt: skip
def test_broken_files_are_one_sentence_with_the_users_name(studio, content, sentence):
    one = studio()
    source = one.upload("broken.csv", content).json()
    recipe = {"source": source["id"], "name": "", "columns": {"truth": "truth", "votes": {"p_a": "a", "p_b": "b"}}}
    said = failed(one, "/api/models", recipe)
    assert sentence in said
    assert "upload-" not in said
    assert "\n" not in said
    assert one.ask("/api/session")["models"] == []
    looked = one.client.get(f"/api/sources/{source['id']}").json()
    assert "upload-" not in looked.get("error", "")


def test_missing_classes_and_one_column_of_probabilities(studio, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("truth,score\n" + "yes,0.9\nno,0.2\n,0.5\nyes,0.4\nno,0.6\n" * 3)
    one = studio(path)
    columns = {"truth": "truth", "votes": {"score": "yes"}, "rest": "no", "drop_missing": True}
    model = one.ask("/api/models", {"source": "1", "name": "one", "columns": columns})
    assert (model["classes"], model["rows"], model["dropped"]) == (["no", "yes"], 12, 3)
    found = one.ask(f"/api/models/{model['id']}/tune", {"preferences": {"metric": "f", "classes": []}})
    votes = [[0.1, 0.9], [0.8, 0.2], [0.6, 0.4], [0.4, 0.6]] * 3
    expected = cp.search_weights(
        ["yes", "no", "yes", "no"] * 3, votes, labels=["no", "yes"], preferences=cp.Preferences(metric="f")
    )
    assert found["counts"] == expected.counts.matrix.tolist()
    assert "missing value" in failed(
        one, "/api/models", {"source": "1", "name": "x", "columns": {**columns, "drop_missing": False}}
    )
    assert "at least two classes" in failed(
        one, "/api/models", {"source": "1", "name": "x", "columns": {"truth": "truth", "votes": {"score": "yes"}}}
    )


def test_pieces_hold_what_the_whole_file_holds(tmp_path, rng):
    values = [None if rng.random() < 0.1 else f"v{rng.integers(5)}" for _ in range(2345)]
    numbers = rng.random(2345).round(3)
    frame = pl.DataFrame({"a,\n": values, 'b"': numbers, "c": ["NA"] * 2345})
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.tsv").write_text("x\ty\n" + "1\t\n" * 2345)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    (tmp_path / "t.arff").write_text("@relation r\n@attribute c string\n@data\n" + "01\n" * 2345)
    for name in ("t.csv", "t.csv.gz", "t.tsv", "t.parquet", "t.arff"):
        whole = read_table(str(tmp_path / name), lambda names: names[:2])
        pieces = list(read_pieces(str(tmp_path / name), lambda names: names[:2], rows=1000))
        for column in whole.columns:
            assert [value for table, _ in pieces for value in table.columns[column]] == whole.columns[column]
        shares = [share for _, share in pieces]
        assert shares == sorted(shares)
        assert shares[-1] == 1.0


def test_blank_lines_and_ragged_rows_in_any_piece(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n\n" * 5 + "1,2,3\n")
    with pytest.raises(InputError, match="3 fields in record 12, but 2 columns"):
        list(read_pieces(str(path), lambda names: names, rows=3))


def test_proposals(tmp_path):
    def proposal(header, *rows):
        path = tmp_path / "t.csv"
        path.write_text("\n".join([header, *rows]))
        return propose(read_table(str(path), lambda names: names))

    found = proposal("id,m1_a,m1_b,m2_a,m2_b,class", "x1,1,0,3,4,a", "x2,0,1,5,6,b")
    assert found["truth"] == "class"
    assert [(each["prefix"], each["votes"]) for each in found["sets"]] == [
        ("m1_", {"m1_a": "a", "m1_b": "b"}), ("m2_", {"m2_a": "a", "m2_b": "b"}),
    ]  # fmt: skip
    found = proposal("a,b,who", "1,0,a", "0,1,b")
    assert (found["truth"], found["sets"][0]["prefix"]) == ("who", "")
    found = proposal("y,p_0,p_1", "0,0.5,0.5", "1,0.2,0.8")
    assert (found["truth"], found["sets"][0]["votes"]) == ("y", {"p_0": "0", "p_1": "1"})
    found = proposal("truth,score", "yes,0.3", "no,0.2")
    assert (found["truth"], found["numeric"], found["sets"]) == ("truth", ["score"], [])


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
    full = cp.search_weights(patterns, preferences=preferences)
    assert found.loss <= full.loss
    assert offers[0]["loss"] < cp.evaluate(patterns.counts(np.ones(4)), preferences=preferences).summary.loss


def test_cancel_stops_the_work():
    jobs, steps = Jobs(), []

    def work(job):
        for step in range(100_000):
            job.report(step / 100_000, f"step {step}")
            steps.append(step)
            time.sleep(0.001)

    job = jobs.start("long", work)
    while not steps:
        time.sleep(0.001)
    job.cancel()
    deadline = time.monotonic() + 5
    while not job.finished and time.monotonic() < deadline:
        time.sleep(0.001)
    assert job.state == "cancelled"
    done = len(steps)
    time.sleep(0.05)
    assert len(steps) == done
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("studio-job")]


def test_the_newest_of_a_kind_counts_and_waiting_work_can_be_cancelled():
    jobs, go = Jobs(), threading.Event()

    def hold(job):
        while not go.is_set():
            job.report(0.5, "")
            time.sleep(0.001)
        return "held"

    first, second = jobs.start("a", hold, key="tune"), jobs.start("b", hold, key="tune")
    third, fourth = jobs.start("c", hold), jobs.start("d", hold)
    light = jobs.start("e", lambda _: "at once", light=True)
    deadline = time.monotonic() + 5
    while not (first.finished and light.finished) and time.monotonic() < deadline:
        time.sleep(0.001)
    assert (first.state, light.result) == ("cancelled", "at once")
    waiting = next(job for job in (second, third, fourth) if job.state == "waiting")
    waiting.cancel()
    while not waiting.finished and time.monotonic() < deadline:
        time.sleep(0.001)
    assert waiting.state == "cancelled"
    go.set()
    jobs.close()
    assert sorted(job.state for job in (second, third, fourth)) == ["cancelled", "done", "done"]


def test_failures_are_sentences(capsys):
    jobs = Jobs()

    def failing(error):
        def work(_):
            raise error

        job = jobs.start("x", work)
        while not job.finished:
            time.sleep(0.001)
        return job.state, job.error

    assert failing(InputError("give more")) == ("failed", "give more")
    assert failing(FileNotFoundError(2, "No such file", "x.csv")) == ("failed", "x.csv: No such file")
    assert "memory" in failing(MemoryError())[1]
    assert "KeyError" in failing(KeyError("k"))[1]
    job = jobs.start("y", lambda _: None)
    job.cancel()
    with pytest.raises(Cancelled):
        job.report(0.1, "")


def test_requests_that_cannot_be_read(studio, votes):
    one = studio(votes)
    for path, body in [
        ("/api/models", b"{"), ("/api/models", b"[]"), ("/api/models", b'{"source": 1}'), ("/api/models", b'{"source": "1", "x": 1}'),
        ("/api/compare", b'{"label": {}}'), ("/api/save", b"null"), ("/api/jobs/1/cancel", b'{"x": 1}'),
    ]:  # fmt: skip
        answer = one.client.post(path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 400
        assert answer.json()["error"].startswith("the request cannot be read")
    assert one.client.get("/api/jobs/99").status_code == 400
    assert one.client.get("/api/models/99/panel").status_code == 400
