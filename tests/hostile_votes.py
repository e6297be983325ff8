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
