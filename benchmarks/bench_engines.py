"""Evaluation and tuning inside engines, against the engine's own bare group-by: time, and peak memory of the process.

Parquet is generated under $TMPDIR and deleted afterwards. ``python benchmarks/bench_engines.py --millions 1 10 50 100`` is the
table of docs/capacity.md; without arguments 1 and 5 million rows. Each figure is the median of repeated runs that take turns, in a
process of its own, so that ratios hold on a shared machine too.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

CLASSES = ["a", "b", "c", "d"]
VOTES = ["v_a", "v_b", "v_c", "v_d"]
CHUNK = 1_000_000
DISTINCT = 5
"""Files that differ; the others are copies of them, which engines read like any other."""


def generate(folder: Path, millions: int) -> None:
    import polars

    rng = np.random.default_rng(0)
    for number in range(millions):
        path = folder / f"part{number:03d}.parquet"
        if number >= DISTINCT:
            shutil.copyfile(folder / f"part{number % DISTINCT:03d}.parquet", path)
            continue
        truth = rng.choice(4, CHUNK, p=[0.6, 0.25, 0.1, 0.05])
        lean = 0.15 + 0.85 * np.eye(4)[truth] * rng.random((CHUNK, 1))
        votes = rng.multinomial(20, lean / lean.sum(axis=1, keepdims=True)).astype(np.uint8)
        names = np.array(CLASSES)
        columns = {
            "truth": names[truth],
            "decision": names[votes.argmax(axis=1)],
            "score": rng.random(CHUNK) + (truth == 3) / 2,
        }
        columns |= {name: votes[:, place] for place, name in enumerate(VOTES)}
        polars.DataFrame(columns).write_parquet(path)


def bare(engine: str, files: list[str], keys: list[str]) -> int:
    """The engine's own group-by, written as its users would."""
    if engine == "dask":
        import dask.dataframe

        return len(dask.dataframe.read_parquet(files, columns=keys).groupby(keys).size().compute())
    if engine == "spark":
        from compromis.engines.clusters import spark_session

        return len(spark_session().read.parquet(*files).groupBy(*keys).count().collect())
    if engine == "polars":
        import polars

        return polars.scan_parquet(files).group_by(keys).len().collect(engine="streaming").height
    import duckdb

    query = f"select {', '.join(keys)}, count(*) from read_parquet($files) group by all"
    return len(duckdb.connect().execute(query, {"files": files}).fetchall())


def evaluation(engine: str, files: list[str]) -> str:
    import compromis as cp

    return str(cp.evaluate_frame(cp.scan(files, engine=engine), truth="truth", decision="decision"))


def patterns(engine: str, files: list[str]):
    import compromis as cp

    return cp.VotePatterns.from_frame(cp.scan(files, engine=engine), truth="truth", votes=VOTES, labels=CLASSES)


def child(task: str, engine: str, folder: str, repeats: int) -> None:
    files = sorted(map(str, Path(folder).glob("*.parquet")))
    tasks = {
        "bare": lambda: bare(engine, files, ["truth", "decision"]),
        "evaluate": lambda: evaluation(engine, files),
        "bare votes": lambda: bare(engine, files, ["truth", *VOTES]),
        "patterns": lambda: patterns(engine, files),
    }
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = tasks[task]()
        seconds.append(time.perf_counter() - start)
    report = {"seconds": min(seconds), "megabytes": peak_megabytes()}
    if task == "patterns":
        report |= search_seconds(result)
    print(json.dumps(report))


def peak_megabytes() -> float:
    """Of this process alone: what getrusage tells begins with the parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def search_seconds(found) -> dict[str, float]:
    """The search itself, once the kernels are compiled."""
    import compromis as cp

    wish = cp.Preferences.prioritise(["d"]).with_index("f")
    search = cp.search_weights(found, preferences=wish)
    seconds = []
    for _ in range(5):
        start = time.process_time()  # of the processor: the search has one thread, and the machine may be shared
        search = cp.search_weights(found, preferences=wish)
        seconds.append(time.process_time() - start)
    return {"search": min(seconds), "patterns": len(found), "loss": search.loss}


def measure(tasks: tuple[str, str], engine: str, folder: Path, turns: int) -> list[dict[str, float]]:
    """Run two tasks in turn, each in a process of its own, and return the medians."""
    found: dict[str, list[dict[str, float]]] = {task: [] for task in tasks}
    for _ in range(turns):
        for task in tasks:
            command = [sys.executable, __file__, "--child", task, engine, str(folder)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found[task].append(json.loads(done.stdout))
    return [{name: statistics.median(run[name] for run in found[task]) for name in found[task][0]} for task in tasks]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--millions", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--engines", nargs="+", default=["polars", "duckdb"], help="also dask and spark")
    parser.add_argument("--child", nargs=3)
    options = parser.parse_args()
    if options.child:
        child(*options.child, repeats=2)
        return
    with tempfile.TemporaryDirectory(prefix="compromis-bench-") as name:
        folder = Path(name)
        print(
            "| rows | engine | evaluate | bare group-by | ratio | memory | patterns | bare group-by | ratio | memory | search |"
        )
        print("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for millions in sorted(options.millions):
            generate(folder, millions)
            for engine in options.engines:
                line(millions, engine, folder, options.turns)


def line(millions: int, engine: str, folder: Path, turns: int) -> None:
    plain, ours = measure(("bare", "evaluate"), engine, folder, turns)
    grouped, votes = measure(("bare votes", "patterns"), engine, folder, turns)
    print(
        f"| {millions} M | {engine} | {ours['seconds']:.2f} s | {plain['seconds']:.2f} s | "
        f"{ours['seconds'] / plain['seconds']:.2f} | {ours['megabytes']:.0f} MB | {votes['seconds']:.2f} s | "
        f"{grouped['seconds']:.2f} s | {votes['seconds'] / grouped['seconds']:.2f} | {votes['megabytes']:.0f} MB | "
        f"{votes['search'] * 1000:.0f} ms ({votes['patterns']:.0f} patterns) |",
        flush=True,
    )


if __name__ == "__main__":
    main()
