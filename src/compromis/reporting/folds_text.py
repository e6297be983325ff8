"""The folds of a cross-validation as text."""

from __future__ import annotations

import math

from compromis.reporting.cross_evaluation import CrossEvaluation

TITLES = {
    "accuracy": "Accuracy",
    "kappa": "Kappa statistic",
    "balanced_accuracy": "Balanced accuracy",
    "average_cost": "Average Cost",
    "loss": "Loss (0 is perfect, 1 the worst)",
}


def folds_section(evaluation: CrossEvaluation) -> str:
    """Return the section on folds: pooled value, mean over folds, spread and corrected interval, times, optimism."""
    pooled, folds = evaluation.summary, len(evaluation.folds)
    lines = [
        f"=== Cross-validation ({folds} folds) ===\n",
        f"{'':<35}  Pooled    Mean  Deviation  {100 * evaluation.level:g} % interval of the mean",
    ]
    for name, title in TITLES.items():
        if name in evaluation.averages:
            one = evaluation.averages[name]
            lines.append(
                f"{title:<35}{_number(getattr(pooled, name))}{_number(one.mean.value)}{_number(one.deviation, 11)}"
                f"  {_number(one.mean.low, 0)} to {_number(one.mean.high, 0)}"
            )
    lines += [
        "",
        f"Fitting took {sum(evaluation.fit_seconds):.2f} s, deciding {sum(evaluation.predict_seconds):.2f} s.",
    ]
    if evaluation.untested:
        lines.append(f"{evaluation.untested:,} rows are in no test fold.")
    if evaluation.repeats > 1:
        lines.append(f"Each row is tested {evaluation.repeats:g} times; the intervals count it once.")
    if not math.isnan(evaluation.optimism):
        lines.append(
            f"Optimism: on the rows on which weights were chosen the loss is lower by {evaluation.optimism:.4f} than on unseen rows."
        )
    return "\n".join(lines) + "\n"


def _number(value: float, width: int = 8) -> str:
    return "?".rjust(width) if math.isnan(value) else f"{value:{width}.4f}"
