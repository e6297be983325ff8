"""Weka's ARFF as text: quoted names and values, dates, sparse rows, and the instance weights other readers drop."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from compromis._files import COLUMNS, short_lines
from compromis.errors import InputError
from compromis.frames.tables import Column, Table, check_names

_TOKEN = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,{}\s'"](?:[^,{}]*[^,{}\s])?))\s*""")
_WEIGHT = re.compile(r",\s*\{\s*([0-9.eE+-]+)\s*\}\s*$")
_ESCAPE = re.compile(r"\\(.)")


def arff_names(stream: BinaryIO, source: str) -> list[str]:
    """Return the names of the attributes."""
    return [name for name, _ in _header(_lines(stream, source), source)]


def read_arff(stream: BinaryIO, source: str, columns: Sequence[str]) -> Table:
    """Return the attributes' values as text; '?' is missing."""
    lines = _lines(stream, source)
    attributes = _header(lines, source)
    names = [name for name, _ in attributes]
    place_of = {name: place for place, name in enumerate(names)}
    places = [place_of[name] for name in columns]
    kept: list[Column] = [[] for _ in columns]
    weights: list[float] = []
    for number, line in lines:
        fields, weight = _row(line, attributes, f"{source}, line {number}")
        for column, place in zip(kept, places, strict=True):
            column.append(fields[place])
        weights.append(weight)
    weighted = any(weight != 1 for weight in weights)
    return Table(source, dict(zip(columns, kept, strict=True)), weights if weighted else None)


def _lines(stream: BinaryIO, source: str) -> Iterator[tuple[int, str]]:
    with io.TextIOWrapper(short_lines(stream, source), encoding="utf-8-sig") as text:
        try:
            for number, line in enumerate(text, start=1):
                stripped = line.strip()
                if stripped and not stripped.startswith("%"):
                    yield number, stripped
        except (UnicodeDecodeError, EOFError, OSError, zlib.error) as error:
            raise InputError(f"{source} cannot be read as text: {error}") from error


def _header(lines: Iterator[tuple[int, str]], source: str) -> list[tuple[str, str]]:
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
    match = re.match(r"""(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\S+?))\s*(?=[\s{])(.*)$""", text)
    if match is None:
        raise InputError(f"{where}: cannot read the attribute {text!r}")
    name = next(part for part in match.groups()[:3] if part is not None)
    kind = match[4].strip()
    default = _tokens(kind[1:].rstrip("}"), where)[0] if kind.startswith("{") else "0"
    return _ESCAPE.sub(r"\1", name), default or ""


def _row(line: str, attributes: list[tuple[str, str]], where: str) -> tuple[list[str | None], float]:
    weight = 1.0
    found = _WEIGHT.search(line)
    if found is not None and found.start() > 0:
        line, weight = line[: found.start()], _weight(found[1], where)
    if line.startswith("{"):
        return _sparse(line.strip("{} "), attributes, where), weight
    fields = _tokens(line, where)
    if len(fields) != len(attributes):
        raise InputError(f"{where}: {len(fields)} values for {len(attributes)} attributes")
    return fields, weight


def _weight(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{where}: {text!r} is no weight") from None


def _sparse(text: str, attributes: list[tuple[str, str]], where: str) -> list[str | None]:
    fields: list[str | None] = [default for _, default in attributes]
    rest = text
    while rest:
        place, value = (*rest.split(maxsplit=1), "")[:2]
        if not (place.isascii() and place.isdigit() and len(place) < 12 and int(place) < len(attributes)):
            raise InputError(f"{where}: there is no attribute number {place!r} in a sparse row")
        token = _TOKEN.match(value)
        if token is None:
            raise InputError(f"{where}: cannot read {value[:30]!r}; check the quotes")
        fields[int(place)] = _tokens(token[0].strip(), where)[0]
        rest = value[token.end() :].lstrip(", ")
    return fields


def _tokens(text: str, where: str) -> list[str | None]:
    fields: list[str | None] = []
    place = 0
    while True:
        match = _TOKEN.match(text, place)
        if match is None:
            raise InputError(f"{where}: cannot read {text[place : place + 30]!r}; check the quotes")
        single, double, bare = match.groups()
        quoted = single if single is not None else double
        fields.append((None if bare == "?" else bare) if quoted is None else _ESCAPE.sub(r"\1", quoted))
        place = match.end()
        if place >= len(text):
            return fields
        if text[place] != ",":
            raise InputError(f"{where}: expected a comma before {text[place : place + 30]!r}")
        place += 1
