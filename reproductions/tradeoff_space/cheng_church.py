"""Cheng and Church's biclustering: delete rows and columns until the mean squared residue is at most delta, then add.

Y. Cheng and G. M. Church, Biclustering of expression data, Proc. Int. Conf. Intell. Syst. Mol. Biol. 8, 93-103, 2000:
algorithms 1 (single node deletion), 2 (multiple node deletion) and 3 (node addition) for one bicluster.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def squared_residues(matrix: Floats, rows: Flags, columns: Flags) -> Floats:
    """Return (a_ij - a_iJ - a_Ij + a_IJ)^2 for every cell of the matrix, inside the bicluster (I, J) or not."""
    row_means = matrix[:, columns].mean(axis=1, keepdims=True)
    column_means = matrix[rows].mean(axis=0, keepdims=True)
    squares: Floats = np.square(matrix - row_means - column_means + row_means[rows].mean())
    return squares


def scores(matrix: Floats, rows: Flags, columns: Flags) -> tuple[float, Floats, Floats]:
    """Return the mean squared residue H(I, J), and d(i) and d(j) of every row and column of the matrix."""
    squares = squared_residues(matrix, rows, columns)
    row_scores = squares[:, columns].mean(axis=1)
    return float(row_scores[rows].mean()), row_scores, squares[rows].mean(axis=0)


def mean_squared_residue(matrix: Floats, rows: Flags, columns: Flags) -> float:
    """Return H(I, J): 0 for a bicluster whose cells are a row effect plus a column effect."""
    return scores(matrix, rows, columns)[0]


def delete_many(matrix: Floats, rows: Flags, columns: Flags, delta: float, alpha: float, large: int) -> None:
    """Delete all rows, then all columns, with a score above alpha H, while that is many at once (algorithm 2)."""
    changed = True
    while changed:
        changed = False
        for axis, kept in enumerate((rows, columns)):
            residue, *nodes = scores(matrix, rows, columns)
            if residue <= delta:
                return
            bad = kept & (nodes[axis] > alpha * residue)
            if kept.sum() >= large and bad.any():
                kept &= ~bad
                changed = True


def delete_singly(matrix: Floats, rows: Flags, columns: Flags, delta: float) -> None:
    """Delete the row or column with the highest score until H is at most delta (algorithm 1)."""
    while True:
        residue, row_scores, column_scores = scores(matrix, rows, columns)
        if residue <= delta:
            return
        row_scores[~rows] = column_scores[~columns] = -1.0
        row, column = int(row_scores.argmax()), int(column_scores.argmax())
        if row_scores[row] >= column_scores[column]:
            rows[row] = False
        else:
            columns[column] = False


def add(matrix: Floats, rows: Flags, columns: Flags) -> None:
    """Add the columns, then the rows, whose score is at most H, until none is left (algorithm 3)."""
    changed = True
    while changed:
        changed = False
        for axis, kept in ((1, columns), (0, rows)):
            residue, *nodes = scores(matrix, rows, columns)
            good = ~kept & (nodes[axis] <= residue)
            kept |= good
            changed |= bool(good.any())


def cheng_church(matrix: Floats, delta: float, *, alpha: float = 1.2, large: int = 100) -> tuple[Flags, Flags]:
    """Return the rows and columns of one bicluster with a mean squared residue of at most delta.

    Parameters
    ----------
    matrix : ndarray
        The data.
    delta : float
        The residue allowed, at least 0: the larger, the larger the bicluster; the whole matrix from its own residue on.
    alpha : float
        Above 1: how much worse than the mean rows and columns deleted together are.
    large : int
        Fewer rows, or columns, than this are deleted one at a time.

    Notes
    -----
    Mirrored rows, which algorithm 3 of the paper also adds, are left out: an additive bicluster has none.
    """
    rows, columns = (np.ones(length, dtype=bool) for length in matrix.shape)
    delete_many(matrix, rows, columns, delta, alpha, large)
    delete_singly(matrix, rows, columns, delta)
    add(matrix, rows, columns)
    return rows, columns
