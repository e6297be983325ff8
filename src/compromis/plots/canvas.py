"""Where displays draw: matplotlib, imported when it is needed."""

from __future__ import annotations

import textwrap
from typing import Any

from compromis.errors import MissingExtra

DARK, LIGHT, ALARM = "#1d3f58", "#6c9dbf", "#b23a48"
"""Colours that also differ in grey."""
QUIET = "0.45"
TITLE_SIZE = 9.5


def new_axes(ax: Any, size: tuple[float, float] = (6.4, 4.4)) -> Any:
    """Return `ax`, or the axes of a new figure; say which extra is missing without matplotlib."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingExtra("drawing needs matplotlib; install it with: pip install 'compromis[plot]'") from None
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def tidy(ax: Any, title: str = "") -> None:
    """Leave out what carries no information, and set a title in sentences, as wide as the axes."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)
    if title:
        inches = ax.get_position().width * ax.figure.get_figwidth()
        letters = max(20, int(inches * 72 / (0.56 * TITLE_SIZE)))
        ax.set_title(textwrap.fill(title, letters), loc="left", fontsize=TITLE_SIZE, color="0.2")
