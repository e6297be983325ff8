"""Parquet as text, through pyarrow or polars, whichever is installed."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, BinaryIO

from compromis.engines.delimited import check_names
from compromis.engines.parquet_pages import check_pages
from compromis.engines.table import Column, Table
from compromis.errors import CompromisError, InputError, MissingExtra, shown
from compromis.limits import UNPACKED
from compromis.queries.running import first_line, is_failure

_CELL = 8
"""Bytes of a value in memory, at least."""


def parquet_names(stream: BinaryIO, source: str) -> list[str]:
    """Return the names of the columns."""
    stream = _at_hand(stream)
    if engine() == "polars":
        import polars

        names = list(guarded(source, lambda: polars.read_parquet_schema(stream)))
    else:
        import pyarrow.parquet

        names = list(guarded(source, lambda: pyarrow.parquet.read_schema(stream)).names)
    check_names(names, source)
    return names


def read_parquet(stream: BinaryIO, source: str, columns: Sequence[str]) -> Table:
    """Return the columns, numbers and dates written out as text."""
    # the open file is handed over, not its name: both engines would expand wildcards in a name
    stream = _at_hand(stream)
    if engine() == "polars":
        import polars

        count = guarded(source, lambda: polars.scan_parquet(stream).select(polars.len()).collect().item())
        _check_size(count, len(columns), source)
        frame = polars_frame(stream, source, columns)
        return Table(source, {name: texts(frame[name].to_list(), name, source) for name in columns})
    file = arrow_file(stream, source)
    _check_size(file.metadata.num_rows, len(columns), source)
    table = guarded(source, lambda: file.read(list(columns), use_threads=False))
    return Table(source, {name: texts(guarded(source, table[name].to_pylist), name, source) for name in columns})


def _at_hand(stream: BinaryIO) -> BinaryIO:
    """Return the stream, or what it holds where it unpacks: every step back in it would begin at its start again."""
    plain = isinstance(stream, io.BytesIO) or isinstance(getattr(stream, "raw", None), io.FileIO)
    return stream if plain else io.BytesIO(stream.read())


def arrow_file(stream: BinaryIO, source: str) -> Any:
    """Return the file as pyarrow opens it, to be read without threads: at the end of a process pyarrow's own aborted it now and then."""
    import pyarrow.parquet

    return guarded(source, lambda: pyarrow.parquet.ParquetFile(stream, pre_buffer=False))


def polars_frame(stream: BinaryIO, source: str, columns: Sequence[str]) -> Any:
    """Return the columns as a frame of polars."""
    import polars

    check_pages(stream, source)
    return guarded(source, lambda: polars.read_parquet(stream, columns=list(columns)))


def _check_size(rows: int, columns: int, source: str) -> None:
    """Refuse what would not fit: a value repeated a thousand million times is a file of a few bytes."""
    size = _CELL * rows * columns
    if size > UNPACKED.most:
        raise InputError(
            f"{source} has {rows:,} rows, too many to be read into memory; read it with an engine (--engine polars), or set "
            f"{UNPACKED.setting} to {size} to raise the limit"
        )


def texts(values: list[Any], name: str, source: str) -> Column:
    """Return values as text; NaN is missing, and 1.0 is written 1: whole numbers become floats where some are missing."""
    if any(isinstance(value, (bytes, list, dict)) for value in values):
        raise InputError(f"column {name!r} of {source} holds lists, bytes or records; labels and numbers are needed")
    return [None if value is None or value != value else text_of(value) for value in values]


def text_of(value: Any) -> str:
    """Return a value as text; 1.0 is written 1, and what is no label is refused."""
    nested = hasattr(value, "__array__") and value.ndim > 0
    if nested or isinstance(value, (bytes, bytearray, list, tuple, dict)):
        raise InputError(
            f"a column of classes holds lists, bytes or records ({shown([value])}); labels and numbers are needed"
        )
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


def engine() -> str:
    """Return what reads Parquet here: pyarrow if it is there, which reports what it cannot read, where polars may end the process."""
    for name in ("pyarrow", "polars"):
        if find_spec(name):
            return name
    raise MissingExtra("reading Parquet needs polars or pyarrow; install it with: pip install 'compromis[big]'")


def guarded(source: str, read: Callable[[], Any]) -> Any:
    """Return what the engine reads; its errors become one sentence."""
    try:
        return read()
    except (CompromisError, MemoryError):
        raise
    except BaseException as error:  # the engines raise types of their own for a corrupt file
        if not is_failure(error):
            raise
        raise InputError(f"{source} cannot be read as Parquet: {first_line(error)}") from error
