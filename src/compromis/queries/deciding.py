"""The weighted decision as expressions of the frame's engine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

BEST, SECOND, ARGUMENT, SCORE = "compromis best", "compromis second", "compromis argument", "compromis score"
"""Columns that are gone at the end; nobody's own columns are called so."""


def usable_votes(columns: Sequence[str]) -> nw.Expr:
    """Return whether every vote of a row is a number of at least 0, and their sum finite: a third quicker than asking each."""
    usable, total = nw.col(columns[0]) >= 0, nw.col(columns[0]).cast(nw.Float64)
    for name in columns[1:]:
        usable, total = usable & (nw.col(name) >= 0), total + nw.col(name).cast(nw.Float64)
    return usable & (total <= sys.float_info.max)  # where NaN is a number to an engine, it is above all others


def add_decision(
    lazy: nw.LazyFrame[Any],
    columns: Sequence[str],
    weights: NDArray[np.float64],
    smoothing: float,
    labels: Sequence[Any],
    name: str,
) -> nw.LazyFrame[Any]:
    """Return the frame with the column `name`: the label of the largest weight x (vote + smoothing), the first one in a tie.

    A running best, one class after the other: the engines' own row-wise maximum is silently wrong in Dask where divisions
    are unknown, and step by step the expressions grow with the classes, not with a power of them.
    """
    lazy = lazy.with_columns(
        tuned_decision(columns[0], weights[0], smoothing).alias(BEST), nw.lit(labels[0]).alias(name)
    )
    for place in range(1, len(columns)):
        lazy = lazy.with_columns(tuned_decision(columns[place], weights[place], smoothing).alias(SCORE))
        better = nw.col(SCORE) > nw.col(BEST)
        lazy = lazy.with_columns(
            nw.when(better).then(nw.lit(labels[place])).otherwise(nw.col(name)).alias(name),
            nw.when(better).then(nw.col(SCORE)).otherwise(nw.col(BEST)).alias(BEST),
        )
    return lazy


def add_ranking(
    lazy: nw.LazyFrame[Any], columns: Sequence[str], weights: NDArray[np.float64], smoothing: float
) -> nw.LazyFrame[Any]:
    """Return the frame with the largest weighted vote of each row, whose it is (its position), and the second largest."""
    lazy = lazy.with_columns(
        tuned_decision(columns[0], weights[0], smoothing).alias(BEST),
        nw.lit(-1.0).alias(SECOND),
        nw.lit(0.0).alias(ARGUMENT),
    )
    for place in range(1, len(columns)):
        lazy = lazy.with_columns(tuned_decision(columns[place], weights[place], smoothing).alias(SCORE))
        better = nw.col(SCORE) > nw.col(BEST)
        next_best = nw.when(nw.col(SCORE) > nw.col(SECOND)).then(nw.col(SCORE)).otherwise(nw.col(SECOND))
        lazy = lazy.with_columns(
            nw.when(better).then(nw.col(BEST)).otherwise(next_best).alias(SECOND),
            nw.when(better).then(nw.lit(float(place))).otherwise(nw.col(ARGUMENT)).alias(ARGUMENT),
            nw.when(better).then(nw.col(SCORE)).otherwise(nw.col(BEST)).alias(BEST),
        )
    return lazy


def tuned_decision(column: str, weight: float, smoothing: float) -> nw.Expr:
    """Return weight x (vote + smoothing), with the roundings that the decision in memory has."""
    vote = nw.col(column).cast(nw.Float64)
    return (vote + smoothing if smoothing else vote) * float(weight)
