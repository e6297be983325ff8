"""Decisions as SQL: SQLite and DuckDB decide as numpy does, and labels and names stay inside their quotes."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pytest
import sqlglot
from sqlglot import exp

import compromis as cp
from compromis.deployment.sql import DIALECTS
from tests.hostile_votes import (
    COLUMNS,
    LABELS,
    RATIO,
    WEIGHTS,
    calls_at_the_ratio,
    hostile_votes,
    plainly,
    plainly_reviewed,
)


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


def test_a_list_of_columns_is_read_by_its_names():
    rule = cp.Decision(("bad", "ok"), [1.0, 3.0])
    assert (
        rule.to_sql(["p_ok", "p_bad"]) == rule.to_sql(["p_bad", "p_ok"]) == rule.to_sql({"bad": "p_bad", "ok": "p_ok"})
    )
    assert rule.to_sql(["x", "y"]) == rule.to_sql({"bad": "x", "ok": "y"})


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


OTHERS = sorted(set(DIALECTS) - {"ansi"})
INJECTION = "\\'||(SELECT password FROM users LIMIT 1) -- "
"""Ends the text where a backslash escapes the first of two quotes."""
PARTS = ("'", "''", "'''", "\\", "\\'", '"', "`", "]", "[", "(SELECT 1)", "||", " -- ", "/*", "*/", "\n", "\r\n", "\\\n", ";", "x", "é", "\u0301", "%s", ":a", "$$", "E'", "$1", "{x}", "#", "\\u0027", "\t")  # fmt: skip


def hostile_texts(number, seed):
    rng = np.random.default_rng(seed)
    return [INJECTION, *("".join(rng.choice(PARTS, rng.integers(1, 7))) for _ in range(number - 1))]


def text_of(node):
    """What an expression without columns says, folded as the database does."""
    if isinstance(node, (exp.DPipe, exp.Add)):
        return text_of(node.left) + text_of(node.right)
    if isinstance(node, (exp.Cast, exp.TryCast)):
        return text_of(node.this)
    if isinstance(node, exp.HexString):
        return bytes.fromhex(node.this if len(node.this) % 2 == 0 else "0" + node.this).decode()
    if isinstance(node, exp.Chr) or (isinstance(node, exp.Anonymous) and node.name.upper() == "NCHAR"):
        return chr(int(node.expressions[0].this))
    assert isinstance(node, (exp.Literal, exp.National, exp.ByteString)), node
    return node.this


def read_back(expression, dialect):
    """Return the columns and the labels of an expression that is one CASE, by another's reader of that dialect."""
    tree = sqlglot.parse_one(f"SELECT {expression}", read=dialect)
    assert len(list(tree.find_all(exp.Case))) == 1
    assert len(list(tree.find_all(exp.Select))) == 1
    assert [type(one) for one in tree.expressions] == [exp.Case]
    case = tree.expressions[0]
    assert not tree.comments
    labels = [text_of(branch.args["true"]) for branch in case.args["ifs"]] + [text_of(case.args["default"])]
    return {column.name for column in tree.find_all(exp.Column)}, labels


@pytest.mark.parametrize("dialect", OTHERS)
def test_another_reader_finds_one_case_and_the_labels_as_text(dialect):
    texts = hostile_texts(40, 1)
    for first, second in zip(texts, reversed(texts), strict=True):
        if first == second:
            continue
        columns = ["p" + first, "q" + second]
        if dialect in {"bigquery", "oracle"} and set("".join(columns)) & set('`\\\n\r"'):
            columns = ["p", "q"]
        classes = (first, second)
        names, labels = read_back(cp.Decision(classes, [1.0, 3.0]).to_sql(columns, dialect, checked=False), dialect)
        assert labels == list(classes)
        assert names == set(columns)


def test_a_database_that_is_not_known_gets_only_what_all_read_alike():
    with pytest.raises(
        cp.InputError, match=r"databases read .* in different ways; choose the dialect of yours: bigquery,"
    ):
        cp.Decision((INJECTION, "z"), [1.0, 1.0]).to_sql(["p1", "p2"])
    for classes, columns in (
        (("a\\", "b"), ["p", "q"]), (("'", "b"), ["p", "q"]), (("a''b", "b"), ["p", "q"]), (("a", "b"), ["p\\", "q"]), (("a", "b"), ['p"', "q"]),
    ):  # fmt: skip
        with pytest.raises(cp.InputError, match="in different ways"):
            cp.Decision(classes, [1.0, 1.0]).to_sql(columns)
    accepted = 0
    for first, second in zip(hostile_texts(100, 2), hostile_texts(100, 3), strict=True):
        try:
            expression = cp.Decision((first, second + "."), [1.0, 1.0]).to_sql(["p", "q"])
        except cp.InputError:
            continue
        accepted += 1
        for dialect in OTHERS:
            try:
                tree = sqlglot.parse_one(f"SELECT {expression}", read=dialect)
            except sqlglot.errors.SqlglotError:  # the database refuses it
                continue
            assert len(list(tree.find_all(exp.Select))) == 1, (dialect, expression)
            assert not tree.comments
    assert accepted > 10


@pytest.mark.parametrize(
    ("dialect", "classes", "columns", "said"),
    [
        ("oracle", ("", "b"), ["p", "q"], "Oracle takes an empty text for NULL"),
        ("oracle", ("a", "b"), ['p"', "q"], "cannot hold '\"' in the name"),
        ("bigquery", ("a", "b"), ["p`", "q"], "cannot hold '`' in the name"),
    ],
)
def test_what_a_database_cannot_hold(dialect, classes, columns, said):
    with pytest.raises(cp.InputError, match=said):
        cp.Decision(classes, [1.0, 1.0]).to_sql(columns, dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_tests_votes_and_weighs_them_as_floats(dialect):
    expression = cp.Decision((True, False), [1e-5, 1e5], smoothing=0.1).to_sql(["p", "q"], dialect)
    tree = sqlglot.parse_one(f"SELECT {expression}", read=None if dialect == "ansi" else dialect)
    assert len(list(tree.find_all(exp.Case))) == 2
    assert {"p", "q"} <= {column.name for column in tree.find_all(exp.Column)}


class TestReview:
    """The rows that a person looks at, by an expression of their own."""

    @pytest.mark.parametrize("dialect", ENGINES)
    @pytest.mark.parametrize("smoothing", [0.0, 0.025])
    def test_is_that_of_python(self, dialect, smoothing):
        votes = calls_at_the_ratio(5_000)
        expected = plainly_reviewed(votes, WEIGHTS, RATIO, smoothing)
        decision = cp.Decision(LABELS, WEIGHTS, smoothing=smoothing, review=RATIO)
        for checked in (True, False):
            found = ENGINES[dialect](votes, decision.to_sql(COLUMNS, dialect, checked=checked, review=True))
            assert [bool(one) for one in found] == expected

    @pytest.mark.parametrize("dialect", DIALECTS)
    def test_means_the_same_in_every_dialect(self, dialect):
        """Another's reader of the dialect writes it for DuckDB, which runs it."""
        duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
        votes = calls_at_the_ratio(500)
        names = ["p1", "p2", "p3", "p4", "p5"]
        decision = cp.Decision(names, WEIGHTS, smoothing=0.025, review=RATIO)
        asked = (
            f"SELECT {decision.to_sql(names, dialect, checked=False, review=True)} AS review FROM votes ORDER BY row"
        )
        (query,) = sqlglot.transpile(asked, read=None if dialect == "ansi" else dialect, write="duckdb")
        if dialect == "tsql":  # whose FLOAT has 64 bits and whose BIT is a truth value
            query = query.replace("AS REAL", "AS DOUBLE").replace("AS BIT", "AS BOOLEAN")
        base = duckdb.connect()
        base.execute(f"CREATE TABLE votes (row INTEGER, {', '.join(f'{name} DOUBLE' for name in names)})")
        base.executemany(
            "INSERT INTO votes VALUES (?, ?, ?, ?, ?, ?)", [[row, *one] for row, one in enumerate(votes.tolist())]
        )
        found = [bool(one) for (one,) in base.execute(query).fetchall()]
        assert found == plainly_reviewed(votes, WEIGHTS, RATIO, 0.025)

    @pytest.mark.parametrize("dialect", ENGINES)
    def test_is_null_for_what_is_no_vote_and_no_without_a_review(self, dialect):
        votes = np.array([[np.nan, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
        decision = cp.Decision(LABELS, np.ones(5), review=1.5)
        assert ENGINES[dialect](votes, decision.to_sql(COLUMNS, dialect, review=True)) == [None, True]
        plain = cp.Decision(LABELS, np.ones(5))
        assert ENGINES[dialect](votes, plain.to_sql(COLUMNS, dialect, review=True)) == [None, False]
