"""Predicted numbers drawn against true ones, and what is left over."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._arrays import make_frame
from compromis.evidence.residuals import check_same_targets, read_targets
from compromis.plots._base import ALARM, DARK, ShownInNotebooks, new_axes, tidy

CROWDED = 5_000
"""More points than this are drawn as shades of density."""


class _PairDisplay(ShownInNotebooks):
    """What both displays share: pairs of true and predicted numbers."""

    ax_: Any
    figure_: Any

    def __init__(self, truth: NDArray[np.float64], prediction: NDArray[np.float64]) -> None:
        self.truth = truth
        self.prediction = prediction

    @classmethod
    def from_predictions(cls, y_true: Any, y_pred: Any, *, ax: Any = None) -> Any:
        """Draw true and predicted numbers; `ax` are matplotlib's axes to draw on."""
        truth, prediction = read_targets(y_true, "y_true"), read_targets(y_pred, "y_pred")
        check_same_targets(y_true, y_pred, truth, prediction)
        return cls(truth, prediction).plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
        """Draw what a fitted regressor predicts for `X` beside the true `y`."""
        return cls.from_predictions(y, estimator.predict(X), ax=ax)

    def frame(self, backend: str | None = None) -> Any:
        """Return true values, predictions and residuals as a data frame."""
        columns = {"truth": self.truth, "prediction": self.prediction, "residual": self.prediction - self.truth}
        return make_frame({name: values.tolist() for name, values in columns.items()}, backend)

    def plot(self, ax: Any = None) -> Any:
        """Draw on `ax`, or on a new figure."""
        raise NotImplementedError

    def _points(self, across: NDArray[np.float64], up: NDArray[np.float64]) -> None:
        if len(across) > CROWDED:
            from matplotlib import colormaps
            from matplotlib.colors import ListedColormap

            visible = ListedColormap(
                colormaps["Blues"](np.linspace(0.3, 1, 200))
            )  # a single row must not vanish on white
            self.ax_.hexbin(across, up, gridsize=50, mincnt=1, bins="log", cmap=visible, linewidths=0.1)
        else:
            size = 26 if len(across) < 300 else 12
            self.ax_.scatter(across, up, s=size, color=DARK, alpha=0.55, linewidths=0)


class PredictedAgainstTrueDisplay(_PairDisplay):
    """Predictions against the truth: on the diagonal they are right, above it too high.

    Parameters
    ----------
    truth, prediction : ndarray
        Pairs of numbers.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import compromis as cp
    >>> display = cp.plots.PredictedAgainstTrueDisplay.from_predictions([1.0, 2.0, 3.0], [1.1, 1.9, 3.4])
    >>> display.frame("pandas").shape[0]
    3
    """

    def plot(self, ax: Any = None) -> PredictedAgainstTrueDisplay:
        """Draw on `ax`, or on a new figure."""
        self.ax_ = new_axes(ax, (5.0, 5.0))
        self.figure_ = self.ax_.figure
        self._points(self.truth, self.prediction)
        low, high = (float(pick([pick(self.truth), pick(self.prediction)])) for pick in (np.min, np.max))
        self.ax_.plot([low, high], [low, high], color=ALARM, linestyle="--", linewidth=1.4, label="right")
        self.ax_.set_aspect("equal", adjustable="datalim")
        self.ax_.set_xlabel("true")
        self.ax_.set_ylabel("predicted")
        self.ax_.legend(frameon=False, loc="upper left")
        tidy(self.ax_)
        return self


class ResidualDisplay(_PairDisplay):
    """What predictions are off by, against the prediction: a pattern here is something the model did not learn.

    Parameters
    ----------
    truth, prediction : ndarray
        Pairs of numbers.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import compromis as cp
    >>> display = cp.plots.ResidualDisplay.from_predictions([1.0, 2.0, 3.0], [1.1, 1.9, 3.4])
    >>> display.frame("pandas").shape[0]
    3
    """

    def plot(self, ax: Any = None) -> ResidualDisplay:
        """Draw on `ax`, or on a new figure."""
        self.ax_ = new_axes(ax)
        self.figure_ = self.ax_.figure
        self._points(self.prediction, self.prediction - self.truth)
        self.ax_.axhline(0, color=ALARM, linestyle="--", linewidth=1.4)
        self.ax_.set_xlabel("predicted")
        self.ax_.set_ylabel("predicted - true\n(above 0: too high)")
        tidy(self.ax_)
        return self
