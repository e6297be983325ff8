"""Errors of class distributions as Weka defines them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Label
from compromis.errors import InputError
from compromis.evidence import Counts
from compromis.evidence.inputs import read_class_numbers
from compromis.evidence.scores import DistributionErrors


@dataclass(frozen=True, slots=True)
class WekaErrors:
    """Weka's four errors; the relative ones are shares of the errors that the training priors alone would make."""

    mean_absolute: float
    root_mean_squared: float
    relative_absolute: float
    root_relative_squared: float


def weka_errors(errors: DistributionErrors, priors: NDArray[np.float64]) -> WekaErrors:
    """Return Weka's errors.

    Parameters
    ----------
    errors : DistributionErrors
        The sums over rows.
    priors : ndarray
        The shares of the classes in the TRAINING rows, (count + 1) / (N + K).

    Notes
    -----
    Means run over rows and classes. The priors' own errors follow from the supports: a row of class t has
    absolute error (1 - q_t) + sum of the other q, squared error sum q^2 - q_t^2 + (1 - q_t)^2.
    """
    cells = float(errors.support.sum()) * len(priors)
    by_prior, by_prior_squared = prior_errors(errors, priors)
    return WekaErrors(
        _divide(errors.absolute, cells),
        math.sqrt(_divide(errors.squared, cells)),
        _divide(errors.absolute, by_prior),
        math.sqrt(_divide(errors.squared, by_prior_squared)),
    )


def prior_errors(errors: DistributionErrors, priors: NDArray[np.float64]) -> tuple[float, float]:
    """Return the sums of absolute and squared errors that `priors` alone would make on the same rows; see `weka_errors`."""
    by_prior = float(errors.support @ (priors.sum() - priors + np.abs(1 - priors)))
    return by_prior, float(errors.support @ (priors @ priors - priors**2 + (1 - priors) ** 2))


def smoothed_shares(counts: Counts) -> NDArray[np.float64]:
    """Return (support + 1) / (N + K) of each class."""
    return (counts.support + 1.0) / (counts.total + len(counts.classes))


def read_priors(priors: Mapping[Any, float] | Sequence[float], classes: Sequence[Label]) -> NDArray[np.float64]:
    """Return checked training shares of the classes, in their order."""
    shares = read_class_numbers(priors, classes, name="priors", noun="training share")
    if not (np.all(np.isfinite(shares)) and np.all(shares >= 0) and abs(shares.sum() - 1) < 1e-6):
        raise InputError(
            f"priors are shares that sum to 1, got a sum of {shares.sum():g}; "
            "for labels use compromis.model_selection.training_priors(y_train)"
        )
    return shares


def _divide(above: float, below: float) -> float:
    return above / below if below else math.nan
