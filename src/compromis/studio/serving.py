"""Start the studio: the server, the browser, and the data of its demo."""

from __future__ import annotations

import asyncio
import contextlib
import html
import os
import signal
import socket
import sys
import threading
import warnings
import webbrowser
from collections.abc import Callable
from pathlib import Path

import numpy as np
import uvicorn
from numpy.typing import NDArray

import compromis as cp
from compromis.frames import to_csv
from compromis.studio.app import guarded_app
from compromis.studio.connections import BACKLOG, Connection, quiet_logs
from compromis.studio.forms import ClassForm, PreferencesForm
from compromis.studio.guard import Secrets
from compromis.studio.workspace import Workspace

CLASSES = "healthy", "benign", "malignant"
SHARES = 0.86, 0.10, 0.04
PREFERENCES = PreferencesForm("f", (ClassForm("malignant", 10.0, 0.3, 0.95), ClassForm("benign", 3.0, 0.5, 0.9)))
"""A missed cancer costs more than a false alarm."""
ROWS = 4000
TREES = 20


def write_demo(folder: Path) -> Path:
    """Write the table of the demo and return its path: the true class, and the votes of two models that did not see the rows.

    The forest casts 20 votes for each row; the boosting gives probabilities and ranks the benign ones better.
    """
    generator = np.random.default_rng(2024)
    truth = generator.choice(len(CLASSES), size=ROWS, p=SHARES)
    forest = generator.multinomial(TREES, _probabilities(truth, generator, (2.2, 0.9, 1.3)))
    boosting = _probabilities(truth, generator, (2.0, 1.5, 0.8))
    columns: dict[str, list[str | None]] = {"diagnosis": [CLASSES[k] for k in truth.tolist()]}
    columns |= {f"forest_{label}": forest[:, k].astype(str).tolist() for k, label in enumerate(CLASSES)}
    columns |= {f"boosting_{label}": boosting[:, k].round(3).astype(str).tolist() for k, label in enumerate(CLASSES)}
    path = folder / "screening.csv"
    to_csv(columns, path)
    return path


def _probabilities(
    truth: NDArray[np.int64], generator: np.random.Generator, skill: tuple[float, ...]
) -> NDArray[np.float64]:
    """Return distributions that lean to the true class as far as `skill` says, and to the common classes."""
    lean = np.log(np.array(SHARES)) + generator.normal(0.0, 1.0, size=(len(truth), len(SHARES)))
    lean[np.arange(len(truth)), truth] += 1.0 + np.array(skill)[truth]
    shares = np.exp(lean - lean.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return np.asarray(shares, dtype=np.float64)


LOOPBACK = "127.0.0.1"


def listen(port: int = 0) -> socket.socket:
    """Return a socket that listens on the loopback address only; port 0 takes a free one."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if sys.platform != "win32":  # there it would let a second process share the port
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((LOOPBACK, port))
        sock.listen()  # from now on the port is ours
    except OSError as error:
        sock.close()
        raise cp.InputError(f"port {port} cannot be used ({error.strerror}); choose another, or none") from error
    return sock


def make_server(
    workspace: Workspace,
    keys: Secrets,
    sock: socket.socket,
    *,
    started: Callable[[str], None] = lambda _: None,
) -> uvicorn.Server:
    """Return a server for the socket; `started` is called with the address, token included, when pages can be opened."""
    port = sock.getsockname()[1]
    config = uvicorn.Config(
        guarded_app(workspace, keys, port),
        log_level="error",
        access_log=False,  # addresses hold the token
        http=Connection,
        backlog=BACKLOG,
        ws="none",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
        timeout_keep_alive=30,
    )
    return _Server(config, workspace, lambda: started(f"http://{LOOPBACK}:{port}/?token={keys.token}"))


def serve(server: uvicorn.Server, workspace: Workspace, sock: socket.socket) -> None:
    """Serve until Ctrl-C or until the terminal closes; then close temporary files, threads and socket."""
    quiet_logs()
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, lambda *_: setattr(server, "should_exit", True))
    threading.Thread(target=warm_up, args=(workspace,), name="studio-warm-up", daemon=True).start()
    try:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(server.serve(sockets=[sock]))
    finally:
        workspace.close()
        sock.close()


class _Server(uvicorn.Server):
    """Call `started` when it listens, and end waiting requests at once when it is told to stop."""

    def __init__(self, config: uvicorn.Config, workspace: Workspace, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._workspace = workspace
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._workspace.jobs.closed = True
        await super().shutdown(sockets)


def open_browser(address: str, folder: Path) -> None:
    """Open the address without waiting for the browser.

    A command line can be read by every user of the machine, so the browser gets a file of `folder` that only this user
    can read, and that leads to the address with its token.
    """
    page = folder / "open.html"
    link = html.escape(address)
    with os.fdopen(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as stream:
        stream.write(
            f'<!doctype html><meta http-equiv="refresh" content="0;url={link}"><a href="{link}">The studio</a>'
        )
    threading.Thread(target=lambda: webbrowser.open(page.as_uri()), name="studio-browser", daemon=True).start()


def warm_up(workspace: Workspace) -> None:
    """Search three small problems, so that the kernels are loaded before the first request."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for classes in (2, 3, 4):
            votes = [[1.0 + (row + k) % 3 for k in range(classes)] for row in range(8)]
            cp.search_weights([row % classes for row in range(8)], votes)
    workspace.warm.set()
