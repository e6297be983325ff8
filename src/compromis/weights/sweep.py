"""The sweep: exact line searches for each class in turn, from several starts, then perturb and descend."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compromis._typing import Floats
from compromis.evidence.readers import read_class_weights
from compromis.weights._kernels import is_better
from compromis.weights.descent import Descent
from compromis.weights.problem import Found, Meter, SearchProblem, Value, precedes

_ALIKE = 1.2
"""Inverse class shares within this factor of each other are no start of their own."""
MANY = 20_000
"""Votes of a pass above which starts are chosen."""
_WINDOWS = 4.0, 1.5
"""With many votes, starts and perturbed weights are searched within these factors; the last descent is along whole lines again."""
_DEGREES = np.array([1.0, 3.0])
"""Temperatures of perturbations, in what one row weighs."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Line searches in turn to a fixed point, from several starts, then from perturbed copies of the best.

    Parameters
    ----------
    rounds : int
        Perturbations at most, without a limit.
    passes : int
        Without a limit, perturbing ends once as many votes were visited as in this many passes over all; few votes are
        visited more often.
    patience : int
        Perturbations in a row without an improvement after which a search without a limit ends.
    start : tuple of float, optional
        Weights to begin from, in place of the starts that it finds by itself. With ``rounds=0`` that is the quick answer
        to preferences that changed a little: a descent from the weights that served them before.

    Examples
    --------
    >>> import compromis as cp
    >>> votes, y = [[9, 1], [7, 3], [6, 4], [6, 4], [2, 8]], ["good", "good", "bad", "bad", "bad"]
    >>> cp.search_weights(y, votes, labels=["good", "bad"], method=cp.weights.Sweep(rounds=0, start=(1.0, 1.0))).counts.matrix.tolist()
    [[2, 0], [0, 3]]
    """

    rounds: int = 200
    passes: int = 3
    patience: int = 40
    start: tuple[float, ...] | None = None

    def search(self, problem: SearchProblem, generator: np.random.Generator, meter: Meter) -> Found:
        """Return the best weights found."""
        descent = Descent(problem)
        weights, value = self.descend(descent, generator, meter, use_up=not meter.unlimited)
        return descent.found(weights, value)

    @classmethod
    def from_weights(cls, problem: SearchProblem, weights: Floats) -> Floats:
        """Return what one descent finds from weights that served a problem that is nearly the same."""
        quick = cls(rounds=0, start=tuple(weights.tolist()))
        return quick.search(problem, np.random.default_rng(0), Meter(None, None, None)).candidates[0]

    def descend(
        self, descent: Descent, generator: np.random.Generator, meter: Meter, *, use_up: bool
    ) -> tuple[Floats, Value]:
        """Return the best weights found, and their value; `use_up` goes on until a limit ends it."""
        best = _Best()
        turns = np.arange(descent.problem.classes)
        window = _WINDOWS[0] if votes_per_pass(descent) > MANY else np.inf
        for start in self._begin(descent, meter):
            descent.start(start)
            best.offer(descent.run(turns, meter, best.loss, window), descent)
            if meter.exhausted:
                return best.weights, best.value
        self._perturb(descent, best, generator, meter, use_up)
        descent.restore()
        best.offer(descent.run(turns, meter, best.loss), descent)
        return best.weights, best.value

    def _begin(self, descent: Descent, meter: Meter) -> list[Floats]:
        if self.start is None:
            return _starts(descent, meter)
        return [read_class_weights(self.start, range(descent.problem.classes))]

    def _perturb(
        self, descent: Descent, best: _Best, generator: np.random.Generator, meter: Meter, use_up: bool
    ) -> None:
        """Heat the best weights, or now and then jump away from them, and descend again."""
        begin, enough = descent.entries, max(self.passes * votes_per_pass(descent), MANY)
        window, every = (_WINDOWS[1], 4) if votes_per_pass(descent) > MANY else (np.inf, 2)
        failures, rounds, idle = 0, 0, 0
        while (
            not meter.exhausted and idle < self.patience
        ):  # where no weight changes anything, a limit is never reached
            if not use_up and (descent.entries - begin >= enough or failures >= self.patience or rounds >= self.rounds):
                break
            before = meter.evaluations
            if rounds % every != every - 1:
                descent.restore()
                descent.heat(generator, np.exp(generator.uniform(*np.log(_DEGREES))), window, meter)
            else:
                descent.start(perturbed(best.weights, generator))
            value = descent.run(generator.permutation(len(best.weights)), meter, best.loss, window)
            failures = 0 if best.offer(value, descent) else failures + 1
            idle = idle + 1 if meter.evaluations == before else 0
            rounds += 1
            meter.note(0, best.loss, 0.0 if use_up else max((descent.entries - begin) / enough, rounds / self.rounds))


def _starts(descent: Descent, meter: Meter) -> list[Floats]:
    """Equal weights, inverse class shares where they differ from these, and each class's best weight against the rest.

    With many votes only the last two are kept: they lead to lower losses, and a descent costs time.
    """
    support = np.asarray(descent.objective.support)
    equal = np.ones(len(support))
    descent.start(equal)
    starts = [descent.each_against_rest(meter)]
    inverse = 1 / np.where(support > 0, support, support[support > 0].min())
    if inverse.max() > _ALIKE * inverse.min():
        starts.append(inverse)
    return starts if votes_per_pass(descent) > MANY else [*starts, equal]


class _Best:
    """The best weights so far; the descent remembers their state."""

    def __init__(self) -> None:
        self.weights: Floats = np.empty(0)
        self.value: Value = (np.inf, np.inf)

    @property
    def loss(self) -> float:
        return self.value[1]

    def offer(self, value: Value, descent: Descent) -> bool:
        """Keep the descent's weights if they precede, and return whether they are better by more than rounding."""
        improved: bool = is_better(*value, *self.value)
        if precedes(value, self.value):
            self.weights, self.value = descent.weight.copy(), value
            descent.keep()
        return improved


def perturbed(weights: Floats, generator: np.random.Generator) -> Floats:
    """Return weights with one to a quarter of the classes (at least two) moved by a factor that may be small or large."""
    classes = len(weights)
    chosen = generator.permutation(classes)[: generator.integers(1, max(3, classes // 4 + 1))]
    scale = generator.choice(np.array([0.1, 0.5, 2.0]))
    moved = weights.copy()
    moved[chosen] *= np.exp(scale * generator.standard_normal(len(chosen)))
    return moved


def votes_per_pass(descent: Descent) -> int:
    """Return how many votes one pass over the classes visits."""
    size: int = descent.patterns.table.size
    return size
