"""CSV, TSV and their relatives: the header by the standard library, the rows by a compiled reader of RFC 4180."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from compromis._files import LINE, UNPACKED
from compromis.errors import InputError
from compromis.frames.content import BLOCK, Content
from compromis.frames.tables import Numbers, Table, Texts, check_names

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars (|)"}
HEAD_SIZE = 1 << 16
"""Characters that are read to see how cells are delimited, at least."""
_SEPARATOR = re.compile(r"sep=(.)\r?(?:\n|$)", re.IGNORECASE)
"""The first line by which Excel tells the delimiter."""


_LINE_END = re.compile(r"[\r\n]*$")


class _Record(NamedTuple):
    cells: list[str]
    number: int
    """Which record it is, blank lines included."""
    end: int
    """Where the next one begins."""


class Delimited:
    """A table of delimited text.

    Attributes
    ----------
    names : list of str
        The columns.
    delimiter : str
        What stands between cells.
    remark : str
        What one should know of how cells are delimited.
    oddities : set of str
        What other readers may take in another way; known when all rows were read.
    """

    def __init__(self, content: Content) -> None:
        self._content = content
        self._blocks = content.text()
        self._head = ""
        self._whole = False
        self.oddities: set[str] = set()
        self._read_more(HEAD_SIZE)
        separator = _SEPARATOR.match(self._head)
        if separator:
            self.oddities.add("a line 'sep='")
            self._head = self._head[separator.end() :]
        self.delimiter = separator[1] if separator else self._guessed()
        if not self.delimiter.isascii() or self.delimiter in '"\r\n\0':
            raise InputError(
                f"{content.source} says that {self.delimiter!r} stands between its cells; use one of , ; | or a tab"
            )
        usual = self.delimiter == "," or (self.delimiter == "\t" and content.tabs)
        what = DELIMITERS.get(self.delimiter, repr(self.delimiter))
        self.remark = "" if usual else f"{content.source}: {what} stand between the cells"
        try:
            header = self._records(self.delimiter, 1)[0]
        except csv.Error as error:
            raise InputError(f"{content.source} cannot be read as a table: {error} in record 1") from error
        except IndexError:
            raise InputError(f"{content.source} is empty") from None
        self.names = header.cells
        check_names(self.names, content.source)
        if header.number > 1:
            self.oddities.add("blank lines")
        self._number = header.number + (2 if separator else 1)
        self._header_end = _LINE_END.search(self._head[: header.end])[0]  # type: ignore[index]
        self._head = self._head[header.end :]

    def tables(self, texts: Sequence[str], numbers: Sequence[str]) -> Iterator[Table]:
        """Yield some rows after the other, as soon as they are read."""
        from compromis.frames._kernels import NUMBER_KIND, TEXT_KIND, Cells

        kinds = np.zeros(len(self.names), dtype=np.uint8)
        place_of = {name: place for place, name in enumerate(self.names)}
        texts, numbers = ([*sorted(wanted, key=place_of.__getitem__)] for wanted in (texts, numbers))
        kinds[[place_of[name] for name in texts]] = TEXT_KIND
        kinds[[place_of[name] for name in numbers]] = NUMBER_KIND
        seed = int.from_bytes(os.urandom(8), "little")
        cells = Cells(ord(self.delimiter), kinds, self._number, LINE.most, seed)
        room = BLOCK // max(2, len(kinds)) + 3
        codes, values = np.empty((len(texts), room), dtype=np.int32), np.empty((len(numbers), room))
        known: list[list[str]] = [[] for _ in (*texts, *numbers)]
        done = 0
        for count in self._counts(cells, codes, values):
            if count == 0:
                continue
            for place, labels in enumerate(known):
                if cells.label_count(place) > len(labels):
                    labels += cells.labels_of(place, len(labels))
            columns: dict[str, Any] = {name: Texts(codes[k, :count].copy(), known[k]) for k, name in enumerate(texts)}
            for k, name in enumerate(numbers):
                columns[name] = Numbers(values[k, :count].copy(), known[len(texts) + k])
            codes[:, 0], values[:, 0] = codes[:, count], values[:, count]
            yield Table(source=self._content.source, columns=columns, rows=np.arange(done + 1, done + count + 1))
            done += count

    def _counts(self, cells: Any, codes: Any, values: Any) -> Iterator[int]:
        """Yield the number of rows that each block ends."""
        most = UNPACKED.most
        for block in self._rest():
            count = cells.read(block, codes, values)
            self._check(cells)
            if cells.size > most:
                raise InputError(
                    f"{self._content.source} has more than {most:,} bytes of different texts in the columns wanted; is one of them an "
                    f"identifier or a text? {UNPACKED.setting} raises the limit"
                )
            yield count
        count = cells.close(codes, values)
        self._check(cells)
        yield count
        self.oddities |= cells.oddities(self._header_end)

    def _rest(self) -> Iterator[Any]:
        head, self._head = self._head.encode("utf-8"), ""
        for block in chain([head], self._blocks):
            if b"\0" in block:
                self.oddities.add("a NUL")
            view = memoryview(block)
            for start in range(0, len(view), BLOCK):
                yield view[start : start + BLOCK]

    def _check(self, cells: Any) -> None:
        if not cells.error:
            return
        source, record, column = self._content.source, f"record {cells.record:,}", cells.column
        where = f"{record}, column {self.names[column]!r}" if column < len(self.names) else record
        error = cells.error_name()
        if error == "memory":
            raise MemoryError
        if error == "long":
            LINE.check(LINE.most + 1, f"{source} has a line of more than {LINE.most:,} characters in {record}")
        if error == "ragged":
            raise InputError(
                f"{source} has {column + 1} fields in {record}, but {len(self.names)} columns; check quotes and delimiters"
            )
        what = {
            "after quote": f"text follows a closing quote in {where}; a quote inside a quoted cell is written twice",
            "open quote": f"the quote that opens in {where} is never closed",
        }
        raise InputError(f"{source} cannot be read as a table: {what[error]}")

    def _guessed(self) -> str:
        """Return the delimiter that gives header and first row the same, largest number of cells; the usual one in a tie.

        The first row counts if it is near.
        """
        usual = "\t" if self._content.tabs else ","
        found = {delimiter: self._width(delimiter) for delimiter in dict.fromkeys((usual, *DELIMITERS))}
        best = max(found, key=lambda delimiter: found[delimiter])
        return best if found[best] > 1 else usual

    def _width(self, delimiter: str) -> int:
        try:
            header = self._records(delimiter, 1)
            widths = {len(record.cells) for record in header + self._whole_records(delimiter, 2)[0]}
        except csv.Error:
            return 0
        return widths.pop() if len(widths) == 1 else 0

    def _records(self, delimiter: str, count: int) -> list[_Record]:
        """Return the first records that are no blank lines; read on until they are whole."""
        while True:
            found, whole = self._whole_records(delimiter, count)
            if whole or self._whole:
                return found
            self._read_more(2 * len(self._head))

    def _whole_records(self, delimiter: str, count: int) -> tuple[list[_Record], bool]:
        """Return up to `count` records, and whether there cannot be more of them in what was read."""
        end = 0
        found: list[_Record] = []

        def lines() -> Iterator[str]:
            nonlocal end
            for line in io.StringIO(self._head, newline=""):
                end += len(line)
                yield line

        try:
            for number, cells in enumerate(csv.reader(lines(), delimiter=delimiter, strict=True), start=1):
                if end == len(self._head) and not self._whole:
                    return found, False  # its line end may be the first half of one
                if cells:
                    found.append(_Record(cells, number, end))
                if len(found) == count:
                    return found, True
        except csv.Error:
            if end == len(self._head) and not self._whole:
                return found, False
            if not found:
                raise
            return found, True
        return found, self._whole

    def _read_more(self, size: int) -> None:
        """Read until the head has more than that many letters, or until the end."""
        parts, length = [self._head], len(self._head)
        if length > LINE.most:
            LINE.check(length, f"{self._content.source} has a line of more than {LINE.most:,} characters")
        while length <= size and not self._whole:
            block = next(self._blocks, None)
            self._whole = block is None
            parts.append("" if block is None else block.decode("utf-8"))
            length += len(parts[-1])
        self._head = "".join(parts)
