"""A table of text columns, and CSV and TSV."""

from __future__ import annotations

import csv
import io
import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from compromis._files import COLUMNS, short_lines, write_whole
from compromis._text import nearest, shown
from compromis._typing import Floats
from compromis.errors import InputError

Column = list[str | None]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of text by name; None is a missing value.

    Attributes
    ----------
    source : str
        What messages call the table, such as the name of its file.
    columns : mapping of str to list
        The texts of each column.
    weights : list of float, optional
        Weights that belong to the rows themselves, as ARFF may give them.

    Examples
    --------
    >>> import compromis as cp
    >>> table = cp.frames.Table("votes", {"t": ["a", None, "b"], "p_a": ["0.9", "0.2", "0.4"], "p_b": ["0.1", "0.8", "0.6"]})
    >>> labelled, dropped = table.without_missing(["t"], drop=True)
    >>> labelled.columns["t"], dropped
    (['a', 'b'], 1)
    >>> labelled.scores({"p_a": "a", "p_b": "b"}, ["b", "a"]).tolist()
    [[0.1, 0.9], [0.6, 0.4]]
    """

    source: str
    columns: Mapping[str, Column]
    weights: list[float] | None = None

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def numbers(self, name: str) -> Floats:
        """Return a column as numbers; anything else is named with its row."""
        column = self.columns[name]
        try:
            return np.array(column, dtype=np.float64)
        except (TypeError, ValueError):
            row, value = next((row, value) for row, value in enumerate(column) if not _is_number(value))
            what = "nothing" if value is None else repr(value)
            raise InputError(
                f"column {name!r} of {self.source} must hold numbers, got {what} in data row {row + 1}"
            ) from None

    def row_weights(self, name: str | None) -> Any:
        """Return the column of weights if it is named, else the weights that the rows have themselves, if any."""
        return self.weights if name is None else self.numbers(name)

    def scores(self, class_of: Mapping[str, str], classes: Sequence[str]) -> Floats:
        """Return the score columns as a matrix in the order of `classes`; `class_of` maps each column to its class."""
        column_of = {label: column for column, label in class_of.items()}
        lacking = [label for label in classes if label not in column_of]
        if lacking:
            raise InputError(f"there is no score column for {shown(lacking)}; the score columns are {shown(class_of)}")
        return np.column_stack([self.numbers(column_of[label]) for label in classes])

    def without_missing(self, names: Sequence[str | None], *, drop: bool) -> tuple[Table, int]:
        """Return the table without the rows that miss a value in one of the columns, and their number; refuse them unless `drop`."""
        missing = np.zeros(len(self), dtype=bool)
        for name in names:
            if name is None:
                continue
            gaps = np.fromiter((value is None for value in self.columns[name]), dtype=bool, count=len(self))
            if gaps.any() and not drop:
                raise InputError(
                    f"column {name!r} of {self.source} has {int(gaps.sum()):,} missing values (the first in data row "
                    f"{int(gaps.argmax()) + 1}); fill them, or leave those rows out with --drop-missing"
                )
            missing |= gaps
        if not missing.any():
            return self, 0
        kept = np.flatnonzero(~missing).tolist()
        columns: dict[str, Column] = {name: [column[row] for row in kept] for name, column in self.columns.items()}
        weights = None if self.weights is None else [self.weights[row] for row in kept]
        return Table(self.source, columns, weights), int(missing.sum())

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the columns as CSV that no spreadsheet takes for formulas; with `path`, write it there too, whole or not at all."""
        text = csv_text(self.columns)
        if path is not None:
            write_whole(path, text)
        return text


def pick_column(name: str, names: Sequence[str]) -> str:
    """Return the column's name if it is among `names`, else say which is nearest.

    Examples
    --------
    >>> import compromis as cp
    >>> cp.frames.pick_column("trut", ["truth", "weight"])
    Traceback (most recent call last):
        ...
    compromis.errors.InputError: there is no column 'trut'; did you mean 'truth'?; the columns are 'truth', 'weight'
    """
    if name not in names:
        raise InputError(f"there is no column {name!r}{nearest(name, names)}; the columns are {shown(names)}")
    return name


def score_columns(proba: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Return which column scores which class: a name stands for its column, or as a prefix for all that start with it."""
    class_of: dict[str, str] = {}
    for given in proba:
        prefixed = (
            {given: given} if given in names else {name: name[len(given) :] for name in names if name.startswith(given)}
        )
        if not prefixed:
            raise InputError(
                f"no column is named {given!r} or starts with it{nearest(given, names)}; the columns are {shown(names)}"
            )
        class_of |= prefixed
    return class_of


def _is_number(value: str | None) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


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
