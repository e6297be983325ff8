"""The weighted decision as expressions of the frame's engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

BEST, SCORE = "compromis best", "compromis score"
"""Columns that are gone at the end; nobody's own columns are called so."""


def usable_votes(columns: Sequence[str]) -> nw.Expr:
    """Return whether every vote of a row is a finite number of at least 0."""
    flags = [nw.col(name).is_finite() & (nw.col(name) >= 0) for name in columns]
    usable = flags[0]
    for flag in flags[1:]:
        usable = usable & flag
    return usable


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

    def score(place: int) -> nw.Expr:
        vote = nw.col(columns[place]).cast(nw.Float64)
        return (vote + smoothing if smoothing else vote) * float(weights[place])

    lazy = lazy.with_columns(score(0).alias(BEST), nw.lit(labels[0]).alias(name))
    for place in range(1, len(columns)):
        lazy = lazy.with_columns(score(place).alias(SCORE))
        better = nw.col(SCORE) > nw.col(BEST)
        lazy = lazy.with_columns(
            nw.when(better).then(nw.lit(labels[place])).otherwise(nw.col(name)).alias(name),
            nw.when(better).then(nw.col(SCORE)).otherwise(nw.col(BEST)).alias(BEST),
        )
    return lazy
