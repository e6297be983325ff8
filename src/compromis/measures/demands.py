"""What was asked of a result and is not met: constraints, the level of one's own answers, classes that were given up."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from compromis._text import count
from compromis._typing import Label
from compromis.evidence.counts import Counts, ratio
from compromis.measures.pragma import losses_at, violations
from compromis.measures.rates import outcomes, precision, recall
from compromis.preferences import PreferenceArrays

LEAST_RECALL = 0.05
"""A class recognised more rarely is given up."""
LEAST_PREDICTED = 0.1
"""A class predicted more rarely, beside how often it occurs, is given up."""
FEW_PREDICTIONS = 20
"""A precision that rests on fewer says little."""
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedConstraint:
    """A rate on the wrong side of the bound that the preferences set."""

    label: Label
    rate: str
    """precision, recall or share_predicted."""
    value: float
    """0 for the precision of a class that is never predicted."""
    bound: float
    rows: int | None
    """The least number of rows whose prediction must change for the bound to be met; None where rows have weights."""

    @property
    def distance(self) -> float:
        """By how much the bound is missed."""
        return abs(self.bound - self.value)

    @property
    def side(self) -> str:
        """What kind of bound it is."""
        return "maximum" if self.rate == "share_predicted" else "minimum"

    def __str__(self) -> str:
        beyond = f"{'above' if self.side == 'maximum' else 'below'} your {self.side} of {self.bound:g}"
        rows = "" if self.rows is None else f" ({count(self.rows)} prediction{'s' * (self.rows != 1)} must change)"
        return f"the {self.rate.replace('_', ' ')} of {self.label!r} is {self.value:.3f}, {beyond}{rows}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnAnswer:
    """A class beside the level that its two answers stand for."""

    label: Label
    level: float
    """The metric at (precision x, recall 1), which is that at (precision 1, recall y)."""
    value: float
    """The metric at the precision and recall of the result; 0 for a class that is never predicted."""

    @property
    def reached(self) -> bool:
        """Whether the result does what its owner said would do."""
        return self.value >= self.level * (1 - _ROUNDING)

    @property
    def distance(self) -> float:
        """By how much the level is missed; 0 where it is reached."""
        return 0.0 if self.reached else self.level - self.value

    def __str__(self) -> str:
        text = f"class {self.label!r} reaches a value of {self.value:.3f}, its two answers stand for {self.level:.3f}"
        return text if self.reached else f"{text}: improve the model, or accept less"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenUp:
    """A class that occurs but is predicted next to never."""

    label: Label
    recall: float
    support: float
    predicted: float
    instead: Label
    """What most of its rows are predicted as."""

    def __str__(self) -> str:
        found = f"{100 * self.recall:.1f} % of its {count(self.support)} rows are found, most are predicted as {self.instead!r}"
        return f"class {self.label!r} is given up, {found}: set min_recall, or a higher importance"


def missed_constraints(counts: Counts, arrays: PreferenceArrays) -> tuple[MissedConstraint, ...]:
    """Return the constraints that are missed: those of precision, of recall, then of capacity.

    Examples
    --------
    One row of 18 too few:

    >>> import compromis as cp
    >>> from compromis.measures.demands import missed_constraints
    >>> preferences = cp.Preferences({"fraud": cp.Preference(10, min_recall=0.8)}).on(["fraud", "ok"])
    >>> (missed,) = missed_constraints(cp.Counts.from_matrix([[14, 4], [10, 972]], ["fraud", "ok"]), preferences)
    >>> missed.rate, round(missed.distance, 3), missed.rows
    ('recall', 0.022, 1)
    """
    share = np.nan_to_num(ratio(outcomes(counts).predicted, outcomes(counts).total))
    asked = zip(
        ("precision", "recall", "share_predicted"),
        (np.nan_to_num(precision(counts)), np.nan_to_num(recall(counts)), share),
        (arrays.min_precision, arrays.min_recall, arrays.max_share),
        violations(counts, arrays),
        strict=True,
    )
    return tuple(
        MissedConstraint(
            label=counts.classes[k],
            rate=rate,
            value=float(values[k]),
            bound=float(bounds[k]),
            rows=rows_to_change(counts, k, rate, float(bounds[k])) if counts.matrix.dtype.kind in "iu" else None,
        )
        for rate, values, bounds, short in asked
        for k in np.flatnonzero(short > 0).tolist()
    )


def rows_to_change(counts: Counts, k: int, rate: str, bound: float) -> int:
    """Return the least number of rows whose prediction must change for a rate of class k to meet its bound."""
    cells = outcomes(counts)
    hits, support, predicted = (int(part[k]) for part in (cells.hits, cells.support, cells.predicted))
    if rate == "recall":
        return max(0, _ceil(bound * support) - hits)
    if rate == "share_predicted":
        return max(0, predicted - math.floor(bound * counts.total * (1 + _ROUNDING)))
    return _rows_for_precision(hits, support, predicted, bound)


def _rows_for_precision(hits: int, support: int, predicted: int, bound: float) -> int:
    """Return the least a + b with hits + a >= bound (predicted + a - b): a misses become hits, b false alarms are dropped.

    A hit brings 1 - bound, a false alarm less brings bound: the larger one is used first, as far as there are rows.
    """
    first = int(hits == 0 and support > 0)  # a precision needs a prediction
    hits, predicted = hits + first, predicted + first
    ways = sorted([(bound, predicted - hits), (1 - bound, support - hits)], reverse=True)
    lacking, changed = bound * predicted - hits, first
    for gain, rows in ways:
        if lacking > _ROUNDING * max(1.0, bound * predicted) and gain > 0:
            used = min(rows, _ceil(lacking / gain))
            lacking, changed = lacking - used * gain, changed + used
    return changed


def _ceil(number: float) -> int:
    return math.ceil(number * (1 - _ROUNDING))


def own_answers(counts: Counts, arrays: PreferenceArrays) -> tuple[OwnAnswer, ...]:
    """Return whether the classes whose two answers were both given reach the level that they stand for.

    A class that does not occur is not judged.

    Examples
    --------
    Flagging a third of all rows is not what 'a precision of 10 % for a recall of 1' stands for:

    >>> import compromis as cp
    >>> from compromis.measures.demands import own_answers
    >>> preferences = cp.Preferences({"fraud": cp.Preference(10, 0.1, 0.9)}).on(["fraud", "ok"])
    >>> (fraud,) = own_answers(cp.Counts.from_matrix([[46, 4], [1049, 1901]], ["fraud", "ok"]), preferences)
    >>> round(fraud.level, 2), round(fraud.value, 2), fraud.reached
    (0.9, 0.73, False)
    """
    values = 1 - losses_at(precision(counts), recall(counts), arrays)
    return tuple(
        OwnAnswer(label=counts.classes[k], level=float(arrays.level[k]), value=float(values[k]))
        for k in np.flatnonzero(~np.isnan(arrays.level + values)).tolist()
    )


def given_up(counts: Counts, arrays: PreferenceArrays) -> tuple[GivenUp, ...]:
    """Return the classes that matter and occur but are predicted next to never, at whose cost other classes gain.

    Their recall is below 5 %, or they are predicted less than a tenth as often as they occur.

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.measures.demands import given_up
    >>> counts = cp.Counts.from_matrix([[1, 49], [3, 947]], ["sick", "well"])
    >>> [(one.label, one.recall, one.instead) for one in given_up(counts, cp.Preferences().on(counts.classes))]
    [('sick', 0.02, 'well')]
    """
    cells, found = outcomes(counts), recall(counts)
    rare = (found < LEAST_RECALL) | (cells.predicted < LEAST_PREDICTED * cells.support)
    chosen = np.flatnonzero(rare & (cells.support > 0) & (arrays.importance > 0))
    others = np.where(np.eye(len(counts.classes), dtype=bool), -1.0, counts.matrix)
    return tuple(
        GivenUp(
            label=counts.classes[k],
            recall=float(found[k]),
            support=float(cells.support[k]),
            predicted=float(cells.predicted[k]),
            instead=counts.classes[int(others[k].argmax())],
        )
        for k in chosen.tolist()
    )


def few_predictions(counts: Counts) -> tuple[tuple[Label, float], ...]:
    """Return the classes predicted, but in fewer than 20 rows (effective rows where they have weights), with that number."""
    predicted = counts.labelled.sum(axis=0).astype(np.float64)
    squares = predicted if counts.squares is None or counts.strata is not None else counts.squares.sum(axis=0)
    rows = np.nan_to_num(ratio(predicted**2, squares))
    return tuple((counts.classes[k], float(rows[k])) for k in np.flatnonzero((rows > 0) & (rows < FEW_PREDICTIONS)))
