"""The SQL of a decision on PostgreSQL and Spark: the same decisions to the last row."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

import compromis as cp
from tests.deployment.test_sql import quoted
from tests.hostile_votes import COLUMNS, LABELS, WEIGHTS, hostile_votes, plainly

pytestmark = pytest.mark.integration


def _postgres_programs() -> Path | None:
    found = shutil.which("initdb")
    return Path(found).parent if found else max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)


@pytest.fixture(scope="module")
def postgres():
    """A connection to a server of our own, on a loopback port, in a folder that goes afterwards."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    programs = _postgres_programs()
    if programs is None:
        pytest.skip("there is no PostgreSQL server here (Debian: apt install postgresql)")
    account = None
    if os.geteuid() == 0:  # the server refuses to run as root
        try:
            account = pwd.getpwnam("postgres")
        except KeyError:
            pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
    home = Path(tempfile.mkdtemp(prefix="compromis-postgres-", dir="/tmp"))
    if account is not None:
        os.chown(home, account.pw_uid, account.pw_gid)
    who = {} if account is None else {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}

    def run(*arguments):
        subprocess.run([str(one) for one in arguments], check=True, capture_output=True, cwd=home, timeout=120, **who)

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    try:
        run(
            programs / "initdb",
            "-D",
            home / "data",
            "-U",
            "tester",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        )
        options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= -c fsync=off"
        run(programs / "pg_ctl", "-D", home / "data", "-l", home / "log", "-w", "-o", options, "start")
        try:
            with psycopg.connect(
                f"host=127.0.0.1 port={port} user=tester dbname=postgres", autocommit=True
            ) as connection:
                yield connection
        finally:
            run(programs / "pg_ctl", "-D", home / "data", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(home, ignore_errors=True)


def fill(connection, votes, kind="DOUBLE PRECISION"):
    columns = ", ".join(f"{quoted(name)} {kind}" for name in COLUMNS)
    connection.execute("DROP TABLE IF EXISTS votes")
    connection.execute(f"CREATE TABLE votes (row INTEGER, {columns})")
    with connection.cursor() as cursor, cursor.copy("COPY votes FROM STDIN") as copy:
        for row, values in enumerate(votes.tolist()):
            copy.write_row([row, *values])


@pytest.mark.parametrize("dialect", ["postgres", "ansi"])
@pytest.mark.parametrize("smoothing", [0.0, 0.025])
def test_postgres(postgres, smoothing, dialect):
    votes = hostile_votes(100_000)
    fill(postgres, votes)
    # 'ansi' refuses what databases read in different ways: a backslash, and three quotes in a row
    labels = [label.replace("\\slash'", "slash") for label in LABELS] if dialect == "ansi" else list(LABELS)
    expression = cp.Decision(labels, WEIGHTS, smoothing=smoothing).to_sql(COLUMNS, dialect)
    found = [label for (label,) in postgres.execute(f"SELECT {expression} FROM votes ORDER BY row").fetchall()]
    assert found == [labels[k] for k in plainly(votes, WEIGHTS, smoothing)]


def test_postgres_numeric_columns_are_weighed_as_floats(postgres):
    votes = hostile_votes(5_000)
    fill(postgres, votes, "NUMERIC")
    expression = cp.Decision(LABELS, WEIGHTS).to_sql(COLUMNS, "postgres")
    found = [label for (label,) in postgres.execute(f"SELECT {expression} FROM votes ORDER BY row").fetchall()]
    assert found == [LABELS[k] for k in plainly(votes, WEIGHTS)]


@pytest.mark.filterwarnings("ignore")
def test_postgres_with_backslashes_as_escapes(postgres):
    postgres.execute("SET standard_conforming_strings = off")
    try:
        for label in ("back\\", "x\\' OR 1=1 --", "it's", "\\'; DROP TABLE votes; --"):
            expression = cp.Decision((label, "b"), [1.0, 1.0]).to_sql(["a", "b"], "postgres")
            assert postgres.execute(f"SELECT {expression} FROM (SELECT 1 AS a, 0 AS b) AS t").fetchall() == [(label,)]
    finally:
        postgres.execute("SET standard_conforming_strings = on")


def test_postgres_gives_null_for_what_is_no_vote(postgres):
    wrong = [np.nan, np.inf, -0.1]
    votes = np.array([[0.2] * 5] * 15 + [[1, 0, 0, 0, 0.0]])
    for row in range(15):
        votes[row, row // 3] = wrong[row % 3]
    fill(postgres, votes)
    postgres.execute(f"INSERT INTO votes VALUES (16, NULL{', 0' * 4})")
    expression = cp.Decision(LABELS, WEIGHTS).to_sql(COLUMNS, "postgres")
    found = [label for (label,) in postgres.execute(f"SELECT {expression} FROM votes ORDER BY row").fetchall()]
    assert found == [None] * 15 + ["plain", None]


def test_postgres_labels_come_back_as_they_are(postgres):
    for classes in ((True, False), (-3, 2**62), (0.1 + 0.2, -1.5), ("", "\U0001f600 é")):
        expression = cp.Decision(classes, [1.0, 1.0]).to_sql(["a", "b"], "postgres")
        rows = "(VALUES (1, 0), (0, 1)) AS t(a, b)"
        assert [label for (label,) in postgres.execute(f"SELECT {expression} FROM {rows}").fetchall()] == list(classes)


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not here")
    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = (
        builder.config("spark.sql.shuffle.partitions", "1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("smoothing", [0.0, 0.025])
def test_spark_sql(spark, smoothing, tmp_path):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    votes = hostile_votes(100_000)
    names = [name.replace("\n", " ") for name in COLUMNS]  # Parquet in Spark takes no line feed in a name
    frame = polars.DataFrame({name: votes[:, k] for k, name in enumerate(names)}).with_row_index("row")
    frame.write_parquet(tmp_path / "votes.parquet")
    spark.read.parquet(str(tmp_path / "votes.parquet")).createOrReplaceTempView("votes")
    expression = cp.Decision(LABELS, WEIGHTS, smoothing=smoothing).to_sql(names, "spark")
    found = [row[0] for row in spark.sql(f"SELECT {expression} FROM votes ORDER BY row").collect()]
    assert found == [LABELS[k] for k in plainly(votes, WEIGHTS, smoothing)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("smoothing", [0.0, 0.025])
def test_decide_inside_spark(spark, smoothing, tmp_path):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    votes = hostile_votes(100_000)
    names = [f"p{k}" for k in range(5)]
    polars.DataFrame(votes, schema=names).with_row_index("row").write_parquet(tmp_path / "votes.parquet")
    frame = spark.read.parquet(str(tmp_path / "votes.parquet"))
    found = (
        cp.frames.decide(frame, proba=names, weights=cp.Decision(LABELS, WEIGHTS, smoothing=smoothing))
        .orderBy("row")
        .select("decision")
    )
    assert [row[0] for row in found.collect()] == [LABELS[k] for k in plainly(votes, WEIGHTS, smoothing)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("escaped", ["true", "false"])
def test_spark_text_whatever_the_setting(spark, escaped):
    spark.conf.set("spark.sql.parser.escapedStringLiterals", escaped)
    for label in (*LABELS, "x\\' OR 1=1 --"):
        expression = cp.Decision((label, "b"), [1.0, 1.0]).to_sql(["a", "b"], "spark")
        assert spark.sql(f"SELECT {expression} FROM (SELECT 1 AS a, 0 AS b)").collect()[0][0] == label


@pytest.mark.filterwarnings("ignore")
def test_spark_gives_null_for_what_is_no_vote(spark):
    expression = cp.Decision(("a", "b"), [1.0, 1.0]).to_sql(["a", "b"], "spark")
    rows = "VALUES (DOUBLE('NaN'), 0D), (1D, NULL), (0D, DOUBLE('Infinity')), (-1D, 1D), (1D, 1D) AS t(a, b)"
    assert [row[0] for row in spark.sql(f"SELECT {expression} FROM {rows}").collect()] == [None] * 4 + ["a"]
