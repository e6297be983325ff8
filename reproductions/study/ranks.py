"""The picture of the study: mean ranks under each index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt

import compromis as cp
from reproductions.study.tables import INDICES, WAYS, losses, results


def picture(folder: Path) -> Any:
    """A critical-difference diagram for each index."""
    matplotlib.use("Agg")
    figure, axes = plt.subplots(len(INDICES), 1, figsize=(9, 11), layout="constrained")
    found = results(folder)
    for ax, index in zip(axes, INDICES, strict=True):
        cp.CriticalDifferenceDisplay(cp.compare_over_data_sets(losses(found, index, WAYS))).plot(ax=ax)
        ax.set_title(index.replace("_", "-"), loc="left")
    return figure
