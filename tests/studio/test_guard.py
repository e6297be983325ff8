"""Every route refuses everyone but the studio's own page."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import re
import socket
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from compromis.errors import InputError
from compromis.studio.app import create_app
from compromis.studio.guard import Guard, Secrets, read_token
from compromis.studio.storage import Places
from compromis.studio.workspace import Workspace
from tests.studio.running import BINARY, JSON, Running

SECURITY = {
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
}


def every_route(tmp_path):
    """Method and address of every route of the app, whatever routes there are."""
    for route in create_app(Workspace(Places([], tmp_path))).routes:
        for method in sorted(route.methods - {"HEAD"}):
            yield method, re.sub(r"{[^}]*}", "1", route.path)


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    one = Running([], folder)
    yield one
    one.stop()


def call(running, method, path, **changes):
    """A request that would be accepted, but for the changes; None takes a header away."""
    headers = {
        "host": f"127.0.0.1:{running.port}",
        "origin": running.base,
        "sec-fetch-site": "same-origin",
        "x-compromis-token": running.keys.token,
        "content-type": None
        if method == "GET"
        else BINARY["content-type"]
        if path == "/api/upload"
        else JSON["content-type"],
    } | {name.replace("_", "-"): value for name, value in changes.items()}
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=10)
    with contextlib.closing(connection):
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            if value is not None:
                connection.putheader(name, value)
        body = b"" if method == "GET" else b"{}"
        connection.putheader("content-length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        return httpx.Response(answer.status, headers=answer.getheaders(), content=answer.read())


REFUSED = {
    "missing token": dict(x_compromis_token=None),
    "empty token": dict(x_compromis_token=""),
    "wrong token": dict(x_compromis_token="A" * 43),
    "wrong cookie": dict(x_compromis_token=None, cookie="compromis-1=x; compromis-{port}=" + "0" * 64),
    "foreign host": dict(host="evil.example"),
    "foreign host with our port": dict(host="evil.example:{port}"),
    "host that starts like ours": dict(host="127.0.0.1:{port}.evil.example"),
    "host of another port": dict(host="127.0.0.1:1"),
    "all interfaces": dict(host="0.0.0.0:{port}"),
    "foreign origin": dict(origin="http://evil.example"),
    "null origin": dict(origin="null"),
    "origin that starts like ours": dict(origin="http://127.0.0.1:{port}.evil.example"),
    "origin of another scheme": dict(origin="https://127.0.0.1:{port}"),
    "origin of another port": dict(origin="http://127.0.0.1:1"),
    "cross-site": dict(sec_fetch_site="cross-site"),
    "same-site": dict(sec_fetch_site="same-site"),
    "unknown site": dict(sec_fetch_site="x"),
    "plain text": dict(content_type="text/plain"),
    "form": dict(content_type="application/x-www-form-urlencoded"),
    "multipart": dict(content_type="multipart/form-data; boundary=x"),
    "almost JSON": dict(content_type="application/json-patch+json"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_every_route_refuses(running, tmp_path, case):
    routes = list(every_route(tmp_path))
    assert len(routes) >= 17
    for method, path in routes:
        changes = {name: value and value.replace("{port}", str(running.port)) for name, value in REFUSED[case].items()}
        answer = call(running, method, path, **changes)
        assert answer.status_code in {401, 403, 415}, (method, path, answer.text)
        assert set(answer.json()) == {"error"}
        assert running.keys.token not in answer.text + str(answer.headers)
        assert "set-cookie" not in answer.headers
        assert SECURITY.items() <= dict(answer.headers).items()


def test_every_route_accepts_its_own_page(running, tmp_path):
    for method, path in every_route(tmp_path):
        answer = call(running, method, path)
        assert answer.status_code in {200, 400, 404}, (method, path, answer.text)
        assert SECURITY.items() <= dict(answer.headers).items()
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy


def test_swapped_content_types_are_refused(running, tmp_path):
    for method, path in every_route(tmp_path):
        other = JSON if path == "/api/upload" else BINARY
        assert call(running, method, path, content_type=other["content-type"]).status_code == 415
    assert call(running, "POST", "/api/models", content_type=None).status_code == 415


def test_raw_requests_with_odd_hosts_are_refused(running):
    for hosts in (
        [],
        ["127.0.0.1:{}", "evil.example"],
        ["evil.example", "127.0.0.1:{}"],
        [""],
        ["127.0.0.1:{}@evil.example"],
    ):
        lines = ["GET /api/alive HTTP/1.1", f"x-compromis-token: {running.keys.token}", "connection: close"]
        lines += [f"host: {host.format(running.port)}" for host in hosts]
        with socket.create_connection(("127.0.0.1", running.port)) as sock:
            sock.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
            status = sock.makefile("rb").readline()
        assert status.split()[1] in {b"400", b"403"}, (hosts, status)


@pytest.mark.parametrize("name", ["origin", "sec-fetch-site", "x-compromis-token", "content-type"])
def test_a_header_that_stands_twice_is_refused_whichever_is_right(running, name):
    right = {
        "origin": running.base,
        "sec-fetch-site": "same-origin",
        "x-compromis-token": running.keys.token,
        "content-type": "application/json",
    }
    for second in (right[name], "http://evil.example"):
        lines = ["POST /api/compare HTTP/1.1", f"host: 127.0.0.1:{running.port}", "connection: close"]
        lines += [f"{header}: {value}" for header, value in {**right, "content-length": "2"}.items()]
        lines.append(f"{name}: {second}")
        with socket.create_connection(("127.0.0.1", running.port)) as sock:
            sock.sendall(("\r\n".join(lines) + "\r\n\r\n{}").encode())
            assert sock.makefile("rb").readline().split()[1] == b"400", (name, second)


@pytest.mark.parametrize(
    ("port", "host", "status"),
    [
        (80, "127.0.0.1", 200),
        (80, "localhost:80", 200),
        (443, "127.0.0.1:443", 200),
        (443, "127.0.0.1", 403),
        (8000, "localhost", 403),
    ],
)
def test_browsers_leave_port_80_out_of_the_address(port, host, status):
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    sent, keys = [], Secrets()
    headers = [
        (b"host", host.encode()),
        (b"x-compromis-token", keys.token.encode()),
        (b"origin", f"http://{host}".encode()),
    ]
    scope = {"type": "http", "method": "GET", "path": "/api/alive", "query_string": b"", "headers": headers}
    with ThreadPoolExecutor(1) as pool:  # Playwright may have a loop in this thread
        pool.submit(asyncio.run, Guard(app, keys, port, 100)(scope, receive, send)).result()
    assert sent[0]["status"] == status


def test_another_site_opens_the_page_with_the_token_only(running):
    for site in ("cross-site", "same-site"):
        opened = httpx.get(f"{running.base}/?token={running.keys.token}", headers={"sec-fetch-site": site})
        assert opened.status_code == 200
        assert httpx.get(f"{running.base}/?token={'x' * 43}", headers={"sec-fetch-site": site}).status_code == 403
        assert httpx.get(f"{running.base}/", headers={"sec-fetch-site": site}).status_code == 403


def test_websockets_are_closed_before_the_app_sees_them():
    async def app(*_):
        pytest.fail("a websocket reached the app")

    async def send(message):
        sent.append(message)

    sent = []
    call = Guard(app, Secrets(), 80, 100)({"type": "websocket", "path": "/api/alive"}, None, send)
    with pytest.raises(StopIteration):  # asyncio.run would clash with the loop of Playwright in the same process
        call.send(None)
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_the_cookie_opens_pages_but_no_data(running):
    with httpx.Client(base_url=running.base) as browser:
        page = browser.get(f"/?token={running.keys.token}", headers={"sec-fetch-site": "none"})
        assert page.status_code == 200
        cookie = page.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert running.keys.token not in page.text + cookie
        assert browser.get("/").status_code == 200
        assert browser.get("/static/main.js").status_code == 200
        assert browser.get("/api/session").status_code == 401
        assert browser.post("/api/models", json={}).status_code == 401
        assert httpx.get(f"{running.base}/?token={'x' * 43}").status_code == 401
        assert httpx.get(f"{running.base}/api/session?token={running.keys.token}").status_code == 401


def test_scripts_carry_the_nonce_of_their_answer(running):
    answers = [call(running, "GET", "/") for _ in range(2)]
    nonces = [re.search(r"script-src 'nonce-([^']+)'", one.headers["content-security-policy"])[1] for one in answers]
    assert nonces[0] != nonces[1]
    for answer, nonce in zip(answers, nonces, strict=True):
        scripts = re.findall(r"<script[^>]*>", answer.text)
        assert scripts
        assert all(f'nonce="{nonce}"' in script for script in scripts)


def test_tokens():
    assert Secrets().token != Secrets().token
    assert len(Secrets().token) >= 43
    keys = Secrets()
    assert keys.token not in repr(keys)
    for weak in ("", "short", "a" * 15, "a" * 20 + " ", "é" * 20):
        with pytest.raises(InputError, match="at least 16"):
            read_token(weak)
