"""What becomes of results that the output cannot take: escaped, or one sentence and exit code 2; nothing is lost silently."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import compromis as cp
from tests.command_line import run

NAME = "žena😀"
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="there is no /dev/full")


@pytest.fixture
def rows(tmp_path):
    (tmp_path / "rows.csv").write_text(f"t,d\n{NAME},{NAME}\nb,{NAME}\nb,b\n{NAME},b\n", encoding="utf-8")
    return ["evaluate", tmp_path / "rows.csv", "--truth", "t", "--prediction", "d"]


def program(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **settings):
    command = [sys.executable, "-m", "compromis", *map(str, arguments)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | settings
    return subprocess.run(command, stdout=stdout, stderr=stderr, env=environment, check=False)


def test_letters_that_the_encoding_lacks_are_escaped(rows):
    text = program(rows, PYTHONIOENCODING="cp1252").stdout.decode("cp1252")
    assert "žena\\ud83d\\ude00" in text
    done = program([*rows, "--json"], PYTHONIOENCODING="cp1252")
    assert json.loads(done.stdout.decode("cp1252")) == json.loads(run(*rows, "--json").stdout)
    assert done.returncode == 0


@POSIX
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written(rows, unbuffered):
    reader, pipe = os.pipe()
    os.set_blocking(pipe, False)
    try:
        while True:
            os.write(pipe, b"x" * 4096)
    except BlockingIOError:
        pass
    broken_reader, broken = os.pipe()
    os.close(broken_reader)
    with Path("/dev/full").open("wb") as full, os.fdopen(pipe, "wb") as stuck, os.fdopen(broken, "wb") as gone:
        for output, why in (
            (full, "No space left on device"),
            (stuck, "write could not complete without blocking"),
            (gone, "Broken pipe"),
        ):
            done = program(rows, stdout=output, PYTHONUNBUFFERED=unbuffered)
            assert (done.returncode, done.stderr.decode()) == (2, f"Error: the output: {why}\n")
        assert program(["--help"], stdout=full, PYTHONUNBUFFERED=unbuffered).returncode == 2
        assert program([*rows, "--label", "none"], stderr=full, PYTHONUNBUFFERED=unbuffered).returncode == 2
    os.close(reader)


@POSIX
def test_an_output_that_is_closed(rows, tmp_path):
    shell = 'exec "$@" >&-'
    command = ["sh", "-c", shell, "sh", sys.executable, "-m", "compromis"]
    done = subprocess.run([*command, *rows], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (2, b"Error: the output: it is closed\n")


@POSIX
def test_a_standard_input_that_is_closed():
    """As under cron, or after <&- of a shell; without --truth evidence is looked for."""
    command = ["sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-m", "compromis", "evaluate", "-"]
    for named, said in (["--truth", "t", "--prediction", "d"], "standard input is closed"), ([], "option '--truth'"):
        done = subprocess.run([*command, *named], capture_output=True, text=True, check=False)
        assert (done.returncode, said in done.stderr.splitlines()[-1]) == (2, True)


def test_a_sentence_has_at_most_1000_characters(tmp_path):
    long = "x" * 9000
    (tmp_path / "rows.csv").write_text("".join(f"{column}{long}," for column in range(12)) + "t\n" + "1," * 12 + "a\n")
    done = run("evaluate", tmp_path / "rows.csv", "--truth", "t", "--prediction", "d")
    assert done.exit_code == 2
    assert len(done.stderr) <= len("Error: \n") + 1000
    with pytest.raises(cp.InputError) as caught:
        cp.Preference(importance="9" * 3000)
    assert len(str(caught.value)) == 1000
    assert str(caught.value).startswith("importance")
