"""Predicted numbers drawn against true ones, and what is left over."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from compromis._typing import Floats
from compromis.evidence.residuals import check_same_targets, read_targets
from compromis.plots._base import ALARM, DARK, Display, tidy

CROWDED = 5_000
"""More points than this are drawn as shades of density."""


class _PairDisplay(Display):
    """What both displays share: pairs of true and predicted numbers.

    Parameters
    ----------
    truth, prediction : ndarray
        Pairs of numbers.
    """

    def __init__(self, truth: Floats, prediction: Floats) -> None:
        self.truth = truth
        self.prediction = prediction

    @classmethod
    def from_predictions(cls, y_true: Any, y_pred: Any, *, ax: Any = None) -> Self:
        """Draw true and predicted numbers; `ax` are matplotlib's axes to draw on."""
        truth, prediction = read_targets(y_true, "y_true"), read_targets(y_pred, "y_pred")
        check_same_targets(y_true, y_pred, truth, prediction)
        return cls(truth, prediction).plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> Self:
        """Draw what a fitted regressor predicts for `X` beside the true `y`."""
        return cls.from_predictions(y, estimator.predict(X), ax=ax)

    def columns(self) -> dict[str, list[Any]]:
        """Return true values, predictions and residuals."""
        columns = {"truth": self.truth, "prediction": self.prediction, "residual": self.prediction - self.truth}
        return {name: values.tolist() for name, values in columns.items()}

    def _draw_points(self, ax: Any, across: Floats, up: Floats) -> None:
        if len(across) > CROWDED:
            from matplotlib import colormaps
            from matplotlib.colors import ListedColormap

            # from 0.3 on, as a single row must not vanish on white
            visible = ListedColormap(colormaps["Blues"](np.linspace(0.3, 1, 200)))
            ax.hexbin(across, up, gridsize=50, mincnt=1, bins="log", cmap=visible, linewidths=0.1)
        else:
            size = 26 if len(across) < 300 else 12
            ax.scatter(across, up, s=size, color=DARK, alpha=0.55, linewidths=0)


class PredictedAgainstTrueDisplay(_PairDisplay):
    """Predictions against the truth: on the diagonal they are right, above it too high.

    Examples
    --------
    >>> import compromis as cp
    >>> display = cp.plots.PredictedAgainstTrueDisplay.from_predictions([1.0, 2.0, 3.0], [1.1, 1.9, 3.4])
    >>> display.to_frame("pandas").shape[0]
    3
    """

    def _draw(self, ax: Any) -> None:
        ax = self._begin(ax, (5.0, 5.0))
        self._draw_points(ax, self.truth, self.prediction)
        low, high = (float(pick([pick(self.truth), pick(self.prediction)])) for pick in (np.min, np.max))
        ax.plot([low, high], [low, high], color=ALARM, linestyle="--", linewidth=1.4, label="right")
        ax.set_aspect("equal", adjustable="datalim")
        ax.set(xlabel="true", ylabel="predicted")
        ax.legend(frameon=False, loc="upper left")
        tidy(ax)


class ResidualDisplay(_PairDisplay):
    """What predictions are off by, against the prediction: a pattern here is something the model did not learn.

    Examples
    --------
    >>> import compromis as cp
    >>> display = cp.plots.ResidualDisplay.from_predictions([1.0, 2.0, 3.0], [1.1, 1.9, 3.4])
    >>> display.to_frame("pandas").shape[0]
    3
    """

    def _draw(self, ax: Any) -> None:
        ax = self._begin(ax)
        self._draw_points(ax, self.prediction, self.prediction - self.truth)
        ax.axhline(0, color=ALARM, linestyle="--", linewidth=1.4)
        ax.set(xlabel="predicted", ylabel="predicted - true\n(above 0: too high)")
        tidy(ax)
