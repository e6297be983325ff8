"""A data frame of any engine, opened lazily: the columns wanted, under names of our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw

from compromis.errors import InputError, nearest, shown

KINDS = "polars, pandas, pyarrow, DuckDB, ibis, Dask or Spark"
_NUMBERS = (nw.Decimal, nw.Boolean)


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The columns wanted of a data frame, nothing computed yet.

    Attributes
    ----------
    lazy : narwhals.LazyFrame
        The columns under our names.
    named : mapping
        What the user calls each of them.
    types : mapping
        The type of each of them.
    categories : mapping
        The categories of those that have some in an order of the user's.
    """

    lazy: nw.LazyFrame[Any]
    named: Mapping[str, str]
    types: Mapping[str, Any]
    categories: Mapping[str, tuple[Any, ...]]

    @classmethod
    def open(cls, frame: Any, named: Mapping[str, str]) -> Frame:
        """Open a frame of any engine; `named` gives our name for each of the user's columns, ours as keys."""
        lazy = lazy_frame(frame)
        schema = dict(lazy.collect_schema())
        for name in named.values():
            pick_name(name, list(schema))
        types = {ours: schema[name] for ours, name in named.items()}
        categories = {
            ours: found
            for ours, name in named.items()
            if isinstance(types[ours], (nw.Categorical, nw.Enum)) and (found := _categories(lazy, name, types[ours]))
        }
        # an engine's dictionary is text stored in another way; pandas and polars group by it as it is
        spelled = [
            nw.col(name).cast(nw.String).alias(ours)
            if isinstance(types[ours], (nw.Categorical, nw.Enum)) and not _groups_categories(lazy)
            else nw.col(name).alias(ours)
            for ours, name in named.items()
        ]
        return cls(lazy.select(*spelled), dict(named), types, categories)

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
        """Return the frame with the columns as 64-bit floats to group by: -0 becomes 0, over which Dask stumbles."""
        keys = [nw.col(ours).cast(nw.Float64) + 0.0 for ours in columns]
        return self.with_lazy(self.lazy.with_columns(*keys)) if keys else self

    def with_lazy(self, lazy: nw.LazyFrame[Any]) -> Frame:
        """Return the frame with a further step."""
        return Frame(lazy, self.named, self.types, self.categories)


def lazy_frame(frame: Any) -> nw.LazyFrame[Any]:
    """Return what the user gave as a lazy frame of narwhals."""
    try:
        opened = nw.from_native(frame)
    except TypeError:
        raise InputError(f"a data frame of {KINDS} is needed, got {type(frame).__name__}") from None
    return opened.lazy() if isinstance(opened, nw.DataFrame) else opened


def pick_name(name: str, names: Sequence[str]) -> str:
    """Return the column's name if it is there, else say which is nearest."""
    if name not in names:
        raise InputError(f"there is no column {name!r}{nearest(name, names)}; the columns are {shown(names)}")
    return name


def _groups_categories(lazy: nw.LazyFrame[Any]) -> bool:
    kind = lazy.implementation
    return kind.is_pandas_like() or kind.is_polars() or kind.is_dask()


def _categories(lazy: nw.LazyFrame[Any], name: str, kind: Any) -> tuple[Any, ...] | None:
    """Return the categories of pandas, Dask (where it knows them) and enumerations; a dictionary's order is incidental."""
    if isinstance(kind, nw.Enum):
        return tuple(kind.categories)
    if lazy.implementation.is_pandas_like() or lazy.implementation.is_dask():
        native: Any = lazy.to_native()
        column = native[name].cat
        return tuple(column.categories.tolist()) if getattr(column, "known", True) else None
    return None
