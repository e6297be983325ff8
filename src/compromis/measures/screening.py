"""What a test of two classes is good for: screening, diagnosis, both or neither."""

from __future__ import annotations

import math
from dataclasses import dataclass

from compromis._text import per_thousand
from compromis._typing import Label
from compromis.evidence.counts import Counts
from compromis.measures.headline import classes_that_matter
from compromis.measures.rates import negative_predictive_value, precision
from compromis.preferences import PreferenceArrays

GOOD_NEGATIVE = 0.95
"""A negative prediction that is right this often excludes the condition."""
GOOD_POSITIVE = 0.90
"""A positive prediction that is right this often establishes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """What a test of two classes is good for, by the course; ``str()`` is its sentence."""

    positive: Label
    """The condition looked for."""
    negative: Label
    positive_value: float
    """The share of positive predictions that are right; NaN where there is none."""
    negative_value: float
    screens: bool
    """Whether a negative prediction excludes the condition."""
    diagnoses: bool
    """Whether a positive prediction establishes it."""
    alerts: float
    """How many of 1,000 rows are predicted to have it."""

    def __str__(self) -> str:
        return (
            f"Taking {self.positive!r} as the condition looked for: "
            f"{_decision(self.negative, self.negative_value)}, so it is {'good' if self.screens else 'poor'} for screening; "
            f"{_decision(self.positive, self.positive_value)}, so it is {'good' if self.diagnoses else 'poor'} for diagnosis. "
            f"Of 1,000 rows {per_thousand(self.alerts)} are predicted {self.positive!r}."
        )


def screening(counts: Counts, arrays: PreferenceArrays | None, pos_label: Label | None = None) -> Screening:
    """Return what the predictions of two classes are good for.

    The condition looked for is the one of `classes_that_matter`. A negative prediction must also
    halve the risk at least: where the condition is rare, 'no' is nearly always right, even at random.
    """
    (k,) = classes_that_matter(counts, arrays, pos_label)
    npv, ppv = float(negative_predictive_value(counts)[k]), float(precision(counts)[k])
    share = float(counts.support[k]) / counts.total
    return Screening(
        positive=counts.classes[k],
        negative=counts.classes[1 - k],
        positive_value=ppv,
        negative_value=npv,
        screens=npv >= GOOD_NEGATIVE and 1 - npv <= share / 2,
        diagnoses=ppv >= GOOD_POSITIVE,
        alerts=1000 * float(counts.predicted[k]) / counts.total,
    )


def _decision(label: Label, value: float) -> str:
    if math.isnan(value):
        return f"{label!r} is never predicted"
    return f"a decision for {label!r} is right in {100 * value:.1f} %"
