"""Tables in files, a piece at a time: files larger than memory, with the share read so far."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from compromis.engines import delimited, parquet
from compromis.engines.reading import FORMATS, GZIP, _Content, read_table
from compromis.engines.table import Column, Table
from compromis.errors import InputError
from compromis.limits import PIECEWISE, bounded

ROWS = 50_000
"""Rows of a piece."""
DELIMITERS = {"CSV": ",", "TSV": "\t"}

Piece = tuple[Table, float]
"""Some rows, and the share of the file that is read after them."""


def read_pieces(path: str, choose: Callable[[list[str]], Iterable[str]], rows: int = ROWS) -> Iterator[Piece]:
    """Yield the columns that `choose` picks, `rows` rows at a time; ARFF comes whole.

    The same text as `compromis.engines.reading.read_table` gives: nothing is guessed, only an empty field is missing.
    """
    content = _Content(path)
    kind = next(name for name, one in FORMATS.items() if one is content.format)
    if kind in DELIMITERS:
        yield from _delimited_pieces(Path(path), DELIMITERS[kind], choose, rows)
    elif kind == "Parquet" and not _is_packed(Path(path)):
        yield from _parquet_pieces(Path(path), choose, rows)
    else:
        yield read_table(path, choose), 1.0


def _delimited_pieces(
    path: Path, delimiter: str, choose: Callable[[list[str]], Iterable[str]], rows: int
) -> Iterator[Piece]:
    size = path.stat().st_size
    with path.open("rb") as raw, _unpacked(raw, path) as stream:
        records = delimited._rows(stream, str(path), delimiter)  # noqa: SLF001 (the reader next door)
        names = delimited._header(records, str(path))  # noqa: SLF001
        chosen = list(dict.fromkeys(choose(names)))
        done = 0
        while block := list(islice(records, rows)):
            share = 1.0 if raw.closed else min(1.0, raw.tell() / size)
            yield Table(str(path), _columns(block, names, chosen, (str(path), done))), share
            done += len(block)


def _columns(
    block: list[list[str]], names: Sequence[str], chosen: Sequence[str], where: tuple[str, int]
) -> dict[str, Column]:
    if set(map(len, block)) != {len(names)}:
        block = _checked(block, len(names), where)
    place_of = {name: place for place, name in enumerate(names)}
    places = [place_of[name] for name in chosen]
    return {name: [row[place] or None for row in block] for name, place in zip(chosen, places, strict=True)}


def _checked(block: list[list[str]], width: int, where: tuple[str, int]) -> list[list[str]]:
    """Return the rows without blank lines; refuse one with another number of fields than the header."""
    source, done = where
    for number, row in enumerate(block, start=done + 2):
        if row and len(row) != width:
            raise InputError(
                f"{source} has {len(row)} fields in record {number}, but {width} columns; check quotes and delimiters"
            )
    return [row for row in block if row]


def _parquet_pieces(path: Path, choose: Callable[[list[str]], Iterable[str]], rows: int) -> Iterator[Piece]:
    source = str(path)
    with path.open("rb") as stream:
        chosen = list(dict.fromkeys(choose(parquet.parquet_names(stream, source))))
    if parquet.engine() == "pyarrow":
        yield from _arrow_pieces(path, chosen, rows)
        return
    with path.open("rb") as stream:
        frame = parquet.polars_frame(stream, source, chosen)
    for number, part in enumerate(frame.iter_slices(rows), start=1):
        columns = {name: parquet.texts(part[name].to_list(), name, source) for name in chosen}
        yield Table(source, columns), min(1.0, number * rows / len(frame))


def _arrow_pieces(path: Path, chosen: list[str], rows: int) -> Iterator[Piece]:
    source = str(path)
    with path.open("rb") as stream:
        file = parquet.arrow_file(stream, source)
        total, done = max(1, file.metadata.num_rows), 0
        batches = parquet.guarded(source, lambda: file.iter_batches(batch_size=rows, columns=chosen, use_threads=False))
        while (batch := parquet.guarded(source, lambda: next(batches, None))) is not None:
            done += batch.num_rows
            columns = {name: parquet.guarded(source, batch.column(name).to_pylist) for name in chosen}
            yield Table(source, {name: parquet.texts(columns[name], name, source) for name in chosen}), done / total


def _unpacked(raw: BinaryIO, path: Path) -> AbstractContextManager[BinaryIO]:
    if not _is_packed(path):
        return nullcontext(raw)
    return bounded(gzip.open(raw), str(path), PIECEWISE)  # type: ignore[arg-type]


def _is_packed(path: Path) -> bool:
    with path.open("rb") as raw:
        return raw.read(len(GZIP)) == GZIP
