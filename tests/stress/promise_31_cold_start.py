"""31. The first call of a new installation takes at most twice its warm time and half a second."""

from __future__ import annotations

from benchmarks.bench_cold import cold, programs
from tests.stress.outcome import Outcome, Progress, silent

TITLE = "cold start: first calls in an empty home"
QUICK = 0.01
TRIES = 3
"""A machine that is busy for a moment is asked again."""


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count first calls that take too long; benchmarks/bench_cold.py says what is measured."""
    chosen = list(programs().items())
    if scale < 0.05:
        chosen = [one for one in chosen if one[0] in {"evaluate 1,000 rows", "search, 3 classes"}]
    failures = []
    for done, (name, setup) in enumerate(chosen, start=1):
        for _ in range(TRIES):
            clocks = cold(setup, turns=1)
            if any(one.first <= one.limit for one in clocks):  # the processor's time, where others keep the cores busy
                break
        else:
            failures.append(f"{name}: {clocks[0].first:.2f} s, at most {clocks[0].limit:.2f} s: {clocks}")
        progress(done, len(chosen))
    return Outcome(len(chosen), tuple(failures))
