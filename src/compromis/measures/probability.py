"""Errors of class distributions as Weka defines them, and the training shares they are relative to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts, ratio
from compromis.evidence.readers import read_class_numbers


@dataclass(frozen=True, slots=True, eq=False)
class DistributionErrors:
    """Sums over rows and classes of the errors of predicted distributions against the 0/1 truth."""

    absolute: float
    squared: float
    support: Floats
    """The rows (or weights) of each true class."""

    @classmethod
    def from_distributions(cls, truth: Ints, distributions: Floats, weight: Floats | None) -> DistributionErrors:
        """Sum the errors of each row's distribution; `truth` holds positions of classes."""
        errors = distributions.copy()
        errors[np.arange(len(truth)), truth] -= 1
        absolute = np.abs(errors).sum(axis=1)
        squared = np.einsum("ij,ij->i", errors, errors)
        weights = np.ones(len(truth)) if weight is None else weight
        support: Floats = np.bincount(truth, weights=weights, minlength=distributions.shape[1]).astype(np.float64)
        # not a product of vectors: its rounding depends on the threads it gets
        return cls(float((absolute * weights).sum()), float((squared * weights).sum()), support)

    @classmethod
    def from_counts(cls, counts: Counts) -> DistributionErrors:
        """Take each decision for a distribution of 0 and 1: an error then counts twice, once for each class concerned."""
        errors = 2.0 * float(counts.total - counts.matrix.trace())
        return cls(errors, errors, counts.support.astype(np.float64))


def weka_errors(errors: DistributionErrors, by_priors: tuple[float, float]) -> dict[str, float]:
    """Return Weka's errors by name: means over rows and classes, and shares of the errors `by_priors`, those of `prior_errors`."""
    cells = float(errors.support.sum()) * len(errors.support)
    above, below = (errors.absolute, errors.squared) * 2, (cells, cells, *by_priors)
    mean, squared, relative, relative_squared = ratio(above, below).tolist()
    return {
        "mean_absolute_error": mean,
        "root_mean_squared_error": math.sqrt(squared),
        "relative_absolute_error": relative,
        "root_relative_squared_error": math.sqrt(relative_squared),
    }


def prior_errors(errors: DistributionErrors, priors: Floats) -> tuple[float, float]:
    """Return the sums of absolute and squared errors that the training shares `priors` alone would make on the same rows.

    Notes
    -----
    They follow from the supports: a row of class t has the absolute error (1 - q_t) + sum of the other q, the squared error
    sum q^2 - q_t^2 + (1 - q_t)^2.
    """
    absolute = float(errors.support @ (priors.sum() - priors + np.abs(1 - priors)))
    return absolute, float(errors.support @ (priors @ priors - priors**2 + (1 - priors) ** 2))


def smoothed_shares(counts: Counts) -> Floats:
    """Return (support + 1) / (N + K) of each class."""
    return (counts.support + 1.0) / (counts.total + len(counts.classes))


def read_priors(priors: Mapping[Any, float] | Sequence[float], classes: Sequence[Label]) -> Floats:
    """Return checked training shares of the classes, in their order."""
    shares = read_class_numbers(priors, classes, name="priors", noun="training share")
    total = float(np.minimum(shares, 1e9).sum())  # beyond floats it would be
    if not ((shares >= 0).all() and abs(total - 1) < 1e-6):
        raise InputError(
            f"priors are shares that sum to 1, got a sum of {total:g}; "
            "count them in the training labels, as training_priors does",
            parameter="priors",
        )
    return shares
