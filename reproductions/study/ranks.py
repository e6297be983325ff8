"""The picture of the study: mean ranks under each metric, of the families that confirm only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
import matplotlib.pyplot as plt

import compromis as cp
from reproductions.study.tables import METRICS, Way, by_family, plain_name


def picture(role: str, ways: Sequence[Way]) -> Any:
    """A critical-difference diagram for each metric."""
    matplotlib.use("Agg")
    figure, axes = plt.subplots(len(METRICS), 1, figsize=(9, 6), layout="constrained")
    for ax, (name, metric) in zip(axes, METRICS.items(), strict=True):
        columns = by_family(role, ways, metric).T
        losses = {plain_name(way): column.tolist() for way, column in zip(ways, columns, strict=True)}
        cp.plots.CriticalDifferenceDisplay(cp.uncertainty.compare_over_data_sets(losses)).plot(ax=ax)
        ax.set_title(name, loc="left")
    return figure
