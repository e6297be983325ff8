"""Files come from and go to where the user pointed."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest

from compromis.errors import InputError
from compromis.studio.storage import NameTaken, Places, checked_name
from tests.second_user import ONLY_ROOT, acting, shared_folder
from tests.studio.running import BINARY, JSON


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


def test_of_programs_that_save_one_new_name_at_once_one_succeeds(tmp_path):
    def save(number):
        ready.wait()
        try:
            places.save("same.toml", ".toml", lambda path: path.write_text(str(number)), replace=False)
        except NameTaken:
            return None
        return number

    (tmp_path / "out").mkdir()
    places = Places([], tmp_path / "out")
    for _ in range(12):
        ready = threading.Barrier(6)
        with ThreadPoolExecutor(6) as pool:
            saved = [number for number in pool.map(save, range(6)) if number is not None]
        assert len(saved) == 1
        assert (tmp_path / "out" / "same.toml").read_text() == str(saved[0])
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["same.toml"]
        (tmp_path / "out" / "same.toml").unlink()


def test_without_links_a_new_name_is_still_taken_once(tmp_path, monkeypatch):
    def link(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    places = Places([], tmp_path)
    places.save("a.toml", ".toml", lambda path: path.write_text("new"), replace=False)
    with pytest.raises(NameTaken, match="already"):
        places.save("a.toml", ".toml", lambda path: path.write_text("other"), replace=False)
    assert (tmp_path / "a.toml").read_text() == "new"


PROGRAM = """
import os, sys
from compromis.studio.storage import Places
os.setuid(65534)
places = Places([sys.argv[1]], sys.argv[2])
print([source.shown()["name"] for source in places.sources()], places.unreadable())
"""


@pytest.mark.skipif(sys.platform == "win32" or os.getuid() != 0, reason="only root can become another user")
def test_a_file_that_may_not_be_read_is_left_out_with_its_name():
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        folder.chmod(0o755)
        for name in ("open.csv", "locked.csv"):
            (folder / name).write_text("a,b\n1,2\n")
        (folder / "locked.csv").chmod(0)
        (folder / "out").mkdir(mode=0o777)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, text, str(folder / "out")], capture_output=True, text=True, check=True
        )
    assert done.stdout.strip() == "['open.csv'] ['locked.csv']"


def test_uploads_of_killed_studios_are_swept_and_those_of_living_ones_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for number in (dead.pid, os.getpid()):
        (tmp_path / f"compromis-studio-{number}-abc").mkdir()
        (tmp_path / f"compromis-studio-{number}-abc" / "upload.csv").write_text("a")
    (tmp_path / "compromis-studio-other").mkdir()
    Places([], tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {f"compromis-studio-{os.getpid()}-abc", "compromis-studio-other"}


def test_uploads_outlive_a_cleaner_of_temporary_folders(studio):
    one = studio()
    before = one.upload("a.csv", b"a,b\n1,2\n").json()
    shutil.rmtree(one.workspace.places.private())
    assert one.ask("/api/session")["sources"] == [before]
    assert one.ask(f"/api/sources/{before['id']}/look", {})["rows"] == [["1", "2"]]
    assert stat.S_IMODE(one.workspace.places.private().stat().st_mode) == 0o700
    one.workspace.places.source(before["id"]).path.unlink()  # the file alone
    assert one.workspace.places.source(before["id"]).path.read_bytes() == b"a,b\n1,2\n"
    assert one.upload("b.csv", b"a,b\n1,2\n").status_code == 200
    assert [source["name"] for source in one.ask("/api/session")["sources"]] == ["a.csv", "b.csv"]


@ONLY_ROOT
def test_a_folder_that_another_user_put_in_place_of_ours_gets_nothing(monkeypatch, tmp_path):
    with shared_folder() as folder:
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        places = Places([], tmp_path)
        lost = places.private()
        lost.rmdir()
        with acting():
            lost.mkdir()
        assert places.private() != lost
        assert places.private().stat().st_uid == os.getuid()
        places.close()


def test_uploads_can_be_removed_and_files_that_were_named_cannot(studio, votes):
    one = studio(votes)
    source = one.upload("a.csv", b"a,b\n1,2\n").json()
    path = one.workspace.places.source(source["id"]).path
    one.ask(f"/api/sources/{source['id']}/remove", {})
    assert not path.exists()
    (named,) = one.ask("/api/session")["sources"]
    assert named["name"] == votes.name
    answer = one.client.post(f"/api/sources/{named['id']}/remove", json={})
    assert "only uploaded files can be removed" in answer.json()["error"]
    assert votes.exists()


@pytest.mark.parametrize("name", ["COM¹.toml", "lpt3.toml", "CONIN$.toml", "conout$.toml", "nul.a.toml"])
def test_names_that_windows_keeps_for_devices_are_refused(name):
    with pytest.raises(InputError, match="systems treat apart"):
        checked_name(name, ".toml")


@ONLY_ROOT
def test_another_user_reads_no_upload_and_moves_no_sweep(monkeypatch, tmp_path):
    """In a temporary folder for everybody: ours is closed, his stays, and his link leads the sweep to nothing of ours."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "kept").write_text("kept")
    with shared_folder() as folder:
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        with acting():
            (folder / "compromis-studio-4194999-his").mkdir()
            (folder / "compromis-studio-4194998-trap").symlink_to(mine)
        places = Places([], tmp_path)
        (places.private() / "upload").write_text("secret")
        with acting():
            with pytest.raises(PermissionError):
                list(places.private().iterdir())
            with pytest.raises(PermissionError):
                shutil.move(places.private(), folder / "his")
        assert (folder / "compromis-studio-4194999-his").is_dir()
        assert (mine / "kept").read_text() == "kept"
        places.close()
