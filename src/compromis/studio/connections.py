"""Connections of the studio: a client that stays silent cannot take descriptors from the page, nor fill the log."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 10.0
"""Seconds in which the headers of a request must be complete."""
RESERVED = 100
"""Descriptors left to files, threads and the Python process itself."""
MOST = 200
"""Connections at once; a browser opens about six."""
BACKLOG = 32
"""Connections taken from the system at once: as many more than `MOST` may be open for a moment."""
REPEAT = 60.0
"""Seconds in which a message of the server is logged once."""


def most_connections() -> int:
    """Return how many connections may be open: fewer where the process may have few descriptors."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MOST
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST if soft == resource.RLIM_INFINITY else max(8, min(MOST, soft - RESERVED - BACKLOG))


class Connection(H11Protocol):
    """An HTTP connection that is closed if its headers do not come, at once if there are too many such connections."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.waiting_since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for headers; of too many connections the one that has waited longest makes room."""
        super().connection_made(transport)
        self._wait_for_headers()
        if len(self.connections) > most_connections():
            waiting = [other for other in self.connections if isinstance(other, Connection) and other.waits]
            min(waiting, key=lambda other: (other.cycle is not None, other.waiting_since)).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer too."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Start the timer with the first bytes of a request, and stop it with the last of its headers."""
        super().data_received(data)
        if not self.waits:
            self._stop_timer()
        elif self._timer is None:
            self._wait_for_headers()

    @property
    def waits(self) -> bool:
        """Whether no request is under way: none has come, or its headers are not complete."""
        return self.conn.their_state is h11.IDLE

    def _wait_for_headers(self) -> None:
        self.waiting_since = self.loop.time()
        self._timer = self.loop.call_later(PATIENCE, self._give_up)

    def _give_up(self) -> None:
        self._timer = None
        if self.waits:
            self.transport.abort()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Seldom(logging.Filter):
    """Pass each message once in `REPEAT` seconds: clients must not be able to fill the log."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the message was not logged for a while; messages are told apart by their first 50 letters."""
        now, message = time.monotonic(), str(record.msg)[:50]
        if now - self._last.get(message, -REPEAT) < REPEAT:
            return False
        self._last[message] = now
        return True


def quiet_logs() -> None:
    """Limit what the server and asyncio log."""
    for name in ("asyncio", "uvicorn.error"):
        logging.getLogger(name).addFilter(Seldom())
