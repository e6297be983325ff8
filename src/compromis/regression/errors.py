"""Is a regression worth anything? It is judged beside the predictions that need no model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compromis._arrays import ratio
from compromis._typing import Floats as Rates
from compromis.errors import InputError
from compromis.evidence.residuals import CHUNK, ErrorSums, Residuals, Sum
from compromis.uncertainty.bootstrap import BLOCKS, bootstrap_intervals, quantile_levels
from compromis.uncertainty.intervals import wilson_bounds


@dataclass(frozen=True, slots=True)
class RegressionVerdict:
    """Whether predictions are better than those without a model.

    Attributes
    ----------
    informative : bool
        False when the best baseline has no larger squared error.
    sentence : str
        The same in words.
    """

    informative: bool
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def judge_predictions(sums: ErrorSums) -> RegressionVerdict:
    """Compare the predictions with the baseline that has the least squared error."""
    best = int(np.argmin(sums.baseline_squared))
    name, naive = sums.baselines[best], math.sqrt(sums.baseline_squared[best] / sums.weight)
    error, gain = float(root_mean_squared_error(sums)), float(r2(sums)[best])
    if not gain > 0:
        how = "larger than" if error > naive else "no smaller than"
        return RegressionVerdict(
            False, f"uninformative: the root mean squared error {error:.4g} is {how} the {naive:.4g} of {name}"
        )
    less = 100 * (1 - error / naive)
    sentence = f"informative: the root mean squared error {error:.4g} is {less:.0f} % below the {naive:.4g} of {name}"
    absolute = float(sums.baseline_absolute[best] / sums.weight)
    if float(mean_absolute_error(sums)) >= absolute:
        sentence += f"; but its mean absolute error is not below the {absolute:.4g} of the baseline"
    return RegressionVerdict(True, sentence)


CANCELLED = 1e-13
"""A variance below this share of the second moment is rounding: the values are constant."""


def mean_error(sums: ErrorSums) -> Rates:
    """The bias: mean of predicted minus true; above 0 the predictions are too high on the whole."""
    return ratio(sums.over - sums.under, sums.weight)


def mean_squared_error(sums: ErrorSums) -> Rates:
    """MSE, the mean of (predicted - true)^2."""
    return ratio(sums.squared, sums.weight)


def root_mean_squared_error(sums: ErrorSums) -> Rates:
    """RMSE, the root of the MSE: in the unit of the target."""
    return np.sqrt(mean_squared_error(sums))


def mean_absolute_error(sums: ErrorSums) -> Rates:
    """MAE, the mean of abs(predicted - true)."""
    return ratio(sums.over + sums.under, sums.weight)


def root_mean_squared_log_error(sums: ErrorSums) -> Rates:
    """RMSLE, the root of the mean of (log(1 + predicted) - log(1 + true))^2; NaN where a value is negative."""
    return np.sqrt(ratio(sums.squared_log, sums.weight))


def relative_squared_error(sums: ErrorSums) -> Rates:
    """RSE against each baseline: squared errors relative to those of the baseline."""
    return ratio(_beside(sums.squared, sums.baseline_squared), sums.baseline_squared)


def root_relative_squared_error(sums: ErrorSums) -> Rates:
    """RRSE against each baseline, the root of the RSE."""
    return np.sqrt(relative_squared_error(sums))


def relative_absolute_error(sums: ErrorSums) -> Rates:
    """RAE against each baseline: absolute errors relative to those of the baseline."""
    return ratio(_beside(sums.over + sums.under, sums.baseline_absolute), sums.baseline_absolute)


def r2(sums: ErrorSums) -> Rates:
    """R2 against each baseline, 1 - RSE: 1 is perfect, 0 no better than the baseline, below 0 worse."""
    return 1 - relative_squared_error(sums)


def share_within(sums: ErrorSums) -> Rates:
    """The share of the predictions within each tolerance."""
    return ratio(sums.within, _beside(sums.weight, sums.within))


def pinball_error(sums: ErrorSums, under_weight: float, over_weight: float) -> Rates:
    """The mean of under_weight max(true - predicted, 0) + over_weight max(predicted - true, 0).

    Notes
    -----
    The constant with the least such error is the quantile u / (u + o) of the targets; 0.5 and 0.5 give half the MAE.
    """
    return ratio(under_weight * sums.under + over_weight * sums.over, sums.weight)


def correlation(sums: ErrorSums) -> Rates:
    """Pearson's correlation coefficient of truth and prediction; NaN where one of them is constant."""
    covariance = sums.product - sums.true * sums.predicted / sums.weight
    true, predicted = (
        _spread(square, first, sums.weight)
        for square, first in ((sums.true_squared, sums.true), (sums.predicted_squared, sums.predicted))
    )
    return np.clip(ratio(covariance, np.sqrt(true) * np.sqrt(predicted)), -1.0, 1.0)


def quantile_absolute_error(residuals: Residuals, shares: NDArray[np.float64]) -> Rates:
    """The absolute error that a share of the rows does not exceed; 0.5 gives the median. Needs the rows: it does not add up.

    Notes
    -----
    The smallest error x with F(x) >= q, F the weighted distribution; where F(x) = q, the middle between x and the
    next. Unweighted this is numpy's ``averaged_inverted_cdf``, and the usual median.
    """
    size = np.abs(residuals.error)
    order = np.argsort(size, kind="stable")
    weight = np.ones(len(size)) if residuals.weight is None else residuals.weight
    order = order[weight[order] > 0]
    mass, size = np.cumsum(weight[order]), size[order]
    wanted = np.clip(shares, 0.0, 1.0) * mass[-1]
    rounding = 1e-12 * mass[-1]
    below = np.searchsorted(mass, wanted - rounding, side="left")
    above = np.searchsorted(mass, wanted + rounding, side="right")
    last = len(size) - 1
    errors: Rates = (size[np.minimum(below, last)] + size[np.minimum(above, last)]) / 2
    return errors


def reference_measures(sums: ErrorSums, under_weight: float, over_weight: float) -> dict[str, Rates]:
    """Return every additive measure by name; the relative ones against the first baseline, the reference."""
    return {
        "mean_error": mean_error(sums),
        "mean_squared_error": mean_squared_error(sums),
        "root_mean_squared_error": root_mean_squared_error(sums),
        "mean_absolute_error": mean_absolute_error(sums),
        "root_mean_squared_log_error": root_mean_squared_log_error(sums),
        "relative_squared_error": relative_squared_error(sums)[..., 0],
        "relative_absolute_error": relative_absolute_error(sums)[..., 0],
        "root_relative_squared_error": root_relative_squared_error(sums)[..., 0],
        "r2": r2(sums)[..., 0],
        "pinball_error": pinball_error(sums, under_weight, over_weight),
        "correlation": correlation(sums),
    }


def _beside(value: Sum, columns: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.broadcast_to(np.asarray(value)[..., np.newaxis], columns.shape)


def _spread(squares: Sum, first: Sum, weight: Sum) -> NDArray[np.float64]:
    spread = squares - first * first / weight
    return np.where(spread > CANCELLED * squares, spread, 0.0)


def read_pinball(under_weight: float, over_weight: float) -> tuple[float, float]:
    """Return checked weights of under- and over-prediction."""
    weights = float(under_weight), float(over_weight)
    if not all(np.isfinite(one) and one >= 0 for one in weights) or not any(weights):
        raise InputError(
            f"under_weight and over_weight are numbers of at least 0, not both 0, got {under_weight:g} and {over_weight:g}"
        )
    return weights


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
        values = reference_measures(named, *pinball)
        names[:] = values
        return np.concatenate([np.stack(list(values.values()), axis=-1), r2(named)], axis=-1)

    origin = residuals.origin
    bounds = bootstrap_intervals(block_terms(residuals, origin, rng), statistics, confidence, replicates, rng)
    pairs = [(float(low), float(high)) for low, high in bounds]
    rows = effective_rows(residuals)
    shares = share_within(residuals.sums())
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
    low, high = quantile_absolute_error(residuals, levels)
    return float(low), float(high)
