"""18. A hundred million rows to evidence in less than 600 MB; 50,000 classes refused with a clear message, or sparse."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from tests.stress.outcome import Outcome, Progress, scaled, silent
from tests.stress.promise_19_hostile_files import measured

TITLE = "10^8 rows to evidence in 600 MB; 50,000 classes"
QUICK = 0.0001
ROWS = 100_000_000
BLOCK = 1_000_000
MEMORY = 600
CLASSES = ("good", "bad", "01", "NA")
MANY = 50_000


def run(scale: float, progress: Progress = silent) -> Outcome:
    """CSV and Parquet, each through the command line; the counts are known from the way the file was made."""
    rows = scaled(ROWS, scale, least=10_000)
    total = many_classes()
    kinds = ("csv", "parquet") if scale >= 0.001 else ("csv",)
    for done, kind in enumerate(kinds, start=1):
        with tempfile.TemporaryDirectory() as name:
            total += many_rows(Path(name), kind, rows)
        progress(done, len(kinds))
    return total


def many_rows(folder: Path, kind: str, rows: int) -> Outcome:
    """Write the rows, count them in a process of its own, and compare counts and memory."""
    path = folder / f"rows.{kind}"
    expected = _write_csv(path, rows) if kind == "csv" else _write_parquet(path, rows)
    output = folder / "part.json"
    arguments = [sys.executable, "-m", "compromis", "count", str(path), "--truth", "truth", "--prediction", "decision"]
    size, total = path.stat().st_size / 1e6, Outcome(0)
    for engine in ("", "duckdb" if kind == "csv" else "polars"):
        asked = ["--engine", engine] if engine else []
        code, complaint, seconds, used = measured([*arguments, *asked, "--output", str(output)], folder, patience=7200)
        what, failures = f"{kind} by {engine or 'compromis'}", []
        if code != 0:
            failures.append(f"{what}: exit code {code}: {complaint[-200:]}")
        elif _matrix(output) != expected:
            failures.append(f"{what}: other counts than were written")
        if used > MEMORY:
            failures.append(f"{what}: {used:.0f} MB of memory")
        note = f"{what}, {rows:,} rows, {size:,.0f} MB: {seconds:.0f} s, {used:.0f} MB of memory"
        total += Outcome(1, tuple(failures), Counter({note: 1}))
    return total


def _matrix(output: Path) -> dict[tuple[str, str], int]:
    import compromis as cp

    counts = cp.evidence.read(output).evidence
    cells = counts.matrix.tolist()
    return {
        (a, b): cells[i][j] for i, a in enumerate(counts.classes) for j, b in enumerate(counts.classes) if cells[i][j]
    }


def _blocks(rows: int) -> list[int]:
    return [min(BLOCK, rows - start) for start in range(0, rows, BLOCK)]


def _expected(rows: int) -> dict[tuple[str, str], int]:
    total: Counter[tuple[str, str]] = Counter()
    for size, times in Counter(_blocks(rows)).items():
        truth, decision = _codes(size)
        table = np.bincount(truth * 4 + decision, minlength=16).reshape(4, 4) * times
        total.update({(CLASSES[i], CLASSES[j]): int(table[i, j]) for i in range(4) for j in range(4)})
    return {pair: count for pair, count in total.items() if count}


def _codes(size: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.integers(0, 4, size), rng.integers(0, 4, size)


def _write_csv(path: Path, rows: int) -> dict[tuple[str, str], int]:
    """Write the same block of a million rows again and again."""
    lines = np.array([f"{a},{b}\n" for a in CLASSES for b in CLASSES], dtype=object)
    known: dict[int, bytes] = {}
    with path.open("wb") as stream:
        stream.write(b"truth,decision\n")
        for size in _blocks(rows):
            if size not in known:
                truth, decision = _codes(size)
                known[size] = "".join(lines[truth * 4 + decision].tolist()).encode()
            stream.write(known[size])
    return _expected(rows)


def _write_parquet(path: Path, rows: int) -> dict[tuple[str, str], int]:
    import pyarrow
    import pyarrow.parquet

    labels = np.array(CLASSES, dtype=object)
    schema = pyarrow.schema({"truth": pyarrow.string(), "decision": pyarrow.string()})
    known: dict[int, pyarrow.Table] = {}
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        for size in _blocks(rows):
            if size not in known:
                truth, decision = _codes(size)
                known[size] = pyarrow.table({"truth": labels[truth], "decision": labels[decision]}, schema=schema)
            writer.write_table(known[size])
    return _expected(rows)


def many_classes() -> Outcome:
    """A confusion matrix of 50,000 classes is refused in a sentence; sparse votes for as many are counted."""
    import scipy.sparse

    import compromis as cp

    failures = []
    labels = np.arange(MANY)
    for given in (labels, labels.astype(str)):
        try:
            cp.Counts.from_predictions(given, given)
            failures.append(f"{MANY:,} classes were accepted")
        except cp.InputError as error:
            if "more than 4,096 classes" not in str(error) or "COMPROMIS_MAX_CLASSES" not in str(error):
                failures.append(f"the message is not clear: {error}")
    rows = 2000
    votes = scipy.sparse.csr_array((np.full(rows, 3.0), (np.arange(rows), np.arange(rows) * 7)), shape=(rows, MANY))
    try:
        patterns = cp.Votes.from_proba(np.arange(rows) * 7, votes, labels=range(MANY))
        if patterns.rows != rows or not scipy.sparse.issparse(patterns.votes):
            failures.append("sparse votes lost rows, or became dense")
    except (cp.InputError, MemoryError) as error:
        failures.append(f"sparse votes for {MANY:,} classes: {error}")
    return Outcome(3, tuple(failures))
