"""The bytes of a file, a pipe or standard input: opened once, unpacked, as UTF-8, and what they hold."""

from __future__ import annotations

import codecs
import io
import re
import stat
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from compromis._files import LINE, UNPACKED
from compromis._text import nearest
from compromis.errors import InputError

BLOCK = 1 << 19
"""Bytes that are looked at together."""
HEAD = 4096
"""Bytes that show what a file holds, where it does not begin with long comments or blank lines."""
RATIO = 64
"""How many times its size a compressed file may become beyond the limit: tables of a few labels are packed so."""
GZIP = b"\x1f\x8b"
GZIP_SUFFIXES = (".gz", ".gzip")
FORMATS_BY_SUFFIX = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".tab": "TSV",
    ".arff": "ARFF",
    ".parquet": "Parquet",
    ".pq": "Parquet",
}
_EXPORT = "which is not read here; export it as CSV or Parquet"
_KNOWN = {
    b"\x89PNG": "a picture (PNG), not a table; give the table that it was drawn from",
    b"\xff\xd8\xff": "a picture (JPEG), not a table; give the table that it was drawn from",
    b"%PDF": "a PDF document, not a table; give the table that it shows, as CSV or Parquet",
    b"SQLite format 3": "an SQLite database, not a table; export the table wanted as CSV",
    b"\xd0\xcf\x11\xe0": f"an Excel workbook of the old kind (.xls), {_EXPORT}",
    b"ARROW1\0": f"an Arrow (Feather) file, {_EXPORT}",
    b"Obj\x01": f"Avro, {_EXPORT}",
    b"\x93NUMPY": f"an array of NumPy, {_EXPORT}",
    b"\x80\x04\x95": "a pickle of Python, which could run code and is never opened; export it as CSV or Parquet",
    GZIP: "gzip inside gzip; decompress it once",
    b"\x89HDF": f"HDF5, {_EXPORT}",
    b"\xfd7zXZ": "xz, which is not read here; decompress it, or compress it with gzip",
    b"\x28\xb5\x2f\xfd": "zstd, which is not read here; decompress it, or compress it with gzip",
    b"\xff\xfe\0\0": "UTF-32 text; convert it to UTF-8",
    b"\0\0\xfe\xff": "UTF-32 text; convert it to UTF-8",
}
"""What other files begin with."""
_ALIKE = {
    rb"BZh[1-9](1AY&SY|\x17rE8P\x90)": "bzip2, which is not read here; decompress it, or compress it with gzip",
    rb'\s*(\[\s*)?\{\s*"': "JSON, which is not a table; export it as CSV or Parquet",
    rb"(?i)\s*<(!doctype html|html|\?xml)[\s>]": "a page or document (HTML or XML), not a table; export the table as CSV",
}
"""Patterns of what other files begin with, where a few letters might be a name of a column."""
_PRINTED = re.compile(rb"[^\0-\x08\x0b\x0c\x0e-\x1f\x7f]*[\r\n]")
"""A line of text, as no Parquet begins."""
_FIRST_LINE = re.compile(rb"[\r\n]*[^\r\n]*")
_COMMENTS = re.compile(r"(?:[ \t]*+(?:%[^\r\n]*+)?[\r\n]++)*+[ \t]*+")
_KEYWORD = re.compile(r"@(relation|attribute)\s", re.IGNORECASE)
_ENCODINGS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


class Content:
    """A file, a pipe or standard input, read once from its beginning.

    Parameters
    ----------
    path : str
        The file; ``-`` is standard input.
    limited : bool
        Whether a small file that becomes a large one is refused.

    Attributes
    ----------
    source : str
        What messages call it.
    format : str
        CSV (and its relatives), ARFF or Parquet, by its first bytes.
    packed : bool
        Whether it is compressed with gzip.
    plain : bool
        Whether its text is UTF-8.
    tabs : bool
        Whether its name says that tabs stand between cells.
    """

    def __init__(self, path: str, *, limited: bool = True) -> None:
        self._limited = limited
        self.source = "standard input" if path == "-" else path
        self._path = None if path == "-" else Path(path)
        self._raw = _opened(path)
        self._stamp = stamp(self._path)
        self._read = 0
        try:
            start = self._more(HEAD)
            self.packed = start.startswith(GZIP)
            self._blocks = self._bytes(start)
            self._head = b"".join(self._first(HEAD))
            self._encoding = next((name for mark, name in _ENCODINGS.items() if self._head.startswith(mark)), "")
            self.plain = self._encoding in {"", "utf-8"}
            self.format = self._detected()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        if self._path is not None:
            self._raw.close()

    @property
    def size(self) -> int:
        """Bytes of the file; 0 where it cannot be known."""
        return self._stamp[0] if self._stamp else 0

    @property
    def share(self) -> float:
        """The share of the file that was read."""
        return min(1.0, self._read / self.size) if self.size else 0.0

    def text(self) -> Iterator[bytes]:
        """Yield what the file holds as blocks of UTF-8, checked."""
        decoder = codecs.getincrementaldecoder(self._encoding or "utf-8")("strict")
        mark = next((mark for mark, name in _ENCODINGS.items() if name == self._encoding), b"")
        before = len(mark)
        for block in self._all(len(mark)):
            ready = self.plain and not decoder.getstate()[0] and block.isascii()
            yield block if ready else self._decoded(decoder, block, before)
            before += len(block)
        self._decoded(decoder, b"", before, last=True)
        if self._stamp and stamp(self._path) != self._stamp:
            raise InputError(f"{self.source} changed while it was read; run again when it is complete")

    def _decoded(self, decoder: codecs.IncrementalDecoder, block: bytes, before: int, *, last: bool = False) -> bytes:
        waiting = decoder.getstate()[0]
        try:
            return decoder.decode(block, last).encode("utf-8")
        except UnicodeDecodeError as error:
            kind = "UTF-8" if self.plain else "UTF-16"
            place = before - len(waiting) + error.start
            raise InputError(f"{self.source} is not {kind} text ({self._where(place)}); convert it first") from error
        except UnicodeEncodeError as error:
            raise InputError(f"{self.source} holds half a letter of UTF-16; convert it to UTF-8 first") from error

    def _where(self, place: int) -> str:
        """Say where a byte stands: on which line only where the file can be read again."""
        if self._path is None or self.packed or not self.plain or not self._stamp:
            return f"byte {place:,}"
        with self._path.open("rb") as file:
            blocks = (file.read(min(BLOCK, place - start)) for start in range(0, place, BLOCK))
            line = 1 + sum(block.count(b"\n") or block.count(b"\r") for block in blocks)
        return f"byte {place:,}, line {line:,}"

    def stream(self) -> BinaryIO:
        """Return the whole file as a stream that can be read in any order: the file itself, or its bytes."""
        if self._path is not None and not self.packed and self._stamp:
            self._raw.seek(0)
            return self._raw
        whole = io.BytesIO()
        for block in self._all(0):
            whole.write(block)
            if whole.tell() > UNPACKED.most:
                raise InputError(
                    f"{self.source} has more than {UNPACKED.most:,} bytes, which must be held in memory; write it to a file "
                    f"that is not compressed, or set {UNPACKED.setting} to raise the limit"
                )
        whole.seek(0)
        return whole

    def _all(self, skipped: int) -> Iterator[bytes]:
        head, self._head = self._head, b""
        yield head[skipped:]
        yield from self._blocks

    def _more(self, size: int = BLOCK) -> bytes:
        try:
            data = self._raw.read(size)
        except OSError as error:  # it does not say of which file
            error.filename = self.source
            raise
        self._read += len(data)
        return data

    def _first(self, size: int) -> Iterator[bytes]:
        """Yield blocks up to some bytes, or to the end."""
        while size > 0 and (block := next(self._blocks, b"")):
            size -= len(block)
            yield block

    def _bytes(self, start: bytes) -> Iterator[bytes]:
        if self.packed:
            yield from self._unpacked(start)
            return
        while start:
            yield start
            start = self._more()

    def _unpacked(self, packed: bytes) -> Iterator[bytes]:
        """Yield the bytes of all members of a gzip file; beyond the limit it must be large itself."""
        unpacker, total, most = zlib.decompressobj(31), 0, UNPACKED.most
        try:
            while packed:
                block = unpacker.decompress(packed, BLOCK)
                total += len(block)
                if self._limited and total > most and total > RATIO * self._read:
                    raise InputError(
                        f"{self.source} becomes more than {most:,} bytes when it is decompressed, which is {RATIO} times its size "
                        f"and more; decompress it, or set {UNPACKED.setting} to raise the limit"
                    )
                if block:
                    yield block
                packed = unpacker.unconsumed_tail or unpacker.unused_data.lstrip(b"\0") or self._more()
                if unpacker.eof:
                    while packed and not packed.strip(b"\0"):
                        packed = self._more()
                    unpacker = zlib.decompressobj(31) if packed else unpacker
            if not unpacker.eof:
                raise InputError(f"{self.source} cannot be decompressed: it ends in the middle")
        except zlib.error as error:
            raise InputError(f"{self.source} cannot be decompressed: {error}") from error

    def _detected(self) -> str:
        suffixes = [] if self._path is None else [suffix.lower() for suffix in self._path.suffixes]
        if suffixes and suffixes[-1] in GZIP_SUFFIXES:
            if not self.packed:
                raise InputError(f"{self.source} is named as gzip but is not; rename it to what it is")
            suffixes.pop()
        found = self._sniffed()
        expected = FORMATS_BY_SUFFIX.get(suffixes[-1] if suffixes else "")
        self.tabs = expected == "TSV"
        if expected is not None and expected != found and (expected, found) != ("TSV", "CSV"):
            raise InputError(f"{self.source} is named as {expected} but holds {found}; rename it to what it is")
        return found

    def _sniffed(self) -> str:
        start = self._head
        if start.startswith(b"PK\x03\x04"):
            excel = b"xl/" in start or b"[Content_Types]" in start
            sheet = b"opendocument.spreadsheet" in start
            what = "an Excel workbook" if excel else "an OpenDocument spreadsheet" if sheet else "a zip archive"
            raise InputError(f"{self.source} holds {what}, {_EXPORT}")
        for magic, what in _KNOWN.items():
            if start.startswith(magic):
                raise InputError(f"{self.source} holds {what}")
        for pattern, what in _ALIKE.items():
            if re.match(pattern, start.removeprefix(codecs.BOM_UTF8)):
                raise InputError(f"{self.source} holds {what}")
        if start.startswith(b"PAR1") and not _PRINTED.match(start):
            return "Parquet"
        first = _FIRST_LINE.match(start)
        assert first is not None
        if b"\0" in first[0] if self.plain else not {"\n", "\r"} & set(self._words()):
            raise InputError(f"{self.source} holds binary data, not a table; give CSV, TSV, ARFF or Parquet")
        line = self._line()
        if not self._words().strip():
            raise InputError(f"{self.source} is empty")
        return "ARFF" if _KEYWORD.match(line) else "CSV"

    def _line(self) -> str:
        """Return the first line that is neither blank nor a comment of ARFF, which may be a header of CSV; read on until it is there."""
        while True:
            text = self._words()
            line = text[_COMMENTS.match(text).end() :]  # type: ignore[union-attr]
            if len(line) > len("@attribute") and not line.startswith("%"):  # a comment's end may be beyond the head
                return line
            before = len(self._head)
            LINE.check(before, f"{self.source} begins with blank lines and comments of {before:,} bytes")
            self._head += b"".join(self._first(before))
            if len(self._head) == before:
                return line

    def _words(self) -> str:
        return self._head.decode(self._encoding or "utf-8", "replace").lstrip("\ufeff")


def _opened(path: str) -> BinaryIO:
    if path == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed; name a file")
        return sys.stdin.buffer
    if not Path(path).exists():
        raise no_such_file(path)
    if Path(path).is_dir():
        raise InputError(f"{path!r} is a folder; name a file in it")
    return Path(path).open("rb")


def stamp(path: Path | None) -> tuple[int, int, int] | None:
    """Return what tells a file from a changed one; None for pipes and devices."""
    if path is None:
        return None
    try:
        state = path.stat()
    except OSError:
        return (-1, -1, -1)
    return (state.st_size, state.st_mtime_ns, state.st_ino) if stat.S_ISREG(state.st_mode) else None


def no_such_file(path: str) -> InputError:
    """Return the error that says which file of the folder has the nearest name."""
    try:
        others = [other.name for other in Path(path).parent.iterdir()]
    except OSError:
        others = []
    return InputError(f"there is no file {path!r}{nearest(Path(path).name, others)}")


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
