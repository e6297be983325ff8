"""Progress of long work: a bar in terminals, or the caller's own function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
Progress = bool | Callable[[int, int], object] | None


def counted(items: Iterable[T], total: int, progress: Progress, what: str = "folds") -> Iterator[T]:
    """Yield the items, telling `progress` how many of `total` are done."""
    if callable(progress):
        for done, item in enumerate(items, start=1):
            progress(done, total)
            yield item
        return
    if progress is False or (progress is None and not sys.stderr.isatty()):
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, what, total=total, console=Console(stderr=True), transient=True)
