"""19, second half. Generated and spoiled tables against the csv module of the standard library: the same cells, or refused."""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
import warnings
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

import numpy as np

from compromis.frames.tables import MISSING, Numbers
from tests.stress.counting import count_seeds
from tests.stress.mutations import spoiled_file
from tests.stress.outcome import Outcome, Progress, scaled, silent

TITLE = "20,000 generated and spoiled tables: the cells of the csv module, or refused"
QUICK = 0.02
FILES = 20_000
ENGINE_EACH = 50
"""Of how many files one goes to the engines too."""
CELLS = (
    "NA", "null", "01", " 1", "1 ", ' "NA"', "a", "b", "", '""', '"x,y"', '"x\ny"', '"x\r\ny"', '"q""q"', '"', "é", "😀", "\u2028", "nan", "1e5",
    "0.1", "-.5e-3", "1_0", "٣", "inf", "0x1", "123456789012345678901", "4.9e-324", "'", "\t", ";", "|", "=1", "#", "\\", "\ufeff", "\x1c", "\0",
)  # fmt: skip
ENDS = ("\n", "\r\n", "\r", "\n", "\n", "\r\n")


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Read each file in blocks of a size of its own, and compare every cell and every number."""
    return count_seeds(check, range(scaled(FILES, scale, least=50)), progress)


def check(seed: int) -> dict[str, int]:
    """Compare one file."""
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, failures = compared(seed, Path(name))
    assert not failures, "; ".join(failures)
    return {found: 1}


def compared(seed: int, folder: Path) -> tuple[str, list[str]]:
    """Return whether a file was refused, and what was read otherwise."""
    rng = np.random.default_rng(seed)
    data = spoiled_file(("csv", "tsv")[seed % 2], seed) if seed % 3 == 0 else generated(rng)
    path = folder / ("t.csv" if seed % 4 else "t.tsv")
    packed, wide = bool(rng.integers(8) == 0), bool(rng.integers(10) == 0)
    if wide:
        data = data.decode("utf-8", "replace").encode("utf-16")
    path.write_bytes(gzip.compress(data, mtime=0) if packed else data)
    size = int(rng.choice([1, 2, 3, 7, 64, 1 << 19]))
    with patch("compromis.frames.delimited.BLOCK", size), patch("compromis.frames.content.BLOCK", max(size, 16)):
        found = ours(path)
    expected = plain(data.decode("utf-16") if wide else data, found)
    failures = []
    if found is not None and found != expected:
        failures.append(f"read otherwise: {data[:200]!r}")
    kind = "refused" if found is None else "same cells"
    if not failures and seed % ENGINE_EACH == 0:
        failures += by_engines(path, expected)
    return kind, failures


def generated(rng: np.random.Generator) -> bytes:
    """Return a table of hostile cells, which may be ragged or badly quoted."""
    width, delimiter = int(rng.integers(1, 5)), str(rng.choice([",", ",", ",", ";", "\t", "|"]))
    cells = [cell for cell in CELLS if rng.random() < 0.5 or cell == "a"]
    if rng.random() < 0.7:  # well-formed: quoted where that is needed
        cells = [quoted(cell.strip('"'), delimiter) for cell in cells]
    end = str(rng.choice(ENDS))
    rows = [[f"c{k}" for k in range(width)]]
    for _ in range(rng.integers(0, 12)):
        fields = width if rng.random() < 0.97 else int(rng.integers(1, 6))
        rows.append([str(rng.choice(cells)) for _ in range(fields)])
    ends = [end if rng.random() < 0.98 else str(rng.choice([*ENDS, "\n\n"])) for _ in rows]
    text = "".join(delimiter.join(row) + end for row, end in zip(rows, ends, strict=True))
    mark = "\ufeff" if rng.random() < 0.1 else ""
    return (mark + (text.rstrip("\r\n") if rng.random() < 0.2 else text)).encode()


def quoted(cell: str, delimiter: str) -> str:
    """Return a cell as RFC 4180 writes it."""
    needed = any(letter in cell for letter in (delimiter, '"', "\n", "\r"))
    return '"' + cell.replace('"', '""') + '"' if needed else cell


Read = tuple[str, list[str], list[list[str | None]], list[list[str | None]]]
"""Delimiter, names, cells by column, and the numbers that they mean, None where they mean none."""


def ours(path: Path) -> Read | None:
    """Return what the reader makes of a file, None if it refuses it."""
    import compromis as cp

    try:
        with cp.frames.open_table(str(path)) as file:
            texts = file.read(file.names).texts()
        with cp.frames.open_table(str(path)) as file:
            columns = file.read(numbers=file.names).columns
    except cp.InputError:
        return None
    numbers = [written(column) for column in columns.values()]
    return file.reader.delimiter, list(texts), list(texts.values()), numbers


def written(column: Numbers) -> list[str | None]:
    """Return numbers as Python writes them, None where a cell holds none."""
    marks = column.values.view(np.int64) >= MISSING
    return [None if mark else repr(value) for mark, value in zip(marks.tolist(), column.values.tolist(), strict=True)]


def plain(data: bytes | str, found: Read | None) -> Read | None:
    """Return what the csv module and float() make of it."""
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        delimiter = found[0] if found else ","
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row]
    except (csv.Error, UnicodeDecodeError):
        return None
    if not rows or {len(row) for row in rows} != {len(rows[0])}:
        return None
    columns = [[row[k] or None for row in rows[1:]] for k in range(len(rows[0]))]
    return delimiter, rows[0], columns, [[number(cell) for cell in column] for column in columns]


def number(cell: str | None) -> str | None:
    """Return the number that a cell means, as Python writes it."""
    try:
        return repr(float(cell))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def by_engines(path: Path, expected: Read | None) -> list[str]:
    """Return what is wrong with the rows that engines read."""
    import narwhals as nw

    import compromis as cp

    failures = []
    for engine in ("polars", "duckdb"):
        if not find_spec(engine):
            continue
        try:
            frame = nw.from_native(cp.frames.scan(path, engine=engine)).collect()
        except Exception as error:  # an engine's own tree of errors: it refused the file
            if not isinstance(error, cp.CompromisError):
                failures.append(f"{engine}: {type(error).__name__}: {str(error)[:200]}")
            continue
        rows = Counter(zip(*(frame[name].to_list() for name in frame.columns), strict=True))
        if expected is None or frame.columns != expected[1] or rows != Counter(zip(*expected[2], strict=True)):
            failures.append(f"{engine} read otherwise: {path.read_bytes()[:200]!r}")
    return failures
