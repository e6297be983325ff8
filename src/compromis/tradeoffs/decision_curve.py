"""Decision curves: the net benefit of acting on a predicted probability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._typing import Floats
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints


@dataclass(frozen=True, slots=True, eq=False)
class DecisionCurve:
    """Net benefit over the probability from which one acts.

    Attributes
    ----------
    probability : ndarray
        The probabilities from which one would act.
    model, everyone, nobody : ndarray
        The net benefit, in true positives per row, of acting by the model, on every row, and on none (0).

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 0], [0.9, 0.6, 0.7, 0.2])
    >>> curve = cp.decision_curve(points, [0.5])
    >>> curve.model.tolist(), curve.everyone.tolist()  # (2 - 1 x odds 1) / 4, and (2 - 2) / 4
    ([0.25], [0.0])
    """

    probability: Floats
    model: Floats
    everyone: Floats
    nobody: Floats

    @property
    def useful(self) -> NDArray[np.bool_]:
        """Where acting by the model beats acting on every row and on none."""
        return self.model > np.maximum(self.everyone, self.nobody)

    def frame(self) -> dict[str, list[float]]:
        """Return the curves as columns."""
        return {name: getattr(self, name).tolist() for name in ("probability", "model", "everyone", "nobody")}


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
    chance = np.arange(100) / 100 if probability is None else np.asarray(probability, dtype=np.float64)
    if not ((chance >= 0) & (chance < 1)).all():
        raise InputError("the probability from which one acts is at least 0 and below 1; give such values")
    cut = np.searchsorted(-points.threshold, -chance, side="right") - 1  # the last cut at or above
    rows = points.positives + points.negatives
    odds = chance / (1 - chance)
    model = points.true_positives[cut] / rows - points.false_positives[cut] / rows * odds
    everyone = points.positives / rows - points.negatives / rows * odds
    return DecisionCurve(chance, model, everyone, np.zeros(chance.shape))
