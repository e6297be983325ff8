"""Evaluation and tuning inside engines, against the engine's own bare group-by: time, and peak memory of the process.

Parquet is generated under $TMPDIR (12 MB per million rows) and deleted afterwards. Each figure is the median of repeated runs that take
turns, in a process of its own, so that ratios hold on a shared machine too. The results are the table of docs/capacity.md; rows that are not
measured again, ``python -m benchmarks.bench_engines --millions 1 --engines dask``, keep their figures and date.
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
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks import machine
from benchmarks.lines import RESULTS
from reproductions.sheets import read, write

CLASSES = ["a", "b", "c", "d"]
VOTES = ["v_a", "v_b", "v_c", "v_d"]
ENGINES = ("polars", "duckdb", "dask", "spark")
SIZES = (1, 10, 50, 100)
CLUSTER_SIZES = (10,)
"""Millions of rows; Dask and Spark cost more to start, and pay off on more machines than one."""
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
        from compromis.frames.engines import spark_session

        return len(spark_session().read.parquet(*files).groupBy(*keys).count().collect())
    if engine == "polars":
        import polars

        return polars.scan_parquet(files).group_by(keys).len().collect(engine="streaming").height
    import duckdb

    query = f"select {', '.join(keys)}, count(*) from read_parquet($files) group by all"
    return len(duckdb.connect().execute(query, {"files": files}).fetchall())


def evaluation(engine: str, files: list[str]) -> str:
    import compromis as cp

    return str(cp.frames.evaluate(cp.frames.scan(files, engine=engine), truth="truth", prediction="decision"))


def patterns(engine: str, files: list[str]):
    import compromis as cp

    return cp.Votes.from_frame(cp.frames.scan(files, engine=engine), truth="truth", proba=VOTES, labels=CLASSES)


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
    """The search itself, once the kernels are loaded."""
    import compromis as cp

    preferences = cp.Preferences.prioritise(["d"], metric="kulczynski").with_metric("f")
    search = cp.search_weights(found, preferences=preferences, random_state=0)
    seconds = []
    for _ in range(5):
        start = time.process_time()  # of the processor: the search has one thread, and the machine may be shared
        search = cp.search_weights(found, preferences=preferences, random_state=0)
        seconds.append(time.process_time() - start)
    return {"search": min(seconds), "patterns": len(found), "loss": search.loss}


def measure(tasks: tuple[str, str], engine: str, folder: Path, turns: int) -> list[dict[str, float]]:
    """Run two tasks in turn, each in a process of its own, and return the medians."""
    found: dict[str, list[dict[str, float]]] = {task: [] for task in tasks}
    for _ in range(turns):
        for task in tasks:
            command = [sys.executable, "-m", "benchmarks.bench_engines", "--child", task, engine, str(folder)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found[task].append(json.loads(done.stdout))
    return [{name: statistics.median(run[name] for run in found[task]) for name in found[task][0]} for task in tasks]


def row_of(millions: int, engine: str, folder: Path, turns: int) -> dict[str, str]:
    """Measure one size and engine, print the times, and return the row of the result file."""
    plain, ours = measure(("bare", "evaluate"), engine, folder, turns)
    grouped, votes = measure(("bare votes", "patterns"), engine, folder, turns)
    print(
        f"{millions:>4} M  {engine:<7} evaluate {ours['seconds']:.2f} s, bare {plain['seconds']:.2f} s; "
        f"patterns {votes['seconds']:.2f} s, bare {grouped['seconds']:.2f} s; search {1000 * votes['search']:.0f} ms",
        flush=True,
    )
    numbers = {
        "evaluate": ours["seconds"],
        "bare": plain["seconds"],
        "evaluate_megabytes": ours["megabytes"],
        "patterns": votes["seconds"],
        "bare_patterns": grouped["seconds"],
        "patterns_megabytes": votes["megabytes"],
        "search": votes["search"],
        "pattern_count": votes["patterns"],
    }
    shown = {name: f"{number:.4f}" for name, number in numbers.items()}
    return {"millions": str(millions), "engine": engine, "turns": str(turns), **shown}


def missing(engine: str) -> str:
    """What an engine lacks here."""
    if find_spec("pyspark" if engine == "spark" else engine) is None:
        return "it is not installed"
    return "there is no Java" if engine == "spark" and shutil.which("java") is None else ""


def steps(options: argparse.Namespace) -> Iterator[tuple[int, str, int]]:
    """Size, engine and turns, the small sizes first: each needs the files of those before it."""
    absent = {engine: reason for engine in options.engines if (reason := missing(engine))}
    for engine, reason in absent.items():
        print(f"{engine}: left out, {reason}; rows of an earlier run stay", flush=True)
    for millions in sorted(options.millions or SIZES):
        for engine in options.engines:
            on_clusters = engine in ("dask", "spark")
            if engine not in absent and (options.millions or not on_clusters or millions in CLUSTER_SIZES):
                yield millions, engine, 1 if on_clusters else options.turns


def save(row: dict[str, str], now: dict[str, str]) -> None:
    """Write a row over that of the same size and engine; at once, as the large sizes take minutes."""
    file = RESULTS / "engines.csv"
    rows = [*(read(file) if file.exists() else []), row | now | {"load_end": machine.load()}]
    latest = {(int(row["millions"]), ENGINES.index(row["engine"])): row for row in rows}
    write(file, tuple(row | now), [[latest[key][field] for field in row | now] for key in sorted(latest)])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--millions", type=int, nargs="+", help="sizes, for each of the engines")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--engines", nargs="+", default=ENGINES, choices=ENGINES)
    parser.add_argument("--child", nargs=3)
    options = parser.parse_args()
    if options.child:
        child(*options.child, repeats=2)
        return
    now, there = machine.surroundings(), 0
    with tempfile.TemporaryDirectory(prefix="compromis-bench-") as folder:
        for millions, engine, turns in steps(options):
            if millions != there:
                generate(Path(folder), millions)
                there = millions
            save(row_of(millions, engine, Path(folder), turns), now)


if __name__ == "__main__":
    main()
