"""A result under preferences: the PRAGMA loss (lower is better), costs, and what is missed of constraints and own answers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis._text import class_quoted, count
from compromis._typing import Flags, Floats, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts, ratio
from compromis.labels import encode, plain_label, read_labels
from compromis.measures.rates import Confusion, outcomes, precision, recall
from compromis.preferences import PreferenceArrays, Preferences

LEAST_RECALL = 0.05
"""A class recognised more rarely is given up."""
LEAST_PREDICTED = 0.1
"""A class predicted more rarely, beside how often it occurs, is given up."""
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class PragmaLoss:
    """The PRAGMA loss and its parts."""

    total: float
    """The mean of the classes' losses, weighted by importance; with costs the average cost of a row."""
    by_class: Floats
    """f of each class: 0 is perfect, 1 the worst; with costs the average cost of its rows; NaN for a class absent from the truth."""
    share: Floats
    """What each class adds to `total`."""


def pragma(counts: Counts, arrays: PreferenceArrays) -> PragmaLoss:
    """Return the PRAGMA loss of `counts` under `arrays`, or their average cost.

    Notes
    -----
    PRAGMA = sum_k theta_k f_k / sum_k theta_k with f_k = 1 - I(p_k, r_k; l_k), I the metric of the preferences; with
    Kulczynski's this is the paper's plane 1 + a r + b p. A class that is never predicted has f = 1 (the paper's
    f(0, 0)); a class absent from the truth is left out of the mean.
    """
    by_class, share = losses(counts, arrays)
    return PragmaLoss(float(share.sum()), by_class, share)


def losses(counts: Confusion, arrays: PreferenceArrays) -> tuple[Floats, Floats]:
    """Return the loss of each class and what it adds to the whole, both of shape (..., K)."""
    cells = outcomes(counts)
    if arrays.cost is not None:
        paid = costs_of(counts, arrays).sum(axis=-1)
        return ratio(paid, cells.support), ratio(paid, cells.total)
    by_class = losses_at(precision(cells), recall(cells), arrays)
    return by_class, loss_shares(by_class, arrays)


def costs_of(counts: Confusion, arrays: PreferenceArrays) -> Floats:
    """Return what the rows of each cell cost together, of shape (..., K, K)."""
    costs: Floats = outcomes(counts).matrix * arrays.cost
    if arrays.by_amount is None:
        return costs
    amounts = counts.amounts if isinstance(counts, Counts) else None
    if amounts is None:
        raise amount_missing()
    return costs + amounts * arrays.by_amount


def with_mean_costs(counts: Counts, arrays: PreferenceArrays) -> tuple[Counts, PreferenceArrays]:
    """Return counts and costs in which each cell costs the mean of its amounts, for draws of counts, which have none.

    Rows of unequal amounts are fewer effective rows: the sums of squares are those of weights in proportion to the amounts of the
    true class (Kish). What knows nothing of amounts pays the mean of the class, `blind_cost`.
    """
    if arrays.by_amount is None or arrays.cost is None:
        return counts, arrays
    if counts.amounts is None or counts.amount_squares is None:
        raise amount_missing()
    whole, squares = counts.amounts.sum(axis=1), counts.amount_squares.sum(axis=1)
    mean = np.nan_to_num(ratio(whole, counts.support))[:, np.newaxis]
    own = np.where(counts.matrix > 0, ratio(counts.amounts, counts.matrix), mean)
    scale = np.nan_to_num(ratio(squares * counts.support, whole**2), nan=1.0)[:, np.newaxis]
    before = counts.matrix if counts.squares is None else counts.squares
    effective = np.where(arrays.by_amount.any(axis=1, keepdims=True), np.maximum(before, counts.matrix * scale), before)
    varying = arrays.by_amount * mean
    priced = replace(
        arrays,
        cost=arrays.cost + arrays.by_amount * own,
        by_amount=None,
        blind_cost=arrays.cost + varying,
        varying_cost=varying,
    )
    return replace(counts, squares=effective.astype(np.float64), amounts=None, amount_squares=None), priced


def amount_missing() -> InputError:
    """Return what is raised where costs depend on amounts that nobody gave."""
    return InputError(
        "amount is missing: a decision costs the 'amount' of its row; give one number per row, where the rows are read",
        "amount",
    )


def losses_at(precision: Floats, recall: Floats, arrays: PreferenceArrays) -> Floats:
    """Return f of each class at its precision and recall: 1 without precision (never predicted), NaN without recall (it does not occur)."""
    loss = 1 - arrays.metric.value(precision, recall, arrays.recall_weight)
    return np.where(np.isnan(recall), np.nan, np.where(np.isnan(precision), 1.0, loss))


def loss_shares(by_class: Floats, arrays: PreferenceArrays) -> Floats:
    """Return what each class adds to the PRAGMA loss, of shape (..., K); NaN where no class that matters occurs."""
    importance = np.where(np.isnan(by_class), 0.0, arrays.importance)
    return ratio(importance * np.nan_to_num(by_class), importance.sum(axis=-1, keepdims=True))


def violations(counts: Confusion, arrays: PreferenceArrays) -> tuple[Floats, Floats, Floats]:
    """Return by how much each class's precision, recall and share of the predictions miss their constraint, 0 where they do not.

    A class absent from the truth misses no minimum; a class that is never predicted misses its whole minimum.
    """
    cells = outcomes(counts)
    occurs = cells.support > 0
    return (
        shortfalls_at(precision(cells), arrays.min_precision, occurs),
        shortfalls_at(recall(cells), arrays.min_recall, occurs),
        excess_at(ratio(cells.predicted, cells.total), arrays.max_share),
    )


def shortfalls_at(rates: Floats, minimum: Floats, occurs: Flags) -> Floats:
    """Return by how much rates of the classes that occur miss a minimum; a minimum missed by rounding alone counts as met."""
    missing = minimum - np.nan_to_num(rates)
    return np.where(occurs & (missing > _ROUNDING * minimum), missing, 0.0)


def excess_at(shares: Floats, most: Floats) -> Floats:
    """Return by how much shares of predictions exceed the largest allowed; one exceeded by rounding alone counts as met."""
    over = np.nan_to_num(shares) - most
    return np.where(over > _ROUNDING * most, over, 0.0)


def shortfall(counts: Counts, arrays: PreferenceArrays) -> float:
    """Return the sum of what the classes miss of their constraints."""
    if not arrays.constrained:  # most searches ask this of every candidate
        return 0.0
    return float(sum(part.sum() for part in violations(counts, arrays)))


def total_cost(counts: Counts, arrays: PreferenceArrays) -> float | None:
    """Return the sum of the costs of all rows; None without costs."""
    return None if arrays.cost is None else float(costs_of(counts, arrays).sum())


def preference_score(counts: Counts, arrays: PreferenceArrays) -> float:
    """Return 1 - loss where the constraints are met; else less than any result that meets them, by what is missed of them.

    The worst loss is 1, so that a result that misses constraints has minus the sum of what it misses. With costs the worst is what
    the dearest decisions for these rows cost.
    """
    missed = shortfall(counts, arrays)
    if missed == 0:
        return 1 - pragma(counts, arrays).total
    return 1 - worst_loss(counts, arrays) - missed


def worst_loss(counts: Counts, arrays: PreferenceArrays) -> float:
    """Return the worst loss that decisions for the same rows could have, or an upper bound of it."""
    if arrays.cost is None:
        return 1.0
    worst = float(counts.support @ arrays.cost.max(axis=1))
    if arrays.by_amount is not None and counts.amounts is not None:
        worst += float(counts.amounts.sum(axis=1) @ arrays.by_amount.max(axis=1))
    return worst / counts.total


def score_predictions(
    y_true: Any,
    y_pred: Any,
    preferences: Preferences,
    sample_weight: ArrayLike | None = None,
    amount: ArrayLike | None = None,
) -> float:
    """Return the `preference_score` of the rows of a fold, which may lack classes that the preferences name."""
    counts = fold_counts(y_true, y_pred, sample_weight, amount)
    # the dearest decision may be for a class that neither the fold nor these predictions have
    counts = counts.arranged_as(tuple(dict.fromkeys((*counts.classes, *(preferences.labels or ())))))
    return preference_score(counts, preferences.on(counts.classes, strict=False))


def among_classes(preferences: Preferences, classes: Iterable[Any], y_true: Any) -> Preferences:
    """Return the preferences for the classes of an estimator and of a fold; see `Preferences.among`."""
    _, occurring = encode(read_labels(y_true, "y_true"))
    return preferences.among(dict.fromkeys((*map(plain_label, classes), *occurring)))


def fold_counts(
    y_true: Any, y_pred: Any, sample_weight: ArrayLike | None = None, amount: ArrayLike | None = None
) -> Counts:
    """Return the counts of a fold, whose rows may all be predicted wrong, and have no label in common with the predictions."""
    _, classes = encode(read_labels(y_true, "y_true"), read_labels(y_pred, "y_pred"))
    return Counts.from_predictions(y_true, y_pred, labels=classes, sample_weight=sample_weight, amount=amount)


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
        return f"the {self.rate.replace('_', ' ')} of {class_quoted(self.label)} is {self.value:.3f}, {beyond}{rows}"


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

    @property
    def sentence(self) -> str:
        """What is reached and what was asked for, without the cure."""
        return f"the metric of {class_quoted(self.label)} is {self.value:.3f}; the two answers in your preferences ask for {self.level:.3f}"

    def __str__(self) -> str:
        return self.sentence if self.reached else f"{self.sentence}: improve the model, or accept less"


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
        if self.support == 1:
            return f"class {self.label!r} is given up: its only row is predicted as {self.instead!r}"
        found = f"{100 * self.recall:.1f} % of its {count(self.support)} rows are found"
        return f"class {self.label!r} is given up: {found}, {self.instead!r} is predicted most often in its place"


def missed_constraints(counts: Counts, arrays: PreferenceArrays) -> tuple[MissedConstraint, ...]:
    """Return the constraints that are missed: those of precision, of recall, then of capacity.

    Examples
    --------
    One row of 18 too few:

    >>> import compromis as cp
    >>> from compromis.measures.pragma import missed_constraints
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
    >>> from compromis.measures.pragma import own_answers
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
    >>> from compromis.measures.pragma import given_up
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
