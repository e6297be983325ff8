"""26. An hour of random use of library, command line and studio: memory flat, no files, threads, sockets or processes left."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from tests.stress.long_run import grown, summary, used_apart
from tests.stress.outcome import NotRun, Outcome, Progress, silent

TITLE = "an hour of random use: memory flat, nothing left over"
QUICK = 0.0003
SECONDS = 3600.0
JUDGED = 120.0
"""Seconds from which growth is judged; before, libraries are still being loaded."""


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count the actions; failures are those that raised, and what grew."""
    if not Path("/proc/self/statm").exists():
        raise NotRun("what a process holds is read from /proc, which only Linux has")
    seconds = SECONDS * scale
    done, failures, states = used_apart(seconds, np.random.default_rng(0))
    if seconds < JUDGED:
        return Outcome(sum(done.values()), tuple(failures))
    return Outcome(sum(done.values()), (*failures, *grown(states)), Counter(summary(states)[:1]))
