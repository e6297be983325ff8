"""Weka's ARFF as text: quoted names and values, dates, sparse rows, and the instance weights other readers drop."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from compromis._files import COLUMNS, LINE
from compromis._text import shown
from compromis.errors import InputError
from compromis.frames.content import Content
from compromis.frames.tables import Coder, Table, Texts, check_names, check_texts

# what a quote holds is not looked at again, which would take 130 bytes of memory for each escape
_QUOTED = r"""'([^'\\]*+(?:\\.[^'\\]*+)*+)'|"([^"\\]*+(?:\\.[^"\\]*+)*+)\""""
_TOKEN = re.compile(rf"""[ \t]*(?:{_QUOTED}|([^,{{}} \t'"](?:[^,{{}}]*[^,{{}} \t])?))[ \t]*""")
_MARKED = re.compile(r"""['"%{}]""")
"""What needs a look at each value: quotes, comments, sets and sparse rows."""
_TAKEN_OTHERWISE = re.compile(r"""(?<!\\)['"]|%""")
_PLACE = re.compile(r"\s*([^\s,{}]+)(?:\s+|$)")
_GAP = re.compile(r"[, ]*")
_WEIGHT = re.compile(r",\s*\{\s*([0-9.eE+-]+)\s*\}$")
_ESCAPE = re.compile(r"\\(?:([0-3]?[0-7]{1,2})|(.))", re.DOTALL)
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
"""As Java's StreamTokenizer, with which Weka reads."""
_TYPES = ("numeric", "real", "integer", "string", "date")
CELLS = 1 << 20
"""Cells of the rows that are given together, at most."""
LETTERS = 1 << 24
"""Letters of them, about."""


@dataclass(frozen=True, slots=True)
class _Attribute:
    name: str
    declared: dict[str, None] | None
    """The values that it may have, in order; None where it is not nominal."""

    @property
    def default(self) -> str:
        """The value that sparse rows leave out."""
        return next(iter(self.declared)) if self.declared else "0"


class Arff:
    """A table in ARFF.

    Attributes
    ----------
    names : list of str
        The attributes.
    """

    def __init__(self, content: Content) -> None:
        self._source = content.source
        self._lines = _lines(content)
        self._attributes = _attributes(self._lines, content.source)
        self.names = [attribute.name for attribute in self._attributes]

    def tables(self, texts: Sequence[str], numbers: Sequence[str]) -> Iterator[Table]:
        """Yield some rows after the other; '?' is missing."""
        wanted = [*dict.fromkeys((*texts, *numbers))]
        place_of = {name: place for place, name in enumerate(self.names)}
        slots = {place_of[name]: slot for slot, name in enumerate(wanted)}
        coders, wrong = {name: Coder() for name in texts}, {name: list[str]() for name in numbers}
        done = 0
        while rows := self._rows(slots):
            where, values, weights = zip(*rows, strict=True)
            columns: dict[str, Any] = {}
            for place, name, cells in zip(slots, wanted, zip(*values, strict=True), strict=False):
                column = (coders[name] if name in coders else Coder()).code(cells)
                self._check_declared(self._attributes[place], column, where)
                columns[name] = column if name in coders else column.numbers(wrong[name])
            held = sum(len(coder.labels) for coder in coders.values()) + sum(map(len, wrong.values()))
            check_texts(held, sum(coder.letters for coder in coders.values()), self._source)
            numbered = np.arange(done + 1, done + len(rows) + 1)
            yield Table(source=self._source, columns=columns, rows=numbered, weights=np.array(weights))
            done += len(rows)

    def _rows(self, slots: Mapping[int, int]) -> list[tuple[int, list[str | None], float]]:
        """Return the lines of some rows, the values wanted of each, and its weight."""
        rows: list[tuple[int, list[str | None], float]] = []
        defaults: list[str | None] = [self._attributes[place].default for place in slots]
        letters = 0
        for number, line in islice(self._lines, -(-CELLS // max(1, len(slots)))):
            values, weight = self._row(line, f"{self._source}, line {number}", slots, defaults)
            rows.append((number, values, weight))
            letters += len(line)
            if letters > LETTERS:
                break
        return rows

    def _row(
        self, line: str, where: str, slots: Mapping[int, int], defaults: Sequence[str | None]
    ) -> tuple[list[str | None], float]:
        """Return the values wanted of a row, and its weight."""
        line, weight = _without_weight(line, where)
        if not line.startswith("{"):
            values = _tokens(line, where)
            if len(values) != len(self.names):
                raise InputError(f"{where}: {len(values)} values for {len(self.names)} attributes")
            return [values[place] for place in slots], weight
        if not line.endswith("}"):
            raise InputError(f"{where}: the sparse row has no closing brace")
        values = list(defaults)
        for place, value in _sparse(line[1:-1].strip(" \t"), len(self.names), where):
            if place in slots:
                values[slots[place]] = value
        return values, weight

    def _check_declared(self, attribute: _Attribute, column: Texts, where: Sequence[int]) -> None:
        """Refuse a value that a nominal attribute does not declare."""
        if attribute.declared is None:
            return
        unknown = [code for code, label in enumerate(column.labels) if label not in attribute.declared]
        if unknown:
            row = int(np.isin(column.codes, unknown).argmax())
            raise InputError(
                f"{self._source}, line {where[row]}: {column.labels[column.codes[row]]!r} is none of the values that attribute "
                f"{attribute.name!r} declares, {shown(attribute.declared)}"
            )


def _lines(content: Content) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold something, with their numbers."""
    number, rest = 0, ""
    for block in content.text():
        text = rest + block.decode("utf-8")
        held = text.endswith("\r")  # the first half of a line end, perhaps
        lines = (text[:-1] if held else text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        rest = lines.pop() + ("\r" if held else "")
        if len(rest) > LINE.most:
            LINE.check(len(rest), f"{content.source} has a line of too many characters")
        for number, line in enumerate(lines, start=number + 1):  # noqa: B020 (it goes on counting)
            if (stripped := line.strip(" \t")) and not stripped.startswith("%"):
                yield number, _without_nul(stripped, content.source, number)
    if (stripped := rest.strip(" \t\r")) and not stripped.startswith("%"):
        yield number + 1, _without_nul(stripped, content.source, number + 1)


def _without_nul(line: str, source: str, number: int) -> str:
    if "\0" in line:
        raise InputError(f"{source}, line {number} holds a NUL, which Weka takes for a blank; is it binary data?")
    return line


def _attributes(lines: Iterator[tuple[int, str]], source: str) -> list[_Attribute]:
    """Return the attributes, up to @data."""
    attributes: list[_Attribute] = []
    most = COLUMNS.most
    for number, line in lines:
        keyword, rest = (*line.split(maxsplit=1), "")[:2]
        if keyword.lower() == "@data":
            check_names([attribute.name for attribute in attributes], source)
            return attributes
        if keyword.lower() == "@attribute":
            if len(attributes) == most:  # before the rest of a giant is read
                COLUMNS.check(most + 1, f"{source} has too many attributes")
            attributes.append(_attribute(rest.strip(), f"{source}, line {number}"))
        elif keyword.lower() != "@relation":
            raise InputError(f"{source}, line {number}: expected @attribute or @data, got {line[:60]!r}")
    raise InputError(f"{source} has no @data line; it is not a whole ARFF file")


def _attribute(text: str, where: str) -> _Attribute:
    match = re.match(rf"(?:{_QUOTED}|(\S+?))\s*(?=[\s{{])(.*)$", text)
    if match is None:
        raise InputError(f"{where}: cannot read the attribute {text[:60]!r}")
    quoted = match[1] if match[1] is not None else match[2]
    name = match[3] if quoted is None else _unescaped(quoted)
    kind = match[4].strip()
    if not kind.startswith("{"):
        given = kind.split()[0].lower() if kind else ""
        if given == "relational":
            raise InputError(
                f"{where}: attribute {name!r} is relational, a table in each row, which is not read here; leave it out"
            )
        if given not in _TYPES:
            raise InputError(
                f"{where}: {given[:60]!r} is no type of an attribute; use one of {', '.join(_TYPES)} or {{values}}"
            )
        return _Attribute(name, None)
    if not kind.endswith("}"):
        raise InputError(f"{where}: the values of attribute {name!r} do not end with a closing brace on the same line")
    values = [value or "?" for value in _tokens(kind[1:-1], where)] if kind[1:-1].strip() else []
    declared = dict.fromkeys(values)
    if len(declared) < len(values):
        raise InputError(f"{where}: attribute {name!r} declares a value twice")
    return _Attribute(name, declared)


def _unescaped(text: str) -> str:
    """Return a quoted text as Weka reads it."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda found: chr(int(found[1], 8)) if found[1] else _ESCAPES.get(found[2], found[2]), text)


def _without_weight(line: str, where: str) -> tuple[str, float]:
    """Return a row without the weight at its end, and the weight, which is 1 where none is given."""
    found = _WEIGHT.search(line, max(0, line.rfind(",", 0, line.rfind("{")))) if line.endswith("}") else None
    if found is None or found.start() == 0:
        return line, 1.0
    try:
        return line[: found.start()], float(found[1])
    except ValueError:
        raise InputError(f"{where}: {found[1]!r} is no weight") from None


def _sparse(text: str, attributes: int, where: str) -> Iterator[tuple[int, str | None]]:
    """Yield the attributes that a sparse row names, and their values."""
    place, last = 0, -1
    while place < len(text):
        number = _PLACE.match(text, place)
        written = number[1] if number else text[place : place + 30]
        if not (written.isascii() and written.isdigit() and len(written) < 12 and int(written) < attributes):
            raise InputError(f"{where}: there is no attribute number {written[:30]!r} in a sparse row")
        if int(written) <= last:
            raise InputError(f"{where}: the attribute numbers of a sparse row must rise, got {written} after {last}")
        assert number is not None
        last = int(written)
        value, place = _token(text, number.end(), where)
        yield last, value
        gap = _GAP.match(text, place)
        place = gap.end() if gap else place


def _tokens(text: str, where: str) -> list[str | None]:
    if not _MARKED.search(text):
        plain = [value.strip(" \t") for value in text.split(",")]
        if "" not in plain:
            return [None if value == "?" else value for value in plain]
    fields: list[str | None] = []
    place = 0
    while True:
        value, place = _token(text, place, where)
        fields.append(value)
        if place >= len(text):
            return fields
        if text[place] != ",":
            raise InputError(f"{where}: expected a comma before {text[place : place + 30]!r}")
        place += 1


def _token(text: str, place: int, where: str) -> tuple[str | None, int]:
    """Return the value that begins at a place, and where what follows it begins."""
    match = _TOKEN.match(text, place)
    if match is None:
        raise InputError(f"{where}: cannot read {text[place : place + 30]!r}; check the quotes")
    single, double, bare = match.groups()
    if bare is None:
        return _unescaped(single if single is not None else double), match.end()
    if _TAKEN_OTHERWISE.search(bare):
        raise InputError(f"{where}: cannot read {bare[:30]!r}; quote values that hold quotes or %")
    return None if bare == "?" else bare.replace("\\'", "'").replace('\\"', '"'), match.end()
