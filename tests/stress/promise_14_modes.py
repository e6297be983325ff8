"""14. The suite with bounds checks compiled in; hostile labels raise ValueError and never crash."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from tests.stress.outcome import NotRun, Outcome, Progress, silent
from tests.stress.programs import ROOT, environment, output
from tests.stress.suite import run_suite

TITLE = "suite with bounds checks; hostile labels"
QUICK = 0.001
LEFT_OUT = {"browser", "integration", "stress", "packaging", "differential"}
"""Folders of the suite that run no kernels of their own: pages in a browser, other packages, these promises."""


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count tests of the suite (below full scale, of the first files only) and hostile labels at every door."""
    total = hostile_labels()
    files = [path for path in (ROOT / "tests").rglob("test_*.py") if path.parent.name not in LEFT_OUT]
    files = sorted(files, key=lambda path: (path.name != "test_kernels.py", path.name))
    files = [str(path) for path in files[: round(scale * len(files))] if path.name != "test_promises.py"]
    progress(1, 2)
    if files:
        total += run_suite(*files, what="bounds checks", PYTHONPATH=bounds_checked())
    return total


def bounds_checked() -> str:
    """Compile the kernels with bounds checks, as make test-bounds does, and return the folder of the package."""
    folder = ROOT / "build" / "bounds"
    command = [
        sys.executable,
        "setup.py",
        "--quiet",
        "build",
        f"--build-base={folder}",
        f"--build-lib={folder / 'lib'}",
    ]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(COMPROMIS_BUILD="bounds"), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise NotRun(f"the kernels could not be compiled here: {done.stderr.strip().splitlines()[-1]}")
    return str(folder / "lib")


def hostile_labels() -> Outcome:
    """Try them in a process of their own, which a crash would end."""
    try:
        cases, failures = json.loads(output("from tests.stress.promise_14_modes import tell; tell()").splitlines()[-1])
    except AssertionError as error:
        return Outcome(1, (f"hostile labels: {error}",))
    return Outcome(cases, tuple(failures))


def tell() -> None:
    """Print the number of cases and the failures as JSON."""
    cases, failures = 0, []
    for name, labels in hostile().items():
        for door, enter in doors().items():
            cases += 1
            wrong = refused_or_read(enter, labels)
            if wrong:
                failures.append(f"{name} at {door}: {wrong}")
    print(json.dumps([cases, failures]))


def refused_or_read(enter: Callable[[Any], Any], labels: Any) -> str:
    """Return what is wrong: anything raised but ValueError with one sentence."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            enter(labels)
        except ValueError as error:
            return "" if str(error).strip() else "an error without a message"
        except Exception as error:
            return f"{type(error).__name__}: {' '.join(str(error).split())[:150]}"
    return ""


def hostile() -> dict[str, Any]:
    """Return six labels each, of every awkward kind; those outside {0, 1, 2} do not belong to `labels=`."""
    import datetime
    from decimal import Decimal

    import numpy as np
    import pandas as pd

    cyclic: list[Any] = [0, 1, 2, 0, 1]
    cyclic.append(cyclic)
    return {
        "minus one": np.array([0, 1, 2, 0, 1, -1]),
        "far outside": np.array([0, 1, 2, 0, 1, 2**62]),
        "largest int64": np.array([0, 1, 2, 0, 1, 2**63 - 1]),
        "smallest int64": np.array([0, 1, 2, 0, 1, -(2**63)]),
        "both ends of int64": np.array([-(2**63), 2**63 - 1, 0, 0, 1, 2]),
        "largest uint64": np.array([0, 1, 2, 0, 1, 2**64 - 1], dtype=np.uint64),
        "beyond 64 bits": [0, 1, 2, 0, 1, 2**70],
        "NaN": [0.0, 1.0, 2.0, 0.0, 1.0, float("nan")],
        "infinity": [0.0, 1.0, 2.0, 0.0, 1.0, float("inf")],
        "minus zero": [0.0, -0.0, 1.0, 2.0, 1.0, 2.0],
        "None": [0, 1, 2, 0, 1, None],
        "all None": [None] * 6,
        "mixed": [0, "1", 2, 0, 1, "2"],
        "bool and int": [0, 1, 2, True, 1, False],
        "empty": [],
        "five of six": [0, 1, 2, 0, 1],
        "scalar": 3,
        "text": "012012",
        "bytes": b"012012",
        "dict": {0: 1},
        "nested": [[0], [1], [2], [0], [1], [2, 3]],
        "matrix": np.zeros((6, 2), dtype=int),
        "three axes": np.zeros((6, 1, 1), dtype=int),
        "zero axes": np.array(1),
        "self-containing": cyclic,
        "complex": np.array([0, 1, 2, 0, 1, 1j]),
        "objects": [object() for _ in range(6)],
        "unhashable": [{}, {}, {}, {}, {}, {}],
        "dates": np.array(["2020-01-01"] * 5 + ["NaT"], dtype="datetime64[D]"),
        "durations": np.array([0, 1, 2, 0, 1, 2], dtype="timedelta64[s]"),
        "datetimes": [datetime.datetime(2020, 1, 1)] * 6,
        "decimals": [Decimal(0), Decimal(1), Decimal("NaN"), Decimal(0), Decimal(1), Decimal(2)],
        "surrogate": ["a", "b", "\ud800", "a", "b", "c"],
        "null character": ["a", "b", "a\0", "a", "b", "c"],
        "long text": ["a" * 10**6, "b", "c", "a", "b", "c"],
        "structured": np.zeros(6, dtype=[("a", int), ("b", float)]),
        "void": np.zeros(6, dtype="V4"),
        "float16": np.array([0, 1, 2, 0, 1, np.nan], dtype=np.float16),
        "masked": np.ma.array([0, 1, 2, 0, 1, 2], mask=[0, 0, 0, 0, 0, 1]),
        "pandas missing": pd.Series([0, 1, 2, 0, 1, None], dtype="Int64"),
        "categories unused": pd.Series(pd.Categorical([0, 1, 2, 0, 1, 2], categories=range(50))),
        "intervals": pd.Series(pd.interval_range(0, 6)),
        "generator": (k for k in range(6)),
        "set": {0, 1, 2, 3, 4, 5},
        "every row its own": np.arange(6) * 10**12,
    }


def doors() -> dict[str, Callable[[Any], Any]]:
    """Return every way in for labels."""
    import numpy as np

    import compromis as cp
    from compromis.evidence.paired import PairedCounts

    plain, votes, X = [0, 1, 2, 0, 1, 2], np.ones((6, 3)), np.arange(12.0).reshape(6, 2)
    fitted = [
        cp.PragmaTreeClassifier(),
        cp.PragmaForestClassifier(2, tune=False),
        cp.C45Classifier(),
    ]
    return {
        "Counts, truth": lambda y: cp.Counts.from_predictions(y, plain),
        "Counts, decision": lambda y: cp.Counts.from_predictions(plain, y),
        "Counts, both": lambda y: cp.Counts.from_predictions(y, y),
        "Counts, labels": lambda y: cp.Counts.from_predictions(y, plain, labels=[0, 1, 2]),
        "Counts, classes": lambda y: cp.Counts.from_predictions(plain, plain, labels=y),
        "evaluate": lambda y: cp.evaluate(y, y_proba=votes, labels=[0, 1, 2]).to_json(),
        "loss": lambda y: cp.pragma_loss(y, plain, preferences=cp.Preferences()),
        "OperatingPoints": lambda y: cp.OperatingPoints.from_predictions(y, range(6), pos_label=1),
        "one_vs_rest": lambda y: cp.OperatingPoints.one_vs_rest(y, votes, labels=[0, 1, 2]),
        "Votes": lambda y: cp.Votes.from_proba(y, votes, labels=[0, 1, 2]),
        "search_weights": lambda y: cp.search_weights(y, votes, labels=[0, 1, 2], random_state=0),
        "PairedCounts": lambda y: PairedCounts.from_predictions(plain, y, plain),
        "groups": lambda y: cp.evaluate(plain, plain, groups=y, confidence=0.9),
        **{type(one).__name__: (lambda y, one=one: one.fit(X, y).predict(X)) for one in fitted},
    }
