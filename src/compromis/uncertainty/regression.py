"""Intervals of regression errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compromis.errors import InputError
from compromis.evidence.residuals import CHUNK, ErrorSums, Residuals
from compromis.measures import regression
from compromis.uncertainty.bootstrap import BLOCKS, bootstrap_intervals, quantile_levels
from compromis.uncertainty.wilson import wilson_bounds

Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True)
class RegressionIntervals:
    """Lower and upper bounds of regression measures at a level of confidence."""

    confidence: float
    measures: Mapping[str, Bounds]
    within: tuple[Bounds, ...]
    """In the order of the tolerances."""
    quantiles: tuple[Bounds, ...]
    """In the order of the quantiles asked for."""
    r2: tuple[Bounds, ...]
    """R2 against each baseline."""


def regression_intervals(
    residuals: Residuals,
    quantiles: Sequence[float],
    pinball: tuple[float, float],
    confidence: float,
    rng: np.random.Generator,
    replicates: int = 2000,
) -> RegressionIntervals:
    """Return intervals of all measures: BCa bootstrap, Wilson's for shares, Woodruff's for quantiles.

    The baselines are taken as given: constants, not estimates.
    """
    if len(residuals.truth) < 2:
        raise InputError("an interval needs at least 2 rows, got 1; leave confidence out")
    names: list[str] = []

    def statistics(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        named = ErrorSums.from_terms(sums, origin, residuals)
        values = regression.reference_measures(named, *pinball)
        names[:] = values
        return np.concatenate([np.stack(list(values.values()), axis=-1), regression.r2(named)], axis=-1)

    origin = residuals.origin
    bounds = bootstrap_intervals(block_terms(residuals, origin, rng), statistics, confidence, replicates, rng)
    pairs = [(float(low), float(high)) for low, high in bounds]
    rows = effective_rows(residuals)
    shares = regression.share_within(residuals.sums())
    return RegressionIntervals(
        confidence,
        dict(zip(names, pairs, strict=False)),
        tuple(zip(*(bound.tolist() for bound in wilson_bounds(shares, rows, confidence)), strict=True)),
        tuple(_quantile_bounds(residuals, share, rows, confidence) for share in quantiles),
        tuple(pairs[len(names) :]),
    )


def block_terms(residuals: Residuals, origin: tuple[float, float], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the terms of the rows; of many rows, their sums in random blocks, without ever holding the terms of all."""
    rows = len(residuals.truth)
    if rows <= BLOCKS:
        return residuals.terms(origin)
    order = rng.permutation(rows)
    edges = np.linspace(0, rows, BLOCKS + 1).astype(np.int64)
    together = max(1, CHUNK * BLOCKS // rows)
    parts = []
    for first in range(0, BLOCKS, together):
        cuts = edges[first : first + together + 1]
        terms = residuals.take(order[cuts[0] : cuts[-1]]).terms(origin)
        parts.append(np.add.reduceat(terms, cuts[:-1] - cuts[0], axis=0))
    return np.concatenate(parts)


def effective_rows(residuals: Residuals) -> float:
    """Return how many rows of equal weight tell as much: (sum w)^2 / sum w^2."""
    weight = residuals.weight
    return float(len(residuals.truth)) if weight is None else float(weight.sum() ** 2 / np.sum(weight**2))


def _quantile_bounds(residuals: Residuals, share: float, rows: float, confidence: float) -> Bounds:
    levels = np.array(quantile_levels(share, rows, confidence))
    low, high = regression.quantile_absolute_error(residuals, levels)
    return float(low), float(high)
