"""Decisions where the predictions are made: the JSON predictor against np.argmax, SQL and Polars against their own arg-max.

    python benchmarks/bench_deploy.py

Targets: at most 2 times np.argmax (10 M rows x 5 classes); at most 1.5 times a bare arg-max of the engine. Best of several runs, alternating, one thread.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time

os.environ.setdefault("POLARS_MAX_THREADS", "1")

import numpy as np

import compromis as cp
from compromis.deployment import predictor

ROWS, CLASSES = 10_000_000, 5
WEIGHTS = [0.5, 1.0, 2.0, 1.3, 0.7]
NAMES = [f"p{k}" for k in range(CLASSES)]
LABELS = tuple(f"class {k}" for k in range(CLASSES))


def fastest(*tasks, repeats=5):
    """The least processor time of each task, run in turns; all of them use one thread, and other programs do not count."""
    best = [np.inf] * len(tasks)
    for _ in range(repeats):
        for place, task in enumerate(tasks):
            start = time.process_time()
            task()
            best[place] = min(best[place], time.process_time() - start)
    return best


def report(name, mine, bare, target):
    print(
        f"{name:<44} {mine:7.3f} s   bare arg-max {bare:7.3f} s   ratio {mine / bare:5.2f} (target {target})",
        flush=True,
    )


def bare_case(columns, labels):
    """The arg-max that one would write without weights: the same CASE over the bare columns."""
    branches = [
        f"WHEN {' AND '.join(f'{one} >= {other}' for other in columns[k + 1 :])} THEN '{labels[k]}'"
        for k, one in enumerate(columns[:-1])
    ]
    return f"CASE {' '.join(branches)} ELSE '{labels[-1]}' END"


def bench_numpy(votes):
    """Whole-number labels come out in as many bytes as positions do; text takes 28 a row here, fresh memory that the system may be slow to give."""
    whole = json.loads(cp.Decision(range(CLASSES), WEIGHTS).to_json())
    smoothed = json.loads(cp.Decision(range(CLASSES), WEIGHTS, 0.01).to_json())
    text = json.loads(cp.Decision(LABELS, WEIGHTS).to_json())
    tasks = [lambda document=one: predictor.decide(document, votes) for one in (whole, smoothed, text)]
    *mine, bare = fastest(*tasks, lambda: votes.argmax(axis=1), repeats=7)
    for name, seconds in zip(("whole numbers out", "with smoothing", "text out"), mine, strict=True):
        report(f"JSON predictor, {name}", seconds, bare, 2)


def bench_polars(votes):
    import polars

    frame = polars.DataFrame(votes, schema=NAMES)
    columns = [polars.col(name) for name in NAMES]
    bare = polars.when(polars.all_horizontal([columns[0] >= other for other in columns[1:]])).then(
        polars.lit(LABELS[0])
    )
    for k in range(1, CLASSES - 1):
        bare = bare.when(polars.all_horizontal([columns[k] >= other for other in columns[k + 1 :]])).then(
            polars.lit(LABELS[k])
        )
    bare = bare.otherwise(polars.lit(LABELS[-1])).alias("decision")
    decision = cp.Decision(LABELS, WEIGHTS)
    listed = polars.concat_list(NAMES).list.arg_max().alias("decision")
    mine, plain, lists = fastest(
        lambda: cp.decide(frame.lazy(), votes=NAMES, weights=decision).select("decision").collect(),
        lambda: frame.lazy().select(bare).collect(),
        lambda: frame[:1_000_000].lazy().select(listed).collect(),
        repeats=3,
    )
    report("Polars, cp.decide against when/then", mine, plain, 1.5)
    report("Polars, cp.decide against list.arg_max", mine, 10 * lists, 1.5)


def bench_duckdb(votes):
    import duckdb
    import polars

    base = duckdb.connect()
    base.execute("SET threads = 1")
    base.execute("SET enable_progress_bar = false")
    frame = polars.DataFrame(votes, schema=NAMES).to_arrow()
    base.register("given", frame)
    base.execute("CREATE TABLE votes AS SELECT * FROM given")
    decision = cp.Decision(LABELS, WEIGHTS)

    def run(expression):
        return lambda: base.execute(f"CREATE OR REPLACE TEMP TABLE decided AS SELECT {expression} AS d FROM votes")

    listed = f"list_position([{', '.join(NAMES)}], list_max([{', '.join(NAMES)}]))"
    mine, bare, lists = fastest(
        run(decision.to_sql(NAMES, "duckdb")), run(bare_case(NAMES, LABELS)), run(listed), repeats=5
    )
    report("DuckDB, to_sql against CASE", mine, bare, 1.5)
    report("DuckDB, to_sql against list_position", mine, lists, 1.5)


def bench_sqlite(votes):
    base = sqlite3.connect(":memory:")
    base.execute(f"CREATE TABLE votes ({', '.join(f'{name} REAL' for name in NAMES)})")
    base.executemany(f"INSERT INTO votes VALUES ({', '.join('?' * CLASSES)})", votes[:1_000_000].tolist())
    decision = cp.Decision(LABELS, WEIGHTS)

    def run(expression):
        return lambda: base.execute(f"SELECT max({expression}) FROM votes").fetchone()

    mine, free, bare = fastest(
        run(decision.to_sql(NAMES, "sqlite")),
        run(decision.to_sql(NAMES, "sqlite", checked=False)),
        run(bare_case(NAMES, LABELS)),
        repeats=3,
    )
    report("SQLite (1 M rows), to_sql against CASE", mine, bare, 1.5)
    report("SQLite (1 M rows), to_sql(checked=False)", free, bare, 1.5)


if __name__ == "__main__":
    random_votes = np.random.default_rng(0).dirichlet(np.ones(CLASSES), ROWS)
    bench_numpy(random_votes)
    bench_duckdb(random_votes)
    bench_sqlite(random_votes)
    bench_polars(random_votes)
