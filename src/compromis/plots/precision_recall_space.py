"""The precision-recall space drawn: what cannot be reached, what needs no skill, and what models reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from compromis._typing import Floats
from compromis.evidence.points import OperatingPoints
from compromis.metrics import Metric, get_metric
from compromis.plots._base import (
    HATCH,
    QUIET,
    SHADE,
    Models,
    PointsDisplay,
    beside,
    line_style,
    plain,
    stacked,
    tidy,
    unit_square,
)
from compromis.tradeoffs.space import PrecisionRecallSpace, isoline

LEVELS = (0.2, 0.4, 0.6, 0.8)
_FEW = 40
"""Up to so many dominating points are marked one by one."""


class PrecisionRecallSpaceDisplay(PointsDisplay):
    """The precision-recall space of one class against the rest (figures 1 and 2 of the trade-off paper).

    Drawn are the zone that no group can reach, the maximal group (everything is predicted positive), the line of random
    groups, groups of a single element, the lines on which a metric has one value, and the curve of each model with its
    dominating points: no other point of the model is as good in one rate and better in the other.

    Parameters
    ----------
    points : mapping
        The operating points of each model by name.
    metric : str or Metric
        Whose isolines are drawn.
    recall_weight : float or sequence of float
        At which recall weights; several are told apart by their dashes.
    levels : sequence of float
        For which values; empty for no isolines.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    >>> display = cp.plots.PrecisionRecallSpaceDisplay.from_points({"model": points}, metric="f")
    >>> display.ax_.get_xlabel()
    'recall of 1'
    """

    def __init__(
        self,
        points: Mapping[str, OperatingPoints],
        *,
        metric: str | Metric = "f",
        recall_weight: float | Sequence[float] = 0.5,
        levels: Sequence[float] = LEVELS,
    ) -> None:
        super().__init__(points)
        self.metric = get_metric(metric)
        self.recall_weights = tuple(float(weight) for weight in np.atleast_1d(recall_weight))
        self.levels = tuple(levels)

    @classmethod
    def from_points(cls, points: Models, *, name: str | None = None, ax: Any = None, **options: Any) -> Self:
        """Draw operating points of one model, or of several by name."""
        return cls(cls._named(points, name), **options).plot(ax=ax)

    def columns(self) -> dict[str, list[Any]]:
        """Return the points drawn: model, threshold, group, recall, precision, whether it is dominating."""
        return stacked(
            {
                "model": model,
                "threshold": points.threshold,
                "group": None if points.names is None else [str(name) for name in points.names],
                "recall": points.recall,
                "precision": points.precision,
                "dominating": points.dominating,
            }
            for model, points in self.points.items()
        )

    @cached_property
    def isolines(self) -> dict[tuple[float, float], tuple[Floats, Floats]]:
        """Recall and precision along each isoline, by recall weight and level."""
        return {
            (weight, level): isoline(level, weight, self.metric, size=1001)
            for weight in self.recall_weights
            for level in self.levels
        }

    def _draw(self, ax: Any) -> None:
        ax = self._begin(ax, (7.8, 4.9))
        self._draw_isolines(ax)
        if (space := PrecisionRecallSpace.shared_by(self.points.values())) is not None:
            _landmarks(ax, space)
        models = [
            _curve(ax, number, self._drawn_names[name], points)
            for number, (name, points) in enumerate(self.points.items())
        ]
        positive = plain(self.pos_label)
        unit_square(ax, f"recall of {positive}", f"precision of {positive}")
        tidy(ax)
        ax.grid(visible=False)
        beside(ax, models, title="full marks: dominating points", title_fontsize=8.5, alignment="left")

    def _draw_isolines(self, ax: Any) -> None:
        dashes, named = ("-", (0, (5, 3)), (0, (1.5, 2))), set()
        for (weight, level), (recall, precision) in self.isolines.items():
            label = "_nolegend_" if weight in named else f"equal {self.metric.name}, recall weight {weight:g}"
            named.add(weight)
            dash = dashes[self.recall_weights.index(weight) % 3]
            ax.plot(recall, precision, color="0.68", linewidth=0.9, linestyle=dash, label=label, zorder=1)
            if len(recall) and len(self.recall_weights) == 1:
                # beside the upper edge, where curves of useful models are rarely crowded
                end = int(np.argmax(precision))
                ax.annotate(
                    f"{level:g}", (recall[end], precision[end]), xytext=(2, -9), textcoords="offset points",
                    fontsize=7, color=QUIET,
                )  # fmt: skip


def _landmarks(ax: Any, space: PrecisionRecallSpace) -> None:
    across = np.linspace(0, 1, 201)
    ax.fill_between(
        across, -0.02, space.lowest_precision(across), facecolor=SHADE, edgecolor=HATCH, hatch="////", linewidth=0,
        label="cannot be reached", zorder=1.5,
    )  # fmt: skip
    random, sizes = space.random_groups(np.array([0.0, space.universe_size]))
    ax.plot(sizes, random, color="0.25", linestyle=":", linewidth=1.5, label="random groups", zorder=2)
    for name, mark, (precision, recall) in (
        ("perfect", "*", space.perfect_group),
        ("maximal group (everything)", "s", space.maximal_group),
        ("a single right element", "^", space.single_element),
        ("a single wrong element", "v", space.null_group),
    ):
        size = 11 if mark == "*" else 7
        ax.plot(
            recall, precision, mark, color="black", markerfacecolor="white", markersize=size, linestyle="none",
            label=name, clip_on=False, zorder=4,
        )  # fmt: skip


def _curve(ax: Any, number: int, name: str, points: OperatingPoints) -> Any:
    style = line_style(number)
    dominating = points.dominating
    if points.names is not None:
        style["linestyle"] = "none"
        ax.plot(points.recall, points.precision, **style, markerfacecolor="white", markersize=5.5, zorder=3)
    (line,) = ax.plot(
        points.recall, points.precision, **style, markevery=np.flatnonzero(dominating).tolist(), linewidth=1.2,
        markersize=3 if dominating.sum() > _FEW else 5.5, zorder=3.5, label=name,
    )  # fmt: skip
    return line
