"""Further tests marked `stress`: interval coverage, curves, hulls and comparisons by the thousand, J48 side by side."""

from __future__ import annotations

from tests.stress.outcome import NotRun, Outcome, Progress, silent
from tests.stress.suite import run_suite

TITLE = "further tests marked stress (curves, hulls, intervals, J48)"
QUICK = 0.0


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Run them; the suite itself has a small version of each."""
    if scale < 1:
        raise NotRun("these tests have one size; they run at full scale")
    return run_suite("-m", "stress", "tests", what="pytest -m stress")
