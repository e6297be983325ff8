"""Displays written to files, whole or not at all."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from compromis.errors import InputError, MissingExtra
from compromis.files import write_whole

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
