"""Training shares of the classes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import compromis as cp
from compromis.measures.probability import read_priors


def test_priors_at_their_borders():
    assert read_priors([0.0, 1.0], "ab").tolist() == [0.0, 1.0]
    assert read_priors({"b": 0.25, "a": 0.75}, "ab").tolist() == [0.75, 0.25]
    assert read_priors([0.5, 0.5 + 9e-7], "ab").sum() == pytest.approx(1 + 9e-7)
    for wrong in ([0.5, 0.5 + 2e-6], [0.5, 0.5 - 2e-6], [-0.25, 1.25], [np.nan, 1.0], [0.2, 0.3, 0.5]):
        with pytest.raises(cp.InputError, match="priors"):
            read_priors(wrong, "ab")


def test_small_errors_keep_their_digits():
    """One row, shares 1 - e, e and 0: both classes are wrong by e, so the mean square is 2 e^2 / 3; a difference of squares loses it."""
    e = 2.0**-30
    result = cp.evaluate(["a"], ["a"], y_proba=[[1 - e, e, 0.0]], labels=["a", "b", "c"])
    assert result.summary.root_mean_squared_error == pytest.approx(e * math.sqrt(2 / 3), rel=1e-12)
