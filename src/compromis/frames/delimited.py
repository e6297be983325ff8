"""CSV, TSV and their relatives: the header by a pattern, the rows by a compiled reader of RFC 4180."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, NoReturn

import numpy as np

from compromis._files import COLUMNS, LINE
from compromis.errors import InputError
from compromis.frames.content import BLOCK, Content
from compromis.frames.tables import Numbers, Table, Texts, check_names, check_texts

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars (|)"}
HEAD_SIZE = 1 << 16
"""Characters that are read to see how cells are delimited, at least."""
_SEPARATOR = re.compile(r"sep=(.)\r?(?:\n|$)", re.IGNORECASE)
"""The first line by which Excel tells the delimiter."""
_LINE_END = re.compile(r"\r\n|\r|\n|$")
_LINE_ENDS = re.compile(r"[\r\n]*")


class _Record(NamedTuple):
    cells: list[str]
    end: int
    """Where its line end begins."""
    next: int
    """Where the next record begins."""


class _Unreadable(InputError):
    """A record that is none under some delimiter."""


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
        self._number = 1 + bool(separator)
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
        header = self._header(self.delimiter)
        self.names = header.cells
        check_names(self.names, content.source)
        blank = _count_lines(self._head)
        if blank:
            self.oddities.add("blank lines")
        self._number += 1 + blank
        self._header_end = self._head[header.end : header.next]
        self._head = self._head[header.next :]

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
        for block in self._rest():
            count = cells.read(block, codes, values)
            self._check(cells)
            check_texts(cells.texts_held, cells.letters_held, self._content.source)
            yield count
        count = cells.close(codes, values)
        self._check(cells)
        yield count
        self.oddities |= cells.oddities(self._header_end)

    def _rest(self) -> Iterator[Any]:
        head, self._head = self._head.encode("utf-8"), ""
        for block in chain([head], self._blocks):
            view = memoryview(block)
            for start in range(0, len(view), BLOCK):
                yield view[start : start + BLOCK]

    def _check(self, cells: Any) -> None:
        if not cells.error:
            return
        source, record, column = self._content.source, cells.record, cells.column
        error = cells.error_name()
        if error == "memory":
            raise MemoryError
        if error == "long":
            LINE.check(LINE.most + 1, f"{source} has a line of too many characters in record {record:,}")
        if error == "ragged":
            raise InputError(
                f"{source} has {column + 1} field{'s' * bool(column)} in record {record:,}, but {len(self.names)} columns; check quotes "
                "and delimiters"
            )
        name = f"column {self.names[column]!r}" if column < len(self.names) else f"field {column + 1}"
        self._refuse_quote(f"record {record:,}, {name}", never_closed=error == "open quote")

    def _refuse_quote(self, where: str, *, never_closed: bool) -> NoReturn:
        what = (
            f"the quote that opens in {where} is never closed"
            if never_closed
            else f"text follows a closing quote in {where}; a quote inside a quoted cell is written twice"
        )
        raise _Unreadable(f"{self._content.source} cannot be read as a table: {what}")

    def _guessed(self) -> str:
        """Return the delimiter that gives header and first row the same, largest number of cells; the usual one in a tie.

        The first row counts if it is near.
        """
        usual = "\t" if self._content.tabs else ","
        found = {delimiter: self._width(delimiter) for delimiter in dict.fromkeys((usual, *DELIMITERS))}
        best = max(found, key=lambda delimiter: found[delimiter])
        return best if found[best] > 1 else usual

    def _width(self, delimiter: str) -> int:
        """Return how many cells the header has, 0 where the first row has another number or either cannot be read."""
        try:
            header = self._header(delimiter)
            row = self._record(header.next, delimiter)
        except _Unreadable:
            return 0
        return len(header.cells) if row is None or len(row.cells) == len(header.cells) else 0

    def _header(self, delimiter: str) -> _Record:
        """Return the first record that is no blank line; read on until it is whole."""
        while (header := self._record(0, delimiter)) is None:
            if self._whole:
                raise InputError(f"{self._content.source} is empty")
            self._read_more(2 * len(self._head))
        return header

    def _record(self, place: int, delimiter: str) -> _Record | None:
        """Return the next record that is no blank line; None where it may go on after what was read, or there is none."""
        head, cells, most = self._head, list[str](), COLUMNS.most
        begin = place = _LINE_ENDS.match(head, place).end()  # type: ignore[union-attr]
        # what a quote holds is not looked at again, which would take memory for each quote inside
        inside, plain = r'[^"]*+(?:""[^"]*+)*+', rf"[^\r\n{re.escape(delimiter)}]"
        pattern = re.compile(rf'"({inside})"|((?!"){plain}+|)')
        while True:
            cell: Any = pattern.match(head, place)
            place = cell.end()
            if place == len(head) and (begin == place or not self._whole):
                return None
            cells.append(cell[2] if cell[1] is None else cell[1].replace('""', '"'))
            if len(cells) > most:  # before the rest of a giant is taken apart
                COLUMNS.check(most + 1, f"{self._content.source} has too many columns")
            if head[place : place + 1] != delimiter:
                break
            place += 1
        if place < len(head) and head[place] not in "\r\n":
            if cell[1] is None and not self._whole:  # the quote may be closed
                return None
            where = f"record {self._number + _count_lines(head[:begin]):,}, column {len(cells)}"
            self._refuse_quote(where, never_closed=cell[1] is None)
        after = _LINE_END.match(head, place).end()  # type: ignore[union-attr]
        if after == len(head) and not self._whole:  # its line end may be the first half of one
            return None
        return _Record(cells, place, after)

    def _read_more(self, size: int) -> None:
        """Read until the head has more than that many letters, or until the end."""
        parts, length = [self._head], len(self._head)
        if length > LINE.most:
            LINE.check(length, f"{self._content.source} has a line of too many characters")
        while length <= size and not self._whole:
            block = next(self._blocks, None)
            self._whole = block is None
            parts.append("" if block is None else block.decode("utf-8"))
            length += len(parts[-1])
        self._head = "".join(parts)


def _count_lines(text: str) -> int:
    """Return how many line ends a text begins with."""
    ends = _LINE_ENDS.match(text)[0]  # type: ignore[index]
    return ends.count("\n") + ends.count("\r") - ends.count("\r\n")
