"""The trade-off paper again: table 1 and figures 1 to 6."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def steps(folder: Path = RESULTS) -> list[tuple[str, Callable[[], None]]]:
    """What is to be done: the table, the figures of one matrix, the same for 60 matrices."""
    from reproductions.tradeoff_space.biclustering import one_matrix, repeat
    from reproductions.tradeoff_space.space import draw_all
    from reproductions.tradeoff_space.table_1 import write_table

    def figures() -> None:
        draw_all(one_matrix(folder).curves["CC"].points, folder)

    return [
        ("table 1", partial(write_table, folder)),
        ("figures 1 to 6", figures),
        ("60 matrices", partial(repeat, folder)),
    ]
