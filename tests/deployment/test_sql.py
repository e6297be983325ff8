"""Decisions as SQL: SQLite and DuckDB decide as numpy does, and labels and names stay inside their quotes."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pytest

import compromis as cp
from compromis.deployment.sql import DIALECTS
from tests.hostile_votes import COLUMNS, LABELS, WEIGHTS, hostile_votes, plainly


@pytest.fixture(scope="module")
def votes():
    return hostile_votes(100_000)


@pytest.fixture(scope="module", params=[0.0, 0.025], ids=["bare", "smoothed"])
def predicted(request, votes):
    decision = cp.Decision(LABELS, WEIGHTS, smoothing=request.param)
    return decision, np.array(LABELS)[plainly(votes, WEIGHTS, request.param)]


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


@pytest.mark.parametrize("dialect", ENGINES)
def test_sql_decides_where_the_sum_of_finite_votes_is_infinite(dialect):
    votes = np.full((1, 5), 1e308)
    votes[0, 2] = 1.5e308
    decision = cp.Decision(LABELS, np.ones(5))
    assert ENGINES[dialect](votes, decision.to_sql(COLUMNS, dialect)) == decision.decide(votes).tolist() == [LABELS[2]]


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
