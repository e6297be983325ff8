"""Random cases for the measures: rows of labels, matrices of counts, scores, distributions, settings."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

METRICS = ("kulczynski", "f", "fowlkes_mallows", "jaccard")


@dataclass(frozen=True, slots=True)
class Case:
    """Decisions (as rows, or as counts too many for rows), scores, and preferences."""

    classes: int
    truth: NDArray[np.int64] | None
    decision: NDArray[np.int64] | None
    weight: NDArray[np.float64] | None
    cells: list[list[int]] | None
    """Counts where there are no rows."""
    flags: NDArray[np.bool_]
    score: NDArray[np.float64]
    score_weight: NDArray[np.float64] | None
    importance: list[float]
    recall_weight: list[float]
    metric: str


def random_case(seed: int) -> Case:
    """Three of five cases are rows, the others matrices of up to 2^50 rows per cell; a third has weights."""
    rng = np.random.default_rng(seed)
    classes = int(rng.choice([2, 2, 3, 4, 6]))
    rows = int(rng.choice([1, 3, 8, 20, 40]))
    truth = decision = weight = cells = None
    if seed % 5 < 3:
        truth, decision = rng.integers(0, classes, (2, rows))
        same = rng.random(rows) < rng.choice([0.0, 0.5, 0.95])
        decision = np.where(same, truth, decision)
        if seed % 3 == 0:
            weight = random_weights(rng, rows)
    else:
        cells = random_cells(rng, classes)
    size = int(rng.integers(1, 11))
    score = rng.integers(0, rng.integers(1, 9), size) / 8
    importance = rng.choice([0.0, 1.0, 2.5, 10.0], classes)
    importance[rng.integers(classes)] += 1.0  # preferences need a class that matters
    return Case(
        classes,
        truth,
        decision,
        weight,
        cells,
        rng.random(size) < rng.choice([0.1, 0.5, 0.9]),
        score,
        random_weights(rng, size) if seed % 4 == 0 else None,
        importance.tolist(),
        rng.choice([0.0, 0.1, 0.25, 0.5, 0.7, 0.9, 1.0, rng.random()], classes).tolist(),
        METRICS[seed // 7 % 4],
    )


def random_weights(rng: np.random.Generator, rows: int) -> NDArray[np.float64]:
    """Weights of at least 0, not all 0: whole, dyadic, over twelve orders of magnitude, or with zeros."""
    weight = [
        lambda: rng.integers(1, 6, rows).astype(float),
        lambda: rng.integers(1, 64, rows) / 16,
        lambda: 10.0 ** rng.uniform(-6, 6, rows),
        lambda: np.where(rng.random(rows) < 0.5, 0.0, rng.random(rows)),
    ][int(rng.integers(4))]()
    if not weight.any():
        weight[0] = 1.0
    return weight


def random_cells(rng: np.random.Generator, classes: int) -> list[list[int]]:
    """Counts with empty rows and columns, one class that dominates, or up to 2^50 in a cell."""
    largest = int(rng.choice([2, 30, 10_000, 2**50]))
    cells = rng.integers(0, largest, (classes, classes))
    cells[rng.random(classes) < 0.2] = 0
    cells[:, rng.random(classes) < 0.2] = 0
    if rng.random() < 0.3:
        cells[0, 0] = 2**50
    if not cells.any():
        cells[0, -1] = 1
    return cells.tolist()


def exact(matrix: NDArray[np.generic]) -> list[list[int]]:
    """Return a matrix as Python's whole numbers; weights all times the power of two that makes them whole, which no rate notices."""
    cells = [[Fraction(x) for x in row] for row in matrix.tolist()]
    scale = max(x.denominator for row in cells for x in row)  # powers of two
    return [[int(x * scale) for x in row] for row in cells]
