"""Draws of confusion counts: what other samples of rows from the same population might have given."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from compromis._typing import Floats
from compromis.evidence.counts import Counts
from compromis.evidence.grouped import GroupedCounts

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
