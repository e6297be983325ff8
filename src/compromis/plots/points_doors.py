"""The doors of the displays of operating points: points, scores or fitted classifiers, one or several by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from numpy.typing import ArrayLike

from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.plots.notebook import ShownInNotebooks
from compromis.tradeoffs.comparison import check_algorithms

ONE = "model"
"""What a single model without a name is called."""


class PointsDisplay(ShownInNotebooks):
    """What displays of operating points share: their doors.

    Parameters
    ----------
    points : mapping
        The operating points of each model by name.
    """

    ax_: Any
    figure_: Any

    def __init__(self, points: Mapping[str, OperatingPoints]) -> None:
        check_algorithms(points, type(self).__name__)
        self.points = dict(points)
        for name, one in self.points.items():
            if not one.positives:
                raise InputError(f"{name!r} cannot be drawn: {one.reason}")

    @property
    def pos_label(self) -> Any:
        """The class that is positive."""
        return next(iter(self.points.values())).pos_label

    @classmethod
    def from_points(
        cls,
        points: OperatingPoints | Mapping[str, OperatingPoints],
        *,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw operating points of one model, or of several by name.

        Parameters
        ----------
        points : OperatingPoints or mapping
            Cuts of a score, or found groups.
        name : str, optional
            What a single model is called.
        ax : matplotlib axes, optional
            Where to draw.
        **options
            Further parameters of the display.
        """
        named = {name or ONE: points} if isinstance(points, OperatingPoints) else points
        return cls(named, **options).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the cuts of a score, or of several scores by name.

        Parameters
        ----------
        y_true : labels
            The true classes.
        y_score : array-like or mapping
            One number per row, higher for the positive class; or such columns by the names of models.
        pos_label, sample_weight
            As for `OperatingPoints.from_predictions`.
        name, ax, **options
            As for `from_points`.
        """
        scores = y_score if isinstance(y_score, Mapping) else {name or ONE: y_score}
        points = {
            model: OperatingPoints.from_predictions(y_true, score, pos_label=pos_label, sample_weight=sample_weight)
            for model, score in scores.items()
        }
        return cls.from_points(points, ax=ax, **options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the cuts of a fitted classifier's scores, or of several classifiers by name.

        Parameters
        ----------
        estimator : classifier or mapping
            As for `OperatingPoints.from_estimator`; or fitted classifiers by name.
        X, y : rows and their true classes
            Rows that no classifier has seen.
        pos_label, sample_weight
            As for `OperatingPoints.from_estimator`.
        name, ax, **options
            As for `from_points`; without a name the class of the estimator is taken.
        """
        models = estimator if isinstance(estimator, Mapping) else {name or type(estimator).__name__: estimator}
        points = {
            model: OperatingPoints.from_estimator(one, X, y, pos_label=pos_label, sample_weight=sample_weight)
            for model, one in models.items()
        }
        return cls.from_points(points, ax=ax, **options)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        raise NotImplementedError
