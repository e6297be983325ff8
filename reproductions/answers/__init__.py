"""Simulated language models on public data sets: majority votes and tuned weights of 150 labels. Run: python -m reproductions answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def steps(folder: Path = RESULTS) -> list[tuple[str, Callable[[], None]]]:
    """What is to be done: the data sets, one after the other."""
    from reproductions.answers.deployments import SETS, run_set

    return [(name, partial(run_set, name, folder)) for name in SETS]
