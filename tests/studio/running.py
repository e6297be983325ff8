"""A studio that runs in a thread of the test, on a free port of the loopback address."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import httpx

from compromis.studio.guard import Secrets
from compromis.studio.serving import listen, make_server
from compromis.studio.storage import Places
from compromis.studio.workspace import Workspace

JSON = {"content-type": "application/json"}
BINARY = {"content-type": "application/octet-stream"}
LABELS = ["good", "bad", "ugly"]
COLUMNS = {"truth": "truth", "votes": {f"p_{label}": label for label in LABELS}}
"""The classes and columns of the tables of `votes_csv`."""


class Running:
    """A running studio, and a client that holds its token."""

    def __init__(
        self, pointed=(), output: Path = Path(), *, keys=None, port=0, eager=False, most_upload=5_000_000
    ) -> None:
        self.keys = keys or Secrets()
        self.workspace = Workspace(Places(pointed, output), eager=eager, most_upload=most_upload)
        self.workspace.warm.set()
        self._sock = listen(port)
        self.port = self._sock.getsockname()[1]
        self.base = f"http://127.0.0.1:{self.port}"
        self.address = f"{self.base}/?token={self.keys.token}"
        started = threading.Event()
        self._server = make_server(self.workspace, self.keys, self._sock, started=lambda _: started.set())
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._server.serve(sockets=[self._sock])), name="studio-server"
        )
        self._thread.start()
        assert started.wait(20)
        self.client = httpx.Client(base_url=self.base, headers={"x-compromis-token": self.keys.token}, timeout=60)

    def stop(self) -> None:
        self.client.close()
        self._server.should_exit = True
        self._thread.join(10)
        assert not self._thread.is_alive()
        self._sock.close()

    def ask(self, path: str, body: Any = None) -> Any:
        """The answer of a route that must not fail, jobs followed to their end."""
        answer = self.client.get(path) if body is None else self.client.post(path, json=body)
        assert answer.status_code == 200, answer.text
        content = answer.json()
        return self.finished(content)["result"] if "state" in content else content

    def finished(self, job: dict[str, Any], seconds: float = 240) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        while job["state"] in {"waiting", "running"} and time.monotonic() < deadline:
            job = self.client.get(f"/api/jobs/{job['id']}?seen={job['version']}").json()
        assert job["state"] == "done", job
        return job

    def failed(self, path: str, body: Any) -> str:
        """The sentence of a request or job that must fail."""
        content = self.client.post(path, json=body).json()
        while content.get("state") in {"waiting", "running"}:
            content = self.client.get(f"/api/jobs/{content['id']}?seen={content['version']}").json()
        assert content.get("error"), content
        return content["error"]

    def upload(self, name: str, content: bytes) -> httpx.Response:
        from urllib.parse import quote

        return self.client.post("/api/upload", content=content, headers={**BINARY, "x-file-name": quote(name)})
