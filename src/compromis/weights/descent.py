"""Descents by exact line searches over one problem: the state is laid out once and used again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats, Ints
from compromis.weights._kernels import (
    Objective,
    SearchState,
    centre,
    descend,
    draw_in_turn,
    one_against_rest,
    prepare,
    total_value,
)
from compromis.weights.problem import Found, Meter, SearchProblem, Value

_TIE = 1e-9
_QUOTA = 4_000_000
"""Entries visited before the clock is read again: about a third of a second."""
_KEPT = (
    "weight", "first", "first_score", "second", "second_score", "hits", "predicted", "loss", "shortfall", "cost", "ranked",
)  # fmt: skip
"""The fields of a state that have to be kept to come back to it; the others are scratch."""


def tie_weights(classes: int) -> Floats:
    """Return equal weights that break ties as the rule does, for the first class: (1 - 1e-9)^k."""
    return (1 - _TIE) ** np.arange(classes, dtype=np.float64)


class Descent:
    """Line searches for one class after the other, from any start."""

    def __init__(self, problem: SearchProblem) -> None:
        self.problem = problem
        self.patterns, self.objective = problem.for_kernels()
        self.state = SearchState(len(self.patterns), problem.classes)
        self.weight: Floats = np.asarray(self.state.weight)
        self.entries = 0
        self._running: list[NDArray[Any]] = [np.asarray(getattr(self.state, name)) for name in _KEPT]
        self._kept: list[NDArray[Any]] = []

    def within_ratio(self, weights: Floats) -> Floats:
        """Return the weights with their logarithms pressed into the range that `max_ratio` allows."""
        logs = np.log(weights)
        half = max(np.log(self.problem.max_ratio) / 2 - _TIE * len(weights), 0.0)  # the tie weights come on top
        middle = (logs.max() + logs.min()) / 2
        return np.exp(np.clip(logs - middle, -half, half))

    def start(self, weights: Floats) -> Value:
        """Bring the state in line with the weights, and return their value."""
        self.weight[:] = self.within_ratio(weights) * tie_weights(len(weights))
        prepare(self.patterns, self.objective, self.state)
        return self.value

    def keep(self) -> None:
        """Remember the state."""
        self._kept = [array.copy() for array in self._running]

    def restore(self) -> None:
        """Go back to the state that was remembered last."""
        for array, kept in zip(self._running, self._kept, strict=True):
            array[:] = kept

    @property
    def value(self) -> Value:
        """The value of the state."""
        value: Value = total_value(self.objective, self.state)
        return value

    def run(self, turns: Ints, meter: Meter, best: float, window: float = np.inf) -> Value:
        """Descend until no class improves by a factor of at most `window`, or a limit ends it; `best` is the loss to report meanwhile."""
        progress, limits = np.zeros(2, dtype=np.int64), (self.problem.max_ratio, window, _QUOTA)
        while progress[1] < len(turns) and not meter.exhausted:
            cells, entries = descend(self.patterns, self.objective, self.state, turns, progress, *limits)
            self.entries += entries
            meter.note(cells, min(best, self.value[1]))
        return self.value

    def heat(self, generator: np.random.Generator, degrees: float, window: float, meter: Meter) -> None:
        """Draw every weight once from its line, at a temperature of `degrees` times what one row weighs on average."""
        drawn = generator.permutation(self.problem.classes), generator.random(self.problem.classes)
        given, temperature = (self.patterns, self.objective, self.state), degrees * row_weight(self.objective)
        cells, entries = draw_in_turn(*given, *drawn, temperature, self.problem.max_ratio, window)
        self.entries += entries
        meter.evaluations += cells

    def each_against_rest(self, meter: Meter) -> Floats:
        """Return each class's best weight while all others keep theirs."""
        best = np.empty(self.problem.classes)
        cells, entries = one_against_rest(self.patterns, self.objective, self.state, self.problem.max_ratio, best)
        self.entries += entries
        meter.evaluations += cells
        return best

    def found(self, weights: Floats, value: Value, *, proven: bool = False) -> Found:
        """Return the weights moved to the middle of their cell, and as they are in case rounding breaks that."""
        self.weight[:] = weights
        prepare(self.patterns, self.objective, self.state)
        centre(self.patterns, self.state, self.problem.max_ratio)
        return Found((self.weight.copy(), weights), value, proven)


def row_weight(objective: Objective) -> float:
    """Return by how much one row changes the loss, about: the mean over the classes of share / support."""
    return float(_row_weights(objective).mean())


def dearest_row(objective: Objective) -> float:
    """Return by how much one row changes the loss at most, about."""
    return float(_row_weights(objective).max())


def _row_weights(objective: Objective) -> Floats:
    if objective.costly:
        return np.abs(objective.cost)
    share, support = np.asarray(objective.share), np.asarray(objective.support)
    present = support > 0
    return share[present] / support[present]
