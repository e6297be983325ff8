"""The study beyond the papers: ways to tune, and peers, on families of public data sets. Run: make study."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def included() -> list[str]:
    """The data sets that are run."""
    from reproductions.study.laboratory import included as names

    return names()


def run(name: str, folder: Path) -> None:
    """Complete the results of one data set."""
    from reproductions.study.laboratory import cut_of, run_set

    run_set(name, (0, cut_of(name)), None, folder)


def draw(folder: Path) -> None:
    """Draw the mean ranks under each metric with their critical differences, of the default judged first and of today's."""
    from reproductions.study.ranks import picture
    from reproductions.study.tables import MAIN, MAIN_FIRST

    for name, ways in (("ranks_first", MAIN_FIRST), ("ranks", MAIN)):
        picture("confirming", ways).savefig(folder / f"{name}.png", dpi=110, bbox_inches="tight")


def steps(folder: Path = RESULTS) -> list[tuple[str, Callable[[], None]]]:
    """What is to be done: the data sets, then the picture of those that confirm."""
    return [(name, partial(run, name, folder)) for name in included()] + [("mean ranks", partial(draw, folder))]
