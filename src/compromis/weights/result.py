"""What a search for weights returns."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

from compromis._text import shown, shown_label
from compromis._typing import Floats, Label
from compromis.evidence.counts import Counts
from compromis.measures.verdict import Baseline, Verdict, judge
from compromis.preferences import PreferenceArrays
from compromis.weights.decision import Decision


@dataclass(frozen=True, eq=False, kw_only=True)
class WeightSearch:
    """The weights found, and everything that is needed to judge them.

    A method returns the internal `Found`, whose weights are applied once more to make this result. `decision` is its rule
    alone, to carry elsewhere. An estimator keeps it in ``tuning_``, as its weights may be an average over resamples.

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
    evaluations : int
        How many weightings were tried.
    seconds : float
        How long it took.
    history : ndarray of shape (steps, 2)
        Evaluations, and the best loss after them; for annealing the loss after every step.
    left_out : int
        Rows without any vote.
    never_voted : tuple
        The classes without a vote in any row, which no weights can decide for; empty with smoothing.
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

    weights: Floats
    loss: float
    counts: Counts
    classes: tuple[Label, ...]
    method: str
    optimal: bool
    feasible: bool
    evaluations: int
    seconds: float
    history: Floats
    left_out: int
    never_voted: tuple[Label, ...]
    smoothing: float
    arrays: PreferenceArrays
    cost: Floats | None

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
        return Decision(self.classes, self.weights, smoothing=self.smoothing)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the decision as JSON, which `compromis.Decision.from_json` reads; with `path`, write it there too."""
        return self.decision.to_json(path)

    @property
    def message(self) -> str:
        """What the user should know: minima that are missed, classes that nothing votes for, rows left out; often empty."""
        sentences = []
        if not self.feasible:
            missed = "; ".join(
                f"{short.rate} of {short.label!r} reaches {short.value:.4g}, its minimum is {short.minimum:.4g}"
                for short in self.verdict.shortfalls
            )
            none = "no weights meet" if self.optimal else "no weights were found that meet"
            sentences.append(f"{none} every minimum; the nearest: {missed}")
        if self.never_voted:
            them = "it" if len(self.never_voted) == 1 else "them"
            sentences.append(
                f"no row has a vote for {shown(self.never_voted)}, so no weights can decide {them}; try smoothing"
            )
        if self.left_out:
            sentences.append(f"{self.left_out:,} rows without any vote are left out")
        return ". ".join(sentences)

    def __str__(self) -> str:
        what = "loss" if self.cost is None else "average cost"
        known = "proven to be the best" if self.optimal else f"the best found by {self.method}"
        weights = ", ".join(
            f"{shown_label(k)} {weight:.4g}" for k, weight in zip(self.classes, self.weights, strict=True)
        )
        lines = [
            f"{what} {self.loss:.4f}, {known} ({self.evaluations:,} weightings in {self.seconds:.2f} s)",
            f"weights: {weights}",
            *([f"note: {self.message}"] if self.message else []),
            f"Verdict: {self.verdict}.",
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        state = "optimal" if self.optimal else "best found"
        first = zip(self.classes[:6], self.weights[:6], strict=True)
        weights = ", ".join(f"{label!r}: {weight:.4g}" for label, weight in first)
        more = f", and {len(self.classes) - 6} more" if len(self.classes) > 6 else ""
        return f"WeightSearch({self.method}, {state}, loss {self.loss:.6g}, weights {{{weights}{more}}})"
