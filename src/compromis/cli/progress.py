"""Progress on the terminal, silence elsewhere, and Ctrl-C keeps the best result so far."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass
class SearchProgress:
    """Called by a search with the share done and the best loss; tells it to stop after Ctrl-C.

    Attributes
    ----------
    show : callable
        Draws the progress.
    interrupted : bool
        Whether Ctrl-C was pressed.
    """

    show: Callable[[float, float], None]
    interrupted: bool = False

    def __call__(self, done: float, loss: float) -> bool:
        """Draw, and return whether the search shall stop."""
        self.show(done, loss)
        return self.interrupted


@contextmanager
def search_progress() -> Iterator[SearchProgress]:
    """Yield a callback for a search that draws a bar on standard error when that is a terminal; Ctrl-C stops the search."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = TextColumn("searching weights"), BarColumn(), TextColumn("loss {task.fields[loss]}"), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("search", total=1.0, loss="?")
        progress = SearchProgress(lambda done, loss: bar.update(task, completed=done, loss=f"{loss:.4f}"))
        with _interruptible(progress):
            yield progress


@contextmanager
def _interruptible(progress: SearchProgress) -> Iterator[None]:
    """Note the first Ctrl-C; the second ends the program as ever."""
    if threading.current_thread() is not threading.main_thread():  # only there signals arrive
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def note(*_: Any) -> None:
        progress.interrupted = True
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
