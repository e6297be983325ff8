"""compromis count and merge: evidence in parts is that of the whole."""

from __future__ import annotations

import json
import os
import re
import threading

import polars as pl
import pytest

import compromis as cp
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


def count(file, number=""):
    """Write evidence of every kind beside a file of rows."""
    for kind, options in {
        "counts": ["--prediction", "decision"],
        "votes": ["--proba", "p_"],
        "score": ["--score", "score", "--pos-label", "NA", "--bins", 50, "--within", 0, 1],
        "exact": ["--score", "score", "--pos-label", "NA"],
    }.items():
        run("count", file, "--truth", "truth", *options, "--output", file.parent / f"{kind}{number}.json")


def test_shards_counted_apart_add_up(rows):
    frame = pl.read_csv(rows / "rows.csv", infer_schema=False)
    for number, part in enumerate([frame[:10], frame[10:150], frame[150:]]):
        part.write_csv(rows / f"{number}.csv")
        count(rows / f"{number}.csv", number)
    counts = [rows / f"counts{number}.json" for number in range(3)]
    whole = run(
        "evaluate", rows / "rows.csv", "--truth", "truth", "--prediction", "decision", "--prioritise", "01"
    ).stdout
    assert run("merge", *counts, "--prioritise", "01", "--output", rows / "all.json").stdout.strip() == whole.strip()
    assert cp.evidence.read(rows / "all.json").evidence.rows == 300
    votes = [rows / f"votes{number}.json" for number in range(3)]
    assert run("merge", *votes, "--prioritise", "NA").stdout.startswith("Tuned: finds ")
    assert "score >=" in run("merge", *(rows / f"score{number}.json" for number in range(3))).stdout
    assert "300 rows in" in run("merge", *votes).stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such pipes here")
@pytest.mark.parametrize(("command", "kind"), [("evaluate", "counts"), ("tune", "votes"), ("tradeoff", "exact")])
def test_evidence_comes_through_a_pipe(rows, command, kind):
    count(rows / "rows.csv")
    data, wanted = (rows / f"{kind}.json").read_bytes(), [] if command == "tradeoff" else ["--prioritise", "NA"]

    def said(file, **stream):  # a search says its time
        return re.sub(r"[0-9.]+\ss\)", "", command_line.run(command, file, *wanted, **stream).stdout)

    assert "NA" in said(rows / f"{kind}.json")
    assert said("-", input=data) == said(rows / f"{kind}.json")
    os.mkfifo(rows / "pipe")
    writer = threading.Thread(target=(rows / "pipe").write_bytes, args=(data,))
    writer.start()
    assert said(rows / "pipe") == said(rows / f"{kind}.json")
    writer.join()
    assert "Missing option '--truth'" in command_line.run(command, "-", *wanted, input=b"t,d\na,a\n").stderr


def test_evidence_stands_alone_on_standard_output(rows):
    done = run("count", rows / "rows.csv", "--truth", "truth", "--prediction", "decision", "--output", rows / "x.json")
    assert (done.stdout, done.stderr) == ("", f"evidence written to {rows / 'x.json'}\n")


def test_small_cells_stay_at_home(rows):
    pl.DataFrame({"t": ["a"] * 9 + ["b"] * 3, "d": ["a"] * 12}).write_csv(rows / "few.csv")
    done = run(
        "count", rows / "few.csv", "--truth", "t", "--prediction", "d", "--min-cell", 5, "--output", rows / "x.json"
    )
    assert "1 cell of fewer than 5 rows kept back: up to 4 rows are missing" in done.stderr
    assert json.loads((rows / "x.json").read_text())["evidence"]["matrix"] == [[9, 0], [0, 0]]
    done = run("merge", rows / "x.json", rows / "x.json")
    assert "2 cells of fewer than 5 rows kept back: up to 8 rows are missing" in done.stderr


def test_every_kind_of_evidence_is_printed_as_json(rows):
    """Votes were printed as text."""
    count(rows / "rows.csv")
    for kind in ("counts", "votes", "score", "exact"):
        assert json.loads(run("merge", rows / f"{kind}.json", "--prioritise", "NA", "--json").stdout)
    assert json.loads(run("merge", rows / "votes.json", "--json").stdout)["rows"] == 300
    decision = cp.Decision.from_json(run("merge", rows / "votes.json", "--prioritise", "NA", "--json").stdout)
    assert decision.classes == ("01", "NA", "good one")


def test_the_commands_read_what_count_wrote(rows):
    count(rows / "rows.csv")
    table = [rows / "rows.csv", "--truth", "truth"]
    wanted = ["--prioritise", "NA"]
    assert (
        run("evaluate", rows / "counts.json", *wanted, "--confidence", 0.9).stdout
        == run("evaluate", *table, "--prediction", "decision", *wanted, "--confidence", 0.9).stdout
    )
    tuned = [
        run("tune", *given, *wanted, "--json").stdout for given in ([rows / "votes.json"], [*table, "--proba", "p_"])
    ]
    assert tuned[0] == tuned[1]
    run("tune", rows / "votes.json", *wanted, "--output", rows / "w.json")
    written = json.loads((rows / "w.json").read_text())
    assert written == {
        name: json.loads(tuned[0])[name] for name in ("schema", "version", "classes", "weights", "smoothing")
    }
    scores = [
        run("tradeoff", *given).stdout
        for given in ([rows / "exact.json"], [*table, "--score", "score", "--pos-label", "NA"])
    ]
    assert scores[0] == scores[1]


def test_classes_of_evidence_that_are_numbers(rows):
    cp.evidence.write(cp.Counts.from_predictions([0, 1, 1, 0], [0, 1, 0, 0]), rows / "numbers.json")
    expected = cp.evaluate(
        cp.Counts.from_predictions([0, 1, 1, 0], [0, 1, 0, 0]), preferences=cp.Preferences.prioritise([1])
    )
    for command in ("evaluate", "merge"):
        for option in ("--prioritise", "--prioritize"):
            done = run(command, rows / "numbers.json", option, 1, "--json")
            assert json.loads(done.stdout) == json.loads(expected.to_json())


def test_a_class_that_is_a_number_can_be_prioritised(tmp_path):
    """Evidence that the library wrote has typed labels; the command line has text only."""
    cp.evidence.write(cp.Counts.from_predictions([0, 1, 1, 0], [0, 1, 0, 0]), tmp_path / "part.json")
    text = run("merge", tmp_path / "part.json", "--prioritise", "1", "--json").stdout
    assert [(one["label"], one["importance"]) for one in json.loads(text)["preferences"]["class"]] == [(1, 10.0)]
    assert "there is a preference for '2'" in run("merge", tmp_path / "part.json", "--prioritise", "2", code=2).stderr


def test_a_pipe_without_an_end(rows, monkeypatch):
    monkeypatch.setenv("COMPROMIS_MAX_UNPACKED", "1000")
    done = command_line.run("evaluate", "-", input=b'{"schema": "' + b"x" * 2000)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "standard input goes on after 1,000 bytes, more than the limit of 1,000; set COMPROMIS_MAX" in done.stderr
