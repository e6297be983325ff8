"""Ctrl-C during a search: what was found so far is said, nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from compromis.cli import main


@pytest.fixture
def votes(tmp_path, rng):
    """Five classes, so that the search is a sweep that goes on while it has time."""
    truth = rng.integers(0, 5, 400)
    shares = rng.multinomial(10, np.ones(5) / 5, 400) + 3 * np.eye(5, dtype=int)[truth]
    rows = [",".join(map(str, [f"c{k}", *row])) for k, row in zip(truth, shares, strict=True)]
    (tmp_path / "votes.csv").write_text(
        "truth," + ",".join(f"p_c{k}" for k in range(5)) + "\n" + "\n".join(rows) + "\n"
    )
    return tmp_path / "votes.csv"


def arguments(votes, seconds):
    return [
        "tune",
        str(votes),
        "--truth",
        "truth",
        "--proba",
        "p_",
        "--prioritise",
        "c1",
        "--seconds",
        str(seconds),
        "--output",
        "weights.json",
    ]


@pytest.mark.parametrize("engine", [None, "polars", "duckdb"])
def test_ctrl_c_says_what_was_found_so_far(votes, monkeypatch, tmp_path, engine):
    if engine is not None:
        pytest.importorskip(engine)
    calls = []

    def pressed(bar, task, **shown):
        calls.append(shown["loss"])
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("rich.progress.Progress.update", pressed)
    before, handler = sorted(tmp_path.iterdir()), signal.getsignal(signal.SIGINT)
    begin = time.process_time()  # a busy machine is slow, but a search that does not stop computes
    done = CliRunner().invoke(main, [*arguments(votes, 600), *(["--engine", engine] if engine else [])])
    assert time.process_time() - begin < 60
    assert done.exit_code == 130
    assert "stopped by Ctrl-C: these are the best weights found so far, and nothing was written" in done.stderr
    assert done.stdout.startswith("Tuned: ")
    assert "\nc0  " in done.stdout
    assert sorted(tmp_path.iterdir()) == before
    assert signal.getsignal(signal.SIGINT) is handler


@pytest.mark.slow
def test_a_signal_to_the_program(votes, tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    (tmp_path / "temporary").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "compromis", *arguments(votes, 120)],
        env=environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    time.sleep(40)  # long enough to import on a busy machine
    process.send_signal(signal.SIGINT)
    out, complaint = process.communicate(timeout=60)
    assert process.returncode == 130, complaint
    assert "weights: c0 " in out
    assert list((tmp_path / "temporary").iterdir()) == []
    assert not Path("weights.json").exists()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (
            "fit --target truth --prioritise c1 --trees 5 --output m.model",
            ["reading", "fitting and tuning forest on 400 rows"],
        ),
        ("report --truth truth --proba p_ --prioritise c1", ["reading", "evaluating 400 rows and drawing the page"]),
    ],
)
def test_what_takes_long_is_told_on_a_terminal(votes, monkeypatch, tmp_path, command, told):
    monkeypatch.chdir(tmp_path)
    shown = []
    monkeypatch.setattr("rich.console.Console.status", lambda _, what: shown.append(str(what)) or nullcontext())
    monkeypatch.setattr("compromis.cli.inputs.sys", SimpleNamespace(stderr=SimpleNamespace(isatty=lambda: True)))
    name, *options = command.split()
    done = CliRunner().invoke(main, [name, votes.name, *options])
    assert done.exit_code == 0, done.output
    assert [line.removesuffix(f" {votes.name}") for line in shown] == told
