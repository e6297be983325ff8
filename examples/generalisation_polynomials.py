"""Polynomials of degree 2, 3 and 13 fitted to points of a cubic: too simple, right, and learnt by heart.

The second example on generalisation in the course (seed 004): degree 2 approximates the data badly and underfits; degree 13
has the least error on the points it saw and overfits.

    python examples/generalisation_polynomials.py [picture.png]
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import compromis as cp

DEGREES = (2, 3, 13)


def points(seed=0, rows=30):
    """Return points of a cubic with noise."""
    x = np.linspace(-3, 3, rows)
    return x[:, np.newaxis], x**3 - 5 * x + np.random.default_rng(seed).normal(0, 1.5, rows)


def polynomial(degree=3):
    return make_pipeline(PolynomialFeatures(degree), StandardScaler(), LinearRegression())


def curve(seed=0, degrees=DEGREES):
    """Return the root mean squared error of each degree on points seen and not seen."""
    return cp.model_selection.complexity_curve(
        polynomial(), *points(seed), parameter="polynomialfeatures__degree", values=degrees, random_state=seed
    )


def draw(result, path):
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    X, y = points()
    grid = np.linspace(-3, 3, 400)[:, np.newaxis]
    left.plot(X, y, "o", color="0.55", markersize=5, label="points of a cubic, with noise")
    for degree, line, colour in zip(DEGREES, (":", "-", "--"), ("0.35", "#1d3f58", "#b23a48"), strict=True):
        left.plot(
            grid,
            polynomial(degree).fit(X, y).predict(grid),
            line,
            color=colour,
            linewidth=1.9,
            label=f"degree {degree}",
        )
    left.set(xlabel="x", ylabel="y", ylim=(y.min() - 3, y.max() + 3))
    left.spines[["top", "right"]].set_visible(False)
    left.legend(frameon=False)
    cp.plots.PreferenceLearningCurveDisplay(result).plot(ax=right)
    right.set_xlabel("degree")
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    result = curve()
    for degree, fit in zip(DEGREES, result.fits, strict=True):
        print(f"degree {degree:2d} {fit}")
    if len(sys.argv) > 1:
        draw(result, sys.argv[1])
