"""Queries that any engine runs: open a frame, group and count, bin scores, decide by a running best."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, and_
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from compromis._typing import Flags, Floats, Ints, Label
from compromis.errors import CompromisError, EngineError, InputError, MissingExtra
from compromis.evidence.readers import check_weights_add_up
from compromis.evidence.scores import part_of_votes
from compromis.frames.reading import FileFrame
from compromis.frames.tables import TooMany, pick_column, text_of
from compromis.labels import LabelColumn, python_values, read_labels, whole_microseconds


@dataclass(frozen=True, slots=True)
class Bins:
    """`count` bins of equal width from `low` to `high`, both inside.

    The bin of a number is floor((number - low) * scale): three operations that every engine rounds alike and that never fall
    where the number rises. So a bin is an interval, and `edges` finds its first number by the same arithmetic. Where high - low
    is more than a float holds, halves are subtracted.
    """

    low: float
    high: float
    count: int

    @classmethod
    def over(cls, low: float, high: float, count: int) -> Bins:
        """Return `count` bins, or one where the range is too narrow to be divided in floats."""
        bins = cls(float(low), float(high), count)
        return bins if low < high and bins.scale < np.inf else cls(bins.low, bins.high, 1)

    @property
    def scale(self) -> float:
        """Bins per unit, or per two."""
        return float(self.count / self._above(self.high)) if self.count > 1 else 1.0

    def _above(self, number: Any) -> Any:
        """Return how far a number, a column or an array lies above the lowest number."""
        return number - self.low if self.high - self.low < np.inf else number * 0.5 - self.low * 0.5

    def expression(self, column: str) -> nw.Expr:
        """Return the bin of a finite number within the range, as a whole float."""
        places: nw.Expr = self._above(nw.col(column)) * self.scale
        return places.floor().clip(0.0, float(self.count - 1))

    def edges(self) -> Floats:
        """Return the smallest number of each bin, rising.

        Found by halving the numbers between `low` and `high`, all of them: near 0 there are more than any few steps from
        low + width would pass.
        """
        wanted = np.arange(self.count, dtype=np.float64)
        below, reached = (np.full(self.count, _rank(end), dtype=np.int64) for end in (self.low, self.high))
        for _ in range(64):
            middle = (below & reached) + ((below ^ reached) >> 1)  # their mean, which cannot overflow
            there = self.places(_number(middle)) >= wanted
            below, reached = np.where(there, below, middle), np.where(there, middle, reached)
        edges = _number(reached)
        edges[0] = self.low
        return edges

    def places(self, values: Floats) -> Floats:
        """Return the bins of numbers; the highest number may be beyond the last."""
        bins: Floats = np.floor(self._above(values) * self.scale)
        return bins


def _rank(number: float) -> int:
    """Return the rank of a float among all floats, by its bits."""
    bits = int(np.float64(number).view(np.int64))
    return bits if bits >= 0 else -(bits & int(_ALL))


def _number(rank: Ints) -> Floats:
    """Return the floats of some ranks."""
    return np.where(rank >= 0, rank, -rank | ~_ALL).astype(np.int64).view(np.float64)


_ALL = np.int64(2**63 - 1)


KINDS = "polars, pandas, pyarrow, DuckDB, ibis, Dask or Spark"
_NUMBERS = (nw.Decimal, nw.Boolean)

TRUTH, PREDICTION, ROWS, WEIGHT, SQUARE, WRONG = "truth", "prediction", "rows", "weight", "square", "wrong"
"""Our names: true and predicted classes, and what is summed over a group: rows, weights, squared weights, rows whose weight is unusable."""
LARGEST = "largest"
"""The largest weight of a group."""
BEST, SECOND, ARGUMENT, SCORE = "compromis best", "compromis second", "compromis argument", "compromis score"
"""Columns that are dropped at the end; no column of a user's is called so."""
SAMPLE = 20_000
"""Rows looked at to see whether nearly every row has values of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class TextLabels:
    """A frame whose labels are written out as text when its groups are there: engines would each write numbers in their own way."""

    frame: Any


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The columns wanted of a data frame; nothing is computed yet."""

    lazy: nw.LazyFrame[Any]
    """The columns under our names."""
    named: Mapping[str, str]
    """The user's name of each column."""
    types: Mapping[str, Any]
    """The type of each column."""
    categories: Mapping[str, tuple[Any, ...]]
    """The categories of the columns that have some in an order of the user's."""
    spelled: bool
    """Whether labels are written out as text."""

    @classmethod
    def open(cls, frame: Any, named: Mapping[str, str | None]) -> Frame:
        """Open a frame of any engine; `named` maps our names to the user's columns, or to None where there is none."""
        spelled = isinstance(frame, TextLabels)
        frame = frame.frame if spelled else frame
        if isinstance(frame, FileFrame):
            frame = frame.to_arrow([name for name in named.values() if name is not None])
        lazy = lazy_frame(frame)
        schema = dict(lazy.collect_schema())
        wanted = {ours: pick_column(name, list(schema)) for ours, name in named.items() if name is not None}
        types = {ours: schema[name] for ours, name in wanted.items()}
        for ours in types if spelled else ():
            if ours in (TRUTH, PREDICTION) and (types[ours].is_temporal() or isinstance(types[ours], nw.Decimal)):
                raise InputError(
                    f"column {wanted[ours]!r} holds {types[ours]}, which engines write in different ways; convert it to text, "
                    f"or leave the engine out"
                )
        categorical = [ours for ours in wanted if isinstance(types[ours], (nw.Categorical, nw.Enum))]
        categories = {ours: _categories(lazy, wanted[ours], types[ours]) for ours in categorical}
        # an engine's dictionary is text stored in another way; pandas and polars group by it as it is
        kind = lazy.implementation
        as_text = [] if kind.is_pandas_like() or kind.is_polars() or kind.is_dask() else categorical
        columns = [
            (nw.col(name).cast(nw.String) if ours in as_text else nw.col(name)).alias(ours)
            for ours, name in wanted.items()
        ]
        known = {ours: found for ours, found in categories.items() if found}
        return cls(lazy.select(*columns), wanted, types, known, spelled)

    @property
    def weighted(self) -> bool:
        """Whether there is a column of row weights."""
        return WEIGHT in self.named

    def check_numbers(self, columns: Sequence[str]) -> None:
        """Refuse columns that do not hold numbers."""
        for ours in columns:
            kind = self.types[ours]
            if not (kind.is_numeric() or isinstance(kind, _NUMBERS)):
                raise InputError(
                    f"column {self.named[ours]!r} must hold numbers, its type is {kind}; cast it in the frame first"
                )

    def as_floats(self, columns: Sequence[str]) -> Frame:
        """Return the frame with the columns as 64-bit floats."""
        casts = [nw.col(ours).cast(nw.Float64) for ours in columns if self.types[ours] != nw.Float64]
        return self.with_lazy(self.lazy.with_columns(*casts)) if casts else self

    def as_keys(self, columns: Sequence[str]) -> Frame:
        """Return the frame with numbers to group by: floats become 64-bit, and -0 becomes 0, over which Dask stumbles."""
        keys = [nw.col(ours).cast(nw.Float64) + 0.0 for ours in columns if not self.types[ours].is_integer()]
        return self.with_lazy(self.lazy.with_columns(*keys)) if keys else self

    def with_lazy(self, lazy: nw.LazyFrame[Any]) -> Frame:
        """Return the frame with a further step."""
        return replace(self, lazy=lazy)

    def select(self, lazy: nw.LazyFrame[Any], columns: Sequence[str]) -> Frame:
        """Return the frame with a further step, of which only the columns and the row weights are kept."""
        return self.with_lazy(lazy.select(*columns, *([WEIGHT] if self.weighted else [])))

    def sizes(self, rows: Rows) -> NDArray[Any]:
        """Return the number of rows of each group, or the sum of their weights."""
        return rows.floats(WEIGHT) if self.weighted else rows.counts(ROWS)

    def squares(self, rows: Rows) -> Floats | None:
        """Return the sum of the squares of each group's weights; None without weights."""
        return rows.floats(SQUARE) if self.weighted else None

    def labels(self, rows: Rows, key: str) -> LabelColumn:
        """Return the labels that a column of groups holds, checked."""
        name = f"column {self.named[key]!r}"
        values = rows.labels(key, name)
        return read_labels(list(map(text_of, values)) if self.spelled else values, name)


def lazy_frame(frame: Any) -> nw.LazyFrame[Any]:
    """Return a frame of any engine as a lazy frame of narwhals."""
    frame = frame.frame if isinstance(frame, TextLabels) else frame
    try:
        opened = nw.from_native(frame.to_arrow() if isinstance(frame, FileFrame) else frame)
    except TypeError:
        raise InputError(f"a data frame of {KINDS} is needed, got {type(frame).__name__}") from None
    return opened.lazy() if isinstance(opened, nw.DataFrame) else opened


def _categories(lazy: nw.LazyFrame[Any], name: str, kind: Any) -> tuple[Any, ...]:
    """Return the categories of pandas, Dask (where it knows them) and enumerations; a dictionary's order is incidental."""
    if isinstance(kind, nw.Enum):
        return tuple(kind.categories)
    if lazy.implementation.is_pandas_like() or lazy.implementation.is_dask():
        native: Any = lazy.to_native()
        column = native[name].cat
        return tuple(column.categories.tolist()) if getattr(column, "known", True) else ()
    return ()


class Rows:
    """The few rows that a query returns: columns as Python values or as numbers."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def where(self, kept: Flags) -> Rows:
        """Return some of the rows."""
        columns = self._columns.items()
        return Rows({name: c.filter(kept.tolist()) if isinstance(c, nw.Series) else c[kept] for name, c in columns})

    def values(self, name: str) -> list[Any]:
        """Return a column as Python values, None where a value is missing."""
        column = self._columns[name]
        values = column.to_list() if isinstance(column, nw.Series) else column.tolist()
        return [None if _is_missing(value) else value for value in values]

    def labels(self, key: str, name: str) -> list[Any]:
        """Return a column as Python values; dates that these would cut are refused, and `name` says whose they are."""
        column = self._columns[key]
        if isinstance(column, nw.Series):
            python_values(column, name)
        elif column.dtype.kind in "mM":
            return list(whole_microseconds(column, name).tolist())
        return self.values(key)

    def counts(self, name: str) -> Ints:
        """Return a column of whole numbers; some engines count in 32 bits, or in decimals."""
        return np.array([int(value) for value in self.values(name)], dtype=np.int64)

    def floats(self, name: str) -> Floats:
        """Return a column as floats, NaN where a value is missing; -0 as 0, which some engines keep apart."""
        column = self._columns[name]
        if isinstance(column, nw.Series):
            column = column.cast(nw.Float64).to_numpy()
        plain = np.ma.filled(np.ma.asarray(column).astype(np.float64), np.nan)
        return np.asarray(plain, dtype=np.float64) + 0.0


def run(query: nw.LazyFrame[Any]) -> Rows:
    """Run a query in its engine and return its few rows."""
    names = query.collect_schema().names()
    try:
        if query.implementation.is_duckdb():  # straight to numpy: no third package is needed
            relation: Any = query.to_native()
            return Rows(relation.fetchnumpy())
        # streaming keeps what polars holds at a time small, whatever the size of the files
        table = query.collect(engine="streaming") if query.implementation.is_polars() else query.collect()
        return Rows({name: table[name] for name in names})
    except (CompromisError, MemoryError):
        raise
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"{engine_name(query)} needs {error.name} here; install it with: pip install {error.name}"
        ) from error
    except BaseException as error:  # every engine has its own tree of errors
        if not is_failure(error):
            raise
        raise EngineError(f"{engine_name(query)} could not run the query: {first_line(error)}") from error


def is_failure(error: BaseException) -> bool:
    """Return whether an engine failed; a panic of polars is no Exception, and Ctrl-C is none either."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def engine_name(query: nw.LazyFrame[Any]) -> str:
    """Return what people call the engine of a frame."""
    return query.implementation.value.partition("[")[0]


def first_line(error: BaseException) -> str:
    """Return what an engine's error says, without its advice and stack."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    end = next((number for number, line in enumerate(lines) if line.startswith(_ASIDE)), len(lines))
    message = "; ".join(lines[:end][:3]) or type(error).__name__
    return message if len(message) <= _LONGEST else message[: _LONGEST - 3] + "..."


_LONGEST = 300
_ASIDE = ("Possible", "LINE ", "JVM stacktrace", "at org.", "Resolved plan", "This error occurred", "Driver stacktrace")


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in {"NAType", "NaTType"} or value != value


def count_groups(frame: Frame, keys: Sequence[str], most: int, *, what: str) -> Rows:
    """Return the distinct `keys` with the number of rows of each, and their weights where the frame has some.

    More than `most` groups are refused before they are fetched; `what` is what the message calls them.
    """
    lazy, sums = frame.lazy, [nw.len().alias(ROWS)]
    weights = [WEIGHT, SQUARE, WRONG, LARGEST] if frame.weighted else []
    if frame.weighted:
        lazy = _checked_weights(frame)
        # compound aggregations fail in some engines, so every sum is of a column that is there
        sums += [nw.col(name).max() if name == LARGEST else nw.col(name).sum() for name in weights]
    # Dask adds its index as a column; and a group-by of all rows apart must not come back whole
    rows = run(lazy.group_by(*keys).agg(*sums).select(*keys, ROWS, *weights).head(most + 1))
    if len(rows) > most:
        raise TooMany(f"there are more than {most:,} {what}; is one of the columns an identifier or a measurement?")
    if len(rows) == 0:
        raise InputError("the frame has no rows; there is nothing to count")
    if frame.weighted:
        _refuse_wrong_weights(frame, rows)
    return rows


def count_rows(lazy: nw.LazyFrame[Any]) -> int:
    """Return the number of rows."""
    return int(run(lazy.select(nw.len().alias(ROWS))).counts(ROWS)[0])


def are_distinct(frame: Frame, names: Sequence[str]) -> bool:
    """Return whether nearly every row has values of its own in these columns, as far as the first rows show."""
    first = frame.lazy.select(*names).head(SAMPLE)
    counts = run(first.group_by(*names).agg(nw.len().alias(ROWS)).select(*names, ROWS)).counts(ROWS)
    return bool(len(counts) >= 0.5 * counts.sum() and counts.sum() >= SAMPLE)


def drop_missing(frame: Any, column: str) -> tuple[Any, int]:
    """Return the frame without rows whose `column` is missing, and the number of those."""
    lazy = lazy_frame(frame)
    gaps = missing_values(column, lazy.collect_schema()[pick_column(column, lazy.collect_schema().names())])
    return lazy.filter(~gaps).to_native(), count_rows(lazy.filter(gaps))


def missing_values(column: str, kind: Any) -> nw.Expr:
    """Return whether a value is missing; for floats NaN is too."""
    gaps = nw.col(column).is_null()
    return gaps | nw.col(column).is_nan() if kind.is_float() else gaps


def refuse_missing(frame: Frame, rows: Rows, keys: Sequence[str]) -> None:
    """Refuse groups in which a label is missing."""
    counts = rows.counts(ROWS)
    for key in keys:
        gaps = [value is None for value in rows.values(key)]
        refuse_unlabelled(frame.named[key], int(counts[np.array(gaps, dtype=bool)].sum()))


def refuse_unlabelled(column: str, rows: int) -> None:
    """Refuse rows without a label."""
    if rows:
        raise InputError(
            f"column {column!r} has {rows:,} {'row' if rows == 1 else 'rows'} without a label; "
            f"filter them out first, or give them a label of their own"
        )


def _checked_weights(frame: Frame) -> nw.LazyFrame[Any]:
    """Return the frame with usable weights, their squares, and a mark on rows whose weight is missing, negative or infinite."""
    frame.check_numbers([WEIGHT])
    weight = nw.col(WEIGHT)
    usable = weight.is_finite() & (weight >= 0)
    lazy = frame.as_floats([WEIGHT]).lazy.with_columns(
        nw.when(usable).then(weight).otherwise(nw.lit(0.0)).alias(WEIGHT),
        nw.when(usable).then(nw.lit(0.0)).otherwise(nw.lit(1.0)).alias(WRONG),
    )
    return lazy.with_columns((nw.col(WEIGHT) * nw.col(WEIGHT)).alias(SQUARE), nw.col(WEIGHT).alias(LARGEST))


def _refuse_wrong_weights(frame: Frame, rows: Rows) -> None:
    wrong = int(rows.floats(WRONG).sum())
    if wrong:
        raise InputError(
            f"column {frame.named[WEIGHT]!r} has {wrong:,} {'row' if wrong == 1 else 'rows'} whose weight is missing, negative "
            f"or infinite; filter them out first, or weigh them 0"
        )
    check_weights_add_up(rows.floats(LARGEST), int(rows.counts(ROWS).sum()))
    if not rows.floats(WEIGHT).any():
        raise InputError(f"the weights in column {frame.named[WEIGHT]!r} are all 0; nothing would count")


def row_total(columns: Sequence[str]) -> nw.Expr:
    """Return the sum of a row's votes, added from the left as in memory."""
    return reduce(add, map(nw.col, columns))


def usable_votes(columns: Sequence[str]) -> nw.Expr:
    """Return whether every vote of a row is a number of at least 0, and their sum finite: a third quicker than asking each."""
    usable = reduce(and_, [nw.col(name) >= 0 for name in columns])
    part = part_of_votes(len(columns))
    total = reduce(add, [nw.col(name).cast(nw.Float64) * part for name in columns])
    return usable & (total <= sys.float_info.max)  # where NaN is a number to an engine, it is above all others


def add_decision(
    lazy: nw.LazyFrame[Any],
    columns: Sequence[str],
    weights: Floats,
    smoothing: float,
    labels: Sequence[Label],
    name: str,
    *,
    second: bool = False,
) -> nw.LazyFrame[Any]:
    """Return the frame with the column `name`: the label of the largest weight x (vote + smoothing), the first one in a tie.

    The largest itself is in `BEST` and, if asked for, the second largest in `SECOND`. A running best, one class after the other: the
    engines' own row-wise maximum is silently wrong in Dask where divisions are unknown, and step by step the expressions grow with
    the classes, not with a power of them.
    """
    literals: list[Any] = [nw.lit(label) for label in labels]  # type: ignore[arg-type]
    first = _weighted_vote(columns[0], weights[0], smoothing).alias(BEST)
    lazy = lazy.with_columns(first, literals[0].alias(name), *([nw.lit(-1.0).alias(SECOND)] if second else []))
    for position in range(1, len(columns)):
        lazy = lazy.with_columns(_weighted_vote(columns[position], weights[position], smoothing).alias(SCORE))
        better = nw.col(SCORE) > nw.col(BEST)
        next_best = nw.when(nw.col(SCORE) > nw.col(SECOND)).then(nw.col(SCORE)).otherwise(nw.col(SECOND))
        lazy = lazy.with_columns(
            nw.when(better).then(literals[position]).otherwise(nw.col(name)).alias(name),
            nw.when(better).then(nw.col(SCORE)).otherwise(nw.col(BEST)).alias(BEST),
            *([nw.when(better).then(nw.col(BEST)).otherwise(next_best).alias(SECOND)] if second else []),
        )
    return lazy


def add_ranking(
    lazy: nw.LazyFrame[Any], columns: Sequence[str], weights: Floats, smoothing: float
) -> nw.LazyFrame[Any]:
    """Return the frame with the largest weighted vote of each row, the position of its class, and the second largest."""
    positions = [float(position) for position in range(len(columns))]
    return add_decision(lazy, columns, weights, smoothing, positions, ARGUMENT, second=True)


def _weighted_vote(column: str, weight: float, smoothing: float) -> nw.Expr:
    """Return weight x (vote + smoothing), with the roundings that the decision in memory has."""
    vote = nw.col(column).cast(nw.Float64)
    return (vote + smoothing if smoothing else vote) * float(weight)
