"""Parquet: its texts and numbers, what is damaged in one sentence, and little memory for few bytes."""

from __future__ import annotations

import io
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import polars as pl
import pyarrow
import pytest
from pyarrow import parquet

import compromis as cp
from compromis.frames.reading import FileFrame, open_table, read_table
from compromis.frames.tables import Coder
from tests.command_line import run
from tests.stress.mutations import turned

FRAME = pl.DataFrame({"t": ["a", "b", "a", None] * 3, "d": ["a"] * 12, "w": [0.5, 2.0] * 6})


def test_batches_have_the_codes_of_the_whole_file(tmp_path):
    """Each row group has a dictionary of its own."""
    truth = [f"c{k % 7}" for k in range(900)] + [None, "c3", "new"]
    pl.DataFrame({"t": truth, "n": range(903)}).write_parquet(tmp_path / "x.parquet", row_group_size=100)
    with open_table(str(tmp_path / "x.parquet")) as file:
        tables = list(file.tables(["t"], ["n"]))
    assert len(tables) > 5
    assert [label for table in tables for label in table["t"].tolist()] == truth
    assert tables[-1]["t"].labels == [*(f"c{k}" for k in range(7)), "new"]
    assert [number for table in tables for number in table.numbers("n")] == list(range(903))


def test_every_type_of_a_label(tmp_path):
    import datetime

    day = datetime.date(2020, 1, 2)
    table = pyarrow.table(
        {
            "whole": pyarrow.array([3, None, 10**17], pyarrow.int64()),
            "float": [1.0, float("nan"), 2.5],
            "flag": [True, None, False],
            "day": [day, None, day],
            "coded": pyarrow.array(["x", None, "NA"]).dictionary_encode(),
            "text": ["01", None, ""],
        }
    )
    parquet.write_table(table, tmp_path / "x.parquet")
    assert read_table(str(tmp_path / "x.parquet"), lambda names: names).texts() == {
        "whole": ["3", None, "100000000000000000"],
        "float": ["1", None, "2.5"],
        "flag": ["true", None, "false"],
        "day": ["2020-01-02", None, "2020-01-02"],
        "coded": ["x", None, "NA"],
        "text": ["01", None, ""],
    }
    with open_table(str(tmp_path / "x.parquet")) as file:
        numbers = file.read(numbers=["whole", "text"])
    with pytest.raises(cp.InputError, match=r"column 'whole' of .* must hold numbers, got nothing in data row 2"):
        numbers.numbers("whole")
    with pytest.raises(cp.InputError, match=r"column 'text' of .* must hold numbers, got nothing in data row 2"):
        numbers.numbers("text")


def test_types_that_hold_no_labels(tmp_path):
    table = pyarrow.table({"list": [["a"]], "bytes": [b"a"], "record": [{"a": 1}], "fine": ["a"]})
    parquet.write_table(table, tmp_path / "x.parquet")
    assert read_table(str(tmp_path / "x.parquet"), ["fine"]).texts() == {"fine": ["a"]}
    for name in ("list", "bytes", "record"):
        with pytest.raises(cp.InputError, match=rf"column '{name}' of .* holds lists, bytes or records"):
            read_table(str(tmp_path / "x.parquet"), [name])


def write_repeated(path, rows, letters):
    """A file of one long label, repeated: its dictionary holds it once."""
    column = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * rows, pyarrow.int32()), ["x" * letters])
    parquet.write_table(pyarrow.table({"truth": column, "decision": column}), path, compression="zstd")


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_AS"), reason="memory cannot be limited here")
@pytest.mark.parametrize("engine", [[], ["--engine", "polars"]])
def test_a_long_label_is_held_once(tmp_path, engine):
    """Fifty thousand rows of 9,000 letters in 3 kB took 2 GB."""
    write_repeated(tmp_path / "x.parquet", 400_000, 9000)
    assert (tmp_path / "x.parquet").stat().st_size < 10_000
    command = [
        sys.executable,
        "-m",
        "compromis",
        "evaluate",
        "x.parquet",
        "--truth",
        "truth",
        "--prediction",
        "decision",
        *engine,
    ]
    launcher = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
    launcher += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)"
    done = subprocess.run(
        [sys.executable, "-c", launcher, *command], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 600


@pytest.mark.parametrize("size", [5_000_000, 300_000])  # it is held in several ways while it is read
def test_a_page_that_becomes_far_more_than_the_file_is_refused(tmp_path, monkeypatch, size):
    parquet.write_table(
        pyarrow.table({"t": ["x" * size], "d": ["a"]}),
        tmp_path / "x.parquet",
        compression="zstd",
        use_dictionary=False,
    )
    monkeypatch.setenv("COMPROMIS_MAX_UNPACKED", "1000000")
    with pytest.raises(
        cp.InputError,
        match=r"a group of rows of .* becomes [0-9,]+ bytes when it is decompressed, more than the limit of 1,000,000",
    ):
        read_table(str(tmp_path / "x.parquet"), ["d"])


def test_a_long_text_among_few_rows_is_refused(tmp_path, monkeypatch, rng):
    """9 MB of Parquet with one text of 200 MB took 1.05 GB."""
    texts = ["".join(map(chr, rng.integers(97, 123, 250_000))), "b"]
    column = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, 1]), texts)
    parquet.write_table(pyarrow.table({"t": column}), tmp_path / "x.parquet")
    monkeypatch.setenv("COMPROMIS_MAX_UNPACKED", "1000000")
    with pytest.raises(cp.InputError, match=r"reading 3 rows of .*x\.parquet takes 1,2[0-9]{2},[0-9]{3} bytes"):
        read_table(str(tmp_path / "x.parquet"), ["t"])
    monkeypatch.setenv("COMPROMIS_MAX_UNPACKED", "1300000")
    assert read_table(str(tmp_path / "x.parquet"), ["t"]).texts() == {"t": [texts[0], "b", "b"]}


@pytest.mark.parametrize("kind", [pyarrow.int8(), pyarrow.int64()])
def test_a_batch_costs_as_much_as_its_rows(tmp_path, monkeypatch, kind):
    """Each batch brings the dictionary of its whole group of rows: 3 MB of Parquet, a million texts for 30 million rows, took minutes."""
    monkeypatch.setattr("compromis.frames.parquet.ROWS", 50)
    texts = [f"{k}.5" for k in range(120)]
    codes = [None, *range(120), *[0] * 2000]
    column = pyarrow.DictionaryArray.from_arrays(pyarrow.array(codes, kind), texts, ordered=True)
    parquet.write_table(pyarrow.table({"t": column}), tmp_path / "x.parquet")
    expected, coded = [None if code is None else texts[code] for code in codes], []
    code = Coder.code
    monkeypatch.setattr(Coder, "code", lambda self, values: code(self, coded.append(len(values)) or values))
    with open_table(str(tmp_path / "x.parquet")) as file:
        assert file.read(["t"])["t"].tolist() == expected
    assert len(coded) > 40
    assert sum(coded) < 300
    assert FileFrame(str(tmp_path / "x.parquet")).to_arrow()["t"].to_pylist() == expected


def test_a_long_text_keeps_no_other_rows_apart(tmp_path, monkeypatch):
    """Rows come one by one where texts are long, but only there; a group of no rows says nothing."""
    monkeypatch.setattr("compromis.frames.parquet.LETTERS", 5000)
    groups = [["x" * 9000], ["a", "b"] * 300, [], ["x" * 9001] * 2, ["b"] * 500]
    with parquet.ParquetWriter(tmp_path / "x.parquet", pyarrow.schema([("t", pyarrow.string())])) as writer:
        for texts in groups:
            writer.write_table(pyarrow.table({"t": pyarrow.array(texts, pyarrow.string())}))
    with open_table(str(tmp_path / "x.parquet")) as file:
        tables = list(file.tables(["t"]))
    assert [label for table in tables for label in table["t"].tolist()] == [text for texts in groups for text in texts]
    assert tables[0].rows.tolist() == [1]
    assert len(tables) < 10


def test_more_rows_than_a_file_can_hold_are_refused(tmp_path, monkeypatch):
    write_repeated(tmp_path / "x.parquet", 3_000_000, 1)
    monkeypatch.setenv("COMPROMIS_MAX_UNPACKED", "8000000")
    monkeypatch.setattr("compromis.frames.parquet.CELLS_PER_BYTE", 10)
    options = ["--truth", "truth", "--prediction", "decision"]
    done = run("evaluate", tmp_path / "x.parquet", *options)
    assert "x.parquet has 3,000,000 rows in " in done.stderr
    assert "set COMPROMIS_MAX_UNPACKED to 48000000 to read it all the same" in done.stderr
    monkeypatch.setenv("COMPROMIS_MAX_UNPACKED", "48000000")
    assert run("evaluate", tmp_path / "x.parquet", *options).exit_code == 0


def test_damage_that_pyarrow_finds_late_is_one_sentence(tmp_path):
    """Text that is no UTF-8 any more comes up when values are taken out, pages that are none when they are reached."""
    path, stream = tmp_path / "damaged.parquet", io.BytesIO()
    frame = pl.DataFrame({"t": ["é", "ü", "ß", None] * 3, "d": ["é"] * 12})
    parquet.write_table(frame.to_arrow(), stream, use_dictionary=False, compression="none", row_group_size=6)
    data = stream.getvalue()
    said = []
    for bit in range(32, 8 * len(data), 5):
        path.write_bytes(turned(data, bit))
        try:
            read_table(str(path), lambda names: names)
        except cp.CompromisError as error:
            said.append(str(error))
    assert not any("\n" in sentence for sentence in said)
    assert any("utf-8" in sentence for sentence in said)
    assert any("page header" in sentence for sentence in said)


THREADS = """
import os, sys
from compromis.frames.reading import read_table
import pyarrow.parquet
before = set(os.listdir("/proc/self/task"))
read_table(sys.argv[1], lambda names: names)
print(len(set(os.listdir("/proc/self/task")) - before))
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="there is no list of threads here")
def test_pyarrow_starts_no_threads(tmp_path):
    """At the end of a process its threads ended it with SIGABRT now and then, after the work was done."""
    pytest.importorskip("pyarrow")
    FRAME.write_parquet(tmp_path / "x.parquet")
    command = [sys.executable, "-c", THREADS, str(tmp_path / "x.parquet")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "0\n"


@pytest.mark.parametrize(("engine", "step"), [("polars", 29), ("duckdb", 233)])
def test_no_bit_ends_the_process(tmp_path, engine, step):
    """Promise 19 turns all bits. A page of fewer than no values made polars' own reader ask for 2^61 bytes, and the process ended."""
    stream = io.BytesIO()
    FRAME.write_parquet(stream)
    data = stream.getvalue()
    path = tmp_path / "x.parquet"
    said = []
    for bit in range(32, 8 * len(data), step):
        path.write_bytes(turned(data, bit))
        with suppress(cp.CompromisError):
            said.append(cp.Counts.from_frame(cp.frames.scan(path, engine=engine), truth="d", prediction="d"))
    assert 0 < len(said) < len(range(32, 8 * len(data), step))
