"""22. Every route of the studio x every kind of stranger: none is let in; the socket listens on the loopback address only."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

from tests.stress.counting import described
from tests.stress.outcome import NotRun, Outcome, Progress, silent

TITLE = "every route x strangers; loopback only"
QUICK = 0.2

MORE = {
    "no token, no origin": {"x_compromis_token": None, "origin": None, "sec_fetch_site": None},
    "token in lower case": {"x_compromis_token": "{lower}"},
    "token with a space": {"x_compromis_token": "{token} x"},
    "half a token": {"x_compromis_token": "{half}"},
    "token as bearer": {"x_compromis_token": None, "authorization": "Bearer {token}"},
    "token as a cookie": {"x_compromis_token": None, "cookie": "compromis-{port}={token}"},
    "host with a user": {"host": "127.0.0.1:{port}@evil.example"},
    "host by a name that resolves here": {"host": "localtest.me:{port}"},
    "host as a number": {"host": "2130706433:{port}"},
    "host in IPv6": {"host": "[::1]:{port}"},
    "host with a dot at its end": {"host": "localhost.:{port}"},
    "no host": {"host": None},
    "forwarded host": {"host": "evil.example", "x_forwarded_host": "127.0.0.1:{port}"},
    "origin of a file": {"origin": "file://"},
    "origin of an extension": {"origin": "chrome-extension://abc"},
    "origin with a user": {"origin": "http://127.0.0.1:{port}@evil.example"},
    "origin under our name": {"origin": "http://localhost.evil.example:{port}"},
    "two origins": {"origin": "http://127.0.0.1:{port}, http://evil.example"},
    "site in capitals": {"sec_fetch_site": "CROSS-SITE"},
}
"""Strangers beside those of tests/studio/test_guard.py."""
LET_IN = {200, 201, 202, 204, 206, 301, 302, 303, 307, 308}


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Ask every route as every stranger, and once as the page itself."""
    try:
        from tests.studio.running import Running
        from tests.studio.test_guard import REFUSED, every_route
    except ImportError as error:
        raise NotRun(f"the studio needs {error.name}") from None
    strangers = REFUSED | MORE
    names = list(strangers)[:: 1 if scale >= 0.9 else 5]
    total = Outcome(0)
    with tempfile.TemporaryDirectory() as name:
        running = Running([], Path(name))
        try:
            routes = [
                (method, path)
                for _, path in every_route(Path(name))
                for method in ("GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS")
            ]
            routes = sorted(set(routes))
            for done, (stranger, (method, path)) in enumerate(itertools.product(names, routes), start=1):
                total += _asked(running, method, path, stranger, strangers[stranger])
                progress(done, len(names) * len(routes))
            total += _own_page(running, Path(name)) + _loopback(running)
        finally:
            running.stop()
    return total


def _asked(running, method, path, stranger, changes) -> Outcome:
    from tests.studio.test_guard import call

    token = running.keys.token
    words = {"{port}": str(running.port), "{token}": token, "{lower}": token.swapcase(), "{half}": token[:20]}
    given = dict(changes)
    for name, value in given.items():
        for word, meant in words.items():
            value = value and value.replace(word, meant)
        given[name] = value
    if method in {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"} and set(changes) == {"content_type"}:
        return Outcome(0)  # a body's type matters where there is a body
    try:
        answer = call(running, method, path, **given)
    except Exception as error:
        if stranger == "no host" and isinstance(error, ConnectionResetError):
            return Outcome(1)  # cut off before its body was read, which may overtake the answer
        return Outcome(1, (described(error, f"{method} {path} as {stranger}"),))
    wrong = answer.status_code in LET_IN or token in answer.text + str(answer.headers) or "set-cookie" in answer.headers
    return Outcome(1, (f"{method} {path} as {stranger}: {answer.status_code}",) if wrong else ())


def _own_page(running, folder: Path) -> Outcome:
    """The page itself is let in: a guard that refuses everyone would pass as well."""
    from tests.studio.test_guard import call, every_route

    total = Outcome(0)
    for method, path in every_route(folder):
        status = call(running, method, path).status_code
        total += Outcome(1, () if status in {200, 400, 404} else (f"{method} {path} from its own page: {status}",))
    return total


def _loopback(running) -> Outcome:
    from tests.studio.test_serving import listeners

    if not Path("/proc/net/tcp").exists():
        return Outcome(0)
    found = listeners(running.port)
    return Outcome(1, () if found == ["0100007F"] else (f"it listens on {found}",))
