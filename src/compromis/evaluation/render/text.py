"""The intervals of a report as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from compromis._text import shown_label
from compromis.evaluation.cross_validation import CrossEvaluation
from compromis.evaluation.evaluate import ClassSummary, Evaluation
from compromis.measures.verdict import Baseline, Verdict
from compromis.preferences import Preferences
from compromis.uncertainty.intervals import Interval
from compromis.uncertainty.report_intervals import ReportIntervals

WHOLE = {
    "accuracy": "Accuracy",
    "kappa": "Kappa statistic",
    "balanced_accuracy": "Balanced accuracy",
    "matthews": "Matthews' correlation",
    "macro_f_measure": "F-Measure, mean over classes",
    "average_cost": "Average Cost",
    "loss": "Loss (0 is perfect, 1 the worst)",
}
BY_CLASS = {
    "recall": "Recall",
    "precision": "Precision",
    "f_measure": "F-Measure",
    "roc_area": "ROC Area",
    "loss": "Loss",
}


def intervals_section(intervals: ReportIntervals) -> str:
    """Return the section of a report that gives its intervals."""
    lines = [f"=== Intervals ({100 * intervals.confidence:g} % confidence) ===\n"]
    lines += [
        f"{title:<35}{bounds(intervals.summary[name])}" for name, title in WHOLE.items() if name in intervals.summary
    ]
    known = [name for name in BY_CLASS if all(name in one for one in intervals.per_class.values())]
    lines += ["", "   " + "".join(f"{BY_CLASS[name]:<18}" for name in known) + "Class"]
    lines += [
        "   " + "".join(f"{bounds(one[name]):<18}" for name in known) + shown_label(label)
        for label, one in intervals.per_class.items()
    ]
    return "\n".join(lines) + "\n"


def bounds(interval: Interval) -> str:
    """Write the bounds of an interval; '?' where they are undefined."""
    return "?" if interval.low != interval.low else f"{interval.low:.3f} to {interval.high:.3f}"


MOST_COLUMNS = 200
"""The widest confusion matrix that is printed."""


def to_text(evaluation: Evaluation) -> str:
    """Return the report in Weka's layout, and the preference section where there are preferences."""
    sections = [_summary(evaluation), _by_class(evaluation), _confusion(evaluation)]
    if evaluation.intervals is not None:
        sections.append(intervals_section(evaluation.intervals))
    if evaluation.preferences is not None:
        sections.append(_preferences(evaluation, evaluation.preferences))
    if evaluation.screening is not None:
        sections.append(evaluation.screening + "\n")
    return "\n".join(sections)


def aligned(value: float, width: int, decimals: int) -> str:
    """Format as Weka does: aligned at the decimal point, trailing zeros left blank, '?' where undefined."""
    if math.isnan(value):
        return "?".rjust(width - decimals - 1).ljust(width)
    text = f"{value:{width}.{decimals}f}"
    return text.rstrip("0").rstrip(".").ljust(len(text))


def letters(position: int) -> str:
    """Name a class by its position: a, b, ..., z, aa, ab, ..."""
    name = ""
    while position >= 0:
        position, place = position // 26 - 1, position % 26
        name = chr(ord("a") + place) + name
    return name


def _summary(evaluation: Evaluation) -> str:
    numbers = evaluation.summary
    lines = [
        _counted("Correctly Classified Instances", numbers.correct, numbers.accuracy),
        _counted("Incorrectly Classified Instances", numbers.incorrect, numbers.error_rate),
        valued("Kappa statistic", numbers.kappa),
    ]
    if numbers.total_cost is not None and numbers.average_cost is not None:
        lines += [valued("Total Cost", numbers.total_cost), valued("Average Cost", numbers.average_cost)]
    lines += error_lines(numbers)
    if not evaluation.priors_given:
        lines.append("(relative to the class shares of these rows; give priors for those of the training rows)")
    return "=== Summary ===\n\n" + "\n".join(line.rstrip() for line in lines) + "\n"


def error_lines(numbers: Any) -> list[str]:
    """Return Weka's lines on the errors and the rows of a summary, of classes or of numbers."""
    lines = [
        valued("Mean absolute error", numbers.mean_absolute_error),
        valued("Root mean squared error", numbers.root_mean_squared_error),
        valued("Relative absolute error", 100 * numbers.relative_absolute_error) + " %",
        valued("Root relative squared error", 100 * numbers.root_relative_squared_error) + " %",
        valued("Total Number of Instances", numbers.total),
    ]
    return lines if numbers.rows == numbers.total else [*lines, valued("Number of rows", numbers.rows)]


def _counted(name: str, count: float, share: float) -> str:
    return f"{name:<35}{aligned(count, 12, 4)}     {aligned(100 * share, 12, 4)} %"


def valued(name: str, value: float) -> str:
    """Return a line of Weka's summary."""
    return f"{name:<35}{aligned(value, 12, 4)}"


def _by_class(evaluation: Evaluation) -> str:
    lines = [
        "=== Detailed Accuracy By Class ===\n",
        "               TP Rate   FP Rate   Precision   Recall  F-Measure   ROC Area  Class",
    ]
    lines += [f"{'':15}{_rates(one)}    {shown_label(one.label)}" for one in evaluation.per_class.values()]
    mean = evaluation.summary.weighted
    cells = (mean.recall, mean.false_positive_rate, mean.precision, mean.recall, mean.f_measure, mean.roc_area)
    lines.append(f"{'Weighted Avg.':15}{_row(cells)}".rstrip())
    undefined = any(
        math.isnan(rate) for one in evaluation.per_class.values() for rate in (one.precision, one.recall, one.roc_area)
    )
    if undefined:
        lines.append("(? is undefined: the class does not occur or is never predicted; an average counts a class")
        lines.append(" that occurs but is never predicted with precision 0)")
    return "\n".join(lines) + "\n"


def _rates(one: ClassSummary) -> str:
    return _row((one.recall, one.false_positive_rate, one.precision, one.recall, one.f_measure, one.roc_area))


def _row(cells: Sequence[float]) -> str:
    gaps = ("   ", "    ", "   ", "   ", "    ", "")
    return "".join(aligned(cell, 7, 3) + gap for cell, gap in zip(cells, gaps, strict=True))


def _confusion(evaluation: Evaluation) -> str:
    counts = evaluation.counts
    if len(counts.classes) > MOST_COLUMNS:
        size = f"{len(counts.classes):,} x {len(counts.classes):,}"
        return f"=== Confusion Matrix ===\n\n({size} cells are not printed; see counts.matrix, or JSON)\n"
    whole = bool((counts.matrix == counts.matrix.round()).all())
    cells = [[f"{cell:.0f}" if whole else f"{cell:.2f}" for cell in row] for row in counts.matrix.tolist()]
    names = [letters(k) for k in range(len(counts.classes))]
    width = max(len(text) for text in [*names, *(cell for row in cells for cell in row)])
    lines = ["=== Confusion Matrix ===\n", "".join(f" {name:>{width}}" for name in names) + "   <-- classified as"]
    for row, name, label in zip(cells, names, counts.classes, strict=True):
        lines.append("".join(f" {cell:>{width}}" for cell in row) + f" | {name:>{width}} = {shown_label(label)}")
    return "\n".join(lines) + "\n"


def _preferences(evaluation: Evaluation, preferences: Preferences) -> str:
    verdict = evaluation.verdict
    assert verdict is not None
    lines = [
        f"=== By Your Preferences (metric {preferences.metric.name}) ===\n",
        "   Importance  Recall weight  Recall  Precision    Loss  Share  Predicted  Class",
    ]
    lines += [_preference_row(one) for one in evaluation.per_class.values()]
    lines += ["(share: what the class adds to the loss; predicted: rows predicted as it)"]
    lines += ["", f"{'Loss (0 is perfect, 1 the worst)':<45}{verdict.loss:8.4f}"]
    lines += [
        f"{_sentence_case(one.name):<45}{one.loss:8.4f}{_misses(one.shortfall)}" for one in worth_showing(verdict)
    ]
    lines += ["", f"Verdict: {verdict.sentence}."]
    return "\n".join(lines) + "\n"


def _preference_row(one: ClassSummary) -> str:
    return (
        f"{one.importance:13g}{one.recall_weight:15.3f}{_rate(one.recall)}{_rate(one.precision, 11)}"
        f"{_rate(one.loss)}{_rate(one.loss_share, 7)}{100 * one.share_predicted:7.1f} %  {shown_label(one.label)}"
    )


def _rate(value: float, width: int = 8) -> str:
    return "?".rjust(width) if math.isnan(value) else f"{value:{width}.3f}"


def worth_showing(verdict: Verdict, most: int = 4) -> list[Baseline]:
    """The constant decisions, only the best of them where there are many, and the random one."""
    constant = [one for one in verdict.baselines if one.label is not None]
    if len(constant) > most:
        constant = sorted(constant, key=lambda one: (one.shortfall, one.loss))[:most]
    return [*constant, *(one for one in verdict.baselines if one.label is None)]


def _misses(shortfall: float) -> str:
    return "  (misses a minimum)" if shortfall > 0 else ""


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]


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
