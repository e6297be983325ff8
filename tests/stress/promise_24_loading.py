"""24. Malicious pickle, joblib, npz and skops files to every loader: nothing runs; no unsafe loading in src."""

from __future__ import annotations

import ast
import io
import os
import pickle
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from compromis.errors import CompromisError
from tests.model_files import write_logistic_model
from tests.stress.counting import described
from tests.stress.outcome import Outcome, Progress, scaled, silent
from tests.stress.programs import ROOT

TITLE = "malicious files to every loader, a scan of src"
QUICK = 0.25
SUFFIXES = (".csv", ".tsv", ".arff", ".parquet", ".json", ".toml", ".model", ".gz")
UNSAFE_CALLS = {"eval", "exec", "compile", "__import__"}
UNSAFE_ATTRIBUTES = {
    ("pickle", "load"), ("pickle", "loads"), ("pickle", "Unpickler"), ("joblib", "load"), ("yaml", "load"), ("yaml", "unsafe_load"),
    ("marshal", "load"), ("marshal", "loads"), ("shelve", "open"), ("dill", "load"), ("dill", "loads"), ("cloudpickle", "load"),
    ("cloudpickle", "loads"), ("numpy", "load"), ("np", "load"), ("os", "system"), ("os", "popen"), ("pandas", "read_pickle"),
}  # fmt: skip
UNSAFE_IMPORTS = {"pickle", "dill", "cloudpickle", "marshal", "shelve", "yaml"}


class _Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.system, (f"touch '{self.mark}'",)


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Every hostile file, under every suffix, to every loader; then the source itself."""
    total = scan_source()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        mark = folder / "executed"
        files = dict(hostile(mark))
        for done, (kind, content) in enumerate(files.items(), start=1):
            for suffix in SUFFIXES[: scaled(len(SUFFIXES), scale)]:
                path = folder / f"hostile{suffix}"
                path.write_bytes(content)
                total += _offer(path, kind, mark)
            progress(done, len(files))
    return total


def _offer(path: Path, kind: str, mark: Path) -> Outcome:
    total = Outcome(0)
    for name, load in loaders().items():
        case = f"{kind} as {path.suffix} to {name}"
        failure = _tried(lambda load=load: load(path), case)
        if mark.exists():
            mark.unlink()
            failure = (f"{case}: it was executed",)
        total += Outcome(1, failure)
    return total


def _tried(load: Callable[[], Any], case: str) -> tuple[str, ...]:
    try:
        load()
    except (CompromisError, OSError):
        return ()
    except Exception as error:
        return (described(error, case),)
    return (f"{case}: it was accepted",)


def loaders() -> dict[str, Callable[[Path], Any]]:
    """Every door through which a file comes in."""
    import compromis as cp
    from compromis.estimators.model_file import load_model
    from compromis.frames.reading import read_table

    def classes(path: Path, engine: str | None = None) -> Any:
        return cp.Counts.from_frame(cp.frames.scan(path, engine=engine), truth="truth", prediction="decision")

    return {
        "read_table": lambda path: read_table(
            str(path), lambda names: ["truth"] if "truth" in names else _lacks(names)
        ),
        "scan": classes,
        "scan polars": lambda path: classes(path, "polars"),
        "scan duckdb": lambda path: classes(path, "duckdb"),
        "read_evidence": cp.evidence.read,
        "Preferences.from_toml": cp.Preferences.from_toml,
        "Decision.from_json": cp.Decision.from_json,
        "load_model": load_model,
    }


def _lacks(names: list[str]) -> list[str]:
    from compromis.errors import InputError

    raise InputError(f"there is no column 'truth' among {names[:3]}")


def hostile(mark: Path) -> Iterator[tuple[str, bytes]]:
    """Files that run a command when they are unpickled."""
    bomb = _Bomb(mark)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        yield f"pickle {protocol}", pickle.dumps(bomb, protocol)
    import joblib

    stream = io.BytesIO()
    joblib.dump([bomb, np.arange(3)], stream)
    yield "joblib", stream.getvalue()
    stream = io.BytesIO()
    joblib.dump(bomb, stream, compress=("gzip", 3))
    yield "joblib gzip", stream.getvalue()
    stream = io.BytesIO()
    np.savez(stream, x=np.array([bomb], dtype=object))
    yield "npz", stream.getvalue()
    stream = io.BytesIO()
    np.save(stream, np.array([bomb], dtype=object), allow_pickle=True)
    yield "npy", stream.getvalue()
    yield from _skops_files(bomb)


def _skops_files(bomb: _Bomb) -> Iterator[tuple[str, bytes]]:
    """skops files alone and inside a model file that is otherwise whole."""
    import skops.io
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import FunctionTransformer

    with tempfile.TemporaryDirectory() as folder:
        model = write_logistic_model(Path(folder) / "logistic.model").read_bytes()
    fitted = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    safe = skops.io.dumps(fitted)
    parts = {
        "skops with os.system": skops.io.dumps(FunctionTransformer(os.system)),
        "skops with a class of ours": skops.io.dumps([bomb.mark]),
        "skops with its schema bent to os.system": _bent(safe, {"__class__": "system", "__module__": "os"}),
        "skops with its loader bent to joblib": _bent(safe, {"__loader__": "JoblibNode"}),
        "skops with a method of os": _bent(
            safe, {"__loader__": "MethodNode", "__class__": "popen", "__module__": "os"}
        ),
        "skops with an operator": _bent(
            safe, {"__loader__": "OperatorFuncNode", "__class__": "methodcaller", "__module__": "operator"}
        ),
        "pickle in place of skops": pickle.dumps(bomb),
        "joblib in a zip": _zipped({"schema.json": b"{}", "x.pkl": pickle.dumps(bomb)}),
        "partial of os.system": _partial(bomb.mark),
    }
    for name, content in parts.items():
        yield name, content
        yield f"model with {name}", _replaced(model, "classifier.skops", content)
    yield "model with a pickle as its header", _replaced(model, "model.json", pickle.dumps(bomb))
    yield "model with a pickle as its decision", _replaced(model, "decision.json", pickle.dumps(bomb))


def _bent(skops_file: bytes, changes: dict[str, str]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(skops_file)) as archive:
        schema = msgspec.json.decode(archive.read("schema.json"))
    return _replaced(skops_file, "schema.json", msgspec.json.encode(schema | changes))


def _partial(mark: Path) -> bytes:
    """functools.partial is a type that our files may hold; what it calls must not be."""
    import functools

    import skops.io

    return skops.io.dumps(functools.partial(os.system, f"touch '{mark}'"))


def _zipped(parts: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def _replaced(archive: bytes, name: str, content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(archive)) as old:
        return _zipped({one: content if one == name else old.read(one) for one in old.namelist()})


def scan_source(folder: Path = ROOT / "src") -> Outcome:
    """Look through every call and import of the source for what runs code that a file brings."""
    total = Outcome(0)
    for path in sorted(folder.rglob("*.py")):
        found = [f"{path.name}:{line}: {what}" for line, what in unsafe(path.read_text(encoding="utf-8"))]
        total += Outcome(1, tuple(found))
    return total


def unsafe(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of what must not stand in the source."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in UNSAFE_CALLS:
            yield node.lineno, f"{node.func.id}()"
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and (node.value.id, node.attr) in UNSAFE_ATTRIBUTES
        ):
            yield node.lineno, f"{node.value.id}.{node.attr}"
        if isinstance(node, ast.keyword) and node.arg in {"allow_pickle", "shell"} and not _is_false(node.value):
            yield node.value.lineno, f"{node.arg}="
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names]
            yield from ((node.lineno, f"import {name}") for name in names if name.partition(".")[0] in UNSAFE_IMPORTS)


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is False
