"""Recall and precision of every class, before and after."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from compromis._text import shown
from compromis._typing import Floats
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.measures.rates import precision, recall
from compromis.plots._base import ALARM, DARK, LIGHT, SHADE, TINY, Display, above, plain_names, tidy
from compromis.preferences import Preferences, read_preferences

RATES = {"recall": recall, "precision": precision}
_ROW, _LEAST, _MOST = 0.25, 2.4, 60.0
"""Inches per class, and the least and greatest height of a picture."""


class ClassBalanceDisplay(Display):
    """Recall and precision of every class, before and after tuning (figure 3 of the PRAGMA paper).

    One panel for each rate and one line for each class; hollow marks are before, full marks after; a gain is a full line, a
    loss a dashed one. Classes that matter most come first, on a shaded ground, if preferences say which.

    Parameters
    ----------
    before : Counts
        The decisions, or those before.
    after : Counts, optional
        The decisions after; for the same classes.
    preferences : Preferences, optional
        What matters.

    Attributes
    ----------
    classes : tuple
        The classes from top to bottom.

    Examples
    --------
    >>> import compromis as cp
    >>> before = cp.Counts.from_matrix([[5, 5], [1, 89]], ["sick", "well"])
    >>> after = cp.Counts.from_matrix([[9, 1], [12, 78]], ["sick", "well"])
    >>> display = cp.plots.ClassBalanceDisplay.from_counts(before, after, preferences=cp.Preferences.prioritise(["sick"]))
    >>> display.classes
    ('sick', 'well')
    """

    def __init__(self, before: Counts, after: Counts | None = None, *, preferences: Preferences | None = None) -> None:
        for counts in (before,) if after is None else (before, after):
            if not isinstance(counts, Counts):
                raise InputError(f"ClassBalanceDisplay takes compromis.Counts, got {type(counts).__name__}")
        if after is not None and set(after.classes) != set(before.classes):
            raise InputError(
                f"before has the classes {shown(before.classes)}, after {shown(after.classes)}; "
                f"pass the same labels= to both"
            )
        self.before, self.after, self.preferences = before, after, read_preferences(preferences)
        arrays = (self.preferences or Preferences()).on(before.classes, strict=False)
        self._matters = dict(zip(before.classes, arrays.priority.tolist(), strict=True))
        self.classes = tuple(sorted(before.classes, key=lambda label: not self._matters[label]))

    @classmethod
    def from_counts(cls, before: Counts, after: Counts | None = None, *, ax: Any = None, **options: Any) -> Self:
        """Draw counts, or two of them: before and after; `ax` one of matplotlib's axes, or two."""
        return cls(before, after, **options).plot(ax=ax)

    def columns(self) -> dict[str, list[Any]]:
        """Return the rates, a row per class from top to bottom; NaN where undefined."""
        columns: dict[str, list[Any]] = {"class": [str(label) for label in self.classes]}
        if self.preferences is not None:
            columns["matters"] = [self._matters[label] for label in self.classes]
        for rate in RATES:
            if self.after is None:
                columns[rate] = self._rates(rate, self.before).tolist()
            else:
                columns[f"{rate}_before"] = self._rates(rate, self.before).tolist()
                columns[f"{rate}_after"] = self._rates(rate, self.after).tolist()
        return columns

    def _draw(self, ax: Any) -> None:
        size = 7.6, min(max(_ROW * len(self.classes) + 1.3, _LEAST), _MOST)
        ax = self._begin(ax, size, 1, 2, sharey=True)
        for panel, rate in zip(ax, RATES, strict=True):
            self._draw_rate(panel, rate)
            panel.set(xlabel=rate, xlim=(-0.02, 1.02), ylim=(len(self.classes) - 0.4, -0.6))
            tidy(panel)
            panel.grid(axis="x", color="0.9", linewidth=0.8)
            panel.tick_params(axis="y", length=0)
        ax[0].set_yticks(range(len(self.classes)), plain_names(self.classes))
        for text, label in zip(ax[0].get_yticklabels(), self.classes, strict=True):
            text.set_fontweight("bold" if self._matters[label] else "normal")
        ax[1].tick_params(axis="y", labelleft=False)
        self._legend(ax)

    def _rates(self, rate: str, counts: Counts) -> Floats:
        values = dict(zip(counts.classes, RATES[rate](counts), strict=True))
        return np.array([values[label] for label in self.classes])

    def _draw_rate(self, ax: Any, rate: str) -> None:
        rows = np.arange(len(self.classes))
        important = sum(self._matters.values())
        if important:
            ax.axhspan(-0.6, important - 0.5, color=SHADE, linewidth=0, zorder=0)
        before = self._rates(rate, self.before)
        look = {"markersize": 6.5, "linestyle": "none", "clip_on": False, "zorder": 3}
        if self.after is None:
            ax.plot(before, rows, "o", color=DARK, **look)
            ax.hlines(rows, 0, before, color=LIGHT, linewidth=1.4, zorder=2)
        else:
            after = self._rates(rate, self.after)
            same = before == after
            for chosen, colour, dashes in ((after > before, DARK, "-"), (after < before, ALARM, (0, (3, 1.5)))):
                ax.hlines(
                    rows[chosen], before[chosen], after[chosen], color=colour, linestyle=dashes, linewidth=1.6, zorder=2
                )
            unknown = np.isnan(before) & ~np.isnan(after)
            marked = ((after > before, DARK), (after < before, ALARM), (same, "0.65"), (unknown, DARK))
            for some, colour in marked:
                if some.any():  # a line without points would take room at the corner of the figure
                    ax.plot(after[some], rows[some], "o", color=colour, **look)
            if not same.all():
                ax.plot(before[~same], rows[~same], "o", markerfacecolor="white", markeredgecolor="0.35", **look)
            before = np.where(np.isnan(after), np.nan, before)
        shown = before if self.after is None else after
        for row in rows[np.isnan(before)]:
            gone = np.isnan(shown[row])
            text, left = ("undefined", 0.01) if gone else ("before: undefined", 0.01 if shown[row] > 0.5 else 0.55)
            ax.text(left, row, text, fontsize=TINY, color="0.4", va="center")

    def _legend(self, axes: Any) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        handles: list[Any] = []
        if self.after is not None:
            mark: dict[str, Any] = {"marker": "o", "markersize": 6.5}
            hollow: dict[str, Any] = {"markerfacecolor": "white", "markeredgecolor": "0.35"}
            handles = [
                Line2D([], [], linestyle="none", label="before", **hollow, **mark),
                Line2D([], [], linestyle="-", color=DARK, label="after: gain", **mark),
                Line2D([], [], linestyle=(0, (3, 1.5)), color=ALARM, label="after: loss", **mark),
                Line2D([], [], linestyle="none", color="0.65", label="same", **mark),
            ]
        if any(self._matters.values()):
            handles.append(Patch(facecolor=SHADE, edgecolor="0.7", label="matters most"))
        if handles:
            above(axes, handles)
