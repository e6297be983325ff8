"""ROC curves drawn with their convex hull: which models are worth keeping, and for which slopes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compromis._arrays import make_frame
from compromis.evidence.points import OperatingPoints
from compromis.measures.ranking import roc_area
from compromis.plots._base import QUIET, PointsDisplay, beside, line_style, listed, new_axes, plain, tidy, unit_square
from compromis.tradeoffs.roc import roc_hull

HULL = "hull"
_SHORTEST = 0.12
"""Edges of the hull that are shorter than this share of the axes carry no slope."""


class RocHullDisplay(PointsDisplay):
    """The ROC curves of models, their convex hull with the slopes of its edges, and the models that can be dropped.

    A corner is best for slopes (cost of a false positive x negatives) / (cost of a false negative x positives) between
    those of the edges that meet there.

    Parameters
    ----------
    points : mapping
        The operating points of each model by name.

    Attributes
    ----------
    hull : RocHull
        The corners with their slopes, the models on the hull and those that can be dropped.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    >>> display = cp.plots.RocHullDisplay({"model": points}).plot()
    >>> display.hull.models
    ('model',)
    """

    def __init__(self, points: Mapping[str, OperatingPoints]) -> None:
        super().__init__(points)
        self.hull = roc_hull(self.points)

    def frame(self, backend: str | None = None) -> Any:
        """Return the curves and the hull as a data frame: curve, kind, threshold, fpr, tpr, and for corners their slopes."""
        names = ("curve", "kind", "threshold", "fpr", "tpr", "slope_low", "slope_high")
        columns: dict[str, list[Any]] = {name: [] for name in names}
        for model, points in self.points.items():
            for threshold, fpr, tpr in zip(points.threshold, points.fpr, points.tpr, strict=True):
                row: tuple[Any, ...] = (model, "model", float(threshold), float(fpr), float(tpr), None, None)
                for name, value in zip(names, row, strict=True):
                    columns[name].append(value)
        for part in self.hull.parts:
            row = (", ".join(part.models), HULL, None, part.fpr, part.tpr, part.slope_low, part.slope_high)
            for name, value in zip(names, row, strict=True):
                columns[name].append(value)
        return make_frame(columns, backend)

    def plot(self, ax: Any = None) -> RocHullDisplay:
        """Draw on `ax`, or on a new figure."""
        self.ax_ = ax = new_axes(ax, (8.4, 4.9))
        self.figure_ = ax.figure
        ax.plot([0, 1], [0, 1], color=QUIET, linestyle=":", linewidth=1.2, label="no skill")
        self._draw_hull(ax)
        models = [self._draw_curve(ax, place, name, points) for place, (name, points) in enumerate(self.points.items())]
        positive = plain(self.pos_label)
        unit_square(ax, f"false positive rate of {positive}", f"true positive rate of {positive}")
        tidy(ax, self._title())
        beside(ax, models)
        return self

    def _title(self) -> str:
        if len(self.points) == 1:
            return ""
        if not self.hull.droppable:
            return "Every model is best for some costs and priors: none can be dropped."
        return f"Can be dropped, whatever costs and priors are: {listed(self.hull.droppable)}."

    def _draw_hull(self, ax: Any) -> None:
        corners = [(part.fpr, part.tpr) for part in self.hull.parts]
        ax.plot(
            *zip(*corners, strict=True), "-", color="0.72", linewidth=6, solid_joinstyle="round", zorder=1.5,
            label=f"hull (area {self.hull.area:.3f})",
        )  # fmt: skip
        named: list[tuple[float, float]] = []
        for (x0, y0), (x1, y1), part in zip(corners[:-1], corners[1:], self.hull.parts[:-1], strict=True):
            if abs(x1 - x0) + abs(y1 - y0) < _SHORTEST:
                continue
            middle = (x0 + x1) / 2, (y0 + y1) / 2
            if any(abs(middle[0] - x) < 0.16 and abs(middle[1] - y) < 0.06 for x, y in named):
                continue
            named.append(middle)
            flat = part.slope_low < 1
            ax.annotate(
                f"slope {part.slope_low:.2g}", middle, xytext=(0, -9) if flat else (8, 0),
                textcoords="offset points", ha="center" if flat else "left", va="top" if flat else "center",
                fontsize=7.5, color="0.3", bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.8},
                zorder=6,
            )  # fmt: skip

    def _draw_curve(self, ax: Any, place: int, name: str, points: OperatingPoints) -> Any:
        style = line_style(place)
        dropped = name in self.hull.droppable
        corners = [(part.fpr, part.tpr) for part in self.hull.parts if name in part.models]
        look = {"linewidth": 1.2 if dropped else 1.8, "alpha": 0.6 if dropped else 1.0, "zorder": 3}
        words = ", can be dropped" if dropped else ""
        if points.names is None:
            label = f"{plain(name)}, area {roc_area(points):.3f}{words}"
            (line,) = ax.plot(points.fpr, points.tpr, **(style | {"marker": ""}), **look, label=label)
        else:
            (line,) = ax.plot(
                points.fpr, points.tpr, **(style | {"linestyle": "none"}), **look, label=plain(name) + words
            )
        if corners:
            ax.plot(
                *zip(*corners, strict=True), **(style | {"linestyle": "none"}), markersize=6.5, markeredgecolor="white",
                zorder=4, clip_on=False,
            )  # fmt: skip
        return line
