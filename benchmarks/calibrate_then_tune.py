"""Calibrate, then tune: the mean loss of the four combinations over 12 draws of data; the table of docs/any_model.md.

python benchmarks/calibrate_then_tune.py
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import compromis as cp

MODELS = {
    "naive Bayes": GaussianNB(),
    "logistic regression": LogisticRegression(max_iter=1000),
    "forest of 30 (probabilities)": RandomForestClassifier(30, min_samples_leaf=3, random_state=0),
}
PREFERENCES = cp.Preferences(
    {2: cp.Preference(5, precision_at_full_recall=0.4, recall_at_full_precision=0.9)}, metric="f"
)
DRAWS, ROWS, TESTED = 12, 2000, 20_000


def losses(model, draw):
    X, y = make_classification(
        ROWS + TESTED,
        12,
        n_informative=6,
        n_redundant=3,
        n_classes=3,
        weights=[0.85, 0.1],
        class_sep=1.3,
        random_state=draw,
    )
    found = []
    for calibrated in (False, True):
        base = CalibratedClassifierCV(model, method="isotonic", cv=5) if calibrated else model
        tuned = cp.TunedDecisionClassifier(
            base, preferences=PREFERENCES, votes="proba", cv=5, resamples=0, random_state=0
        ).fit(X[:ROWS], y[:ROWS])
        found += [
            cp.pragma_loss(y[ROWS:], one.predict(X[ROWS:]), preferences=PREFERENCES)
            for one in (tuned.estimator_, tuned)
        ]
    return found


def main():
    warnings.simplefilter("ignore")
    print("| model | as it is | tuned | calibrated | calibrated, then tuned |")
    print("| --- | --- | --- | --- | --- |")
    widest = 0.0
    for name, model in MODELS.items():
        each = np.array([losses(model, draw) for draw in range(DRAWS)])
        widest = max(widest, float((each.std(axis=0, ddof=1) / np.sqrt(DRAWS)).max()))
        print(f"| {name} | " + " | ".join(f"{loss:.3f}" for loss in each.mean(axis=0)) + " |", flush=True)
    print(f"largest standard error of a mean: {widest:.3f}")


if __name__ == "__main__":
    main()
