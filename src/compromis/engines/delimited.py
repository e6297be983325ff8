"""CSV and TSV as text."""

from __future__ import annotations

import csv
import io
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from compromis.engines.table import Column, Table
from compromis.errors import InputError, shown
from compromis.limits import COLUMNS, short_lines


def csv_names(stream: BinaryIO, source: str) -> list[str]:
    """Return the names of the columns of a CSV file."""
    return _header(_rows(stream, source, ","), source)


def tsv_names(stream: BinaryIO, source: str) -> list[str]:
    """Return the names of the columns of a TSV file."""
    return _header(_rows(stream, source, "\t"), source)


def read_csv(stream: BinaryIO, source: str, columns: Sequence[str]) -> Table:
    """Return the columns of a CSV file."""
    return _read(_rows(stream, source, ","), source, columns)


def read_tsv(stream: BinaryIO, source: str, columns: Sequence[str]) -> Table:
    """Return the columns of a TSV file."""
    return _read(_rows(stream, source, "\t"), source, columns)


def _rows(stream: BinaryIO, source: str, delimiter: str) -> Iterator[list[str]]:
    with io.TextIOWrapper(short_lines(stream, source), encoding="utf-8-sig", newline="") as text:
        try:
            yield from csv.reader(text, delimiter=delimiter, strict=True)
        except UnicodeDecodeError as error:
            raise InputError(f"{source} is not UTF-8 text (byte {error.start}); convert it first") from error
        except (csv.Error, EOFError, OSError, zlib.error) as error:
            raise InputError(f"{source} cannot be read as a table: {error}") from error


def check_names(names: Sequence[str], source: str) -> None:
    """Refuse too many columns, and several of one name."""
    COLUMNS.check(len(names), f"{source} has {len(names):,} columns")
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise InputError(f"{source} has several columns named {shown(repeated)}; rename them")


def _header(rows: Iterator[list[str]], source: str) -> list[str]:
    names = next(rows, [])
    check_names(names, source)
    return names


def _read(rows: Iterator[list[str]], source: str, columns: Sequence[str]) -> Table:
    names = _header(rows, source)
    place_of = {name: place for place, name in enumerate(names)}
    places = [place_of[name] for name in columns]
    kept: list[Column] = [[] for _ in columns]
    width = len(names)
    for number, row in enumerate(rows, start=2):
        if len(row) != width:
            if not row:  # a blank line
                continue
            raise InputError(
                f"{source} has {len(row)} fields in record {number}, but {width} columns; check quotes and delimiters"
            )
        for column, place in zip(kept, places, strict=True):
            column.append(row[place] or None)
    return Table(source, dict(zip(columns, kept, strict=True)))


_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""What a spreadsheet may take for the start of a formula; the wide ones count in East Asian ones."""


def csv_text(columns: Mapping[str, Sequence[object]]) -> str:
    """Return the columns as CSV; text that a spreadsheet may run as a formula is made harmless with a leading quote.

    Such text starts with = + - @ (also after spaces, or wide), a tab or a line end; numbers and a lone + or - stay as they are.
    """
    lines: list[str] = []
    writer = csv.writer(_Lines(lines.append), lineterminator="\r\n")  # so that it quotes a cell with either of the two
    writer.writerow([_harmless(name) for name in columns])
    writer.writerows([_harmless(cell) for cell in row] for row in zip(*columns.values(), strict=True))
    return "".join(line.removesuffix("\r\n") + "\n" for line in lines)


@dataclass(frozen=True, slots=True)
class _Lines:
    write: Callable[[str], object]


def _harmless(cell: object) -> object:
    if not isinstance(cell, str) or (
        not cell.lstrip().startswith(_FORMULA) and not cell.startswith(("\t", "\r", "\n"))
    ):
        return cell
    if cell in {"+", "-"}:  # the classes of many a table, and no formula
        return cell
    try:
        float(cell)
    except ValueError:
        return "'" + cell
    return cell  # -1 is a number, not a formula
