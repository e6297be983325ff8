"""J48 of Weka 3.6 in a Java process, asked about tables: the oracle of the differential tests of C4.5.

Run as a script, `python -m tests.differential.weka_j48 500`, it compares that many random tables.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from compromis.trees.c45 import Examples, Rules, Table, fit_tree, shares, tree_text
from tests.random_tables import random_case

JARS = ("/usr/share/java/weka.jar", "/usr/share/java/weka-3.6.14.jar")
SOURCE = Path(__file__).with_name("J48Oracle.java")


def missing_tool() -> str | None:
    """Why Weka cannot be asked here, or None."""
    if weka_jar() is None:
        return "weka.jar not found (Debian: apt-get install weka), or set WEKA_JAR"
    if shutil.which("javac") is None or shutil.which("java") is None:
        return "java and javac are needed to ask Weka"
    return None


def weka_jar() -> str | None:
    """Path of Weka 3.6's archive."""
    return next((jar for jar in (os.environ.get("WEKA_JAR", ""), *JARS) if jar and Path(jar).exists()), None)


@dataclass(frozen=True)
class Answer:
    """What J48 says: its printed tree and the class shares of the test rows."""

    text: str
    shares: NDArray[np.float64]


class J48:
    """A running J48; use as a context manager."""

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="j48-")
        jar = str(weka_jar())
        subprocess.run(["javac", "-cp", jar, "-d", self._folder.name, str(SOURCE)], check=True, capture_output=True)
        command = ["java", "-Xss256m", "-cp", f"{jar}{os.pathsep}{self._folder.name}", "J48Oracle"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()
        self._folder.cleanup()

    def ask(self, examples: Examples, test: Table, rules: Rules, labels: Sequence[str] | None = None) -> Answer | str:
        """J48 grown on the examples, asked about the test rows; or why Weka failed. `labels` are those of the classes, k0, k1, ..."""
        labels = labels or [f"k{c}" for c in range(examples.n_classes)]
        train_path, test_path = Path(self._folder.name, "train.arff"), Path(self._folder.name, "test.arff")
        write_arff(train_path, examples.table, examples.classes, labels, examples.weights)
        no_class = np.zeros(test.n_rows, dtype=np.int32)
        write_arff(test_path, test, no_class, labels, np.ones(test.n_rows))
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{train_path}\t{test_path}\t{' '.join(options(rules))}\n")
        self._process.stdin.flush()
        lines: list[str] = []
        while (line := self._process.stdout.readline()) != "@end\n":
            assert line, "Weka ended without an answer"
            lines.append(line)
        if lines[0].startswith("@failed"):
            return lines[0].strip()
        at = lines.index("@shares\n")
        found = [[float.fromhex(word) for word in line.split()] for line in lines[at + 1 :]]
        return Answer("".join(lines[:at]), np.array(found).reshape(test.n_rows, examples.n_classes))


def options(rules: Rules) -> list[str]:
    """J48's command line for these rules."""
    chosen = ["-M", str(rules.min_leaf)]
    if not rules.pruned:
        return [*chosen, "-U"]
    return [*chosen, "-C", repr(rules.confidence), *([] if rules.subtree_raising else ["-S"])]


def write_arff(
    path: Path, table: Table, classes: NDArray[np.int32], labels: Sequence[str], weights: NDArray[np.float64]
) -> None:
    """Write a table for Weka, the classes declared in the order of `labels`; weights other than 1 follow in braces."""
    lines = ["@relation table"]
    columns: list[list[str]] = []
    n_numeric = n_nominal = 0
    for attribute in table.columns:
        if attribute.categories is None:
            lines.append(f"@attribute {quoted(attribute.name)} numeric")
            columns.append([number(value) for value in table.numeric[n_numeric]])
            n_numeric += 1
        else:
            values = [quoted(value) for value in attribute.categories]
            lines.append(f"@attribute {quoted(attribute.name)} {{{','.join(values)}}}")
            columns.append(["?" if code < 0 else values[code] for code in table.nominal[n_nominal]])
            n_nominal += 1
    lines.append(f"@attribute class {{{','.join(labels)}}}")
    lines.append("@data")
    for i in range(table.n_rows):
        weight = "" if weights[i] == 1 else f",{{{float(weights[i])!r}}}"
        lines.append(",".join([*(column[i] for column in columns), labels[classes[i]]]) + weight)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def quoted(text: str) -> str:
    """Text in ARFF's quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def number(value: float) -> str:
    """A number that Weka reads back as the same double."""
    return "?" if np.isnan(value) else repr(float(value))


def differences(j48: J48, examples: Examples, test: Table, rules: Rules) -> list[str]:
    """How our tree differs from J48's: nothing where they agree, the shares to the last bit."""
    tree = fit_tree(examples, rules)
    labels = [f"k{c}" for c in range(examples.n_classes)]
    ours = tree_text(tree, examples.table.columns, labels)
    answer = j48.ask(examples, test, rules)
    if isinstance(answer, str):
        return [answer]
    theirs = answer.text.split("------------------\n", 1)[1].lstrip("\n")
    found = []
    if ours.rstrip() != theirs.rstrip():
        found.append(f"trees differ:\n{ours}\nWeka:\n{theirs}")
    our_shares = shares(tree, test)
    if not np.array_equal(our_shares, answer.shares, equal_nan=True):
        found.append(f"shares differ by up to {np.nanmax(np.abs(our_shares - answer.shares))}")
    return found


def main(n_cases: int, first: int) -> int:
    """Compare random cases, print the seeds that differ, return their number."""
    wrong = 0
    sizes = []
    with J48() as j48:
        for seed in range(first, first + n_cases):
            examples, test, rules = random_case(seed)
            sizes.append(fit_tree(examples, rules).size)
            found = differences(j48, examples, test, rules)
            if found:
                wrong += 1
                print(f"seed {seed}, {rules}:", *found, sep="\n")
    print(f"{n_cases} cases, {wrong} differ; nodes: median {np.median(sizes):.0f}, largest {max(sizes)}")
    return wrong


if __name__ == "__main__":
    reason = missing_tool()
    if reason is not None:
        sys.exit(reason)
    sys.exit(min(main(int(sys.argv[1]) if len(sys.argv) > 1 else 300, int(sys.argv[2]) if len(sys.argv) > 2 else 0), 1))
