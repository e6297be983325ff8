"""What a promise answers when it is put to the test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

Progress = Callable[[int, int], None]
"""Called with the cases done and all cases."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Cases tried, what failed (each with what reproduces it), and what is worth saying all the same."""

    cases: int
    failures: tuple[str, ...] = ()
    notes: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(self.cases + other.cases, self.failures + other.failures, self.notes + other.notes)


class NotRun(Exception):
    """A promise that cannot be put to the test here; the message is the reason."""


def silent(done: int, total: int) -> None:
    """Show no progress."""


def scaled(full: int, scale: float, *, least: int = 1) -> int:
    """Return the number of cases at a scale, at least `least`."""
    return max(least, round(full * scale))
