"""The report on predicted numbers as text: Weka's layout for numeric classes, then the further errors."""

from __future__ import annotations

import math

from compromis._text import shown_label
from compromis.evaluation.render.text import error_lines, valued
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
    lines = [valued("Correlation coefficient", numbers.correlation), *error_lines(numbers)]
    return "=== Summary ===\n\n" + "\n".join(line.rstrip() for line in lines) + "\n"


def _further(evaluation: RegressionEvaluation) -> str:
    numbers, (under, over) = evaluation.summary, evaluation.pinball
    lines = [
        valued("R2", numbers.r2),
        valued("Mean squared error", numbers.mean_squared_error),
        valued("Root mean squared log error", numbers.root_mean_squared_log_error),
        valued("Mean error (bias)", numbers.mean_error),
        valued(f"Pinball (under {under:g}, over {over:g})", numbers.pinball_error),
    ]
    lines += [valued(f"Within {name}", 100 * share) + " % of the rows" for name, share in evaluation.within.items()]
    lines += [
        valued("Median absolute error" if share == 0.5 else f"{100 * share:g} % of absolute errors up to", error)
        for share, error in evaluation.quantiles.items()
    ]
    return "=== Further Errors ===\n\n" + "\n".join(line.rstrip() for line in lines) + "\n"


def _baselines(evaluation: RegressionEvaluation) -> str:
    lines = ["=== Against Predictions Without A Model ===\n", "       RMSE        MAE       R2  Baseline"]
    lines += [
        f"{row.root_mean_squared_error:11.5g}{row.mean_absolute_error:11.5g}{_rate(row.r2)}  {shown_label(row.name)}"
        for row in evaluation.baselines.values()
    ]
    return "\n".join([*lines, "", f"Verdict: {shown_label(evaluation.verdict.sentence)}."]) + "\n"


def _intervals(evaluation: RegressionEvaluation, confidence: float) -> str:
    lines = [f"=== {100 * confidence:g} % Intervals ===\n"]
    lines += [
        f"{shown_label(row.name.replace('_', ' ')):<45}{row.low:11.5g} to {row.high:<11.5g}".rstrip()
        for row in evaluation.measures
        if row.low is not None and not math.isnan(row.low)
    ]
    return "\n".join(lines) + "\n"


def _rate(value: float) -> str:
    return "?".rjust(9) if math.isnan(value) else f"{value:9.4f}"
