"""What a search method is given and gives back: the problem with what its kernels need, the meter of its limits, what it found."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis._text import shown
from compromis._typing import Floats, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.evidence.readers import WIDEST, read_smoothing
from compromis.evidence.scores import is_csr
from compromis.evidence.votes import Votes, sparse_parts
from compromis.measures.by_group import ByGroup, check_groups
from compromis.measures.pragma import amount_missing, pragma, shortfall
from compromis.metrics import Metric
from compromis.preferences import PreferenceArrays, Preferences, read_preferences
from compromis.weights._kernels import (
    COST,
    FOWLKES_MALLOWS,
    JACCARD,
    KULCZYNSKI,
    OWN_METRIC,
    F,
    Objective,
    Patterns,
    VoteTable,
    count_row_votes,
    gather_class_votes,
    gather_row_votes,
    is_better,
)

_TINY, _LIGHT = 1e-12, 1e-7
"""Sums of weights up to this share of all are 0 but for rounding; the losses of a class below this one are not sure to nine digits."""
_SPARSE_BELOW = 0.25
"""The fraction of non-zero votes below which the two sparse layouts take less memory than a dense copy would."""


_COMPILED = {"kulczynski": KULCZYNSKI, "f": F, "fowlkes_mallows": FOWLKES_MALLOWS, "jaccard": JACCARD}
"""The metrics whose formulas are compiled; of any other the formula itself is called."""

Value = tuple[float, float]
"""Shortfall and loss; `is_better` of the kernels compares two of them."""
Progress = Callable[[float, float], bool | None]
"""Called with the fraction of the work done and the best loss so far; True stops the search, as a spent limit does."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SearchProblem:
    """Patterns, the preferences, smoothing, and a bound on the ratio of weights."""

    votes: Votes
    """The votes with their true classes."""
    arrays: PreferenceArrays
    """Importances, recall weights and constraints of the classes, or costs and constraints."""
    smoothing: float
    """Added to the votes of every class."""
    max_ratio: float
    """The largest weight is at most this many times the smallest."""
    by: ByGroup | None = None
    """The group of each pattern, where minima must hold in each group."""

    @classmethod
    def read(
        cls,
        votes: Votes,
        preferences: Preferences | Mapping[Any, Any] | None,
        *,
        smoothing: float,
        max_ratio: float | None,
        by: ByGroup | None = None,
    ) -> SearchProblem:
        """Return the problem, every part checked."""
        if max_ratio is not None and not (isinstance(max_ratio, Real) and max_ratio >= 1):
            raise InputError(f"max_ratio is at least 1 (1: equal weights), got {max_ratio!r}")
        votes.check_labelled()
        problem = cls(
            votes=votes,
            arrays=_preference_arrays(votes, preferences),
            smoothing=read_smoothing(smoothing),
            max_ratio=WIDEST if max_ratio is None else min(float(max_ratio), WIDEST),
            by=by,
        )
        if by is not None:
            check_groups(problem.by_group(np.ones(problem.classes)), problem.arrays)
        return problem

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.votes.classes)

    def counts(self, weights: ArrayLike) -> Counts:
        """Return the counts that weights lead to."""
        return self.votes.counts(weights, smoothing=self.smoothing)

    def by_group(self, weights: ArrayLike) -> dict[Label, Counts]:
        """Return the counts of each group that weights lead to."""
        assert self.by is not None
        votes = self.votes
        predicted = votes.decide(weights, smoothing=self.smoothing)
        return self.by.counts(votes.truth, predicted, votes.classes, votes.multiplicity)

    def value(self, counts: Counts) -> tuple[float, float]:
        """Return what is minimised, in this order: what is missed of the constraints, and the loss (or average cost)."""
        return shortfall(counts, self.arrays), pragma(counts, self.arrays).total

    @property
    def cost_scale(self) -> float:
        """What the average cost is divided by in kernels, so that it lies within -1 and 1."""
        cost, amount = self.arrays.cost, self.amount
        if cost is None:
            return 1.0
        mean = 0.0 if amount is None else float(amount.sum() / self.votes.multiplicity.sum())
        return max(float(np.abs(cost).max()) + mean, np.finfo(float).tiny)

    @property
    def amount(self) -> Floats | None:
        """The amounts of each pattern's rows together, where costs depend on them."""
        return None if self.arrays.by_amount is None else self.votes.amount

    def kernel_value(self, value: tuple[float, float]) -> tuple[float, float]:
        """Return a kernel's shortfall and loss in the terms of `value`."""
        return float(value[0]), float(value[1]) * self.cost_scale  # numpy numbers where nothing is compiled

    @property
    def sums_lose_rows(self) -> bool:
        """Whether sample weights span so many orders of magnitude that sums over all rows do not show the lightest rows or classes."""
        weight = self.votes.multiplicity
        if weight.dtype.kind != "f":
            return False
        support, lightest = self.votes.support, weight.min(where=weight > 0, initial=np.inf)
        lightest_class = support.min(where=support > 0, initial=np.inf)
        return bool(lightest <= 10 * _TINY * support.sum() or lightest_class <= _LIGHT * support.sum())

    def for_kernels(self) -> tuple[Patterns, Objective]:
        """Return the problem as arrays."""
        table = _table(self.votes.votes, self.smoothing)
        truth = np.ascontiguousarray(self.votes.truth)
        return Patterns(table, truth, self.votes.multiplicity.astype(np.float64), self.amount), self.objective()

    def objective(self) -> Objective:
        """Return what is minimised as arrays."""
        support = self.votes.support.astype(np.float64)
        importance = np.where(support > 0, self.arrays.importance, 0.0)
        present = support > 0
        weighted = self.votes.multiplicity.dtype.kind == "f"
        metric = self.arrays.metric
        compiled = _COMPILED.get(metric.name, OWN_METRIC) if metric.built_in else OWN_METRIC
        given = self.arrays.cost
        unit = self.cost_scale * support.sum()
        cost = np.zeros((1, 1)) if given is None else given / unit
        by_amount = self.arrays.by_amount
        return Objective(
            code=compiled if given is None else COST,
            formula=metric.formula,
            explained=_explainer(metric),
            everywhere=metric.defined_at_zero,
            share=importance / importance.sum(),
            recall_weight=np.ascontiguousarray(self.arrays.recall_weight, dtype=np.float64),
            support=support,
            min_precision=np.where(present, self.arrays.min_precision, 0.0),
            min_recall=np.where(present, self.arrays.min_recall, 0.0),
            max_share=self.arrays.max_share,
            constrained=self.arrays.constrained,
            cost=np.ascontiguousarray(cost),
            by_amount=None if by_amount is None else np.ascontiguousarray(by_amount / unit),
            tiny=_TINY * float(support.sum()) if weighted else 0.0,
        )


def _explainer(metric: Metric) -> Callable[..., BaseException]:
    """Return what makes a sentence of an error of one's own formula; an interrupt stays what it is."""

    def explained(error: BaseException, precision: float, recall: float, recall_weight: float) -> BaseException:
        if not isinstance(error, Exception):
            return error
        refusal = InputError(
            f"the formula of your metric {metric.name!r} fails at precision {precision:.6g}, recall {recall:.6g}, recall "
            f"weight {recall_weight:.6g} ({type(error).__name__}: {error}); a search calls it with single numbers, "
            f"write it with arithmetic and numpy functions that take both these and arrays"
        )
        refusal.__cause__ = error
        return refusal

    return explained


def _preference_arrays(votes: Votes, preferences: object) -> PreferenceArrays:
    if len(votes.classes) < 2:
        raise InputError(
            f"there is one class, {votes.classes[0]!r}; a decision needs at least two: give a column of votes for each"
        )
    present = votes.support > 0
    if present.sum() < 2:
        only = [label for label, there in zip(votes.classes, present, strict=True) if there]
        raise InputError(
            f"every row with votes is of class {shown(only)}; nothing can be traded off, give rows of at least two classes"
        )
    arrays = (read_preferences(preferences) or Preferences()).on(votes.classes)
    if arrays.by_amount is not None and votes.amount is None:
        raise amount_missing()
    if not arrays.importance[present].any():
        important = [label for label, weight in zip(votes.classes, arrays.importance, strict=True) if weight > 0]
        raise InputError(
            f"the classes with an importance above 0, {shown(important)}, have no rows in y; nothing would count"
        )
    return arrays


def _table(votes: Any, smoothing: float) -> VoteTable:
    """Lay the votes out for kernels: as they are if most are non-zero, else the non-zero ones by row and by class."""
    rows, classes = votes.shape
    if not is_csr(votes) and np.count_nonzero(votes) >= _SPARSE_BELOW * votes.size:
        return VoteTable(smoothing, dense=votes)
    if is_csr(votes):
        start, column, value = sparse_parts(votes)
    else:
        start = np.empty(rows + 1, dtype=np.int64)
        count_row_votes(votes, start)
        column, value = np.empty(start[-1], dtype=np.int32), np.empty(start[-1])
        gather_row_votes(votes, column, value)
    by_class = np.empty(classes + 1, dtype=np.int64), np.empty(len(column), dtype=np.int32), np.empty(len(column))
    used = gather_class_votes((start, column, value), by_class, smoothing > 0)
    return VoteTable(
        smoothing, by_row=(start, column, value), by_class=(by_class[0], by_class[1][:used], by_class[2][:used])
    )


class Meter:
    """Counts what a search spends of its limits, keeps the history of its best loss, and reports progress."""

    def __init__(
        self,
        max_seconds: float | None = None,
        max_evaluations: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._max_seconds = _read_limit(max_seconds, "max_seconds")
        self._max_evaluations = _read_limit(max_evaluations, "max_evaluations")
        self._progress = progress
        self._start = time.perf_counter()
        self._stopped = False
        self.evaluations = 0
        self.history: list[tuple[int, float]] = []
        self.trace: list[Floats] = []
        """The loss after every step, for methods that make steps."""

    @property
    def seconds(self) -> float:
        """The time since the search began."""
        return time.perf_counter() - self._start

    @property
    def unlimited(self) -> bool:
        """Whether there is no limit."""
        return self._max_seconds is None and self._max_evaluations is None

    @property
    def spent(self) -> float:
        """The fraction of the limits that is spent; 0 without any, 1 once the search shall stop."""
        if self._stopped:
            return 1.0
        of_time = self.seconds / self._max_seconds if self._max_seconds else 0.0
        return max(of_time, self.evaluations / self._max_evaluations if self._max_evaluations else 0.0)

    @property
    def exhausted(self) -> bool:
        """Whether the search shall stop."""
        return self.spent >= 1

    def left(self, most: int) -> int:
        """Return how many evaluations may still be made, at most `most`."""
        return (
            most if self._max_evaluations is None else max(0, min(most, int(self._max_evaluations) - self.evaluations))
        )

    def note(self, evaluations: int, loss: float, done: float = 0.0) -> None:
        """Add evaluations, remember the best loss, and report progress."""
        self.evaluations += int(evaluations)
        if not self.history or loss < self.history[-1][1]:
            self.history.append((self.evaluations, loss))
        if self._progress is not None:
            self._stopped = bool(self._progress(min(1.0, max(done, self.spent)), loss)) or self._stopped


def _read_limit(limit: float | None, name: str) -> float | None:
    """A limit is above 0; numbers of numpy are numbers too, true and false are none."""
    is_number = isinstance(limit, (int, float, np.integer, np.floating)) and not isinstance(limit, bool)
    if limit is not None and not (is_number and limit > 0):
        raise InputError(f"{name} is a number above 0, or None for no limit, got {limit!r}", name)
    return limit


def precedes(value: Value, other: Value) -> bool:
    """Whether to take a value in place of another: if it is better, or equal but for rounding with the lower loss."""
    return bool(is_better(*value, *other) or (value[1] < other[1] and not is_better(*other, *value)))


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a method returns, in the units of the kernels; `compromis.weights.search` makes a `WeightSearch` of it.

    `candidates` are weights, the preferred first; the search applies each to the rows, and keeps the first unless another
    does better, as the rounding of a weight may change a decision. `value` is what the method counted for them. `proven`
    says that no weights do better; it is believed only if what was applied keeps that value.
    """

    candidates: tuple[Floats, ...]
    value: Value
    proven: bool = False


def normalised(weights: Floats) -> Floats:
    """Return the weights with geometric mean 1, which decide alike."""
    scaled: Floats = weights / np.exp(np.log(weights).mean())
    return scaled
