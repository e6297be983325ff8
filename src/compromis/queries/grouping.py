"""Grouping: the distinct values of a few columns with the number of their rows, in one query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from compromis.errors import InputError
from compromis.queries.frame import Frame, lazy_frame
from compromis.queries.running import Rows, run

ROWS, WEIGHT, SQUARE, WRONG = "rows", "weight", "square", "wrong"
"""What is summed over a group: its rows, weights, squared weights, and rows whose weight is none."""


class TooMany(InputError):
    """More groups than are fetched."""


def count_groups(frame: Frame, keys: Sequence[str], most: int, *, what: str) -> Rows:
    """Return the distinct `keys` with the number of rows of each, and their weights where the frame has some.

    More than `most` groups are refused before they are fetched; `what` is what the message calls them.
    """
    lazy, sums = frame.lazy, [nw.len().alias(ROWS)]
    if WEIGHT in frame.named:
        lazy = _checked_weights(frame)
        # compound aggregations fail in some engines, so every sum is of a column that is there
        sums += [nw.col(name).sum() for name in (WEIGHT, SQUARE, WRONG)]
    wanted = [*keys, ROWS, *([WEIGHT, SQUARE, WRONG] if WEIGHT in frame.named else [])]
    # Dask adds its index as a column; and a group-by of all rows apart must not come back whole
    rows = run(lazy.group_by(*keys).agg(*sums).select(*wanted).head(most + 1))
    if len(rows) > most:
        raise TooMany(f"there are more than {most:,} {what}; is one of the columns an identifier or a measurement?")
    if len(rows) == 0:
        raise InputError("the frame has no rows; there is nothing to count")
    if WEIGHT in frame.named:
        _refuse_wrong_weights(frame, rows)
    return rows


def count_rows(lazy: nw.LazyFrame[Any]) -> int:
    """Return the number of rows."""
    return int(run(lazy.select(nw.len().alias(ROWS))).counts(ROWS)[0])


def drop_rows(frame: Any, column: str) -> tuple[Any, int]:
    """Return the frame without rows whose `column` is missing, and the number of those."""
    lazy = lazy_frame(frame)
    missing = nw.col(column).is_null()
    if lazy.collect_schema()[column].is_float():
        missing = missing | nw.col(column).is_nan()
    marked = lazy.select(nw.when(missing).then(nw.lit(1.0)).otherwise(nw.lit(0.0)).alias(WRONG))
    dropped = int(np.nan_to_num(run(marked.select(nw.col(WRONG).sum())).floats(WRONG)[0]))
    return lazy.filter(~missing).to_native(), dropped


def refuse_missing(named: Mapping[str, str], rows: Rows, keys: Sequence[str]) -> None:
    """Refuse groups in which a label is missing."""
    counts = rows.counts(ROWS)
    for key in keys:
        missing = sum(int(count) for value, count in zip(rows.values(key), counts, strict=True) if value is None)
        if missing:
            raise InputError(
                f"column {named[key]!r} has {missing:,} {'row' if missing == 1 else 'rows'} without a label; "
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
    return lazy.with_columns((nw.col(WEIGHT) * nw.col(WEIGHT)).alias(SQUARE))


def _refuse_wrong_weights(frame: Frame, rows: Rows) -> None:
    wrong = int(rows.floats(WRONG).sum())
    if wrong:
        raise InputError(
            f"column {frame.named[WEIGHT]!r} has {wrong:,} {'row' if wrong == 1 else 'rows'} whose weight is missing, negative "
            f"or infinite; filter them out first, or weigh them 0"
        )
    if not rows.floats(WEIGHT).any():
        raise InputError(f"the weights in column {frame.named[WEIGHT]!r} are all 0; nothing would count")
