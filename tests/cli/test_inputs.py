"""Files in engines: the same report from every engine, and one-sentence errors."""

from __future__ import annotations

import socket

import polars as pl
import pytest

import compromis as cp
from compromis.frames import engines, scanning
from tests import command_line

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*inplace keyword"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def run(*arguments, code=0):
    done = command_line.run(*arguments)
    assert done.exit_code == code, done.output
    return done


@pytest.mark.parametrize("engine", ["polars", "duckdb", "dask"])
@pytest.mark.parametrize("file", ["rows.csv", "rows.parquet"])
def test_every_engine_prints_the_same_report(rows, engine, file):
    options = ["--truth", "truth", "--prediction", "decision", "--weight", "w", "--prioritise", "01"]
    plain = run("evaluate", rows / file, *options)
    assert run("evaluate", rows / file, *options, "--engine", engine).stdout == plain.stdout


def said(text):
    """What a search says, but for how many weightings were tried: patterns in another order take more or fewer."""
    return text.split(" weightings")[0].rsplit("(", 1)[0]


def test_the_other_commands_agree_too(rows):
    tuning = ["tune", rows / "rows.csv", "--truth", "truth", "--proba", "p_", "--prioritise", "NA"]
    table = said(run(*tuning).stdout)
    large = run(*tuning, "--engine", "duckdb", "--output", rows / "weights.json").stdout
    assert said(large) == table
    assert "1 pass over the data" in large
    assert cp.Decision.from_json(rows / "weights.json").classes == ("01", "NA", "good one")
    trading = ["tradeoff", rows / "rows.csv", "--truth", "truth", "--score", "score", "--pos-label", "NA"]
    assert run(*trading, "--engine", "polars").stdout == run(*trading).stdout
    scoring = ["evaluate", rows / "rows.csv", "--truth", "truth", "--proba", "p_"]
    found = run(*scoring, "--engine", "duckdb")
    assert "the report is of the predictions" in found.stderr
    assert found.stdout.splitlines()[:2] == run(*scoring).stdout.splitlines()[:2]


def test_folders_and_patterns_go_to_an_engine(rows):
    (rows / "parts").mkdir()
    frame = pl.read_csv(rows / "rows.csv", infer_schema=False)
    frame[:100].write_csv(rows / "parts" / "1.csv")
    frame[100:].write_csv(rows / "parts" / "2.csv")
    options = ["--truth", "truth", "--prediction", "decision"]
    plain = run("evaluate", rows / "rows.csv", *options).stdout
    assert run("evaluate", rows / "parts", *options).stdout == plain
    assert run("evaluate", rows / "parts" / "*.csv", *options).stdout == plain


ERRORS = {
    "unknown column": (["rows.csv", "--truth", "truht", "--prediction", "decision"], "did you mean 'truth'"),
    "not a number": (
        ["rows.csv", "--truth", "truth", "--prediction", "decision", "--weight", "truth"],
        "could not run the query",
    ),
    "unknown engine": (
        ["rows.csv", "--truth", "truth", "--prediction", "decision", "--engine", "duck"],
        "did you mean 'duckdb'",
    ),
    "no file": (["row.csv", "--truth", "truth", "--prediction", "decision"], "did you mean 'rows.csv'"),
    "corrupt": (["bad.parquet", "--truth", "truth", "--prediction", "decision"], "cannot be read as Parquet"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_bad_input_is_one_sentence_and_nothing_is_written(rows, case, monkeypatch):
    data = (rows / "rows.parquet").read_bytes()
    (rows / "bad.parquet").write_bytes(data[: len(data) // 3])
    (rows / "out").mkdir()
    monkeypatch.chdir(rows)
    (file, *options), message = ERRORS[case]
    engine = [] if "--engine" in options else ["--engine", "duckdb"]
    done = run("count", file, *options, *engine, "--output", rows / "out" / "x.json", code=2)
    assert message in done.stderr
    assert done.stderr.strip().count("\n") == 0
    assert list((rows / "out").iterdir()) == []


@pytest.mark.parametrize("engine", ["dask", pytest.param("spark", marks=pytest.mark.spark)])
def test_a_cluster_that_does_not_answer(rows, monkeypatch, engine):
    monkeypatch.setattr(engines, "TIMEOUT", 0.5)
    with socket.socket() as deaf:  # bound, but nobody listens
        deaf.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{deaf.getsockname()[1]}"
        options = ["--truth", "truth", "--prediction", "decision", "--engine", engine, "--cluster", address]
        done = run("evaluate", rows / "rows.csv", *options, code=2)
        assert f"no cluster answers at {address} within 0.5 seconds" in done.stderr


def test_a_cluster_that_is_none(rows, monkeypatch):
    monkeypatch.setattr(engines, "TIMEOUT", 0.5)
    with socket.socket() as silent:  # it listens, and says nothing
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        options = ["--truth", "truth", "--prediction", "decision", "--engine", "dask", "--cluster", address]
        assert (
            "does not answer as a Dask scheduler within 0.5 seconds"
            in run("evaluate", rows / "rows.csv", *options, code=2).stderr
        )
    done = run("evaluate", rows / "rows.csv", "--truth", "truth", "--prediction", "decision", "--cluster", "x", code=2)
    assert "--cluster needs --engine" in done.stderr


def test_a_file_that_changes_while_it_is_read(rows, monkeypatch):
    from compromis.frames import counts as counts_frame

    plain = counts_frame.count_groups

    def meanwhile(*arguments, **options):
        with (rows / "rows.csv").open("a") as file:
            file.write("x,x,0,1,1,1,1\n")
        return plain(*arguments, **options)

    monkeypatch.setattr(counts_frame, "count_groups", meanwhile)
    options = ["--truth", "truth", "--prediction", "decision", "--engine", "duckdb", "--output", rows / "x.json"]
    done = run("count", rows / "rows.csv", *options, code=2)
    assert "changed while it was read" in done.stderr
    assert not (rows / "x.json").exists()


def test_missing_classes(rows):
    (rows / "gaps.csv").write_text("t,d\na,a\n,a\nb,\nb,b\n")
    options = ["--truth", "t", "--prediction", "d", "--engine", "duckdb"]
    done = run("evaluate", rows / "gaps.csv", *options, code=2)
    assert (
        "2 rows lack their true or predicted class; fill them in, or leave those rows out with --drop-missing"
        in done.stderr
    )
    found = run("evaluate", rows / "gaps.csv", *options, "--drop-missing")
    assert "left out 2 rows without a class" in found.stderr
    assert (
        found.stdout == run("evaluate", rows / "gaps.csv", "--truth", "t", "--prediction", "d", "--drop-missing").stdout
    )


def test_shares_where_decisions_are_taken_need_the_rows(rows):
    """An engine would search for the shares of the file."""
    tuning = ["tune", rows / "rows.csv", "--truth", "truth", "--proba", "p_", "--prioritise", "NA"]
    shares = [part for label in ("01", "NA", "good one") for part in ("--prevalence", f"{label}=1")]
    assert run(*tuning, *shares).stdout != run(*tuning).stdout
    assert "leave out --engine" in run(*tuning, *shares, "--engine", "polars", code=2).stderr


def test_files_with_columns_of_numbers_are_opened_once_on_the_cluster(rows, monkeypatch):
    """They were opened a second time, and then without the cluster."""
    asked = []
    plain = scanning.Files.find
    monkeypatch.setattr(scanning, "CONNECT", {"dask": asked.append})
    monkeypatch.setattr(scanning.Files, "find", lambda where: (asked.append("opened"), plain(where))[1])
    options = ["--truth", "truth", "--proba", "p_", "--engine", "dask", "--cluster", "tcp://host:8786"]
    run("evaluate", rows / "rows.csv", *options)
    assert asked == ["opened", "tcp://host:8786"]
