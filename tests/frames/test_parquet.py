"""Pages of fewer than no values, which would end the process inside polars, are refused before; pyarrow says which they are."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import compromis as cp
from compromis.frames.parquet import check_pages
from compromis.frames.reading import read_pieces, read_table
from tests.stress.mutations import turned

FRAME = pl.DataFrame({"t": ["a", "b", "a", None] * 3, "d": ["a"] * 12, "w": [0.5, 2.0] * 6})
KINDS = {
    "polars": {},
    "first version": {"data_page_version": "1.0", "use_dictionary": False, "compression": "gzip"},
    "second version": {"data_page_version": "2.0"},
    "several groups": {"row_group_size": 6, "compression": "none"},
    "small pages": {"data_page_size": 8, "write_batch_size": 6, "use_dictionary": False},
}


def written(kind):
    """Return a file of that kind, and where its pages end and its description begins."""
    parquet = pytest.importorskip("pyarrow.parquet")
    stream = io.BytesIO()
    if kind == "polars":
        FRAME.write_parquet(stream)
    else:
        parquet.write_table(FRAME.to_arrow(), stream, **KINDS[kind])
    data = stream.getvalue()
    return data, len(data) - 8 - int.from_bytes(data[-8:-4], "little")


def complaint(data):
    stream = io.BytesIO(data)
    try:
        check_pages(stream, "file")
    except cp.InputError as error:
        return str(error)
    assert stream.tell() == 0
    return ""


def refused(data):
    return "a page states to hold" in complaint(data)


@pytest.mark.parametrize("kind", KINDS)
def test_every_bit_that_makes_a_negative_count(kind):
    parquet = pytest.importorskip("pyarrow.parquet")
    data, end = written(kind)
    assert not refused(data)
    negative = 0
    for bit in range(32, 8 * end):
        spoiled = turned(data, bit)
        try:
            parquet.read_table(io.BytesIO(spoiled))
        except (OSError, ValueError, NotImplementedError) as error:
            if "negative number of values" in str(error):
                negative += 1
                assert refused(spoiled), bit
        else:
            assert not refused(spoiled), bit
    assert negative >= 3 * (1 + (kind == "several groups"))  # one page of each column, in each group


@pytest.mark.parametrize("kind", KINDS)
def test_anything_else_is_left_to_the_engine(kind, rng):
    """A description of damaged or foreign bytes ends the look at it, and nothing else."""
    data, end = written(kind)
    said = {complaint(turned(data, int(bit))) for bit in rng.integers(8 * end, 8 * len(data), 200)}
    assert all(not one or "a page states to hold" in one for one in said)
    for length in rng.integers(0, len(data), 50):
        assert not refused(data[:length])
    for size in (0, 7, 8, 200):
        noise = rng.bytes(size)
        assert not refused(noise)
        assert not refused(b"PAR1" + noise + size.to_bytes(4, "little") + b"PAR1")
    nested = b"\x1c" * 100_000  # a record in a record in a record
    assert not refused(b"PAR1" + nested + len(nested).to_bytes(4, "little") + b"PAR1")


def test_a_damaged_column_does_not_hide_another():
    """Polars reads the columns asked for, so those before them may be anything."""
    data, end = written("polars")
    last = max(bit for bit in range(32, 8 * end) if refused(turned(data, bit)))
    spoiled = turned(data, last)
    assert refused(spoiled[:4] + b"\xff" * 20 + spoiled[24:])


def varint(number):
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def whole(number):
    return varint(number << 1 if number >= 0 else -number * 2 - 1)


def page(values, statistics=b"", content=b""):
    """A data page: its kind, sizes, and a header with the number of values, an encoding and the smallest value."""
    header = b"\x15" + whole(values) + b"\x15\x00\x15\x06\x15\x06"
    header += (b"\x1c\x18" + varint(len(statistics)) + statistics + b"\x00" if statistics else b"") + b"\x00"
    return b"\x15\x00\x15" + whole(len(content)) + b"\x15" + whole(len(content)) + b"\x2c" + header + b"\x00" + content


def file_of(*chunks, between=b""):
    """A file with one group of columns whose pages are these bytes."""
    body, columns = b"PAR1", b""
    for chunk in chunks:
        meta = b"\x76" + whole(len(chunk)) + b"\x26" + whole(len(body)) + b"\x00"  # fields 7 and 9
        columns += b"\x3c" + meta + b"\x00"
        body += chunk + between
    size = bytes([len(chunks) << 4 | 12]) if len(chunks) < 15 else b"\xfc" + varint(len(chunks))
    footer = b"\x49\x1c" + b"\x19" + size + columns + b"\x00" + b"\x00"
    return body + footer + len(footer).to_bytes(4, "little") + b"PAR1"


@pytest.mark.parametrize("length", [10, 4000, 5000, 40_000, 300_000])
def test_long_headers(length):
    """Statistics hold values, which may be long; the next page is found behind them."""
    long = page(3, b"x" * length, b"content")
    assert not refused(file_of(long + page(0) + page(2**31 - 1)))
    assert refused(file_of(long + page(-1)))
    assert refused(file_of(page(-1, b"x" * length)))


@pytest.mark.parametrize("values", [-1, -(2**31), 2**31, 2**32 - 1, 2**40])
def test_counts_beyond_the_format(values):
    assert refused(file_of(page(1), page(2), page(values)))
    assert (
        complaint(file_of(page(values))) == f"file cannot be read as Parquet: a page states to hold {values:,} values"
    )


def test_many_columns_and_a_table_without_rows():
    parquet = pytest.importorskip("pyarrow.parquet")
    assert refused(file_of(*[page(1)] * 40, page(-5)))
    stream = io.BytesIO()
    parquet.write_table(FRAME.clear().to_arrow(), stream)
    assert complaint(stream.getvalue()) == ""


def test_small_files_take_no_time():
    """Bytes that are no pages end the look at a column; of pages that hold nothing it looks at so many and no more."""
    begin = time.process_time()
    assert not refused(file_of(page(1) + bytes(4_000_000)))
    assert not refused(file_of(page(0) * 400_000))
    assert not refused(file_of(*[page(1, b"x" * 5000)[:-2000] + bytes(3000)] * 100))
    assert time.process_time() - begin < 30


@pytest.mark.parametrize("reader", ["whole", "in pieces"])
def test_damage_that_pyarrow_finds_late_is_one_sentence(tmp_path, reader):
    """Text that is no UTF-8 any more comes up when values are taken out, pages that are none when they are reached."""
    parquet = pytest.importorskip("pyarrow.parquet")
    path, stream = tmp_path / "damaged.parquet", io.BytesIO()
    frame = pl.DataFrame({"t": ["é", "ü", "ß", None] * 3, "d": ["é"] * 12})
    parquet.write_table(frame.to_arrow(), stream, use_dictionary=False, compression="none", row_group_size=6)
    data = stream.getvalue()
    said = []
    for bit in range(32, 8 * len(data), 5):
        path.write_bytes(turned(data, bit))
        try:
            if reader == "whole":
                read_table(str(path), lambda names: names)
            else:
                list(read_pieces(str(path), lambda names: names, 5))
        except cp.CompromisError as error:
            said.append(str(error))
    assert not any("\n" in sentence for sentence in said)
    assert any("utf-8" in sentence for sentence in said)
    assert any("page header" in sentence for sentence in said)


THREADS = """
import os, sys
from compromis.frames.reading import read_pieces
from compromis.frames.reading import read_table
import pyarrow.parquet
before = set(os.listdir("/proc/self/task"))
read_table(sys.argv[1], lambda names: names)
list(read_pieces(sys.argv[1], lambda names: names, 5))
print(len(set(os.listdir("/proc/self/task")) - before))
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="there is no list of threads here")
def test_pyarrow_starts_no_threads(tmp_path):
    """At the end of a process its threads ended it with SIGABRT now and then, after the work was done."""
    pytest.importorskip("pyarrow")
    FRAME.write_parquet(tmp_path / "x.parquet")
    command = [sys.executable, "-c", THREADS, str(tmp_path / "x.parquet")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "0\n"


def negative_file(folder):
    data, end = written("polars")
    bits = (bit for bit in range(32, 8 * end) if refused(turned(data, bit)))
    path = folder / "negative.parquet"
    path.write_bytes(turned(data, next(bits)))
    return path


def test_every_door_is_guarded(tmp_path, monkeypatch):
    path = negative_file(tmp_path)
    monkeypatch.setattr("compromis.frames.parquet.engine", lambda: "polars")
    doors = [
        lambda: cp.frames.scan(path, engine="polars"),
        lambda: read_table(str(path), lambda names: names),
        lambda: list(read_pieces(str(path), lambda names: names, 10)),
    ]
    for door in doors:
        with pytest.raises(
            cp.InputError, match=r"negative\.parquet cannot be read as Parquet: a page states to hold -[0-9,]+ values$"
        ):
            door()
