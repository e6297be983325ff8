"""Does a model generalise? Losses on training rows beside losses on new rows, and what the course says of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from compromis._typing import Floats

OVERFITS = 0.5
"""A training loss below this share of the loss on new rows says that rows were learnt by heart."""
UNDERFITS = 0.5
"""A training loss above this share of the naive loss says that the model is too simple even for the rows it saw."""
HELPS = 0.02
"""Twice the rows must save this share of the naive loss to be worth asking for."""


@dataclass(frozen=True, slots=True)
class Fit:
    """What a model does with its training rows.

    Attributes
    ----------
    word : {"good", "underfits", "overfits", "uninformative"}
        The verdict.
    sentence : str
        The verdict with its reason and a cure.
    more_data : bool or None
        Whether more training rows would help; None where that was not looked at.
    """

    word: str
    sentence: str
    more_data: bool | None = None

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, eq=False)
class FoldLosses:
    """Losses of several models (or sizes) on the same folds.

    Attributes
    ----------
    train, validation : ndarray of shape (models, folds)
        The loss on the rows learnt from, and on the rows held out.
    naive : ndarray of shape (folds,)
        The loss on the held-out rows of the best decision (or prediction) without a model.
    test_ratio : float
        Held-out rows per row of the training folds.
    """

    train: Floats
    validation: Floats
    naive: Floats
    test_ratio: float

    @cached_property
    def train_mean(self) -> Floats:
        """The mean training loss of each model."""
        return np.asarray(self.train.mean(axis=1))

    @cached_property
    def validation_mean(self) -> Floats:
        """The mean loss of each model on new rows."""
        return np.asarray(self.validation.mean(axis=1))

    @cached_property
    def naive_mean(self) -> float:
        """The mean loss without a model."""
        return float(self.naive.mean())

    def standard_error(self, values: Floats) -> Floats:
        """The standard error of means over folds (last axis), corrected for the rows that folds share (Nadeau and Bengio 2003)."""
        folds = values.shape[-1]
        return np.asarray(values.std(axis=-1, ddof=1) * math.sqrt(1 / folds + self.test_ratio))


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """How training and validation loss change with the number of training rows, made by `compromis.learning_curve`.

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> curve = cp.learning_curve(LinearRegression(), X, X @ [3.0, 1.0])
    >>> curve.error, curve.verdict.word
    ('root mean squared error', 'good')
    """

    sizes: tuple[int, ...]
    losses: FoldLosses
    error: str
    """The name of the loss."""
    target: float | None = None
    """The loss that would be good enough, where the user said so."""

    axis = "training rows"

    @property
    def positions(self) -> tuple[int, ...]:
        """What stands along the horizontal axis."""
        return self.sizes

    @cached_property
    def verdict(self) -> Fit:
        """Whether the model underfits, overfits or is good, and whether more data would help."""
        helps, why = self._more_data()
        word, reason = self._fit()
        return Fit(word, f"{word}: {reason}; {why}", helps)

    def _fit(self) -> tuple[str, str]:
        losses = self.losses
        seen, unseen, naive = losses.train_mean[-1], losses.validation_mean[-1], losses.naive_mean
        gap = losses.validation[-1] - losses.train[-1]
        said = f"the {self.error} is {seen:.3g} on the training rows and {unseen:.3g} on new rows, {naive:.3g} without a model"
        clear = unseen >= naive or gap.mean() > max(losses.standard_error(gap), HELPS * naive)
        if seen < OVERFITS * unseen and clear:
            return "overfits", f"{said}; a simpler model or more regularisation may generalise better"
        if seen > (UNDERFITS * naive if self.target is None else self.target):
            return "underfits", f"{said}; a richer model or better features are needed, unless the noise is that large"
        if unseen >= naive:
            return "uninformative", f"{said}; on new rows it is no better than no model"
        return "good", said

    def _more_data(self) -> tuple[bool, str]:
        half = int(np.argmin(np.abs(np.array(self.sizes[:-1]) - self.sizes[-1] / 2)))
        saved = self.losses.validation[half] - self.losses.validation[-1]
        helps = bool(saved.mean() > self.losses.standard_error(saved) and saved.mean() > HELPS * self.losses.naive_mean)
        went = f"{'fell' if saved.mean() > 0 else 'rose'} by {abs(saved.mean()):.2g} on new rows"
        grew = f"from {self.sizes[half]:,} to {self.sizes[-1]:,} rows it {went}"
        return helps, f"more data would help: {grew}" if helps else f"more data would hardly help: {grew}"

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the numbers of the curve, one entry per size."""
        return {"training_rows": self.sizes, **_columns(self.losses)}


@dataclass(frozen=True, eq=False)
class ComplexityCurve:
    """How training and validation loss change with a parameter of the model, made by `compromis.complexity_curve`.

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> X = np.random.default_rng(0).uniform(size=(200, 1))
    >>> curve = cp.complexity_curve(KNeighborsRegressor(), X, np.sin(6 * X[:, 0]), parameter="n_neighbors", values=[100, 2])
    >>> curve.values, curve.recommended
    ((100, 2), 2)
    """

    parameter: str
    values: tuple[Any, ...]
    losses: FoldLosses
    error: str
    """The name of the loss."""

    @property
    def axis(self) -> str:
        """What the horizontal axis is called: the parameter without the steps of a pipeline."""
        return self.parameter.rpartition("__")[2]

    @property
    def positions(self) -> tuple[Any, ...]:
        """What stands along the horizontal axis."""
        return self.values

    @cached_property
    def best(self) -> int:
        """The position of the value with the least loss on new rows."""
        return int(self.losses.validation_mean.argmin())

    @cached_property
    def fits(self) -> tuple[Fit, ...]:
        """The verdict on each value.

        Notes
        -----
        Good is what is within one standard error of the best (Breiman, Friedman, Olshen and Stone 1984), and within two of
        the difference on the same folds, which tells more where folds differ in difficulty. What is worse on new rows
        underfits if it is also worse than the best on the rows it saw; else it overfits: it does better there, and worse
        where it counts.
        """
        return tuple(self._fit(place) for place in range(len(self.values)))

    @cached_property
    def recommended(self) -> Any:
        """The first value that is good: values are given from simple to rich."""
        return next(
            value for value, fit in zip(self.values, self.fits, strict=True) if fit.word in {"good", "uninformative"}
        )

    @cached_property
    def verdict(self) -> str:
        """All verdicts in one sentence."""
        by_word: dict[str, list[str]] = {}
        for value, fit in zip(self.values, self.fits, strict=True):
            by_word.setdefault(fit.word, []).append(_shown(value))
        parts = [f"{', '.join(values)} {word}" for word, values in by_word.items()]
        edge = ""
        if len(self.values) > 1 and self.best == len(self.values) - 1:
            edge = "; the best value is the last one, so try beyond it"
        return f"{self.axis}: " + "; ".join(parts) + edge

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the numbers of the curve, one entry per value."""
        return {self.axis: self.values, **_columns(self.losses), "fit": [fit.word for fit in self.fits]}

    def _fit(self, place: int) -> Fit:
        losses, best = self.losses, self.best
        seen, unseen = losses.train_mean, losses.validation_mean
        more = losses.validation[place] - losses.validation[best]
        margin = min(losses.standard_error(losses.validation[best]), 2 * losses.standard_error(more))
        said = f"the {self.error} is {seen[place]:.3g} on the training rows and {unseen[place]:.3g} on new rows"
        if unseen[best] >= losses.naive_mean:
            return Fit(
                "uninformative", f"uninformative: {said}, no better than {losses.naive_mean:.3g} without a model"
            )
        if unseen[place] <= unseen[best] + margin:
            return Fit("good", f"good: {said}")
        against = f"{seen[best]:.3g} and {unseen[best]:.3g} for {self.axis} {_shown(self.values[best])}"
        if seen[place] > seen[best]:
            return Fit("underfits", f"underfits: {said}, both worse than {against}")
        return Fit("overfits", f"overfits: {said}, against {against}")


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _columns(losses: FoldLosses) -> dict[str, Sequence[float]]:
    return {
        "training_loss": losses.train_mean.tolist(),
        "validation_loss": losses.validation_mean.tolist(),
        "training_standard_error": losses.standard_error(losses.train).tolist(),
        "validation_standard_error": losses.standard_error(losses.validation).tolist(),
    }
