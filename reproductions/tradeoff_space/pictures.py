"""Figures 5 and 6 of the trade-off paper, drawn to be read in grey."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import compromis as cp

WEIGHTS = np.linspace(0, 1, 501)
STYLES: dict[str, dict[str, Any]] = {
    "CC": {"color": "black", "linestyle": "-", "marker": "o"},
    "ISA": {"color": "0.5", "linestyle": "--", "marker": "s"},
}


def panels() -> tuple[Any, Any, Any]:
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5.4), layout="constrained")
    left.set(
        xlabel="recall", ylabel="precision", xlim=(-0.02, 1.02), ylim=(-0.02, 1.03), title="precision-recall space"
    )
    right.set(xlabel="recall weight λ", ylabel="F measure", xlim=(0, 1), ylim=(0, 1.03), title="trade-off space")
    return figure, left, right


def legend_below(axes: Any, columns: int = 3) -> None:
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=columns, frameon=False)


def draw_points(axes: Any, name: str, points: cp.OperatingPoints) -> None:
    """The curve in the order of the parameter, dominating points filled."""
    style = STYLES[name]
    axes.plot(points.recall, points.precision, color=style["color"], linestyle=style["linestyle"], linewidth=1)
    for flags, face in ((points.dominating, style["color"]), (~points.dominating, "white")):
        axes.plot(
            points.recall[flags],
            points.precision[flags],
            style["marker"],
            color=style["color"],
            markerfacecolor=face,
            markersize=5,
            label=f"{name}, {'dominating' if face != 'white' else 'dominated'}",
        )


def draw_maximal(axes: Any, points: cp.OperatingPoints) -> None:
    space = cp.tradeoffs.PrecisionRecallSpace.of(points)
    axes.plot(WEIGHTS, space.curves(WEIGHTS, "f")["maximal"], color="0.35", linestyle=":", label="whole matrix")


def draw_selection(curve: cp.TradeoffCurve, file: Path) -> None:
    """Figure 5: the biclusters of one algorithm, and which is best for which recall weight."""
    figure, left, right = panels()
    draw_points(left, "CC", curve.points)
    for part in curve.intervals:
        left.plot(part.recall, part.precision, "o", markersize=11, markerfacecolor="none", color="0.4")
    left.plot([], [], "o", markersize=11, markerfacecolor="none", color="0.4", label="best for some λ")
    legend_below(left)
    right.plot(WEIGHTS, curve.family(WEIGHTS).T, color="0.8", linewidth=0.7)
    right.plot(WEIGHTS, curve.value(WEIGHTS), color="black", linewidth=2.2, label="optimal trade-off curve")
    draw_maximal(right, curve.points)
    for part in curve.intervals:
        if part.low > 0:
            right.axvline(part.low, color="0.4", linestyle="--", linewidth=0.8)
        right.text(
            (part.low + part.high) / 2, 0.015, f"{part.size:,.0f}", rotation=90, ha="center", va="bottom", fontsize=9
        )
    legend_below(right)
    right.set_title("trade-off space (numbers: cells of the best bicluster)")
    figure.savefig(file, dpi=130)
    plt.close(figure)


def draw_comparison(comparison: cp.tradeoffs.Comparison, file: Path) -> None:
    """Figure 6: two algorithms, and who is best for which recall weight."""
    figure, left, right = panels()
    for name, curve in comparison.curves.items():
        draw_points(left, name, curve.points)
        style = {key: STYLES[name][key] for key in ("color", "linestyle")}
        right.plot(WEIGHTS, curve.value(WEIGHTS), linewidth=2.2, label=name, **style)
    legend_below(left, columns=2)
    draw_maximal(right, curve.points)
    for part in comparison.intervals:
        if part.low > 0:
            right.axvline(part.low, color="0.4", linestyle="--", linewidth=0.8)
        turned = 90 if part.high - part.low < 0.08 else 0
        right.text((part.low + part.high) / 2, 0.015, part.name, rotation=turned, ha="center", va="bottom", fontsize=9)
    legend_below(right)
    right.set_title("trade-off space (below: the best algorithm)")
    figure.savefig(file, dpi=130)
    plt.close(figure)
