"""
Too simple, right, or learnt by heart?
======================================

A complexity curve compares values of a parameter, from simple to rich, by the loss of your
preferences on rows seen and not seen, and names what it sees.
"""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import compromis as cp

rng = np.random.default_rng(0)
X = rng.normal(size=(800, 3))
y = np.where(((X[:, :2] ** 2).sum(axis=1) > 1.4) ^ (rng.random(800) < 0.2), "outside", "inside")  # a circle, with noise
preferences = cp.Preferences(metric="f")  # both classes alike
neighbours = [500, 150, 50, 15, 5, 1]  # from simple to rich

curve = cp.model_selection.complexity_curve(
    KNeighborsClassifier(), X, y, parameter="n_neighbors", values=neighbours, preferences=preferences, random_state=0
)
print(curve.verdict)
cp.plots.PreferenceLearningCurveDisplay(curve).plot()

# %%
# And would more rows help?
more = cp.model_selection.preference_learning_curve(
    KNeighborsClassifier(curve.recommended), X, y, preferences=preferences, random_state=0
)
print(more.verdict)
cp.plots.PreferenceLearningCurveDisplay(more).plot()
