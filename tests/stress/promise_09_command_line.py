"""9. The command line and the library: the same JSON, whatever the options, the file format and the way of starting."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from click.testing import CliRunner

import compromis as cp
from compromis.cli import main
from compromis.evaluation.model_comparison import compare_models
from tests.stress.counting import count_seeds
from tests.stress.outcome import Outcome, Progress, scaled, silent

TITLE = "command line and library give the same JSON"
FULL = 200
QUICK = 0.03
METRICS = ("kulczynski", "f", "fowlkes_mallows", "jaccard")
FORMATS = ("csv", "tsv", "csv.gz", "parquet")
PROCESS_EVERY = 40
"""So many configurations run in-process for one that starts a process."""


@dataclass(frozen=True, slots=True)
class Data:
    """A table as text, and as the library takes it."""

    labels: list[str]
    truth: list[str]
    decisions: list[list[str]]
    scores: np.ndarray
    weight: list[float]
    groups: list[str]

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of the file."""
        scores = {f"p_{label}": column.tolist() for label, column in zip(self.labels, self.scores.T, strict=True)}
        made = {f"m{k}": one for k, one in enumerate(self.decisions)}
        return {"truth": self.truth, **made, **scores, "w": self.weight, "g": self.groups}


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count the configurations in which the two differ."""
    return count_seeds(check, range(scaled(FULL, scale)), progress)


def check(seed: int) -> None:
    """One configuration of one command."""
    rng = np.random.default_rng(seed)
    data = random_data(rng)
    kind = [evaluate, evaluate_scores, tradeoff, compare_curves, tune, regression][seed % 6]
    with tempfile.TemporaryDirectory() as folder:
        path = write(data, Path(folder), FORMATS[seed // 6 % 4])
        options, call = kind(rng, data, Path(folder))
        expected = call()
        found = told([*options[:1], str(path), *options[1:]], Path(folder), process=seed % PROCESS_EVERY == 0)
        assert json.loads(found) == json.loads(expected), f"compromis {' '.join(options)}"
        assert found.strip() == expected.strip(), f"compromis {' '.join(options)}: the same values, written otherwise"


def random_data(rng: Any) -> Data:
    """Awkward names of classes, and numbers that need all their digits."""
    labels = [["no", "yes"], ["01", "1", "NA"], ["a b", "null", "é", "x,y"]][int(rng.integers(3))]
    rows = int(rng.integers(12, 60))
    truth = [labels[k] for k in (*range(len(labels)), *rng.integers(0, len(labels), rows - len(labels)))]
    decisions = [[t if rng.random() < 0.6 else labels[rng.integers(len(labels))] for t in truth] for _ in range(3)]
    scores = rng.dirichlet(np.ones(len(labels)), rows)
    weight = (rng.integers(1, 40, rows) / 8).tolist()
    return Data(labels, truth, decisions, scores, weight, [f"g{k}" for k in rng.integers(0, 6, rows)])


def write(data: Data, folder: Path, form: str) -> Path:
    """Write the table in a format; numbers with all digits."""
    path, columns = folder / f"rows.{form}", data.columns()
    if form == "parquet":
        pa.parquet.write_table(pa.table(columns), path)
        return path
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t" if form == "tsv" else ",")
    writer.writerow(columns)
    writer.writerows(
        [[repr(x) if isinstance(x, float) else x for x in row] for row in zip(*columns.values(), strict=True)]
    )
    content = text.getvalue().encode()
    path.write_bytes(gzip.compress(content) if form.endswith("gz") else content)
    return path


def told(arguments: list[str], folder: Path, *, process: bool) -> str:
    """Return what the command prints (or writes, for tune), in this process or in one of its own."""
    if process:
        command = [sys.executable, "-m", "compromis", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False, timeout=600)
        code, out, complaint = done.returncode, done.stdout, done.stderr
    else:
        result = CliRunner().invoke(main, arguments, catch_exceptions=False)
        code, out, complaint = result.exit_code, result.stdout, result.stderr
    assert code == 0, f"exit code {code}: {complaint}"
    written = folder / "decision.json"
    return written.read_text(encoding="utf-8") if written.exists() else out


Configuration = tuple[list[str], Callable[[], str]]


def random_preferences(rng: Any, data: Data, folder: Path) -> tuple[list[str], cp.Preferences | None]:
    """Preferences by file, by name, by metric alone, or none."""
    kind, metric = int(rng.integers(4)), METRICS[int(rng.integers(3))]
    if kind == 0:
        return [], None
    if kind == 1:
        return ["--prioritise", data.labels[1], "--metric", metric], cp.Preferences.prioritise(
            [data.labels[1]]
        ).with_metric(metric)
    if kind == 2:
        return ["--metric", metric], cp.Preferences(metric=metric)
    preferences = cp.Preferences(
        {data.labels[0]: cp.Preference(3.5, float(rng.random()), float(rng.random()), min_recall=0.25)},
        cp.Preference(1.0, 0.5, float(rng.random())),
        metric=metric,
    )
    preferences.to_toml(folder / "preferences.toml")
    return ["--preferences", str(folder / "preferences.toml")], preferences


def with_weight(rng: Any, data: Data) -> tuple[list[str], list[float] | None]:
    """A column of weights, or none."""
    return (["--weight", "w"], data.weight) if rng.random() < 0.5 else ([], None)


def evaluate(rng: Any, data: Data, folder: Path) -> Configuration:
    """Decisions alone, with every other option."""
    options, preferences = random_preferences(rng, data, folder)
    more, weight = with_weight(rng, data)
    options += more
    order = data.labels[::-1] if rng.random() < 0.5 else None
    options += [part for label in order or () for part in ("--label", label)]
    confidence = 0.9 if rng.random() < 0.3 else None
    options += ["--confidence", "0.9"] if confidence else []
    groups = data.groups if rng.random() < 0.3 else None
    options += ["--group", "g"] if groups else []
    return ["evaluate", "--truth", "truth", "--prediction", "m0", "--json", *options], lambda: cp.evaluate(
        data.truth,
        data.decisions[0],
        preferences=preferences,
        labels=order,
        sample_weight=weight,
        confidence=confidence,
        groups=groups,
    ).to_json()


def evaluate_scores(rng: Any, data: Data, folder: Path) -> Configuration:
    """Scores with or without decisions."""
    options, preferences = random_preferences(rng, data, folder)
    more, weight = with_weight(rng, data)
    decision = data.decisions[1] if rng.random() < 0.5 else None
    options += [*more, *(["--prediction", "m1"] if decision else [])]
    order = sorted(data.labels)
    scores = data.scores[:, [data.labels.index(label) for label in order]]
    return ["evaluate", "--truth", "truth", "--proba", "p_", "--json", *options], lambda: cp.evaluate(
        data.truth, decision, y_proba=scores, preferences=preferences, labels=order, sample_weight=weight
    ).to_json()


def tradeoff(rng: Any, data: Data, folder: Path) -> Configuration:
    """Two scores for one class."""
    metric, positive = METRICS[int(rng.integers(4))], data.labels[int(rng.integers(len(data.labels)))]
    options, weight = with_weight(rng, data)
    least = 0.05 if rng.random() < 0.5 else None
    options += ["--min-recall", "0.05"] if least else []
    names = [f"p_{label}" for label in data.labels[:2]]
    scores = {name: data.scores[:, k] for k, name in enumerate(names)}
    options += [part for name in names for part in ("--score", name)]
    return [
        "tradeoff",
        "--truth",
        "truth",
        "--pos-label",
        positive,
        "--metric",
        metric,
        "--json",
        *options,
    ], lambda: cp.compare_curves(
        {
            name: cp.OperatingPoints.from_predictions(data.truth, score, pos_label=positive, sample_weight=weight)
            for name, score in scores.items()
        },
        metric,
        min_recall=least,
    ).to_json()


def compare_curves(rng: Any, data: Data, folder: Path) -> Configuration:
    """Two or three columns of decisions."""
    options, preferences = random_preferences(rng, data, folder)
    more, weight = with_weight(rng, data)
    options += more
    names = ["m0", "m1", "m2"][: int(rng.integers(2, 4))]
    options += [part for name in names for part in ("--prediction", name)]
    decisions = {name: data.decisions[k] for k, name in enumerate(names)}
    return ["compare", "--truth", "truth", "--json", *options], lambda: compare_models(
        data.truth, decisions, preferences=preferences, sample_weight=weight, confidence=0.95
    ).to_json()


def tune(rng: Any, data: Data, folder: Path) -> Configuration:
    """Weights of votes, written as a decision."""
    options, preferences = random_preferences(rng, data, folder)
    if preferences is None:
        options, preferences = ["--prioritise", data.labels[0]], cp.Preferences.prioritise([data.labels[0]])
    smoothing = float(rng.choice([0.0, 0.05]))
    order = sorted(data.labels)
    votes = data.scores[:, [data.labels.index(label) for label in order]]
    output = str(folder / "decision.json")
    return [
        "tune",
        "--truth",
        "truth",
        "--proba",
        "p_",
        "--smoothing",
        str(smoothing),
        "--output",
        output,
        *options,
    ], lambda: cp.search_weights(
        data.truth, votes, preferences=preferences, labels=order, smoothing=smoothing, random_state=0
    ).decision.to_json()


def regression(rng: Any, data: Data, folder: Path) -> Configuration:
    """Numbers in place of classes."""
    more, weight = with_weight(rng, data)
    names = [f"p_{label}" for label in data.labels[:2]]
    confidence = 0.9 if rng.random() < 0.3 else None
    options = [*more, *(["--confidence", "0.9"] if confidence else []), "--baseline", "0.5", "--tolerance", "0.1"]
    command = ["evaluate", "--regression", "--truth", names[0], "--prediction", names[1], "--json", *options]
    return command, lambda: cp.regression.evaluate(
        data.scores[:, 0],
        data.scores[:, 1],
        baseline={"0.5": 0.5},
        sample_weight=weight,
        tolerance=(0.1,),
        confidence=confidence,
    ).to_json()
