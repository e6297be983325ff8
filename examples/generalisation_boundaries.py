"""Three boundaries between two classes: one too simple, one too wound, one that is a good compromise.

The first example on generalisation in the course (seed 004): the straight boundary underfits, the one that makes no error on
the data is likely to overfit, the smooth one between them is the good compromise.

    python examples/generalisation_boundaries.py [picture.png]
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import compromis as cp

WINDINGS = (0.001, 0.5, 200.0)
"""gamma of a support vector machine: how wound its boundary may be."""
NAMES = ("straight", "smooth", "wound")


def observations(seed=0, rows=240):
    """Return points in a plane, positive outside a parabola, with some noise at the border."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (rows, 2))
    return X, np.where(X[:, 1] + rng.normal(0, 0.35, rows) > X[:, 0] ** 2 - 1, "+", "x")


def boundary(gamma=0.5):
    return make_pipeline(StandardScaler(), SVC(gamma=gamma, C=10.0))


def curve(seed=0, gammas=WINDINGS):
    """Return the preference loss of each boundary on rows seen and not seen."""
    preferences = cp.Preferences(
        {"+": cp.Preference(2, precision_at_full_recall=0.6, recall_at_full_precision=0.8)}, metric="f"
    )
    return cp.model_selection.complexity_curve(
        boundary(),
        *observations(seed),
        parameter="svc__gamma",
        values=gammas,
        preferences=preferences,
        random_state=seed,
    )


def draw(result, path):
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    X, y = observations()
    for label, marker, colour in (("+", "+", "#1d3f58"), ("x", "x", "0.55")):
        left.plot(*X[y == label].T, marker, color=colour, markersize=6, label=f"class {label}")
    across, up = np.meshgrid(np.linspace(-2, 2, 300), np.linspace(-2, 2, 300))
    for gamma, line, colour in zip(WINDINGS, (":", "--", "-"), ("0.2", "#1d3f58", "#b23a48"), strict=True):
        height = boundary(gamma).fit(X, y).decision_function(np.c_[across.ravel(), up.ravel()]).reshape(across.shape)
        left.contour(
            across, up, height, levels=[0], linestyles=line, colors=colour, linewidths=1.7 if line != "-" else 0.9
        )
    left.set(xlabel="first attribute", ylabel="second attribute")
    left.set_title("dotted: straight; dashed: smooth; thin line: wound", loc="left", fontsize=9.5, color="0.2")
    left.legend(frameon=True, framealpha=0.9, loc="lower left")
    cp.plots.PreferenceLearningCurveDisplay(result).plot(ax=right)
    right.set_xticks(range(3), [f"{name}\n(gamma {gamma:g})" for name, gamma in zip(NAMES, WINDINGS, strict=True)])
    right.set_xlabel("")
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    result = curve()
    for name, fit in zip(NAMES, result.fits, strict=True):
        print(f"the {name} boundary {fit}")
    if len(sys.argv) > 1:
        draw(result, sys.argv[1])
