"""8, second half. Every engine on fifty hostile files: identical counts, or an error from all of them."""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
import warnings
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tests.stress.outcome import Outcome, Progress, silent

TITLE = "every engine on fifty hostile files"
QUICK = 0.03
ENGINES = ("memory", "polars", "duckdb", "dask")
LABELS = [
    "NA", "null", "N/A", "nan", "NaN", "None", "01", "1", "1.0", "1e0", " a", "a ", "a", "A", "😀", 'q"q', "x,y", "x\ny", "x\r\ny", "True", "true",
    "#c", "b's", "-", "+", "=1", "é", "e\u0301", "ı", "İ", "ß", "2020-01-01", "00:00", "inf", "-0", "0x1", "1_000", "\\N", "\\", "%", "@", "\u200b", "\u00a0",
]  # fmt: skip


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count each file with each engine and compare with a reader of plain Python."""
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        files = hostile_files(Path(name))
        chosen = dict(list(files.items())[:: max(1, round(0.5 / scale))] if scale < 0.5 else files.items())
        engines = [engine for engine in ENGINES if engine == "memory" or find_spec(engine)]
        total = Outcome(0)
        for done, (path, expected) in enumerate(chosen.items(), start=1):
            total += _compared(path, expected, engines)
            progress(done, len(chosen))
        return total


def _compared(path: Path, expected: Counter[tuple[str, str]] | None, engines: list[str]) -> Outcome:
    failures = []
    for engine in engines:
        found = counted(path, engine)
        if isinstance(found, Counter) and expected is None:
            failures.append(f"{path.name}: {engine} accepted it: {dict(found)}"[:300])
        elif (
            isinstance(found, str)
            and expected is not None
            and not (engine != "memory" and "may take in another way" in found)
        ):
            failures.append(f"{path.name}: {engine} refused it: {found}"[:300])
        elif isinstance(found, Counter) and found != expected:
            failures.append(f"{path.name}: {engine} counted {dict(found - (expected or Counter()))} too much"[:300])
    return Outcome(len(engines), tuple(failures))


def counted(path: Path, engine: str) -> Counter[tuple[str, str]] | str:
    """Return the counts of an engine, or its error."""
    import compromis as cp

    try:
        if engine == "memory":
            with cp.frames.FileScan(str(path)) as scan:
                counts, _ = scan.counts(truth="t", prediction="d")
        else:
            counts, _ = cp.frames.open_scan(path, engine=engine).counts(truth="t", prediction="d")
    except cp.CompromisError as error:
        return str(error)
    pairs: Counter[tuple[str, str]] = Counter()
    for i, j in zip(*np.nonzero(counts.matrix), strict=True):
        pairs[str(counts.classes[i]), str(counts.classes[j])] = int(counts.matrix[i, j])
    return pairs


def hostile_files(folder: Path) -> dict[Path, Counter[tuple[str, str]] | None]:
    """Write the files; return what they hold, None where they must be refused."""
    made: dict[Path, Any] = {}

    def put(name: str, content: bytes, pairs: Any) -> None:
        path = folder / name
        path.write_bytes(content)
        made[path] = None if pairs is None else Counter(pairs)

    rng = np.random.default_rng(0)
    pairs = [(LABELS[a], LABELS[b]) for a, b in rng.integers(0, len(LABELS), (200, 2))]
    _well_formed(put, pairs)
    _odd_but_whole(put)
    _refused(put, pairs)
    _parquet_files(put, pairs)
    return made


def text_of(
    pairs: list[tuple[str, str]], delimiter: str = ",", end: str = "\n", quoting: int = csv.QUOTE_MINIMAL
) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\r\n" if end == "\r\n" else "\n", quoting=quoting)
    writer.writerow(["t", "d"])
    writer.writerows(pairs)
    return stream.getvalue().encode()


def _well_formed(put: Any, pairs: list[tuple[str, str]]) -> None:
    put("plain.csv", text_of(pairs), pairs)
    put("quoted.csv", text_of(pairs, quoting=csv.QUOTE_ALL), pairs)
    put("tabs.tsv", text_of(pairs, "\t"), pairs)
    put("packed.csv.gz", gzip.compress(text_of(pairs)), pairs)
    put(
        "twice-packed-member.csv.gz", gzip.compress(text_of(pairs[:50])) + gzip.compress(text_of(pairs[50:])[4:]), pairs
    )
    put("bom.csv", b"\xef\xbb\xbf" + text_of(pairs), pairs)
    put("a*[b]?.csv", text_of(pairs), pairs)
    put("spaces and 'quotes'.csv", text_of(pairs), pairs)
    put("día😀.csv", text_of(pairs), pairs)
    put("no end.csv", text_of(pairs).rstrip(b"\n"), pairs)
    plain = [(a, b) for a, b in pairs if "\n" not in a + b]
    put("crlf.csv", text_of(plain, end="\r\n"), plain)
    for k, label in enumerate(LABELS[:14]):
        put(
            f"label {k}.csv",
            text_of([(label, label), (label, "other"), ("other", label)]),
            [(label, label), (label, "other"), ("other", label)],
        )


def _odd_but_whole(put: Any) -> None:
    put("more columns.csv", b"id,t,x,d\n1,a,,a\n2,b,9,a\n", [("a", "a"), ("b", "a")])
    put("odd names.csv", 't,d,"a ""b""",x y,é,1\na,a,1,2,3,4\n'.encode(), [("a", "a")])
    put("long field.csv", b"t,d,x\na,a," + b"z" * 100_000 + b"\n", [("a", "a")])
    put(
        "many columns.csv",
        ("t,d," + ",".join(f"c{k}" for k in range(2000)) + "\na,a," + ",".join("1" * 2000) + "\n").encode(),
        [("a", "a")],
    )
    put("one row.csv", b"t,d\na,a\n", [("a", "a")])
    put("late type.csv", b"t,d\n" + b"1,1\n" * 30_000 + b"x,1\n", [("1", "1")] * 30_000 + [("x", "1")])
    put("late quote.csv", b"t,d\n" + b"a,a\n" * 30_000 + b'"x\ny",a\n', [("a", "a")] * 30_000 + [("x\ny", "a")])


def _refused(put: Any, pairs: list[tuple[str, str]]) -> None:
    put("nothing.csv", b"", None)
    put("only header.csv", b"t,d\n", None)
    put("ragged long.csv", b"t,d\na,a\nb,b,c\n", None)
    put("ragged short.csv", b"t,d\na,a\nb\n", None)
    put("open quote.csv", b't,d\na,"a\nb,b\n', None)
    put("latin.csv", "t,d\né,a\n".encode("latin-1"), None)
    put("utf16.csv", "t,d\na,a\n".encode("utf-16"), [("a", "a")])
    put("returns.csv", b"t,d\ra,a\rb,a\r", [("a", "a"), ("b", "a")])
    put("mixed ends.csv", b"t,d\r\na,a\nb,a\r", [("a", "a"), ("b", "a")])
    put("space before a quote.csv", b't,d\na,a\n "NA", "NA"\n', [("a", "a"), (' "NA"', ' "NA"')])
    put("blank lines.csv", b"t,d\n\na,a\n\n\nb,a\n", [("a", "a"), ("b", "a")])
    put("after a quote.csv", b't,d\na,"a"b\n', None)
    put("separator.csv", b"sep=;\nt;d\na;a\n", [("a", "a")])
    put("packed without a suffix", gzip.compress(b"t,d\na,a\n"), [("a", "a")])
    put("zeros.csv", b"\0" * 100, None)
    put("nul.csv", b"t,d\na,a\n\0,a\n", [("a", "a"), ("\0", "a")])
    put("nul at the end.csv", b"t,d\na,a\na\0,a\n", [("a", "a"), ("a\0", "a")])
    put("missing.csv", b"t,d\na,\n", None)
    put("missing quoted.csv", b't,d\na,""\n', None)
    put("twice.csv", b"t,t,d\na,a,a\n", None)
    put("no column.csv", b"t,x\na,a\n", None)
    put("cut.csv.gz", gzip.compress(text_of(pairs))[:-9], None)
    put("not packed.csv.gz", text_of(pairs), None)


def _parquet_files(put: Any, pairs: list[tuple[str, str]]) -> None:
    import polars

    def parquet(columns: dict[str, Any]) -> bytes:
        stream = io.BytesIO()
        polars.DataFrame(columns).write_parquet(stream)
        return stream.getvalue()

    truth, decision = zip(*pairs, strict=True)
    whole = parquet({"t": truth, "d": decision})
    put("plain.parquet", whole, pairs)
    put("numbers.parquet", parquet({"t": [1, 2, 2], "d": [1, 1, 2]}), [("1", "1"), ("2", "1"), ("2", "2")])
    put("booleans.parquet", parquet({"t": [True, False], "d": [True, True]}), [("true", "true"), ("false", "true")])
    put("floats.parquet", parquet({"t": [1.0, 2.5], "d": [1.0, 1.0]}), [("1", "1"), ("2.5", "1")])
    put("categories.parquet", parquet({"t": polars.Series(truth, dtype=polars.Categorical), "d": decision}), pairs)
    put("nulls.parquet", parquet({"t": ["a", None], "d": ["a", "a"]}), None)
    put("lists.parquet", parquet({"t": [["a"]], "d": ["a"]}), None)
    put(
        "no rows.parquet",
        parquet({"t": polars.Series([], dtype=polars.String), "d": polars.Series([], dtype=polars.String)}),
        None,
    )
    put("cut.parquet", whole[: len(whole) // 2], None)
    put("footer.parquet", whole[:-8] + b"\xff\xff\xff\x7fPAR1", None)
