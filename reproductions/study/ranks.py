"""The picture of the study: mean ranks under each metric."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt

import compromis as cp
from reproductions.study.tables import METRICS, WAYS, losses, results


def picture(folder: Path) -> Any:
    """A critical-difference diagram for each metric."""
    matplotlib.use("Agg")
    figure, axes = plt.subplots(len(METRICS), 1, figsize=(9, 11), layout="constrained")
    found = results(folder)
    for ax, metric in zip(axes, METRICS, strict=True):
        cp.plots.CriticalDifferenceDisplay(cp.uncertainty.compare_over_data_sets(losses(found, metric, WAYS))).plot(
            ax=ax
        )
        ax.set_title(metric.replace("_", "-"), loc="left")
    return figure
