"""Learning and complexity curves drawn, with their verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from compromis.model_selection.curves import (
    ComplexityCurve,
    LearningCurve,
    complexity_curve,
    preference_learning_curve,
)
from compromis.plots._base import ALARM, DARK, LIGHT, QUIET, Display, plain_names, tidy

STEEP = 30
"""Losses that span more than this factor are drawn on a logarithmic scale."""
ALONG = 64
"""The letters that fit below an axis, all its values together."""


class PreferenceLearningCurveDisplay(Display):
    """The loss on training rows beside the loss on new rows, by number of training rows or by a parameter.

    Parameters
    ----------
    curve : LearningCurve or ComplexityCurve
        The numbers, from `compromis.model_selection.preference_learning_curve` or `compromis.model_selection.complexity_curve`.

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> curve = cp.model_selection.preference_learning_curve(LinearRegression(), X, X @ [3.0, 1.0])
    >>> display = cp.plots.PreferenceLearningCurveDisplay(curve).plot()
    >>> display.ax_.figure is display.figure_
    True
    """

    def __init__(self, curve: LearningCurve | ComplexityCurve) -> None:
        self.curve = curve

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        parameter: str | None = None,
        values: Sequence[Any] | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Fit the estimator on folds and draw its curve: over a parameter's values where they are given, else over sizes.

        The parameters are those of `compromis.model_selection.complexity_curve` and `preference_learning_curve`.
        """
        if parameter is None:
            return cls(preference_learning_curve(estimator, X, y, **options)).plot(ax=ax)
        return cls(complexity_curve(estimator, X, y, parameter=parameter, values=values or (), **options)).plot(ax=ax)

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the numbers of the curve."""
        return self.curve.columns()

    @property
    def caption(self) -> str:
        """The verdict on the curve."""
        return f"{self.curve.verdict.sentence}."

    def _draw(self, ax: Any) -> None:
        ax = self._begin(ax)
        curve, losses = self.curve, self.curve.losses
        at = np.arange(len(curve.positions)) if isinstance(curve, ComplexityCurve) else np.array(curve.positions)
        styles = (
            (losses.train, LIGHT, "o--", "white", "training rows"),
            (losses.validation, DARK, "s-", DARK, "new rows (validation)"),
        )
        for values, colour, line, face, name in styles:
            mean, error = values.mean(axis=1), losses.standard_error(values)
            ax.plot(at, mean, line, color=colour, markerfacecolor=face, markersize=6, linewidth=1.8, label=name)
            ax.fill_between(
                at, np.maximum(mean - error, mean / 10), mean + error, color=colour, alpha=0.15, linewidth=0
            )
        ax.axhline(losses.naive_mean, color=QUIET, linestyle=":", linewidth=1.4, label="without a model")
        self._scale(ax)
        if isinstance(curve, ComplexityCurve):
            self._mark_fits(ax, curve)
        ax.set(xlabel=curve.axis, ylabel=curve.error)
        ax.legend(fontsize=9, framealpha=0.85, edgecolor="none")
        tidy(ax)

    def _scale(self, ax: Any) -> None:
        losses = self.curve.losses
        means = np.concatenate([losses.train_mean, losses.validation_mean, [losses.naive_mean]])
        if means.min() > 0 and means.max() > STEEP * means.min():
            ax.set_yscale("log")
        else:
            ax.set_ylim(bottom=0)
            ax.margins(y=0.15)

    def _mark_fits(self, ax: Any, curve: ComplexityCurve) -> None:
        ticks = [f"{value:g}" if isinstance(value, float) else str(value) for value in curve.values]
        ax.set_xticks(range(len(ticks)), plain_names(ticks, max(ALONG // len(ticks), 6)))
        ax.margins(x=0.12)
        crowded = len(curve.values) > 8
        for number, (fit, height) in enumerate(zip(curve.fits, curve.losses.validation_mean, strict=True)):
            good = fit.state == "good"
            ax.annotate(
                fit.state[:1] if crowded else fit.state, (number, height), xytext=(0, 9), textcoords="offset points",
                ha="center", fontsize=9, fontweight="bold" if good else "normal", color=DARK if good else ALARM,
                bbox={"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 1},
            )  # fmt: skip
