"""Draws of confusion counts, and how many independent rows each rate rests on where rows have weights or come in groups."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from compromis._typing import Floats, Ints
from compromis.evidence.counts import Counts, ratio
from compromis.evidence.grouped import GroupedCounts
from compromis.evidence.strata import Strata
from compromis.measures.rates import Evidence, counts_of, share_parts
from compromis.uncertainty.intervals import normal_quantile

PRIOR = 0.7
"""Pseudo-rows of each class that are predicted right, and as many that are not.

Chosen on the grid of benchmarks/interval_coverage.py: the mean coverage of 95 % intervals of PRAGMA is 0.951 with 5 of 96 settings outside
93-97 %; 1 (Laplace) loses good classifiers of rare classes (down to 0.91), 1/2 (Jeffreys) covers too much there and too little
elsewhere, and the plain multinomial bootstrap, which cannot draw an error that did not occur, covers 0.36 at worst.
"""

SEED = 0
DRAWS = 2000
FEW = 0.95
"""The confidence at which draws of few groups are as wide as Student's t."""
CELLS_AT_ONCE = 1 << 22
"""Cells drawn together: bounds the memory at about 100 MB, whatever the number of classes."""


def prior_cells(classes: int, wrong: float = PRIOR, right: float = PRIOR) -> Floats:
    """Return the pseudo-rows of each cell: each class against the rest has so many `right` and `wrong`, by truth and by prediction.

    With two classes each cell has PRIOR; with more the wrong ones share it, because PRIOR in all K x K cells would outweigh the rows.
    """
    prior = np.full((classes, classes), wrong / max(classes - 1, 1))
    np.fill_diagonal(prior, right)
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


TILTS = ((0.9, 0.4), (0.4, 0.9))
"""Pseudo-rows that are predicted wrong and right: those of the lower and of the upper bound of what a stratified sample says.

Few labels lie in the large quiet stratum, where a row weighs most, so one prior for both bounds pulls either to one side: the upper
bound of recall was missed in 5.5 % of samples, the lower in 1 %. Chosen among eleven pairs on 108 settings of two classes; promise
30 counts on others.
"""


def draw_sample(strata: Strata, tables: Ints, prior: Floats, draws: int, random_state: int = SEED) -> Iterator[Floats]:
    """Yield stacks of drawn cells of a population, of shape (draws, cells), from labelled rows of shape (strata, cells).

    Notes
    -----
    Within a stratum the shares of its cells are Dirichlet(labels + prior); its size is drawn too, as the population stands for
    the rows to come. `prior` has the shape of `tables`.
    """
    rng = np.random.default_rng(random_state)
    stratum, cell = np.nonzero((tables > 0) | ((prior > 0) & (tables.sum(axis=1) > 0)[:, np.newaxis]))
    start = np.flatnonzero(np.diff(stratum, prepend=-1))
    rows, shape, held = np.diff([*start, len(stratum)]), (tables + prior)[stratum, cell], stratum[start]
    at_once = max(1, CELLS_AT_ONCE // max(len(stratum), tables.shape[1]))
    for first in range(0, draws, at_once):
        drawn = rng.standard_gamma(shape, size=(min(at_once, draws - first), len(shape)))
        size = rng.standard_gamma(strata.sizes[held], size=(len(drawn), len(held)))
        drawn *= np.repeat(ratio(size, np.add.reduceat(drawn, start, axis=1)), rows, axis=1)
        yield added_columns(drawn, cell, tables.shape[1])


def added_columns(drawn: Floats, cell: Ints, cells: int) -> Floats:
    """Add up the columns of the same cell."""
    from scipy.sparse import csr_array

    collect = csr_array((np.ones(len(cell)), (np.arange(len(cell)), cell)), shape=(len(cell), cells))
    added: Floats = (collect.T @ drawn.T).T
    return np.ascontiguousarray(added)


def sample_prior(counts: Counts, wrong: float, right: float) -> Floats:
    """Return the pseudo-rows of each cell of each stratum, of shape (strata, K, K).

    Those predicted as a class are spread evenly over the strata in which it is predicted.
    """
    assert counts.tables is not None
    there = counts.tables.any(axis=1)
    prior: Floats = prior_for(counts, wrong, right) * (there / np.maximum(there.sum(axis=0), 1))[:, np.newaxis, :]
    return prior


def draw_sample_counts(counts: Counts, prior: Floats, draws: int = DRAWS, random_state: int = SEED) -> Iterator[Floats]:
    """Yield stacks of drawn K x K matrices of the population that a stratified sample speaks of."""
    assert counts.strata is not None
    assert counts.tables is not None
    flat = counts.tables.reshape(len(counts.strata), -1)
    for drawn in draw_sample(counts.strata, flat, prior.reshape(flat.shape), draws, random_state):
        yield drawn.reshape(len(drawn), *counts.matrix.shape)


def row_scale(evidence: Evidence) -> Floats:
    """Return the weight of an effective row of each true class, of shape (K, 1); that of all rows for a class that does not occur.

    Notes
    -----
    By class and not by cell: a cell of eight rows does not tell how much the weights of its rows vary, and intervals of PRAGMA under
    log-normal weights held the truth in 88 %. In groups a row weighs what `effective_sizes` makes of the recall of its class.
    """
    counts = counts_of(evidence)
    if isinstance(evidence, GroupedCounts):
        weight = ratio(counts.support, effective_sizes(evidence, FEW)["recall"])
        overall = float(ratio(counts.total, effective_sizes(evidence, FEW)["accuracy"]).item())
    elif counts.squares is None:
        return np.ones((len(counts.classes), 1))
    else:
        weight, overall = ratio(counts.squares.sum(axis=1), counts.support), counts.squares.sum() / counts.matrix.sum()
    return np.where(weight > 0, weight, overall)[:, np.newaxis]


def cell_scale(evidence: Evidence) -> Floats:
    """Return the weight of an effective row of each cell, of shape (K, K): that of its class, or its own where that is more.

    Where predictions decide which rows are labelled, the few missed rows weigh many times what the found ones do: by the class alone
    intervals of recall held the truth in 77 %. A cell of few rows may seem to weigh too little, so it never counts for less than its class.
    """
    counts, by_class = counts_of(evidence), row_scale(evidence)
    if isinstance(evidence, GroupedCounts) or counts.squares is None:
        return np.broadcast_to(by_class, counts.matrix.shape)
    return np.fmax(by_class, ratio(counts.squares, counts.matrix))


def _draw_rows(counts: Counts, draws: int, rng: np.random.Generator) -> Floats:
    scale = cell_scale(counts)
    shape = counts.matrix / scale + prior_for(counts)
    return rng.standard_gamma(shape, size=(draws, *shape.shape)) * scale


def _draw_groups(evidence: GroupedCounts, draws: int, rng: np.random.Generator) -> Floats:
    tables = evidence.tables.reshape(len(evidence.tables), -1).astype(np.float64)
    fewer = as_few(evidence.groups)
    weights = rng.standard_gamma(evidence.times * fewer, size=(draws, len(tables))) / fewer
    prior = prior_for(evidence.counts)
    pseudo = rng.standard_gamma(prior, size=(draws, *prior.shape)) * row_scale(evidence)
    return (weights @ tables).reshape(draws, *prior.shape) + pseudo


def as_few(groups: int) -> float:
    """Return the part of a group that each counts for, so that draws of few groups spread as Student's t with the variance of a sample."""
    from scipy.stats import t

    few = (normal_quantile(FEW) / t.ppf((1 + FEW) / 2, max(groups - 1, 1))) ** 2
    return float(max(((groups - 1) * few - 1) / groups, 0.1))


def typical_group(evidence: GroupedCounts) -> float:
    """Return the size of the group that a row typically lies in: sum of squares over sum; the weight of a pseudo-row."""
    sizes = evidence.tables.reshape(len(evidence.tables), -1).sum(axis=1).astype(np.float64)
    return float((evidence.times * sizes**2).sum() / (evidence.times * sizes).sum())


def prior_for(counts: Counts, wrong: float = PRIOR, right: float = PRIOR) -> Floats:
    """The prior, but nothing for a class that does not occur: it is left out of the measures and must stay so."""
    prior = prior_cells(len(counts.classes), wrong, right)
    prior[counts.support == 0] = 0.0
    return prior


def effective_sizes(evidence: Evidence, confidence: float) -> dict[str, Floats]:
    """Return the effective number of rows behind each share.

    Notes
    -----
    Weights: Kish's (sum w)^2 / sum w^2, which is the number of rows where there are none; or p (1 - p) over the variance of the share p,
    sum w^2 (x - p)^2 / (sum w)^2, if that is less: where wrong rows weigh more than right ones. Groups: the share p as a ratio of
    group totals a_g, b_g has variance sum_g (a_g - p b_g)^2 / b^2 G/(G - 1); the effective size is p (1 - p) over it, shrunk by
    (z/t)^2 for few groups (Korn and Graubard 1998); at p = 0 or 1, where groups show no spread, a group counts as one row.
    """
    if isinstance(evidence, GroupedCounts):
        parts, most = share_parts(evidence.tables), _rows_behind(evidence.counts)
        return {name: _size_of_groups(*pair, evidence.times, most[name], confidence) for name, pair in parts.items()}
    sums = share_parts(evidence)
    if evidence.squares is None:
        return {name: below.astype(np.float64) for name, (_, below) in sums.items()}
    squares, sizes = share_parts(evidence.squares), {}
    for name, (above, below) in sums.items():
        (part, whole), share = squares[name], ratio(above, below)
        spread = part * (1 - share) ** 2 + (whole - part) * share**2
        own = np.where(spread > 0, ratio(share * (1 - share) * below**2, spread), np.inf)
        sizes[name] = np.nan_to_num(np.fmin(ratio(below**2, whole), own))
    return sizes


def _rows_behind(counts: Counts) -> dict[str, Floats]:
    """Return the rows behind each share, or their effective number (Kish)."""
    rows = {name: below.astype(np.float64) for name, (_, below) in share_parts(counts).items()}
    if counts.squares is None:
        return rows
    squares = share_parts(counts.squares)
    return {name: np.nan_to_num(ratio(below**2, squares[name][1])) for name, below in rows.items()}


def _size_of_groups(part: Floats, whole: Floats, times: Ints, most: Floats, confidence: float) -> Floats:
    from scipy.stats import t

    part, whole = part.astype(np.float64), np.broadcast_to(whole, part.shape).astype(np.float64)
    often = times[:, np.newaxis]
    total = (often * whole).sum(axis=0)
    share = ratio((often * part).sum(axis=0), total)
    groups = (often * (whole > 0)).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (often * (part - share * whole) ** 2).sum(axis=0) / total**2 * groups / (groups - 1)
        size = np.where(spread > 0, share * (1 - share) / spread, total**2 / (often * whole**2).sum(axis=0))
        few = (normal_quantile(confidence) / t.ppf((1 + confidence) / 2, np.maximum(groups - 1, 1))) ** 2
    # groups may happen to spread less than rows would, but they never hold more than their rows
    sizes: Floats = np.nan_to_num(np.minimum(size, most) * few)
    return sizes
