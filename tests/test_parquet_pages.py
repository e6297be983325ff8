"""Pages of fewer than no values, which would end the process inside polars, are refused before; pyarrow says which they are."""

from __future__ import annotations

import io

import polars as pl
import pytest

import compromis as cp
from compromis.engines.parquet_pages import check_pages
from compromis.engines.pieces import read_pieces
from compromis.engines.reading import read_table
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
    from pyarrow import parquet

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
    assert negative >= 3 * (1 + (kind == "several groups"))  # one page of each column, in each group


@pytest.mark.parametrize("kind", KINDS)
def test_anything_else_is_left_to_the_engine(kind, rng):
    """A description of damaged or foreign bytes ends the look at it, and nothing else."""
    data, end = written(kind)
    for bit in rng.integers(8 * end, 8 * len(data), 200):
        refused(turned(data, int(bit)))
    for length in rng.integers(0, len(data), 50):
        refused(data[:length])
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


def test_columns_larger_than_the_file():
    """The same bytes are not looked at again and again: sizes of several columns together are those of the file, at most."""
    data, end = written("polars")
    said = {complaint(turned(data, bit)) for bit in range(8 * end, 8 * len(data))}
    assert "file cannot be read as Parquet: its columns are said to be larger than the file" in said


def negative_file(folder):
    data, end = written("polars")
    bits = (bit for bit in range(32, 8 * end) if refused(turned(data, bit)))
    path = folder / "negative.parquet"
    path.write_bytes(turned(data, next(bits)))
    return path


def test_every_door_is_guarded(tmp_path):
    path = negative_file(tmp_path)
    doors = [
        lambda: cp.scan(path, engine="polars"),
        lambda: read_table(str(path), lambda names: names),
        lambda: list(read_pieces(str(path), lambda names: names, 10)),
    ]
    for door in doors:
        with pytest.raises(
            cp.InputError, match=r"negative\.parquet cannot be read as Parquet: a page states to hold -[0-9,]+ values$"
        ):
            door()
