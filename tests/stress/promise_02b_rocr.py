"""2b. Curves and areas against R's ROCR, where R and Debian's r-cran-rocr are installed."""

from __future__ import annotations

import csv
import math
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import compromis as cp
from compromis.measures.ranking import roc_area
from tests.stress.cases import random_case
from tests.stress.outcome import NotRun, Outcome, Progress, scaled, silent

TITLE = "curves and areas against R's ROCR, disagreements listed"
FULL = 20_000
QUICK = 0.002

ONE_KIND = "ROCR refuses rows of one kind; here the rates that exist are given, the others are NaN"

SCRIPT = """
suppressPackageStartupMessages(library(ROCR))
arguments <- commandArgs(trailingOnly = TRUE)
rows <- read.csv(arguments[1], colClasses = c("integer", "numeric", "integer"))
written <- function(x) formatC(x, digits = 17, format = "g")
for (part in split(rows, rows$case)) {
  made <- prediction(part$score, part$flag, label.ordering = c(0, 1))
  pick <- function(name) performance(made, name)@y.values[[1]]
  cuts <- made@cutoffs[[1]]
  cat(part$case[1], "auc", written(pick("auc")), "\\n")
  for (name in c("tpr", "fpr", "prec", "npv", "acc"))
    cat(part$case[1], name, written(pick(name)), "\\n")
  cat(part$case[1], "cuts", written(cuts), "\\n")
}
"""


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count the cases in which a curve or an area differs."""
    _check_installed()
    seeds = range(scaled(FULL, scale))
    cases = {seed: random_case(seed) for seed in seeds}
    usable = {seed: one for seed, one in cases.items() if 0 < one.flags.sum() < len(one.flags)}
    theirs = _asked(usable)
    failures = []
    for seed, case in usable.items():
        points = cp.OperatingPoints.from_flags(case.flags, case.score, True)
        failures += [f"seed {seed}: {what}" for what in differences(points, theirs[seed])]
    outcome = Outcome(len(usable), tuple(failures))
    outcome.notes[ONE_KIND] += len(cases) - len(usable)
    return outcome


def _check_installed() -> None:
    if shutil.which("Rscript") is None:
        raise NotRun("R is not installed (Debian packages r-base-core and r-cran-rocr)")
    if subprocess.run(["Rscript", "-e", "library(ROCR)"], capture_output=True, check=False).returncode:
        raise NotRun("R has no ROCR (Debian package r-cran-rocr)")


def _asked(cases: dict[int, Any]) -> dict[int, dict[str, list[float]]]:
    """Return what ROCR says of each case, from one run of R."""
    with tempfile.TemporaryDirectory() as folder:
        table, script = Path(folder) / "rows.csv", Path(folder) / "ask.R"
        with table.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["case", "score", "flag"])
            writer.writerows(
                [seed, repr(float(score)), int(flag)]
                for seed, one in cases.items()
                for score, flag in zip(one.score, one.flags, strict=True)
            )
        script.write_text(SCRIPT)
        done = subprocess.run(
            ["Rscript", str(script), str(table)], capture_output=True, text=True, check=True, timeout=3600
        )
    answers: dict[int, dict[str, list[float]]] = {}
    for line in done.stdout.splitlines():
        seed, name, *values = line.split()
        answers.setdefault(int(seed), {})[name] = [float(value) for value in values]
    return answers


def differences(points: cp.OperatingPoints, theirs: dict[str, list[float]]) -> list[str]:
    """Return what differs by more than rounding."""
    total = points.positives + points.negatives
    below = points.true_negatives + points.false_negatives
    ours = {
        "auc": [roc_area(points)],
        "tpr": points.tpr.tolist(),
        "fpr": points.fpr.tolist(),
        "prec": points.precision.tolist(),
        "npv": [
            tn / n if n else math.nan for tn, n in zip(points.true_negatives.tolist(), below.tolist(), strict=True)
        ],
        "acc": ((points.true_positives + points.true_negatives) / total).tolist(),
        "cuts": points.threshold.tolist(),
    }
    return [
        f"{name}: {ours[name]} here, {theirs[name]} in ROCR" for name in ours if not _same(ours[name], theirs[name])
    ]


def _same(ours: list[float], theirs: list[float]) -> bool:
    def near(one: float, other: float) -> bool:
        return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-15) or (math.isnan(one) and math.isnan(other))

    return len(ours) == len(theirs) and all(map(near, ours, theirs))
