"""python -m tests.stress.spoiled_files KIND FIRST LAST: offer spoiled files to every reader, in a process that may die.

Prints each seed before it is tried, what is broken, and at the end how many files were accepted and the memory used.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path

from click.testing import CliRunner

from compromis.cli import main as command_line
from tests.stress.counting import described
from tests.stress.mutations import ONE_BIT, RELEASE, TABLES, spoiled_file
from tests.stress.programs import peak_memory

SECONDS = 60.0
"""What one small file may take, on a busy machine."""
LONGEST = len("Error: ") + 1000
"""Characters of a message."""
ENGINES = (None, "polars", "duckdb")


def commands(kind: str, path: Path, seed: int) -> list[str]:
    """Return the command that reads such a file."""
    if kind in TABLES:
        engine = None if kind == "arff" else "polars" if kind == ONE_BIT else ENGINES[seed % 3]
        if engine is None:
            return [
                "evaluate",
                str(path),
                "--truth",
                "truth",
                "--prediction",
                "decision",
                "--weight",
                "weight",
                "--drop-missing",
            ]
        output = ["--weight", "weight", "--output", str(path.with_name("out.json")), "--drop-missing"]
        return ["count", str(path), "--truth", "truth", "--prediction", "decision", "--engine", engine, *output]
    votes = [
        str(RELEASE / "votes.csv"),
        "--truth",
        "predicted",
        "--proba",
        "ill",
        "--proba",
        "unsure",
        "--proba",
        "well",
    ]
    preferences, evidence = str(RELEASE / "preferences.toml"), str(path.with_name("evidence.json"))
    given = {
        "model": [["predict", str(path), str(RELEASE / "rows.csv"), *(["--append", "--proba", "p_"] if seed % 2 else [])]],
        "toml": [["evaluate", *votes], ["tune", *votes], ["check", *votes]],
        "decision.json": [["check", *votes, "--preferences", preferences, "--weights", str(path)], ["monitor", *votes, "--preferences", preferences, "--weights", str(path)]],
        "evidence.json": [
            ["merge", str(path), str(path), "--output", str(path.with_name("out.json")), "--prioritise", "bad", "--json"],
            ["evaluate", str(path)], ["merge", str(path)], ["tradeoff", str(path)], ["tune", str(path), "--prioritise", "ill"],
        ],
        "record.json": [["record", evidence, "--verify", str(path)], ["check", evidence, "--record", str(path)]],
    }[kind]  # fmt: skip
    return given[seed % len(given)] + (["--preferences", str(path)] if kind == "toml" else [])


_RUNS = {
    "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.startfile", "subprocess.Popen", "pty.spawn", "webbrowser.open",
    "socket.connect", "socket.bind", "shutil.rmtree",
}  # fmt: skip
"""What Python tells its auditors of programs that run and addresses that are opened."""
_ran: list[str] = []
_watched = False


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if _watched and event in _RUNS and arguments[:1] != ("lscpu",):  # by which joblib counts cores, once
        _ran.append(f"{event} {arguments}"[:200])


sys.addaudithook(_audit)


def complaint(kind: str, path: Path, seed: int) -> str | None:
    """Return what is wrong with the answer, if anything is: code that ran, a crash, a traceback, several lines, the wrong exit code, time."""
    global _watched
    _ran.clear()
    sys.modules.pop("tests.stress.executed", None)  # another test of this process may have imported it
    _watched = kind not in TABLES
    try:
        found = _complaint(kind, path, seed)
    finally:
        _watched = False
    if _ran or "tests.stress.executed" in sys.modules:
        return f"seed {seed}: something ran: {_ran}"
    return found


def _complaint(kind: str, path: Path, seed: int) -> str | None:
    begin = time.monotonic()
    done = CliRunner().invoke(command_line, commands(kind, path, seed))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return described(done.exception, f"seed {seed}")
    if done.exit_code not in (0, 2) and not (
        done.exit_code == 1 and commands(kind, path, seed)[0] in {"check", "monitor"}
    ):
        return f"seed {seed}: exit code {done.exit_code}"
    errors = [
        line for line in done.stderr.splitlines() if line and not line.startswith(("Warning:", "Usage: ", "Try "))
    ]
    if done.exit_code == 2 and (len(errors) != 1 or not errors[0].startswith("Error: ") or len(errors[0]) > LONGEST):
        return f"seed {seed}: the error is not one line: {done.stderr[:300]!r}"
    if time.monotonic() - begin > SECONDS:
        return f"seed {seed}: took {time.monotonic() - begin:.0f} s"
    return None


def try_seed(kind: str, seed: int, folder: Path) -> str | None:
    """Write a spoiled file, offer it, and return what is wrong with the answer, if anything is."""
    path = folder / f"spoiled.{kind}"
    path.write_bytes(spoiled_file(kind, seed))
    return complaint(kind, path, seed)


def main(kind: str, first: int, last: int, folder: Path) -> None:
    """Try the seeds one after the other."""
    warnings.simplefilter("ignore")
    os.environ["RUST_BACKTRACE"] = "0"
    for seed in range(first, last):
        print("try", seed, flush=True)
        broken = try_seed(kind, seed, folder)
        if broken:
            print("broken", kind, broken.replace("\n", " "), flush=True)
    print("memory", round(peak_memory()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
