"""What the laws draw: small inputs with ties, absent classes, few distinct scores, and hostile labels."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import compromis as cp

CLASSES = ("a", "b", "c")

labels = st.one_of(
    st.lists(st.text(min_size=1, max_size=6), min_size=2, max_size=4, unique=True),
    st.lists(st.integers(-(2**53), 2**53), min_size=2, max_size=4, unique=True),
)
"""Two to four classes: any text, or integers that a float holds exactly."""

seeds = st.integers(0, 2**32 - 1)
metrics = st.sampled_from(list(cp.metrics.METRICS))
shares = st.floats(0, 1)
confidences = st.floats(0.5, 0.99)
class_names = st.sampled_from(CLASSES)

predicted_rows = st.lists(st.tuples(class_names, class_names), min_size=1, max_size=20)
"""Rows of (truth, decision); short lists lack classes."""

weighted_rows = st.lists(st.tuples(class_names, class_names, st.integers(0, 3)), min_size=1, max_size=15).filter(
    lambda rows: any(weight for *_, weight in rows)
)
"""Rows of (truth, decision, a whole weight that may be 0)."""

any_scored_rows = st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=1, max_size=20)
"""Rows of (is positive, score) with many ties; there may be rows of one kind only."""

scored_rows = any_scored_rows.filter(lambda rows: len({flag for flag, _ in rows}) == 2)
"""The same, with rows of both kinds."""

vote_rows = st.lists(st.tuples(st.tuples(*[st.integers(0, 4)] * 3).filter(any), class_names), min_size=1, max_size=12)
"""Rows of (votes for a, b and c with ties, truth)."""

tunable_rows = vote_rows.filter(lambda rows: len({truth for _, truth in rows}) > 1)
"""The same, with at least two classes, so that there is something to trade off."""

positive_weights = st.lists(st.floats(0.05, 20), min_size=3, max_size=3)

numbers = st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda x: round(x, 3))
number_pairs = st.lists(st.tuples(numbers, numbers), min_size=2, max_size=20)

answers = st.sampled_from([0.1, 0.3, 0.5, 0.8, 0.9])
minima = st.sampled_from([None, None, 0.25, 0.5, 0.75])


comparable_metrics = st.sampled_from(["kulczynski", "f", "fowlkes_mallows"])
"""Under the fourth, losses of classes with different recall weights are not comparable, which is a warning."""


@st.composite
def any_preferences(draw, of=CLASSES, minimum=minima, metric=comparable_metrics):
    """Preferences for some of the classes, under any metric that compares classes."""
    one = st.builds(
        cp.Preference, st.sampled_from([0.5, 1.0, 10.0]), answers, answers, min_precision=minimum, min_recall=minimum
    )
    chosen = draw(st.lists(st.sampled_from(of), unique=True))
    return cp.Preferences({label: draw(one) for label in chosen}, draw(one), draw(metric))


def columns_of(rows):
    """Return rows of tuples as columns."""
    return [list(column) for column in zip(*rows, strict=True)]


def points_of(rows):
    """Return the operating points of rows of (is positive, score)."""
    flags, scores = columns_of(rows)
    return cp.OperatingPoints.from_predictions(flags, scores, pos_label=True)


def repeated(rows):
    """Return rows of (..., weight) with each row as often as it weighs, without the weight."""
    return [row[:-1] for row in rows for _ in range(row[-1])]


def shuffled(rows, seed):
    """Return rows in another order."""
    return [rows[place] for place in np.random.default_rng(seed).permutation(len(rows))]


def same(first, second, tolerance=1e-12):
    """Whether two arrays of numbers are equal up to rounding, NaN at the same places."""
    return np.allclose(
        np.asarray(first, dtype=float), np.asarray(second, dtype=float), rtol=tolerance, atol=tolerance, equal_nan=True
    )
