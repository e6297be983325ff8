"""The server: the loopback address only, and a quick end."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from compromis.errors import InputError
from compromis.studio.serving import listen, open_browser


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


def start_studio(folder, *, before="", **environment):
    """Start the command without a browser; return the process and the address it prints."""
    program = f"{before}\nfrom compromis.cli import main\nmain(['studio', '--no-browser', '--output', {str(folder)!r}])"
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1", **environment},
    )
    return process, next(line.strip() for line in process.stdout if "http" in line)


@pytest.mark.skipif(sys.platform == "win32", reason="the limit of descriptors is a matter of Unix")
def test_silent_connections_take_neither_the_page_nor_the_log(tmp_path):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))"
    process, address = start_studio(tmp_path, before=limit)
    port = int(re.search(r":(\d+)/", address)[1])
    silent = []
    try:
        for number in range(400):
            silent.append(socket.socket())
            silent[-1].setblocking(False)
            silent[-1].connect_ex(("127.0.0.1", port))
            if number % 2:
                with contextlib.suppress(OSError):  # not connected yet
                    silent[-1].send(b"GET / HTTP/1.1\r\nhost: x\r\n")
        for _ in range(3):
            begin = time.monotonic()
            assert httpx.get(address, timeout=10).status_code == 200
            assert time.monotonic() - begin < 2
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()
        for sock in silent:
            sock.close()
    assert len(errors) < 10_000
    assert process.returncode == 0


def test_a_connection_whose_headers_do_not_come_is_closed(studio, monkeypatch):
    monkeypatch.setattr("compromis.studio.connections.PATIENCE", 0.3)
    one = studio()
    for begin in (b"", b"GET / HTT", b"GET / HTTP/1.1\r\nhost: x\r\n"):
        with socket.create_connection(("127.0.0.1", one.port), timeout=5) as sock:
            sock.sendall(begin)
            with contextlib.suppress(ConnectionResetError):
                assert sock.recv(100) == b""
    slow = iter([b"x" * 10, b"y" * 10])  # a body may take its time

    def pieces():
        for piece in slow:
            time.sleep(0.5)
            yield piece

    headers = {"content-type": "application/octet-stream", "x-file-name": "a.csv"}
    assert one.client.post("/api/upload", content=pieces(), headers=headers).status_code == 200


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has no such signal")
def test_a_closed_terminal_leaves_no_uploads(tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process, address = start_studio(tmp_path, TMPDIR=str(temporary))
    base, token = address.split("/?token=")
    try:
        headers = {"x-compromis-token": token, "content-type": "application/octet-stream", "x-file-name": "a.csv"}
        assert httpx.post(f"{base}/api/upload", content=b"a,b\n1,2\n", headers=headers).status_code == 200
        assert list(temporary.iterdir())
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=20)
    finally:
        process.kill()
    assert list(temporary.iterdir()) == []


def test_the_browser_gets_a_private_file_not_the_token(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    open_browser("http://127.0.0.1:1/?token=secret&x=1", tmp_path)
    deadline = time.monotonic() + 5
    while not opened and time.monotonic() < deadline:
        time.sleep(0.01)
    (given,) = opened
    assert "secret" not in given
    path = tmp_path / "open.html"
    assert given == path.as_uri()
    assert path.stat().st_mode & 0o077 == 0
    assert "token=secret&amp;x=1" in path.read_text()


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
