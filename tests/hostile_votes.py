"""Votes made to break decisions that are nearly right, and the decisions themselves by the plainest loop."""

from __future__ import annotations

import numpy as np

WEIGHTS = np.array([1 / 3, 0.7, 2.0, 0.1 + 0.2, 4 / 3])
LABELS = ("plain", "it's", 'say "x"', "two\nlines; DROP TABLE votes --", "back\\slash'")
COLUMNS = ["p", 'q"uote', "tick`", "semi;colon -- x", "new\nline"]


def hostile_votes(rows: int, weights=WEIGHTS, seed: int = 0) -> np.ndarray:
    """Random shares, shares of twenty trees, exact ties, ties up to rounding, and rows without votes."""
    rng = np.random.default_rng(seed)
    votes = rng.dirichlet(np.ones(len(weights)), rows)
    kind = rng.integers(0, 6, rows)
    trees = rng.multinomial(20, np.full(len(weights), 1 / len(weights)), rows) / 20
    near = rng.random((rows, 1)) / weights  # weight x votes is the same for all classes, up to rounding
    votes[kind == 1] = trees[kind == 1]
    votes[kind == 2] = near[kind == 2]
    pushed = near * (1 + rng.integers(-2, 3, near.shape) * np.finfo(float).eps)
    votes[kind == 3] = pushed[kind == 3]
    votes[kind == 4] = np.where(rng.random(votes.shape) < 0.6, 0.0, trees)[kind == 4]
    votes[rng.random(rows) < 0.02] = 0.0
    return votes


def plainly(votes, weights, smoothing=0.0) -> list[int]:
    """The position of the first of the largest weight x (votes + smoothing), row by row in Python's own numbers."""
    predicted = []
    for row in np.asarray(votes, dtype=np.float64).tolist():
        scores = [(vote + smoothing) * weight for vote, weight in zip(row, weights.tolist(), strict=True)]
        predicted.append(scores.index(max(scores)))
    return predicted


RATIO = 1.1 + 0.2
"""No power of two, so that products with it are rounded."""


def calls_at_the_ratio(rows: int, weights=WEIGHTS, ratio: float = RATIO, seed: int = 1) -> np.ndarray:
    """Hostile votes, in a third of which the best weighted vote is the ratio times the second, up to rounding."""
    rng = np.random.default_rng(seed)
    votes = hostile_votes(rows, weights, seed)
    near = rng.random((rows, 1)) / weights * np.where(rng.random((rows, len(weights))) < 0.4, 0.5, 1.0)
    best, place = (near * weights).max(axis=1), rng.integers(0, len(weights), rows)
    near[np.arange(rows), place] = best * ratio / weights[place] * (1 + rng.integers(-2, 3, rows) * np.finfo(float).eps)
    chosen = rng.random(rows) < 1 / 3
    votes[chosen] = near[chosen]
    return votes


def plainly_reviewed(votes, weights, ratio=RATIO, smoothing=0.0) -> list[bool]:
    """Whether best < ratio x second, or best = 0, row by row in Python's own numbers."""
    flags = []
    for row in np.asarray(votes, dtype=np.float64).tolist():
        *_, second, best = sorted(
            (vote + smoothing) * weight for vote, weight in zip(row, weights.tolist(), strict=True)
        )
        flags.append(best < second * ratio or best == 0)
    return flags
