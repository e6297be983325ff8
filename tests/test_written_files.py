"""How files are written: what `write_whole` promises, through a method that uses it."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import compromis as cp
from tests.second_user import ONLY_ROOT, OTHER, acting, shared_folder

PREFERENCES = cp.Preferences.prioritise(["bad"])
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="there are neither pipes with names nor modes")
WRITER = "import compromis as cp, os, sys, time\nwrite = cp.Preferences.prioritise(['bad']).to_toml\n"


def written(path):
    PREFERENCES.to_toml(path)
    return cp.Preferences.from_toml(path) == PREFERENCES


def program(code, *arguments, **streams):
    return subprocess.Popen([sys.executable, "-c", WRITER + code, *map(str, arguments)], **streams)


@POSIX
def test_an_error_names_the_file_alone(tmp_path):
    path = tmp_path / "no" / "file"
    with pytest.raises(FileNotFoundError) as raised:
        cp.Preferences().to_toml(path)
    assert str(raised.value) == f"[Errno 2] No such file or directory: {str(path)!r}"


def test_a_pipe_stays_one(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_text()), daemon=True)
    reader.start()
    PREFERENCES.to_toml(tmp_path / "pipe")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    reader.join(5)
    assert got == [PREFERENCES.to_toml_text()]


@ONLY_ROOT
def test_a_device_stays_one(tmp_path):
    try:
        os.mknod(tmp_path / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        (tmp_path / "null").write_text("")
    except PermissionError:
        pytest.skip("devices cannot be made here")
    PREFERENCES.to_toml(tmp_path / "null")
    assert stat.S_ISCHR((tmp_path / "null").stat().st_mode)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files have no names here")
def test_standard_output_goes_on(tmp_path):
    """What is printed before and after stands in the same file, by whichever name the file is given.

    A link of our own stands for /dev/stdout, which a write that replaces links would replace for everybody.
    """
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    for name in ("stdout", "out"):
        with (tmp_path / "out").open("wb") as stream:
            assert (
                program("print('before'); write(sys.argv[1]); print('after')", tmp_path / name, stdout=stream).wait()
                == 0
            )
        assert (tmp_path / "out").read_text() == f"before\n{PREFERENCES.to_toml_text()}after\n"


@POSIX
def test_a_link_is_followed(tmp_path):
    for folder in ("runs", "here"):
        (tmp_path / folder).mkdir()
    real, link = tmp_path / "runs" / "7.toml", tmp_path / "here" / "latest.toml"
    link.symlink_to("../runs/7.toml")
    assert written(link)  # to a file that is not there yet
    real.write_text("old")
    real.chmod(0o640)
    assert written(link)
    assert written(real)
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["7.toml", "here", "latest.toml", "runs"]
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(OSError, match="symbolic links"):
        PREFERENCES.to_toml(tmp_path / "round")


@ONLY_ROOT
def test_the_owner_stays(tmp_path):
    path = tmp_path / "of_a_user.toml"
    path.write_text("old")
    os.chown(path, OTHER, OTHER)
    path.chmod(0o600)
    assert written(path)
    assert (path.stat().st_uid, path.stat().st_gid, stat.S_IMODE(path.stat().st_mode)) == (OTHER, OTHER, 0o600)


@POSIX
def test_the_umask_is_never_changed(tmp_path, monkeypatch):
    before = os.umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", lambda _: pytest.fail("another thread could make a file at this moment"))
        assert written(tmp_path / "new.toml")
    finally:
        monkeypatch.undo()
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.toml").stat().st_mode) == 0o640


@POSIX
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_the_process_leaves_nothing_beside_the_file(tmp_path, number):
    code = "os.fsync = lambda _: (print('writing', flush=True), time.sleep(1))\nwrite(sys.argv[1]); print('still here')"
    process = program(code, tmp_path / "f.toml", stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"writing\n"
    process.send_signal(number)
    assert process.communicate() == (b"", None)
    assert process.returncode == -number
    assert [path.name for path in tmp_path.iterdir()] == ["f.toml"]
    assert cp.Preferences.from_toml(tmp_path / "f.toml") == PREFERENCES


@POSIX
def test_signals_that_are_handled_or_ignored_stay_so(tmp_path):
    code = (
        "import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN); signal.signal(signal.SIGTERM, print)\n"
        "write(sys.argv[1])\nassert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN and signal.getsignal(signal.SIGTERM) is print"
    )
    assert program(code, tmp_path / "f.toml").wait() == 0


@ONLY_ROOT
@pytest.mark.parametrize("trap", ["link", "file", "pipe"])
def test_nothing_is_written_through_another_users_trap(trap):
    """In a folder for everybody, what another user put there gets neither our data nor a way to another file of ours."""
    with shared_folder() as folder:
        mine = folder / "mine.toml"
        mine.write_text("mine")
        mine.chmod(0o600)
        planted = folder / "results.toml"
        with acting():
            make = {"link": lambda: planted.symlink_to(mine), "file": planted.touch, "pipe": lambda: os.mkfifo(planted)}
            make[trap]()
        with pytest.raises(PermissionError):
            PREFERENCES.to_toml(planted)
        (folder / "own link").symlink_to(planted)
        with pytest.raises(PermissionError):
            PREFERENCES.to_toml(folder / "own link")
        assert mine.read_text() == "mine"
        assert planted.lstat().st_uid == OTHER
        assert written(mine)
        with acting():
            assert not os.access(mine, os.R_OK, effective_ids=True)


@ONLY_ROOT
def test_two_users_write_in_one_folder_for_all(tmp_path):
    with shared_folder() as folder:
        assert written(folder / "mine.toml")
        with acting():
            assert written(folder / "theirs.toml")
            with pytest.raises(PermissionError):
                PREFERENCES.to_toml(folder / "mine.toml")
        assert Path(folder / "mine.toml").stat().st_uid == 0
        assert sorted(path.name for path in folder.iterdir()) == ["mine.toml", "theirs.toml"]
