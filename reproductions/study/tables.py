"""The tables of docs/study.md, from the study's result files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import compromis as cp
from reproductions.sheets import markdown, read
from reproductions.study import RESULTS

METRICS = ("kulczynski", "f", "fowlkes_mallows", "jaccard")
WAYS = (
    "forest",
    "class_weight",
    "balanced forest",
    "SMOTE + forest",
    "annealed probabilities",
    "tuned forest",
    "PragmaForest",
)
WAYS_FOR_TWO = (*WAYS, "threshold tuner")
REMEDIES = (
    "none",
    "half a vote",
    "repeated out-of-fold",
    "resamples",
    "resamples, probabilities",
    "resamples, half a vote",
    "resamples, half a vote unless idle",
)
FEW = 100
"""Rows of the rarest class below which a set counts as one with few."""

Lines = dict[str, list[dict[str, str]]]


def results(folder: Path = RESULTS) -> Lines:
    """The lines of every data set, by its name."""
    return {file.stem: read(file) for file in sorted(folder.glob("*.csv"))}


def mean(lines: list[dict[str, str]], rival: str, metric: str, column: str = "loss") -> float:
    """The mean over repetitions of one column; NaN where the rival did not run or has no such figure."""
    values = [
        float(line[column])
        for line in lines
        if line["rival"] == rival and line["metric"] == metric and line[column] not in ("", "nan")
    ]
    return fmean(values) if values else float("nan")


def losses(found: Lines, metric: str, rivals: Sequence[str]) -> dict[str, list[float]]:
    """By rival its loss on each data set where all of these rivals ran."""
    by_set = {name: [mean(lines, rival, metric) for rival in rivals] for name, lines in found.items()}
    complete = [values for values in by_set.values() if all(value == value for value in values)]
    return {rival: [values[place] for values in complete] for place, rival in enumerate(rivals)}


def ranked(rivals: Sequence[str]) -> str:
    """Mean rank and mean loss of each rival under each metric, then the test of each metric."""
    found = results()
    by_metric = {metric: losses(found, metric, rivals) for metric in METRICS}
    tests = {metric: cp.uncertainty.compare_over_data_sets(one) for metric, one in by_metric.items()}
    rows = []
    for rival in rivals:
        cells = [
            f"{tests[metric].mean_ranks[tests[metric].models.index(rival)]:.2f} ({fmean(by_metric[metric][rival]):.3f})"
            for metric in METRICS
        ]
        seconds = fmean(float(line["seconds"]) for lines in found.values() for line in lines if line["rival"] == rival)
        rows.append((rival, *cells, f"{seconds:.2f}"))
    said = "; ".join(
        f"{metric}: p = {test.p_value:.1g}, critical difference {test.critical_difference:.2f}"
        for metric, test in tests.items()
    )
    header = ("rank (loss)", *METRICS, "seconds")
    return (
        f"{markdown(header, rows)}\n{tests['f'].data_sets} data sets. Friedman's test, Nemenyi's difference: {said}.\n"
    )


def priority() -> str:
    """Mean recall, precision and share of rows predicted of the class that matters."""
    found, rows = results(), []
    for rival in (*WAYS, "threshold tuner"):
        cells = []
        for metric in ("kulczynski", "f"):
            for column in ("recall", "precision", "predicted"):
                values = [mean(lines, rival, metric, column) for lines in found.values()]
                cells.append(f"{100 * fmean(value for value in values if value == value):.1f}")
        rows.append((f"{rival} (two classes)" if rival == "threshold tuner" else rival, *cells))
    header = ("%", *(f"{metric}: {what}" for metric in ("plane", "f") for what in ("recall", "precision", "predicted")))
    return markdown(header, rows)


def overfitting() -> str:
    """What tuning promises and what it keeps, on sets with few rows of the class that matters and on the others."""
    found = results()
    few = {name for name, lines in found.items() if int(lines[0]["rarest rows"]) < FEW}
    groups = {"few": few, "more": set(found) - few}
    rows = []
    for rival in REMEDIES:
        cells = []
        for names in groups.values():
            for metric in ("kulczynski", "f"):
                new, promised = (
                    fmean(mean(found[name], rival, metric, column) for name in names) for column in ("loss", "promised")
                )
                cells.append(f"{new:.3f} ({new - promised:+.3f})")
        constant = sum(int(line["constant"]) for lines in found.values() for line in lines if line["rival"] == rival)
        rows.append((rival, *cells, str(constant)))
    header = ("", *(f"{group}, {metric}" for group in groups for metric in ("plane", "f")), "constant")
    return markdown(header, rows)


def losses_by_set() -> str:
    """The loss under metric f on each data set, beside the best decision without a model."""
    rows = []
    for name, lines in results().items():
        values = [mean(lines, rival, "f") for rival in WAYS_FOR_TWO]
        best = min(value for value in values if value == value)
        shown = ["" if value != value else f"**{value:.3f}**" if value == best else f"{value:.3f}" for value in values]
        rows.append((name, lines[0]["rarest rows"], f"{mean(lines, 'forest', 'f', 'without a model'):.3f}", *shown))
    return markdown(("data", "rows", "no model", *WAYS_FOR_TWO), rows)
