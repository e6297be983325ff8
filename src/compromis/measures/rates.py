"""Rates of each class against the rest, their averages, and agreement; undefined numbers are NaN.

Functions of each class take `Counts` or an array of shape (..., K, K), rows the truth, and return shape (..., K): the same formulas
serve counts, draws of a bootstrap and tables of groups. For class k: TP = n_kk, FN = rest of row k, FP = rest of column k, TN = the rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats, Label
from compromis.evidence.counts import Counts, ratio
from compromis.evidence.grouped import GroupedCounts

Cells = NDArray[Any]


class Outcomes:
    """TP, FN, FP and TN of each class with the sums of them, each of shape (..., K) and computed once."""

    def __init__(self, matrix: Cells) -> None:
        self.matrix = matrix

    @cached_property
    def hits(self) -> Cells:
        """TP."""
        return np.diagonal(self.matrix, axis1=-2, axis2=-1)

    @cached_property
    def support(self) -> Cells:
        """TP + FN: the rows of the class."""
        return np.asarray(self.matrix.sum(axis=-1))

    @cached_property
    def predicted(self) -> Cells:
        """TP + FP: the rows predicted as the class."""
        return np.asarray(self.matrix.sum(axis=-2))

    @cached_property
    def total(self) -> Cells:
        """All rows, of shape (..., 1)."""
        return np.asarray(self.matrix.sum(axis=(-2, -1)))[..., np.newaxis]

    @property
    def misses(self) -> Cells:
        """FN."""
        return self._outside[0]

    @property
    def alarms(self) -> Cells:
        """FP."""
        return self._outside[1]

    @property
    def rejections(self) -> Cells:
        """TN."""
        return self._outside[2]

    @property
    def others(self) -> Cells:
        """FP + TN: the rows of the other classes."""
        return self.alarms + self.rejections

    @property
    def against(self) -> Cells:
        """FN + TN: the rows predicted as another class."""
        return self.misses + self.rejections

    @cached_property
    def _outside(self) -> tuple[Cells, Cells, Cells]:
        """FN, FP and TN.

        Whole numbers and draws are subtracted from the margins. Weights are added up cell by cell: a difference of sums loses the
        digits of a class that weighs little beside the others.
        """
        if self.matrix.dtype.kind in "iu" or self.matrix.ndim > 2:
            misses, alarms = self.support - self.hits, self.predicted - self.hits
            return misses, alarms, self.total - self.support - alarms
        wrong = self.matrix * (1.0 - np.eye(self.matrix.shape[-1]))
        rest = np.zeros(self.matrix.shape)  # each cell's row without the cell
        rest[:, 1:] = np.cumsum(self.matrix[:, :-1], axis=1)
        rest[:, :-1] += np.cumsum(self.matrix[:, :0:-1], axis=1)[:, ::-1]
        np.fill_diagonal(rest, 0.0)
        return wrong.sum(axis=1), wrong.sum(axis=0), rest.sum(axis=0)


Evidence = Counts | GroupedCounts
Confusion = Counts | Outcomes | Cells


def counts_of(evidence: Evidence) -> Counts:
    """Return the counts of all rows."""
    return evidence.counts if isinstance(evidence, GroupedCounts) else evidence


SHARES = {
    "recall": ("hits", "support"),  # also sensitivity, true positive rate
    "precision": ("hits", "predicted"),  # also positive predictive value
    "specificity": ("rejections", "others"),  # also true negative rate
    "negative_predictive_value": ("rejections", "against"),
    "false_negative_rate": ("misses", "support"),
    "false_positive_rate": ("alarms", "others"),
    "share_predicted": ("predicted", "total"),
}
"""Numerator and denominator of every rate that is a share of rows."""


def outcomes(counts: Confusion) -> Outcomes:
    """Return the outcomes of each class."""
    if isinstance(counts, Outcomes):
        return counts
    return Outcomes(counts.matrix if isinstance(counts, Counts) else counts)


def share_parts(counts: Confusion) -> dict[str, tuple[Cells, Cells]]:
    """Return numerators and denominators of `SHARES` by name, then those of accuracy and error_rate, which have one value.

    They are sums of cells, so sums of squared weights and the tables of groups have them too.
    """
    cells = outcomes(counts)
    parts = {name: (getattr(cells, above), getattr(cells, below)) for name, (above, below) in SHARES.items()}
    for name, right in (("accuracy", cells.hits), ("error_rate", cells.misses)):
        parts[name] = (right.sum(axis=-1, keepdims=True), cells.total)
    return parts


def _share(counts: Confusion, name: str) -> Floats:
    cells = outcomes(counts)
    above, below = SHARES[name]
    return ratio(getattr(cells, above), getattr(cells, below))


def recall(counts: Confusion) -> Floats:
    """TP / (TP + FN): the share of a class that is recognised."""
    return _share(counts, "recall")


def precision(counts: Confusion) -> Floats:
    """TP / (TP + FP): the share of the predictions of a class that are right."""
    return _share(counts, "precision")


def negative_predictive_value(counts: Confusion) -> Floats:
    """TN / (TN + FN): the share of the predictions of other classes that are right."""
    return _share(counts, "negative_predictive_value")


def f_measure(counts: Confusion, beta: float = 1.0) -> Floats:
    """(1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP): recall counts b times as much as precision."""
    cells, weight = outcomes(counts), beta * beta
    return ratio((1 + weight) * cells.hits, weight * cells.support + cells.predicted)


def class_rates(counts: Confusion) -> dict[str, Floats]:
    """Return every rate by name."""
    cells = outcomes(counts)
    rates = {name: _share(cells, name) for name in SHARES}
    rates["f_measure"] = f_measure(cells)
    rates["roc_area"] = (1 + rates["recall"] - rates["false_positive_rate"]) / 2
    return rates


def class_mean(rates: Floats, weights: Cells) -> Floats:
    """The weighted mean over classes, the last axis; undefined rates are left out."""
    unknown = np.isnan(rates)
    used = np.where(unknown, 0.0, weights)
    return ratio((np.where(unknown, 0.0, rates) * used).sum(axis=-1), used.sum(axis=-1))


def geometric_mean(rates: Floats) -> Floats:
    """The geometric mean over classes, the last axis; undefined rates are left out, a rate of 0 gives 0."""
    known = ~np.isnan(rates)
    with np.errstate(divide="ignore"):
        logarithms = np.log(np.where(known, rates, 1.0))
    return np.asarray(np.exp(ratio(logarithms.sum(axis=-1), known.sum(axis=-1))))


class Number(NamedTuple):
    """A number of the whole: its name in reports (None where they leave it out), its range, and which end of it is better."""

    title: str | None
    low: float = 0.0
    high: float = 1.0
    lower_is_better: bool = False


NUMBERS = {
    "accuracy": Number("Accuracy"),
    "error_rate": Number(None, lower_is_better=True),
    "kappa": Number("Kappa statistic", low=-1.0),
    "balanced_accuracy": Number("Balanced accuracy"),
    "matthews": Number("Matthews' correlation", low=-1.0),
    "g_mean": Number(None),
    "macro_f_measure": Number("F-Measure, mean over classes"),
    "macro_false_positive_rate": Number(None, lower_is_better=True),
    "weighted_false_positive_rate": Number(None, lower_is_better=True),
    "average_cost": Number("Average Cost", low=-math.inf, high=math.inf, lower_is_better=True),
    "loss": Number("Loss (0 is perfect, 1 the worst)", lower_is_better=True),
}
"""The numbers of the whole that reports, intervals, comparisons and records know by name; other averages lie in [0, 1], more is better."""


def lower_is_better(name: str) -> bool:
    """Return whether less of a number of the whole is better."""
    return name in NUMBERS and NUMBERS[name].lower_is_better


AVERAGED = ("recall", "precision", "f_measure", "false_positive_rate", "specificity")


def summaries(counts: Confusion, rates: dict[str, Floats]) -> dict[str, Floats]:
    """Return the numbers of the whole by name, of shape (...), with averages of the `class_rates`: macro_recall and so on.

    Made for stacks of draws: kappa and Matthews' coefficient are rounded, those of `kappa` and `matthews` are exact.
    """
    cells = outcomes(counts)
    accuracy = ratio(cells.hits.sum(axis=-1), cells.total[..., 0])
    truth, predicted = ratio(cells.support, cells.total), ratio(cells.predicted, cells.total)
    chance = (truth * predicted).sum(axis=-1)
    spread = (1 - (truth**2).sum(axis=-1)) * (1 - (predicted**2).sum(axis=-1))
    named = {
        "accuracy": accuracy,
        "error_rate": 1 - accuracy,
        "kappa": ratio(accuracy - chance, 1 - chance),
        "balanced_accuracy": class_mean(rates["recall"], cells.support > 0),
        "matthews": ratio(accuracy - chance, np.sqrt(np.maximum(spread, 0.0))),
        "g_mean": geometric_mean(rates["recall"]),
    }
    for kind, weights in (("macro", cells.support > 0), ("weighted", cells.support)):
        named |= {f"{kind}_{name}": mean for name, mean in averages(rates, weights).items()}
    return named


def averages(rates: Mapping[str, Floats], weights: Cells, names: Sequence[str] = AVERAGED) -> dict[str, Floats]:
    """Return the means of the named rates over the classes: weighted by support, or plain over those that occur (support > 0).

    A class that occurs but is never predicted has no precision. Leaving it out would reward giving the class up, so
    it counts with precision 0, as the loss counts it as 1.
    """
    known = [np.nan_to_num(rates[name]) if name == "precision" else rates[name] for name in names]
    return dict(zip(names, class_mean(np.stack(known), weights), strict=True))


def accuracy(counts: Counts) -> float:
    """The share of rows predicted right."""
    return _divide(float(counts.matrix.trace()), counts.total)


def kappa(counts: Counts) -> float:
    """Cohen's kappa: the agreement beyond chance, relative to the most there could be.

    Notes
    -----
    With n rows, a of them right and c = sum_k support_k predicted_k, kappa = (n a - c) / (n^2 - c). The terms nearly cancel where
    one class dominates, and their products outgrow 64 bits, so they are formed exactly.
    """
    total, right, truth, predicted = _exact(counts)
    chance = _product(truth, predicted)
    return _divide(Fraction(total * right - chance), total * total - chance)


def matthews(counts: Counts) -> float:
    """Matthews' correlation coefficient, for any number of classes (Gorodkin's R_K); formed exactly, as `kappa` is."""
    total, right, truth, predicted = _exact(counts)
    sums = (
        total * right - _product(truth, predicted),
        total * total - _product(truth, truth),
        total * total - _product(predicted, predicted),
    )
    if not (sums[1] and sums[2]):
        return math.nan
    covariance, *spreads = (Fraction(value, total * total) for value in sums)
    return float(covariance) / (math.sqrt(spreads[0]) * math.sqrt(spreads[1]))


def _exact(counts: Counts) -> tuple[int, int, list[int], list[int]]:
    """Return total, rows predicted right, supports and predictions as whole numbers; weights on a common scale."""
    matrix = counts.matrix if counts.matrix.dtype.kind in "iu" else _on_whole_scale(counts.matrix)
    truth, predicted = (matrix.sum(axis=axis).tolist() for axis in (1, 0))
    return sum(truth), int(matrix.trace()), truth, predicted


def _on_whole_scale(weights: Floats) -> Cells:
    """Return weights as Python's whole numbers, all multiplied by the same power of two: margins add up without rounding."""
    mantissa, exponent = np.frexp(weights)
    exponent = np.where(weights > 0, exponent, exponent.max())
    shift = (exponent - exponent.min()).astype(object)
    scaled: Cells = np.ldexp(mantissa, 53).astype(np.int64).astype(object) << shift
    return scaled


def _product(first: list[int], second: list[int]) -> int:
    return sum(a * b for a, b in zip(first, second, strict=True))


def _divide(above: float | Fraction, below: float | Fraction) -> float:
    return float(above / below) if below else math.nan


def largest_confusions(counts: Counts, most: int) -> list[tuple[int, int]]:
    """Return true and predicted position of the cells with the most wrong rows, the largest first."""
    size = len(counts.classes)
    wrong = np.where(np.eye(size, dtype=bool), 0, counts.matrix)
    cells = np.argsort(-wrong, axis=None, kind="stable")[: min(most, np.count_nonzero(wrong))]
    return [divmod(cell, size) for cell in cells.tolist()]


def rows_and_wrong(counts: Counts, rate: str, k: int) -> tuple[int, int]:
    """Return how many rows a recall or a precision of class k is about, and how many of them are wrong."""
    rows = int((counts.matrix[k] if rate == "recall" else counts.matrix[:, k]).sum())
    return rows, rows - int(counts.matrix[k, k])


FEW_PREDICTIONS = 20
"""A precision that rests on fewer says little."""


def effective_rows(counts: Counts, axis: int) -> Floats:
    """Return the rows predicted as each class (axis 0) or of each true class (1); their effective number (Kish) where they have weights."""
    rows = counts.labelled.sum(axis=axis).astype(np.float64)
    squares = rows if counts.squares is None or counts.strata is not None else counts.squares.sum(axis=axis)
    return np.nan_to_num(ratio(rows**2, squares))


def few_predictions(counts: Counts) -> tuple[tuple[Label, float], ...]:
    """Return the classes predicted, but in fewer than 20 rows (effective rows where they have weights), with that number."""
    rows = effective_rows(counts, axis=0)
    return tuple((counts.classes[k], float(rows[k])) for k in np.flatnonzero((rows > 0) & (rows < FEW_PREDICTIONS)))
