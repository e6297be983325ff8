"""The trade-off space drawn: the value of results over the recall weight, and which of them is best where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._arrays import make_frame
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.metrics import Metric
from compromis.plots._base import (
    DARK,
    QUIET,
    SHADE,
    SMALL,
    PointsDisplay,
    beside,
    line_style,
    new_axes,
    plain,
    spread,
    tidy,
)
from compromis.tradeoffs.comparison import Comparison, compare_curves
from compromis.tradeoffs.envelope import Pair
from compromis.tradeoffs.space import PrecisionRecallSpace, domain_of_application

LANDMARKS = {
    "perfect": ("-", 1.0),
    "maximal": ("-", 1.4),
    "random": (":", 1.4),
    "single element": ((0, (4, 2, 1, 2)), 1.1),
    "null": ("-", 1.0),
}
"""Dashes and widths of the curves that every problem has."""
_FAMILY = 60
"""Curves drawn below the envelope, spread evenly over all points."""
_GRID = np.linspace(0, 1, 201)
_BAND = (-0.115, -0.045)
"""The heights between which the band of intervals lies, below the axis at 0."""
_LETTERS = 82
"""Letters that fit beside each other into the band's whole width."""


class TradeoffDisplay(PointsDisplay):
    """The optimal trade-off curve of each model, and below it who, or which threshold, is best where.

    One model is drawn with the curves of its points, its envelope, and the threshold of each interval; several are drawn
    with their envelopes and the winner of each interval. The shaded zone is no better than deciding everything positive:
    outside of it lies the domain of application (figures 3 to 6 of the trade-off paper).

    Parameters
    ----------
    points : mapping
        The operating points of each model by name.
    metric : str or Metric
        The metric whose value is drawn.
    pair : str
        ``"precision-recall"`` or ``"specificity-sensitivity"``; the second has no landmarks.
    landmarks : sequence of str
        Which of the curves that need no model to draw: "perfect", "maximal", "random", "single element", "null". Without
        any, the picture is drawn to the height of the models.

    Attributes
    ----------
    comparison : Comparison
        The curves and the winners' intervals.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    >>> display = cp.plots.TradeoffDisplay({"model": points}, metric="f").plot()
    >>> [(part.name, part.low, part.high) for part in display.comparison.intervals]
    [('model', 0.0, 1.0)]
    """

    def __init__(
        self,
        points: Mapping[str, OperatingPoints],
        *,
        metric: str | Metric = "kulczynski",
        pair: str | Pair = "precision-recall",
        landmarks: Sequence[str] = tuple(LANDMARKS),
    ) -> None:
        super().__init__(points)
        unknown = [name for name in landmarks if name not in LANDMARKS]
        if unknown:
            raise InputError(f"there is no landmark {unknown[0]!r}; choose among {', '.join(LANDMARKS)}")
        self.comparison = compare_curves(self.points, metric, pair=pair)
        self.landmarks = tuple(landmarks)

    @classmethod
    def from_comparison(
        cls, comparison: Comparison, *, landmarks: Sequence[str] = tuple(LANDMARKS), ax: Any = None
    ) -> TradeoffDisplay:
        """Draw what `compromis.compare_curves` returned, in the space of either pair of rates."""
        if not isinstance(comparison, Comparison):
            raise InputError(f"comparison comes from compromis.compare_curves, got {type(comparison).__name__}")
        points = {name: curve.points for name, curve in comparison.curves.items()}
        pair = next(iter(comparison.curves.values())).pair
        return cls(points, metric=comparison.metric, pair=pair, landmarks=landmarks).plot(ax=ax)

    @property
    def curves(self) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Recall weights and values of each curve: of the models' envelopes, breaks included, and of the landmarks."""
        drawn = {}
        for name, curve in self.comparison.curves.items():
            weights = np.union1d(_GRID, curve.breaks)
            drawn[name] = weights, np.asarray(curve.value(weights))
        return drawn | {name: (_GRID, values) for name, values in self._landmark_curves().items()}

    def frame(self, backend: str | None = None) -> Any:
        """Return the curves drawn as a data frame: curve, kind ("model" or "landmark"), recall weight and value."""
        columns: dict[str, list[Any]] = {"curve": [], "kind": [], "recall_weight": [], "value": []}
        for name, (weights, values) in self.curves.items():
            columns["curve"] += [name] * len(weights)
            columns["kind"] += ["model" if name in self.points else "landmark"] * len(weights)
            columns["recall_weight"] += weights.tolist()
            columns["value"] += values.tolist()
        return make_frame(columns, backend)

    def intervals(self, backend: str | None = None) -> Any:
        """Return the band below the axis as a data frame: each model's intervals with thresholds, or the winners'."""
        if len(self.points) > 1:
            return make_frame(self.comparison.frame(), backend)
        return make_frame(next(iter(self.comparison.curves.values())).frame(), backend)

    def plot(self, ax: Any = None) -> TradeoffDisplay:
        """Draw on `ax`, or on a new figure."""
        self.ax_ = ax = new_axes(ax, (7.6, 4.6))
        self.figure_ = ax.figure
        self._draw_landmarks(ax)
        if len(self.points) == 1:
            self._draw_family(ax)
        models = []
        for place, name in enumerate(self.comparison.curves):
            style = line_style(place) | {"marker": ""}
            models += ax.plot(*self.curves[name], **style, linewidth=2.4, label=plain(name), zorder=4)
        _band(ax, self._parts(), self._floor, alone=len(self.points) == 1)
        self._axes(ax)
        tidy(ax, self._title())
        ax.grid(visible=False)
        beside(ax, models)
        return self

    def _axes(self, ax: Any) -> None:
        curve = next(iter(self.comparison.curves.values()))
        ax.set_xlim(0, 1)
        floor, height = self._floor, 1 - self._floor
        ax.set_ylim(floor + (_BAND[0] - 0.02) * height, 1 + 0.03 * height)
        ax.set_yticks(np.linspace(floor, 1, 6))
        ax.axhline(floor, color="0.5", linewidth=0.8, zorder=1)
        ax.spines["left"].set_bounds(floor, 1)
        first, second = curve.pair.first, curve.pair.second
        ax.set_xlabel(f"weight of {second} (0: {first} alone, 1: {second} alone)")
        ax.set_ylabel(f"{curve.metric.name} for {plain(self.pos_label)}")

    @property
    def _floor(self) -> float:
        """Where the axis starts: at 0, or below the lowest model if there are no landmarks to show."""
        if self._landmark_curves():
            return 0.0
        lowest = min(float(np.nanmin(self.curves[name][1])) for name in self.points)
        return max(0.0, np.floor(10 * (lowest - 0.02)) / 10)

    def _title(self) -> str:
        if len(self.points) > 1:
            return plain(self.comparison.verdict, 400)
        (points,) = self.points.values()
        if next(iter(self.comparison.curves.values())).pair.name != "precision-recall":
            return ""
        parts = domain_of_application(points, self.comparison.metric)
        if not parts:
            return "Nowhere better than deciding everything positive."
        spans = " and ".join(f"from {low:.3g} to {high:.3g}" for low, high in parts)
        return f"Better than deciding everything positive for recall weights {spans}."

    def _landmark_curves(self) -> dict[str, NDArray[np.float64]]:
        """The curves of the landmarks; none where models were tested at different prevalences, or rates are others."""
        curves = self.comparison.curves.values()
        spaces = {PrecisionRecallSpace.of(curve.points) for curve in curves}
        if len(spaces) > 1 or any(curve.pair.name != "precision-recall" for curve in curves):
            return {}
        known = spaces.pop().curves(_GRID, self.comparison.metric)
        return {name: known[name] for name in self.landmarks}

    def _draw_landmarks(self, ax: Any) -> None:
        curves = self._landmark_curves()
        if "maximal" in curves:
            ax.fill_between(
                _GRID, 0, curves["maximal"], color=SHADE, linewidth=0, label="no better than everything", zorder=0
            )
        for name, values in curves.items():
            dashes, width = LANDMARKS[name]
            label = "everything (maximal group)" if name == "maximal" else name
            quiet = name in ("perfect", "null")
            ax.plot(
                _GRID, values, color="0.75" if quiet else "0.35", linestyle=dashes, linewidth=width,
                label="_nolegend_" if quiet else label, zorder=2, clip_on=not quiet,
            )  # fmt: skip

    def _draw_family(self, ax: Any) -> None:
        (curve,) = self.comparison.curves.values()
        weights = _GRID[::4]
        family = curve.family(weights)
        for place, row in enumerate(spread(len(family), _FAMILY)):
            label = "_nolegend_" if place else "its points"
            ax.plot(weights, family[row], color="0.6", linewidth=0.5, alpha=0.7, zorder=1.5, label=label)
        for end in curve.breaks[1:-1].tolist():
            ax.vlines(end, self._floor, float(curve.value(end)), color=DARK, linestyle=":", linewidth=0.8, zorder=3)

    def _parts(self) -> list[tuple[float, float, str, int]]:
        """The band: from, to, what is best there, and whose colour it has."""
        if len(self.points) == 1:
            intervals = next(iter(self.comparison.curves.values())).intervals
            names = [_cut(part.threshold) if part.name is None else plain(part.name, 16) for part in intervals]
            return [(part.low, part.high, name, 0) for part, name in zip(intervals, names, strict=True)]
        order = list(self.points)
        return [
            (part.low, part.high, plain(part.name, 40), order.index(part.best[0]) if len(part.best) == 1 else -1)
            for part in self.comparison.intervals
        ]


def _cut(threshold: float) -> str:
    return f"≥ {threshold:.3g}"


def _band(ax: Any, parts: Sequence[tuple[float, float, str, int]], floor: float, *, alone: bool) -> None:
    """Draw the intervals as a band below the axis; a name is written where it fits."""
    low, high = (floor + edge * (1 - floor) for edge in _BAND)
    for place, (start, end, name, owner) in enumerate(parts):
        colour = ("0.86", "0.94")[place % 2] if alone or owner < 0 else line_style(owner)["color"]
        ax.broken_barh(
            [(start, end - start)], (low, high - low), facecolor=colour, edgecolor="white", linewidth=0.8, zorder=3
        )
        if len(name) <= (end - start) * _LETTERS:
            ink = "0.15" if alone or owner < 0 or _is_light(colour) else "white"
            ax.text(
                (start + end) / 2, (low + high) / 2, name, ha="center", va="center_baseline", fontsize=7.5, color=ink,
                zorder=4,
            )  # fmt: skip
    ax.annotate(
        "best cut" if alone else "best", (0, (low + high) / 2), xytext=(-5, 0), textcoords="offset points", ha="right",
        va="center", fontsize=SMALL, color=QUIET, annotation_clip=False,
    )  # fmt: skip


def _is_light(colour: str) -> bool:
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(colour)
    return bool(0.299 * red + 0.587 * green + 0.114 * blue > 0.55)
