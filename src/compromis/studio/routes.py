"""The page and its scripts; nothing from the network, nothing inline without the nonce."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from compromis.errors import InputError
from compromis.reports.panel import panel_assets
from compromis.studio.forms import PreferencesForm
from compromis.studio.guard import JSON, UPLOAD
from compromis.studio.jobs import Job
from compromis.studio.loading import first_rows, propose, vote_sets
from compromis.studio.saving import KINDS as SAVED_KINDS
from compromis.studio.saving import SaveRequest, read_preferences, save
from compromis.studio.storage import Source
from compromis.studio.workspace import Recipe, Workspace, source_shown

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


Asked = TypeVar("Asked")
PREVIEW = 1000
"""Rows looked at to propose columns; a few of them are shown."""
SHOWN = 6
PATIENCE = 2.0
"""Seconds that a question for a job's progress waits for news at most; browsers keep few connections open."""
AT_ONCE = 0.25
"""Seconds that short work is waited for before the page is told to ask again."""
SOON = 0.12
"""Seconds that a full search has before a first result will do."""


class _Look(msgspec.Struct, forbid_unknown_fields=True):
    truth: str


class _Tune(msgspec.Struct, forbid_unknown_fields=True):
    preferences: PreferencesForm


class _Hold(msgspec.Struct, forbid_unknown_fields=True):
    preferences: PreferencesForm
    weights: list[float]


class _Compare(msgspec.Struct, forbid_unknown_fields=True):
    label: str
    metric: str


class _Toml(msgspec.Struct, forbid_unknown_fields=True):
    toml: str
    model: str


class _Nothing(msgspec.Struct, forbid_unknown_fields=True):
    pass


async def _session(request: Request) -> Any:
    return await run_in_threadpool(_workspace(request).shown)


async def _alive(request: Request) -> Any:
    return {"boot": _workspace(request).boot}


async def _upload(request: Request) -> Any:
    name = unquote(request.headers.get("x-file-name", ""))[:1000]
    if not name:
        raise InputError("the upload has no name")
    return source_shown(await _workspace(request).places.upload(name, _arriving(request)))


async def _arriving(request: Request) -> AsyncIterator[bytes]:
    size = 0
    async for piece in request.stream():
        size += len(piece)
        yield piece
    if not size:
        raise InputError("the file is empty")


async def _columns(request: Request) -> Any:
    source = _workspace(request).places.source(request.path_params["source"])
    return await run_in_threadpool(_look, source)


async def _sets(request: Request) -> Any:
    source = _workspace(request).places.source(request.path_params["source"])
    truth = (await _asked(request, _Look)).truth
    return await run_in_threadpool(_look, source, truth)


async def _load(request: Request) -> Any:
    workspace, recipe = _workspace(request), await _asked(request, Recipe)
    name = recipe.name or workspace.places.source(recipe.source).name
    return workspace.jobs.start(f"Loading {name}", lambda job: workspace.load(recipe, job.report)).shown()


async def _remove(request: Request) -> Any:
    await _asked(request, _Nothing)
    _workspace(request).remove(request.path_params["model"])
    return {}


async def _panel(request: Request) -> Any:
    workspace = _workspace(request)
    return await run_in_threadpool(workspace.panel, workspace.model(request.path_params["model"]))


async def _tune(request: Request) -> Any:
    workspace, preferences = _workspace(request), (await _asked(request, _Tune)).preferences
    model = workspace.model(request.path_params["model"])
    job = workspace.jobs.start(
        f"Tuning {model.name}", lambda job: workspace.tune(model, preferences, job), key=f"tune {model.id}"
    )
    await _settled(request, job, SOON)
    await _settled(request, job, SOON, offered=True)
    return job.shown()


async def _hold(request: Request) -> Any:
    workspace, asked = _workspace(request), await _asked(request, _Hold)
    await run_in_threadpool(
        workspace.hold, workspace.model(request.path_params["model"]), asked.preferences, asked.weights
    )
    return {}


async def _compare(request: Request) -> Any:
    workspace, asked = _workspace(request), await _asked(request, _Compare)
    job = workspace.jobs.start(
        f"Comparing for {asked.label}",
        lambda job: workspace.compare(asked.label, asked.metric, job.report),
        key="compare",
        light=True,
    )
    await _settled(request, job, AT_ONCE)
    return job.shown()


async def _job(request: Request) -> Any:
    job = _workspace(request).jobs.get(request.path_params["job"])
    if job is None:
        raise InputError("this work is not known (any more)")
    seen = request.query_params.get("seen", "")
    await _settled(request, job, PATIENCE, seen)
    return job.shown()


async def _cancel(request: Request) -> Any:
    await _asked(request, _Nothing)
    job = _workspace(request).jobs.get(request.path_params["job"])
    if job is not None:
        job.cancel()
    return {}


async def _save(request: Request) -> Any:
    workspace, asked = _workspace(request), await _asked(request, SaveRequest)
    if asked.kind not in SAVED_KINDS:
        raise InputError(f"there is no kind {asked.kind!r} of file; choose one of {', '.join(SAVED_KINDS)}")
    job = workspace.jobs.start(f"Saving {asked.name}", lambda job: save(workspace, asked, job.report), light=True)
    await _settled(request, job, AT_ONCE)
    return job.shown()


async def _open_preferences(request: Request) -> Any:
    workspace, asked = _workspace(request), await _asked(request, _Toml)
    model = workspace.model(asked.model)
    preferences = await run_in_threadpool(read_preferences, asked.toml, model.patterns.classes)
    return msgspec.to_builtins(preferences)


def _look(source: Source, truth: str | None = None) -> dict[str, Any]:
    try:
        table = first_rows(source, PREVIEW)
    except InputError as error:
        raise InputError(source.spoken(str(error))) from error
    proposal = propose(table)
    if truth is not None and truth in table.columns:
        proposal |= {"truth": truth, "sets": vote_sets(table.columns, proposal["numeric"], truth)}
    values = {value for value in table.columns[proposal["truth"]] if value is not None}
    return {
        "name": source.name,
        "columns": list(table.columns),
        "rows": [[column[row] for column in table.columns.values()] for row in range(min(SHOWN, len(table)))],
        "classes": sorted(values)[:PREVIEW],
        **proposal,
    }


async def _settled(
    request: Request, job: Job, seconds: float, seen: str | None = None, *, offered: bool = False
) -> None:
    """Wait until the job is finished or the time is over, or for news that one has not `seen`, or for a first result."""
    begin = time.monotonic()
    while not job.finished and (waited := time.monotonic() - begin) < seconds:
        if (seen is not None and str(job.version) != seen) or _workspace(request).jobs.closed:
            return
        if offered and job.result is not None:
            return
        await asyncio.sleep(0.004 if waited < 1 else 0.05)


async def _asked(request: Request, kind: type[Asked]) -> Asked:
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except msgspec.DecodeError as error:
        raise InputError(f"the request cannot be read: {error}") from error


def _workspace(request: Request) -> Workspace:
    workspace: Workspace = request.app.state.workspace
    return workspace


def _answering(handler: Callable[[Request], Awaitable[Any]]) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        return Response(msgspec.json.encode(await handler(request)), media_type=JSON)

    return answer


_API: list[tuple[str, str, Callable[[Request], Awaitable[Any]]]] = [
    ("GET", "/api/alive", _alive),
    ("GET", "/api/session", _session),
    ("POST", UPLOAD, _upload),
    ("GET", "/api/sources/{source}", _columns),
    ("POST", "/api/sources/{source}/sets", _sets),
    ("POST", "/api/models", _load),
    ("POST", "/api/models/{model}/remove", _remove),
    ("GET", "/api/models/{model}/panel", _panel),
    ("POST", "/api/models/{model}/tune", _tune),
    ("POST", "/api/models/{model}/hold", _hold),
    ("POST", "/api/compare", _compare),
    ("GET", "/api/jobs/{job}", _job),
    ("POST", "/api/jobs/{job}/cancel", _cancel),
    ("POST", "/api/save", _save),
    ("POST", "/api/preferences", _open_preferences),
]

ROUTES = [
    Route("/", page, methods=["GET"]),
    Route("/static/{name}", static, methods=["GET"]),
    *(Route(path, _answering(handler), methods=[method]) for method, path, handler in _API),
]
"""Every route there is; the guard stands before all of them."""
