"""The shares of a report, and how many independent rows each rests on where rows have weights or come in groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from compromis._typing import Floats
from compromis.evidence.counts import Counts
from compromis.evidence.grouped import GroupedCounts
from compromis.measures.rates import ratio
from compromis.uncertainty.intervals import normal_quantile

Parts = dict[str, tuple[NDArray[Any], NDArray[Any]]]


def share_parts(matrix: NDArray[Any]) -> Parts:
    """Return what each share of rows has above and below its line, for matrices of shape (..., K, K).

    The parts are sums of cells, so the same function serves counts, sums of squared weights and the tables of groups.
    """
    hits = np.diagonal(matrix, axis1=-2, axis2=-1)
    truth, predicted = matrix.sum(axis=-1), matrix.sum(axis=-2)
    total = np.broadcast_to(truth.sum(axis=-1)[..., np.newaxis], truth.shape)
    others, against, right = total - truth, total - predicted, hits.sum(axis=-1)[..., np.newaxis]
    return {
        "class_recall": (hits, truth),
        "class_precision": (hits, predicted),
        "class_specificity": (others - predicted + hits, others),
        "class_negative_predictive_value": (others - predicted + hits, against),
        "class_false_negative_rate": (truth - hits, truth),
        "class_false_positive_rate": (predicted - hits, others),
        "class_share_predicted": (predicted, total),
        "accuracy": (right, total[..., :1]),
        "error_rate": (total[..., :1] - right, total[..., :1]),
    }


def effective_sizes(evidence: Evidence, confidence: float) -> dict[str, Floats]:
    """Return the effective number of rows behind each share.

    Notes
    -----
    Weights: Kish's (sum w)^2 / sum w^2, which is the number of rows where there are none. Groups: the share p as a ratio of
    group totals a_g, b_g has variance sum_g (a_g - p b_g)^2 / b^2 G/(G - 1); the effective size is p (1 - p) over it, shrunk by
    (z/t)^2 for few groups (Korn and Graubard 1998); at p = 0 or 1, where groups show no spread, a group counts as one row.
    """
    if isinstance(evidence, GroupedCounts):
        parts = share_parts(evidence.tables.astype(np.float64))
        return {
            name: _size_of_groups(above, below, evidence.times, confidence) for name, (above, below) in parts.items()
        }
    return _kish(evidence)


def _kish(counts: Counts) -> dict[str, Floats]:
    matrix = counts.matrix.astype(np.float64)
    sums, squares = share_parts(matrix), share_parts(matrix if counts.squares is None else counts.squares)
    return {name: np.nan_to_num(ratio(below**2, squares[name][1])) for name, (_, below) in sums.items()}


def _size_of_groups(part: Floats, whole: Floats, times: NDArray[np.int64], confidence: float) -> Floats:
    from scipy.stats import t

    often = times[:, np.newaxis]
    total = (often * whole).sum(axis=0)
    share = ratio((often * part).sum(axis=0), total)
    groups = (often * (whole > 0)).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (often * (part - share * whole) ** 2).sum(axis=0) / total**2 * groups / (groups - 1)
        size = np.where(spread > 0, share * (1 - share) / spread, total**2 / (often * whole**2).sum(axis=0))
        few = (normal_quantile(confidence) / t.ppf((1 + confidence) / 2, np.maximum(groups - 1, 1))) ** 2
    # groups may happen to spread less than rows would, but they never hold more than their rows
    sizes: Floats = np.nan_to_num(np.minimum(size, total) * few)
    return sizes


PRIOR = 0.7
"""Pseudo-rows that each class gets for being found and as many for being missed.

Chosen on the grid of benchmarks/interval_coverage.py: the mean coverage of 95 % intervals of PRAGMA is 0.952 with 4 of 96 settings outside
93-97 %; 1 (Laplace) loses good classifiers of rare classes (down to 0.91), 1/2 (Jeffreys) covers too much there and too little
elsewhere, and the plain multinomial bootstrap, which cannot draw an error that did not occur, covers 0.36 at worst.
"""

SEED = 0
DRAWS = 2000
CELLS_AT_ONCE = 1 << 22
"""Cells drawn together: bounds the memory at about 100 MB, whatever the number of classes."""

Evidence = Counts | GroupedCounts


def counts_of(evidence: Evidence) -> Counts:
    """Return the counts of all rows."""
    return evidence.counts if isinstance(evidence, GroupedCounts) else evidence


def prior_cells(classes: int) -> Floats:
    """Return the pseudo-rows of each cell: each class against the rest has `PRIOR` right and `PRIOR` wrong, by truth and by decision.

    With two classes each cell has PRIOR; with more the wrong ones share it, because PRIOR in all K x K cells would outweigh the rows.
    """
    prior = np.full((classes, classes), PRIOR / max(classes - 1, 1))
    np.fill_diagonal(prior, PRIOR)
    return prior


def draw_counts(evidence: Evidence, draws: int = DRAWS, random_state: int = SEED) -> Iterator[Floats]:
    """Yield stacks of drawn K x K matrices, `draws` in all, scaled like the counts; the same for the same seed.

    Notes
    -----
    Rows are weighted anew by independent exponential weights (Rubin's Bayesian bootstrap); the weights of the n rows of a cell
    sum to Gamma(n), so that the draws cost the same for 50 rows and 50 million. With a prior this is
    Dirichlet(counts + prior). Rows of unequal weights sum to about Gamma(W^2 / S) S / W, W the sum and S the sum of squares of the
    weights. Groups are weighted anew as wholes.
    """
    rng = np.random.default_rng(random_state)
    counts = counts_of(evidence)
    at_once = max(1, CELLS_AT_ONCE // max(counts.matrix.size, 1))
    for start in range(0, draws, at_once):
        size = min(at_once, draws - start)
        yield (
            _draw_groups(evidence, size, rng) if isinstance(evidence, GroupedCounts) else _draw_rows(counts, size, rng)
        )


def row_scale(counts: Counts) -> Floats:
    """Return the weight of an effective row in each cell, S / W; that of all rows where a cell is empty."""
    if counts.squares is None:
        return np.ones(counts.matrix.shape)
    overall = counts.squares.sum() / counts.matrix.sum()
    scale: Floats = np.full(counts.matrix.shape, overall)
    np.divide(counts.squares, counts.matrix, out=scale, where=counts.matrix > 0)
    return scale


def _draw_rows(counts: Counts, draws: int, rng: np.random.Generator) -> Floats:
    scale = row_scale(counts)
    shape = counts.matrix / scale + prior_for(counts)
    return rng.standard_gamma(shape, size=(draws, *shape.shape)) * scale


def _draw_groups(evidence: GroupedCounts, draws: int, rng: np.random.Generator) -> Floats:
    tables = evidence.tables.reshape(len(evidence.tables), -1).astype(np.float64)
    weights = rng.standard_gamma(evidence.times.astype(np.float64), size=(draws, len(tables)))
    drawn = weights @ tables
    prior = prior_for(evidence.counts)
    pseudo = rng.standard_gamma(prior, size=(draws, *prior.shape)) * typical_group(evidence)
    return drawn.reshape(draws, *prior.shape) + pseudo


def typical_group(evidence: GroupedCounts) -> float:
    """Return the size of the group that a row typically lies in: sum of squares over sum; what one pseudo-row weighs."""
    sizes = evidence.tables.sum(axis=(1, 2)).astype(np.float64)
    return float((evidence.times * sizes**2).sum() / (evidence.times * sizes).sum())


def prior_for(counts: Counts) -> Floats:
    """The prior, but nothing for a class that does not occur: it is left out of the measures and must stay so."""
    prior = prior_cells(len(counts.classes))
    prior[counts.support == 0] = 0.0
    return prior


Statistics = Callable[[Floats], Floats]
"""From sums (terms along the last axis) to the numbers of interest (along the last axis)."""

BLOCKS = 10_000
"""Rows beyond this number are first summed in as many random blocks; see `bootstrap_intervals`."""
_DRAWN_TOGETHER = 4_000_000


def bootstrap_intervals(
    terms: Floats, statistics: Statistics, confidence: float, replicates: int, rng: np.random.Generator
) -> Floats:
    """Return the BCa interval of each statistic, shape (statistics, 2); NaN where a statistic is undefined.

    Parameters
    ----------
    terms : ndarray of shape (n, m)
        What each row, or each random block of rows, adds to the sums.
    statistics : callable
        The numbers of interest as functions of the sums.
    confidence : float
        The level, for example 0.95.
    replicates : int
        How often the rows are drawn anew.
    rng : Generator
        The random numbers.

    Notes
    -----
    Bias-corrected and accelerated percentiles (Efron 1987), the acceleration from the jackknife. A sum over a random block of
    independent rows has the variance of its rows, so drawing blocks instead of rows leaves the variance of every total
    as it is; ten thousand blocks tell it to about 1 %.
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
