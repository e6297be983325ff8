"""Few rows: weights averaged over bootstrap resamples, which are steadier, with their spread; and a warning."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from compromis._typing import Floats
from compromis.errors import FewRowsWarning
from compromis.evidence.votes import Votes
from compromis.weights.problem import SearchProblem, precedes


@dataclass(frozen=True, slots=True, eq=False)
class Stability:
    """How much the chosen weights depend on the rows they were searched on.

    Examples
    --------
    >>> import compromis as cp
    >>> votes = [[9, 1], [8, 2], [7, 3], [6, 4], [6, 4], [2, 8]] * 4
    >>> search = cp.search_weights([0, 0, 0, 1, 1, 1] * 4, votes, resamples=5, random_state=0)
    >>> search.stability.weights.shape, len(search.stability.losses)
    ((5, 2), 5)
    """

    weights: Floats
    """Of shape (resamples, K): the weights that a search finds on each bootstrap resample of the evidence."""
    losses: Floats
    """Of shape (resamples,): what those weights lose on the whole evidence."""

    @property
    def ratio(self) -> Floats:
        """For each class, how many times its weight the 95 % point of the resamples is above the 5 % point; 1 is steady."""
        low, high = np.quantile(np.log(self.weights), [0.05, 0.95], axis=0)
        return np.exp(high - low)

    def __str__(self) -> str:
        low, high = np.quantile(self.losses, [0.05, 0.95])
        return (
            f"over {len(self.losses)} resamples the loss lies between {low:.4f} and {high:.4f}; "
            f"the weights vary by factors up to {self.ratio.max():.3g}"
        )

    def __repr__(self) -> str:
        return f"<Stability: {self}>"


FEW_ROWS = 20
"""Weights for a class of fewer rows are uncertain, however they are found."""


def warn_of_few_rows(problem: SearchProblem, resamples: int | str) -> None:
    """Warn of the classes that matter and have few rows: those of more than the least importance, or all where it is the same."""
    votes, priority = problem.votes, problem.arrays.priority
    rows = np.bincount(votes.truth, weights=votes.pattern_rows, minlength=problem.classes)
    matters = priority if priority.any() else problem.arrays.importance > 0
    few = np.flatnonzero(matters & (rows > 0) & (rows < FEW_ROWS)).tolist()
    if few:
        named = ", ".join(f"class {votes.classes[k]!r} has {rows[k]:.0f} row{'s' * bool(rows[k] > 1)}" for k in few[:5])
        cure = "label more of them" + (", or average over resamples (resamples=20)" if resamples == 0 else "")
        warnings.warn(
            f"{named}: weights found on so few rows are uncertain; {cure}, and read the interval of the verdict",
            FewRowsWarning,
            stacklevel=3,
        )


def spread(problem: SearchProblem, weights: Floats) -> tuple[Floats, Stability]:
    """Return the geometric mean of the weights found on resamples, and their spread."""
    losses = np.array([problem.value(problem.counts(row))[1] for row in weights])
    return np.exp(np.log(weights).mean(axis=0)), Stability(weights, losses)


def is_kept(problem: SearchProblem, mean: Floats) -> bool:
    """Whether mean weights miss no constraint and are no worse than equal weights on the evidence."""
    value, equal = (problem.value(problem.counts(weights)) for weights in (mean, np.ones(problem.classes)))
    return value[0] == 0 and not precedes(equal, value)


def resampled(votes: Votes, generator: np.random.Generator) -> Votes:
    """Return a bootstrap resample of the rows, drawn within each true class so that no rare class disappears."""
    rows, times = votes.pattern_rows, np.zeros(len(votes), dtype=np.int64)
    for k in range(len(votes.classes)):
        own = np.flatnonzero((votes.truth == k) & (votes.multiplicity > 0))
        if own.size:
            times[own] = generator.multinomial(rows[own].sum(), rows[own] / rows[own].sum())
    if votes.multiplicity.dtype.kind == "i":
        return votes.with_rows(times)
    return votes.with_rows(times * (votes.multiplicity / np.maximum(rows, 1)))  # each row is drawn with its weight
