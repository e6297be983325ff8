"""What a person wants of each class, drawn: level lines of the loss over recall and precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from compromis._arrays import make_frame
from compromis._typing import Label
from compromis.errors import InputError
from compromis.metrics import Metric
from compromis.plots._base import ALARM, DARK, HATCH, QUIET, SMALL, ShownInNotebooks, listed, panels, tidy, unit_square
from compromis.preferences import Preference, Preferences
from compromis.tradeoffs.space import isoline

LEVELS = tuple(round(0.1 * step, 1) for step in range(1, 10))
OTHERS = "every other class"
_SHADES = 81
_ALONG = 1001
"""Points along a line, close enough for the steep ends of curved ones."""
_WIDEST = 4
"""Panels beside each other."""


class PreferenceDisplay(ShownInNotebooks):
    """The surface of the loss over recall and precision for each class, and the two answers that are worth the same.

    Classes of one preference share a panel. Figure 1 of the PRAGMA paper.

    Parameters
    ----------
    preferences : Preferences
        What is wanted.
    labels : sequence, optional
        The classes to draw; without it those with preferences of their own, and one panel for all others.
    levels : sequence of float
        The losses whose lines are drawn.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn; an array of axes if there are several panels.

    Examples
    --------
    >>> import compromis as cp
    >>> display = cp.plots.PreferenceDisplay.from_preferences(cp.Preferences.prioritise(["sick"], metric="f"))
    >>> len(display.ax_)  # the priority class, and all others
    2
    """

    def __init__(
        self, preferences: Preferences, *, labels: Sequence[Any] | None = None, levels: Sequence[float] = LEVELS
    ) -> None:
        if not isinstance(preferences, Preferences):
            raise InputError(f"preferences is a compromis.Preferences, got {type(preferences).__name__}")
        if labels is not None and len(labels) == 0:
            raise InputError("labels is empty; name at least one class, or leave it out")
        self.preferences = preferences
        self.levels = tuple(levels)
        self.groups = _grouped(preferences, labels)

    @classmethod
    def from_preferences(
        cls,
        preferences: Preferences,
        *,
        labels: Sequence[Any] | None = None,
        levels: Sequence[float] = LEVELS,
        ax: Any = None,
    ) -> PreferenceDisplay:
        """Draw preferences; `labels` and `levels` as for the class, `ax` one of matplotlib's axes or one per panel."""
        return cls(preferences, labels=labels, levels=levels).plot(ax=ax)

    def frame(self, backend: str | None = None) -> Any:
        """Return the lines as a data frame: classes, the loss of the line, whether it joins the two answers, and its points."""
        columns: dict[str, list[Any]] = {"class": [], "loss": [], "answers": [], "recall": [], "precision": []}
        for preference, labels in self.groups.items():
            for loss, joins in self._lines(preference):
                recall, precision = self._line(preference, loss)
                columns["class"] += [", ".join(str(label) for label in labels)] * len(recall)
                columns["loss"] += [loss] * len(recall)
                columns["answers"] += [joins] * len(recall)
                columns["recall"] += recall.tolist()
                columns["precision"] += precision.tolist()
        return make_frame(columns, backend)

    def plot(self, ax: Any = None) -> PreferenceDisplay:
        """Draw one panel per preference, on `ax` or on a new figure."""
        across = min(len(self.groups), _WIDEST)
        down = -(-len(self.groups) // across)
        axes = panels(ax, down, across, (3.8 * across + 0.4, 4.3 * down))
        self.ax_, self.figure_ = (axes if len(self.groups) > 1 else axes[0]), axes[0].figure
        for panel, (preference, labels) in zip(axes, self.groups.items(), strict=False):
            self._draw(panel, preference, labels)
        for panel in axes[len(self.groups) :]:
            panel.set_axis_off()
        return self

    def _lines(self, preference: Preference) -> list[tuple[float, bool]]:
        """The losses of the lines to draw, and whether each joins the two answers."""
        lines = [(level, False) for level in self.levels]
        if preference.answers is None:
            return lines
        weight = preference.recall_weight_for(self._metric)
        return [*lines, (1.0 - float(self._metric.value(preference.answers[0], 1.0, weight)), True)]

    def _line(self, preference: Preference, loss: float) -> tuple[Any, Any]:
        return isoline(1.0 - loss, preference.recall_weight_for(self._metric), self._metric, size=_ALONG)

    @property
    def _metric(self) -> Metric:
        return self.preferences.metric

    def _draw(self, ax: Any, preference: Preference, labels: Sequence[Label]) -> None:
        grid = np.linspace(0, 1, _SHADES)
        surface = 1 - self._metric.value(grid[:, None], grid[None, :], preference.recall_weight_for(self._metric))
        ax.imshow(surface, origin="lower", extent=(0, 1, 0, 1), cmap="Greys", vmin=0, vmax=2.6, aspect="auto", zorder=0)
        for loss, joins in self._lines(preference):
            recall, precision = self._line(preference, loss)
            if joins:
                ax.plot(recall, precision, color=ALARM, linewidth=2.2, linestyle="--")
                continue
            ax.plot(recall, precision, color=DARK, linewidth=1)
            _name_line(ax, recall, precision, loss)
        _mark_answers(ax, preference)
        _hatch_minima(ax, preference)
        unit_square(ax, "recall", "precision")
        tidy(ax)
        ax.grid(visible=False)
        ax.set_title(self._title(preference, labels), loc="left", fontsize=SMALL, color="0.2")

    def _title(self, preference: Preference, labels: Sequence[Label]) -> str:
        weight = preference.recall_weight_for(self._metric)
        lines = [
            listed(labels, 5),
            f"importance {preference.importance:g}, recall weight {weight:.2g} ({self._metric.name})",
        ]
        if preference.answers is not None:
            precision, recall = preference.answers
            lines.append(f"equal: precision {precision:.3g} at recall 1, recall {recall:.3g} at precision 1")
        return "\n".join(lines)


def _grouped(preferences: Preferences, labels: Sequence[Any] | None) -> dict[Preference, list[Label]]:
    """Classes by preferences, in the order given."""
    groups: dict[Preference, list[Label]] = {}
    if labels is not None:
        for label in preferences.on(labels, strict=False).classes:
            groups.setdefault(preferences.of(label), []).append(label)
        return groups
    for label, preference in preferences.by_class.items():
        groups.setdefault(preference, []).append(label)
    rest = OTHERS if groups else "every class"
    groups.setdefault(preferences.default, []).append(rest)
    return groups


def _name_line(ax: Any, recall: Any, precision: Any, loss: float) -> None:
    if len(recall) == 0:
        return
    middle = int(np.argmin(np.abs(recall - precision)))
    ax.text(
        recall[middle],
        precision[middle],
        f"{loss:g}",
        fontsize=7.5,
        color=DARK,
        ha="center",
        va="center",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.8},
    )


def _mark_answers(ax: Any, preference: Preference) -> None:
    if preference.answers is None:
        return
    for recall, precision in ((1.0, preference.answers[0]), (preference.answers[1], 1.0)):
        ax.plot(recall, precision, "o", color=ALARM, markeredgecolor="white", markersize=10, clip_on=False, zorder=5)


def _hatch_minima(ax: Any, preference: Preference) -> None:
    for span, minimum, name in (
        (ax.axhspan, preference.min_precision, "precision"),
        (ax.axvspan, preference.min_recall, "recall"),
    ):
        if minimum:
            span(-0.02, minimum, facecolor="none", edgecolor=HATCH, hatch="///", linewidth=0)
            place = {"x": 0.5, "y": minimum / 2} if name == "precision" else {"x": minimum / 2, "y": 0.5}
            ax.text(
                place["x"], place["y"], f"{name} below {minimum:g}: refused", fontsize=7.5, color=QUIET, ha="center",
                va="center", rotation=0 if name == "precision" else 90,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.8},
            )  # fmt: skip
