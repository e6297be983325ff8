"""What a person wants of each class, drawn: level lines of the loss over recall and precision."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from compromis._typing import Floats, Label
from compromis.errors import InputError
from compromis.plots._base import (
    ALARM,
    DARK,
    HATCH,
    QUIET,
    SMALL,
    TINY,
    Display,
    listed,
    plain_box,
    stacked,
    tidy,
    unit_square,
)
from compromis.preferences import Preference, Preferences, read_preferences
from compromis.tradeoffs.space import isoline

LEVELS = tuple(round(0.1 * step, 1) for step in range(1, 10))
OTHERS = "every other class"
_SHADES = 81
_ALONG = 1001
"""Points along a line, close enough for the steep ends of curved ones."""
_WIDEST = 4
"""Panels beside each other."""
_REFUSED: dict[str, Any] = {"facecolor": "none", "edgecolor": HATCH, "hatch": "///", "linewidth": 0}

Line = tuple[float, bool, tuple[Floats, Floats]]
"""The loss of a line, whether it joins the two answers, and recall and precision along it."""


class PreferenceDisplay(Display):
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
        if labels is not None and len(labels) == 0:
            raise InputError("labels is empty; name at least one class, or leave it out")
        self.preferences = read_preferences(preferences) or Preferences()
        self.levels = tuple(levels)
        self.groups = _grouped(self.preferences, labels)

    @classmethod
    def from_preferences(cls, preferences: Preferences, *, ax: Any = None, **options: Any) -> Self:
        """Draw preferences; options are those of the class, `ax` one of matplotlib's axes or one per panel."""
        return cls(preferences, **options).plot(ax=ax)

    def columns(self) -> dict[str, list[Any]]:
        """Return the lines: classes, the loss of the line, whether it joins the two answers, and its points."""
        return stacked(
            {
                "class": ", ".join(str(label) for label in labels),
                "loss": loss,
                "answers": joins,
                "recall": recall,
                "precision": precision,
            }
            for preference, labels in self.groups.items()
            for loss, joins, (recall, precision) in self._lines[preference]
        )

    def _draw(self, ax: Any) -> None:
        across = min(len(self.groups), _WIDEST)
        down = -(-len(self.groups) // across)
        size = 3.8 * across + 0.4, 4.3 * down
        axes = np.ravel(self._begin(ax, size, down, across))
        for panel in axes[len(self.groups) :]:
            panel.set_axis_off()
        for panel, (preference, labels) in zip(axes, self.groups.items(), strict=False):
            self._draw_group(panel, preference, labels)

    @cached_property
    def _lines(self) -> dict[Preference, list[Line]]:
        """The lines of each group: those of the levels, and the one that joins the two answers."""
        metric, lines = self.preferences.metric, {}
        for preference in self.groups:
            weight = preference.recall_weight_for(metric)
            losses = [(level, False) for level in self.levels]
            if preference.answers is not None:
                value = float(metric.value(preference.answers[0], 1.0, weight))
                losses.append((1.0 - value, True))
            lines[preference] = [
                (loss, joins, isoline(1.0 - loss, weight, metric, size=_ALONG)) for loss, joins in losses
            ]
        return lines

    def _draw_group(self, ax: Any, preference: Preference, labels: Sequence[Label]) -> None:
        metric, grid = self.preferences.metric, np.linspace(0, 1, _SHADES)
        surface = 1 - metric.value(grid[:, None], grid[None, :], preference.recall_weight_for(metric))
        ax.imshow(surface, origin="lower", extent=(0, 1, 0, 1), cmap="Greys", vmin=0, vmax=2.6, aspect="auto", zorder=0)
        for loss, joins, (recall, precision) in self._lines[preference]:
            if joins:
                ax.plot(recall, precision, color=ALARM, linewidth=2.2, linestyle="--")
                continue
            ax.plot(recall, precision, color=DARK, linewidth=1)
            if len(recall):
                middle = int(np.argmin(np.abs(recall - precision)))
                _name(ax, recall[middle], precision[middle], f"{loss:g}", color=DARK, bbox=plain_box(0.85))
        _mark_answers(ax, preference)
        _hatch_constraints(ax, preference)
        unit_square(ax, "recall", "precision")
        tidy(ax)
        ax.grid(visible=False)
        ax.set_title(self._title(preference, labels), loc="left", fontsize=SMALL, color="0.2")

    def _title(self, preference: Preference, labels: Sequence[Label]) -> str:
        metric = self.preferences.metric
        weight = preference.recall_weight_for(metric)
        lines = [
            listed(labels, 5),
            f"importance {preference.importance:g}, recall weight {metric.weight_text(weight)}, metric {metric.name}",
        ]
        if preference.answers is not None:
            precision, recall = preference.answers
            lines.append(f"equal: precision {precision:.3g} at recall 1, recall {recall:.3g} at precision 1")
        return "\n".join(lines)


def _grouped(preferences: Preferences, labels: Sequence[Any] | None) -> dict[Preference, list[Label]]:
    """Classes by preferences, in the order given."""
    groups: dict[Preference, list[Label]] = {}
    for label in preferences.by_class if labels is None else preferences.on(labels, strict=False).classes:
        groups.setdefault(preferences.of(label), []).append(label)
    if labels is None:
        rest = OTHERS if groups else "every class"
        groups.setdefault(preferences.default, []).append(rest)
    return groups


def _name(ax: Any, x: float, y: float, text: str, **look: Any) -> None:
    ax.text(x, y, text, fontsize=TINY, ha="center", va="center", **look)


def _mark_answers(ax: Any, preference: Preference) -> None:
    if preference.answers is None:
        return
    for recall, precision in ((1.0, preference.answers[0]), (preference.answers[1], 1.0)):
        ax.plot(recall, precision, "o", color=ALARM, markeredgecolor="white", markersize=10, clip_on=False, zorder=5)


def _hatch_constraints(ax: Any, preference: Preference) -> None:
    if preference.min_precision:
        least = preference.min_precision
        ax.axhspan(-0.02, least, **_REFUSED)
        _name(ax, 0.5, least / 2, f"precision below {least:g}: refused", color=QUIET, bbox=plain_box(0.8))
    if preference.min_recall:
        least = preference.min_recall
        ax.axvspan(-0.02, least, **_REFUSED)
        _name(ax, least / 2, 0.5, f"recall below {least:g}: refused", color=QUIET, bbox=plain_box(0.8), rotation=90)
