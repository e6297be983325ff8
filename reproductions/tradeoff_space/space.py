"""Figures 1 to 4 of the trade-off paper, and the statements that its text reads off them.

The paper does not say what the curve of its figures 1 and 4 is, nor how large its target is; ours is the curve of Cheng and
Church's algorithm in figure 5 (1,200 of 10,000 cells). The group of figure 3 is the paper's: precision 0.85, recall 0.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import compromis as cp
from reproductions.sheets import write

METRICS = ("kulczynski", "f", "fowlkes_mallows", "jaccard")
WEIGHTS = np.linspace(0, 1, 201)
GROUP = (0.85, 0.5)
ISOLINES = {0.5: ("-", 1.8), 0.2: (":", 1.1), 0.8: ("-", 0.8)}  # as in the paper: bold, dotted, full
LEVELS = (0.2, 0.4, 0.6, 0.8)


def save(figure: Any, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=110, bbox_inches="tight")
    plt.close(figure)


def panels(xlabel: str, ylabel: str) -> tuple[Any, dict[str, Any]]:
    figure, axes = plt.subplots(2, 2, figsize=(9, 8), sharex=True, sharey=True, layout="constrained")
    for axis, metric in zip(axes.flat, METRICS, strict=True):
        axis.set(title=metric, xlim=(0, 1), ylim=(0, 1.02))
    for axis in axes[1]:
        axis.set_xlabel(xlabel)
    for axis in axes[:, 0]:
        axis.set_ylabel(ylabel)
    return figure, dict(zip(METRICS, axes.flat, strict=True))


def figure_1(points: cp.OperatingPoints, folder: Path) -> None:
    """The precision-recall space with its landmarks, and a curve with its dominating points."""
    display = cp.plots.PrecisionRecallSpaceDisplay({"CC": points}, levels=(), metric="kulczynski").plot()
    save(display.figure_, folder / "figure_1.png")


def figure_2(folder: Path) -> None:
    """Lines of equal value of the four metrics at recall weights 0.5, 0.2 and 0.8."""
    figure, axes = panels("recall", "precision")
    rows = []
    for metric, axis in axes.items():
        for weight, (dash, width) in ISOLINES.items():
            for level in LEVELS:
                recall, precision = cp.tradeoffs.isoline(level, weight, metric, size=4001)
                axis.plot(recall, precision, dash, color="black", linewidth=width)
                chosen = slice(None, None, 400)
                rows += [
                    (metric, weight, level, *map(float, pair))
                    for pair in zip(recall[chosen], precision[chosen], strict=True)
                ]
    save(figure, folder / "figure_2.png")
    write(folder / "figure_2.csv", ("metric", "recall weight", "value", "recall", "precision"), rows)


def figure_3(space: cp.tradeoffs.PrecisionRecallSpace, folder: Path) -> None:
    """One group in trade-off space, and the landmarks; below the maximal group nothing is informative."""
    figure, axes = panels("recall weight λ", "metric")
    styles = {
        "maximal": ("-", "0.3"),
        "single element": (":", "0.3"),
        "random": ("--", "0.6"),
        "perfect": ("-", "0.7"),
        "null": ("-", "0.7"),
    }
    rows = []
    for metric, axis in axes.items():
        curves = space.curves(WEIGHTS, metric)
        group = cp.metric_value(*GROUP, WEIGHTS, metric=metric)
        axis.fill_between(WEIGHTS, 0, curves["maximal"], color="0.9")
        axis.plot(WEIGHTS, group, color="black", linewidth=2.4, label="precision 0.85, recall 0.5")
        for name, (dash, colour) in styles.items():
            axis.plot(WEIGHTS, curves[name], dash, color=colour, label=name)
        named = {"group": group, **curves}
        rows += [
            (metric, name, float(WEIGHTS[i]), float(values[i]))
            for name, values in named.items()
            for i in range(0, 201, 20)
        ]
    figure.legend(*axes["kulczynski"].get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
    save(figure, folder / "figure_3.png")
    write(folder / "figure_3.csv", ("metric", "curve", "recall weight", "value"), rows)


def figure_4(points: cp.OperatingPoints, folder: Path) -> None:
    """Every point of the curve of figure 1 as a curve, and their upper envelope."""
    figure, axes = panels("recall weight λ", "metric")
    rows = []
    for metric, axis in axes.items():
        curve = cp.TradeoffCurve(points, metric)
        axis.plot(WEIGHTS, curve.family(WEIGHTS).T, color="0.7", linewidth=0.7)
        axis.plot(WEIGHTS, curve.value(WEIGHTS), color="black", linewidth=2.2)
        rows += [(metric, part.low, part.high, str(part.name), part.precision, part.recall) for part in curve.intervals]
    save(figure, folder / "figure_4.png")
    write(folder / "figure_4.csv", ("metric", "low", "high", "best", "precision", "recall"), rows)


def is_hull(points: cp.OperatingPoints, chosen: set[tuple[float, float]]) -> bool:
    """Whether these are the upper right corners of the convex hull of the points (recall, precision), by scipy's hull."""
    from scipy.spatial import ConvexHull

    rates = np.unique(np.column_stack([points.recall, points.precision]), axis=0)
    corners = rates[ConvexHull(rates).vertices]
    furthest = np.argmax(corners @ np.array([WEIGHTS, 1 - WEIGHTS]), axis=0)
    return {tuple(corners[place]) for place in furthest} <= chosen <= set(map(tuple, corners))


def statements(
    points: cp.OperatingPoints, space: cp.tradeoffs.PrecisionRecallSpace
) -> Iterator[tuple[str, str, str, Any]]:
    """What the text says about figures 2, 3 and 4, counted."""
    rng = np.random.default_rng(0)
    p, r, weight = rng.uniform(0.01, 1, (3, 1000))
    for metric in METRICS:
        swapped = np.abs(cp.metric_value(p, r, 0.5, metric=metric) - cp.metric_value(r, p, 0.5, metric=metric)).max()
        yield "2", "isolines are symmetric at λ = 0.5", metric, bool(swapped < 1e-12)
    for metric in METRICS[:3]:
        moved = np.abs(cp.metric_value(p, p, weight, metric=metric) - p).max()
        yield "2", "where precision = recall the value does not depend on λ", metric, bool(moved < 1e-12)
    middle = cp.metric_value(p, p, 0.5, metric="jaccard") <= cp.metric_value(p, p, weight, metric="jaccard") + 1e-15
    yield "2", "Jaccard penalises λ near 0.5", "jaccard", bool(middle.all())
    values = {metric: cp.metric_value(p, r, 0.5, metric=metric) for metric in METRICS}
    ordered = values["kulczynski"] + 1e-15 >= values["fowlkes_mallows"]
    yield "2", "Folke penalises a difference less than F, Kulczynski not at all", "", bool(
        (ordered & (values["fowlkes_mallows"] + 1e-15 >= values["f"])).all()
    )  # fmt: skip
    same = np.array_equal(np.argsort(values["f"]), np.argsort(values["jaccard"]))
    yield "2", "F and Jaccard order results alike at λ = 0.5", "", same
    for metric in METRICS:
        ends = [float(value) for value in cp.metric_value(*GROUP, np.array([0.0, 1.0]), metric=metric)]
        yield "3", "the ends of the curve are precision and recall", metric, ends == [*GROUP]
        room = 1 - np.trapezoid(space.curves(WEIGHTS, metric)["maximal"], WEIGHTS)
        yield "3", "area of the domain of application", metric, float(room)
    for metric in METRICS:
        curve = cp.TradeoffCurve(points, metric)
        yield "4", "every point on the envelope is dominating", metric, bool(points.dominating[curve.positions].all())
    chosen = {(part.recall, part.precision) for part in cp.TradeoffCurve(points, metric="kulczynski").intervals}
    yield (
        "4",
        "Kulczynski: the envelope is the convex hull of the precision-recall curve",
        "kulczynski",
        is_hull(points, chosen),
    )


def draw_all(points: cp.OperatingPoints, folder: Path) -> None:
    """Draw figures 1 to 4 and count the statements."""
    space = cp.tradeoffs.PrecisionRecallSpace.of(points)
    figure_1(points, folder)
    figure_2(folder)
    figure_3(space, folder)
    figure_4(points, folder)
    write(folder / "statements.csv", ("figure", "statement", "metric", "ours"), statements(points, space))
