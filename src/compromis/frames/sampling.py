"""Rows to label from a data frame of any engine: its cells are counted there, and the rows drawn are found by a hash of their ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import narwhals as nw
import numpy as np

from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.counts import ratio
from compromis.evidence.population import STEPS, Population, cells_of, codes_of
from compromis.frames.deciding import read_rule
from compromis.frames.query import (
    ARGUMENT,
    BEST,
    PREDICTION,
    ROWS,
    SECOND,
    Frame,
    Rows,
    add_ranking,
    count_rows,
    lazy_frame,
    refuse_missing,
    row_total,
    run,
    usable_votes,
)
from compromis.frames.reading import FileFrame
from compromis.frames.votes import vote_names
from compromis.labels import encode, encode_classes

JUDGE, STEP, ID, CODE, HASH, TOTAL, USABLE = "judge", "step", "id", "code", "hash", "total", "usable"
"""Our names of columns."""
PRIME = 2**31 - 1
"""Ids are hashed modulo this prime, so that products fit into 64 bits in every engine."""
DEGREE = 4
"""Of the random polynomial that hashes ids: any so many rows are drawn independently of each other."""
MOST_CELLS = 1 << 20
MARGIN = 6.0
"""So many deviations more rows than are wanted are looked at."""
INDEX = "compromis row"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FrameRows:
    """A data frame with its population."""

    population: Population
    """The cells."""
    left_out: int
    """Rows without any vote."""
    lazy: nw.LazyFrame[Any]
    """The id of each row and the code of its cell."""
    codes: Ints
    """The code of each cell, rising."""
    whole: nw.LazyFrame[Any]
    """The frame as it was given, with its ids."""
    row_id: str
    """The column of ids there."""
    eager: bool
    """Whether an eager frame was given."""

    def take(self, stratum_of: Ints, before: Ints, drawn: Ints, seed: int) -> tuple[Any, Ints, Any]:
        """Return ids, strata and a frame of the rows from rank `before` up to `drawn` of each stratum, in the order of their hashes."""
        sizes = np.bincount(stratum_of, weights=self.population.sizes, minlength=len(drawn))
        wanted = drawn + MARGIN * np.sqrt(drawn) + 10
        while True:
            below = np.minimum(np.ceil(PRIME * wanted / sizes), PRIME).astype(np.int64)
            ids, order, codes = self._hashed(stratum_of, below, seed)
            stratum = stratum_of[np.searchsorted(self.codes, codes)]
            if (np.bincount(stratum, minlength=len(drawn)) >= drawn).all():
                break
            if below.min() == PRIME:
                raise InputError("the frame has fewer rows than when it was counted; plan again when it is complete")
            wanted = wanted * 2
        chosen = _ranked(ids, order, stratum, before, drawn)
        return ids[chosen], stratum[chosen], self._frame(ids[chosen], stratum[chosen], drawn / sizes)

    def _hashed(self, stratum_of: Ints, below: Ints, seed: int) -> tuple[Ints, Ints, Ints]:
        """Return id, hash and cell of the rows whose hash is below that of their stratum; of more in memory."""
        if self.eager:  # pandas cannot divide columns of Arrow
            found = run(self.lazy)
            ids, codes = found.counts(ID), found.counts(CODE)
            return ids, _hash(ids, seed), codes
        limits = [_where(CODE, self.codes[stratum_of == h], number, 0) for h, number in enumerate(below.tolist())]
        lazy = self.lazy.with_columns(_hash(nw.col(ID), seed).alias(HASH))
        found = run(lazy.filter(nw.col(HASH) < reduce(add, limits)).select(ID, HASH, CODE))
        return found.counts(ID), found.counts(HASH), found.counts(CODE)

    def _frame(self, ids: Ints, stratum: Ints, probability: Floats) -> Any:
        """Return the rows of these ids with stratum and probability, in the order of the ids."""
        held = [ids[stratum == h] for h in range(len(probability))]
        lazy = self.whole.filter(nw.col(self.row_id).is_in(ids.tolist())).with_columns(
            reduce(add, [_where(self.row_id, own, h, 0) for h, own in enumerate(held)]).alias("stratum"),
            reduce(add, [_where(self.row_id, own, float(probability[h]), 0.0) for h, own in enumerate(held)]).alias(
                "probability"
            ),
        )
        lazy = lazy.sort(self.row_id)
        lazy = lazy.drop(INDEX) if self.row_id == INDEX else lazy
        return lazy.collect().to_native() if self.eager else lazy.to_native()


def _where(column: str, values: Ints, then: float, otherwise: float) -> nw.Expr:
    return nw.when(nw.col(column).is_in(values.tolist())).then(nw.lit(then)).otherwise(nw.lit(otherwise))


def _ranked(ids: Ints, order: Ints, stratum: Ints, before: Ints, drawn: Ints) -> Ints:
    """Return which rows stand between the two ranks of their stratum, in the order of their ids."""
    if len(np.unique(ids)) < len(ids):
        raise InputError("row_id is not different in each row; number the rows first", "row_id")
    parts = []
    for h, (first, last) in enumerate(zip(before.tolist(), drawn.tolist(), strict=True)):
        own = np.flatnonzero(stratum == h)
        parts.append(own[np.lexsort((ids[own], order[own]))][first:last])
    chosen = np.concatenate(parts)
    return chosen[np.argsort(ids[chosen], kind="stable")]


def _hash(ids: Any, seed: int) -> Any:
    """Return a random polynomial of ids, an array or a column, below `PRIME`."""
    factors = np.random.default_rng(seed).integers(1, PRIME, DEGREE).tolist()
    point = ids % PRIME
    value = (point * factors[0] + factors[1]) % PRIME
    for factor in factors[2:]:
        value = (value * point + factor) % PRIME
    return value


def read_population(
    frame: Any,
    *,
    prediction: str | None,
    proba: Sequence[str] | Mapping[str, Any] | None,
    judge: Any,
    row_id: str | None,
    weights: Any,
    labels: Sequence[Any] | None,
    known: Sequence[Label],
    pos_label: Any,
) -> FrameRows:
    """Count the cells of a data frame in its engine."""
    if (prediction is None) == (proba is None):
        raise InputError(
            "give prediction, the column of predicted classes, or proba, the columns of votes", "prediction"
        )
    if judge is not None and not isinstance(judge, str):
        raise InputError(f"judge is a column of the frame, got {type(judge).__name__}", "judge")
    if pos_label is not None:
        raise InputError("a frame has one column of votes per class; leave pos_label out", "pos_label")
    whole, row_id, eager = _with_ids(frame, row_id)
    opened, order, left_out = _decided(whole, prediction, proba, judge, row_id, weights, labels)
    keys = [PREDICTION, *([JUDGE] if judge is not None else []), STEP]
    shares = [] if order is None else vote_names(len(order))
    rows = run(
        opened.lazy.group_by(*keys).agg(nw.len().alias(ROWS), *(nw.col(name).sum() for name in shares)).head(MOST_CELLS)
    )
    if not len(rows):
        raise InputError("the frame has no rows with a prediction; there is nothing to label")
    refuse_missing(opened, rows, [key for key in keys[:-1] if key in opened.named])
    return _coded(
        opened,
        rows,
        order,
        shares,
        labels,
        known,
        {"left_out": left_out, "whole": whole, "row_id": row_id, "eager": eager},
    )


def _with_ids(frame: Any, row_id: str | None) -> tuple[nw.LazyFrame[Any], str, bool]:
    """Return the frame with a column of ids: the rows of an eager frame are numbered where there is none."""
    given = frame.to_arrow() if isinstance(frame, FileFrame) else frame
    lazy, opened = lazy_frame(given), nw.from_native(given)
    eager = isinstance(opened, nw.DataFrame)
    if row_id is not None:
        return lazy, row_id, eager
    if not isinstance(opened, nw.DataFrame):
        raise InputError(
            "row_id is missing: an engine keeps no order of rows, so labels are joined by a column of whole numbers, different in each row",
            "row_id",
        )
    return opened.with_row_index(INDEX).lazy(), INDEX, eager


def _decided(
    whole: nw.LazyFrame[Any],
    prediction: str | None,
    proba: Sequence[str] | Mapping[str, Any] | None,
    judge: str | None,
    row_id: str,
    weights: Any,
    labels: Sequence[Any] | None,
) -> tuple[Frame, tuple[Label, ...] | None, int]:
    """Return our columns with prediction, step of the margin and shares of votes; the classes of votes, and the rows without any."""
    native = whole.to_native()
    if proba is None:
        if weights is not None:
            raise InputError("weights decide votes; predictions are decided already", "weights")
        opened = Frame.open(native, {PREDICTION: prediction, JUDGE: judge, ID: row_id})
        _check_ids(opened)
        return opened.with_lazy(opened.lazy.with_columns(nw.lit(-1).alias(STEP))), None, 0
    columns, rule = read_rule(native, proba, weights, labels)
    names = vote_names(len(columns))
    opened = Frame.open(native, {**dict(zip(names, columns, strict=True)), JUDGE: judge, ID: row_id})
    opened.check_numbers(names)
    _check_ids(opened)
    lazy = opened.as_floats(names).lazy.with_columns(row_total(names).alias(TOTAL), usable_votes(names).alias(USABLE))
    wrong = count_rows(lazy.filter(~nw.col(USABLE) | nw.col(USABLE).is_null()))
    if wrong:
        raise InputError(f"{wrong:,} rows have a vote that is missing, negative or not finite; filter them out first")
    left_out = count_rows(lazy.filter(nw.col(TOTAL) == 0))
    lazy = add_ranking(lazy.filter(nw.col(TOTAL) > 0), names, rule.weights, rule.smoothing)
    margin = (nw.col(BEST) - nw.col(SECOND)) / (nw.col(BEST) + nw.col(SECOND)) * float(STEPS)
    lazy = lazy.with_columns(
        nw.col(ARGUMENT).cast(nw.Int64).alias(PREDICTION),
        margin.floor().clip(0.0, float(STEPS - 1)).cast(nw.Int64).alias(STEP),
        *((nw.col(name) / nw.col(TOTAL)).alias(name) for name in names),
    )
    return opened.with_lazy(lazy), tuple(rule.classes), left_out


def _check_ids(opened: Frame) -> None:
    if not opened.types[ID].is_integer():
        raise InputError(
            f"row_id {opened.named[ID]!r} must hold whole numbers of at least 0, its type is {opened.types[ID]}; number the rows first",
            "row_id",
        )


def _coded(
    opened: Frame,
    rows: Rows,
    order: tuple[Label, ...] | None,
    shares: Sequence[str],
    labels: Sequence[Any] | None,
    known: Sequence[Label],
    source: dict[str, Any],
) -> FrameRows:
    """Return the frame with a code of each row's cell, and the population of the codes."""
    columns = [opened.labels(rows, key) for key in (PREDICTION, JUDGE) if key in opened.named]
    if order is None:
        found, classes = encode_classes(*columns, labels=labels, absent=known)
    else:
        classes = order
        found = [rows.counts(PREDICTION), *(encode(column, labels=order)[0][0] for column in columns)]
    predicted, opinion = found[0], found[1] if len(found) > 1 else None
    size = len(classes)
    codes = codes_of(size, predicted, opinion, rows.counts(STEP))
    population, rank = _population(classes, codes, rows, shares)
    keys = {PREDICTION: predicted} if opinion is None else {PREDICTION: predicted, JUDGE: opinion}
    code = (nw.col(STEP) + 1).cast(nw.Int64)
    for key, factor in ((PREDICTION, (size + 1) * (STEPS + 1)), (JUDGE, STEPS + 1)):
        if key not in keys:
            continue
        if key == PREDICTION and order is not None:
            code = code + nw.col(PREDICTION) * factor
            continue
        values = dict(zip(rows.values(key), keys[key].tolist(), strict=True))
        number = [
            nw.when(nw.col(key) == value).then(nw.lit(place)).otherwise(nw.lit(0)) for value, place in values.items()
        ]
        code = code + (reduce(add, number) + int(key == JUDGE)) * factor
    lazy = opened.lazy.select(nw.col(ID).cast(nw.Int64), code.cast(nw.Int64).alias(CODE))
    return FrameRows(population=population, lazy=lazy, codes=rank, **source)


def _population(classes: Sequence[Label], codes: Ints, rows: Rows, shares: Sequence[str]) -> tuple[Population, Ints]:
    """Return the population of counted codes; the same label may come in several groups."""
    rank, place = np.unique(codes, return_inverse=True)
    sizes = np.bincount(place, weights=rows.counts(ROWS)).astype(np.int64)
    sums = [np.bincount(place, weights=rows.floats(name)) for name in shares]
    means = ratio(np.column_stack(sums), sizes[:, np.newaxis]) if sums else None
    return Population(classes=tuple(classes), cells=cells_of(rank, len(classes)), sizes=sizes, shares=means), rank
