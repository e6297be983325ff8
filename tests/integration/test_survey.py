"""Estimates from stratified samples against samplics, a survey library: totals, rates and their standard errors."""

from __future__ import annotations

import numpy as np
import pytest

import compromis as cp
from compromis.uncertainty.report_intervals import sample_intervals

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("ignore")]
CLASSES = 3


def drawn(seed):
    """A stratified sample with a prediction and a true class per row."""
    rng = np.random.default_rng(seed)
    sizes = {"a": 4_000, "b": 900, "c": 150, "d": 60}
    names = np.repeat(list(sizes), [60, 50, 40, 30])
    predicted = rng.integers(0, CLASSES, len(names))
    truth = np.where(rng.random(len(names)) < 0.7, predicted, rng.integers(0, CLASSES, len(names)))
    return names, truth, predicted, cp.evidence.Sample.from_strata(names, sizes=sizes)


def estimated(param, y, x, names, weight):
    samplics = pytest.importorskip("samplics", reason="pip install samplics")
    estimator = samplics.TaylorEstimator(getattr(samplics.PopParam, param))
    given = {} if x is None else {"x": x.astype(float)}
    estimator.estimate(y=y.astype(float), samp_weight=weight, stratum=names, **given)
    return tuple(
        next(iter(part.values())) if isinstance(part, dict) else part
        for part in (estimator.point_est, estimator.stderror)
    )


@pytest.mark.parametrize("seed", range(5))
def test_totals_and_rates_are_those_of_samplics(seed):
    names, truth, predicted, sample = drawn(seed)
    counts = cp.Counts.from_predictions(truth, predicted, labels=range(CLASSES), sample=sample)
    rates = cp.evaluate(counts).per_class
    for k in range(CLASSES):
        for j in range(CLASSES):
            total, _ = estimated("total", (truth == k) & (predicted == j), None, names, sample.weight)
            assert counts.matrix[k, j] == pytest.approx(total, rel=1e-12)
        hit = (truth == k) & (predicted == k)
        for rate, whole in (("recall", truth == k), ("precision", predicted == k)):
            value, _ = estimated("ratio", hit, whole, names, sample.weight)
            assert getattr(rates[k], rate) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_intervals_are_about_as_wide_as_their_standard_errors_say(seed):
    """With many labels of each class, and not near 0 or 1, the interval is Wald's but for a few per cent."""
    names, truth, predicted, sample = drawn(seed)
    counts = cp.Counts.from_predictions(truth, predicted, labels=range(CLASSES), sample=sample)

    def recalls(cells):
        return {"recall": np.diagonal(cells, axis1=-2, axis2=-1) / cells.sum(axis=-1)}

    for k, interval in enumerate(sample_intervals(counts, recalls, 0.95)["recall"]):
        _, error = estimated("ratio", (truth == k) & (predicted == k), truth == k, names, sample.weight)
        assert interval.width / (2 * 1.96 * error) == pytest.approx(1.05, abs=0.15)
