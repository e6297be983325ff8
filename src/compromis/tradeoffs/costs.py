"""Cost curves and decision curves: the expected cost and the net benefit of a model over all costs and priors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis._results import Result
from compromis._text import Table
from compromis._typing import Flags, Floats, Ints
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.metrics import KULCZYNSKI, unit_values
from compromis.tradeoffs._tables import Tabular, number_table
from compromis.tradeoffs.curve import TradeoffCurve
from compromis.tradeoffs.envelope import ALWAYS_POSITIVE, NEVER_POSITIVE, SPECIFICITY_SENSITIVITY, Candidates


def probability_cost(prevalence: ArrayLike, cost_false_negative: float = 1.0, cost_false_positive: float = 1.0) -> Any:
    """Return the share of the greatest expected cost that is due to positives: the x axis of cost curves.

    Notes
    -----
    ``PC = q C(-|+) / (q C(-|+) + (1 - q) C(+|-))``, with q the prevalence.

    Examples
    --------
    >>> from compromis.tradeoffs import probability_cost
    >>> float(probability_cost(0.1, cost_false_negative=9))
    0.5
    """
    share = unit_values(prevalence, "prevalence is a share between 0 and 1")
    costs = cost_false_negative, cost_false_positive
    if not all(isinstance(cost, Real) and cost >= 0 for cost in costs):
        raise InputError(f"costs are at least 0, got {costs[0]!r:.60} and {costs[1]!r:.60}")
    missed, alarmed = share * cost_false_negative, (1 - share) * cost_false_positive
    return np.divide(missed, missed + alarmed, out=np.full(share.shape, np.nan), where=missed + alarmed > 0)[()]


class CostCurve(Result):
    """The lower envelope of the expected costs of a model's cuts and of the two constant decisions.

    Parameters
    ----------
    points : OperatingPoints
        The cuts of a score, or groups.

    Notes
    -----
    Normalised expected cost at probability cost x is (1 - tpr) x + fpr (1 - x) = 1 - Kulczynski of specificity and
    sensitivity at l = x, so that the lower envelope is an upper hull there. Drummond and Holte, Cost curves: an
    improved method for visualizing classifier performance, Machine Learning 65, 2006.

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.tradeoffs import CostCurve
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    >>> curve = CostCurve(points)
    >>> curve.breaks.round(3).tolist(), round(float(curve.value(0.5)), 4)
    ([0.0, 0.333, 1.0], 0.1667)
    """

    schema = "compromis/cost-curve"

    def __init__(self, points: OperatingPoints) -> None:
        if points.reason:
            raise InputError(f"a cost curve needs rows of both kinds; {points.reason}")
        self.points = points
        self._curve = TradeoffCurve(points, KULCZYNSKI, pair=SPECIFICITY_SENSITIVITY)
        self._curve.candidates = Candidates.join([self._curve.candidates, NEVER_POSITIVE, ALWAYS_POSITIVE])

    @property
    def summary(self) -> dict[str, float]:
        """The expected cost if every probability cost is as likely."""
        return {"area": self.area()}

    @property
    def breaks(self) -> Floats:
        """The probability costs where the best cut changes, 0 and 1 included."""
        return self._curve.breaks

    @property
    def positions(self) -> Ints:
        """The best points in turn; -1 for a constant decision that is none of the points."""
        return self._curve.positions

    def value(self, probability_cost: ArrayLike) -> Any:
        """Return the least normalised expected cost at each probability cost in [0, 1]."""
        share = _read_share(probability_cost)
        best = self._curve.candidates.take(self._curve.envelope.at(share))
        missed, alarmed = 1 - best.second_rate, 1 - best.first_rate
        return (missed * share + alarmed * (1 - share))[()]

    def lines(self, probability_cost: ArrayLike) -> Floats:
        """Return the cost of every point (rows) at every probability cost (columns)."""
        share = np.atleast_1d(_read_share(probability_cost))
        return (1 - self.points.tpr)[:, None] * share + self.points.fpr[:, None] * (1 - share)

    def area(self, low: float = 0.0, high: float = 1.0) -> float:
        """Return the integral of the least cost: the expected cost if every probability cost is as likely."""
        return (high - low) - self._curve.area(low, high)

    def columns(self) -> dict[str, list[Any]]:
        """Return the best points as lists by column name; the threshold of a constant decision that is no point is NaN."""
        chosen, at = self._curve.chosen, self.positions
        columns = {
            "low": self.breaks[:-1],
            "high": self.breaks[1:],
            "position": at,
            "threshold": np.where(at < 0, np.nan, self.points.threshold[at]),
            "fpr": 1 - chosen.first_rate,
            "tpr": chosen.second_rate,
        }
        return {name: values.tolist() for name, values in columns.items()}

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        return self.heading() | {"area": self.area()} | self.columns()

    def sentences(self) -> list[str]:
        """Return the expected cost over all probability costs."""
        return [f"expected cost {self.area():.4f} if every probability cost is as likely"]

    def tables(self) -> list[Table]:
        """Return the best points in turn."""
        return [number_table("best by probability cost", self.columns())]


def constant_cost(probability_cost: ArrayLike) -> Any:
    """Return the cost of the better constant decision at each probability cost: min(x, 1 - x).

    Examples
    --------
    >>> import compromis as cp
    >>> cp.tradeoffs.constant_cost([0.0, 0.25, 0.5, 0.9]).round(2).tolist()
    [0.0, 0.25, 0.5, 0.1]
    """
    share = _read_share(probability_cost)
    return np.minimum(share, 1 - share)[()]


def _read_share(probability_cost: ArrayLike) -> Floats:
    return unit_values(probability_cost, "a probability cost lies between 0 and 1")


@dataclass(frozen=True, eq=False, kw_only=True)
class DecisionCurve(Tabular):
    """Net benefit over the probability from which one acts."""

    probability: Floats
    """The probabilities from which one would act."""
    model: Floats
    everyone: Floats
    nobody: Floats
    """The net benefit, in true positives per row, of acting by the model, on every row, and on none (0)."""

    @cached_property
    def useful(self) -> Flags:
        """Where acting by the model beats acting on every row and on none."""
        return self.model > np.maximum(self.everyone, self.nobody)

    schema = "compromis/decision-curve"
    title = "net benefit"
    names = ("probability", "model", "everyone", "nobody")

    def sentences(self) -> list[str]:
        """Return how often the model is worth acting by."""
        useful = self.probability[self.useful]
        return [f"useful at {len(useful)} of {len(self.probability)} probabilities from which one would act"]


def decision_curve(points: OperatingPoints, probability: ArrayLike | None = None) -> DecisionCurve:
    """Return the net benefit of acting where the predicted probability is at least some value.

    Parameters
    ----------
    points : OperatingPoints
        The cuts of predicted probabilities.
    probability : array-like, optional
        The probabilities from which one would act, in [0, 1); 0 to 0.99 by steps of 0.01 by default.

    Notes
    -----
    Net benefit at probability t is TP/n - FP/n t/(1 - t): someone who acts from t on finds a missed positive
    (1 - t)/t times as bad as a false alarm. Vickers and Elkin, Medical Decision Making 26, 2006.

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.tradeoffs import decision_curve
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    >>> decision_curve(points, [0.25, 0.5]).model.round(4).tolist()
    [0.3889, 0.1667]
    """
    points.check_ranking("a decision curve")
    scores = points.threshold[1:]
    if len(scores) == 0 or scores[0] > 1 or scores[-1] < 0:
        raise InputError(
            f"a decision curve needs predicted probabilities, got scores from {scores.min():g} to {scores.max():g}"
        )
    rule = "the probability from which one acts is at least 0 and below 1"
    chance = np.arange(100) / 100 if probability is None else unit_values(probability, rule)
    if (chance == 1).any():
        raise InputError(f"{rule}, got 1")
    cut = np.searchsorted(-points.threshold, -chance, side="right") - 1  # the last cut at or above
    rows = points.positives + points.negatives
    odds = chance / (1 - chance)
    model = points.true_positives[cut] / rows - points.false_positives[cut] / rows * odds
    everyone = points.positives / rows - points.negatives / rows * odds
    return DecisionCurve(probability=chance, model=model, everyone=everyone, nobody=np.zeros(chance.shape))
