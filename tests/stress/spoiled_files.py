"""python -m tests.stress.spoiled_files KIND FIRST LAST: offer spoiled files to every reader, in a process that may die.

Prints each seed before it is tried, what is broken, and at the end how many files were accepted and the memory used.
"""

from __future__ import annotations

import os
import resource
import sys
import time
import warnings
from pathlib import Path

import click
from click.testing import CliRunner

from compromis.cli import main as command_line
from tests.stress.counting import described
from tests.stress.mutations import ONE_BIT, RELEASE, TABLES, spoiled_file

SECONDS = 60.0
"""What one small file may take, on a busy machine."""
LONGEST = 4000
"""Letters of a message."""
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
    if kind == "model":
        return ["predict", str(path), str(RELEASE / "rows.csv")]
    return ["merge", str(path), str(path), "--output", str(path.with_name("out.json"))]


def complaint(kind: str, path: Path, seed: int) -> str | None:
    """Return what is wrong with the answer, if anything is: a crash, a traceback, several lines, the wrong exit code, time."""
    begin = time.monotonic()
    if kind in {"toml", "decision.json"}:  # the commands that read them do much else
        return _library(kind, path)
    done = CliRunner().invoke(command_line, commands(kind, path, seed))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return described(done.exception, f"seed {seed}")
    if done.exit_code not in (0, 2):
        return f"seed {seed}: exit code {done.exit_code}"
    errors = [line for line in done.stderr.splitlines() if not line.startswith("Warning:")]
    if done.exit_code == 2 and (len(errors) != 1 or not errors[0].startswith("Error: ") or len(errors[0]) > LONGEST):
        return f"seed {seed}: the error is not one line: {done.stderr[:300]!r}"
    if time.monotonic() - begin > SECONDS:
        return f"seed {seed}: took {time.monotonic() - begin:.0f} s"
    return None


def _library(kind: str, path: Path) -> str | None:
    import compromis as cp

    try:
        (cp.Preferences.from_toml if kind == "toml" else cp.Decision.from_json)(path)
    except cp.CompromisError as error:
        text = str(error)
        return (
            None
            if len(text) <= LONGEST and len(click.unstyle(text)) == len(text)
            else f"the message is too long: {text[:200]!r}"
        )
    except OSError:
        return None
    except Exception as error:
        return described(error, str(path))
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
    print("memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
