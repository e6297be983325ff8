"""Vote patterns from a data frame of any engine: exact, or with votes rounded to a grid and the error stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from compromis._text import shown
from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.readers import read_whole
from compromis.evidence.votes import Votes
from compromis.frames.query import (
    ROWS,
    TRUTH,
    WEIGHT,
    Frame,
    Rows,
    are_distinct,
    count_groups,
    count_rows,
    lazy_frame,
    refuse_missing,
    row_total,
    usable_votes,
)
from compromis.frames.tables import TooMany
from compromis.labels import column_of_each_class, encode, number, plain_label, sorted_labels, without_prefix

MOST_PATTERNS = 2_000_000
"""Distinct patterns that are fetched: more are better binned."""
_WRONG = -1.0
"""Stands for an unusable vote, where votes are rounded."""


def patterns_of_frame(
    frame: Any,
    *,
    truth: str,
    proba: Sequence[str] | Mapping[str, Any],
    labels: Sequence[Any] | None = None,
    weight: str | None = None,
    bins: int | None = None,
) -> Votes:
    """Group rows of equal votes and truth in the frame's engine."""
    columns, classes = name_votes(frame, proba, labels)
    opened = open_votes(frame, truth, columns, weight)
    names = vote_names(len(columns))
    if bins is None:
        _refuse_continuous(opened, names)
    else:
        opened = _rounded(opened, names, read_bins(bins, len(names)))
    rows = count_groups(opened, [TRUTH, *names], MOST_PATTERNS, what="distinct patterns of votes")
    refuse_missing(opened, rows, [TRUTH])
    patterns = patterns_of_rows(opened, rows, columns, classes)
    return patterns if bins is None else replace(patterns, votes=patterns.votes / bins, width=0.5 / bins)


def name_votes(
    frame: Any, votes: Sequence[str] | Mapping[Any, Any], labels: Sequence[Any] | None
) -> tuple[list[str], tuple[Label, ...] | None]:
    """Return the columns of votes and their classes, None where nothing says which they are."""
    if isinstance(votes, str) or not votes:
        raise InputError(f"proba is a list of columns, one per class, got {votes!r}")
    columns = list(votes)
    if isinstance(votes, Mapping):
        if labels is not None:
            raise InputError("proba is a mapping that gives the class of each column already; leave labels out")
        column_of = column_of_each_class(votes, columns=lazy_frame(frame).collect_schema().names())
        labels = list(votes.values() if column_of is None else column_of)
        columns = columns if column_of is None else list(column_of.values())
    if len(set(columns)) < len(columns):
        raise InputError(f"each column of votes stands once, got {shown(columns)}")
    if labels is None:
        return columns, None
    classes = tuple(plain_label(label) for label in labels)
    if len(classes) != len(columns) or len(set(classes)) < len(classes):
        raise InputError(
            f"labels gives each of the {len(columns)} columns of votes a class of its own, got {shown(classes)}"
        )
    return columns, classes


def open_votes(frame: Any, truth: str, columns: Sequence[str], weight: str | None) -> Frame:
    """Open truth and votes, the votes as floats where their type is not a whole number."""
    names = vote_names(len(columns))
    opened = Frame.open(frame, {TRUTH: truth, **dict(zip(names, columns, strict=True)), WEIGHT: weight})
    opened.check_numbers(names)
    return opened.as_keys(names)


def vote_names(classes: int) -> list[str]:
    """Return our names of the columns of votes."""
    return [f"vote{position}" for position in range(classes)]


def patterns_of_rows(opened: Frame, rows: Rows, columns: Sequence[str], classes: tuple[Label, ...] | None) -> Votes:
    """Return grouped rows as patterns."""
    truth, order = true_classes(opened, rows, columns, classes)
    matrix = np.column_stack([rows.floats(name) for name in vote_names(len(columns))])
    counts = rows.counts(ROWS)
    _refuse_unusable(opened, matrix, counts)
    return _merged(matrix, truth, order, counts, opened.sizes(rows), opened.squares(rows))


def true_classes(
    opened: Frame, rows: Rows, columns: Sequence[str], classes: tuple[Label, ...] | None
) -> tuple[Ints, tuple[Label, ...]]:
    """Return the position of each group's true class, and the classes; where nothing else says them, columns of votes are named so."""
    column = opened.labels(rows, TRUTH)
    if classes is None:
        known = {str(label): label for label in number(column)[1]}
        named = without_prefix(columns, known)
        if not {*known} <= {*named} or (column.kind != "str" and len(known) < len(named)):
            raise InputError(
                f"the columns of votes are {shown(columns)}, the classes {shown(sorted_labels(known.values()))}; pass labels=, the class "
                "of each column, or name the columns after the classes (a common prefix is left out)",
                "labels",
            )
        classes = tuple(known.get(name, name) for name in named)  # type: ignore[call-overload]
    (truth,), order = encode(column, labels=classes)
    return truth, order


def _merged(
    matrix: Floats,
    truth: Ints,
    classes: tuple[Label, ...],
    counts: Ints,
    sizes: NDArray[Any],
    squares: Floats | None,
) -> Votes:
    """Return the patterns in the order of their votes: engines hand groups over in any order, and may keep 0 and -0 apart."""
    voted = matrix.any(axis=1)
    left_out = int(counts[~voted].sum())
    if not voted.any():
        raise InputError(f"none of the {left_out:,} rows has a vote for any class; there is nothing to decide")
    order = np.flatnonzero(voted)
    order = order[np.lexsort([truth[order], *matrix[order].T[::-1]])]
    matrix, truth = matrix[order], truth[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (matrix[1:] != matrix[:-1]).any(axis=1) | (truth[1:] != truth[:-1])
    start = np.flatnonzero(new)
    return Votes(
        votes=np.ascontiguousarray(matrix[new]),
        truth=truth[new],
        multiplicity=np.add.reduceat(sizes[order], start),
        squares=None if squares is None else np.add.reduceat(squares[order], start),
        classes=classes,
        rows=int(counts[voted].sum()),
        left_out=left_out,
        merged=True,
    )


def _refuse_unusable(opened: Frame, matrix: Floats, counts: Ints) -> None:
    usable = (matrix >= 0) & (matrix < np.inf)
    if usable.all():
        return
    wrong = ~usable.all(axis=1)
    first = int((~usable).any(axis=0).argmax())
    raise InputError(
        f"{int(counts[wrong].sum()):,} rows have a vote that is missing, negative or not finite, the first in column "
        f"{opened.named[vote_names(first + 1)[-1]]!r}; filter them out first"
    )


def _refuse_continuous(opened: Frame, names: Sequence[str]) -> None:
    if not are_continuous(opened, names):
        return
    rows = count_rows(opened.lazy)
    if rows > MOST_PATTERNS:
        raise TooMany(
            f"the votes of nearly every row are its own, so {rows:,} rows are as many patterns; pass bins=, "
            f"or let compromis.frames.search_weights find weights in a few passes"
        )


def are_continuous(opened: Frame, names: Sequence[str]) -> bool:
    """Return whether nearly every row has votes of its own, as far as the first rows show."""
    return not all(opened.types[name].is_integer() for name in names) and are_distinct(opened, names)


def read_bins(bins: Any, classes: int) -> int:
    """Return the number of steps that votes are rounded to."""
    steps, least = read_whole(bins, "bins", 1, 1_000_000), classes // 2 + (classes > 2)
    if steps < least:  # votes spread evenly would all be rounded to 0, and the row left out
        raise InputError(f"the votes of {classes} classes need at least {least} bins, got {steps}")
    return steps


def _rounded(opened: Frame, names: Sequence[str], bins: int) -> Frame:
    """Return the frame with votes as shares of the row's votes, in whole steps of 1 / bins; -1 where a vote is unusable."""
    lazy = opened.as_floats(names).lazy
    lazy = lazy.with_columns(row_total(names).alias("total"), usable_votes(names).alias("usable"))
    fine = nw.col("usable") & nw.col("total").is_finite() & (nw.col("total") > 0)
    lazy = lazy.with_columns(
        nw.when(fine).then(nw.lit(1.0)).otherwise(nw.lit(0.0)).alias("fine"),
        nw.when(fine).then(nw.col("total")).otherwise(nw.lit(1.0)).alias("total"),
        nw.when(nw.col("usable") & (nw.col("total") == 0)).then(nw.lit(0.0)).otherwise(nw.lit(_WRONG)).alias("instead"),
    )
    steps = [
        nw.when(nw.col("fine") == 1)
        .then((nw.col(name) / nw.col("total") * bins + 0.5).floor())
        .otherwise(nw.col("instead"))
        .alias(name)
        for name in names
    ]
    return opened.select(lazy.with_columns(*steps), [TRUTH, *names])
