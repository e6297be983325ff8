"""Parquet files as text columns, their page headers checked before polars reads them.

A page that states to hold fewer than no values makes polars ask for 2^61 bytes, and its allocator ends the process: no exception, no
message of ours. One wrong bit is enough. This is a look for damage, not a defence: who makes a file on purpose can have polars fail
so in other ways, in packed data too. What this look cannot follow it leaves to polars.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from itertools import islice
from typing import Any, BinaryIO

from compromis._files import UNPACKED
from compromis._text import shown
from compromis.errors import CompromisError, InputError, MissingExtra
from compromis.frames.query import first_line, is_failure
from compromis.frames.tables import Column, Table, check_names

_MAGIC = b"PAR1"
_TAIL = 8
"""Bytes at the end of a file: the length of its description, and the magic."""
_HEADER = 1 << 12
"""Bytes in which nearly all page headers end; those with long statistics are read again."""
_LONGEST_HEADER = 1 << 24
_DAMAGED = (IndexError, RecursionError)
"""What cannot be followed."""
_MOST_PAGES = 300_000
"""Pages looked at in a file: seconds, even if they hold nothing."""

_STOP, _TRUE, _FALSE, _BYTE, _SHORT, _INT, _LONG, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(13)
_WHOLE = (_SHORT, _INT, _LONG)
_ROW_GROUPS, _COLUMNS, _META = 4, 1, 3
_CHUNK_SIZE, _DATA_OFFSET, _DICTIONARY_OFFSET = 7, 9, 11
_PAGE_SIZE = 3
_VALUES = 1
_PAGES = (5, 7, 8)
"""Fields of a page header that hold the header of its kind, each with the number of values first."""
_MOST_VALUES = 1 << 31
"""The format counts them in 32 bits with a sign: a larger number is a negative one too, when it is cut to them."""


def check_pages(stream: BinaryIO, source: str) -> None:
    """Refuse a file with a page of fewer than no values; leave the stream at its start."""
    for _ in islice(_all_pages(stream, source), _MOST_PAGES):
        pass
    stream.seek(0)


def _all_pages(stream: BinaryIO, source: str) -> Iterator[int]:
    """Yield where each page of the file begins, once it was looked at; a column that cannot be followed hides no other."""
    length = stream.seek(0, io.SEEK_END)
    with suppress(*_DAMAGED):
        for start, size in _chunks(_footer(stream, length)):
            with suppress(*_DAMAGED):
                yield from _pages(stream, source, start, min(start + size, length))


def _footer(stream: BinaryIO, end: int) -> _Compact:
    """Return the description of the file at its end."""
    stream.seek(max(0, end - _TAIL))
    tail = stream.read(_TAIL)
    if tail[4:] != _MAGIC:
        raise IndexError
    length = int.from_bytes(tail[:4], "little")
    stream.seek(max(0, end - _TAIL - length))
    return _Compact(stream.read(length))


def _chunks(footer: _Compact) -> Iterator[tuple[int, int]]:
    """Yield where the pages of each column begin, and their bytes."""
    for _ in footer.records(_ROW_GROUPS):
        for _ in footer.records(_COLUMNS):
            for _ in footer.record(_META):
                said = footer.whole_fields()
                yield said.get(_DICTIONARY_OFFSET, said.get(_DATA_OFFSET, 0)), said.get(_CHUNK_SIZE, 0)


def _pages(stream: BinaryIO, source: str, place: int, end: int) -> Iterator[int]:
    """Yield where each page of a column begins, once it was looked at."""
    while 0 <= place < end:
        size, taken = _look(stream, source, place, end)
        yield place
        place += taken + size


def _look(stream: BinaryIO, source: str, place: int, end: int) -> tuple[int, int]:
    window = _HEADER
    while True:
        stream.seek(place)
        try:
            return _check_page(_Compact(stream.read(min(window, end - place))), source)
        except IndexError:
            if window >= min(end - place, _LONGEST_HEADER):
                raise
            window *= 8


def _check_page(compact: _Compact, source: str) -> tuple[int, int]:
    """Return the bytes of a page and those of its header."""
    size = -1
    for field, kind in compact.fields():
        if field == _PAGE_SIZE and kind in _WHOLE:
            size = compact.whole()
        elif field in _PAGES and kind == _STRUCT:
            values = compact.whole_fields().get(_VALUES, 0)
            if not 0 <= values < _MOST_VALUES:
                raise InputError(f"{source} cannot be read as Parquet: a page states to hold {values:,} values")
        else:
            compact.skip(kind)
    if size < 0:
        raise IndexError  # no page at all
    return size, compact.place


class _Compact:
    """Thrift's compact protocol, in which Parquet describes itself: IndexError where the bytes are no such thing."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.place = 0

    def fields(self) -> Iterator[tuple[int, int]]:
        """Yield number and kind of a record's fields; each must be read or skipped before the next."""
        number = 0
        while (first := self._byte()) & 15 != _STOP:
            number = number + (first >> 4) if first >> 4 else self.whole()
            yield number, first & 15

    def record(self, wanted: int) -> Iterator[None]:
        """Read a record; stop at the record that is its field of that number, which must be read before going on."""
        for number, kind in self.fields():
            if number == wanted and kind == _STRUCT:
                yield
            else:
                self.skip(kind)

    def records(self, wanted: int) -> Iterator[None]:
        """Read a record; stop at each record in the list that is its field of that number."""
        for number, kind in self.fields():
            if number == wanted and kind == _LIST:
                for _ in range(self.length()):
                    yield
            else:
                self.skip(kind)

    def whole_fields(self) -> dict[int, int]:
        """Read a record; return those of its fields that are whole numbers."""
        found = {}
        for number, kind in self.fields():
            if kind in _WHOLE:
                found[number] = self.whole()
            else:
                self.skip(kind)
        return found

    def whole(self) -> int:
        """Read a whole number, its sign in the last bit."""
        number = self._varint()
        return (number >> 1) ^ -(number & 1)

    def length(self) -> int:
        """Read how many elements a list has."""
        first = self._byte()
        return first >> 4 if first >> 4 < 15 else self._varint()

    def skip(self, kind: int) -> None:
        """Pass over a value."""
        if kind in _WHOLE:
            self._varint()
        elif kind == _BYTE:
            self.place += 1
        elif kind == _DOUBLE:
            self.place += 8
        elif kind == _BINARY:
            length = self._varint()  # reads on, so not after +=, which takes the place first
            self.place += length
        elif kind in (_LIST, _SET):
            self._skip_list()
        elif kind == _MAP:
            self._skip_map()
        elif kind == _STRUCT:
            for _, own in self.fields():
                self.skip(own)
        elif kind not in (_TRUE, _FALSE):  # whose value is their kind
            raise IndexError

    def _skip_list(self) -> None:
        kind = self._data[self.place] & 15
        for _ in range(self.length()):
            self._skip_element(kind)

    def _skip_map(self) -> None:
        if size := self._varint():
            kinds = self._byte()
            for _ in range(size):
                self._skip_element(kinds >> 4)
                self._skip_element(kinds & 15)

    def _skip_element(self, kind: int) -> None:
        self.skip(_BYTE if kind in (_TRUE, _FALSE) else kind)
        if self.place > len(self._data):
            raise IndexError

    def _varint(self) -> int:
        number = 0
        for shift in range(0, 70, 7):
            part = self._byte()
            number |= (part & 127) << shift
            if part < 128:
                return number
        raise IndexError

    def _byte(self) -> int:
        value = self._data[self.place]
        self.place += 1
        return value


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
