"""The trade-off space drawn: the value of results over the recall weight, and which of them is best where."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from compromis._typing import Floats
from compromis.errors import InputError
from compromis.metrics import Metric
from compromis.plots._base import (
    COLOURS,
    DARK,
    QUIET,
    SHADE,
    SMALL,
    TINY,
    Models,
    PointsDisplay,
    beside,
    line_style,
    plain,
    stacked,
    tidy,
)
from compromis.preferences import read_preferences
from compromis.tradeoffs.comparison import Comparison, compare_curves
from compromis.tradeoffs.envelope import Pair
from compromis.tradeoffs.space import PrecisionRecallSpace

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
    with their envelopes and the winner of each interval. The shaded zone is no better than predicting all as positive:
    outside of it lies the domain of application (figures 3 to 6 of the trade-off paper).

    Parameters
    ----------
    comparison : Comparison
        The curves and the winners' intervals, from `compromis.compare_curves`.
    landmarks : sequence of str
        Which of the curves that need no model to draw: "perfect", "maximal", "random", "single element", "null". Without
        any, the picture is drawn to the height of the models. The specificity-sensitivity space has none.
    preferences : Preferences or mapping, optional
        Marks the recall weight that they give the positive class, and what each model is worth there.

    Attributes
    ----------
    curves : dict
        Recall weights and values of each curve: of the models' envelopes, breaks included, and of the landmarks.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    >>> display = cp.plots.TradeoffDisplay.from_points({"model": points}, metric="f")
    >>> [(part.name, part.low, part.high) for part in display.comparison.intervals]
    [('model', 0.0, 1.0)]
    """

    def __init__(
        self, comparison: Comparison, *, landmarks: Sequence[str] = tuple(LANDMARKS), preferences: Any = None
    ) -> None:
        if not isinstance(comparison, Comparison):
            raise InputError(f"comparison comes from compromis.compare_curves, got {type(comparison).__name__}")
        super().__init__({name: curve.points for name, curve in comparison.curves.items()})
        unknown = [name for name in landmarks if name not in LANDMARKS]
        if unknown:
            raise InputError(f"there is no landmark {unknown[0]!r}; choose among {', '.join(LANDMARKS)}")
        self.comparison = comparison
        self.landmarks = tuple(landmarks)
        wanted = read_preferences(preferences)
        self.recall_weight = None if wanted is None else wanted.of(self.pos_label).recall_weight_for(comparison.metric)

    @classmethod
    def from_points(
        cls,
        points: Models,
        *,
        metric: str | Metric = "f",
        pair: str | Pair = "precision-recall",
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Compare operating points of one model, or of several by name, and draw that; see `compromis.compare_curves`."""
        return cls(compare_curves(cls._named(points, name), metric, pair=pair), **options).plot(ax=ax)

    @classmethod
    def from_comparison(cls, comparison: Comparison, *, ax: Any = None, **options: Any) -> Self:
        """Draw what `compromis.compare_curves` returned, in the space of either pair of rates."""
        return cls(comparison, **options).plot(ax=ax)

    @cached_property
    def curves(self) -> dict[str, tuple[Floats, Floats]]:
        """Recall weights and values of each curve: of the models' envelopes, breaks included, and of the landmarks."""
        drawn = {}
        for name, curve in self.comparison.curves.items():
            weights = np.union1d(_GRID, curve.breaks)
            drawn[name] = weights, np.asarray(curve.value(weights))
        return drawn | {name: (_GRID, values) for name, values in self._landmark_curves.items()}

    @cached_property
    def _landmark_curves(self) -> dict[str, Floats]:
        """The curves of the landmarks; none where models were tested at different prevalences, or rates are others."""
        space = PrecisionRecallSpace.shared_by(self.points.values())
        if space is None or not self.comparison.pair.has_precision:
            return {}
        known = space.curves(_GRID, self.comparison.metric)
        return {name: known[name] for name in self.landmarks}

    def columns(self) -> dict[str, list[Any]]:
        """Return the curves drawn: curve, kind ("model" or "landmark"), recall weight and value."""
        return stacked(
            {
                "curve": name,
                "kind": "model" if name in self.points else "landmark",
                "recall_weight": weights,
                "value": values,
            }
            for name, (weights, values) in self.curves.items()
        )

    def intervals(self, backend: str | None = None) -> Any:
        """Return the band below the axis as a data frame: one model's intervals with thresholds, or the winners'."""
        return (self._only or self.comparison).to_frame(backend)

    @property
    def _only(self) -> Any:
        """The curve of a single model; None if there are several."""
        curves = list(self.comparison.curves.values())
        return curves[0] if len(curves) == 1 else None

    @cached_property
    def _floor(self) -> float:
        """Where the axis starts: at 0, or below the lowest model if there are no landmarks to show."""
        if self._landmark_curves:
            return 0.0
        lowest = min(float(np.nanmin(self.curves[name][1])) for name in self.points)
        return max(0.0, np.floor(10 * (lowest - 0.02)) / 10)

    def _draw(self, ax: Any) -> None:
        ax = self._begin(ax, (7.6, 4.6))
        self._draw_landmarks(ax)
        if self._only is not None:
            self._draw_family(ax)
        models = []
        for number, name in enumerate(self.points):
            style = line_style(number) | {"marker": ""}
            label = f"{number + 1}: {self._drawn_names[name]}" if self._numbered else self._drawn_names[name]
            models += ax.plot(*self.curves[name], **style, linewidth=2.4, label=label, zorder=4)
        if self.recall_weight is not None:
            models += self._mark_weight(ax)
        self._draw_band(ax)
        self._set_axes(ax)
        tidy(ax)
        ax.grid(visible=False)
        beside(ax, models)

    @property
    def _numbered(self) -> bool:
        """Whether colours are used twice, so that names need numbers."""
        return len(self.points) > len(COLOURS)

    def _mark_weight(self, ax: Any) -> list[Any]:
        """Draw a line at one's own recall weight, and a mark where it meets each model."""
        weight = float(self.recall_weight)  # type: ignore[arg-type]
        line = ax.axvline(
            weight, color="black", linestyle=(0, (2, 1.5)), linewidth=1.1, zorder=4.5,
            label=f"your recall weight, {weight:.3g}",
        )  # fmt: skip
        for number, curve in enumerate(self.comparison.curves.values()):
            style = line_style(number) | {"linestyle": "none"}
            ax.plot(
                [weight],
                [float(curve.value(weight))],
                **style,
                markersize=7,
                markeredgecolor="white",
                zorder=5,
                clip_on=False,
            )
        return [line]

    def _set_axes(self, ax: Any) -> None:
        floor, height = self._floor, 1 - self._floor
        ax.set(xlim=(0, 1), ylim=(floor + (_BAND[0] - 0.02) * height, 1 + 0.03 * height))
        ax.set_yticks(np.linspace(floor, 1, 6))
        ax.axhline(floor, color="0.5", linewidth=0.8, zorder=1)
        ax.spines["left"].set_bounds(floor, 1)
        first, second = self.comparison.pair.first, self.comparison.pair.second
        ax.set_xlabel(f"weight of {second} (0: {first} alone, 1: {second} alone)")
        ax.set_ylabel(f"{self.comparison.metric.name} for {plain(self.pos_label)}")

    @property
    def caption(self) -> str:
        """Who is best where; of one model, where it is better than predicting all as positive."""
        if self._only is None:
            return str(self.comparison.verdict)
        if not self.comparison.pair.has_precision:
            return ""
        words: str = self._only.domain_text()
        return f"{words[:1].upper()}{words[1:]}."

    def _draw_landmarks(self, ax: Any) -> None:
        curves = self._landmark_curves
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
        curve, weights = self._only, _GRID[::4]
        family = curve.family(weights)
        shown = sorted({int(row) for row in np.linspace(0, len(family) - 1, min(len(family), _FAMILY))})
        for number, row in enumerate(shown):
            label = "_nolegend_" if number else "its points"
            ax.plot(weights, family[row], color="0.6", linewidth=0.5, alpha=0.7, zorder=1.5, label=label)
        ends = curve.breaks[1:-1]
        for end, height in zip(ends.tolist(), np.atleast_1d(curve.value(ends)).tolist(), strict=True):
            ax.vlines(end, self._floor, height, color=DARK, linestyle=":", linewidth=0.8, zorder=3)

    def _parts(self) -> list[tuple[float, float, str, int]]:
        """Return the band: from, to, what is best there, and the number of the model whose colour it has; -1 for none."""
        if self._only is not None:
            intervals = self._only.intervals
            names = [f"≥ {part.threshold:.3g}" if part.name is None else plain(part.name, 16) for part in intervals]
            return [(part.low, part.high, name, -1) for part, name in zip(intervals, names, strict=True)]
        order = list(self.points)
        return [
            (part.low, part.high, self._short(part, order), order.index(part.best[0]) if len(part.best) == 1 else -1)
            for part in self.comparison.intervals
        ]

    def _short(self, part: Any, order: list[str]) -> str:
        """Return who is best as it is written in the band: the numbers of models where they have some."""
        if self._numbered:
            return " = ".join(str(order.index(name) + 1) for name in part.best)
        return plain(" = ".join(self._drawn_names[name] for name in part.best))

    def _draw_band(self, ax: Any) -> None:
        """Draw the intervals as a band below the axis; a name is written where it fits."""
        low, high = (self._floor + edge * (1 - self._floor) for edge in _BAND)
        for number, (start, end, name, owner) in enumerate(self._parts()):
            colour = ("0.86", "0.94")[number % 2] if owner < 0 else line_style(owner)["color"]
            ax.broken_barh(
                [(start, end - start)], (low, high - low), facecolor=colour, edgecolor="white", linewidth=0.8, zorder=3
            )
            if len(name) <= (end - start) * _LETTERS:
                ink = "0.15" if owner < 0 or _is_light(colour) else "white"
                ax.text(
                    (start + end) / 2, (low + high) / 2, name, ha="center", va="center_baseline", fontsize=TINY,
                    color=ink, zorder=4,
                )  # fmt: skip
        ax.annotate(
            "best" if self._only is None else "best cut", (0, (low + high) / 2), xytext=(-5, 0),
            textcoords="offset points", ha="right", va="center", fontsize=SMALL, color=QUIET, annotation_clip=False,
        )  # fmt: skip


def _is_light(colour: str) -> bool:
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(colour)
    return bool(0.299 * red + 0.587 * green + 0.114 * blue > 0.55)
