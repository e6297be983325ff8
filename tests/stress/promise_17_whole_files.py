"""17. Signals at random moments and a full disk at every write: the old or the new file whole, and nothing beside it but after kill -9."""

from __future__ import annotations

import ast
import errno
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from tests.model_files import ROWS, logistic_model, write_logistic_model
from tests.stress.counting import described
from tests.stress.outcome import NotRun, Outcome, Progress, scaled, silent
from tests.stress.programs import ROOT, environment

TITLE = "kill -9 and a full disk: files old or new, never a part"
QUICK = 0.01
KILLS = 300
CALLS = ("os.open", "os.fdopen", "os.chmod", "os.fsync", "os.replace")
"""What a write does, in order; each fails in turn."""
WRITING = {"write_text", "write_bytes", "savefig", "to_csv", "to_parquet", "dump", "mkstemp", "NamedTemporaryFile"}
ELSEWHERE = {"_files.py", "studio/serving.py", "studio/storage.py", "plots/_base.py"}
"""The one writer; the demo, which uses it; uploads, into the studio's private folder; pictures, into memory."""

LOOP = """
import signal, sys
from compromis._files import write_whole
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored under nohup
path, size = sys.argv[1], int(sys.argv[2])
contents = [letter * size + b"end" for letter in (b"a", b"b")]
print("ready", flush=True)
turn = 0
while True:
    write_whole(path, contents[turn % 2]); turn += 1
"""


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Kills, calls that fail, limits of a file's size, and a disk that is full."""
    total = only_one_writer()
    with tempfile.TemporaryDirectory() as name:
        total += failing_calls(Path(name), models=scale >= 0.05)
        total += limited_sizes(Path(name), scaled(200, scale, least=3))
        kills = scaled(KILLS, scale)
        for done in range(kills):
            total += killed(Path(name), done)
            progress(done + 1, kills)
    try:
        with small_disk() as disk:
            total += full_disk(disk, scaled(60, scale, least=3))
    except NotRun as reason:
        total += Outcome(0, (), Counter({str(reason): 1}))
    return total


def only_one_writer(folder: Path = ROOT / "src" / "compromis") -> Outcome:
    """Look for writes that do not go through `write_whole`."""
    total = Outcome(0)
    for path in sorted(folder.rglob("*.py")):
        if path.relative_to(folder).as_posix() not in ELSEWHERE:
            found = [f"{path.name}:{line} writes by itself" for line in _writes(path.read_text("utf-8"))]
            total += Outcome(1, tuple(found))
    return total


def _writes(source: str) -> Iterator[int]:
    for node in ast.walk(ast.parse(source)):
        called = node.func if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
        if (
            called is not None and called.attr in WRITING and ast.unparse(called) != "cp.frames.to_csv"
        ):  # it calls `write_whole`
            yield called.lineno
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "open":
            modes = [
                part.value
                for part in ast.walk(node)
                if isinstance(part, ast.Constant) and part.value in ("w", "wb", "a", "ab", "x", "r+b")
            ]
            if modes:
                yield node.lineno


def writers(*, models: bool) -> dict[str, Callable[[Path, int], Any]]:
    """Every way to write a file, with a number that makes the content another."""
    import numpy as np

    import compromis as cp
    from compromis._files import write_whole
    from compromis.frames import to_csv

    result = cp.evaluate(["a", "b", "b"], ["a", "b", "a"])
    return (_model_writer() if models else {}) | {
        "evidence": lambda path, number: cp.evidence.write(
            cp.Counts.from_matrix([[number, 1], [2, 3]], ["a", "b"]), path
        ),
        "preferences": lambda path, number: cp.Preferences({"a": cp.Preference(number + 1.0)}).to_toml(path),
        "decision": lambda path, number: cp.Decision(("a", "b"), np.array([number + 1.0, 1.0])).to_json(path),
        "evaluation": lambda path, number: write_whole(path, result.to_html() + str(number)),
        "table": lambda path, number: write_whole(path, to_csv({"x": [number] * 1000})),
    }


def _model_writer() -> dict[str, Callable[[Path, int], Any]]:
    from compromis.estimators.model_file import save_model

    model = logistic_model()

    def write(path: Path, number: int) -> None:
        save_model(replace(model, target=f"t{number}"), path)

    return {"model": write}


def failing_calls(folder: Path, *, models: bool) -> Outcome:
    """Let each call of each writer fail as a full disk would; the old file must be there, and nothing beside it."""
    total = Outcome(0)
    for name, write in writers(models=models).items():
        path = folder / "file"
        write(path, 1)
        old = path.read_bytes()
        for call in (*CALLS, "write"):
            failure: tuple[str, ...] = ()
            try:
                with _failing(call):
                    write(path, 2)
                failure = (f"{name}: {call} failed, and nobody was told",)
            except OSError as error:
                if error.errno != errno.ENOSPC or error.filename != str(path):
                    failure = (described(error, f"{name}, {call}"),)
            if path.read_bytes() != old or sorted(folder.iterdir()) != [path]:
                failure += (f"{name}: after {call} failed the file is another, or something is left beside it",)
            total += Outcome(1, failure)
        path.unlink()
    return total


@contextmanager
def _failing(call: str) -> Iterator[None]:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if call != "write":
        with mock.patch(call, fail):
            yield
        return
    real = os.fdopen

    def broken(*arguments: Any) -> Any:
        stream = real(*arguments)
        wrapped = mock.MagicMock(wraps=stream)
        wrapped.__enter__.return_value = wrapped
        wrapped.__exit__.side_effect = lambda *_: stream.close()
        wrapped.write.side_effect = fail
        return wrapped

    with mock.patch("os.fdopen", broken):
        yield


def limited_sizes(folder: Path, times: int) -> Outcome:
    """Limit the size of files in a process of its own, below, at and above what is written."""
    program = (
        "import resource, signal, sys\nfrom compromis._files import write_whole\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "for limit in range(0, 20001, max(1, 20000 // int(sys.argv[2]))):\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 40, -1))\n    write_whole(sys.argv[1], b'old' * 5000)\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, -1))\n    told = False\n"
        "    try: write_whole(sys.argv[1], b'new' * 6000)\n    except OSError: told = True\n"
        "    found = open(sys.argv[1], 'rb').read()\n"
        "    assert found == (b'old' * 5000 if told else b'new' * 6000) and told == (limit < 18000), limit\n    print(limit)\n"
    )
    command = [sys.executable, "-c", program, str(folder / "limited"), str(times)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False, timeout=600)
    failures = () if done.returncode == 0 else (f"limited size: {done.stderr[-300:]}",)
    left = [path.name for path in folder.iterdir() if path.name != "limited"]
    (folder / "limited").unlink(missing_ok=True)
    return Outcome(len(done.stdout.split()), failures + ((f"left behind: {left}",) if left else ()))


def killed(folder: Path, seed: int) -> Outcome:
    """Kill a process that writes again and again; what is there must be one of its two contents."""
    rng = random.Random(seed)
    path, size = folder / "killed", rng.choice([1000, 1_000_000, 20_000_000])
    process = subprocess.Popen(
        [sys.executable, "-c", LOOP, str(path), str(size)], env=environment(), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    ready = process.stdout.readline() == b"ready\n"
    time.sleep(rng.random() * 0.3)
    lived = process.poll() is None
    number = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)[seed % 3]
    process.send_signal(number)
    process.wait()
    process.stdout.close()
    if not (ready and lived):
        return Outcome(1, (f"seed {seed}: what was to be killed had ended by itself",))
    found = path.read_bytes() if path.exists() else b""
    whole = not path.exists() or (
        len(found) == size + 3 and found.endswith(b"end") and found[:-3].count(found[:1]) == size
    )
    left = [one for one in folder.iterdir() if one.name.startswith(".killed.")]
    for one in (path, *left):
        one.unlink(missing_ok=True)
    notes = Counter({"a temporary file stayed after kill -9, which nothing can prevent": len(left)})
    notes["kills before the first file was there"] = 0 if found else 1
    failures = () if whole else (f"seed {seed}: {len(found):,} bytes of {size + 3:,}",)
    if left and number != signal.SIGKILL:
        failures += (f"seed {seed}: {number.name} left a temporary file",)
    return Outcome(1, failures, notes)


@contextmanager
def small_disk(size: str = "1m") -> Iterator[Path]:
    """Mount a disk of one megabyte; only root can."""
    with tempfile.TemporaryDirectory() as name:
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", name]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            raise NotRun(
                "no small disk could be mounted, which only root can; limits of file sizes stand for it"
            ) from None
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", name], check=True, capture_output=True)


def full_disk(disk: Path, times: int) -> Outcome:
    """Fill the disk more and more, and write over a file; then the same through the command line."""
    from compromis._files import write_whole

    total = Outcome(0)
    path, ballast = disk / "file", disk / "ballast"
    for step in range(times):
        ballast.write_bytes(b"")
        write_whole(path, b"o" * 200_000)
        ballast.write_bytes(b"x" * (500_000 + 300_000 * step // times))
        expected = b"n" * 300_000
        try:
            write_whole(path, expected)
        except OSError:
            expected = b"o" * 200_000
        right = path.read_bytes() == expected and sorted(disk.iterdir()) == [ballast, path]
        total += Outcome(1, () if right else (f"full disk, step {step}: a part, or something left behind",))
    return total + (_command_on_full_disk(disk, ballast) if times > 3 else Outcome(0))


def _command_on_full_disk(disk: Path, ballast: Path) -> Outcome:
    ballast.write_bytes(b"")
    model = write_logistic_model(disk.parent / "logistic.model")
    with ballast.open("ab") as stream:
        try:
            while True:
                os.write(stream.fileno(), b"x" * 4096)
        except OSError:
            pass
    command = [sys.executable, "-m", "compromis", "predict", str(model), str(ROWS), "--output", str(disk / "out.csv")]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False, timeout=300)
    said = done.stderr.strip().splitlines()
    right = (
        done.returncode == 2
        and said == [f"Error: {disk / 'out.csv'}: No space left on device"]
        and not (disk / "out.csv").exists()
    )
    return Outcome(1, () if right else (f"the command line on a full disk: {done.returncode} {said[-3:]}",))
