"""What a search for weights returns."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compromis._text import shown_label
from compromis._typing import Label
from compromis.evidence import Counts
from compromis.measures.verdict import Baseline, Verdict, judge
from compromis.preferences import PreferenceArrays
from compromis.weights.decision import Decision


@dataclass(frozen=True, eq=False)
class WeightSearch:
    """The weights found, and everything that is needed to judge them.

    Attributes
    ----------
    weights : ndarray of shape (K,)
        One weight per class, geometric mean 1; the decision is the class with the largest weight x (votes + smoothing).
    loss : float
        The PRAGMA loss on the rows searched; the average cost of a row where a cost matrix was given.
    counts : Counts
        What the weights decide on those rows.
    classes : tuple
        The labels of the weights.
    method : str
        How they were found: "exact", "sweep" or "annealing".
    optimal : bool
        Whether it is proven that no weights do better on these rows; weights that differ by less than rounding count as one.
    feasible : bool
        Whether every minimal precision and recall is met.
    message : str
        What the user should know: minima that are missed, classes that nothing votes for, rows left out; often empty.
    evaluations : int
        How many weightings were tried.
    seconds : float
        How long it took.
    history : ndarray of shape (steps, 2)
        Evaluations, and the best loss after them; for annealing the loss after every step.
    left_out : int
        Rows without any vote.
    smoothing : float
        What is added to every vote.

    Examples
    --------
    >>> import compromis as cp
    >>> votes = [[9, 1], [8, 2], [7, 3], [6, 4], [6, 4], [2, 8]]  # ten trees, two classes
    >>> truth = ["sound", "sound", "sound", "faulty", "faulty", "faulty"]
    >>> search = cp.search_weights(truth, votes, labels=["sound", "faulty"])
    >>> search.optimal, search.feasible, search.loss
    (True, True, 0.0)
    >>> bool(search.weights[1] > search.weights[0])  # faulty parts got fewer votes than they need
    True
    """

    weights: NDArray[np.float64]
    loss: float
    counts: Counts
    classes: tuple[Label, ...]
    method: str
    optimal: bool
    feasible: bool
    message: str
    evaluations: int
    seconds: float
    history: NDArray[np.float64]
    left_out: int
    smoothing: float
    arrays: PreferenceArrays
    cost: NDArray[np.float64] | None

    @cached_property
    def verdict(self) -> Verdict:
        """Whether the result is worth anything beside the decisions that need no model."""
        return judge(self.counts, self.arrays, self.cost)

    @property
    def baselines(self) -> tuple[Baseline, ...]:
        """What each constant decision and random decisions reach on the same rows."""
        return self.verdict.baselines

    @property
    def decision(self) -> Decision:
        """The weights as a decision that can be carried elsewhere."""
        return Decision(self.classes, self.weights, self.smoothing)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the decision as JSON, which `compromis.Decision.from_json` reads; with `path`, write it there too."""
        return self.decision.to_json(path)

    def summary(self) -> str:
        """Return in sentences what was found, and what it is worth."""
        what = "loss" if self.cost is None else "average cost"
        known = "proven to be the best" if self.optimal else f"the best found by {self.method}"
        lines = [f"{what} {self.loss:.4f}, {known} ({self.evaluations:,} weightings in {self.seconds:.2f} s)"]
        lines += [
            "weights: "
            + ", ".join(
                f"{shown_label(label)} {weight:.4g}" for label, weight in zip(self.classes, self.weights, strict=True)
            )
        ]
        lines += [f"note: {self.message}"] if self.message else []
        return "\n".join([*lines, f"Verdict: {self.verdict}."])

    def __repr__(self) -> str:
        state = "optimal" if self.optimal else "best found"
        shown = ", ".join(
            f"{label!r}: {weight:.4g}" for label, weight in zip(self.classes[:6], self.weights[:6], strict=True)
        )
        more = f", and {len(self.classes) - 6} more" if len(self.classes) > 6 else ""
        return f"WeightSearch({self.method}, {state}, loss {self.loss:.6g}, weights {{{shown}{more}}})"
