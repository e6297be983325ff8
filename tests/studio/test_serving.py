"""The server: the loopback address only, and a quick end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from compromis.errors import InputError
from compromis.studio.serving import listen


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
