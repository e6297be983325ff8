"""The PRAGMA paper again: tables 1 to 4, figures 1 to 4, and evidence for where ours differ."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def steps(folder: Path = RESULTS) -> list[tuple[str, Callable[[], None]]]:
    """What is to be done, in this order: one step per data set and seed, then tables, figures and evidence."""
    from reproductions.pragma.evidence import letter_with_larger_leaves, more_seeds, other_models, weights_of_satimage
    from reproductions.pragma.experiments import EXPERIMENTS, SEEDS, Outcome, run
    from reproductions.pragma.figures import draw_all
    from reproductions.pragma.tables import write_tables

    found: dict[str, list[Outcome]] = {name: [] for name in EXPERIMENTS}

    def cross_validate(name: str, seed: int) -> None:
        found[name].append(run(name, seed))

    return [
        *((f"{name}, seed {seed}", partial(cross_validate, name, seed)) for name in EXPERIMENTS for seed in SEEDS),
        ("tables 1 to 4", lambda: write_tables(found, folder)),
        ("figures 1 to 4", lambda: draw_all({name: one[0] for name, one in found.items()}, folder)),
        ("evidence: weights of satimage", lambda: weights_of_satimage(found["satimage"][0], folder)),
        ("evidence: other models", partial(other_models, folder)),
        ("evidence: letter, larger leaves", partial(letter_with_larger_leaves, folder)),
        ("evidence: hypothyroid, more seeds", partial(more_seeds, folder)),
    ]
