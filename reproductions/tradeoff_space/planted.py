"""A random matrix with one additive bicluster (Madeira and Oliveira 2004, biclusters with coherent values)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Planted:
    """A matrix and the rows and columns of the bicluster hidden in it."""

    matrix: Floats
    rows: Flags
    columns: Flags

    @property
    def target(self) -> Flags:
        """The cells of the bicluster, as a mask of the matrix."""
        return np.outer(self.rows, self.columns)


def plant(
    rng: np.random.Generator,
    shape: tuple[int, int] = (200, 50),
    size: tuple[int, int] = (60, 20),
    level: float = 1.0,
    noise: float = 0.5,
) -> Planted:
    """Return standard normal noise in which a bicluster follows ``a_ij = level + alpha_i + beta_j + noise``.

    Parameters
    ----------
    rng : Generator
        Draws the matrix, the place of the bicluster and its effects.
    shape, size : pair of int
        Rows and columns of the matrix, and of the bicluster.
    level, noise : float
        The typical value of the bicluster (the rest has 0), and the standard deviation of its noise (the rest has 1).

    Notes
    -----
    The row effects alpha and column effects beta are normal with standard deviation 1/2.
    """
    matrix = rng.standard_normal(shape)
    chosen = [rng.permutation(length) < wanted for length, wanted in zip(shape, size, strict=True)]
    alpha, beta = (0.5 * rng.standard_normal(wanted) for wanted in size)
    additive = level + alpha[:, None] + beta[None, :]
    matrix[np.ix_(*chosen)] = additive + noise * rng.standard_normal(size)
    return Planted(matrix, *chosen)
