"""What one class's weight does, drawn: recall, precision, errors and loss against the ratio R."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from compromis.errors import InputError
from compromis.plots._base import ALARM, DARK, QUIET, Display, above, other_style, plain_names, tidy
from compromis.weights.sweep_curve import WeightSweep, weight_sweep

_FEW = 40
"""Up to so many ratios are marked one by one."""
_REACH = 1e3
"""Ratios beyond so many times 1 and the best one are left out of the picture; the frame has them."""
_SHORT = 2.5
"""Decades of ratios up to which the axis has marks at 2 and 5 too."""
_NAMED = 5
"""Up to so many classes have a name in the legend; of more, only the one whose weight grows."""


class WeightSweepDisplay(Display):
    """Recall, precision, errors and loss as the weight of one class grows against the others (figure 4 of the PRAGMA paper).

    Parameters
    ----------
    sweep : WeightSweep
        The numbers, from `compromis.weights.sweep_curve.weight_sweep`.

    Examples
    --------
    >>> import compromis as cp
    >>> votes = cp.Votes.from_proba(["sound", "sound", "faulty"], [[9, 1], [6, 4], [2, 8]], labels=["sound", "faulty"])
    >>> display = cp.plots.WeightSweepDisplay.from_proba(votes, label="faulty")
    >>> [panel.get_ylabel() for panel in display.ax_]
    ['recall', 'precision', 'errors (rows)', 'PRAGMA loss']
    """

    def __init__(self, sweep: WeightSweep) -> None:
        if not isinstance(sweep, WeightSweep):
            raise InputError(f"sweep comes from weight_sweep, got {type(sweep).__name__}")
        self.sweep = sweep

    @classmethod
    def from_sweep(cls, sweep: WeightSweep, *, ax: Any = None) -> Self:
        """Draw a sweep; `ax` one of matplotlib's axes, or four."""
        return cls(sweep).plot(ax=ax)

    @classmethod
    def from_proba(cls, y_true: Any, y_proba: Any = None, *, label: Any, ax: Any = None, **options: Any) -> Self:
        """Sweep the weight of `label` over votes and draw it; see `weight_sweep` for the options."""
        return cls(weight_sweep(y_true, y_proba, label=label, **options)).plot(ax=ax)

    def columns(self) -> dict[str, list[Any]]:
        """Return the sweep, a row per ratio: errors, loss, and recall and precision of every class."""
        sweep = self.sweep
        columns = {name: getattr(sweep, name).tolist() for name in ("ratio", "errors", "loss")}
        for rate in ("recall", "precision"):
            values = getattr(sweep, rate)
            columns |= {f"{rate} {label}": values[:, k].tolist() for k, label in enumerate(sweep.classes)}
        return columns

    def _draw(self, ax: Any) -> None:
        ax = self._begin(ax, (8.4, 5.6), 2, 2, sharex=True)
        sweep = self.sweep
        self._draw_classes(ax[0], sweep.recall)
        self._draw_classes(ax[1], sweep.precision)
        for panel, values in ((ax[2], sweep.errors), (ax[3], sweep.loss)):
            panel.plot(sweep.ratio, values, color=DARK, linewidth=1.8, marker=self._marker, markersize=3.5)
            panel.set_ylim(bottom=0)
            panel.margins(y=0.1)
        for panel, name in zip(ax, ("recall", "precision", "errors (rows)", "PRAGMA loss"), strict=True):
            panel.set_ylabel(name)
            self._mark_ratios(panel)
            tidy(panel)
        own = plain_names(sweep.classes)[sweep.classes.index(sweep.label)]
        for panel in ax[2:]:
            panel.set_xlabel(f"R: weight of {own} / weight of the others")
        handles, names = ax[0].get_legend_handles_labels()
        own_first = sorted(range(len(names)), key=lambda index: names[index] != own)
        above(ax, [handles[index] for index in own_first])

    @property
    def _marker(self) -> str:
        return "" if len(self.sweep.ratio) > _FEW else "o"

    def _draw_classes(self, ax: Any, values: Any) -> None:
        sweep = self.sweep
        many = len(sweep.classes) > _NAMED
        short = plain_names(sweep.classes)
        others = [k for k, label in enumerate(sweep.classes) if label != sweep.label]
        for number, k in enumerate(others):
            style = {"color": "0.65", "linestyle": "-", "linewidth": 0.8} if many else other_style(number)
            name = short[k]
            if many:
                name = "_nolegend_" if number else f"the {len(others)} other classes"
            look = {"linewidth": 1.5} | style | {"marker": "" if many else self._marker}
            ax.plot(sweep.ratio, values[:, k], **look, markersize=3.5, label=name)
        own = sweep.classes.index(sweep.label)
        ax.plot(
            sweep.ratio, values[:, own], color=ALARM, linewidth=2.4, marker=self._marker, markersize=4, zorder=4,
            label=short[own],
        )  # fmt: skip
        ax.set_ylim(-0.03, 1.03)

    def _mark_ratios(self, ax: Any) -> None:
        ax.set_xscale("log")
        ax.axvline(1, color=QUIET, linestyle=":", linewidth=1.2, label="R = 1: equal weights", zorder=1)
        best = self.sweep.best
        ax.axvline(
            best, color="black", linestyle=(0, (6, 3)), linewidth=1, label=f"R = {best:.3g}: least loss", zorder=1
        )
        low = max(float(self.sweep.ratio.min()), min(1.0, best) / _REACH)
        high = min(float(self.sweep.ratio.max()), max(1.0, best) * _REACH)
        low, high = min(low, 1.0), max(high, 1.0)
        ax.set_xlim(low / 1.1, high * 1.1)
        if np.log10(high / low) < _SHORT:
            from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

            ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            ax.xaxis.set_minor_formatter(NullFormatter())
