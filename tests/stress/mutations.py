"""Whole files of every kind we read, and ways to spoil them."""

from __future__ import annotations

import gzip
import io
import json
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

RELEASE = Path(__file__).parents[1] / "fixtures" / "0.2.0"
CLASSES = ("good", "bad", "NA", "01")
ONE_BIT = "bit.parquet"
"""A Parquet file of which the seed says the bit that is turned: one was enough to end the process."""
TABLES = ("csv", "tsv", "csv.gz", "arff", "parquet", ONE_BIT)
DOCUMENTS = ("toml", "evidence.json", "decision.json", "model")
_NASTY = (
    b"\x00", b"\xff", b"\xef\xbb\xbf", b'"', b"'", b",", b"\n", b"\r", b"{", b"}", b"[", b"\\", b"nan", b"-1", b"1e999", b"-0", b"inf", b"?",
    b"99999999999999999999", "\u00b2".encode(), "\u202e".encode(), b"@data", b"%", b"\t", b"=1+1", b"null", b"true", b"[[class]]", b"\x1b[2J",
)  # fmt: skip


_WHOLE = {
    "toml": ["preferences.toml"],
    "decision.json": ["decision.json"],
    "evidence.json": [
        f"evidence_{kind}.json" for kind in ("binned", "counts", "kept_back", "patterns", "points", "weighted")
    ],
    "model": [f"{kind}.model" for kind in ("logistic", "forest", "boosting", "extra-trees")],
}


def whole(kind: str, seed: int) -> bytes:
    """Return a file that is as it should be."""
    rng = np.random.default_rng(0 if kind == ONE_BIT else seed)
    if kind in DOCUMENTS:
        return (RELEASE / _WHOLE[kind][seed % len(_WHOLE[kind])]).read_bytes()
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
    if kind in DOCUMENTS and seed % 8 < 7:  # a document whose bytes are spoiled is seldom one still
        return bent(kind, whole(kind, seed // 8), np.random.default_rng([seed, 2]))
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


_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 7, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**400, 1e308, -1e308, 5e-324, 0.1, -0.0, 1e100, 1e-300, 0.5,
    float("inf"), float("nan"), "", "x", "1", "nan", "x" * 20_000, "\ud800", "\x00", "a\nb", "\x1b[2J", "=1+1", [], {}, [[]], [None], {"a": 1}, [1, 2, 3], [[1.0, 2.0]],
    "FunctionNode", "TypeNode", "ObjectNode", "TreeNode", "MethodNode", "JsonNode", "NdArrayNode", "DictNode", "OperatorFuncNode", "PartialNode", "system", "os",
    "builtins", "eval", "int", "str", "numpy", "tests.stress.executed", "Mark", "float64", "ndarray", "O", "sklearn.tree._tree", "Tree", "functools", "partial",
)  # fmt: skip
"""What one value of a document becomes."""


def bent(kind: str, content: bytes, rng: np.random.Generator) -> bytes:
    """Return a document of one to three changed values; it can be read as JSON, TOML or a zip still."""
    if kind == "toml":
        import tomli_w

        return _changed(
            tomllib.loads(content.decode()),
            rng,
            lambda made: tomli_w.dumps(_in_toml(made)).encode("utf-8", "surrogatepass"),
        )
    if kind != "model":
        return _changed(json.loads(content), rng, _as_json)
    part = ("model.json", "decision.json", "classifier.skops")[max(int(rng.integers(8)), 5) - 5]
    return _repacked(
        content,
        {
            part: lambda old: (
                _bent_skops(old, rng) if part.endswith("skops") else _changed(json.loads(old), rng, _as_json)
            )
        },
    )


def _bent_skops(content: bytes, rng: np.random.Generator) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        arrays = [name for name in archive.namelist() if name.endswith(".npy")]
    if rng.random() < 0.4:
        return _repacked(content, {arrays[rng.integers(len(arrays))]: lambda old: _bent_array(old, rng)})
    return _repacked(content, {"schema.json": lambda old: _changed(json.loads(old), rng, _as_json)})


def _bent_array(content: bytes, rng: np.random.Generator) -> bytes:
    """Change an array of a model: a number, its shape or its type; the file stays one of numpy's."""
    array = np.load(io.BytesIO(content), allow_pickle=False)
    kind = rng.integers(5)
    if kind == 0:
        array = array[: rng.integers(len(array) + 1)] if array.ndim else np.array([array])
    elif kind == 1 and array.dtype.names is None and array.dtype.kind in "fiub":
        array = array.astype(("f4", "i8", "u1", "f8", "O8", "U3")[rng.integers(4)])
    elif kind == 2:
        array = array.reshape(-1)[None]
    elif array.size:
        place = (int(rng.integers(len(array))),) if array.ndim else ()
        field = None if array.dtype.names is None else str(rng.choice(array.dtype.names))
        target = array if field is None else array[field]
        if target.dtype.kind in "fiu":
            target[place] = np.array([-1, 0, 1, 10**6, -(10**9), 2**31 - 1, 1e308, np.nan, 255])[
                rng.integers(9)
            ].astype(target.dtype)
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def _repacked(content: bytes, changes: dict[str, Callable[[bytes], bytes]]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, changes.get(name, bytes)(old.read(name)))
    return stream.getvalue()


def _as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _in_toml(value: Any) -> Any:
    """Leave out what TOML has no word for."""
    if isinstance(value, dict):
        return {name: _in_toml(one) for name, one in value.items() if one is not None}
    if isinstance(value, list):
        return [_in_toml(one) for one in value if one is not None]
    return value


def _changed(document: Any, rng: np.random.Generator, write: Callable[[Any], bytes]) -> bytes:
    for _ in range(rng.integers(1, 4)):
        places = list(_places(document))
        if not places:
            break
        holder, key = places[rng.integers(len(places))]
        other, other_key = places[rng.integers(len(places))]
        kind = rng.integers(8)
        if kind == 0:
            del holder[key]
        elif kind == 1:
            holder[key] = json.loads(json.dumps(other[other_key]))
        elif kind == 2:
            holder[key] = [holder[key]]
        elif kind == 3 and isinstance(holder, list):
            holder.insert(key, json.loads(json.dumps(holder[key])))
        elif kind == 4 and isinstance(holder, dict):
            holder[str(rng.choice(["extra", "label", "__class__", "index", ""]))] = holder.pop(key)
        else:
            holder[key] = _VALUES[rng.integers(len(_VALUES))]
    return write(document)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key])
