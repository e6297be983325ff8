"""The full report as text: Weka's layout, intervals, what the preferences say."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from compromis._text import (
    bounds,
    capitalised,
    fixed,
    paragraph,
    shown_label,
)
from compromis._typing import Label
from compromis.measures.rates import NUMBERS

if TYPE_CHECKING:
    from compromis.evaluation.evaluate import Averages, ClassSummary, Summary
    from compromis.evidence.counts import Counts
    from compromis.metrics import Metric
    from compromis.uncertainty.report_intervals import ReportIntervals
    from compromis.uncertainty.verdict import Verdict

MOST_COLUMNS = 200
"""The widest confusion matrix that is printed."""
TITLES = {name: number.title for name, number in NUMBERS.items() if number.title is not None}
_CLASS_TITLES = {
    "recall": "Recall",
    "precision": "Precision",
    "f_measure": "F-Measure",
    "roc_area": "ROC Area",
    "loss": "Loss",
}


def aligned(value: float, width: int, decimals: int) -> str:
    """Format as Weka does: aligned at the decimal point, trailing zeros left blank, '?' where undefined."""
    if math.isnan(value):
        return "?".rjust(width - decimals - 1).ljust(width)
    text = f"{value:{width}.{decimals}f}"
    return text.rstrip("0").rstrip(".").ljust(len(text))


def valued(name: str, value: float, unit: str = "") -> str:
    """Return a line of Weka's summary: a name, its number and its unit."""
    return f"{name:<35}{aligned(value, 12, 4)}{unit}".rstrip()


def section(title: str, lines: Iterable[str]) -> str:
    """Return a section of a report."""
    return "\n".join([f"=== {title} ===\n", *lines]) + "\n"


def weka_summary(numbers: Summary, *, priors_given: bool) -> str:
    """Return Weka's summary."""
    lines = [
        valued("Correctly Classified Instances", numbers.correct, f"     {aligned(100 * numbers.accuracy, 12, 4)} %"),
        valued(
            "Incorrectly Classified Instances", numbers.incorrect, f"     {aligned(100 * numbers.error_rate, 12, 4)} %"
        ),
        valued("Kappa statistic", numbers.kappa),
    ]
    if numbers.total_cost is not None and numbers.average_cost is not None:
        lines += [valued("Total Cost", numbers.total_cost), valued("Average Cost", numbers.average_cost)]
    lines += error_lines(numbers)
    if not priors_given:
        lines.append("(relative to the class shares of these rows; give priors for those of training)")
    return section("Summary", lines)


def error_lines(numbers: Any) -> list[str]:
    """Return Weka's lines on the errors and the rows of a summary, of classes or of numbers."""
    lines = [
        valued("Mean absolute error", numbers.mean_absolute_error),
        valued("Root mean squared error", numbers.root_mean_squared_error),
        valued("Relative absolute error", 100 * numbers.relative_absolute_error, " %"),
        valued("Root relative squared error", 100 * numbers.root_relative_squared_error, " %"),
        valued("Total Number of Instances", numbers.total),
    ]
    return lines if numbers.rows == numbers.total else [*lines, valued("Number of rows", numbers.rows)]


def weka_classes(classes: Iterable[ClassSummary], summary: Summary) -> str:
    """Return Weka's table of rates by class."""
    lines = ["               TP Rate   FP Rate   Precision   Recall  F-Measure   ROC Area  Class"]
    undefined = False
    for row in classes:
        undefined |= any(map(math.isnan, (row.precision, row.recall, row.roc_area)))
        lines.append(f"{'':15}{_rates(row)}    {shown_label(row.label)}")
    lines.append(f"{'Weighted Avg.':15}{_rates(summary.weighted)}".rstrip())
    if undefined:
        lines.append("(? is undefined: the class does not occur or is never predicted; an average counts a class")
        lines.append(" that occurs but is never predicted with precision 0)")
    return section("Detailed Accuracy By Class", lines)


def _rates(row: ClassSummary | Averages) -> str:
    rates = (row.recall, row.false_positive_rate, row.precision, row.recall, row.f_measure, row.roc_area)
    gaps = ("   ", "    ", "   ", "   ", "    ", "")
    return "".join(aligned(rate, 7, 3) + gap for rate, gap in zip(rates, gaps, strict=True))


def weka_confusion(counts: Counts) -> str:
    """Return Weka's confusion matrix, classes named by letters."""
    size = len(counts.classes)
    if size > MOST_COLUMNS:
        return section("Confusion Matrix", [f"({size:,} x {size:,} cells are not printed; see counts.matrix, or JSON)"])
    whole = bool((counts.matrix == counts.matrix.round()).all())
    cells = [[f"{cell:.0f}" if whole else f"{cell:.2f}" for cell in row] for row in counts.matrix.tolist()]
    names = [_letters(k) for k in range(size)]
    width = max(len(text) for text in [*names, *(cell for row in cells for cell in row)])
    lines = ["".join(f" {name:>{width}}" for name in names) + "   <-- classified as"]
    for row, name, label in zip(cells, names, counts.classes, strict=True):
        lines.append("".join(f" {cell:>{width}}" for cell in row) + f" | {name:>{width}} = {shown_label(label)}")
    return section("Confusion Matrix", lines)


def _letters(position: int) -> str:
    """Name a class by its position: a, b, ..., z, aa, ab, ..."""
    name = ""
    while position >= 0:
        position, letter = position // 26 - 1, position % 26
        name = chr(ord("a") + letter) + name
    return name


def intervals_section(intervals: ReportIntervals) -> str:
    """Return the intervals of the whole and of each class."""
    whole = intervals.summary
    said = "loss" if "average_cost" in whole else ""  # with costs they are one number
    lines = [f"{title:<35}{bounds(whole[name])}" for name, title in TITLES.items() if name in whole and name != said]
    known = [name for name in _CLASS_TITLES if all(name in row for row in intervals.per_class.values())]
    lines += ["", "   " + "".join(f"{_CLASS_TITLES[name]:<18}" for name in known) + "Class"]
    lines += [
        "   " + "".join(f"{bounds(row[name]):<18}" for name in known) + shown_label(label)
        for label, row in intervals.per_class.items()
    ]
    lines += [f"({sentence})" for sentence in intervals.doubts()]
    return section(f"Intervals ({100 * intervals.confidence:g} % confidence)", lines)


def verdict_section(metric: Metric, per_class: Mapping[Label, ClassSummary], verdict: Verdict) -> str:
    """Return what preferences or costs say: each class, the result beside baselines, the verdict."""
    costs, few = verdict.measure != "loss", {label for label, _ in verdict.few_predictions}
    lines = [*(_cost_lines(per_class) if costs else _preference_lines(metric, per_class, few)), ""]
    title = TITLES[verdict.measure.replace(" ", "_")]
    lines += [f"{title:<45}{verdict.loss:8.4f}"]
    lines += [f"{capitalised(row.told):<45}{row.loss:8.4f}" for row in verdict.shown_baselines()]
    lines += ["", paragraph(f"Verdict: {verdict}")]
    return section("By Your Costs" if costs else f"By Your Preferences (metric {metric.name})", lines)


def _preference_lines(metric: Metric, per_class: Mapping[Label, ClassSummary], few: set[Label]) -> list[str]:
    lines = ["   Importance      Recall weight  Recall  Precision    Loss  Share  Predicted  Class"]
    lines += [
        f"{row.importance:13g}{metric.weight_text(row.recall_weight):>19}{fixed(row.recall):>8}{fixed(row.precision):>11}"
        f"{'*' if label in few else ' '}{fixed(row.loss):>7}{fixed(row.loss_share):>7}{100 * row.share_predicted:7.1f} %"
        f"  {shown_label(label)}"
        for label, row in per_class.items()
    ]
    lines.append("(share: what the class adds to the loss; predicted: rows predicted as it)")
    return [*lines, "(* the precision of fewer than 20 predictions)"] if few else lines


def _cost_lines(per_class: Mapping[Label, ClassSummary]) -> list[str]:
    lines = ["    Cost of a row       Share of all  Recall  Precision  Predicted  Class"]
    lines += [
        f"{row.loss:17.4f}{row.loss_share:19.4f}{fixed(row.recall):>8}{fixed(row.precision):>11}"
        f"{100 * row.share_predicted:9.1f} %  {shown_label(label)}"
        for label, row in per_class.items()
    ]
    return [
        *lines,
        "(share of all: what the rows of the class add to the average cost; predicted: rows predicted as it)",
    ]
