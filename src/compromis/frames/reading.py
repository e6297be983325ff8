"""Tables in files, a piece at a time: files larger than memory, with the share read so far."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from compromis._files import PIECEWISE, bounded, check_announced
from compromis._text import nearest
from compromis.errors import InputError
from compromis.frames import arff, parquet
from compromis.frames import tables as delimited
from compromis.frames.tables import Column, Table, pick_column, score_columns

ROWS = 50_000
"""Rows of a piece."""
DELIMITERS = {"CSV": ",", "TSV": "\t"}

Piece = tuple[Table, float]
"""Some rows, and the share of the file that is read after them."""


def read_pieces(path: str, choose: Callable[[list[str]], Iterable[str]], rows: int = ROWS) -> Iterator[Piece]:
    r"""Yield the columns that `choose` picks, `rows` rows at a time, each with the share of the file that was read; ARFF comes whole.

    Text exactly as written: nothing is guessed, only an empty field is missing.

    Examples
    --------
    >>> import compromis as cp
    >>> with open("sites.csv", "w") as file:
    ...     _ = file.write("true,predicted\n01,1\nNA,\n")
    >>> for table, share in cp.frames.read_pieces("sites.csv", lambda names: names, rows=1):
    ...     print(dict(table.columns))
    {'true': ['01'], 'predicted': ['1']}
    {'true': ['NA'], 'predicted': [None]}
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


GZIP, PARQUET = b"\x1f\x8b", b"PAR1"
GZIP_SUFFIXES = (".gz", ".gzip")
KNOWN_BINARY = {
    GZIP: "gzip",
    PARQUET: "Parquet",
    b"PK\x03\x04": "a zip archive (or Excel)",
    b"\x89HDF": "HDF5",
    b"BZh": "bzip2",
}


@dataclass(frozen=True, slots=True)
class _Format:
    names: Callable[[BinaryIO, str], list[str]]
    read: Callable[[BinaryIO, str, Sequence[str]], Table]


FORMATS = {
    "CSV": _Format(delimited.csv_names, delimited.read_csv),
    "TSV": _Format(delimited.tsv_names, delimited.read_tsv),
    "ARFF": _Format(arff.arff_names, arff.read_arff),
    "Parquet": _Format(parquet.parquet_names, parquet.read_parquet),
}


def read_table(path: str, choose: Callable[[list[str]], Iterable[str]] | Sequence[str | None]) -> Table:
    r"""Read columns of a file (or ``-``, standard input) as text, exactly as written; an empty field is missing.

    Parameters
    ----------
    path : str
        CSV, TSV, ARFF or Parquet, also compressed with gzip; the content must be what the name says.
    choose : sequence of str, or callable
        The columns wanted, of which None is left out; or a function that picks them among the names of the file.

    Examples
    --------
    >>> import compromis as cp
    >>> with open("sites.csv", "w") as file:
    ...     _ = file.write("true,predicted\n01,1\nNA,\n")
    >>> dict(cp.frames.read_table("sites.csv", ["true", "predicted"]).columns)
    {'true': ['01', 'NA'], 'predicted': ['1', None]}
    """
    content = _Content(path)
    content.check_size()
    with content.open() as stream:
        names = content.format.names(stream, content.source)
    chosen = choose(names) if callable(choose) else [pick_column(name, names) for name in choose if name is not None]
    with content.open() as stream:
        return content.format.read(stream, content.source, list(dict.fromkeys(chosen)))


def column_names(path: str) -> list[str]:
    r"""Return the names of a file's columns; standard input can be read once only, and is refused.

    Examples
    --------
    >>> import compromis as cp
    >>> with open("sites.csv", "w") as file:
    ...     _ = file.write("true,predicted\n01,1\n")
    >>> cp.frames.column_names("sites.csv")
    ['true', 'predicted']
    """
    if path == "-":
        raise InputError("standard input cannot be read twice; name a file")
    content = _Content(path)
    with content.open() as stream:
        return content.format.names(stream, content.source)


def read_scored(path: str, named: Sequence[str | None], proba: Sequence[str]) -> tuple[Table, dict[str, str]]:
    r"""Read the named columns, and those of class scores: by name, or by a prefix before the name of the class.

    Returns
    -------
    table : Table
        The columns.
    class_of : dict
        The class of each column of scores.

    Examples
    --------
    >>> import compromis as cp
    >>> with open("votes.csv", "w") as file:
    ...     _ = file.write("t,p_a,p_b\na,0.9,0.1\n")
    >>> table, class_of = cp.frames.read_scored("votes.csv", ["t"], ["p_"])
    >>> class_of, table.numbers("p_b").tolist()
    ({'p_a': 'a', 'p_b': 'b'}, [0.1])
    """
    class_of: dict[str, str] = {}

    def choose(names: list[str]) -> list[str]:
        picked = [pick_column(name, names) for name in named if name is not None]
        class_of.update(score_columns(proba, [name for name in names if name not in picked]))
        return [*picked, *class_of]

    return read_table(path, choose), class_of


def format_name(path: str) -> str:
    """Return what a file holds: CSV, TSV, ARFF or Parquet; the content must be what the name says."""
    found = _Content(path).format
    return next(name for name, known in FORMATS.items() if known is found)


def open_content(path: str) -> AbstractContextManager[BinaryIO]:
    """Open a file, decompressed."""
    return _Content(path).open()


class _Content:
    """A file or standard input that can be read twice: once for the names, once for the columns."""

    def __init__(self, path: str) -> None:
        self.source = "standard input" if path == "-" else path
        self._path = None if path == "-" else Path(path)
        self._bytes = sys.stdin.buffer.read() if path == "-" else b""
        if self._path is not None and not self._path.exists():
            raise no_such_file(path)
        if self._path is not None and self._path.is_dir():
            raise InputError(f"{path!r} is a folder; name a file in it")
        self.format = self._detect()

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the content anew, decompressed."""
        with self._open_raw() as raw:
            packed = raw.read(len(GZIP)) == GZIP
            raw.seek(0)
            if not packed:
                yield raw
                return
            with gzip.open(raw) as unpacked:
                yield bounded(unpacked, self.source)  # type: ignore[arg-type]

    def check_size(self) -> None:
        """Refuse what says itself that it would not fit into memory."""
        if self._starts_with(GZIP):
            with self._open_raw() as raw:
                check_announced(raw, self.source)

    def _open_raw(self) -> BinaryIO:
        return io.BytesIO(self._bytes) if self._path is None else self._path.open("rb")

    def _detect(self) -> _Format:
        suffixes = [] if self._path is None else [suffix.lower() for suffix in self._path.suffixes]
        if suffixes and suffixes[-1] in GZIP_SUFFIXES:
            if not self._starts_with(GZIP):
                raise InputError(f"{self.source} is named as gzip but is not; rename it to what it is")
            suffixes.pop()
        start = self._start()
        if not start.strip():
            raise InputError(f"{self.source} is empty")
        expected = FORMATS_BY_SUFFIX.get(suffixes[-1] if suffixes else "")
        found = _sniff(start, self.source)
        if expected is not None and expected != found and not {expected, found} <= {"CSV", "TSV"}:
            raise InputError(f"{self.source} is named as {expected} but holds {found}; rename it to what it is")
        return FORMATS[expected or found]

    def _starts_with(self, magic: bytes) -> bool:
        with self._open_raw() as raw:
            return raw.read(len(magic)) == magic

    def _start(self) -> bytes:
        try:
            with self.open() as stream:
                return stream.read(4096)
        except (EOFError, OSError, zlib.error) as error:
            raise InputError(f"{self.source} cannot be decompressed: {error}") from error


FORMATS_BY_SUFFIX = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".tab": "TSV",
    ".arff": "ARFF",
    ".parquet": "Parquet",
    ".pq": "Parquet",
}


def table_suffix(name: str) -> str:
    """Return the suffixes by which a file is known as a table, in lower case; an empty text if it has none.

    Examples
    --------
    >>> import compromis as cp
    >>> cp.frames.table_suffix("Votes.CSV.gz"), cp.frames.table_suffix("notes.txt")
    ('.csv.gz', '')
    """
    lower = name.lower()
    packed = next((suffix for suffix in GZIP_SUFFIXES if lower.endswith(suffix)), "")
    bare = lower.removesuffix(packed)
    return next((suffix for suffix in FORMATS_BY_SUFFIX if bare.endswith(suffix)), "") + packed


def _sniff(start: bytes, source: str) -> str:
    if start.startswith(PARQUET):
        return "Parquet"
    for magic, name in KNOWN_BINARY.items():
        if start.startswith(magic):
            raise InputError(f"{source} holds {name}, which is not read here; export it as CSV or Parquet")
    if b"\0" in start:
        raise InputError(f"{source} holds binary data, not a table; give CSV, TSV, ARFF or Parquet")
    header = next(line for line in start.splitlines() if line.strip())
    # ARFF often starts with long comments
    if header.lstrip(b"\xef\xbb\xbf \t").lower().startswith((b"%", b"@relation", b"@attribute")):
        return "ARFF"
    return "TSV" if header.count(b"\t") > header.count(b",") else "CSV"


def no_such_file(path: str) -> InputError:
    """Return the error that says which file of the folder has the nearest name."""
    try:
        others = [other.name for other in Path(path).parent.iterdir()]
    except OSError:
        others = []
    return InputError(f"there is no file {path!r}{nearest(Path(path).name, others)}")
