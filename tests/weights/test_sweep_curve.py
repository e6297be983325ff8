"""The sweep of one class's weight: every cell between two flips, or the ratios asked for."""

from __future__ import annotations

import numpy as np
import pytest

from compromis.errors import InputError
from compromis.preferences import Preferences
from compromis.weights import weight_sweep
from tests import naive_weights as naive
from tests.weights.test_search import three_classes


@pytest.mark.parametrize("smoothing", [0.0, 0.4])
def test_weight_sweep_is_the_counting_of_each_ratio(smoothing):
    votes, y = three_classes(rows=80)
    preferences = Preferences.prioritise([2])
    sweep = weight_sweep(y, votes, label=2, preferences=preferences, smoothing=smoothing, weights=[1.0, 2.0, 1.5])
    assert sweep.exact
    assert (np.diff(sweep.ratio) > 0).all()
    for point, ratio in enumerate(sweep.ratio):
        counts = naive.matrix(y, naive.decide(votes, [1, 2, 1.5 * ratio], smoothing), np.ones(80), 3)
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(sweep.recall[point], counts.diagonal() / counts.sum(axis=1))
            np.testing.assert_allclose(sweep.precision[point], counts.diagonal() / counts.sum(axis=0))
        assert sweep.errors[point] == 80 - counts.trace()
        assert sweep.loss[point] == pytest.approx(naive.value(counts, preferences.on(range(3)))[1])
    grid = weight_sweep(
        y, votes, label=2, preferences=preferences, smoothing=smoothing, weights=[1.0, 2.0, 1.5], ratios=sweep.ratio
    )
    np.testing.assert_array_equal(grid.loss, sweep.loss)
    assert not grid.exact
    assert (np.diff(sweep.recall[:, 2]) >= 0).all()
    assert (
        sweep.loss.min()
        == weight_sweep(
            y, votes, label=2, preferences=preferences, smoothing=smoothing, weights=[1, 2, 1.5], ratios=[sweep.best]
        ).loss[0]
    )


def test_weight_sweep_refuses():
    with pytest.raises(InputError, match="there is no class 'z'"):
        weight_sweep(["a", "b"], [[1, 2], [2, 1]], label="z")
    with pytest.raises(InputError, match="ratios are finite numbers above 0"):
        weight_sweep(["a", "b"], [[1, 2], [2, 1]], label="a", ratios=[0.0])


def test_a_weight_sweep_by_hand():
    """Cuts of the second class at 9, 4, 7/3 for a and 3/2 (twice), 1/4 for b, as in the docstring, and what lies between."""
    votes, truth = [[9, 1], [8, 2], [7, 3], [6, 4], [6, 4], [2, 8]], ["a", "a", "a", "b", "b", "b"]
    sweep = weight_sweep(truth, votes, label="b", labels=["a", "b"])
    flips = [1 / 4, 3 / 2, 7 / 3, 4, 9]
    low, high = [flips[0] / 4, *flips], [*flips, flips[-1] * 4]
    np.testing.assert_allclose(sweep.ratio, np.sqrt(np.multiply(low, high)))
    assert sweep.errors.tolist() == [3, 2, 0, 1, 2, 3]
    np.testing.assert_allclose(sweep.recall, [[1, 0], [1, 1 / 3], [1, 1], [2 / 3, 1], [1 / 3, 1], [0, 1]])
    assert sweep.best == sweep.ratio[2]
    assert (sweep.label, sweep.classes, sweep.exact) == ("b", ("a", "b"), True)
    twice = weight_sweep(truth, votes, label="b", labels=["a", "b"], weights=[1.0, 2.0])
    np.testing.assert_allclose(twice.ratio, sweep.ratio / 2)
    weighted = weight_sweep(truth, votes, label="b", labels=["a", "b"], sample_weight=[1, 1, 1, 2, 3, 1])
    assert weighted.errors.tolist() == [6, 5, 0, 1, 2, 3]


def test_a_weight_that_flips_nothing():
    alone = weight_sweep(["a", "b"], [[1.0, 0.0], [0.0, 1.0]], label="a")
    assert (alone.ratio.tolist(), alone.errors.tolist()) == ([1.0], [0.0])
    for wrong in ([], [1.0, -1.0], [np.inf], [np.nan]):
        with pytest.raises(InputError, match="ratios are finite numbers above 0, at least one"):
            weight_sweep(["a", "b"], [[1.0, 0.0], [0.0, 1.0]], label="a", ratios=wrong)
