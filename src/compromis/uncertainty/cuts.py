"""Draws of the cuts of a score: what other samples of rows might have given for every operating point at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.measures.rates import ratio
from compromis.uncertainty.drawing import SEED

CURVE_DRAWS = 1000
MOST_CUTS = 400
"""Cuts that are drawn; finer ones are merged, evenly in true and false positive rate, so that rows cost nothing."""
PSEUDO_ROWS = 1.0
"""Rows of each kind that are spread like all rows: without them a perfect ranking would have no uncertainty."""


@dataclass(frozen=True, slots=True, eq=False)
class CutDraws:
    """Drawn true and false positives of some cuts of a score.

    Attributes
    ----------
    kept : ndarray of shape (C,)
        The positions of the cuts in the operating points, from nothing predicted positive to everything.
    true_positives, false_positives : ndarray of shape (draws, C)
        Drawn rows (or weights) at or above each kept cut.
    """

    kept: NDArray[np.int64]
    true_positives: Floats
    false_positives: Floats

    @property
    def tpr(self) -> Floats:
        """Drawn true positive rates (recalls), of shape (draws, C)."""
        return self.true_positives / self.true_positives[:, -1:]

    @property
    def fpr(self) -> Floats:
        """Drawn false positive rates, of shape (draws, C)."""
        return self.false_positives / self.false_positives[:, -1:]

    @property
    def precision(self) -> Floats:
        """Drawn precisions, of shape (draws, C); NaN where nothing is predicted positive."""
        return ratio(self.true_positives, self.true_positives + self.false_positives)


def draw_cuts(
    points: OperatingPoints,
    *,
    draws: int = CURVE_DRAWS,
    sizes: tuple[float, float] | None = None,
    random_state: int = SEED,
) -> CutDraws:
    """Draw the rows between the cuts anew; `sizes` are the effective numbers of positives and negatives, where rows have weights.

    Notes
    -----
    The rows between two cuts weigh Gamma(their number) together, positives and negatives apart; what is drawn is a
    Bayesian bootstrap of the rows, with `PSEUDO_ROWS` of each kind spread like all rows.
    """
    points.check_ranking("an interval or band of a curve")
    if points.reason:
        raise InputError(f"intervals and bands of curves need rows of both kinds; {points.reason}")
    rng = np.random.default_rng(random_state)
    kept = thinned(points)
    between = [np.diff(part[kept]).astype(np.float64) for part in (points.true_positives, points.false_positives)]
    totals = (points.positives, points.negatives)
    spread = (between[0] + between[1]) / sum(totals)
    drawn = []
    for rows, total, size in zip(between, totals, sizes or totals, strict=True):
        scale = total / size  # the weight of an effective row
        shape = rows / scale + PSEUDO_ROWS * spread
        above = np.cumsum(rng.standard_gamma(shape, size=(draws, len(shape))) * scale, axis=1)
        drawn.append(np.concatenate([np.zeros((draws, 1)), above], axis=1))
    return CutDraws(kept, drawn[0], drawn[1])


def thinned(points: OperatingPoints, most: int = MOST_CUTS) -> NDArray[np.int64]:
    """Return the positions of at most about `most` cuts: the first, the last, and others evenly along the ROC curve."""
    if len(points) <= most:
        return np.arange(len(points))
    along = points.tpr + points.fpr
    wanted = np.linspace(0.0, 2.0, most)
    # the first cuts decide the precision at low recall, where evenly spaced ones would be too coarse
    early = np.geomspace(1, len(points) - 1, most // 4).astype(np.int64)
    found = np.minimum(np.searchsorted(along, wanted), len(points) - 1)
    return np.unique(np.concatenate([[0], early, found, [len(points) - 1]]))
