"""The report on predicted numbers as text: Weka's layout for numeric classes, then the further errors."""

from __future__ import annotations

import math
import os
from dataclasses import asdict
from functools import cache
from typing import Any

import jinja2
import msgspec

from compromis._files import write_whole
from compromis.evaluation.render.json import running_version
from compromis.evaluation.render.text import aligned
from compromis.regression.evaluation import RegressionEvaluation


def to_text(evaluation: RegressionEvaluation) -> str:
    """Return the report."""
    sections = [_summary(evaluation), _further(evaluation), _baselines(evaluation)]
    if evaluation.intervals is not None:
        sections.append(_intervals(evaluation, evaluation.intervals.confidence))
    if evaluation.notes:
        sections.append("\n".join(f"Note: {note}." for note in evaluation.notes) + "\n")
    return "\n".join(sections)


def _summary(evaluation: RegressionEvaluation) -> str:
    numbers = evaluation.summary
    lines = [
        _valued("Correlation coefficient", numbers.correlation),
        _valued("Mean absolute error", numbers.mean_absolute_error),
        _valued("Root mean squared error", numbers.root_mean_squared_error),
        _valued("Relative absolute error", 100 * numbers.relative_absolute_error) + " %",
        _valued("Root relative squared error", 100 * numbers.root_relative_squared_error) + " %",
        _valued("Total Number of Instances", numbers.total),
    ]
    if numbers.rows != numbers.total:
        lines.append(_valued("Number of rows", numbers.rows))
    return "=== Summary ===\n\n" + "\n".join(line.rstrip() for line in lines) + "\n"


def _further(evaluation: RegressionEvaluation) -> str:
    numbers, (under, over) = evaluation.summary, evaluation.pinball
    lines = [
        _valued("R2", numbers.r2),
        _valued("Mean squared error", numbers.mean_squared_error),
        _valued("Root mean squared log error", numbers.root_mean_squared_log_error),
        _valued("Mean error (bias)", numbers.mean_error),
        _valued(f"Pinball (under {under:g}, over {over:g})", numbers.pinball_error),
    ]
    lines += [_valued(f"Within {name}", 100 * share) + " % of the rows" for name, share in evaluation.within.items()]
    lines += [
        _valued("Median absolute error" if share == 0.5 else f"{100 * share:g} % of absolute errors up to", error)
        for share, error in evaluation.quantiles.items()
    ]
    return "=== Further Errors ===\n\n" + "\n".join(line.rstrip() for line in lines) + "\n"


def _baselines(evaluation: RegressionEvaluation) -> str:
    lines = ["=== Against Predictions Without A Model ===\n", "       RMSE        MAE       R2  Baseline"]
    lines += [
        f"{one.root_mean_squared_error:11.5g}{one.mean_absolute_error:11.5g}{_rate(one.r2)}  {_one_line(one.name)}"
        for one in evaluation.baselines.values()
    ]
    return "\n".join([*lines, "", f"Verdict: {_one_line(evaluation.verdict.sentence)}."]) + "\n"


def _intervals(evaluation: RegressionEvaluation, confidence: float) -> str:
    lines = [f"=== {100 * confidence:g} % Intervals ===\n"]
    lines += [
        f"{_one_line(one.name.replace('_', ' ')):<45}{one.low:11.5g} to {one.high:<11.5g}".rstrip()
        for one in evaluation.measures
        if one.low is not None and one.high is not None and not math.isnan(one.low)
    ]
    return "\n".join(lines) + "\n"


def _valued(name: str, value: float) -> str:
    return f"{name:<35}{aligned(value, 12, 4)}"


def _rate(value: float) -> str:
    return "?".rjust(9) if math.isnan(value) else f"{value:9.4f}"


def _one_line(name: str) -> str:
    """A name as one line of text: control characters are spelled out, so that it cannot forge lines."""
    return "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in name)


def to_fragment(evaluation: RegressionEvaluation) -> str:
    """Return a small self-contained piece of HTML, without scripts."""
    return _environment().get_template("regression.html").render(evaluation=evaluation)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("compromis.evaluation.render"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["number"] = lambda value: "?" if value is None or math.isnan(value) else f"{value:.5g}"
    return environment


SCHEMA = "compromis/regression"
VERSION = 1
"""Raised when a field changes its meaning or goes; new fields leave it alone."""


def to_json(evaluation: RegressionEvaluation, path: str | os.PathLike[str] | None) -> str:
    """Return the JSON text; undefined numbers are null."""
    text = msgspec.json.format(msgspec.json.encode(_document(evaluation)), indent=2).decode()
    if path is not None:
        write_whole(path, text + "\n")
    return text


def _document(evaluation: RegressionEvaluation) -> dict[str, Any]:
    intervals, (under, over) = evaluation.intervals, evaluation.pinball
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "compromis": running_version(),
        "summary": asdict(evaluation.summary),
        "pinball": {"under_weight": under, "over_weight": over},
        "within": [
            {"tolerance": one.width, "relative": one.relative, "share": share}
            for one, share in zip(evaluation.sums.tolerances, evaluation.within.values(), strict=True)
        ],
        "quantiles": [{"share": share, "absolute_error": error} for share, error in evaluation.quantiles.items()],
        "baselines": [asdict(one) for one in evaluation.baselines.values()],
        "confidence": None if intervals is None else intervals.confidence,
        "measures": [asdict(one) for one in evaluation.measures],
        "verdict": asdict(evaluation.verdict),
        "notes": list(evaluation.notes),
    }
