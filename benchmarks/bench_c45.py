"""C45Classifier against Weka's J48: time to fit, both warm, on satimage.

The ratio of the medians. Needs COMPROMIS_DATA, java, javac and weka.jar (or WEKA_JAR).
"""

from __future__ import annotations

import csv
import gzip
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.lines import Lines, at_most
from compromis.estimators.c45 import C45Classifier

JARS = (os.environ.get("WEKA_JAR", ""), "/usr/share/java/weka.jar", "/usr/share/java/weka-3.6.14.jar")


def main() -> None:
    with Lines("c45") as lines:
        against_weka(lines)


def against_weka(lines: Lines, rounds: int = 15) -> None:
    jar = next((jar for jar in JARS if jar and Path(jar).exists()), None)
    folder = os.environ.get("COMPROMIS_DATA")
    if jar is None or not folder or shutil.which("javac") is None:
        lines.leave_out("", "COMPROMIS_DATA, javac and weka.jar are needed")
        return
    with gzip.open(Path(folder, "satimage.csv.gz"), "rt", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    X = np.array([row[:-1] for row in rows], dtype=np.float64)
    y = np.array([row[-1] for row in rows])
    ours, size = time_ours(X, y, rounds)
    weka, weka_size = time_weka(jar, header, rows, rounds)
    assert size == weka_size, f"the trees differ: {size} nodes, Weka {weka_size}"
    lines.add(
        f"fit on satimage, {X.shape[0]:,} x {X.shape[1]}, {len(set(y))} classes / Weka's J48 in a warm JVM",
        statistics.median(ours) / statistics.median(weka),
        at_most(2),
        f"median {statistics.median(ours):.4f} s (best {min(ours):.4f}), J48 {statistics.median(weka):.4f} s "
        f"(best {min(weka):.4f}); {size} nodes each",
    )


def time_ours(X: np.ndarray, y: np.ndarray, rounds: int) -> tuple[list[float], int]:
    model = C45Classifier().fit(X, y)
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        model.fit(X, y)
        seconds.append(time.perf_counter() - start)
    return seconds, model.size_


def time_weka(jar: str, header: list[str], rows: list[list[str]], rounds: int) -> tuple[list[float], int]:
    labels = ",".join(sorted({row[-1] for row in rows}))
    lines = ["@relation t", *(f"@attribute '{name}' numeric" for name in header[:-1])]
    lines += [f"@attribute class {{{labels}}}", "@data", *(",".join(row) for row in rows)]
    source = Path(__file__).with_name("J48Timer.java")
    with tempfile.TemporaryDirectory() as folder:
        arff = Path(folder, "table.arff")
        arff.write_text("\n".join(lines) + "\n", encoding="utf-8")
        subprocess.run(["javac", "-cp", jar, "-d", folder, str(source)], check=True)
        command = ["java", "-cp", f"{jar}{os.pathsep}{folder}", "J48Timer", str(arff), "10", str(rounds)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    pairs = [line.split() for line in output.splitlines()]
    return [float(seconds) for seconds, _ in pairs], int(pairs[0][1])


if __name__ == "__main__":
    main()
