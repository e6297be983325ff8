"""The command line on files of any size: the same report from every engine, evidence files, one-sentence errors."""

from __future__ import annotations

import json
import socket

import numpy as np
import polars as pl
import pytest

import compromis as cp
from compromis.frames import scanning as clusters
from tests import command_line

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*inplace keyword"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def rows(tmp_path, rng):
    truth = rng.choice(["01", "NA", "good one"], 300, p=[0.2, 0.3, 0.5])
    decision = np.where(rng.random(300) < 0.7, truth, rng.choice(["01", "NA", "good one"], 300))
    votes = rng.multinomial(10, [0.3, 0.3, 0.4], 300)
    frame = pl.DataFrame(
        {"truth": truth, "decision": decision, "score": rng.integers(0, 50, 300) / 50, "w": rng.integers(1, 4, 300)}
    )
    frame = frame.with_columns(**{f"p_{name}": votes[:, k] for k, name in enumerate(["01", "NA", "good one"])})
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    return tmp_path


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


def test_the_other_commands_agree_too(rows):
    tuning = ["tune", rows / "rows.csv", "--truth", "truth", "--proba", "p_", "--prioritise", "NA"]
    table = run(*tuning).stdout.split("loss")[0]
    large = run(*tuning, "--engine", "duckdb", "--output", rows / "weights.json").stdout
    assert large.split("loss")[0] == table
    assert "1 pass over the data" in large
    assert cp.Decision.from_json(rows / "weights.json").classes == ("01", "NA", "good one")
    trading = ["tradeoff", rows / "rows.csv", "--truth", "truth", "--score", "score", "--pos-label", "NA"]
    assert run(*trading, "--engine", "polars").stdout == run(*trading).stdout
    scoring = ["evaluate", rows / "rows.csv", "--truth", "truth", "--proba", "p_"]
    found = run(*scoring, "--engine", "duckdb")
    assert "the report is of the decisions" in found.stderr
    assert found.stdout.split("Confusion Matrix")[1] == run(*scoring).stdout.split("Confusion Matrix")[1]


def test_large_files_folders_and_patterns_go_to_an_engine(rows, monkeypatch):
    (rows / "parts").mkdir()
    frame = pl.read_csv(rows / "rows.csv", infer_schema=False)
    frame[:100].write_csv(rows / "parts" / "1.csv")
    frame[100:].write_csv(rows / "parts" / "2.csv")
    options = ["--truth", "truth", "--prediction", "decision"]
    plain = run("evaluate", rows / "rows.csv", *options).stdout
    assert run("evaluate", rows / "parts", *options).stdout == plain
    assert run("evaluate", rows / "parts" / "*.csv", *options).stdout == plain
    monkeypatch.setattr("compromis.cli.options.LARGE", 100)
    monkeypatch.setattr("compromis.frames.reading.read_table", None)  # whoever reads it into memory fails
    assert run("evaluate", rows / "rows.csv", *options).stdout == plain


def test_shards_counted_apart_add_up(rows):
    frame = pl.read_csv(rows / "rows.csv", infer_schema=False)
    for number, part in enumerate([frame[:10], frame[10:150], frame[150:]]):
        part.write_csv(rows / f"{number}.csv")
        for kind, options in {
            "counts": ["--prediction", "decision"],
            "votes": ["--proba", "p_"],
            "score": ["--score", "score", "--pos-label", "NA", "--bins", 50, "--within", 0, 1],
        }.items():
            run(
                "count", rows / f"{number}.csv", "--truth", "truth", *options, "--output", rows / f"{kind}{number}.json"
            )
    counts = [rows / f"counts{number}.json" for number in range(3)]
    whole = run(
        "evaluate", rows / "rows.csv", "--truth", "truth", "--prediction", "decision", "--prioritise", "01"
    ).stdout
    whole = whole.replace("; give --train-file for those of the training rows", "")  # merge has no such option
    assert run("merge", *counts, "--prioritise", "01", "--output", rows / "all.json").stdout.strip() == whole.strip()
    assert cp.evidence.read(rows / "all.json").evidence.rows == 300
    found = run(
        "merge",
        *(rows / f"votes{number}.json" for number in range(3)),
        "--prioritise",
        "NA",
        "--weights",
        rows / "w.json",
    )
    assert "weights: 01" in found.stdout
    assert cp.Decision.from_json(rows / "w.json").classes == ("01", "NA", "good one")
    assert "score >=" in run("merge", *(rows / f"score{number}.json" for number in range(3))).stdout
    assert "300 rows in" in run("merge", *(rows / f"votes{number}.json" for number in range(3))).stdout


def test_small_cells_stay_at_home(rows):
    pl.DataFrame({"t": ["a"] * 9 + ["b"] * 3, "d": ["a"] * 12}).write_csv(rows / "few.csv")
    done = run(
        "count", rows / "few.csv", "--truth", "t", "--prediction", "d", "--min-cell", 5, "--output", rows / "x.json"
    )
    assert "1 cell of fewer than 5 rows kept back: up to 4 rows are missing" in done.stderr
    assert json.loads((rows / "x.json").read_text())["evidence"]["matrix"] == [[9, 0], [0, 0]]
    done = run("merge", rows / "x.json", rows / "x.json")
    assert "2 cells of fewer than 5 rows kept back: up to 8 rows are missing" in done.stderr


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
    monkeypatch.setattr(clusters, "TIMEOUT", 0.5)
    with socket.socket() as deaf:  # bound, but nobody listens
        deaf.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{deaf.getsockname()[1]}"
        options = ["--truth", "truth", "--prediction", "decision", "--engine", engine, "--cluster", address]
        done = run("evaluate", rows / "rows.csv", *options, code=2)
        assert f"no cluster answers at {address} within 0.5 seconds" in done.stderr


def test_a_cluster_that_is_none(rows, monkeypatch):
    monkeypatch.setattr(clusters, "TIMEOUT", 0.5)
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
