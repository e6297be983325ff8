"""The iterative signature algorithm (ISA): rows that are high on the columns that are high on these rows.

S. Bergmann, J. Ihmels and N. Barkai, Iterative signature algorithm for the analysis of large-scale gene expression
data, Phys. Rev. E 67, 031902, 2003. Each step is a linear map by the standardised matrix, then a threshold; a
bicluster is a fixed point. Without a threshold it is the power iteration for the first singular vectors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def standardise(values: Floats, axis: int) -> Floats:
    """Return the values with mean 0 and standard deviation 1 along an axis; constant ones become 0."""
    centred = values - values.mean(axis=axis, keepdims=True)
    spread = centred.std(axis=axis, keepdims=True)
    scaled: Floats = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)
    return scaled


def exceed(scores: Floats, threshold: float) -> Floats:
    """Return each column's scores, 0 where not above its mean by `threshold` standard deviations, at length 1."""
    kept = np.where(standardise(scores, 0) > threshold, scores, 0.0)
    length = np.linalg.norm(kept, axis=0)
    unit: Floats = np.divide(kept, length, out=np.zeros_like(kept), where=length > 0)
    return unit


def fixed_points(
    matrix: Floats, threshold: float, starts: Floats, *, steps: int = 100, tolerance: float = 1e-6
) -> tuple[Floats, Floats, Flags]:
    """Iterate from each start (a column of row scores); return row scores, column scores, and which came to rest."""
    over_rows, over_columns = standardise(matrix, 0), standardise(matrix, 1)
    row_scores = starts
    for _ in range(steps):
        column_scores = exceed(over_rows.T @ row_scores, threshold)
        before, row_scores = row_scores, exceed(over_columns @ column_scores, threshold)
        moved = np.abs(row_scores - before).max(axis=0)
        if (moved <= tolerance).all():
            break
    return row_scores, column_scores, (moved <= tolerance) & row_scores.any(axis=0) & column_scores.any(axis=0)


def isa(
    matrix: Floats, threshold: float, rng: np.random.Generator, *, starts: int = 50, steps: int = 100
) -> tuple[Flags, Flags] | None:
    """Return the rows and columns of the strongest bicluster found from random starts; None if there is none.

    Parameters
    ----------
    matrix : ndarray
        The data.
    threshold : float
        How many standard deviations above the mean the scores of rows and of columns must be: the lower, the larger
        the bicluster; the whole matrix once it is below every score.
    rng : Generator
        Draws the starts: random sets of rows.
    starts, steps : int
        From how many sets to start, and how many steps to iterate at most.

    Notes
    -----
    The paper reports every fixed point. We keep one per threshold, without looking at the target: that of the highest
    ``u' A v``, with A the standardised matrix and u, v its scores, which for no threshold is the singular value.
    """
    seeds = (rng.random((len(matrix), starts)) < rng.random(starts)).astype(float)
    row_scores, column_scores, rested = fixed_points(matrix, threshold, seeds, steps=steps)
    if not rested.any():
        return None
    strength = np.einsum("is,ij,js->s", row_scores, standardise(matrix, 0), column_scores, optimize=True)
    best = int(np.where(rested, strength, -np.inf).argmax())
    return row_scores[:, best] != 0, column_scores[:, best] != 0
