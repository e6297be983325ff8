"""32. Small files made to cost much: below 1 GB of memory and 20 s of one core for every format, or a one-line refusal.

python -m tests.stress.promise_32_strangers FORMAT FIRST LAST tries seeds in a process of its own, which may die.
"""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from tests.stress.counting import in_programs
from tests.stress.outcome import Outcome, Progress, scaled, silent
from tests.stress.programs import ROOT, environment, peak_memory

TITLE = "files made to cost much: 1 GB and 20 s, or one line"
QUICK = 0.0004
FORMATS = ("csv", "csv.gz", "arff", "parquet")
EACH = 5000
BLOCK = 100
MEMORY, SECONDS = 1000, 20.0
"""Megabytes of the process, libraries included, and seconds of computing for one file."""
COMMANDS = (
    ["evaluate", "--truth", "truth", "--prediction", "decision", "--drop-missing"],
    ["evaluate", "--truth", "truth", "--prediction", "decision", "--group", "decision", "--drop-missing"],
    ["count", "--truth", "truth", "--prediction", "decision", "--output", "out.json", "--drop-missing"],
    ["count", "--truth", "truth", "--proba", "p_", "--output", "out.json", "--drop-missing"],
    ["count", "--truth", "truth", "--score", "p_a", "--pos-label", "a", "--output", "out.json", "--drop-missing"],
    ["evaluate", "--truth", "truth", "--proba", "p_", "--drop-missing"],
    ["tradeoff", "--truth", "truth", "--score", "p_a", "--pos-label", "a", "--drop-missing"],
    ["preview"],
)


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Try the seeds of each format, some in each process."""
    each = scaled(EACH, scale, least=2)
    blocks = [(kind, first, min(first + BLOCK, each)) for kind in FORMATS for first in range(0, each, BLOCK)]
    return in_programs(tried, blocks, progress)


def tried(kind: str, first: int, last: int) -> Outcome:
    """Try seeds in a process; if it dies, the seed is named and the next process goes on after it."""
    failures: list[str] = []
    notes: Counter[str] = Counter()
    begin = first
    while begin < last:
        command = [sys.executable, "-m", "tests.stress.promise_32_strangers", kind, str(begin), str(last)]
        done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        failures += [line.removeprefix("broken ") for line in lines if line.startswith("broken ")]
        notes.update(line.removeprefix("note ") for line in lines if line.startswith("note "))
        if done.returncode == 0:
            break
        seed = int(next(line for line in reversed(lines) if line.startswith("try ")).split()[1])
        failures.append(f"{kind} seed {seed}: the process ended with code {done.returncode}: {done.stderr[-200:]}")
        begin = seed + 1
    return Outcome(last - first, tuple(failures), notes)


def main(kind: str, first: int, last: int) -> None:
    """Try the seeds one after the other."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        most = 0.0
        for seed in range(first, last):
            print("try", seed, flush=True)
            path = Path(f"x.{kind}")
            path.write_bytes(made(kind, np.random.default_rng(seed)))
            before = time.process_time()
            answer = answered(path, seed)
            seconds = time.process_time() - before
            used = peak_memory()
            what = f"{kind} seed {seed}, {path.stat().st_size:,} bytes, {' '.join(COMMANDS[seed % len(COMMANDS)][:4])}"
            if answer.startswith("broken"):
                print(f"broken {what}: {answer[7:]}")
            else:
                print(f"note {kind}: {answer}")
            if used > MEMORY >= most or seconds > SECONDS:
                print(f"broken {what}: {used:,.0f} MB, {seconds:.0f} s")
            most = max(most, used)


def answered(path: Path, seed: int) -> str:
    """Run a command on the file; return whether it was accepted or refused, or what is wrong."""
    from compromis.cli import main as command_line

    command = COMMANDS[seed % len(COMMANDS)]
    if command == ["preview"]:
        return previewed(path)
    done = CliRunner().invoke(command_line, [command[0], str(path), *command[1:]])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return f"broken {type(done.exception).__name__}: {str(done.exception)[:200]}"
    errors = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    if done.exit_code == 2 and (len(errors) != 1 or done.stderr.splitlines()[-1] != errors[0] or len(errors[0]) > 4000):
        return f"broken the error is not one line: {done.stderr[:200]!r}"
    return {0: "accepted", 2: "refused"}.get(done.exit_code, f"broken exit code {done.exit_code}")


def previewed(path: Path) -> str:
    """Let the studio look at the file."""
    import compromis as cp
    from compromis.studio.loading import preview
    from compromis.studio.storage import Source

    try:
        preview(Source("1", path.name, path))
    except cp.CompromisError:
        return "refused"
    return "accepted"


def made(kind: str, rng: np.random.Generator) -> bytes:
    """Return a file of few bytes: many rows, many columns, long labels, many labels, or nothing in many places."""
    rows, columns = (int(10 ** rng.uniform(0, high)) for high in (5.5, 4.5))
    rows = min(rows, max(2, 3_000_000 // max(4, columns)))
    letters = int(10 ** rng.uniform(0, 4.2))
    if kind == "parquet":
        return _parquet(rng, int(10 ** rng.uniform(0, 7.2)), min(columns, 300), letters)
    if kind == "arff":
        return _arff(rng, rows, columns, letters)
    shape = rng.integers(5)
    head = ["truth", "decision", "p_a", "p_b", *(f"c{k}" for k in range(columns if shape == 1 else 0))]
    row = [str(rng.choice(["a", "", "x" * letters])), "a", "0.5", "0.5", *[""] * (len(head) - 4)]
    text = ",".join(head) + "\n"
    if shape == 0:  # every row has labels of its own
        text += "".join(f"a{k},b{k},{k}.5,{k}\n" for k in range(rows))
    elif shape == 4:
        text += str(rng.choice(['"', "\n", ",", "a", "\r", '"\n', '""', " ", "a,", "\x00"])) * int(
            10 ** rng.uniform(3, 6.3)
        )
    else:
        many = 100 if kind == "csv.gz" else 1
        rows = min(rows * many, 200_000_000 // max(1, len(",".join(row))) if kind == "csv.gz" else rows)
        text += (",".join(row) + "\n") * min(
            rows, max(1, (200_000_000 if many > 1 else 3_000_000) // (len(",".join(row)) + 1))
        )
    return gzip.compress(text.encode(), 1, mtime=0) if kind == "csv.gz" else text.encode()


def _arff(rng: np.random.Generator, rows: int, columns: int, letters: int) -> bytes:
    names = ["truth", "decision", "p_a", "p_b", *(f"c{k}" for k in range(columns))]
    head = (
        "@relation r\n"
        + "".join(f"@attribute {name} {'string' if k < 2 else 'numeric'}\n" for k, name in enumerate(names))
        + "@data\n"
    )
    shape = rng.integers(4)
    if shape == 0:  # nothing said of many attributes
        return (head + "{}\n" * min(100 * rows, 500_000)).encode()
    if shape == 1:  # one long sparse line
        return (head + "{" + ",".join(f"{k % len(names)} {k}" for k in range(min(50_000, 10 * rows))) + "}\n").encode()
    if shape == 2:
        return (
            head + "{" + str(rng.choice(["0 'a' ", ", ", "0 a,", "'", "{", "0 "])) * min(500_000, 10 * rows) + "}\n"
        ).encode()
    row = ",".join(["'" + "x" * letters + "'", "a", "0.5", "0.5", *["0"] * columns])
    return (head + (row + "\n") * max(1, min(rows, 2_000_000 // len(row)))).encode()


def _parquet(rng: np.random.Generator, rows: int, columns: int, letters: int) -> bytes:
    import pyarrow
    from pyarrow import parquet

    labels = ["a", "x" * letters]
    codes = pyarrow.array(np.zeros(rows, dtype=np.int32) if rng.integers(2) else (np.arange(rows) % 2).astype(np.int32))
    coded = pyarrow.DictionaryArray.from_arrays(codes, labels)
    number = pyarrow.array(np.full(rows, 0.5))
    if rng.integers(6) == 0:  # numbers written as texts, each of which stands once before one that repeats
        codes = np.zeros(rows, dtype=np.int32)
        codes[: min(rows, 500_000)] = np.arange(min(rows, 500_000))
        number = pyarrow.DictionaryArray.from_arrays(codes, [f"{k}.5" for k in range(min(rows, 500_000))])
    fields: dict[str, pyarrow.Array] = {"truth": coded, "decision": coded, "p_a": number, "p_b": number}
    fields |= {f"c{k}": coded for k in range(columns if rows * columns < 30_000_000 else 0)}
    stream = io.BytesIO()
    compression = str(rng.choice(["zstd", "snappy", "gzip", "none"]))
    together = {"row_group_size": rows, "dictionary_pagesize_limit": 1 << 30}
    parquet.write_table(pyarrow.table(fields), stream, compression=compression, **together)
    return stream.getvalue()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
