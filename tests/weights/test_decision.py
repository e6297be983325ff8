"""Decisions carried elsewhere: numpy, JSON and SQL decide alike, and nothing gets through the quotes."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import compromis as cp
from compromis.deployment.sql import DIALECTS
from compromis.weights import predictor
from tests.hostile_votes import WEIGHTS, hostile_votes, plainly

LABELS = ("plain", "it's", 'say "x"', "two\nlines; DROP TABLE votes --", "back\\slash'")
COLUMNS = ["p", 'q"uote', "tick`", "semi;colon -- x", "new\nline"]
ROWS = 100_000


@pytest.fixture(scope="module")
def votes():
    return hostile_votes(ROWS)


@pytest.fixture(scope="module", params=[0.0, 0.025], ids=["bare", "smoothed"])
def predicted(request, votes):
    decision = cp.Decision(LABELS, WEIGHTS, smoothing=request.param)
    return decision, np.array(LABELS)[plainly(votes, WEIGHTS, request.param)]


def test_the_cases_are_hostile(votes):
    scores = votes * WEIGHTS
    largest = scores.max(axis=1, keepdims=True)
    assert ((scores == largest).sum(axis=1) > 1).sum() > 1000
    assert ((scores >= largest * (1 - 1e-15)).sum(axis=1) > 1).sum() > 10_000
    assert (votes.sum(axis=1) == 0).sum() > 1000


@pytest.mark.parametrize("kind", [np.float64, np.float32, "sparse", "frame"])
def test_numpy(predicted, votes, kind):
    decision, expected = predicted
    if kind == np.float32:
        votes = votes.astype(np.float32)
        expected = np.array(LABELS)[plainly(votes, WEIGHTS, decision.smoothing)]
    if kind == "sparse":
        votes = scipy.sparse.csr_array(votes)
    if kind == "frame":
        polars = pytest.importorskip("polars", reason="polars is not installed")
        votes = polars.DataFrame({label: votes[:, k] for k, label in enumerate(LABELS)})[:, ::-1]
    assert (decision.decide(votes) == expected).all()


def test_patterns_decide_alike(predicted, votes):
    decision, expected = predicted
    positions = cp.Votes.from_proba([0] * ROWS, votes, labels=list(range(5)), merge=False).decide(
        WEIGHTS, smoothing=decision.smoothing
    )
    assert (np.array(LABELS)[positions] == expected).all()


def test_json_predictor(predicted, votes, tmp_path):
    decision, expected = predicted
    decision.to_json(tmp_path / "d.json")
    assert (predictor.decide(predictor.load(tmp_path / "d.json"), votes) == expected).all()
    assert (cp.Decision.from_json(tmp_path / "d.json").decide(votes) == expected).all()


def test_the_predictor_needs_numpy_alone(tmp_path):
    cp.Decision(("a", "b"), [1.0, 3.0]).to_json(tmp_path / "d.json")
    Path("predictor.py").write_text(Path(predictor.__file__).read_text("utf-8"), "utf-8")
    program = (
        "import sys; sys.path.insert(0, '.'); import predictor;"
        "print(predictor.decide(predictor.load('d.json'), [[.7, .3], [.8, .2], [.75, .25]]).tolist());"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'compromis', 'numba', 'msgspec', 'scipy', 'sklearn'}))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["['b', 'a', 'a']", "[]"]


def test_reading_and_applying_a_decision_compiles_nothing():
    cp.Decision(("a", "b"), [1.0, 3.0]).to_json("d.json")
    program = (
        "import sys, compromis as cp; cp.Decision.from_json('d.json').decide([[1, 2]]); print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def run_sqlite(votes, expression):
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute(f"CREATE TABLE votes (row INTEGER, {', '.join(quoted(name) + ' REAL' for name in COLUMNS)})")
        rows = ([row, *values] for row, values in enumerate(votes.tolist()))
        base.executemany(f"INSERT INTO votes VALUES ({', '.join('?' * 6)})", rows)
        return [label for (label,) in base.execute(f"SELECT {expression} FROM votes ORDER BY row")]


def run_duckdb(votes, expression):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.DataFrame({name: votes[:, k] for k, name in enumerate(COLUMNS)}).with_row_index("row")
    base = duckdb.connect()
    base.register("votes", frame.to_arrow())
    return [label for (label,) in base.execute(f"SELECT {expression} FROM votes ORDER BY row").fetchall()]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


ENGINES = {"sqlite": run_sqlite, "duckdb": run_duckdb}


@pytest.mark.parametrize("dialect", ENGINES)
def test_sql(predicted, votes, dialect):
    decision, expected = predicted
    assert ENGINES[dialect](votes, decision.to_sql(COLUMNS, dialect)) == expected.tolist()
    assert ENGINES[dialect](votes, decision.to_sql(COLUMNS, dialect, checked=False)) == expected.tolist()


@pytest.mark.parametrize("dialect", ENGINES)
def test_sql_gives_null_for_what_is_no_vote(dialect):
    wrong = [np.nan, np.inf, -0.1]
    votes = np.array([[0.2] * 5] * 15 + [[1, 0, 0, 0, 0.0]])
    for row in range(15):
        votes[row, row // 3] = wrong[row % 3]
    decision = cp.Decision(LABELS, WEIGHTS)
    assert ENGINES[dialect](votes, decision.to_sql(COLUMNS, dialect)) == [None] * 15 + ["plain"]


@pytest.mark.parametrize("classes", [(True, False), (-3, 2**62), (0.1 + 0.2, -1.5), ("", "\U0001f600 é")])
@pytest.mark.parametrize("dialect", ENGINES)
def test_sql_gives_labels_back_as_they_are(dialect, classes):
    expression = cp.Decision(classes, [1.0, 1.0]).to_sql(COLUMNS[:2], dialect)
    found = ENGINES[dialect](np.array([[1, 0, 0, 0, 0.0], [0, 1, 0, 0, 0]]), expression)
    assert found == list(classes)
    if dialect == "duckdb":
        assert [type(label) for label in found] == [type(label) for label in classes]


def test_whole_and_written_votes_are_weighed_as_floats():
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute("CREATE TABLE votes (a INTEGER, b TEXT)")
        base.executemany("INSERT INTO votes VALUES (?, ?)", [(3, "1"), (2, "1"), (7, "2.5")])
        expression = cp.Decision(("a", "b"), [1.0, 2.9], smoothing=0.05).to_sql(dialect="sqlite")
        found = [label for (label,) in base.execute(f"SELECT {expression} FROM votes ORDER BY rowid")]
        assert found == ["a", "b", "b"]


def test_sqlite_weights_are_exact():
    # 2.718281828 ** 7.7...: SQLite reads about one decimal in ten thousand wrong by one bit
    rng = np.random.default_rng(0)
    wrong = 0
    with closing(sqlite3.connect(":memory:")) as base:
        for number in np.exp(rng.uniform(-20, 20, 20_000)).tolist():
            assert base.execute(f"SELECT {DIALECTS['sqlite'].number(number)}").fetchone() == (number,)
            wrong += base.execute(f"SELECT {number!r}").fetchone() != (number,)
    if sqlite3.sqlite_version_info < (3, 42):
        assert wrong > 0  # the reason for the quotients


def test_a_missing_column_is_an_error_in_sqlite():
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute("CREATE TABLE votes (a REAL)")
        with pytest.raises(sqlite3.OperationalError, match="no such column"):
            base.execute(f"SELECT {cp.Decision(('a', 'b'), [1, 1]).to_sql(dialect='sqlite')} FROM votes")


def test_spark_text_is_bytes_where_quotes_could_be_read_in_two_ways():
    text = DIALECTS["spark"].text
    assert text("low risk") == "'low risk'"
    for label in ("it's", "back\\", 'a"b', "new\nline", "a`b", "$x{y}"):
        quoted_bytes = text(label)
        assert quoted_bytes.startswith("CAST(X'")
        assert bytes.fromhex(quoted_bytes.split("'")[1]).decode() == label


@pytest.mark.parametrize(
    ("classes", "columns", "dialect", "said"),
    [
        (("a", "b"), ["x"], "ansi", "there are 2 classes, so 2 columns are needed, got 'x'"),
        (("a", "b"), "x", "ansi", "2 columns are needed"),
        (("a", "b"), {"a": "x"}, "ansi", "'b' has none"),
        (("a", "b"), {"a": "x", "b": "y", "c": "z"}, "ansi", "'c' is no class"),
        (("a", "b"), ["x", ""], "ansi", "at least one character"),
        (("a", "b"), ["x", 3], "ansi", "at least one character"),
        (("a", "b"), ["x", "y\0"], "ansi", "null character"),
        (("a", "b\0"), ["x", "y"], "postgres", "null character"),
        (("a", "\ud800"), ["x", "y"], "duckdb", "not valid Unicode"),
        (("a", "b"), ["x", "y"], "postgresql", "did you mean 'postgres'"),
        ((1, 2**70), ["x", "y"], "ansi", "64 bits"),
        ((1.0, float("inf")), ["x", "y"], "ansi", "text, numbers or true/false"),
        ((("a",), ("b",)), ["x", "y"], "ansi", "text, numbers or true/false"),
    ],
)
def test_what_sql_cannot_say(classes, columns, dialect, said):
    with pytest.raises(cp.InputError, match=said):
        cp.Decision(classes, [1.0, 1.0]).to_sql(columns, dialect)


@pytest.mark.parametrize(
    ("votes", "said"),
    [
        ([[0.5, np.nan]], "votes must be finite, got nan in row 0, column 1"),
        ([[0.5, 0.5], [np.inf, 0.5]], "got inf in row 1, column 0"),
        ([[0.5, -1.0]], "votes must not be negative"),
        ([[0.5, 0.5, 0.5]], "votes has 3 columns, but there are 2 classes"),
    ],
)
def test_votes_that_are_none(votes, said):
    with pytest.raises(cp.InputError, match=said):
        cp.Decision(("a", "b"), [1.0, 2.0]).decide(votes)
    document = json.loads(cp.Decision(("a", "b"), [1.0, 2.0]).to_json())
    with pytest.raises(ValueError, match="votes must"):
        predictor.decide(document, votes)


def test_a_newer_file():
    Path("d.json").write_text(json.dumps(json.loads(cp.Decision(("a", "b"), [1.0, 2.0]).to_json()) | {"version": 2}))
    with pytest.raises(cp.InputError, match="version 2, this compromis reads up to 1; update compromis"):
        cp.Decision.from_json("d.json")
    with pytest.raises(ValueError, match="update this file"):
        predictor.load("d.json")


def test_a_search_writes_its_decision():
    search = cp.search_weights(["a", "b", "b", "b"], [[9, 1], [6, 4], [6, 4], [2, 8]], random_state=0)
    search.to_json("d.json")
    assert np.array_equal(cp.Decision.from_json("d.json").weights, search.weights)


def test_the_order_of_a_model_and_other_classes():
    decision = cp.Decision(("a", "b", "c"), [1.0, 2.0, 3.0])
    assert decision.for_classes(np.array(["c", "a", "b"])).weights.tolist() == [3.0, 1.0, 2.0]
    with pytest.raises(
        cp.InputError, match="the classes of the model are 'a', 'b', those of the weights 'a', 'b', 'c'"
    ):
        decision.for_classes(["a", "b"])
    with pytest.raises(cp.InputError, match="classes"):
        cp.Decision((0, 1), [1.0, 2.0]).for_classes([False, True])


@pytest.mark.skipif(importlib.util.find_spec("onnx") is not None, reason="onnx is installed")
def test_onnx_is_an_extra():
    with pytest.raises(cp.MissingExtra, match=r"pip install 'compromis\[onnx\]'"):
        cp.Decision(("a", "b"), [1.0, 2.0]).to_onnx()


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "duckdb"])
def test_inside_frames(predicted, votes, kind):
    decision, expected = predicted
    polars = pytest.importorskip("polars", reason="polars is not installed")
    names = [f"p{k}" for k in range(5)]
    frame = polars.DataFrame(votes, schema=names).with_row_index("row")
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
        base = duckdb.connect()
        base.register("votes", frame.to_arrow())
        found = cp.frames.decide(base.table("votes"), proba=names, weights=decision).order("row").fetchall()
        assert [row[-1] for row in found] == expected.tolist()
        return
    given = {"polars": frame, "lazy": frame.lazy(), "pandas": frame.to_pandas()}[kind]
    found = cp.frames.decide(given, proba=names, weights=decision)
    found = found.collect() if kind == "lazy" else found
    assert (
        found["decision"].to_list() == expected.tolist()
        if kind != "pandas"
        else found["decision"].tolist() == expected.tolist()
    )


def test_decision_json_round_trip(tmp_path):
    decision = cp.Decision(("x", "y", "z"), [0.5, 2.0, 1.0], smoothing=0.01)
    again = cp.Decision.from_json(decision.to_json(tmp_path / "d.json"))
    assert again.classes == decision.classes
    assert np.array_equal(again.weights, decision.weights)
    votes = np.random.default_rng(0).dirichlet([1, 1, 1], 500)
    expected = np.array(decision.classes)[np.argmax((votes + 0.01) * decision.weights, axis=1)]
    assert np.array_equal(cp.Decision.from_json(tmp_path / "d.json").decide(votes), expected)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 2}, "version 2, this compromis reads up to 1"),
        ({"schema": "other"}, "this is 'other'"),
        ({"weights": [1.0]}, "weight"),
        ({"weights": [1.0, -1.0]}, "weight"),
        ({"classes": ["a", "a"]}, "each class stands once"),
        ({"weights": "x"}, "this is not a decision"),
        ({"smoothing": -1.0}, "smoothing is a number of at least 0"),
    ],
)
def test_bad_decisions(change, said):
    document = json.loads(cp.Decision(("a", "b"), [1.0, 2.0]).to_json()) | change
    with pytest.raises(cp.InputError, match=said):
        cp.Decision.from_json(json.dumps(document))
