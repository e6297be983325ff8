"""Displays of residuals."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import compromis as cp


@pytest.mark.parametrize("rows", [10, 1000, 6000])
def test_residual_displays(rng, rows):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X = rng.normal(size=(rows, 1))
    y = X[:, 0] + rng.normal(size=rows)
    model = LinearRegression().fit(X, y)
    residual = cp.plots.ResidualDisplay.from_estimator(model, X, y)
    assert residual.to_frame("pandas")["residual"].to_numpy() == pytest.approx(model.predict(X) - y)
    against = cp.plots.PredictedAgainstTrueDisplay.from_predictions(y, model.predict(X))
    for display, across, up in ((residual, model.predict(X), model.predict(X) - y), (against, y, model.predict(X))):
        if rows < 5000:
            assert np.allclose(display.ax_.collections[0].get_offsets(), np.column_stack([across, up]))
    assert (residual.ax_.get_xlabel(), against.ax_.get_xlabel()) == ("predicted", "true")
    pyplot.close("all")


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(cp.MissingExtra, match=r"pip install 'compromis\[plot\]'"):
        cp.plots.ResidualDisplay.from_predictions([1, 2], [1, 2])
