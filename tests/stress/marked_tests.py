"""Further tests marked `stress`: interval coverage, curves, hulls and comparisons by the thousand, J48 side by side."""

from __future__ import annotations

from tests.stress.outcome import Outcome, Progress, silent
from tests.stress.suite import run_suite

TITLE = "further tests marked stress (curves, hulls, intervals, J48)"
QUICK = 0.0


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Run them; they have one size only, so below full scale they are only collected, which imports every one."""
    if scale < 1:
        return run_suite("-m", "stress", "--co", "tests/test_roc.py", what="collecting") + Outcome(1)
    return run_suite("-m", "stress", "tests", what="pytest -m stress")
