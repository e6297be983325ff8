"""Files become votes, or one sentence that says what is wrong."""

from __future__ import annotations

import time

import numpy as np
import pytest

import compromis as cp
from compromis.frames.reading import read_table
from compromis.studio.loading import preview, propose
from compromis.studio.storage import Source
from tests.studio.conftest import votes_csv
from tests.studio.running import LABELS


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
    sentence = one.failed("/api/models", {**recipe, "columns": {"truth": "klass", "votes": {}}})
    assert "did you mean 'class'" in sentence


def test_a_model_file_with_foreign_types_is_refused(studio, tmp_path):
    pytest.importorskip("skops")
    import zipfile

    import msgspec
    import skops.io

    class Danger:
        pass

    with zipfile.ZipFile(tmp_path / "bad.model", "w") as archive:
        header = {
            "schema": "compromis/model",
            "version": 2,
            "target": "t",
            "hard": False,
            "columns": {"x": None},
            "scikit_learn": "1.0",
        }
        archive.writestr("model.json", msgspec.json.encode(header))
        archive.writestr("decision.json", cp.Decision(("a", "b"), [1, 1]).to_json())
        archive.writestr("classifier.skops", skops.io.dumps(Danger()))
    table = votes_csv(tmp_path / "votes.csv")
    one = studio(tmp_path / "bad.model", table)
    recipe = {"source": "2", "model": "1", "name": "x", "columns": {"truth": "truth", "votes": {}}}
    sentence = one.failed("/api/models", recipe)
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
        (b"truth,p_a\na,0\nb,0\n", "there is no column 'p_b' (did you mean 'p_a'?)"),
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
    said = one.failed("/api/models", recipe)
    assert sentence in said
    assert "upload-" not in said
    assert "\n" not in said
    assert one.ask("/api/session")["models"] == []
    looked = one.client.post(f"/api/sources/{source['id']}/look", json={}).json()
    assert "upload-" not in str(looked)


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
        ["yes", "no", "yes", "no"] * 3,
        votes,
        labels=["no", "yes"],
        preferences=cp.Preferences(metric="f"),
        random_state=0,
    )
    assert found["counts"] == expected.counts.matrix.tolist()
    assert "missing value" in one.failed(
        "/api/models", {"source": "1", "name": "x", "columns": {**columns, "drop_missing": False}}
    )
    assert "at least two classes" in one.failed(
        "/api/models", {"source": "1", "name": "x", "columns": {"truth": "truth", "votes": {"score": "yes"}}}
    )


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


def test_a_look_at_a_wide_table_takes_time_in_proportion(tmp_path):
    """Release 0.1.0 made all cells of the rows, and compared each column with all others: more than 20 s."""
    names = [f"a{k}" for k in range(40_000)]
    head = "@relation r\n" + "".join(f"@attribute {name} numeric\n" for name in names) + "@data\n"
    path = tmp_path / "wide.arff"
    path.write_text(head + "{}\n" * 2_000)
    begin = time.process_time()
    assert preview(Source("1", "wide.arff", path))["columns"] == names
    assert time.process_time() - begin < 4
