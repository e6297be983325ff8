"""ROC curves drawn with their convex hull: which models are worth keeping, and for which slopes."""

from __future__ import annotations

from typing import Any, Self

from compromis._text import joined, shown_label
from compromis.errors import InputError
from compromis.measures.ranking import roc_area
from compromis.plots._base import (
    QUIET,
    TINY,
    Models,
    PointsDisplay,
    beside,
    line_style,
    plain,
    plain_box,
    stacked,
    tidy,
    unit_square,
)
from compromis.tradeoffs.roc import RocHull, roc_hull

HULL = "hull"
_SHORTEST = 0.12
"""Edges of the hull that are shorter than this share of the axes carry no slope."""


class RocHullDisplay(PointsDisplay):
    """The ROC curves of models, their convex hull with the slopes of its edges, and the models that can be dropped.

    A corner is best for slopes (cost of a false positive x negatives) / (cost of a false negative x positives) between
    those of the edges that meet there.

    Parameters
    ----------
    hull : RocHull
        The corners with their slopes, the models on the hull and those that can be dropped, from `compromis.roc_hull`.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    >>> display = cp.plots.RocHullDisplay(cp.roc_hull({"model": points})).plot()
    >>> display.hull.models
    ('model',)
    """

    def __init__(self, hull: RocHull) -> None:
        if not isinstance(hull, RocHull):
            raise InputError(f"hull comes from compromis.roc_hull, got {type(hull).__name__}")
        super().__init__(hull.points)
        self.hull = hull

    @classmethod
    def from_points(cls, points: Models, *, name: str | None = None, ax: Any = None, **options: Any) -> Self:
        """Draw the hull of one model's operating points, or of several by name; see `compromis.roc_hull`."""
        return cls(roc_hull(cls._named(points, name)), **options).plot(ax=ax)

    def columns(self) -> dict[str, list[Any]]:
        """Return the curves and the hull: curve, kind, threshold, fpr, tpr, and for corners their slopes."""
        models = [
            {
                "curve": model,
                "kind": "model",
                "threshold": points.threshold,
                "fpr": points.fpr,
                "tpr": points.tpr,
                "slope_low": None,
                "slope_high": None,
            }
            for model, points in self.points.items()
        ]
        parts = self.hull.parts
        corners = {name: [getattr(part, name) for part in parts] for name in ("fpr", "tpr", "slope_low", "slope_high")}
        curve = [", ".join(part.models) for part in parts]
        return stacked([*models, {"curve": curve, "kind": HULL, "threshold": None, **corners}])

    def _draw(self, ax: Any) -> None:
        ax = self._begin(ax, (8.4, 4.9))
        ax.plot([0, 1], [0, 1], color=QUIET, linestyle=":", linewidth=1.2, label="no skill")
        self._draw_hull(ax)
        models = [self._draw_curve(ax, number, name) for number, name in enumerate(self.points)]
        positive = plain(self.pos_label)
        unit_square(ax, f"false positive rate of {positive}", f"true positive rate of {positive}")
        tidy(ax)
        beside(ax, models)

    @property
    def caption(self) -> str:
        """Which models can be dropped, whatever costs and priors are."""
        if len(self.points) == 1:
            return ""
        if not self.hull.droppable:
            return "Every model is best for some costs and priors: none can be dropped."
        return f"Can be dropped, whatever costs and priors are: {joined(list(map(shown_label, self.hull.droppable)))}."

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
                f"slope {_slope(part.slope_low)}", middle, xytext=(0, -9) if flat else (8, 0),
                textcoords="offset points", ha="center" if flat else "left", va="top" if flat else "center",
                fontsize=TINY, color="0.3", bbox=plain_box(0.8),
                zorder=6,
            )  # fmt: skip

    def _draw_curve(self, ax: Any, number: int, name: str) -> Any:
        points, style = self.points[name], line_style(number)
        marks, line = style | {"linestyle": "none"}, style | {"marker": ""}
        ranked, dropped = points.names is None, name in self.hull.droppable
        look = {"linewidth": 1.2 if dropped else 1.8, "alpha": 0.6 if dropped else 1.0, "zorder": 3}
        label = (
            self._drawn_names[name]
            + (f", area {roc_area(points):.3f}" if ranked else "")
            + (", can be dropped" * dropped)
        )
        (drawn,) = ax.plot(points.fpr, points.tpr, **(line if ranked else marks), **look, label=label)
        corners = [(part.fpr, part.tpr) for part in self.hull.parts if name in part.models]
        if corners:
            ax.plot(
                *zip(*corners, strict=True), **marks, markersize=6.5, markeredgecolor="white", zorder=4, clip_on=False
            )
        return drawn


def _slope(value: float) -> str:
    """Return a slope in two digits, without an exponent."""
    return f"{float(f'{value:.2g}'):,g}" if value < 1e5 else f"{value:,.0f}"
