"""Progress on the terminal, and silence elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def search_progress() -> Iterator[Callable[[float, float], None]]:
    """Yield a callback for a search that draws a bar on standard error when that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = TextColumn("searching weights"), BarColumn(), TextColumn("loss {task.fields[loss]}"), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("search", total=1.0, loss="?")
        yield lambda done, loss: bar.update(task, completed=done, loss=f"{loss:.4f}")
