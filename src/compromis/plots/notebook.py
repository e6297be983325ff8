"""Displays show themselves in notebooks, once."""

from __future__ import annotations

import base64
import io
from typing import Any


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
