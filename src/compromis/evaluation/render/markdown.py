"""The evaluation as GitHub-flavoured Markdown, for pull requests and job summaries."""

from __future__ import annotations

import math

from compromis._text import code, prose
from compromis._text import markdown_table as table
from compromis.evaluation.evaluate import Evaluation

MOST_COLUMNS = 20
"""The widest confusion matrix that a pull request should show."""


def to_markdown(evaluation: Evaluation) -> str:
    """Return the verdict, the numbers of each class, the baselines and the confusion matrix."""
    sections = [_verdict(evaluation), _by_class(evaluation), _baselines(evaluation), _confusion(evaluation)]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _verdict(evaluation: Evaluation) -> list[str]:
    verdict, summary = evaluation.verdict, evaluation.summary
    numbers = f"{summary.rows:,} rows, accuracy {_rate(summary.accuracy)}, kappa {_rate(summary.kappa)}"
    if summary.average_cost is not None:
        numbers += f", average cost {summary.average_cost:.4f}"
    if verdict is None:
        return [f"**Evaluation** of {numbers}"]
    state = "meets" if not verdict.shortfalls and verdict.informative else "does not meet"
    lines = [f"**Loss {verdict.loss:.4f}**: the result {state} the preferences ({numbers})"]
    reasons = [str(one) for one in verdict.shortfalls] if verdict.informative else [verdict.sentence]
    return [*lines, *("" if not reasons else ["", *(f"- {prose(reason)}" for reason in reasons)])]


def _by_class(evaluation: Evaluation) -> list[str]:
    header = ["Class", "Support", "Predicted", "Recall", "Precision", "F-measure", "ROC area"]
    if evaluation.preferences is not None:
        header += ["Importance", "Loss", "Share of loss"]
    rows = []
    for label, one in evaluation.per_class.items():
        rates = (one.recall, one.precision, one.f_measure, one.roc_area)
        row = [code(label), _count(one.support), _count(one.predicted), *map(_rate, rates)]
        if evaluation.preferences is not None:
            row += [f"{one.importance:g}", _rate(one.loss), _rate(one.loss_share)]
        rows.append(row)
    return table(header, rows)


def _baselines(evaluation: Evaluation) -> list[str]:
    verdict = evaluation.verdict
    if verdict is None:
        return []
    best = sorted(verdict.baselines, key=lambda one: (one.shortfall, one.loss))[:3]
    rows = [["this result", f"{verdict.loss:.4f}"], *([code(one.name), f"{one.loss:.4f}"] for one in best)]
    return table(["Decision", "Loss"], rows)


def _confusion(evaluation: Evaluation) -> list[str]:
    counts = evaluation.counts
    if len(counts.classes) > MOST_COLUMNS:
        return []
    header = ["True class", *(code(label) for label in counts.classes)]
    rows = [[code(label), *map(_count, row)] for label, row in zip(counts.classes, counts.matrix.tolist(), strict=True)]
    return [
        "<details><summary>Confusion matrix (columns: predicted)</summary>",
        "",
        *table(header, rows),
        "",
        "</details>",
    ]


def _rate(value: float) -> str:
    return "?" if math.isnan(value) else f"{value:.3f}"


def _count(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.2f}"
