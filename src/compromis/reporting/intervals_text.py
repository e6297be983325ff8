"""The intervals of a report as text."""

from __future__ import annotations

from compromis.errors import shown_label
from compromis.uncertainty.interval import Interval
from compromis.uncertainty.intervals import ReportIntervals

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
