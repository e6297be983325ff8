"""29b. Every way to decide gives the same labels and sends the same rows to a person."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse

import compromis as cp
from compromis.deployment.sql import DIALECTS
from compromis.weights import predictor
from tests.frame_kinds import make
from tests.hostile_votes import COLUMNS, LABELS, RATIO, WEIGHTS, calls_at_the_ratio, plainly, plainly_reviewed
from tests.stress.outcome import Outcome, Progress, scaled, silent

TITLE = "the same labels and reviews from arrays, JSON, SQL, ONNX and frames"
ROWS = 100_000
QUICK = 0.005
ENGINES = ("pandas", "polars", "pyarrow")
LAZY = {"polars_lazy": "polars", "duckdb": "duckdb", "dask": "dask", "ibis": "ibis"}
"""Frames that compute when asked, and the package that each needs; tests/integration has Spark."""
NAMES = [f"p{k}" for k in range(1, len(LABELS) + 1)]
Answer = tuple[list[Any], list[bool]]


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Decide hostile votes in every way, with smoothing and without, and compare with a plain loop over the rows."""
    rows, total = scaled(ROWS, scale, least=500), Outcome(0)
    votes = calls_at_the_ratio(rows, seed=29)
    for done, smoothing in enumerate((0.0, 0.025)):
        decision = cp.Decision(LABELS, WEIGHTS, smoothing=smoothing, review=RATIO)
        labels = [LABELS[k] for k in plainly(votes, WEIGHTS, smoothing)]
        review = plainly_reviewed(votes, WEIGHTS, RATIO, smoothing)
        for way, answer in _ways(decision, votes):
            found = answer()
            wrong = sum(
                one != other
                for one, other in zip(zip(*found, strict=True), zip(labels, review, strict=True), strict=True)
            )
            failures = (f"{way}, smoothing {smoothing}: {wrong} of {rows} rows differ",) if wrong else ()
            total += Outcome(rows, failures, Counter({f"rows to review, smoothing {smoothing}": sum(found[1])}))
        progress(done + 1, 2)
    return total


def _ways(decision: cp.Decision, votes: np.ndarray) -> Iterator[tuple[str, Callable[[], Answer]]]:
    def of_arrays(pair: Any) -> Answer:
        return pair[0].tolist(), pair[1].tolist()

    yield "decide", lambda: of_arrays(decision.decide(votes, return_review=True))
    yield "sparse", lambda: of_arrays(decision.decide(scipy.sparse.csr_array(votes), return_review=True))
    written = decision.to_json()
    yield "JSON", lambda: of_arrays(cp.Decision.from_json(written).decide(votes, return_review=True))
    yield "predictor", lambda: of_arrays(predictor.decide(json.loads(written), votes, return_review=True))
    yield "SQLite", lambda: _sqlite(decision, votes)
    if find_spec("duckdb"):
        yield "DuckDB", lambda: _duckdb(decision, votes)
    if find_spec("onnxruntime") and find_spec("onnx"):
        yield "ONNX", lambda: _onnx(decision, votes)
    for engine in filter(find_spec, ENGINES):
        yield engine, lambda engine=engine: _frame(decision, votes, engine)
    for kind, package in LAZY.items():
        if find_spec(package):
            yield kind, lambda kind=kind: _lazy(decision, votes, kind)
    if find_spec("duckdb") and find_spec("sqlglot"):
        for dialect in DIALECTS:
            yield f"SQL of {dialect}", lambda dialect=dialect: _as_another_reads_it(decision, votes, dialect)


def _expressions(decision: cp.Decision, dialect: str) -> str:
    return ", ".join(decision.to_sql(COLUMNS, dialect, review=review) for review in (False, True))


def _answer(rows: list[tuple[Any, ...]]) -> Answer:
    return [label for label, _ in rows], [bool(review) for _, review in rows]


def _sqlite(decision: cp.Decision, votes: np.ndarray) -> Answer:
    names = ", ".join('"' + name.replace('"', '""') + '" REAL' for name in COLUMNS)
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute(f"CREATE TABLE votes ({names})")
        base.executemany(f"INSERT INTO votes VALUES ({', '.join('?' * len(COLUMNS))})", votes.tolist())
        return _answer(base.execute(f"SELECT {_expressions(decision, 'sqlite')} FROM votes ORDER BY rowid").fetchall())


def _duckdb(decision: cp.Decision, votes: np.ndarray) -> Answer:
    import duckdb
    import pyarrow

    columns = {name: votes[:, k] for k, name in enumerate(COLUMNS)}
    base = duckdb.connect()
    base.register("votes", pyarrow.table({"row": np.arange(len(votes)), **columns}))
    return _answer(base.execute(f"SELECT {_expressions(decision, 'duckdb')} FROM votes ORDER BY row").fetchall())


def _onnx(decision: cp.Decision, votes: np.ndarray) -> Answer:
    import onnxruntime

    model = decision.to_onnx().SerializeToString()
    labels, review = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"votes": votes})
    return labels.tolist(), review.tolist()


def _frame(decision: cp.Decision, votes: np.ndarray, engine: str) -> Answer:
    frame = nw.from_dict({name: votes[:, k] for k, name in enumerate(COLUMNS)}, backend=engine).to_native()
    decided = nw.from_native(cp.frames.decide(frame, proba=COLUMNS, weights=decision))
    return decided["decision"].to_list(), decided["needs_review"].to_list()


def _lazy(decision: cp.Decision, votes: np.ndarray, kind: str) -> Answer:
    columns = {name: votes[:, k].tolist() for k, name in enumerate(NAMES)} | {"row": list(range(len(votes)))}
    decided = cp.frames.decide(make(kind, columns), proba=NAMES, weights=decision)
    found = nw.from_native(decided).lazy().collect().sort("row")
    return found["decision"].to_list(), [bool(one) for one in found["needs_review"].to_list()]


def _as_another_reads_it(decision: cp.Decision, votes: np.ndarray, dialect: str) -> Answer:
    """Decide by a dialect's SQL as sqlglot, a reader of it, writes it for DuckDB."""
    import duckdb
    import pyarrow
    import sqlglot

    assert decision.review is not None
    plain = cp.Decision(NAMES, decision.weights, smoothing=decision.smoothing, review=decision.review)
    told = ", ".join(
        plain.to_sql(NAMES, dialect, checked=False, review=review) + f" AS {name}"
        for review, name in ((False, "label"), (True, "look"))
    )
    (query,) = sqlglot.transpile(
        f"SELECT {told} FROM votes ORDER BY row", read=None if dialect == "ansi" else dialect, write="duckdb"
    )
    if dialect == "tsql":  # whose FLOAT has 64 bits and whose BIT is a truth value
        query = query.replace("AS REAL", "AS DOUBLE").replace("AS BIT", "AS BOOLEAN")
    base = duckdb.connect()
    base.register(
        "votes", pyarrow.table({"row": np.arange(len(votes)), **{name: votes[:, k] for k, name in enumerate(NAMES)}})
    )
    rows = base.execute(query).fetchall()
    return [LABELS[NAMES.index(label)] for label, _ in rows], [bool(look) for _, look in rows]
