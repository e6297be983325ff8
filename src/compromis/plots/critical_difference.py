"""The critical-difference diagram: models on a line of mean ranks, bars over those that are not told apart."""

from __future__ import annotations

from typing import Any

from compromis.plots._base import ALARM, Display, plain_names
from compromis.uncertainty.data_sets import DataSetComparison


class CriticalDifferenceDisplay(Display):
    """Models on a line of mean ranks (Demsar 2006); a bar joins models that are not told apart.

    Parameters
    ----------
    comparison : DataSetComparison
        What `compromis.uncertainty.compare_over_data_sets` returns.

    Examples
    --------
    >>> import compromis as cp
    >>> losses = {"forest": [0.1, 0.2, 0.3, 0.1, 0.1], "tree": [0.2, 0.3, 0.4, 0.2, 0.1], "naive": [0.5, 0.4, 0.6, 0.5, 0.3]}
    >>> display = cp.plots.CriticalDifferenceDisplay(cp.uncertainty.compare_over_data_sets(losses)).plot()
    >>> display.ax_.figure is display.figure_
    True
    """

    def __init__(self, comparison: DataSetComparison) -> None:
        self.comparison = comparison

    def columns(self) -> dict[str, list[Any]]:
        """Return the mean rank of each model, the best first."""
        return {"model": list(self.comparison.models), "mean_rank": self.comparison.mean_ranks.tolist()}

    def _draw(self, ax: Any) -> None:
        names, ranks = self.comparison.models, self.comparison.mean_ranks.tolist()
        half = (len(names) + 1) // 2
        size = 7, 1.4 + 0.4 * half
        ax = self._begin(ax, size)
        depth = 1.2 + 0.35 * len(self.comparison.groups)
        self._axis(ax)
        for number, (name, rank) in enumerate(zip(plain_names(names), ranks, strict=True)):
            left = number < half
            row = depth + (number if left else len(names) - 1 - number)
            edge = 0.8 if left else len(names) + 0.2
            ax.plot([rank, rank, edge], [0, -row, -row], color="0.25", linewidth=1)
            ax.text(edge, -row, f"{name} ({rank:.2f}) " if left else f" {name} ({rank:.2f})",
                    ha="right" if left else "left", va="center")  # fmt: skip
        self._bars(ax)
        ax.set(xlim=(0.8, len(names) + 0.2), ylim=(-depth - half, 2.2))
        ax.set_axis_off()

    def _axis(self, ax: Any) -> None:
        models, width = len(self.comparison.models), self.comparison.critical_difference
        ax.plot([1, models], [0, 0], color="0.1", linewidth=1.5)
        for rank in range(1, models + 1):
            ax.plot([rank, rank], [0, 0.15], color="0.1", linewidth=1.5)
            ax.text(rank, 0.3, str(rank), ha="center", va="bottom")
        if width <= models - 1:
            ax.plot([1, 1 + width], [1.4, 1.4], color=ALARM, linewidth=2)
        ax.text(1, 1.6, f"critical difference {width:.2f}", ha="left", va="bottom", color=ALARM)

    def _bars(self, ax: Any) -> None:
        rank_of = dict(zip(self.comparison.models, self.comparison.mean_ranks.tolist(), strict=True))
        for row, group in enumerate(self.comparison.groups):
            ends = [rank_of[group[0]] - 0.03, rank_of[group[-1]] + 0.03]
            ax.plot(ends, [-0.45 - 0.35 * row] * 2, color="#2a6f97", linewidth=4, solid_capstyle="round")
