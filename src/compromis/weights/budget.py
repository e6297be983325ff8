"""How much a search may spend, and what it has spent."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compromis.errors import InputError

Progress = Callable[[float, float], bool | None]
"""Called with the share of the work done and the best loss so far; True stops the search, as a spent budget does."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a search may spend at most; what is left out is the method's own choice.

    Parameters
    ----------
    seconds : float, optional
        Wall-clock time. Results under a time limit depend on the machine's speed.
    evaluations : int, optional
        Weights tried. The same limit gives the same result everywhere.

    Examples
    --------
    >>> import compromis as cp
    >>> votes = [[9, 1], [8, 2], [7, 3], [6, 4], [6, 4], [2, 8]]  # ten trees, two classes
    >>> truth = ["sound", "sound", "sound", "faulty", "faulty", "faulty"]
    >>> budget = cp.weights.Budget(evaluations=50)
    >>> cp.search_weights(truth, votes, labels=["sound", "faulty"], method="sweep", budget=budget).loss
    0.0
    """

    seconds: float | None = None
    evaluations: int | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "evaluations"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"a budget's {name} must be above 0, got {value}")


def read_budget(budget: Budget | float | None) -> Budget:
    """Return the budget; a number means seconds."""
    if budget is None or isinstance(budget, Budget):
        return budget or Budget()
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or math.isnan(budget):
        raise InputError(f"budget is a number of seconds or a compromis.weights.Budget, got {budget!r}")
    return Budget(seconds=float(budget))


class Meter:
    """Counts what a search spends, keeps the history of its best loss, and reports progress."""

    def __init__(self, budget: Budget, progress: Progress | None = None) -> None:
        self._budget = budget
        self._progress = progress
        self._start = time.perf_counter()
        self._stopped = False
        self.evaluations = 0
        self.history: list[tuple[int, float]] = []
        self.trace: list[NDArray[np.float64]] = []
        """The loss after every step, for methods that make steps."""

    @property
    def seconds(self) -> float:
        """The time since the search began."""
        return time.perf_counter() - self._start

    @property
    def unlimited(self) -> bool:
        """Whether the budget sets no limit."""
        return self._budget.seconds is None and self._budget.evaluations is None

    @property
    def spent(self) -> float:
        """The share of the budget that is spent; 0 without a limit, 1 once the search shall stop."""
        if self._stopped:
            return 1.0
        time_share = self.seconds / self._budget.seconds if self._budget.seconds else 0.0
        return max(time_share, self.evaluations / self._budget.evaluations if self._budget.evaluations else 0.0)

    @property
    def exhausted(self) -> bool:
        """Whether the budget is spent."""
        return self.spent >= 1

    def left(self, most: int) -> int:
        """Return how many evaluations may still be made, at most `most`."""
        return (
            most if self._budget.evaluations is None else max(0, min(most, self._budget.evaluations - self.evaluations))
        )

    def note(self, evaluations: int, loss: float, share: float = 0.0) -> None:
        """Add evaluations, remember the best loss, and report progress."""
        self.evaluations += int(evaluations)
        if not self.history or loss < self.history[-1][1]:
            self.history.append((self.evaluations, loss))
        if self._progress is not None:
            self._stopped = bool(self._progress(min(1.0, max(share, self.spent)), loss)) or self._stopped
