"""Decisions where the predictions are made: the JSON predictor against np.argmax, SQL and Polars against their own arg-max.

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
from benchmarks.lines import Lines, at_most
from compromis.weights import predictor

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


def report(lines, name, mine, bare, target, missed_because=""):
    beside = f"{mine:.3f} s, bare arg-max {bare:.3f} s"
    lines.add(name, mine / bare, at_most(target), beside, missed_because=missed_because)


def bare_case(columns, labels):
    """The arg-max that one would write without weights: the same CASE over the bare columns."""
    branches = [
        f"WHEN {' AND '.join(f'{one} >= {other}' for other in columns[k + 1 :])} THEN '{labels[k]}'"
        for k, one in enumerate(columns[:-1])
    ]
    return f"CASE {' '.join(branches)} ELSE '{labels[-1]}' END"


def bench_numpy(lines, votes):
    """Whole-number labels come out in as many bytes as positions do; text takes 28 a row here, fresh memory that the system may be slow to give."""
    whole = json.loads(cp.Decision(range(CLASSES), WEIGHTS).to_json())
    smoothed = json.loads(cp.Decision(range(CLASSES), WEIGHTS, smoothing=0.01).to_json())
    text = json.loads(cp.Decision(LABELS, WEIGHTS).to_json())
    tasks = [lambda document=one: predictor.decide(document, votes) for one in (whole, smoothed, text)]
    *mine, bare = fastest(*tasks, lambda: votes.argmax(axis=1), repeats=7)
    for name, seconds in zip(("whole numbers out", "with smoothing", "text out"), mine, strict=True):
        slow = "text is longer than positions, and the system was slow to give the memory" if name == "text out" else ""
        report(lines, f"JSON predictor, {name} / np.argmax", seconds, bare, 2, slow)


def bench_polars(lines, votes):
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
        lambda: cp.frames.decide(frame.lazy(), proba=NAMES, weights=decision).select("decision").collect(),
        lambda: frame.lazy().select(bare).collect(),
        lambda: frame[:1_000_000].lazy().select(listed).collect(),
        repeats=3,
    )
    report(
        lines,
        "Polars, cp.frames.decide / when-then written by hand",
        mine,
        plain,
        1.5,
        "the rest is the check of votes",
    )
    report(lines, "Polars, cp.frames.decide / its list.arg_max", mine, 10 * lists, 1.5)


def bench_duckdb(lines, votes):
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
        return lambda: base.execute(f"CREATE OR REPLACE TEMP TABLE predicted AS SELECT {expression} AS d FROM votes")

    listed = f"list_position([{', '.join(NAMES)}], list_max([{', '.join(NAMES)}]))"
    mine, bare, lists = fastest(
        run(decision.to_sql(NAMES, "duckdb")), run(bare_case(NAMES, LABELS)), run(listed), repeats=5
    )
    report(lines, "DuckDB, to_sql / CASE", mine, bare, 1.5)
    report(lines, "DuckDB, to_sql / list_position", mine, lists, 1.5)


def bench_sqlite(lines, votes):
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
    slow = "the check of votes is most of it, see the line without"
    report(lines, "SQLite (1 M rows), to_sql / CASE", mine, bare, 1.5, slow)
    report(lines, "SQLite (1 M rows), to_sql(checked=False) / CASE", free, bare, 1.5)


def main():
    votes = np.random.default_rng(0).dirichlet(np.ones(CLASSES), ROWS)
    with Lines("deploy") as lines:
        bench_numpy(lines, votes)
        bench_duckdb(lines, votes)
        bench_sqlite(lines, votes)
        bench_polars(lines, votes)


if __name__ == "__main__":
    main()
