"""Reproduce every source: ``python -m reproductions [pragma] [tradeoff_space] [taught]``, or all; ``study`` and ``answers`` on request."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

SOURCES = ("pragma", "tradeoff_space", "taught")
ASKED_FOR = ("study", "answers")


def main(chosen: list[str]) -> None:
    unknown = [name for name in chosen if name not in (*SOURCES, *ASKED_FOR)]
    if unknown:
        sys.exit(f"there is no reproduction {unknown[0]!r}; choose among {', '.join((*SOURCES, *ASKED_FOR))}")
    begun = time.perf_counter()
    steps: list[tuple[str, Callable[[], None]]] = []
    for source in chosen or SOURCES:
        part = import_module(f"reproductions.{source}")
        steps += [(f"{source}: {what}", step) for what, step in part.steps()]
    columns = TextColumn("{task.description:45}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=len(steps))
        for what, step in steps:
            bar.update(task, description=what)
            step()
            bar.advance(task)
    print(f"{len(steps)} steps in {time.perf_counter() - begun:.0f} s; the results stand in reproductions/*/results")


if __name__ == "__main__":
    main(sys.argv[1:])
