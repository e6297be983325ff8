"""The votes that one class got, by true class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Label
from compromis.errors import InputError
from compromis.evidence.readers import read_whole
from compromis.evidence.votes import ROUNDING, Votes, known_label, shares_for


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class VoteDistribution:
    """The rows of each true class by the share of votes that one class got."""

    label: Label
    """The class whose votes are counted."""
    classes: tuple[Label, ...]
    """The true classes, in the order of the columns."""
    share: NDArray[np.float64]
    """Of shape (bins + 1,): 0, 1 / bins, ..., 1: each row is counted at the nearest."""
    rows: NDArray[Any]
    """Of shape (bins + 1, K): the rows (or weights) there, by true class; those without any vote for the class apart."""
    unvoted: NDArray[Any]
    """Of shape (K,): the rows (or weights) of each true class without any vote for the class: no weight can decide them for it."""

    @property
    def place(self) -> int:
        """The column of the class itself."""
        return self.classes.index(self.label)


def vote_distribution(votes: Votes, label: Any, *, bins: int = 20) -> VoteDistribution:
    """Return the distribution of the votes for `label`, by true class.

    The shares from 0 to 1 are divided into so many `bins`; the number of trees gives every share its own place (figure 2 of the PRAGMA
    paper).

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.evidence.vote_distribution import vote_distribution
    >>> votes = cp.Votes.from_proba(["a", "a", "b", "b"], [[3, 1], [2, 2], [0, 4], [4, 0]])
    >>> found = vote_distribution(votes, "a", bins=4)
    >>> found.rows.tolist(), found.unvoted.tolist()
    ([[0, 0], [0, 0], [1, 0], [1, 0], [0, 1]], [0, 1])
    """
    if not isinstance(votes, Votes):
        raise InputError(f"votes are compromis.Votes, got {type(votes).__name__}; use from_proba")
    bins = read_whole(bins, "bins", 1)
    votes.check_labelled()
    chosen = known_label(votes, label)
    share = shares_for(votes, votes.classes.index(chosen))
    voted = share > 0
    rows = np.zeros((bins + 1, len(votes.classes)), dtype=votes.multiplicity.dtype)
    unvoted = np.zeros(len(votes.classes), dtype=votes.multiplicity.dtype)
    steps = np.floor(share * bins + 0.5 + ROUNDING).astype(np.int64)
    np.add.at(rows, (steps[voted], votes.truth[voted]), votes.multiplicity[voted])
    np.add.at(unvoted, votes.truth[~voted], votes.multiplicity[~voted])
    return VoteDistribution(
        label=chosen, classes=votes.classes, share=np.arange(bins + 1) / bins, rows=rows, unvoted=unvoted
    )
