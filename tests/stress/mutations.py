"""Whole files of every kind we read, and ways to spoil them."""

from __future__ import annotations

import gzip
import io
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tests.model_files import write_logistic_model

RELEASE = Path(__file__).parents[1] / "fixtures" / "0.1.0"
CLASSES = ("good", "bad", "NA", "01")
ONE_BIT = "bit.parquet"
"""A Parquet file of which the seed says the bit that is turned: one was enough to end the process."""
TABLES = ("csv", "tsv", "csv.gz", "arff", "parquet", ONE_BIT)
DOCUMENTS = ("toml", "evidence.json", "decision.json", "model")
_NASTY = (
    b"\x00", b"\xff", b"\xef\xbb\xbf", b'"', b"'", b",", b"\n", b"\r", b"{", b"}", b"[", b"\\", b"nan", b"-1", b"1e999", b"-0", b"inf", b"?",
    b"99999999999999999999", "\u00b2".encode(), "\u202e".encode(), b"@data", b"%", b"\t", b"=1+1", b"null", b"true", b"[[class]]", b"\x1b[2J",
)  # fmt: skip


@cache
def _model() -> bytes:
    with TemporaryDirectory() as folder:
        return write_logistic_model(Path(folder) / "logistic.model").read_bytes()


def whole(kind: str, seed: int) -> bytes:
    """Return a file that is as it should be."""
    rng = np.random.default_rng(0 if kind == ONE_BIT else seed)
    if kind == "model":
        return _model()
    if kind in {"toml", "decision.json"}:
        name = {"toml": "preferences.toml", "decision.json": "decision.json"}[kind]
        return (RELEASE / name).read_bytes()
    if kind == "evidence.json":
        return _evidence(rng)
    truth, decision = ([CLASSES[k] for k in rng.integers(0, 4, 40)] for _ in range(2))
    weight = [f"{value:.3f}" for value in rng.random(40)]
    if kind in {"parquet", ONE_BIT}:
        return _parquet(truth, decision, rng.random(40))
    if kind == "arff":
        head = "@relation r\n@attribute truth {good,bad,NA,'01'}\n@attribute decision string\n@attribute weight numeric\n@data\n"
        rows = [
            f"{t},'{d}',{w}" + (",{2}" if k % 7 == 0 else "")
            for k, (t, d, w) in enumerate(zip(truth, decision, weight, strict=True))
        ]
        return (head + "\n".join(rows) + "\n").encode()
    mark = "\t" if kind == "tsv" else ","
    rows = [mark.join(row) for row in zip(truth, decision, weight, strict=True)]
    text = "\n".join([mark.join(("truth", "decision", "weight")), *rows, ""]).encode()
    return gzip.compress(text, mtime=0) if kind == "csv.gz" else text


def _parquet(truth: list[str], decision: list[str], weight: np.ndarray) -> bytes:
    import polars

    stream = io.BytesIO()
    polars.DataFrame({"truth": truth, "decision": decision, "weight": weight}).write_parquet(stream)
    return stream.getvalue()


def _evidence(rng: np.random.Generator) -> bytes:
    import tempfile

    import compromis as cp

    truth = rng.integers(0, 3, 50)
    votes = rng.integers(0, 5, (50, 3)) + np.eye(3, dtype=int)[truth]
    made = (
        cp.Counts.from_predictions(truth, rng.integers(0, 3, 50)),
        cp.Votes.from_proba(truth, votes, labels=range(3)),
        cp.OperatingPoints.from_predictions(truth == 0, rng.random(50)),
    )
    with tempfile.TemporaryDirectory() as folder:
        cp.evidence.write(made[rng.integers(3)], Path(folder) / "part.json")
        return (Path(folder) / "part.json").read_bytes()


def spoiled(content: bytes, seed: int) -> bytes:
    """Return the file with one to four changes: bytes flipped, cut, doubled, moved, or something nasty put in."""
    rng = np.random.default_rng([seed, 1])
    data = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        if not data:
            break
        place, other = sorted(rng.integers(0, len(data), 2).tolist())
        kind = rng.integers(7)
        if kind == 0:
            data[place] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del data[place : min(other, place + 50)]
        elif kind == 2:
            data[place:place] = data[place : min(other, place + 50)] * int(rng.integers(1, 4))
        elif kind == 3:
            del data[len(data) - int(rng.integers(0, min(len(data), 60))) :]
        elif kind == 4:
            data[place] = int(rng.integers(256))
        else:
            data[place : place + int(rng.integers(0, 3))] = _NASTY[rng.integers(len(_NASTY))]
    return bytes(data)


def spoiled_file(kind: str, seed: int) -> bytes:
    """Return a spoiled file of a kind; of compressed ones every second is spoiled inside and packed again."""
    if kind == "csv.gz" and seed % 2:
        return gzip.compress(spoiled(whole("csv", seed), seed), mtime=0)
    if kind == ONE_BIT:
        return turned(whole(kind, seed), seed)
    return spoiled(whole(kind, seed), seed)


def turned(content: bytes, bit: int) -> bytes:
    """Return the file with one bit turned."""
    data = bytearray(content)
    data[bit // 8] ^= 1 << bit % 8
    return bytes(data)
