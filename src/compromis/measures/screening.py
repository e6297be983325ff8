"""What a test of two classes is good for: keeping a condition out, or establishing it."""

from __future__ import annotations

import math

from compromis._typing import Label
from compromis.evidence import Counts
from compromis.measures.rates import negative_predictive_value, precision
from compromis.preferences import PreferenceArrays

GOOD_NEGATIVE = 0.95
"""A negative decision that is right this often keeps the condition out."""
GOOD_POSITIVE = 0.90
"""A positive decision that is right this often establishes it."""


def positive_position(counts: Counts, arrays: PreferenceArrays | None) -> int:
    """Return which of two classes is the condition looked for: the more important one, else the rarer one."""
    if arrays is not None and arrays.importance[0] != arrays.importance[1]:
        return int(arrays.importance.argmax())
    return int(counts.support.argmin())


def screening_sentence(counts: Counts, arrays: PreferenceArrays | None) -> str:
    """Return the course's sentence on a test of two classes, from its negative and positive predictive values.

    Notes
    -----
    A negative decision must also halve the risk at least: where the condition is rare, 'no' is right nearly always,
    whoever says it.
    """
    k = positive_position(counts, arrays)
    positive, negative = counts.classes[k], counts.classes[1 - k]
    npv, ppv = float(negative_predictive_value(counts)[k]), float(precision(counts)[k])
    share = float(counts.support[k]) / counts.total
    screens = npv >= GOOD_NEGATIVE and 1 - npv <= share / 2
    for_screening, for_diagnosis = ("good" if good else "poor" for good in (screens, ppv >= GOOD_POSITIVE))
    return (
        f"Taking {positive!r} as the condition looked for: "
        f"{_decision(negative, npv)}, so it is {for_screening} for screening; "
        f"{_decision(positive, ppv)}, so it is {for_diagnosis} for diagnosis."
    )


def _decision(label: Label, value: float) -> str:
    return (
        f"{label!r} is never predicted"
        if math.isnan(value)
        else f"a decision for {label!r} is right in {100 * value:.1f} %"
    )
