"""The evaluation of a cross-validation: all folds pooled, each fold by itself, and the average over folds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from compromis.measures.probability import prior_errors
from compromis.reporting.evaluation import Evaluation
from compromis.reporting.summaries import Summary
from compromis.uncertainty.folds import FoldMean, fold_mean

AVERAGED = (
    "accuracy",
    "kappa",
    "balanced_accuracy",
    "matthews",
    "g_mean",
    "mean_absolute_error",
    "root_mean_squared_error",
    "relative_absolute_error",
    "root_relative_squared_error",
    "average_cost",
    "loss",
)


@dataclass(frozen=True, eq=False)
class CrossEvaluation(Evaluation):
    """The evaluation of a cross-validation, made by `compromis.cross_evaluate`.

    It is an `Evaluation` of the pooled test rows of all folds; `averages` has the means over folds.

    Attributes
    ----------
    folds : tuple of Evaluation
        The evaluation of each fold's test rows.
    train_rows, test_rows : tuple of int
        The rows of each fold.
    fit_seconds, predict_seconds : tuple of float
        What each fold took.
    untested : int
        Rows that no fold tests: the first ones where folds are ordered by time.
    repeats : float
        How often a tested row is tested, on average: 1 but for repeated cross-validation.
    optimism : float
        By how much the loss looks too good on the rows on which weights were chosen; NaN where none were chosen.
    level : float
        The confidence of the averages' intervals.

    Examples
    --------
    >>> import compromis as cp
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> result = cp.cross_evaluate(GaussianNB(), *load_iris(return_X_y=True), cv=5)
    >>> result.counts.rows, len(result.folds), result.test_rows
    (150, 5, (30, 30, 30, 30, 30))
    """

    folds: tuple[Evaluation, ...] = ()
    train_rows: tuple[int, ...] = ()
    test_rows: tuple[int, ...] = ()
    fit_seconds: tuple[float, ...] = ()
    predict_seconds: tuple[float, ...] = ()
    untested: int = 0
    repeats: float = 1.0
    optimism: float = math.nan
    level: float = 0.95

    @cached_property
    def summary(self) -> Summary:
        """The numbers of the pooled rows; relative errors compare with the training priors of each fold, as in Weka."""
        pooled = super().summary
        references = [prior_errors(fold.errors, fold.priors) for fold in self.folds]
        absolute, squared = (sum(part) for part in zip(*references, strict=True))
        return replace(
            pooled,
            relative_absolute_error=self.errors.absolute / absolute if absolute else math.nan,
            root_relative_squared_error=math.sqrt(self.errors.squared / squared) if squared else math.nan,
        )

    @cached_property
    def averages(self) -> Mapping[str, FoldMean]:
        """The mean over folds of each number of the summary (003), with its spread and corrected interval."""
        share = float(np.mean([test / train for test, train in zip(self.test_rows, self.train_rows, strict=True)]))
        named = {}
        for name in AVERAGED:
            values = [getattr(fold.summary, name) for fold in self.folds]
            if None not in values:
                named[name] = fold_mean(values, share, confidence=self.level)
        return MappingProxyType(named)

    def __str__(self) -> str:
        from compromis.reporting.folds_text import folds_section

        return super().__str__() + "\n" + folds_section(self)

    def __repr__(self) -> str:
        return super().__repr__().replace("<Evaluation", f"<CrossEvaluation in {len(self.folds)} folds")

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, folds and averages included."""
        from compromis.reporting.folds_json import folds_document

        return super().document() | {"cross_validation": folds_document(self)}
