"""Draw the pictures of README and docs from the real thing: python docs/pictures/make.py."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from scipy.special import expit
from scipy.stats import norm
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


DEPLOYMENTS, SICK, WELL, ASKED = 1_000, 150, 2_850, 0.95


def deployments() -> None:
    """Draw the recall on new rows of 1,000 decisions tuned to a recall of 0.95, each on rows of its own."""
    import matplotlib.pyplot as plt

    rng, recalls = np.random.default_rng(0), {}
    truth = np.repeat(["sick", "well"], [SICK, WELL])
    for confidence in (None, 0.95):
        found = []
        for _ in range(DEPLOYMENTS):
            score = rng.normal(
                np.where(truth == "sick", 2.0, 0.0)
            )  # on new rows the recall is a value of the normal distribution
            preferences = {"sick": cp.Preference(1, 0.8, 0.1, min_recall=ASKED, confidence=confidence)}
            search = cp.search_weights(truth, expit(score), preferences=preferences, pos_label="sick", random_state=0)
            weight = dict(zip(search.classes, search.weights, strict=True))
            found.append(norm.cdf(2.0 - np.log(weight["well"] / weight["sick"])))
        recalls[confidence] = np.array(found)
    figure, rows = plt.subplots(2, 1, sharex=True, figsize=(7.2, 4.2), layout="constrained")
    bins = np.arange(0.886, 1.0001, 0.004)
    for axes, (confidence, found) in zip(rows, recalls.items(), strict=True):
        broken = found < ASKED
        for part, colour, label in ((broken, "#b0303f", "broken"), (~broken, "#1f6f9f", "kept")):
            axes.hist(found[part], bins, color=colour, label=f"{label}: {part.sum()}")
        axes.axvline(ASKED, color="black", linewidth=1)
        axes.set_ylabel("decisions")
        axes.legend(frameon=False, loc="upper left")
        axes.spines[["top", "right"]].set_visible(False)
        given = "min_recall=0.95" if confidence is None else "min_recall=0.95, confidence=0.95"
        axes.set_title(given, loc="left", fontsize=10, family="monospace")
    rows[1].set_xlabel("recall of 'sick' on new rows; each decision was tuned on 3,000 rows, 150 of them sick")
    figure.savefig(HERE / "deployments.png", dpi=110)
    plt.close(figure)


def main() -> None:
    """Draw every picture."""
    mpl.use("Agg")
    deployments()
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
        cp.plots.ClassBalanceDisplay.from_counts(
            tuned.patterns_.counts(np.ones(3)), tuned.tuning_.counts, preferences=tuned.preferences
        ),
    )


if __name__ == "__main__":
    main()
