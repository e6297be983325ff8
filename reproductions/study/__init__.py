"""The study beyond the papers: ways to serve preferences on sixteen public data sets. Run: make study."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def write_data_set(name: str, folder: Path) -> None:
    """Write what every rival does on one data set."""
    from reproductions.sheets import write
    from reproductions.study.runs import HEADER, lines

    write(folder / f"{name}.csv", HEADER, lines(name))


def draw(folder: Path) -> None:
    """Draw the mean ranks under each metric with their critical differences."""
    from reproductions.study.ranks import picture

    picture(folder).savefig(folder / "ranks.png", dpi=110, bbox_inches="tight")


def steps(folder: Path = RESULTS) -> list[tuple[str, Callable[[], None]]]:
    """What is to be done: the data sets, then the picture of all of them."""
    from reproductions.data import names

    return [(name, partial(write_data_set, name, folder)) for name in names("study")] + [
        ("mean ranks", partial(draw, folder))
    ]
