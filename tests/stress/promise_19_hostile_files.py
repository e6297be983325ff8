"""19. Spoiled files, bombs and giants to every reader: no crash, one line of error, exit code 2, bounded memory and time."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Lock

import msgspec

from tests.stress.counting import in_programs
from tests.stress.mutations import ONE_BIT, RELEASE, TABLES, whole
from tests.stress.outcome import Outcome, Progress, scaled, silent
from tests.stress.programs import ROOT, environment
from tests.stress.spoiled_files import try_seed

TITLE = "spoiled files, gzip bombs, a million columns, all-NaN"
QUICK = 0.0005
TABLES_EACH = 2400
"""Spoiled files of each kind, 12,000 tables; of one more Parquet file every bit is turned. Promise 33 spoils documents."""
BLOCK = 300
FEW = 10
"""Files of one kind that are tried in this process."""
MEMORY = 1500
"""Megabytes that a process may use, libraries included."""
SECONDS, PATIENCE = 240, 3600
"""Seconds of computing, and of waiting on a busy machine."""


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Spoiled files in processes of their own, then the special ones."""
    wanted = [(kind, scaled(_count(kind), scale, least=2)) for kind in TABLES]
    blocks = [(kind, start, min(start + BLOCK, count)) for kind, count in wanted for start in range(0, count, BLOCK)]
    total = in_programs(spoiled_block, blocks, progress)
    with tempfile.TemporaryDirectory() as name:
        chosen = list(SPECIAL) if scale >= 0.05 else list(SPECIAL)[:2]
        for done, what in enumerate(chosen, start=1):
            total += special(what, Path(name))
            progress(done, len(chosen))
    return total


def _count(kind: str) -> int:
    return 8 * len(whole(kind, 0)) if kind == ONE_BIT else TABLES_EACH


_ONE = Lock()


def spoiled_block(kind: str, first: int, last: int) -> Outcome:
    """Try seeds in one process; if it dies, the seed is named and the next process goes on after it."""
    with tempfile.TemporaryDirectory() as name:
        if last - first >= FEW:
            return _in_a_process(kind, first, last, Path(name))
        with _ONE:  # starting a process would take longer than the files
            found = [try_seed(kind, seed, Path(name)) for seed in range(first, last)]
    return Outcome(last - first, tuple(filter(None, found)))


def _in_a_process(kind: str, first: int, last: int, folder: Path) -> Outcome:
    failures: list[str] = []
    begin = first
    while begin < last:
        command = [sys.executable, "-m", "tests.stress.spoiled_files", kind, str(begin), str(last), str(folder)]
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False, timeout=1800
            )
            lines, code = done.stdout.splitlines(), done.returncode
        except subprocess.TimeoutExpired as error:
            text = error.stdout or b""
            lines, code = (text.decode() if isinstance(text, bytes) else text).splitlines(), -9
        failures += [line.removeprefix("broken ") for line in lines if line.startswith("broken ")]
        tried = [int(line.split()[1]) for line in lines if line.startswith("try ")]
        if code == 0:
            used = int(lines[-1].split()[1])
            failures += [f"{kind}: {used} MB of memory"] if used > MEMORY else []
            break
        failures.append(f"{kind} seed {tried[-1] if tried else begin}: the process ended with code {code}")
        begin = (tried[-1] if tried else begin) + 1
    return Outcome(last - first, tuple(failures))


def special(what: str, folder: Path) -> Outcome:
    """Make the file, run the command line on it, and look at its exit code, message, time and memory."""
    make, command, expected = SPECIAL[what]
    path = make(folder)
    arguments = [sys.executable, "-m", "compromis", *(str(path) if part == "FILE" else part for part in command)]
    code, complaint, seconds, used = measured(arguments, folder)
    path.unlink()
    failures = []
    if code != expected:
        failures.append(f"exit code {code} in place of {expected}: {complaint[-200:]}")
    errors = [line for line in complaint.splitlines() if not line.startswith("Warning:")]
    if expected and (len(errors) != 1 or not errors[0].startswith("Error: ")):
        failures.append(f"the error is not one line: {complaint[:300]!r}")
    failures += [f"{used:.0f} MB of memory"] if used > MEMORY else []
    failures += [f"{seconds:.0f} s"] if seconds > SECONDS else []
    note = Counter({f"{what}: exit code {code}, {used:,.0f} MB, {seconds:.1f} s": 1})
    return Outcome(1, tuple(f"{what}: {one}" for one in failures), note)


LAUNCHER = """
import resource, subprocess, sys
try: code = subprocess.call(sys.argv[3:], timeout=float(sys.argv[2]))
except subprocess.TimeoutExpired: code = -9
used = resource.getrusage(resource.RUSAGE_CHILDREN)
open(sys.argv[1], "w").write(f"{code} {used.ru_maxrss} {used.ru_utime + used.ru_stime}")
"""
"""Starts the program: Linux counts the peak of the process that starts another as that of the other, and this one is small."""


def measured(arguments: list[str], folder: Path, patience: float = PATIENCE) -> tuple[int, str, float, float]:
    """Run a program; return exit code, complaints, seconds of computing and the most memory it had, in megabytes."""
    usage = folder / "usage"
    usage.unlink(missing_ok=True)
    command = [sys.executable, "-c", LAUNCHER, str(usage), str(patience), *arguments]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"what starts the program ended with {done.returncode}: {done.stderr[-300:]}"
    code, used, seconds = usage.read_text().split()
    return int(code), done.stderr, float(seconds), int(used) / 1024


def _bomb(unit: bytes, total: int, head: bytes = b"truth,decision\n") -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / "bomb.csv.gz"
        piece = unit * max(1, (1 << 20) // len(unit))
        with gzip.open(path, "wb", compresslevel=1) as stream:
            stream.write(head)
            for _ in range(total // len(piece)):
                stream.write(piece)
        return path

    return make


def _text(name: str, content: Callable[[], str]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_text(content(), encoding="utf-8")
        return path

    return make


def _parquet_bomb(folder: Path) -> Path:
    import polars

    path = folder / "bomb.parquet"
    frame = polars.LazyFrame({"truth": ["a"], "decision": ["a"]})
    frame.select(
        polars.col("truth").repeat_by(100_000_000).explode(), polars.lit("a").alias("decision")
    ).collect().write_parquet(path)
    return path


def _parquet_nan(folder: Path) -> Path:
    import polars

    path = folder / "nan.parquet"
    polars.DataFrame({"truth": [float("nan")] * 50, "decision": [None] * 50}).write_parquet(path)
    return path


def _model_bomb(folder: Path) -> Path:
    path = folder / "bomb.model"
    with (
        zipfile.ZipFile(io.BytesIO((RELEASE / "logistic.model").read_bytes())) as old,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, old.read(name))
        with new.open("zeros", "w", force_zip64=True) as stream:
            for _ in range(1000):
                stream.write(bytes(1 << 20))
    return path


def _json_bomb() -> str:
    document = msgspec.json.decode((RELEASE / "decision.json").read_bytes())
    return msgspec.json.encode(document | {"classes": ["x" * 20_000_000, "y"], "weights": [1.0, 1.0]}).decode()


_MILLION = 1_000_000
_EVALUATE = ["evaluate", "FILE", "--truth", "truth", "--prediction", "decision"]
SPECIAL: dict[str, tuple[Callable[[Path], Path], list[str], int]] = {
    "all values NaN or missing": (_text("nan.csv", lambda: "truth,decision\n" + ",\n" * 1000), _EVALUATE, 2),
    "a label of a million letters": (_text("long.csv", lambda: "truth,decision\n" + "x" * 100_000 + ",a\n" + "y" * _MILLION + ",b\n"), _EVALUATE, 2),
    "a label of 100,000 letters": (_text("long.csv", lambda: "truth,decision\n" + "x" * 100_000 + ",a\n"), _EVALUATE, 2),
    "Parquet, all NaN": (_parquet_nan, _EVALUATE, 2),
    "votes all NaN": (
        _text("votes.csv", lambda: "truth,p_a,p_b\n" + "a,nan,nan\nb,nan,nan\n" * 100),
        ["tune", "FILE", "--truth", "truth", "--proba", "p_", "--prioritise", "a"],
        2,
    ),
    "a million columns": (
        _text("wide.csv", lambda: ",".join(f"c{k}" for k in range(_MILLION)) + "\n" + ",".join("1" for _ in range(_MILLION)) + "\n"), _EVALUATE, 2,
    ),
    "a million columns, to DuckDB": (
        _text("wide.csv", lambda: ",".join(f"c{k}" for k in range(_MILLION)) + "\n"), [*_EVALUATE, "--engine", "duckdb"], 2,
    ),
    "a million attributes": (
        _text("wide.arff", lambda: "@relation r\n" + "".join(f"@attribute c{k} numeric\n" for k in range(_MILLION)) + "@data\n"), _EVALUATE, 2,
    ),
    "50,000 classes": (_text("many.csv", lambda: "truth,decision\n" + "".join(f"{k},{k}\n" for k in range(50_000))), _EVALUATE, 2),
    "50,000 classes, to polars": (
        _text("many.csv", lambda: "truth,decision\n" + "".join(f"{k},{k}\n" for k in range(50_000))), [*_EVALUATE, "--engine", "polars"], 2,
    ),
    "half a gigabyte of rows in a small gzip": (_bomb(b"a,b\n", 500_000_000), _EVALUATE, 2),
    "the same, counted by DuckDB": (_bomb(b"a,a\n", 500_000_000), [*_EVALUATE, "--engine", "duckdb"], 0),
    "half a gigabyte without a line end": (_bomb(b"a", 500_000_000), _EVALUATE, 2),
    "half a gigabyte of quotes": (_bomb(b'"', 500_000_000, b'truth,decision\n"'), _EVALUATE, 2),
    "a gzip of empty lines": (_bomb(b"\n", 500_000_000), _EVALUATE, 2),
    "Parquet of 100 million rows in a few kB": (_parquet_bomb, _EVALUATE, 2),
    "a model of a gigabyte of zeros": (_model_bomb, ["predict", "FILE", str(RELEASE / "rows.csv")], 2),
    "nested JSON": (_text("deep.json", lambda: '{"schema":"compromis/evidence","version":2,"evidence":' + "[" * _MILLION), ["merge", "FILE"], 2),
    "weights with a class of 20 million letters": (
        _text("weights.json", _json_bomb),
        ["check", str(RELEASE / "votes.csv"), "--truth", "predicted", "--proba", "ill", "--preferences", str(RELEASE / "preferences.toml"), "--weights", "FILE"],
        2,
    ),
}  # fmt: skip
