"""The app: the page, its scripts, and the routes of its API."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

import compromis as cp
from compromis.reports import panel_assets
from compromis.studio.forms import PreferencesForm, form_of
from compromis.studio.guard import JSON, UPLOAD, Guard, Secrets, TooLarge
from compromis.studio.jobs import Job, Jobs, error_sentence
from compromis.studio.loading import preview
from compromis.studio.workspace import SUFFIXES, InterviewForm, Recipe, SaveRequest, Workspace

_STATIC = Path(__file__).parent / "static"
MEDIA_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
PATIENCE = 2.0
"""Seconds that a request for a job's progress waits for news at most; browsers keep few connections open."""
AT_ONCE = 0.25
"""Seconds that short work is waited for before the page has to ask again."""
SOON = 0.12
"""Seconds that a full search has before a first result will do."""
SANDBOX = "sandbox allow-scripts allow-downloads; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
"""The policy of a saved report, beside the one of its own: it stands on no site, so it can ask nothing of this one."""
Asked = TypeVar("Asked")


def guarded_app(workspace: Workspace, keys: Secrets, port: int) -> ASGIApp:
    """Return the studio for a server that listens on `port` of the loopback address; every request passes the guard."""
    return Guard(create_app(workspace), keys, port, workspace.most_upload)


def create_app(workspace: Workspace) -> Starlette:
    """Return the routes over a workspace, without the guard."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        workspace.close()

    failures = (cp.CompromisError, OSError, TooLarge, ClientDisconnect, Exception)
    app = Starlette(
        routes=ROUTES,
        exception_handlers={**dict.fromkeys(failures, _failed), 404: _missing, 405: _missing},
        lifespan=lifespan,
    )
    app.state.workspace = workspace
    return app


async def _failed(_: Request, error: Exception) -> Response:
    status = 413 if isinstance(error, TooLarge) else 400 if isinstance(error, (cp.CompromisError, OSError)) else 500
    return JSONResponse({"error": error_sentence(error)}, status)


async def _missing(_: Request, __: Exception) -> Response:
    return JSONResponse({"error": "there is nothing at this address"}, 404)


async def _page(request: Request) -> Response:
    template = (_STATIC / "page.html").read_text("utf-8")
    return HTMLResponse(template.replace("{{nonce}}", request.scope["compromis.nonce"]))


async def _static(request: Request) -> Response:
    asset = assets().get(request.path_params["name"])
    if asset is None:
        return JSONResponse({"error": "there is no such file"}, 404)
    return Response(asset[1], media_type=asset[0])


@cache
def assets() -> dict[str, tuple[str, str]]:
    """Return media type and text of each file that the page may ask for, by name."""
    script, style = panel_assets()
    texts = {path.name: path.read_text("utf-8") for path in _STATIC.iterdir() if path.suffix in MEDIA_TYPES}
    texts |= {"panel.js": script, "panel.css": style}
    return {name: (MEDIA_TYPES[Path(name).suffix], text) for name, text in texts.items()}


class _Look(msgspec.Struct, forbid_unknown_fields=True):
    truth: str | None = None


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


async def _session(workspace: Workspace, _: Request) -> Any:
    return await run_in_threadpool(workspace.shown)


async def _alive(workspace: Workspace, _: Request) -> Any:
    return {"boot": workspace.boot}


async def _upload(workspace: Workspace, request: Request) -> Any:
    name = unquote(request.headers.get("x-file-name", ""))[:1000]
    if not name:
        raise cp.InputError("the upload has no name")
    source = await workspace.places.upload(name, _arriving(request))
    return source.shown()


async def _arriving(request: Request) -> AsyncIterator[bytes]:
    size = 0
    async for piece in request.stream():
        size += len(piece)
        yield piece
    if not size:
        raise cp.InputError("the file is empty")


async def _look(workspace: Workspace, request: Request) -> Any:
    source = workspace.places.source(request.path_params["source"])
    truth = (await _asked(request, _Look)).truth
    key = f"look {source.id}"
    return await _short(
        workspace, f"Looking at {source.name}", lambda _: preview(source, truth), key=key, abandoned=True
    )


async def _forget(workspace: Workspace, request: Request) -> Any:
    await _asked(request, _Nothing)
    workspace.places.forget(workspace.places.source(request.path_params["source"]))
    return {}


async def _interview(workspace: Workspace, request: Request) -> Any:
    asked = await _asked(request, InterviewForm)
    model = workspace.model(request.path_params["model"])
    title = "Looking for results to choose from"
    return await _short(workspace, title, lambda _: workspace.ask(model, asked), key="ask", abandoned=True)


async def _saved(request: Request) -> Response:
    """Show a file that was saved: the report in a sandbox, whose scripts reach nothing of the studio; others as text."""
    path = request.app.state.workspace.opened(request.path_params["number"])
    text = await run_in_threadpool(path.read_bytes)
    if path.suffix != SUFFIXES["report"]:
        return Response(text, media_type="text/plain; charset=utf-8")
    request.scope["compromis.policy"] = SANDBOX
    return Response(text, media_type="text/html; charset=utf-8")


async def _load(workspace: Workspace, request: Request) -> Any:
    recipe = await _asked(request, Recipe)
    name = recipe.name or workspace.places.source(recipe.source).name
    return workspace.jobs.start(f"Loading {name}", lambda job: workspace.load(recipe, job.report)).shown()


async def _remove(workspace: Workspace, request: Request) -> Any:
    await _asked(request, _Nothing)
    workspace.remove(request.path_params["model"])
    return {}


async def _panel(workspace: Workspace, request: Request) -> Any:
    return await run_in_threadpool(workspace.panel, workspace.model(request.path_params["model"]))


async def _tune(workspace: Workspace, request: Request) -> Any:
    preferences = (await _asked(request, _Tune)).preferences
    model = workspace.model(request.path_params["model"])
    job = workspace.jobs.start(
        f"Tuning {model.name}", lambda job: workspace.tune(model, preferences, job), key=f"tune {model.id}"
    )
    await _settled(workspace.jobs, job, SOON)
    await _settled(workspace.jobs, job, SOON, offered=True)
    return job.shown()


async def _hold(workspace: Workspace, request: Request) -> Any:
    asked = await _asked(request, _Hold)
    await run_in_threadpool(
        workspace.hold, workspace.model(request.path_params["model"]), asked.preferences, asked.weights
    )
    return {}


async def _compare(workspace: Workspace, request: Request) -> Any:
    asked = await _asked(request, _Compare)
    title, given = f"Comparing for {asked.label}", (asked.label, asked.metric)
    return await _short(workspace, title, lambda job: workspace.compare(*given, job.report), key="compare")


async def _job(workspace: Workspace, request: Request) -> Any:
    job = workspace.jobs.get(request.path_params["job"])
    if job is None:
        raise cp.InputError("this work is not known (any more)")
    seen = request.query_params.get("seen", "")
    await _settled(workspace.jobs, job, PATIENCE, seen)
    return job.shown()


async def _cancel(workspace: Workspace, request: Request) -> Any:
    await _asked(request, _Nothing)
    job = workspace.jobs.get(request.path_params["job"])
    if job is not None:
        job.cancel()
    return {}


async def _save(workspace: Workspace, request: Request) -> Any:
    asked = await _asked(request, SaveRequest)
    if asked.kind not in SUFFIXES:
        raise cp.InputError(f"there is no kind {asked.kind!r} of file; choose one of {', '.join(SUFFIXES)}")
    return await _short(workspace, f"Saving {asked.name}", lambda job: workspace.save(asked, job.report))


async def _open_preferences(workspace: Workspace, request: Request) -> Any:
    asked = await _asked(request, _Toml)
    classes = workspace.model(asked.model).votes.classes
    return await run_in_threadpool(_read_preferences, asked.toml, classes)


def _read_preferences(toml: str, classes: tuple[Any, ...]) -> dict[str, Any]:
    preferences = cp.Preferences.from_toml_text(toml, name="this file")
    preferences.on(classes)  # raises where they do not fit
    return form_of(preferences, classes)


async def _short(workspace: Workspace, title: str, work: Callable[[Job], Any], **settings: Any) -> Any:
    """Start short work, and return its job once it is finished, or has to be asked for again."""
    job = workspace.jobs.start(title, work, light=True, **settings)
    await _settled(workspace.jobs, job, AT_ONCE)
    return job.shown()


async def _settled(jobs: Jobs, job: Job, seconds: float, seen: str | None = None, *, offered: bool = False) -> None:
    """Wait until the job is finished or the time is over, for a version other than `seen`, or for a first result (`offered`)."""
    begin = time.monotonic()
    while not job.finished and (waited := time.monotonic() - begin) < seconds:
        if (seen is not None and str(job.version) != seen) or jobs.closed:
            return
        if offered and job.result is not None:
            return
        await asyncio.sleep(0.004 if waited < 1 else 0.05)


async def _asked(request: Request, kind: type[Asked]) -> Asked:
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except msgspec.DecodeError as error:
        raise cp.InputError(f"the request cannot be read: {error}") from error


Handler = Callable[[Workspace, Request], Awaitable[Any]]


def _answering(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        content = await handler(request.app.state.workspace, request)
        return Response(msgspec.json.encode(content), media_type=JSON)

    return answer


_API: list[tuple[str, str, Handler]] = [
    ("GET", "/api/alive", _alive),
    ("GET", "/api/session", _session),
    ("POST", UPLOAD, _upload),
    ("POST", "/api/sources/{source}/look", _look),
    ("POST", "/api/sources/{source}/remove", _forget),
    ("POST", "/api/models", _load),
    ("POST", "/api/models/{model}/remove", _remove),
    ("GET", "/api/models/{model}/panel", _panel),
    ("POST", "/api/models/{model}/tune", _tune),
    ("POST", "/api/models/{model}/hold", _hold),
    ("POST", "/api/models/{model}/interview", _interview),
    ("POST", "/api/compare", _compare),
    ("GET", "/api/jobs/{job}", _job),
    ("POST", "/api/jobs/{job}/cancel", _cancel),
    ("POST", "/api/save", _save),
    ("POST", "/api/preferences", _open_preferences),
]

ROUTES = [
    Route("/", _page, methods=["GET"]),
    Route("/static/{name}", _static, methods=["GET"]),
    Route("/saved/{number}/{name}", _saved, methods=["GET"]),
    *(Route(path, _answering(handler), methods=[method]) for method, path, handler in _API),
]
"""Every route; the guard checks the requests of all of them."""
