"""Errors of class distributions as Weka defines them, and the training shares they are relative to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from compromis._typing import Floats, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts, ratio
from compromis.evidence.readers import read_class_numbers
from compromis.evidence.scores import DistributionErrors


@dataclass(frozen=True, slots=True, kw_only=True)
class WekaErrors:
    """Weka's four errors; the relative ones are shares of the errors that the training priors alone would make."""

    mean_absolute: float
    root_mean_squared: float
    relative_absolute: float
    root_relative_squared: float


def weka_errors(errors: DistributionErrors, priors: Floats) -> WekaErrors:
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
    above, below = (errors.absolute, errors.squared) * 2, (cells, cells, *prior_errors(errors, priors))
    mean, squared, relative, relative_squared = ratio(above, below).tolist()
    return WekaErrors(
        mean_absolute=mean,
        root_mean_squared=math.sqrt(squared),
        relative_absolute=relative,
        root_relative_squared=math.sqrt(relative_squared),
    )


def prior_errors(errors: DistributionErrors, priors: Floats) -> tuple[float, float]:
    """Return the sums of absolute and squared errors that `priors` alone would make on the same rows; see `weka_errors`."""
    by_prior = float(errors.support @ (priors.sum() - priors + np.abs(1 - priors)))
    return by_prior, float(errors.support @ (priors @ priors - priors**2 + (1 - priors) ** 2))


def smoothed_shares(counts: Counts) -> Floats:
    """Return (support + 1) / (N + K) of each class."""
    return (counts.support + 1.0) / (counts.total + len(counts.classes))


def read_priors(priors: Mapping[Any, float] | Sequence[float], classes: Sequence[Label]) -> Floats:
    """Return checked training shares of the classes, in their order."""
    shares = read_class_numbers(priors, classes, name="priors", noun="training share")
    if not (np.all(np.isfinite(shares)) and np.all(shares >= 0) and abs(shares.sum() - 1) < 1e-6):
        raise InputError(
            f"priors are shares that sum to 1, got a sum of {shares.sum():g}; "
            "count them in the training labels, as training_priors does",
            parameter="priors",
        )
    return shares
