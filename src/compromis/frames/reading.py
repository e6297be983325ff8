"""The one way into a file: it is opened once, and its columns come as tables of some rows after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from compromis._files import UNPACKED
from compromis.errors import InputError
from compromis.frames.content import Content
from compromis.frames.tables import Numbers, Table, Texts, pick_column, score_columns

_CELL = 16
"""Bytes that a cell takes where all rows are held, and again as what a command makes of it."""


class OpenTable:
    """A table in a file, in a pipe or on standard input, opened; it is read once.

    Attributes
    ----------
    source : str
        What messages call it.
    format : str
        CSV (for all delimited text), ARFF or Parquet.
    names : list of str
        Its columns.
    content : Content
        The bytes behind it.
    """

    def __init__(self, path: str, *, limited: bool = True) -> None:
        self.content = Content(path, limited=limited)
        self.source, self.format = self.content.source, self.content.format
        try:
            self.reader = _reader(self.content)
        except BaseException:
            self.content.close()
            raise
        self.names = self.reader.names

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.content.close()

    @property
    def share(self) -> float:
        """The share of the file that was read; 0 where its size is not known."""
        return float(getattr(self.reader, "share", self.content.share))

    @property
    def remark(self) -> str:
        """What one should know of how the file is read; an empty text if nothing."""
        return str(getattr(self.reader, "remark", ""))

    @property
    def oddities(self) -> set[str]:
        """What other readers may take in another way; known when all rows were read."""
        found: set[str] = getattr(self.reader, "oddities", set())
        return found if self.content.plain else {*found, "UTF-16"}

    def pick_scores(self, proba: Sequence[str], besides: Sequence[str | None]) -> dict[str, str]:
        """Return the class of each column of scores: a name stands for its column, or as a prefix for all that start with it."""
        taken = [pick_column(name, self.names) for name in besides if name is not None]
        return score_columns(proba, [name for name in self.names if name not in taken])

    def tables(self, texts: Iterable[str | None], numbers: Iterable[str | None] = ()) -> Iterator[Table]:
        """Yield some rows after the other: columns of texts, and columns of numbers (as texts where both are wanted)."""
        known = dict.fromkeys(self.names)  # a list of 100,000 would be searched through for each
        chosen, counted = (
            {pick_column(name, known): None for name in wanted if name is not None} for wanted in (texts, numbers)
        )
        return self.reader.tables([*chosen], [name for name in counted if name not in chosen])

    def read(self, texts: Iterable[str | None] = (), numbers: Iterable[str | None] = ()) -> Table:
        """Return all rows at once; more than the limit allows are refused."""
        rows = getattr(self.reader, "rows", 0)
        texts, numbers = list(texts), list(numbers)
        self.check_room(rows, len({*texts, *numbers} - {None}))
        parts: list[Table] = []
        held = 0
        for part in self.tables(texts, numbers):
            parts.append(part)
            held += len(part)
            self.check_room(held, len(part.columns))
        if parts:
            return _joined(parts)
        columns: dict[str, Texts | Numbers] = {name: Numbers(np.zeros(0)) for name in numbers if name is not None}
        columns |= {name: Texts.of([]) for name in texts if name is not None}
        return Table(source=self.source, columns=columns, rows=np.arange(0))

    def check_room(self, rows: int, columns: int) -> None:
        """Raise where so many rows of columns must not be held."""
        size, more = _CELL * rows * columns, "" if hasattr(self.reader, "rows") else " and more"
        if size > UNPACKED.most:
            raise InputError(
                f"{self.source} has {rows:,} rows{more}, too many to be held in memory; count it in an engine (--engine polars), or set "
                f"{UNPACKED.setting} to {size} to raise the limit"
            )


@dataclass(frozen=True, slots=True)
class FileFrame:
    """A file that stands for a data frame: it is opened again for each query, which reads the columns it needs."""

    path: str
    """The file."""
    numbers: tuple[str, ...] = ()
    """Columns of text that hold numbers."""
    format: str = field(init=False)
    """CSV (for all delimited text), ARFF or Parquet."""

    def __post_init__(self) -> None:
        """Look at the names and at the format."""
        with OpenTable(self.path) as file:
            for name in self.numbers:
                pick_column(name, file.names)
            object.__setattr__(self, "format", file.format)

    def to_arrow(self, columns: Sequence[str] | None = None) -> Any:
        """Return the columns as a table of pyarrow; labels are texts, or what Parquet holds."""
        import pyarrow

        with OpenTable(self.path) as file:
            known = dict.fromkeys(file.names)
            wanted = [*dict.fromkeys(pick_column(name, known) for name in columns or known)]
            if file.format == "Parquet":
                file.check_room(file.reader.rows, len(wanted))
                return pyarrow.Table.from_batches(
                    file.reader.batches(wanted), file.reader.empty().select(wanted).schema
                )
            texts = [name for name in wanted if name not in self.numbers]
            table = file.read(texts, [name for name in wanted if name in self.numbers])
        arrays: dict[str, Any] = {name: table.numbers(name) for name in self.numbers if name in wanted}
        for name in texts:
            codes = pyarrow.array(table[name].codes, mask=table[name].missing)
            arrays[name] = pyarrow.array(table[name].labels, pyarrow.string()).take(codes)
        return pyarrow.table({name: arrays[name] for name in wanted})


def open_table(path: str) -> OpenTable:
    r"""Open a file (or ``-``, standard input): CSV and its relatives, ARFF or Parquet, also compressed with gzip.

    Texts come exactly as written: nothing is guessed, only an empty field is missing. What the file holds is told by its bytes.

    Examples
    --------
    >>> import compromis as cp
    >>> with open("sites.csv", "w") as file:
    ...     _ = file.write("true,predicted\n01,1\nNA,\n")
    >>> with cp.frames.open_table("sites.csv") as table:
    ...     table.names, table.read(["true", "predicted"]).texts()
    (['true', 'predicted'], {'true': ['01', 'NA'], 'predicted': ['1', None]})
    """
    return OpenTable(path)


def read_table(path: str, choose: Callable[[list[str]], Iterable[str]] | Sequence[str | None]) -> Table:
    r"""Read columns of a file as texts; `choose` names them, or picks them among the names of the file.

    Examples
    --------
    >>> import compromis as cp
    >>> with open("sites.csv", "w") as file:
    ...     _ = file.write("true,predicted\n01,1\nNA,\n")
    >>> cp.frames.read_table("sites.csv", ["true", "predicted"]).texts()
    {'true': ['01', 'NA'], 'predicted': ['1', None]}
    """
    with OpenTable(path) as file:
        return file.read(choose(file.names) if callable(choose) else choose)


def _joined(parts: Sequence[Table]) -> Table:
    """Return the rows of all parts of one file in one table."""
    last = parts[-1]
    columns: dict[str, Any] = {}
    for name, column in last.columns.items():
        pieces: list[Any] = [part.columns[name] for part in parts]
        if isinstance(column, Texts):
            columns[name] = Texts(np.concatenate([piece.codes for piece in pieces]), column.labels)
        else:
            columns[name] = Numbers(np.concatenate([piece.values for piece in pieces]), column.wrong)
    weights = None
    if any(part.weights is not None and (part.weights != 1).any() for part in parts):
        weights = np.concatenate([part.weights for part in parts if part.weights is not None])
    return Table(
        source=last.source, columns=columns, rows=np.concatenate([part.rows for part in parts]), weights=weights
    )


def _reader(content: Content) -> Any:
    """Return what knows the columns of a table (`names`) and yields some rows after the other (`tables`)."""
    if content.format == "Parquet":
        from compromis.frames.parquet import Parquet

        return Parquet(content)
    if content.format == "ARFF":
        from compromis.frames.arff import Arff

        return Arff(content)
    from compromis.frames.delimited import Delimited

    return Delimited(content)
