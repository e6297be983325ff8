"""Draw the pictures of README and docs from the real thing: python docs/pictures/make.py."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import compromis as cp

HERE = Path(__file__).parent


def save(name: str, display: object) -> None:
    """Write a display's figure beside this file."""
    display.figure_.savefig(HERE / f"{name}.png", dpi=100)  # type: ignore[attr-defined]


def main() -> None:
    """Draw every picture."""
    mpl.use("Agg")
    data = load_breast_cancer()
    truth = np.where(data.target == 0, "malignant", "benign")
    # five of the thirty measurements, so that there is something to trade
    train, test, y_train, y_test = train_test_split(
        data.data[:, :5], truth, test_size=0.5, random_state=0, stratify=truth
    )
    models = {
        "forest of 20": RandomForestClassifier(20, random_state=0).fit(train, y_train),
        "naive Bayes": GaussianNB().fit(train, y_train),
        "tree": DecisionTreeClassifier(max_depth=2, random_state=0).fit(train, y_train),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()).fit(train, y_train),
    }
    preferences = cp.Preferences.prioritise(["malignant"], metric="f")
    save("preference", cp.plots.PreferenceDisplay.from_preferences(preferences))
    save("tradeoff", cp.plots.TradeoffDisplay.from_estimator(models, test, y_test, pos_label="malignant", metric="f"))
    save(
        "space",
        cp.plots.PrecisionRecallSpaceDisplay.from_estimator(models, test, y_test, pos_label="malignant", metric="f"),
    )
    save("roc_hull", cp.plots.RocHullDisplay.from_estimator(models, test, y_test, pos_label="malignant"))
    X, y = load_wine(return_X_y=True)
    names = np.array(["Barolo", "Grignolino", "Barbera"])[y]
    tuned = cp.TunedDecisionClassifier(
        RandomForestClassifier(20, max_depth=2, random_state=0),
        preferences=cp.Preferences.prioritise(["Barbera"], metric="f"),
        random_state=0,
    ).fit(X[:, :3], names)
    save(
        "class_balance",
        cp.plots.ClassBalanceDisplay.from_change(cp.estimators.Change.by_tuning(tuned, tuned.preferences)),
    )


if __name__ == "__main__":
    main()
