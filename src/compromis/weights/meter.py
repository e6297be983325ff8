"""What a search may spend, and what it has spent."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from compromis._typing import Floats
from compromis.errors import InputError

Progress = Callable[[float, float], bool | None]
"""Called with the fraction of the work done and the best loss so far; True stops the search, as a spent limit does."""


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
