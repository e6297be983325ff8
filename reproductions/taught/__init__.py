"""Every worked example of the thesis chapter (003) and of the course (004)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def write_examples(folder: Path) -> None:
    """Write examples.csv: each printed figure beside ours."""
    from reproductions.sheets import write
    from reproductions.taught import models, rankings, tables
    from reproductions.taught.line import HEADER

    found = [*tables.lines(), *rankings.lines(), *models.lines()]
    write(folder / "examples.csv", HEADER, [line.row() for line in found])


def draw(folder: Path) -> None:
    """Draw the ROC and precision-recall curves, the hull, and the two examples on generalisation."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    import compromis as cp
    from examples import generalisation_boundaries, generalisation_polynomials
    from reproductions.taught import rankings

    folder.mkdir(parents=True, exist_ok=True)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for points, name, style in ((rankings.twenty(), "20 rows", "-o"), (rankings.six(), "6 rows", "--s")):
        left.plot(points.fpr, points.tpr, style, color="black", markersize=4, markerfacecolor="white", label=name)
        right.plot(points.recall, points.precision, style, color="black", markersize=4, markerfacecolor="white")
    left.plot([0, 1], [0, 1], ":", color="0.5", label="non-informative")
    left.set(xlabel="false positive rate", ylabel="true positive rate")
    right.set(xlabel="recall", ylabel="precision", ylim=(0, 1.04))
    left.legend(frameon=False)
    figure.savefig(folder / "curves.png", dpi=110)
    cp.plots.RocHullDisplay.from_points(rankings.drawn_models()).figure_.savefig(
        folder / "hull.png", dpi=110, bbox_inches="tight"
    )
    for example in (generalisation_boundaries, generalisation_polynomials):
        example.draw(example.curve(), folder / f"{example.__name__.rpartition('.')[2]}.png")
    plt.close("all")


def steps(folder: Path = RESULTS) -> list[tuple[str, Callable[[], None]]]:
    """What is to be done."""
    return [("every worked example", partial(write_examples, folder)), ("figures", partial(draw, folder))]
