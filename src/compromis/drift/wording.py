"""What a monitor says: when preferences are no longer met, why, and what to do; as text and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Label
from compromis.drift.change import Change
from compromis.drift.estimate import PrevalenceEstimate
from compromis.errors import shown, shown_label
from compromis.measures.verdict import Verdict
from compromis.reporting.markdown import code, prose, table

AGAIN = "search the weights again for these shares"
MOST = 4
"""Classes whose shares stand in the table."""


@dataclass(frozen=True, slots=True)
class Period:
    """One period of a monitor; rates are NaN where undefined, and expected ones where there are no labels."""

    name: str
    rows: int
    labelled: bool
    shares: tuple[float, ...]
    bounds: tuple[tuple[float, float], ...] | None
    """The interval of each share where it is estimated."""
    loss: float
    loss_expected: float
    """What the reference loses at these shares; a loss far above says that more has changed."""
    recall: tuple[float, ...]
    precision: tuple[float, ...]
    met: bool
    missed: tuple[str, ...]
    """What of the preferences are missed, in sentences."""
    advice: str
    retune: bool
    """Whether weights for these shares are what helps."""


def alarm(verdict: Verdict, max_loss: float | None) -> tuple[str, ...]:
    """Return in sentences what of the preferences are missed."""
    sentences = [str(one) for one in verdict.shortfalls]
    if max_loss is not None and not verdict.loss <= max_loss:
        sentences.append(f"the loss is {verdict.loss:.4f}, above your maximum of {max_loss:g}")
    if not verdict.informative and not sentences:
        sentences.append(verdict.sentence)
    return tuple(sentences)


def advice(
    missed: Sequence[str],
    classes: tuple[Label, ...],
    shares: tuple[NDArray[np.float64], NDArray[np.float64]],
    change: Change | None,
    estimates: tuple[PrevalenceEstimate | None, PrevalenceEstimate | None],
) -> str:
    """Return what has changed and what to do about it, in one sentence; empty where nothing has."""
    moved = _moved(classes, *shares)
    if change is None:
        return _advice_without_labels(missed, moved, *estimates)
    if change.rows_of:
        what = f"the rows of {shown(change.rows_of)} are predicted differently than in the reference, which class shares do not explain"
        return f"{what}: {'tune or fit again on new labelled rows' if missed else 'the preferences are met all the same, look into it'}"
    if change.shares:
        what = f"the class shares have changed ({moved}), the rows of each class are predicted as before"
        return f"{what}: {AGAIN if missed else 'weights for these shares may do better'}"
    return "nothing has changed beyond chance: review the preferences, or gather more rows" if missed else ""


def _advice_without_labels(
    missed: Sequence[str], moved: str, estimate: PrevalenceEstimate | None, by_em: PrevalenceEstimate | None
) -> str:
    if estimate is not None and not estimate.plausible:
        return "no class shares explain the decisions, so more than the shares has changed: label a sample of the rows"
    if estimate is not None and by_em is not None and _apart(estimate, by_em):
        return (
            "decisions and probabilities point to different class shares, so more than the shares may have changed, "
            "or the probabilities are not calibrated: label a sample of the rows"
        )
    if missed:
        return f"if only the class shares have changed ({moved}), {AGAIN}; label a sample to be sure"
    return ""


def _apart(first: PrevalenceEstimate, second: PrevalenceEstimate) -> bool:
    pairs = zip(first.intervals, second.intervals, strict=True)
    return any(one.low > other.high or other.low > one.high for one, other in pairs)


def _moved(classes: tuple[Label, ...], before: NDArray[np.float64], after: NDArray[np.float64]) -> str:
    order = np.argsort(-np.abs(np.log((after + 1e-9) / (before + 1e-9))), kind="stable")[
        : 1 if len(classes) == 2 else 3
    ]
    return ", ".join(f"{classes[k]!r} {100 * before[k]:.1f} % -> {100 * after[k]:.1f} %" for k in order)


def monitor_text(periods: Sequence[Period], classes: tuple[Label, ...]) -> str:
    """Return the report as text."""
    header, rows = _cells(periods, classes, shown_label)
    widths = [max(len(row[place]) for row in [header, *rows]) for place in range(len(header))]
    lines = []
    for first, *others in [header, *rows]:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]))
    return "\n".join([*lines, *_notes(periods), "", *_statements(periods, shown_label)]) + "\n"


def monitor_markdown(periods: Sequence[Period], classes: tuple[Label, ...]) -> str:
    """Return the report as GitHub-flavoured Markdown."""
    header, rows = _cells(periods, classes, code)
    notes = [*_notes(periods), ""] if _notes(periods) else []
    said = [f"- {prose(line)}" for line in _statements(periods, shown_label)]
    return "\n".join([*table(header, rows), "", *notes, *said]) + "\n"


def _cells(periods: Sequence[Period], classes: tuple[Label, ...], name: object) -> tuple[list[str], list[list[str]]]:
    assert callable(name)
    chosen = range(len(classes)) if len(classes) <= MOST else sorted(_liveliest(periods))
    header = ["Period", "Rows", "Loss", "Expected", *(f"Share of {name(classes[k])}" for k in chosen), "Preferences"]
    rows = []
    for one in periods:
        mark = "" if one.labelled else "*"
        shares = [f"{100 * one.shares[k]:.2f} %{mark}" for k in chosen]
        losses = [_loss(one.loss) + mark, _loss(one.loss_expected)]
        rows.append([name(one.name), f"{one.rows:,}", *losses, *shares, "met" if one.met else "NOT MET"])
    return header, rows


def _liveliest(periods: Sequence[Period]) -> list[int]:
    shares = np.array([one.shares for one in periods])
    return [int(k) for k in np.argsort(-(shares.max(axis=0) - shares.min(axis=0)), kind="stable")[:MOST]]


def _notes(periods: Sequence[Period]) -> list[str]:
    notes = ["(expected: what the reference loses at these class shares)"]
    if not all(one.labelled for one in periods):
        notes.append("(* without labels: shares estimated from the decisions, loss if only the shares have changed)")
    return notes


def _statements(periods: Sequence[Period], name: object) -> list[str]:
    assert callable(name)
    lines = []
    for one in periods:
        if one.missed:
            lines.append(f"{name(one.name)}: your preferences are not met: {'; '.join(one.missed)}.")
        if one.advice:
            lines.append(f"{name(one.name)}: {one.advice}.")
    return lines or ["Your preferences are met in every period."]


def _loss(loss: float) -> str:
    return "?" if math.isnan(loss) else f"{loss:.4f}"
