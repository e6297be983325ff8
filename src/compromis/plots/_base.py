"""Where displays draw: matplotlib, imported when it is needed."""

from __future__ import annotations

import base64
import io
import os
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from compromis._files import write_whole
from compromis.errors import InputError, MissingExtra
from compromis.evidence.points import OperatingPoints
from compromis.tradeoffs.comparison import check_algorithms

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


class ShownInNotebooks:
    """A mixin for displays: what was drawn is the HTML of the display, and the notebook does not draw it a second time."""

    figure_: Any

    def _repr_html_(self) -> str | None:
        """Return the picture drawn; None before anything is drawn, and where figures have windows of their own."""
        if getattr(self, "figure_", None) is None:
            return None
        import matplotlib
        from matplotlib import pyplot

        backend = matplotlib.get_backend().lower()
        if "inline" not in backend and backend != "agg":
            return None
        stream = io.BytesIO()
        self.figure_.savefig(stream, format="png", dpi=110)
        if "inline" in backend:
            pyplot.close(self.figure_)  # the inline backend shows every open figure when the cell ends
        picture = base64.b64encode(stream.getvalue()).decode("ascii")
        return f'<img alt="{type(self).__name__}" src="data:image/png;base64,{picture}">'


FORMATS = ("svg", "png", "pdf")


def write_picture(path: str | os.PathLike[str], draw: Callable[[], Any]) -> None:
    """Write the display that `draw` returns to a file; its ending says the format.

    Parameters
    ----------
    path : path
        Ends in .svg, .png or .pdf; checked before anything is drawn.
    draw : callable
        Makes a display, such as ``lambda: TradeoffDisplay.from_points(points)``.
    """
    kind = Path(path).suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise InputError(f"a picture's name ends in .{', .'.join(FORMATS)}, got {os.fspath(path)!r}")
    try:
        import matplotlib
        from matplotlib import pyplot
    except ImportError:
        raise MissingExtra("drawing needs matplotlib; install it with: pip install 'compromis[plot]'") from None
    with matplotlib.rc_context({"svg.hashsalt": "compromis"}):  # the same picture gives the same file
        figure = draw().figure_
        stream = io.BytesIO()
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
        figure.savefig(stream, format=kind, dpi=150, metadata=metadata)
    pyplot.close(figure)
    write_whole(path, stream.getvalue())


ONE = "model"
"""What a single model without a name is called."""


class PointsDisplay(ShownInNotebooks):
    """What displays of operating points share: their doors.

    Parameters
    ----------
    points : mapping
        The operating points of each model by name.
    """

    ax_: Any
    figure_: Any

    def __init__(self, points: Mapping[str, OperatingPoints]) -> None:
        check_algorithms(points, type(self).__name__)
        self.points = dict(points)
        for name, one in self.points.items():
            if not one.positives:
                raise InputError(f"{name!r} cannot be drawn: {one.reason}")

    @property
    def pos_label(self) -> Any:
        """The class that is positive."""
        return next(iter(self.points.values())).pos_label

    @classmethod
    def from_points(
        cls,
        points: OperatingPoints | Mapping[str, OperatingPoints],
        *,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw operating points of one model, or of several by name.

        Parameters
        ----------
        points : OperatingPoints or mapping
            Cuts of a score, or found groups.
        name : str, optional
            What a single model is called.
        ax : matplotlib axes, optional
            Where to draw.
        **options
            Further parameters of the display.
        """
        named = {name or ONE: points} if isinstance(points, OperatingPoints) else points
        return cls(named, **options).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the cuts of a score, or of several scores by name.

        Parameters
        ----------
        y_true : labels
            The true classes.
        y_score : array-like or mapping
            One number per row, higher for the positive class; or such columns by the names of models.
        pos_label, sample_weight
            As for `OperatingPoints.from_predictions`.
        name, ax, **options
            As for `from_points`.
        """
        scores = y_score if isinstance(y_score, Mapping) else {name or ONE: y_score}
        points = {
            model: OperatingPoints.from_predictions(y_true, score, pos_label=pos_label, sample_weight=sample_weight)
            for model, score in scores.items()
        }
        return cls.from_points(points, ax=ax, **options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the cuts of a fitted classifier's scores, or of several classifiers by name.

        Parameters
        ----------
        estimator : classifier or mapping
            As for `OperatingPoints.from_estimator`; or fitted classifiers by name.
        X, y : rows and their true classes
            Rows that no classifier has seen.
        pos_label, sample_weight
            As for `OperatingPoints.from_estimator`.
        name, ax, **options
            As for `from_points`; without a name the class of the estimator is taken.
        """
        models = estimator if isinstance(estimator, Mapping) else {name or type(estimator).__name__: estimator}
        points = {
            model: OperatingPoints.from_estimator(one, X, y, pos_label=pos_label, sample_weight=sample_weight)
            for model, one in models.items()
        }
        return cls.from_points(points, ax=ax, **options)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        raise NotImplementedError
