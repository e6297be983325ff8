"""Operating points from a data frame of any engine: every cut, or the cuts at the edges of bins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from compromis._text import nearest, shown
from compromis._typing import Flags, Floats, Label
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.evidence.readers import read_whole
from compromis.frames.query import (
    ROWS,
    TRUTH,
    WEIGHT,
    Bins,
    Frame,
    Rows,
    are_distinct,
    count_groups,
    count_rows,
    missing_values,
    refuse_unlabelled,
    run,
)
from compromis.labels import plain_label

SCORE, FLAG, BIN = "score", "flag", "bin"
MOST_CUTS = 2_000_000
"""Distinct scores that are fetched; more are binned."""
AUTO_BINS = 4096
_NO_LABEL, _NO_SCORE, _OUTSIDE = -1.0, -1.0, -2.0
Within = tuple[float, float]


def points_of_frame(
    frame: Any,
    *,
    truth: str,
    score: str,
    pos_label: Any,
    weight: str | None = None,
    bins: int | str | None = "auto",
    within: Within | None = None,
) -> OperatingPoints:
    """Count positives and negatives by score in the frame's engine."""
    label = plain_label(pos_label)
    opened = open_scores(frame, truth, score, label, weight)
    wanted = _choose_bins(bins, opened)
    if wanted is None:
        groups = count_groups(opened, [FLAG, SCORE], MOST_CUTS, what="distinct scores")
        scores = groups.floats(SCORE)
        refuse_groups(opened, groups, ~np.isfinite(scores))
        _refuse_merged(opened, groups, scores)
        sizes = opened.sizes(groups)
        used = sizes > 0
        falling, step = np.unique(-scores[used], return_inverse=True)
        inside = sum_by_flag(groups.floats(FLAG)[used] == 1, step, sizes[used], len(falling))
        points = OperatingPoints.from_counts(-falling, inside, label)
    else:
        spread = read_within(within) if within is not None else find_range(opened)
        layout = Bins.over(*spread, wanted)
        groups = count_bins(opened, layout)
        refuse_groups(opened, groups, groups.floats(BIN) == _NO_SCORE)
        _refuse_outside(opened, groups, spread)
        number, sizes = groups.floats(BIN).astype(np.int64), opened.sizes(groups)
        points = points_of_bins(layout, sum_by_flag(groups.floats(FLAG) == 1, number, sizes, layout.count), label)
    if not points.positives:
        _refuse_unknown(opened, truth, label)
    squares, positive = opened.squares(groups), groups.floats(FLAG) == 1
    if squares is None:
        return points
    return replace(points, squares=(float(squares[positive].sum()), float(squares[~positive].sum())))


def open_scores(frame: Any, truth: str, score: str, pos_label: Label, weight: str | None) -> Frame:
    """Open truth and score; the truth becomes a flag: 1 positive, 0 negative, -1 without a label."""
    opened = Frame.open(frame, {TRUTH: truth, SCORE: score, WEIGHT: weight})
    opened.check_numbers([SCORE])
    opened = opened.as_keys([SCORE])
    _check_kind(opened, pos_label)
    flag = nw.when(nw.col(TRUTH) == nw.lit(cast("Any", pos_label))).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
    missing = missing_values(TRUTH, opened.types[TRUTH])
    lazy = opened.lazy.with_columns(flag.alias(FLAG))
    return opened.with_lazy(
        lazy.with_columns(nw.when(missing).then(nw.lit(_NO_LABEL)).otherwise(nw.col(FLAG)).alias(FLAG))
    )


def count_bins(opened: Frame, bins: Bins) -> Rows:
    """Return positives and negatives in each bin; -1 holds the rows without a finite score, -2 those outside the range."""
    opened = opened.as_floats([SCORE])
    score = nw.col(SCORE)
    inside = (score >= bins.low) & (score <= bins.high)
    # a number that is none must not reach the conversion to a bin: engines differ in what becomes of it
    lazy = opened.lazy.with_columns(
        nw.when(inside).then(score).otherwise(nw.lit(bins.low)).alias(SCORE),
        nw.when(inside).then(nw.lit(0.0)).otherwise(nw.lit(_OUTSIDE)).alias("outside"),
        nw.when(score.is_finite()).then(nw.lit(0.0)).otherwise(nw.lit(_NO_SCORE)).alias("finite"),
    )
    number = nw.when(nw.col("outside") == 0).then(bins.expression(SCORE)).otherwise(nw.col("outside"))
    lazy = lazy.with_columns(number.alias(BIN))
    lazy = lazy.with_columns(nw.when(nw.col("finite") == 0).then(nw.col(BIN)).otherwise(nw.lit(_NO_SCORE)).alias(BIN))
    return count_groups(opened.with_lazy(lazy), [FLAG, BIN], 3 * (bins.count + 2), what="bins")


def find_range(opened: Frame) -> Within:
    """Return the lowest and highest finite score."""
    finite = opened.as_floats([SCORE]).lazy.filter(nw.col(SCORE).is_finite())
    found = run(finite.select(nw.col(SCORE).min().alias("low"), nw.col(SCORE).max().alias("high")))
    low, high = (float(found.floats(name)[0]) for name in ("low", "high"))
    if not np.isfinite(low):
        raise InputError(f"column {opened.named[SCORE]!r} has no finite score; there is nothing to rank")
    return low, high


def sum_by_flag(flags: Flags, step: NDArray[Any], sizes: NDArray[Any], steps: int) -> NDArray[Any]:
    """Return the positives (first row) and negatives of each step."""
    inside = np.zeros((2, steps), dtype=sizes.dtype)
    np.add.at(inside, (np.where(flags, 0, 1), step), sizes)
    return inside


def points_of_bins(bins: Bins, inside: NDArray[Any], pos_label: Label) -> OperatingPoints:
    """Return the cuts at the lower edges of the bins, from the positives and negatives in each."""
    edges = bins.edges()
    reached = np.append(np.diff(edges) > 0, True)  # between neighbouring floats there may be no room for a bin
    edges, inside = edges[reached][::-1], inside[:, reached][:, ::-1]
    return OperatingPoints.from_bins(edges, inside[0], inside[1], pos_label=pos_label)


def _choose_bins(bins: Any, opened: Frame) -> int | None:
    if bins == "auto":
        many = are_distinct(opened, [SCORE]) and count_rows(opened.lazy) > MOST_CUTS
        return AUTO_BINS if many else None
    return read_bins(bins)


def read_bins(bins: Any) -> int | None:
    """Return the number of bins of a score; None is every score."""
    also = "'auto', None (every score) or "
    return None if bins is None else read_whole(bins, "bins", 2, MOST_CUTS, also=also)


def read_within(within: Any) -> Within:
    """Return the range of the bins."""
    low, high = (float(end) for end in within)
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InputError(
            f"within is the lowest and the highest score that can occur, got {within!r}", parameter="within"
        )
    return low, high


def _check_kind(opened: Frame, pos_label: Label) -> None:
    kind = opened.types[TRUTH]
    fits = {
        "int": kind.is_integer(),
        "float": kind.is_float(),
        "bool": kind == nw.Boolean,
        "str": isinstance(kind, (nw.String, nw.Categorical, nw.Enum, nw.Object)),
    }
    if not fits.get(type(pos_label).__name__, True):
        raise InputError(
            f"pos_label is {pos_label!r}, but column {opened.named[TRUTH]!r} holds labels of type {kind}; write it as the column does",
            parameter="pos_label",
        )


def refuse_groups(opened: Frame, groups: Rows, unscored: Flags) -> None:
    """Refuse groups without a label or without a score."""
    counts = groups.counts(ROWS)
    refuse_unlabelled(opened.named[TRUTH], int(counts[groups.floats(FLAG) == _NO_LABEL].sum()))
    missing = int(counts[unscored].sum())
    if missing:
        raise InputError(
            f"column {opened.named[SCORE]!r} has {missing:,} {'row' if missing == 1 else 'rows'} whose score is missing or not finite; "
            f"filter them out first"
        )


def _refuse_outside(opened: Frame, groups: Rows, spread: Within) -> None:
    outside = int(groups.counts(ROWS)[groups.floats(BIN) == _OUTSIDE].sum())
    if outside:
        raise InputError(
            f"column {opened.named[SCORE]!r} has {outside:,} scores outside {spread[0]:g} to {spread[1]:g}; widen within="
        )


def _refuse_merged(opened: Frame, groups: Rows, scores: Floats) -> None:
    if not opened.types[SCORE].is_integer():
        return
    if len(np.unique(scores)) < len(set(groups.values(SCORE))):
        raise InputError(
            f"column {opened.named[SCORE]!r} has whole numbers that float64 cannot tell apart; rank or rescale them first"
        )


def _refuse_unknown(opened: Frame, truth: str, pos_label: Label) -> None:
    """Say which labels there are where none is positive; a frame with one class only may lack the positive one."""
    found = run(opened.lazy.group_by(TRUTH).agg(nw.len().alias(ROWS)).select(TRUTH, ROWS).head(1000)).values(TRUTH)
    if len(found) > 1:
        known = sorted(map(plain_label, found), key=str)
        raise InputError(
            f"pos_label is {pos_label!r}, which column {truth!r} does not have{nearest(pos_label, known, aside=True)}; "
            f"it has {shown(known)}",
            parameter="pos_label",
        )
