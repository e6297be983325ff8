"""Errors of predicted numbers, the verdict beside predictions without a model, and intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri

from compromis._typing import Floats
from compromis.errors import InputError
from compromis.evidence.counts import ratio
from compromis.evidence.residuals import CHUNK, ErrorSums, Residuals, Sum
from compromis.uncertainty.intervals import wilson_bounds

CANCELLED = 1e-13
"""A variance below this share of the second moment is rounding: the values are constant."""


def root_mean_squared_error(sums: ErrorSums) -> Floats:
    """RMSE, the root of the mean of (predicted - true)^2: in the unit of the target."""
    return np.sqrt(ratio(sums.squared, sums.weight))


def mean_absolute_error(sums: ErrorSums) -> Floats:
    """MAE, the mean of abs(predicted - true)."""
    return ratio(sums.over + sums.under, sums.weight)


def relative_squared_error(sums: ErrorSums) -> Floats:
    """RSE against each baseline: squared errors relative to those of the baseline; R2 is 1 - RSE, RRSE its root."""
    return ratio(np.asarray(sums.squared)[..., np.newaxis], sums.baseline_squared)


def relative_absolute_error(sums: ErrorSums) -> Floats:
    """RAE against each baseline: absolute errors relative to those of the baseline."""
    return ratio(np.asarray(sums.over + sums.under)[..., np.newaxis], sums.baseline_absolute)


def r2(sums: ErrorSums) -> Floats:
    """R2 against each baseline: 1 is perfect, 0 no better than the baseline, below 0 worse."""
    return 1 - relative_squared_error(sums)


def share_within(sums: ErrorSums) -> Floats:
    """The share of the predictions within each tolerance."""
    return ratio(sums.within, np.asarray(sums.weight)[..., np.newaxis])


def correlation(sums: ErrorSums) -> Floats:
    """Pearson's correlation coefficient of truth and prediction; NaN where one of them is constant."""
    covariance = sums.product - sums.true * sums.predicted / sums.weight
    true = _spread(sums.true_squared, sums.true, sums.weight)
    predicted = _spread(sums.predicted_squared, sums.predicted, sums.weight)
    return np.clip(ratio(covariance, np.sqrt(true) * np.sqrt(predicted)), -1.0, 1.0)


def _spread(squares: Sum, first: Sum, weight: Sum) -> Floats:
    spread = squares - first * first / weight
    return np.where(spread > CANCELLED * squares, spread, 0.0)


def reference_measures(sums: ErrorSums, under_weight: float, over_weight: float) -> dict[str, Floats]:
    """Return every measure that follows from sums, by name; relative ones against the first baseline, the reference.

    Notes
    -----
    mean_error is the bias, mean of predicted minus true. The log error is the root of the mean of (log(1 + predicted) - log(1 + true))^2,
    NaN where a value is negative. The pinball error is the mean of u max(true - predicted, 0) + o max(predicted - true, 0); the
    constant with the least such error is the quantile u / (u + o) of the targets, and 0.5 and 0.5 give half the MAE.
    """
    rse = relative_squared_error(sums)[..., 0]
    return {
        "mean_error": ratio(sums.over - sums.under, sums.weight),
        "mean_squared_error": ratio(sums.squared, sums.weight),
        "root_mean_squared_error": root_mean_squared_error(sums),
        "mean_absolute_error": mean_absolute_error(sums),
        "root_mean_squared_log_error": np.sqrt(ratio(sums.squared_log, sums.weight)),
        "relative_squared_error": rse,
        "relative_absolute_error": relative_absolute_error(sums)[..., 0],
        "root_relative_squared_error": np.sqrt(rse),
        "r2": 1 - rse,
        "pinball_error": ratio(under_weight * sums.under + over_weight * sums.over, sums.weight),
        "correlation": correlation(sums),
    }


def quantile_absolute_error(residuals: Residuals, shares: Floats) -> Floats:
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
    errors: Floats = (size[np.minimum(below, last)] + size[np.minimum(above, last)]) / 2
    return errors


@dataclass(frozen=True, kw_only=True)
class RegressionVerdict:
    """Whether predictions are better than those without a model; ``str()`` is the sentence."""

    state: str
    """``"better"`` than the best baseline, or ``"no better"`` where its squared error is no larger."""
    baseline: str
    """The baseline with the least squared error."""
    error: float
    """The root mean squared error of the predictions."""
    baseline_error: float
    baseline_absolute: float | None
    """The mean absolute error of the baseline, where that of the predictions is not below it."""

    @cached_property
    def sentence(self) -> str:
        """The verdict in words."""
        error, other = (
            f"the root mean squared error {self.error:.4g}",
            f"the {self.baseline_error:.4g} of {self.baseline}",
        )
        if self.state == "no better":
            how = "larger" if self.error > self.baseline_error else "no smaller"
            return f"no better than no model: {error} is {how} than {other}"
        text = f"better than no model: {error} is {100 * (1 - self.error / self.baseline_error):.0f} % below {other}"
        if self.baseline_absolute is None:
            return text
        return f"{text}; but its mean absolute error is not below the {self.baseline_absolute:.4g} of the baseline"

    def __str__(self) -> str:
        return self.sentence


def judge_predictions(sums: ErrorSums) -> RegressionVerdict:
    """Compare the predictions with the baseline that has the least squared error."""
    best = int(np.argmin(sums.baseline_squared))
    absolute = float(sums.baseline_absolute[best] / sums.weight)
    return RegressionVerdict(
        state="better" if r2(sums)[best] > 0 else "no better",
        baseline=sums.baselines[best],
        error=float(root_mean_squared_error(sums)),
        baseline_error=math.sqrt(sums.baseline_squared[best] / sums.weight),
        baseline_absolute=absolute if float(mean_absolute_error(sums)) >= absolute else None,
    )


def read_pinball(under_weight: float, over_weight: float) -> tuple[float, float]:
    """Return checked weights of under- and over-prediction."""
    weights = float(under_weight), float(over_weight)
    if not all(np.isfinite(weight) and weight >= 0 for weight in weights) or not any(weights):
        raise InputError(
            f"under_weight and over_weight are numbers of at least 0, not both 0, got {under_weight:g} and {over_weight:g}"
        )
    return weights


def within_names(tolerances: Iterable[object]) -> list[str]:
    """Name the shares of predictions within each tolerance."""
    return [f"share within {tolerance}" for tolerance in tolerances]


def quantile_names(shares: Iterable[float]) -> list[str]:
    """Name quantiles of the absolute errors."""
    return ["median_absolute_error" if share == 0.5 else f"quantile {share:g} of absolute errors" for share in shares]


def r2_names(sums: ErrorSums) -> list[str]:
    """Name R2 against each baseline but the first, the reference."""
    return [f"r2 against {name}" for name in sums.baselines[1:]]


@dataclass(frozen=True, slots=True)
class RegressionIntervals:
    """Lower and upper bounds at a level of confidence, by the names of `RegressionEvaluation.measures`."""

    confidence: float
    measures: Mapping[str, tuple[float, float]]


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
    origin, sums = residuals.origin, residuals.sums()

    def statistics(terms: Floats) -> Floats:
        drawn = ErrorSums.from_terms(terms, origin, residuals)
        values = reference_measures(drawn, *pinball).values()
        return np.concatenate([np.stack(list(values), axis=-1), r2(drawn)[..., 1:]], axis=-1)

    rows = effective_rows(residuals)
    levels = [np.array(quantile_levels(share, rows, confidence)) for share in quantiles]
    bounds = [
        *bootstrap_intervals(block_terms(residuals, origin, rng), statistics, confidence, replicates, rng),
        *np.transpose(wilson_bounds(share_within(sums), rows, confidence)),
        *(quantile_absolute_error(residuals, pair) for pair in levels),
    ]
    names = [*reference_measures(sums, *pinball), *r2_names(sums)]
    names += [*within_names(sums.tolerances), *quantile_names(quantiles)]
    pairs = [(float(low), float(high)) for low, high in bounds]
    return RegressionIntervals(confidence, dict(zip(names, pairs, strict=True)))


def block_terms(residuals: Residuals, origin: tuple[float, float], rng: np.random.Generator) -> Floats:
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
    """Return the effective number of rows: (sum w)^2 / sum w^2."""
    weight = residuals.weight
    return float(len(residuals.truth)) if weight is None else float(weight.sum() ** 2 / np.sum(weight**2))


Statistics = Callable[[Floats], Floats]
"""From sums (terms along the last axis) to the numbers of interest (along the last axis)."""

BLOCKS = 10_000
"""Rows beyond this number are first summed in as many random blocks; see `bootstrap_intervals`."""
_DRAWN_TOGETHER = 4_000_000


def bootstrap_intervals(
    terms: Floats, statistics: Statistics, confidence: float, replicates: int, rng: np.random.Generator
) -> Floats:
    """Return the BCa interval of each statistic, shape (statistics, 2); NaN where a statistic is undefined.

    `terms` holds what each row, or each random block of rows, adds to the sums; `replicates` samples of them are drawn.

    Notes
    -----
    Bias-corrected and accelerated percentiles (Efron 1987), the acceleration from the jackknife. A sum over a random block of
    independent rows has the variance of its rows, so drawing blocks instead of rows leaves the variance of every total
    as it is; ten thousand blocks estimate it to about 1 %.
    """
    total = terms.sum(axis=0)
    estimate = statistics(total)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = statistics(resampled_sums(terms, replicates, rng))
        left_out = statistics(total - terms)
        return np.array(
            [_bca(*parts, confidence) for parts in zip(np.atleast_1d(estimate), drawn.T, left_out.T, strict=True)]
        )


def resampled_sums(terms: Floats, replicates: int, rng: np.random.Generator) -> Floats:
    """Return the sums of `replicates` samples of the rows, drawn with replacement."""
    rows, width = len(terms), max(1, _DRAWN_TOGETHER // len(terms))
    parts = []
    for start in range(0, replicates, width):
        samples = min(width, replicates - start)
        drawn = rng.integers(0, rows, size=(samples, rows)) + rows * np.arange(samples)[:, np.newaxis]
        times = np.bincount(drawn.ravel(), minlength=samples * rows).reshape(samples, rows)
        parts.append(times.astype(np.float64) @ terms)
    return np.concatenate(parts)


def quantile_levels(share: float, rows: float, confidence: float) -> tuple[float, float]:
    """Return the two shares whose quantiles enclose the quantile at `share` (Woodruff 1952)."""
    half = float(ndtri(0.5 + confidence / 2)) * np.sqrt(share * (1 - share) / rows)
    return max(0.0, float(share - half)), min(1.0, float(share + half))


def _bca(estimate: float, drawn: Floats, left_out: Floats, confidence: float) -> tuple[float, float]:
    drawn = drawn[np.isfinite(drawn)]
    if not np.isfinite(estimate) or len(drawn) == 0:
        return np.nan, np.nan
    # values equal to the estimate count half, so that a constant statistic has no bias
    below = (np.count_nonzero(drawn < estimate) + 0.5 * np.count_nonzero(drawn == estimate)) / len(drawn)
    bias = ndtri(np.clip(below, 0.5 / len(drawn), 1 - 0.5 / len(drawn)))
    known = left_out[np.isfinite(left_out)]  # of two rows, one alone may have no value
    pull = known.mean() - known if len(known) else known
    spread = np.sum(pull**2) ** 1.5
    acceleration = np.sum(pull**3) / (6 * spread) if spread > 0 else 0.0
    z = bias + ndtri(np.array([(1 - confidence) / 2, (1 + confidence) / 2]))
    low, high = np.quantile(drawn, ndtr(bias + z / (1 - acceleration * z)))
    return float(low), float(high)
