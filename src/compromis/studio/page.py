"""The page and its scripts; nothing from the network, nothing inline without the nonce."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from compromis.reporting.panel import panel_assets

_HERE = Path(__file__).parent / "static"
KINDS = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}


async def page(request: Request) -> Response:
    """Return the page; its scripts are named with the nonce of this answer."""
    return HTMLResponse(_template().replace("{{nonce}}", request.scope["compromis.nonce"]))


async def static(request: Request) -> Response:
    """Return a script or a style by its name in a fixed list."""
    found = assets().get(request.path_params["name"])
    if found is None:
        return JSONResponse({"error": "there is no such file"}, 404)
    return Response(found[1], media_type=found[0])


@cache
def assets() -> dict[str, tuple[str, str]]:
    """Return kind and text of each file that the page may ask for."""
    files = [path for path in _HERE.iterdir() if path.suffix in KINDS]
    own = {path.name: (KINDS[path.suffix], path.read_text("utf-8")) for path in files}
    script, style = panel_assets()
    return own | {"panel.js": (KINDS[".js"], script), "panel.css": (KINDS[".css"], style)}


@cache
def _template() -> str:
    return (_HERE / "page.html").read_text("utf-8")
