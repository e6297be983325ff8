"""The panel's script and style, as one text each."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

MODULES = (
    "evidence", "preferences", "loss", "verdict", "order", "descent", "tune", "cuts",
    "elements", "curves", "controls", "results", "actions", "panel",
)  # fmt: skip
"""In an order in which each uses only those before it."""
_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_HERE = Path(__file__).parent


@cache
def panel_assets() -> tuple[str, str]:
    """Return the panel's JavaScript, one ES module without imports, and its CSS.

    Examples
    --------
    >>> from compromis.reporting.panel import panel_assets
    >>> script, style = panel_assets()
    >>> "export function mountPanel" in script, "import " in script.split("export")[0]
    (True, False)
    """
    parts = [(_HERE / "js" / f"{name}.js").read_text("utf-8") for name in MODULES]
    return "\n".join(_IMPORT.sub("", part) for part in parts), (_HERE / "panel.css").read_text("utf-8")
