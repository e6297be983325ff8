"""Every route refuses everyone but the studio's own page; files come from and go to where the user pointed."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import itertools
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from compromis.errors import InputError
from compromis.studio.app import create_app
from compromis.studio.guard import Guard, Secrets, read_token
from compromis.studio.serving import listen
from compromis.studio.storage import Places, checked_name
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


def test_websockets_are_closed_before_the_app_sees_them():
    async def app(*_):
        pytest.fail("a websocket reached the app")

    async def send(message):
        sent.append(message)

    sent = []
    asyncio.run(Guard(app, Secrets(), 80, 100)({"type": "websocket", "path": "/api/alive"}, None, send))
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


def raw_get(one, path):
    """Ask for a path exactly as it is written, which clients would tidy up."""
    connection = http.client.HTTPConnection("127.0.0.1", one.port, timeout=10)
    with contextlib.closing(connection):
        connection.request("GET", quote(path, safe="%/\\:*~."), headers={"x-compromis-token": one.keys.token})
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace")


TRAVERSAL = [
    "../secret.csv", "..%2fsecret.csv", "..%252fsecret.csv", "%2e%2e/secret.csv", "....//secret.csv", "..\\secret.csv", "..%5csecret.csv",
    "/etc/passwd", "//etc/passwd", "file:///etc/passwd", "C:\\secret.csv", "~/secret.csv", ".", "..", "%00", "1%00", "secret.csv%00.csv",
    "\u2025/secret.csv", "\uff0e\uff0e/secret.csv", "1/../../secret.csv", "0", "-1", "99", "secret.csv", "link.csv", "nested/inner.csv", "*", "%2a",
]  # fmt: skip


def test_files_come_only_from_where_the_user_pointed(studio, tmp_path, votes):
    (tmp_path / "secret.csv").write_text("top,secret\n1,2\n")
    offered = tmp_path / "offered"
    (offered / "nested").mkdir(parents=True)
    (offered / "nested" / "inner.csv").write_text("top,secret\n1,2\n")
    (offered / "shown.csv").write_text("a,b\nx,1\n")
    (offered / ".hidden.csv").write_text("top,secret\n1,2\n")
    (offered / "notes.txt").write_text("top secret")
    (offered / "link.csv").symlink_to(tmp_path / "secret.csv")
    one = studio(offered)
    assert [source["name"] for source in one.ask("/api/session")["sources"]] == ["shown.csv"]
    columns = {"truth": "top", "votes": {"secret": "1", "b": "2"}}
    for name in TRAVERSAL:
        for path in (f"/api/sources/{name}", f"/static/{name}"):
            status, text = raw_get(one, path)
            assert status in {400, 404}, (path, text)
            assert "secret" not in text.replace("secret.csv", "")
        job = one.client.post("/api/models", json={"source": name, "name": "x", "columns": columns}).json()
        assert "error" in job
        if "id" in job:
            while job["state"] in {"waiting", "running"}:
                job = one.client.get(f"/api/jobs/{job['id']}?seen={job['version']}").json()
            assert job["state"] == "failed"
    assert one.ask("/api/session")["models"] == []


SAVE_NAMES = [
    "../x.toml", "..\\x.toml", "a/../../x.toml", "/tmp/x.toml", "//x.toml", "C:\\x.toml", "C:x.toml", "x.toml/", "x.toml\0", "\0.toml", ".toml",
    ".x.toml", "..toml", "x.html", "x", "", " ", " x.toml", "x .toml", "x\n.toml", "con.toml", "NUL.toml", "lpt1.toml", "~x.toml", "-x.toml", "x:y.toml",
    "x|y.toml", "x*.toml", "x?.toml", "<script>.toml", "\ud800.toml", "x" * 300 + ".toml", "é" * 120 + ".toml", "x.toml.", "%2e%2e/x.toml", "a/b.toml",
]  # fmt: skip


def preferences(*labels):
    return {
        "metric": "f",
        "classes": [{"label": label, "importance": 10.0 if k == 0 else 1.0} for k, label in enumerate(labels)],
    }


def loaded(one, name="model"):
    columns = {"truth": "truth", "votes": {f"p_{label}": label for label in ("good", "bad", "ugly")}}
    return one.ask("/api/models", {"source": "1", "name": name, "columns": columns})


def test_files_are_saved_only_into_the_chosen_folder(studio, tmp_path, votes):
    one = studio(votes)
    model = loaded(one)
    before = sorted(path for path in tmp_path.rglob("*"))
    asked = {
        "model": model["id"],
        "preferences": preferences("good", "bad", "ugly"),
        "weights": [1.0, 1.0, 1.0],
        "kind": "preferences",
    }
    for name in SAVE_NAMES:
        with pytest.raises(InputError):
            checked_name(name, ".toml")
        if name.isprintable():
            answer = one.client.post("/api/save", json={**asked, "name": name}).json()
            assert answer.get("error"), (name, answer)
    assert sorted(path for path in tmp_path.rglob("*")) == before
    outside = tmp_path / "outside.toml"
    outside.write_text("old")
    (tmp_path / "saved" / "link.toml").symlink_to(outside)
    one.ask("/api/save", {**asked, "name": "link.toml", "replace": True})
    assert outside.read_text() == "old"
    assert not (tmp_path / "saved" / "link.toml").is_symlink()
    assert "metric" in (tmp_path / "saved" / "link.toml").read_text()


def test_uploads_are_bounded_and_leave_nothing_when_refused(studio):
    one = studio(most_upload=100_000)
    assert one.upload("small.csv", b"a,b\n1,2\n").status_code == 200
    private = one.workspace.places.private()
    assert private.stat().st_mode & 0o077 == 0
    before = sorted(private.iterdir())
    assert one.upload("large.csv", b"x" * 100_001).status_code == 413
    pieces = (b"x" * 10_000 for _ in itertools.count())  # no length announced, and it never ends
    answer = one.client.post(
        "/api/upload", content=itertools.islice(pieces, 20), headers={**BINARY, "x-file-name": "a.csv"}
    )
    assert answer.status_code == 413
    assert one.upload("empty.csv", b"").status_code == 400
    assert one.client.post("/api/upload", content=b"x", headers=BINARY).status_code == 400
    assert sorted(private.iterdir()) == before
    assert one.client.post("/api/models", content=b" " * (5 << 20), headers=JSON).status_code == 413


def test_a_broken_off_upload_leaves_nothing(studio):
    one = studio()
    private = one.workspace.places.private()
    head = f"POST /api/upload HTTP/1.1\r\nhost: 127.0.0.1:{one.port}\r\nx-compromis-token: {one.keys.token}\r\n"
    with socket.create_connection(("127.0.0.1", one.port)) as sock:
        sock.sendall(
            f"{head}content-type: application/octet-stream\r\nx-file-name: a.csv\r\ncontent-length: 1000\r\n\r\nabc".encode()
        )
        time.sleep(0.2)
    deadline = time.monotonic() + 5
    while list(private.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert list(private.iterdir()) == []
    assert one.ask("/api/session")["sources"] == []


def test_it_listens_on_the_loopback_address_only():
    with listen() as sock:
        assert sock.getsockname()[0] == "127.0.0.1"
        with pytest.raises(InputError, match="cannot be used"), listen(sock.getsockname()[1]) as other:
            other.listen()


def listeners(port):
    """The addresses that listen on a port, from the kernel."""
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            address, state = line.split()[1], line.split()[3]
            if state == "0A" and int(address.rsplit(":", 1)[1], 16) == port:
                found.append(address.rsplit(":", 1)[0])
    return found


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux")
def test_the_command_prints_the_token_once_and_ends_at_once(tmp_path, votes):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [
        sys.executable,
        "-m",
        "compromis",
        "studio",
        str(votes),
        "--demo",
        "--no-browser",
        "--output",
        str(tmp_path),
    ]
    environment = os.environ | {"TMPDIR": str(temporary), "PYTHONUNBUFFERED": "1", "PYTHONASYNCIODEBUG": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            lines = []
            while not any("Ctrl-C" in line for line in lines):
                lines.append(process.stdout.readline())
                assert lines[-1], process.stderr.read()
            address = next(line.strip() for line in lines if "http" in line)
            token, port = re.search(r"token=(\S+)", address)[1], int(re.search(r":(\d+)/", address)[1])
            assert listeners(port) == ["0100007F"]
            assert list(temporary.iterdir())
            assert httpx.get(address).status_code == 200
            for path in ("/api/session", "/api/jobs/77", "/nothing", "/static/../x", "/api/models"):
                httpx.get(f"http://127.0.0.1:{port}{path}?token={token}", headers={"x-compromis-token": token})
            begin = time.monotonic()
            process.send_signal(signal.SIGINT)
            rest, errors = process.communicate(timeout=20)
            assert time.monotonic() - begin < 5
        finally:
            process.kill()
    assert process.returncode == 0
    assert token not in rest + errors
    assert "".join(lines).count(token) == 1
    assert list(temporary.iterdir()) == []
    assert listeners(port) == []


def test_ctrl_c_in_the_middle_of_work_ends_at_once(tmp_path):
    temporary, large = tmp_path / "temporary", tmp_path / "large.csv"
    temporary.mkdir()
    large.write_text("truth,p_a,p_b\n" + "a,0.5,0.25\nb,0.125,0.5\n" * 1_000_000)
    command = [sys.executable, "-m", "compromis", "studio", str(large), "--no-browser", "--output", str(tmp_path)]
    environment = os.environ | {"TMPDIR": str(temporary), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            address = next(line.strip() for line in process.stdout if "http" in line)
            base, token = address.split("/?token=")
            recipe = {"source": "1", "name": "x", "columns": {"truth": "truth", "votes": {"p_a": "a", "p_b": "b"}}}
            with httpx.Client(base_url=base, headers={"x-compromis-token": token}, timeout=20) as client:
                job = client.post("/api/models", json=recipe).json()
                while not job["share"]:
                    job = client.get(f"/api/jobs/{job['id']}?seen={job['version']}").json()
                assert job["state"] == "running"
                assert client.get("/api/session").json()["jobs"][0]["id"] == job["id"]
            begin = time.monotonic()
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=20)
            assert time.monotonic() - begin < 5
        finally:
            process.kill()
    assert (process.returncode, errors) == (0, "")
    assert list(temporary.iterdir()) == []


def test_tokens():
    assert Secrets().token != Secrets().token
    assert len(Secrets().token) >= 43
    keys = Secrets()
    assert keys.token not in repr(keys)
    for weak in ("", "short", "a" * 15, "a" * 20 + " ", "é" * 20):
        with pytest.raises(InputError, match="at least 16"):
            read_token(weak)
