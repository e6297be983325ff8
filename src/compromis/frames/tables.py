"""Tables of some columns: texts as codes, numbers as floats; and what is written as CSV."""

from __future__ import annotations

import csv
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._files import CLASSES, COLUMNS, UNPACKED, write_whole
from compromis._text import cure_of_commas, nearest, shown
from compromis._typing import Flags, Floats, Ints
from compromis.errors import InputError
from compromis.evidence.readers import check_weights
from compromis.evidence.scores import check_scores

_NAN = 0x7FF8_0000_0000_0000
MISSING = np.int64(_NAN + 1)
"""The bits of a NaN that stands for no value; those of text k, which is no number, are `WRONG` + k."""
WRONG = np.int64(_NAN + 2)


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """A column of texts: a code per row, -1 where there is none, and the text of each code.

    Examples
    --------
    >>> import compromis as cp
    >>> column = cp.frames.Texts.of(["a", None, "a"])
    >>> column.codes.tolist(), column.labels, column.tolist()
    ([0, -1, 0], ['a'], ['a', None, 'a'])
    """

    codes: NDArray[np.int32]
    labels: Sequence[Any]

    @classmethod
    def of(cls, values: Sequence[Any]) -> Texts:
        """Return the column of such values; None is missing."""
        return Coder().code(values)

    @property
    def missing(self) -> Flags:
        """Which rows have no value."""
        return self.codes < 0

    def array(self) -> NDArray[np.object_]:
        """Return the texts as an array of objects, None where there is none."""
        labels = np.empty(len(self.labels) + 1, dtype=object)
        labels[:-1] = self.labels
        return labels[self.codes]

    def tolist(self) -> list[Any]:
        """Return the texts as a list."""
        return self.array().tolist()

    def take(self, rows: Any) -> Texts:
        """Return some rows."""
        return Texts(self.codes[rows], self.labels)

    def numbers(self, wrong: list[str] | None = None) -> Numbers:
        """Return the numbers that the texts mean, as Python reads them; `wrong` takes those that mean none."""
        wrong = [] if wrong is None else wrong
        values = np.empty(len(self.labels) + 1)
        for code in np.unique(self.codes[self.codes >= 0]).tolist():  # these rows may hold few of all labels
            try:
                values[code] = float(self.labels[code])
            except (TypeError, ValueError):
                values.view(np.int64)[code] = WRONG + len(wrong)
                wrong.append(self.labels[code])
        values.view(np.int64)[-1] = MISSING
        return Numbers(values[self.codes], wrong)


class Coder:
    """Gives the texts of a column their codes, block by block; codes and labels of all blocks are the same.

    Attributes
    ----------
    labels : list of str
        The texts so far.
    letters : int
        How many letters they have.
    """

    def __init__(self) -> None:
        self._codes: dict[str | None, int] = {None: -1}
        self.labels: list[str] = []
        self.letters = 0

    def code(self, values: Iterable[str | None]) -> Texts:
        """Return the column of such values; None is missing."""
        known = self._codes
        codes = np.array([known.setdefault(value, len(known) - 1) for value in values], dtype=np.int32)
        new = [label for label in islice(known, len(self.labels) + 1, None) if label is not None]
        self.labels += new
        self.letters += sum(map(len, new))
        return Texts(codes, self.labels)


def text_of(value: Any) -> str:
    """Return a value as text; 1.0 is written 1, -0.0 is 0, and what is no label is refused."""
    nested = hasattr(value, "__array__") and value.ndim > 0
    if nested or isinstance(value, (bytes, bytearray, list, tuple, dict)):
        raise InputError(
            f"a column of classes holds lists, bytes or records ({shown([value])}); labels and numbers are needed"
        )
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value + 0.0:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A column of numbers; NaNs of their own stand for what is missing and for texts that are no numbers."""

    values: Floats
    wrong: Sequence[str] = ()

    @property
    def missing(self) -> Flags:
        """Which rows have no value."""
        marks: Flags = self.values.view(np.int64) == MISSING
        return marks

    def take(self, rows: Any) -> Numbers:
        """Return some rows."""
        return Numbers(self.values[rows], self.wrong)

    def first_wrong(self) -> tuple[int, str] | None:
        """Return the first row that holds no number, and what it holds."""
        marks = np.isnan(self.values) & (self.values.view(np.int64) >= MISSING)
        if not marks.any():
            return None
        row = int(marks.argmax())
        bits = self.values.view(np.int64)[row]
        return row, "nothing" if bits == MISSING else repr(self.wrong[int(bits - WRONG)])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Table:
    r"""Some columns of some rows.

    Examples
    --------
    >>> import compromis as cp
    >>> with open("votes.csv", "w") as file:
    ...     _ = file.write("t,p_a,p_b\na,0.9,0.1\nb,0.4,0.6\n")
    >>> with cp.frames.open_table("votes.csv") as file:
    ...     table = file.read(texts=["t"], numbers=["p_a", "p_b"])
    >>> table["t"].tolist(), table.scores({"p_a": "a", "p_b": "b"}, ["b", "a"]).tolist()
    (['a', 'b'], [[0.1, 0.9], [0.6, 0.4]])
    """

    source: str
    """What messages call the table, such as the name of its file."""
    columns: Mapping[str, Texts | Numbers]
    rows: Ints
    """The number of each row, from 1."""
    weights: Floats | None = None
    """Weights that belong to the rows themselves, as ARFF may give them."""

    def __len__(self) -> int:
        return len(self.rows)

    def named(self, row: int) -> str:
        """Return what messages call a row: data rows are counted from 1, over the whole file."""
        return f"data row {self.rows[row]:,}"

    def __getitem__(self, name: str) -> Texts:
        column = self.columns[name]
        assert isinstance(column, Texts), name
        return column

    def texts(self) -> dict[str, list[str | None]]:
        """Return the columns of texts as lists, None where there is none."""
        return {name: column.tolist() for name, column in self.columns.items() if isinstance(column, Texts)}

    def numbers(self, name: str) -> Floats:
        """Return a column as numbers; anything else is named with its row."""
        column = self.columns[name]
        column = column.numbers() if isinstance(column, Texts) else column
        wrong = column.first_wrong()
        if wrong is not None:
            raise InputError(
                f"column {name!r} of {self.source} must hold numbers, got {wrong[1]} in {self.named(wrong[0])}"
                f"{cure_of_commas(wrong[1][1:-1])}"
            )
        return column.values

    def row_weights(self, name: str | None) -> Floats | None:
        """Return the column of weights if it is named, else the weights that the rows have themselves, if any; checked."""
        weights = self.weights if name is None else self.numbers(name)
        if weights is not None:
            check_weights(weights, self.named)
        return weights

    def scores(self, class_of: Mapping[str, str], classes: Sequence[str]) -> Floats:
        """Return the score columns as a checked matrix in the order of `classes`; `class_of` maps each column to its class."""
        column_of = {label: column for column, label in class_of.items()}
        if len(class_of) == 1:
            raise InputError(
                f"--proba (one column per class) finds {next(iter(class_of))!r} alone; give one for each class, or the prefix before their "
                f"names"
            )
        lacking = [label for label in classes if label not in column_of]
        if lacking:
            raise InputError(f"there is no score column for {shown(lacking)}; the score columns are {shown(class_of)}")
        scores = np.column_stack([self.numbers(column_of[label]) for label in classes])
        check_scores(scores, named=self.named)
        return scores

    def take(self, rows: Any) -> Table:
        """Return some rows."""
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, columns=columns, rows=self.rows[rows], weights=weights)

    def without_missing(self, names: Sequence[str | None], *, drop: bool) -> tuple[Table, int]:
        """Return the table without the rows that miss a value in one of the columns, and their number; refuse them unless `drop`."""
        missing = Missing(self.source, names, drop=drop)
        kept = missing.without(self)
        return kept, missing.check()


class Missing:
    """Leaves out the rows without a value in one of some columns, and counts them; or refuses them when all rows were seen.

    Attributes
    ----------
    columns : list of str
        The columns.
    dropped : int
        The rows left out.
    """

    def __init__(self, source: str, columns: Sequence[str | None], *, drop: bool) -> None:
        self.dropped = 0
        self._source = source
        self._drop = drop
        self.columns = [name for name in columns if name is not None]
        self._gaps = {name: [0, 0] for name in self.columns}

    def without(self, table: Table) -> Table:
        """Return the rows that have a value in every one of the columns."""
        missing = np.zeros(len(table), dtype=bool)
        for name, gap in self._gaps.items():
            column = table.columns[name].missing
            if column.any():
                gap[1] = gap[1] or int(table.rows[column.argmax()])
                gap[0] += int(column.sum())
                missing |= column
        if not missing.any():
            return table
        self.dropped += int(missing.sum())
        return table.take(~missing)

    def check(self) -> int:
        """Return how many rows were left out; refuse them unless they may be."""
        for name, (count, first) in self._gaps.items():
            if count and not self._drop:
                raise InputError(
                    f"column {name!r} of {self._source} has {count:,} missing value{'s' * (count > 1)} (the first in data row "
                    f"{first:,}); fill them, or leave those rows out with --drop-missing"
                )
        return self.dropped


class TooMany(InputError):
    """More groups, patterns or scores than are fetched or held."""


def pick_column(name: str, names: Collection[str]) -> str:
    """Return the column's name if it is among `names`, else say which is nearest.

    Examples
    --------
    >>> import compromis as cp
    >>> cp.frames.pick_column("trut", ["truth", "weight"])
    Traceback (most recent call last):
        ...
    compromis.errors.InputError: there is no column 'trut' (did you mean 'truth'?); the columns are 'truth', 'weight'
    """
    if name not in names:
        raise InputError(
            f"there is no column {name!r}{nearest(name, names, aside=True)}; the columns are {shown(names)}"
        )
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
                f"no column is named {given!r} or starts with it{nearest(given, names, aside=True)}; the columns are {shown(names)}"
            )
        class_of |= prefixed
    CLASSES.check(len(class_of), f"{len(class_of):,} columns of scores")
    return class_of


def check_names(names: Sequence[str], source: str) -> None:
    """Refuse too many columns, and several of one name."""
    COLUMNS.check(len(names), f"{source} has {len(names):,} columns")
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise InputError(f"{source} has several columns named {shown(repeated)}; rename them")


_TEXT = 128
"""Bytes that a text takes beside its letters."""


def check_texts(count: int, letters: int, source: str) -> None:
    """Refuse more different texts than are held."""
    if _TEXT * count + letters > UNPACKED.most:
        raise InputError(
            f"{source} has more than {UNPACKED.most:,} bytes of different texts in the columns wanted; is one of them an identifier "
            f"or a text? {UNPACKED.setting} raises the limit"
        )


_FORMULA = frozenset("=+-@＝＋－＠")
"""What a spreadsheet may take for the start of a formula; the wide ones count in East Asian ones."""
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that nobody sees either."""
_BREAKS = re.compile("([;\t\n\r])")
"""Where a spreadsheet whose list separator is no comma begins another cell, also within what we quote: it takes quotes for quotes only
at the beginning of a cell of its own."""


def to_csv(columns: Mapping[str, Sequence[object]], path: str | os.PathLike[str] | None = None) -> str:
    r"""Return the columns as CSV that no spreadsheet takes for formulas; with `path`, write it there too, whole or not at all.

    Text that a spreadsheet may run starts with = + - @ (or wide ones), whatever nobody sees before them: spaces, byte order marks,
    control characters. It gets a leading quote, also where it starts after a ; a tab or a line end, which may end a cell for a
    spreadsheet. Numbers and a lone + or - stay as they are.

    Examples
    --------
    >>> import compromis as cp
    >>> cp.frames.to_csv({"t": ["a", "=1+1", "b;=1+1"]})
    't\na\n\'=1+1\n"b;\'=1+1"\n'
    """
    lines: list[str] = []
    writer = csv.writer(_Lines(lines.append), lineterminator=_END)
    writer.writerow([_harmless(name) for name in columns])
    writer.writerows([_harmless(cell) for cell in row] for row in zip(*columns.values(), strict=True))
    text = "".join(line.removesuffix(_END) + "\n" for line in lines)
    if path is not None:
        write_whole(path, text)
    return text


_END = "\r\n;\t"
"""Ends a row until it is written: the writer quotes a cell with any of these characters."""


@dataclass(frozen=True, slots=True)
class _Lines:
    write: Callable[[str], object]


def _harmless(cell: object) -> object:
    if not isinstance(cell, str) or cell.isalnum() or cell in {"+", "-"}:  # the classes of many a table, and no formula
        return cell
    text = "".join("'" + part if _is_formula(part) else part for part in _BREAKS.split(cell))
    if cell.startswith(("\t", "\r", "\n")) or (_is_formula(cell) and not text.startswith("'")):
        text = "'" + text
    return cell if text != cell and _is_number(cell) else text


def _is_formula(text: str) -> bool:
    """Whether text begins as a formula, after what nobody sees and quotes, of which two may be an empty cell's."""
    seen = (
        mark for mark in text if mark != '"' and mark not in _FILLERS and unicodedata.category(mark)[0] not in "CZM"
    )
    return next(seen, "") in _FORMULA


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
