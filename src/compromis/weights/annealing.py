"""Simulated annealing, the search of the PRAGMA paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compromis._typing import Floats, Ints
from compromis.errors import InputError
from compromis.weights._kernels import Objective, anneal
from compromis.weights.descent import Descent, dearest_row, row_weight
from compromis.weights.problem import Found, Meter, SearchProblem

_CHUNK = 1000
"""Steps before the clock is read again."""


@dataclass(frozen=True, slots=True)
class Annealing:
    """Simulated annealing with geometric cooling (PRAGMA paper, section 3).

    Each step multiplies the weight of one class, drawn at random, by exp(step x normal); a worse loss is accepted with
    probability exp(-rise / temperature). The votes stay as they are, and only rows whose decision changes are counted anew.

    Parameters
    ----------
    steps : int
        How many weightings are tried.
    start_temperature, end_temperature : float
        The temperature falls geometrically from one to the other, in units of what one row weighs on average in the loss.
    step : float
        The standard deviation of the logarithm of the factor, at the start; it falls to a tenth with the temperature.

    Examples
    --------
    >>> import compromis as cp
    >>> votes = [[9, 1], [8, 2], [7, 3], [6, 4], [6, 4], [2, 8]]  # ten trees, two classes
    >>> truth = ["sound", "sound", "sound", "faulty", "faulty", "faulty"]
    >>> method = cp.weights.Annealing(steps=500)
    >>> cp.search_weights(truth, votes, labels=["sound", "faulty"], method=method, random_state=0).counts.matrix.tolist()
    [[3, 0], [0, 3]]
    """

    steps: int = 20_000
    start_temperature: float = 6.0
    end_temperature: float = 0.02
    step: float = 0.5

    def __post_init__(self) -> None:
        if not (isinstance(self.steps, int) and self.steps > 0):
            raise InputError(f"annealing takes a whole number of steps above 0, got {self.steps!r}")
        if not (0 < self.end_temperature <= self.start_temperature < np.inf):
            raise InputError(
                f"temperatures fall from start to end and stay above 0, got {self.start_temperature} and {self.end_temperature}"
            )
        if not (0 < self.step < np.inf):
            raise InputError(f"the step of annealing is above 0, got {self.step}")

    def search(self, problem: SearchProblem, generator: np.random.Generator, meter: Meter) -> Found:
        """Return the best weights found; the loss after each step goes to the meter's trace."""
        descent = Descent(problem)
        value = np.array(descent.start(np.ones(problem.classes)))
        weights = descent.weight.copy()
        steps, row = meter.left(self.steps), row_weight(descent.objective)
        steepness = _steepness(descent.objective)
        meter.note(1, float(value[1]))
        for begin in range(0, steps, _CHUNK):
            count = min(_CHUNK, steps - begin)
            cooled = (begin + np.arange(count)) / max(steps - 1, 1)
            drawn = self._draw(generator, problem.classes, cooled)
            temperature = row * self.start_temperature * (self.end_temperature / self.start_temperature) ** cooled
            history = np.empty(count)
            given = descent.patterns, descent.objective, descent.state
            anneal(*given, drawn, temperature, (value, weights), history, problem.max_ratio, steepness)
            meter.trace.append(history)
            meter.note(count, float(value[1]), (begin + count) / steps)
            if meter.exhausted:
                break
        return descent.found(weights, (float(value[0]), float(value[1])))

    def _draw(self, generator: np.random.Generator, classes: int, cooled: Floats) -> tuple[Ints, Floats, Floats]:
        factors = self.step * 0.1**cooled * generator.standard_normal(len(cooled))
        return generator.integers(0, classes, len(cooled)), factors, generator.random(len(cooled))


def _steepness(objective: Objective) -> float:
    """Return how much a shortfall weighs beside a loss: with a capacity, so much that a row beyond it never pays."""
    if (np.asarray(objective.max_share) >= 1).all():
        return 1.0
    return max(1.0, 2 * objective.total * dearest_row(objective))
