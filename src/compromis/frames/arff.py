"""Weka's ARFF as text: quoted names and values, dates, sparse rows, and the instance weights other readers drop."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from compromis._files import COLUMNS, LINE, UNPACKED
from compromis.errors import InputError
from compromis.frames.content import Content
from compromis.frames.tables import Table, Texts, check_names

# runs of plain characters are one step each: a step per character would take 130 bytes of memory for it
_QUOTED = r"""'([^'\\]*(?:\\.[^'\\]*)*)'|"([^"\\]*(?:\\.[^"\\]*)*)\""""
_TOKEN = re.compile(rf"""[ \t]*(?:{_QUOTED}|([^,{{}} \t'"](?:[^,{{}}]*[^,{{}} \t])?))[ \t]*""")
_PLACE = re.compile(r"\s*([^\s,{}]+)(?:\s+|$)")
_GAP = re.compile(r"[, ]*")
_WEIGHT = re.compile(r",\s*\{\s*([0-9.eE+-]+)\s*\}$")
_ESCAPE = re.compile(r"\\(.)")
CELLS = 1 << 20
"""Cells of the rows that are given together, at most."""


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
        attributes = _attributes(self._lines, content.source)
        self.names = [name for name, _ in attributes]
        self._defaults = [default for _, default in attributes]

    def tables(self, texts: Sequence[str], numbers: Sequence[str]) -> Iterator[Table]:
        """Yield some rows after the other; '?' is missing."""
        wanted = [*dict.fromkeys((*texts, *numbers))]
        place_of = {name: place for place, name in enumerate(self.names)}
        slots = {place_of[name]: slot for slot, name in enumerate(wanted)}
        known: list[dict[str, int]] = [{} for _ in wanted]
        defaults = [_code(known[slot], self._defaults[place]) for place, slot in slots.items()]
        done = letters = 0
        while True:
            rows, weights = [], []
            for number, line in islice(self._lines, -(-CELLS // max(1, len(wanted)))):
                row, weight, added = self._row(line, number, slots, known, defaults)
                rows.append(row)
                weights.append(weight)
                letters += added
                if letters > UNPACKED.most:
                    UNPACKED.check(
                        letters, f"{self._source} has more than {UNPACKED.most:,} characters of different texts"
                    )
            if not rows:
                return
            codes = np.array(rows, dtype=np.int32).reshape(len(rows), len(wanted)).T.copy()
            columns = {name: Texts(codes[slot], list(known[slot])) for slot, name in enumerate(wanted)}
            yield Table(
                source=self._source,
                columns={name: column.numbers() if name in numbers else column for name, column in columns.items()},
                rows=np.arange(done + 1, done + len(rows) + 1),
                weights=np.array(weights),
            )
            done += len(rows)

    def _row(
        self, line: str, number: int, slots: dict[int, int], known: Sequence[dict[str, int]], defaults: Sequence[int]
    ) -> tuple[list[int], float, int]:
        """Return the codes of the wanted values of a row, its weight, and the letters of texts that are new."""
        where = f"{self._source}, line {number}"
        line, weight = _without_weight(line, where)
        added = 0
        if line.startswith("{"):
            codes = list(defaults)
            if not line.endswith("}"):
                raise InputError(f"{where}: the sparse row has no closing brace")
            fields = _sparse(line[1:-1].strip(" \t"), len(self.names), where)
        else:
            values = _tokens(line, where)
            if len(values) != len(self.names):
                raise InputError(f"{where}: {len(values)} values for {len(self.names)} attributes")
            codes = [0] * len(slots)
            fields = ((place, values[place]) for place in slots)
        for place, value in fields:
            slot = slots.get(place)
            if slot is not None:
                if value is not None and value not in known[slot]:
                    added += len(value)
                codes[slot] = _code(known[slot], value)
        return codes, weight, added


def _code(known: dict[str, int], value: str | None) -> int:
    return -1 if value is None else known.setdefault(value, len(known))


def _lines(content: Content) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold something, with their numbers."""
    number, rest = 0, ""
    for block in content.text():
        text = rest + block.decode("utf-8")
        held = text.endswith("\r")  # the first half of a line end, perhaps
        lines = (text[:-1] if held else text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        rest = lines.pop() + ("\r" if held else "")
        if len(rest) > LINE.most:
            LINE.check(len(rest), f"{content.source} has a line of more than {LINE.most:,} characters")
        for number, line in enumerate(lines, start=number + 1):  # noqa: B020 (it goes on counting)
            if (stripped := line.strip(" \t")) and not stripped.startswith("%"):
                yield number, stripped
    if (stripped := rest.strip(" \t\r")) and not stripped.startswith("%"):
        yield number + 1, stripped


def _attributes(lines: Iterator[tuple[int, str]], source: str) -> list[tuple[str, str]]:
    """Return name and default (the value that sparse rows leave out) of each attribute, up to @data."""
    attributes: list[tuple[str, str]] = []
    most = COLUMNS.most
    for number, line in lines:
        keyword, rest = (*line.split(maxsplit=1), "")[:2]
        if keyword.lower() == "@data":
            check_names([name for name, _ in attributes], source)
            return attributes
        if keyword.lower() == "@attribute":
            if len(attributes) == most:  # before the rest of a giant is read
                COLUMNS.check(most + 1, f"{source} has more than {most:,} attributes")
            attributes.append(_attribute(rest.strip(), f"{source}, line {number}"))
    raise InputError(f"{source} has no @data line; it is not a whole ARFF file")


def _attribute(text: str, where: str) -> tuple[str, str]:
    match = re.match(rf"(?:{_QUOTED}|(\S+?))\s*(?=[\s{{])(.*)$", text)
    if match is None:
        raise InputError(f"{where}: cannot read the attribute {text[:60]!r}")
    name = next(part for part in match.groups()[:3] if part is not None)
    kind = match[4].strip()
    default = _tokens(kind[1:].rstrip("}"), where)[0] if kind.startswith("{") else "0"
    return _ESCAPE.sub(r"\1", name), default or ""


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
    place = 0
    while place < len(text):
        number = _PLACE.match(text, place)
        written = number[1] if number else text[place : place + 30]
        if not (written.isascii() and written.isdigit() and len(written) < 12 and int(written) < attributes):
            raise InputError(f"{where}: there is no attribute number {written[:30]!r} in a sparse row")
        assert number is not None
        value, place = _token(text, number.end(), where)
        yield int(written), value
        gap = _GAP.match(text, place)
        place = gap.end() if gap else place


def _tokens(text: str, where: str) -> list[str | None]:
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
    quoted = single if single is not None else double
    value = (None if bare == "?" else bare) if quoted is None else _ESCAPE.sub(r"\1", quoted)
    return value, match.end()
