"""Votes rounded to few values, so that many rows become few patterns, with what the rounding may change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compromis.evidence.vote_values import is_sparse
from compromis.evidence.votes import Votes

RUNGS = (
    (1.01, 1e-4), (1.03, 1e-3), (1.03, 1e-2), (1.05, 3e-2), (1.1, 5e-2), (1.2, 5e-2), (1.5, 0.1), (2.0, 0.1), (3.0, 0.1), (10.0, 0.3)
)  # fmt: skip
"""Ratio of neighbouring values, and the share of a row's largest vote below which a vote is dropped; from fine to coarse."""


@dataclass(frozen=True, slots=True)
class Binning:
    """How votes were rounded: by ratios, because weights act on ratios.

    Attributes
    ----------
    ratio : float
        Neighbouring values differ by this factor, so a vote is off by at most its square root.
    floor : float
        Votes below this share of the row's largest are dropped.
    changed : float
        The rows (or weights) that are predicted otherwise with equal weights.
    rows : float
        All rows (or weights).
    """

    ratio: float
    floor: float
    changed: float
    rows: float

    @property
    def sentence(self) -> str:
        """What the rounding means, in words."""
        return (
            f"votes are rounded to within {100 * (self.ratio**0.5 - 1):.2g} % of their ratio to the row's largest, those below "
            f"{100 * self.floor:g} % of it are dropped; with equal weights that changes {self.changed:,.6g} of {self.rows:,.6g} decisions"
        )


def binned(patterns: Votes, smoothing: float, ratio: float, floor: float) -> tuple[Votes, Binning]:
    """Return patterns with rounded votes, equal ones merged; smoothing is part of the rounded votes."""
    votes = dense_votes(patterns) + smoothing
    largest = votes.max(axis=1, keepdims=True)
    share = np.divide(votes, largest, out=np.zeros_like(votes), where=largest > 0)
    with np.errstate(divide="ignore"):
        level = np.rint(np.log(share) / np.log(ratio))
    rounded = np.where(share >= floor, ratio**level, 0.0)
    kept = Votes(
        rounded, patterns.truth, patterns.multiplicity, patterns.classes, patterns.rows, patterns.left_out, False
    ).merge()
    moved = votes.argmax(axis=1) != rounded.argmax(axis=1)
    return kept, Binning(ratio, floor, float(patterns.multiplicity[moved].sum()), float(patterns.multiplicity.sum()))


def dense_votes(patterns: Votes) -> NDArray[np.float64]:
    """Return the votes as an array of float64."""
    votes = patterns.votes.toarray() if is_sparse(patterns.votes) else patterns.votes
    return np.asarray(votes, dtype=np.float64)
