"""What a test of two classes is good for: all numbers worked out by hand."""

from __future__ import annotations

import compromis as cp
from compromis.measures.screening import screening


def even(metric="kulczynski", **options):
    """Preferences of recall weight 1/2 for two classes that count alike."""
    return cp.Preferences(default=cp.Preference(recall_weight=0.5, **options), metric=metric).on(("a", "b"))


def counts_of(matrix, classes=("a", "b")):
    return cp.Counts.from_matrix(matrix, list(classes))


def test_screening_at_its_borders():
    """'well' right in 19 of 20, 'sick' in 9 of 10: just good enough for both."""
    just = str(screening(counts_of([[9, 1], [1, 19]], ("sick", "well")), None))
    assert just == (
        "Taking 'sick' as the condition looked for: a decision for 'well' is right in 95.0 %, so it is good for screening; "
        "a decision for 'sick' is right in 90.0 %, so it is good for diagnosis. Of 1,000 rows 333 are predicted 'sick'."
    )
    less = str(screening(counts_of([[8, 1], [1, 18]], ("sick", "well")), None))
    assert "94.7 %, so it is poor for screening" in less
    assert "88.9 %, so it is poor for diagnosis" in less


def test_a_negative_decision_halves_the_risk():
    """1 of 32 predicted well are sick; 4 of 64 rows are sick, exactly twice as many, or 4 of 80."""
    assert "good for screening" in str(screening(counts_of([[3, 1], [29, 31]], ("sick", "well")), None))
    assert "poor for screening" in str(screening(counts_of([[3, 1], [45, 31]], ("sick", "well")), None))


def test_the_condition_looked_for():
    rows = counts_of([[9, 1], [3, 1]])
    assert screening(rows, None).positive == "b"
    assert screening(rows, even()).positive == "b"
    assert screening(rows, cp.Preferences.prioritise(["a"], metric="kulczynski").on("ab")).positive == "a"
    assert "'a' is never predicted" in str(screening(counts_of([[0, 9], [0, 1]]), None))
