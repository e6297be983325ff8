"""What displays share: axes, marks, legends, the picture in notebooks and files, and ways in for operating points.

matplotlib is imported when something is drawn.
"""

from __future__ import annotations

import base64
import html
import io
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from compromis._files import write_whole
from compromis._results import Framed
from compromis._text import short_names, shortened_middle
from compromis.errors import InputError, MissingExtra
from compromis.evidence.points import OperatingPoints
from compromis.plots._fonts import drawable, set_fonts
from compromis.tradeoffs.comparison import check_named_points

DARK, LIGHT, ALARM = "#1d3f58", "#6c9dbf", "#b23a48"
"""Colours that also differ in grey."""
QUIET, SHADE, HATCH = "0.45", "0.94", "0.78"
COLOURS = (DARK, ALARM, LIGHT, "#c98a1b", "#6000a0", "#a060e0")
"""At least 26 apart (CIE 1976) for people with any of the three colour blindnesses, as a test simulates."""
LINES = ("-", (0, (6, 2)), (0, (6, 2, 1.2, 2)), (0, (1.2, 1.2)), (0, (8, 2, 1.2, 1.5, 1.2, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SMALL, TINY = 8.5, 7.5
LONGEST = 28
"""Names of more characters lose their middle in pictures; frames keep them whole."""
FORMATS = ("svg", "png", "pdf")


def plain_box(alpha: float) -> dict[str, Any]:
    """Return the background of a text that is drawn over lines."""
    return {"facecolor": "white", "edgecolor": "none", "alpha": alpha, "pad": 0.8}


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingExtra("drawing needs matplotlib; install it with: pip install 'compromis[plot]'") from None
    return pyplot


def panels(ax: Any, rows: int, columns: int, size: tuple[float, float], **sharing: Any) -> Any:
    """Return an array of axes: those given, or new ones inside the one given or in a new figure of `size` inches."""
    if ax is None:
        figure = _pyplot().figure(figsize=size, layout="constrained")
        return figure.subplots(rows, columns, squeeze=False, **sharing).reshape(-1)
    given = np.array(ax, dtype=object).reshape(-1)
    if len(given) == rows * columns:
        return given
    if len(given) != 1:
        raise InputError(f"this display has {rows * columns} panels, got {len(given)} axes; give one, or one per panel")
    spec = given[0].get_subplotspec()
    if spec is None:
        raise InputError(f"axes placed by hand cannot be divided; give {rows * columns} axes, or a subplot")
    given[0].set_axis_off()
    return spec.subgridspec(rows, columns).subplots(squeeze=False, **sharing).reshape(-1)


def tidy(ax: Any) -> None:
    """Leave out what carries no information; sentences are the display's caption."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)


def plain(name: object, longest: int = LONGEST) -> str:
    """Return a name as matplotlib shows it unchanged: a dollar is no formula, a leading underscore hides no legend entry."""
    text = " ".join(str(name).split()) or repr(name)
    text = shortened_middle(drawable(shortened_middle(text, longest)), longest).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def plain_names(labels: Sequence[object], longest: int = LONGEST) -> list[str]:
    """Return names as `plain` does, those that become equal with numbers."""
    short = short_names(labels, longest)
    drawn = [drawable(name) for name in short]
    return [plain(name, 2 * longest) for name in (short if drawn == short else short_names(drawn, longest))]


def listed(names: Iterable[object], most: int = 4) -> str:
    """Return names in a list, the first of them and how many more there are."""
    texts = [plain(name).strip() for name in names]
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")


def line_style(number: int) -> dict[str, Any]:
    """Return colour, dashes and marker of a line: their cycles differ in length, so that 210 lines do."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": LINES[number % len(LINES)],
        "marker": MARKERS[number % len(MARKERS)],
    }


def other_style(number: int) -> dict[str, Any]:
    """Return the style of a line beside one in the colour of alarm."""
    return line_style((0, 2, 3, 4, 5)[number % 5])


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
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), box_aspect=1, xlabel=across, ylabel=up)


def stacked(blocks: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the columns of blocks of rows below each other; a single value holds for every row of its block."""
    columns: dict[str, list[Any]] = {}
    for block in blocks:
        values = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in block.items()}
        rows = next(len(value) for value in values.values() if isinstance(value, list))
        for name, value in values.items():
            columns.setdefault(name, []).extend(value if isinstance(value, list) else [value] * rows)
    return columns


class Display(Framed):
    """A picture of computed numbers.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn; ``ax_`` is an array of axes where there are several panels.
    """

    ax_: Any
    figure_: Any

    @property
    def caption(self) -> str:
        """What the picture says, in sentences: to be written below it."""
        return ""

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure, which grows until every text is inside."""
        self._draw(ax)
        set_fonts(self.figure_)  # those that have the letters of its texts
        if self._own:
            fit_texts(self.figure_)
        return self

    def _draw(self, ax: Any) -> None:
        """Draw on the axes that `_begin` returns."""
        raise NotImplementedError

    def _begin(
        self, ax: Any, size: tuple[float, float] = (6.4, 4.4), rows: int = 1, columns: int = 1, **sharing: Any
    ) -> Any:
        """Return the axes to draw on, one or an array of `rows` times `columns`; a new figure has `size` inches."""
        self._own = ax is None
        axes = panels(ax, rows, columns, size, **sharing)
        self.ax_ = axes if len(axes) > 1 else axes[0]
        self.figure_ = axes[0].figure
        return self.ax_

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file that ends in .svg, .png or .pdf; draw it if it is not drawn yet."""
        kind = Path(path).suffix.lower().lstrip(".")
        if kind not in FORMATS:
            raise InputError(f"a picture's name ends in .{', .'.join(FORMATS)}, got {os.fspath(path)!r}")
        pyplot, drawn = _pyplot(), hasattr(self, "figure_")
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
        stream = io.BytesIO()
        with pyplot.rc_context({"svg.hashsalt": "compromis"}):  # the same picture gives the same file
            figure = self.figure_ if drawn else self.plot().figure_
            figure.savefig(stream, format=kind, dpi=150, metadata=metadata)
        if not drawn:
            pyplot.close(figure)
        write_whole(path, stream.getvalue())

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
        image = f'<img alt="{type(self).__name__}" src="data:image/png;base64,{picture}">'
        if not self.caption:
            return image
        return f'<figure style="margin:0">{image}<figcaption>{html.escape(self.caption)}</figcaption></figure>'


def texts_of(figure: Any) -> list[tuple[Any, Any]]:
    """Return every text that is drawn, with its box in pixels."""
    from matplotlib.text import Text

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "constrained_layout not applied")  # the figure grows until it is
        figure.draw_without_rendering()
    renderer, beyond = figure.canvas.get_renderer(), _ticks_beyond(figure)
    shown = [
        text
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in beyond
    ]
    boxes = [(text, text.get_window_extent(renderer)) for text in shown]
    return [(text, box) for text, box in boxes if box.width > 0 and box.height > 0]


def _ticks_beyond(figure: Any) -> set[int]:
    """Return the labels of ticks that are not drawn, because they lie beyond the end of their axis or on none."""
    found = set()
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            slack = 1e-9 * (high - low)
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                if not (ax.axison and low - slack <= tick.get_loc() <= high + slack):
                    found |= {id(tick.label1), id(tick.label2)}
    return found


def fit_texts(figure: Any) -> None:
    """Widen and heighten a figure until every text is inside it, which takes a few tries."""
    for _ in range(4):
        boxes = [box for _, box in texts_of(figure)]
        frame = figure.bbox
        wider = max([0.0, *(box.x1 - frame.x1 for box in boxes), *(frame.x0 - box.x0 for box in boxes)])
        higher = max([0.0, *(box.y1 - frame.y1 for box in boxes), *(frame.y0 - box.y0 for box in boxes)])
        if max(wider, higher) <= 0.5:
            return
        width, height = figure.get_size_inches()
        figure.set_size_inches(width + 1.15 * wider / figure.dpi, height + 1.15 * higher / figure.dpi)


Models = OperatingPoints | Mapping[str, OperatingPoints]
"""The operating points of one model, or of several by name."""
ONE = "model"
"""What a single model without a name is called."""


class PointsDisplay(Display):
    """A picture of operating points by the names of models.

    Attributes
    ----------
    points : dict
        The operating points of each model by name.
    """

    def __init__(self, points: Mapping[str, OperatingPoints]) -> None:
        self.points = self._named(points)

    @classmethod
    def _named(cls, points: Models, name: str | None = None) -> dict[str, OperatingPoints]:
        """Return checked operating points by name."""
        named = {name or ONE: points} if isinstance(points, OperatingPoints) else points
        check_named_points(named, cls.__name__)
        for model, value in named.items():
            if not value.positives:
                raise InputError(f"{model!r} cannot be drawn: {value.reason}")
        return dict(named)

    @cached_property
    def _drawn_names(self) -> dict[str, str]:
        """The names as they are drawn, all different."""
        return dict(zip(self.points, plain_names(list(self.points)), strict=True))

    @property
    def pos_label(self) -> Any:
        """The class that is positive."""
        return next(iter(self.points.values())).pos_label

    @classmethod
    def from_points(cls, points: Models, *, name: str | None = None, ax: Any = None, **options: Any) -> Self:
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
        raise NotImplementedError

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the cuts of a score, or of several scores by name.

        Parameters
        ----------
        y_true, y_score, pos_label, sample_weight
            As for `OperatingPoints.from_predictions`; `y_score` may hold several scores by the names of models.
        name, **options
            As for `from_points`.
        """
        scores = y_score if isinstance(y_score, Mapping) else {name or ONE: y_score}
        points = {
            model: OperatingPoints.from_predictions(y_true, score, pos_label=pos_label, sample_weight=sample_weight)
            for model, score in scores.items()
        }
        return cls.from_points(points, **options)

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
        **options: Any,
    ) -> Self:
        """Draw the cuts of a fitted classifier's scores, or of several classifiers by name.

        Parameters
        ----------
        estimator, X, y, pos_label, sample_weight
            As for `OperatingPoints.from_estimator`, rows that no classifier has seen; `estimator` may hold classifiers by name.
        name, **options
            As for `from_points`; without a name the class of the estimator is taken.
        """
        models = estimator if isinstance(estimator, Mapping) else {name or type(estimator).__name__: estimator}
        points = {
            key: OperatingPoints.from_estimator(model, X, y, pos_label=pos_label, sample_weight=sample_weight)
            for key, model in models.items()
        }
        return cls.from_points(points, **options)
