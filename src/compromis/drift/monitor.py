"""A decision monitored over time: evidence per period, loss against the preferences, what has changed and what to do."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Label
from compromis.drift.change import change_between
from compromis.drift.estimate import PrevalenceEstimate
from compromis.drift.prevalence import from_predicted
from compromis.drift.wording import AGAIN, Period, advice, alarm, monitor_markdown, monitor_text
from compromis.errors import InputError, shown
from compromis.evidence import Counts
from compromis.frames import make_frame
from compromis.measures.rates import precision, recall
from compromis.measures.verdict import judge
from compromis.preferences import PreferenceArrays, Preferences
from compromis.reporting.json import plain, write_json
from compromis.uncertainty.interval import read_confidence

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
    >>> found = cp.monitor({"spring": spring, "autumn": cp.Unlabelled(np.array([1902, 118]))}, preferences=arrays)
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
        periods = [plain(asdict(period)) for period in self.periods]
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
        raise InputError(f"a period is compromis.Counts or compromis.Unlabelled, got {type(wrong).__name__}")
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
