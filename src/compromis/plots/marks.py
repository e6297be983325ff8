"""What displays draw with: names as plain text, lines that differ in grey, panels, and legends beside the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from compromis.errors import InputError
from compromis.plots.canvas import ALARM, DARK, LIGHT, new_axes

COLOURS = (DARK, ALARM, LIGHT, "#c98a1b", "#3f7d54", "#7d5a9e")
LINES = ("-", (0, (6, 2)), (0, (6, 2, 1.2, 2)), (0, (1.2, 1.2)), (0, (8, 2, 1.2, 1.5, 1.2, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SHADE, HATCH = "0.94", "0.78"
SMALL = 8.5
LONGEST = 28
"""Names of more letters are cut in pictures; frames keep them whole."""


def plain(name: object, longest: int = LONGEST) -> str:
    """Return a name as matplotlib shows it unchanged: a dollar is no formula, a leading underscore hides no legend entry."""
    text = " ".join(str(name).split()) or repr(name)
    if len(text) > longest:
        text = text[: longest - 1] + "…"
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def line_style(place: int) -> dict[str, Any]:
    """Return colour, dashes and marker of the line at a place: their cycles differ in length, so that 210 lines do."""
    return {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": LINES[place % len(LINES)],
        "marker": MARKERS[place % len(MARKERS)],
    }


def panels(ax: Any, rows: int, columns: int, size: tuple[float, float], **sharing: Any) -> Any:
    """Return an array of axes: those given, or new ones inside the one given or in a new figure.

    Parameters
    ----------
    ax : axes, array of axes or None
        Where to draw.
    rows, columns : int
        The grid.
    size : tuple
        Width and height of a new figure, in inches.
    **sharing
        sharex, sharey.
    """
    if ax is None:
        only = new_axes(None, size)
        figure = only.figure
        only.remove()
        return figure.subplots(rows, columns, squeeze=False, **sharing).reshape(-1)
    given = np.array(ax, dtype=object).reshape(-1)
    if len(given) == rows * columns:
        return given
    if len(given) != 1:
        raise InputError(f"this display has {rows * columns} panels, got {len(given)} axes; give one, or one per panel")
    place = given[0].get_subplotspec()
    if place is None:
        raise InputError(f"axes placed by hand cannot be divided; give {rows * columns} axes, or a subplot")
    given[0].set_axis_off()
    grid = place.subgridspec(rows, columns)
    return grid.subplots(squeeze=False, **sharing).reshape(-1)


def beside(ax: Any, first: Sequence[Any] = (), **options: Any) -> None:
    """Put the legend to the right of the axes where the figure makes room for it, else where it hides least.

    The handles in `first` lead it.
    """
    handles = [*first, *(handle for handle in ax.get_legend_handles_labels()[0] if handle not in first)]
    look: dict[str, Any] = {"fontsize": SMALL, "frameon": False, "handlelength": 2.6}
    if ax.figure.get_layout_engine() is None:
        look |= {"frameon": True, "framealpha": 0.85, "edgecolor": "none", "loc": "best"}
    else:
        look |= {"loc": "upper left", "bbox_to_anchor": (1.03, 1.0), "borderaxespad": 0.0}
    ax.legend(handles=handles, **(look | options))


def above(axes: Any, handles: Sequence[Any]) -> None:
    """Put one legend for all panels above them where the figure makes room for it, else into the first where it hides least."""
    figure, names = axes[0].figure, [handle.get_label() for handle in handles]
    look: dict[str, Any] = {"fontsize": SMALL, "handlelength": 2.6}
    if figure.get_layout_engine() is None or len(figure.axes) > len(axes):
        axes[0].legend(handles, names, loc="best", framealpha=0.85, edgecolor="none", **look)
    else:
        figure.legend(handles, names, loc="outside upper left", ncols=min(len(handles), 5), frameon=False, **look)


def unit_square(ax: Any, across: str, up: str) -> None:
    """Set the axes to shares from 0 to 1, equally long, marks on the edge whole."""
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_box_aspect(1)
    ax.set_xlabel(across)
    ax.set_ylabel(up)


def spread(items: int, wanted: int) -> list[int]:
    """Return at most `wanted` places, evenly spread, the first and the last among them."""
    return sorted({int(place) for place in np.linspace(0, items - 1, min(items, wanted))}) if items else []


def listed(names: Iterable[object], most: int = 4) -> str:
    """Return names in a list, the first of them and how many more there are."""
    texts = [plain(name).strip() for name in names]
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")
