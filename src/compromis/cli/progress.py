"""Progress on the terminal, silence elsewhere, and Ctrl-C keeps the best result so far."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import click

INTERRUPTED = 130
"""The exit code of programs that Ctrl-C ended."""


class Searching:
    """Shows the progress of searches on standard error where that is a terminal; Ctrl-C stops them.

    Attributes
    ----------
    interrupted : bool
        Whether Ctrl-C was pressed.
    """

    def __init__(self) -> None:
        self.interrupted = False

    @contextmanager
    def show(self) -> Iterator[Callable[[float, float], bool]]:
        """Yield the callback of a search: it takes the share done and the best loss, and returns whether to stop."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        columns = (
            TextColumn("searching weights"),
            BarColumn(),
            TextColumn("loss {task.fields[loss]}"),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task("search", total=1.0, loss="?")

            def report(done: float, loss: float) -> bool:
                bar.update(task, completed=done, loss=f"{loss:.4f}")
                return self.interrupted

            with self._noting_interrupts():
                yield report

    @contextmanager
    def _noting_interrupts(self) -> Iterator[None]:
        """Note the first Ctrl-C; the second ends the program as ever."""
        if threading.current_thread() is not threading.main_thread():  # only there signals arrive
            yield
            return
        before = signal.getsignal(signal.SIGINT)

        def note(*_: Any) -> None:
            self.interrupted = True
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


def say_interrupted() -> NoReturn:
    """Say on standard error that Ctrl-C ended a search, and end the program."""
    click.echo("stopped by Ctrl-C: these are the best weights found so far, and nothing was written", err=True)
    raise click.exceptions.Exit(INTERRUPTED)
