"""What changed between two sets of labelled rows: the class shares, or what the rows of a class are predicted as."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._arrays import make_frame
from compromis._text import shown, shown_label
from compromis._typing import Label
from compromis.drift.prevalence import PrevalenceEstimate, from_predicted
from compromis.errors import InputError
from compromis.evaluation.render.json import write_json
from compromis.evaluation.render.markdown import code, prose, table
from compromis.evidence import Counts
from compromis.measures.rates import precision, recall
from compromis.measures.verdict import Verdict, judge
from compromis.preferences import PreferenceArrays, Preferences
from compromis.uncertainty.intervals import read_confidence

SURE = 0.01
"""The chance of a false alarm, over all classes together."""


@dataclass(frozen=True, slots=True)
class Change:
    """What differs from the reference beyond chance.

    Attributes
    ----------
    shares : bool
        Whether the classes have other shares.
    rows_of : tuple of labels
        The classes whose rows are predicted differently: no new class shares can do that.
    """

    shares: bool
    rows_of: tuple[Label, ...]


def change_between(reference: Counts, counts: Counts) -> Change:
    """Compare counts of the same classes by chi-squared tests: of the class totals, and of each class's decisions."""
    before, after = _effective(reference), _effective(counts)
    classes = counts.classes
    differing = tuple(
        label for k, label in enumerate(classes) if _chance(before[k], after[k]) < SURE / max(len(classes), 1)
    )
    return Change(_chance(before.sum(axis=1), after.sum(axis=1)) < SURE, differing)


def _effective(counts: Counts) -> NDArray[np.float64]:
    """Counts as of rows of equal weight: weighted rows tell as much as fewer unweighted ones."""
    cells = counts.matrix.astype(np.float64)
    if counts.squares is None or not counts.squares.sum() > 0:
        return cells
    scaled: NDArray[np.float64] = cells * (cells.sum() / counts.squares.sum())
    return scaled


def _chance(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """The chance of so large a difference if there were none; 1 where there is nothing to compare."""
    from scipy.stats import chi2_contingency

    table = np.array([first, second])
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2 or not table.sum(axis=1).all():
        return 1.0
    return float(chi2_contingency(table).pvalue)


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


SCHEMA, VERSION = "compromis/monitor", 1


@dataclass(frozen=True, slots=True, eq=False)
class Unlabelled:
    """A period without labels: how many rows were predicted as each class and, where there are probabilities, the shares by them.

    Attributes
    ----------
    predicted : ndarray of shape (K,)
        The rows predicted as each class of the reference.
    by_em : PrevalenceEstimate, optional
        The shares that `prevalence_by_em` estimates from the probabilities of the same rows.

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> spring = cp.Counts.from_matrix([[950, 50], [10, 90]], ["good", "bad"])
    >>> arrays = cp.Preferences({"bad": cp.Preference(10, min_precision=0.5)}, metric="f")
    >>> found = cp.monitor({"spring": spring, "autumn": cp.drift.Unlabelled(np.array([1902, 118]))}, preferences=arrays)
    >>> [period.rows for period in found.periods]
    [1100, 2020]
    """

    predicted: NDArray[Any]
    by_em: PrevalenceEstimate | None = None


@dataclass(frozen=True, eq=False)
class Monitor:
    """The periods of a decision, judged by what matters; ``str()`` is the report.

    Attributes
    ----------
    periods : tuple of Period
        Rows, class shares, loss, rates, whether the preferences are met, and what to do, for each period.
    classes : tuple
        The classes.
    preferences : Preferences
        What matters.

    Examples
    --------
    >>> import compromis as cp
    >>> week = cp.Counts.from_matrix([[95, 5], [1, 9]], ["good", "bad"])
    >>> found = cp.monitor({"first": week, "second": week}, preferences=cp.Preferences.prioritise(["bad"], metric="f"))
    >>> len(found.periods), found.classes
    (2, ('good', 'bad'))
    """

    periods: tuple[Period, ...]
    classes: tuple[Label, ...]
    preferences: Preferences

    @property
    def met(self) -> bool:
        """Whether the last period meets the preferences."""
        return self.periods[-1].met

    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row per period and class as a data frame of pandas, polars or pyarrow."""
        rows = [(period, k) for period in self.periods for k in range(len(self.classes))]
        columns: dict[str, Any] = {
            name: [getattr(period, name) for period, _ in rows] for name in ("name", "rows", "labelled", "loss", "met")
        }
        columns["label"] = [self.classes[k] for _, k in rows]
        for name in ("shares", "recall", "precision"):
            columns[name.replace("shares", "share")] = [getattr(period, name)[k] for period, k in rows]
        return make_frame(columns, backend)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the monitor as JSON of a versioned schema; with `path`, write it there too, whole or not at all."""
        periods = [asdict(period) for period in self.periods]
        return write_json(
            {"schema": SCHEMA, "version": VERSION, "classes": list(self.classes), "periods": periods}, path
        )

    def to_markdown(self) -> str:
        """Return the monitor as GitHub-flavoured Markdown."""
        return monitor_markdown(self.periods, self.classes)

    def __str__(self) -> str:
        return monitor_text(self.periods, self.classes)


def monitor(
    periods: Mapping[str, Counts | Unlabelled],
    *,
    preferences: Preferences,
    reference: Counts | None = None,
    max_loss: float | None = None,
    confidence: float = 0.95,
) -> Monitor:
    """Judge the same decision period by period, and say what to do where the preferences are no longer met.

    Parameters
    ----------
    periods : mapping of name to Counts or Unlabelled
        In the order of time: true against predicted classes, or decisions without labels.
    preferences : Preferences
        What matters; minima are what a period can miss.
    reference : Counts, optional
        The rows on which the decision was tuned or accepted; without it the first period with labels.
    max_loss : float, optional
        The largest loss that still meets the preferences.
    confidence : float
        The confidence of estimated class shares.

    Notes
    -----
    A period meets the preferences if every minimum is met, the loss is at most `max_loss`, and no decision without a model does as
    well. New class shares change precision but not what the rows of one class are predicted as: chi-squared tests tell the
    two apart. Without labels the shares are estimated from the decisions, and the numbers are those of the reference at these shares.

    Examples
    --------
    >>> import compromis as cp
    >>> spring = cp.Counts.from_matrix([[950, 50], [10, 90]], ["good", "bad"])
    >>> autumn = cp.Counts.from_matrix([[1900, 100], [2, 18]], ["good", "bad"])
    >>> arrays = cp.Preferences({"bad": cp.Preference(10, min_precision=0.5)}, metric="f")
    >>> found = cp.monitor({"spring": spring, "autumn": autumn}, preferences=arrays)
    >>> [period.met for period in found.periods]
    [True, False]
    >>> print(found.periods[1].advice)
    the class shares have changed ('bad' 9.1 % -> 1.0 %), the rows of each class are predicted as before:
    search the weights again for these shares
    """
    _check(periods, preferences)
    level = read_confidence(confidence)
    first = reference or next((one for one in periods.values() if isinstance(one, Counts)), None)
    if first is None:
        raise InputError("no period has labels, so nothing is known of the decision's errors; give reference=")
    classes = first.classes
    arrays = preferences.on(classes)
    judged = [_period(name, one, first, arrays, max_loss, level) for name, one in periods.items()]
    return Monitor(tuple(judged), classes, preferences)


def _check(periods: Any, preferences: Any) -> None:
    if not isinstance(periods, Mapping) or not periods:
        raise InputError("periods maps names to Counts or Unlabelled, and holds at least one")
    wrong = next((one for one in periods.values() if not isinstance(one, (Counts, Unlabelled))), None)
    if wrong is not None:
        raise InputError(f"a period is compromis.Counts or compromis.drift.Unlabelled, got {type(wrong).__name__}")
    if not isinstance(preferences, Preferences):
        raise InputError(f"preferences must be a compromis.Preferences, got {type(preferences).__name__}")


def _period(
    name: str,
    given: Counts | Unlabelled,
    reference: Counts,
    arrays: PreferenceArrays,
    max_loss: float | None,
    level: float,
) -> Period:
    estimate = None
    if isinstance(given, Unlabelled):
        estimate = from_predicted(np.asarray(given.predicted), reference, level)
        counts = reference.with_prevalence(estimate.shares.tolist())
        rows = estimate.rows
    else:
        unknown = [label for label in given.classes if label not in reference.classes]
        if unknown:
            raise InputError(f"period {name!r} has the classes {shown(unknown)}, which the reference has not")
        counts = given.arranged_as(reference.classes)
        rows = counts.rows
    verdict = judge(counts, arrays)
    change = change_between(reference, counts) if estimate is None else None
    by_em = given.by_em if isinstance(given, Unlabelled) else None
    before, shares = reference.support / reference.support.sum(), counts.support / counts.support.sum()
    missed = alarm(verdict, max_loss)
    said = advice(missed, reference.classes, (before, shares), change, (estimate, by_em))
    return Period(
        name=str(name),
        rows=rows,
        labelled=estimate is None,
        shares=tuple(map(float, shares)),
        bounds=None if estimate is None else tuple((one.low, one.high) for one in estimate.intervals),
        loss=verdict.loss,
        loss_expected=judge(reference.with_prevalence(shares.tolist()), arrays).loss,
        recall=tuple(map(float, recall(counts))),
        precision=tuple(map(float, precision(counts))),
        met=not missed,
        missed=missed,
        advice=said,
        retune=AGAIN in said,
    )
