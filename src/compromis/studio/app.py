"""The app: the routes behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

from compromis.errors import CompromisError
from compromis.studio.guard import Guard, Secrets, TooLarge
from compromis.studio.jobs import sentence
from compromis.studio.routes import ROUTES
from compromis.studio.workspace import Workspace


def create_app(workspace: Workspace) -> Starlette:
    """Return the routes over a workspace, without the guard."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        workspace.close()

    app = Starlette(
        routes=ROUTES,
        exception_handlers={
            CompromisError: _failed,
            OSError: _failed,
            TooLarge: _failed,
            ClientDisconnect: _failed,
            Exception: _failed,
            404: _missing,
            405: _missing,
        },
        lifespan=lifespan,
    )
    app.state.workspace = workspace
    return app


def guarded_app(workspace: Workspace, keys: Secrets, port: int) -> ASGIApp:
    """Return the studio for a server that listens on `port` of the loopback address; nothing gets around the guard."""
    return Guard(create_app(workspace), keys, port, workspace.most_upload)


async def _failed(_: Request, error: Exception) -> Response:
    status = 413 if isinstance(error, TooLarge) else 400 if isinstance(error, (CompromisError, OSError)) else 500
    return JSONResponse({"error": sentence(error)}, status)


async def _missing(_: Request, __: Exception) -> Response:
    return JSONResponse({"error": "there is nothing at this address"}, 404)
