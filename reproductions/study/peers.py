"""What people do today, as the ways are compared with: peers that hear no preferences, the threshold tuner, and dual annealing by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from imblearn.ensemble import BalancedRandomForestClassifier
from imblearn.over_sampling import SMOTE, SMOTEN, SMOTENC
from imblearn.pipeline import make_pipeline
from scipy.optimize import dual_annealing
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import make_scorer
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV

from reproductions.study.ballots import TREES, Ballot, forest
from reproductions.study.rows import Asked, Floats, Fold, Ints, Rows

EVALUATIONS = 1000
DEAF = ("class_weight", "BalancedRandomForest", "SMOTE")
"""Peers around the forest that hear no preferences."""


def deaf(name: str, fold: Fold) -> Ints:
    """What a peer that hears no preferences decides about the test rows."""
    train, seed = fold.train, fold.seed
    if name == "class_weight":
        model: Any = forest(seed, class_weight="balanced")
    elif name == "SMOTE":
        model = smote(train, seed)
    else:
        model = BalancedRandomForestClassifier(TREES, random_state=seed, n_jobs=1)
    return np.searchsorted(fold.labels, model.fit(train.codes, train.y).predict(fold.test.codes))


def smote(train: Rows, seed: int) -> Any:
    """SMOTE in the form for the columns at hand, then the forest."""
    neighbours = min(5, int(np.unique(train.y, return_counts=True)[1].min()) - 1)
    if train.nominal.all():
        sampler = SMOTEN(k_neighbors=neighbours, random_state=seed)
    elif train.nominal.any():
        sampler = SMOTENC(np.flatnonzero(train.nominal).tolist(), k_neighbors=neighbours, random_state=seed)
    else:
        sampler = SMOTE(k_neighbors=neighbours, random_state=seed)
    return make_pipeline(sampler, forest(seed))


class Replay(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A model that answers with votes gathered before: rows are their numbers, new rows come after those of training.

    With it scikit-learn's tuner does what it does around the model itself, without fitting it again for every preference.
    """

    def __init__(self, honest: Any = None, new: Any = None) -> None:
        self.honest = honest
        self.new = new

    def fit(self, X: Any, y: Any) -> Replay:  # noqa: ARG002 (scikit-learn's signature)
        """Learn the classes."""
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The votes of the rows with these numbers."""
        return np.concatenate([self.honest, self.new])[np.asarray(X)[:, 0]]

    def __sklearn_clone__(self) -> Replay:
        return Replay(self.honest, self.new)


def threshold(ballot: Ballot, fold: Fold, asked: Asked) -> tuple[Ints, float]:
    """scikit-learn's threshold tuner on five folds, for two classes."""
    truth = fold.truth

    def score(y: Ints, predicted: Ints) -> float:
        return -asked.loss(np.bincount(2 * y + predicted, minlength=4).reshape(2, 2).astype(float))

    rows = np.arange(len(truth) + len(ballot.new))[:, np.newaxis]
    splitter = StratifiedKFold(5, shuffle=True, random_state=fold.seed)
    tuner = TunedThresholdClassifierCV(Replay(ballot.honest, ballot.new), scoring=make_scorer(score), cv=splitter)
    tuner.fit(rows[: len(truth)], truth)
    return tuner.predict(rows[len(truth) :]), -tuner.best_score_


def annealed(ballot: Ballot, fold: Fold, asked: Asked) -> tuple[Ints, float]:
    """Class weights within e^4 of equal, by 1,000 evaluations of dual annealing on out-of-fold probabilities."""
    truth, size = fold.truth, len(fold.labels)

    def loss(logarithms: Floats) -> float:
        predicted = np.argmax(ballot.honest * np.exp(logarithms), axis=1)
        return asked.loss(
            np.bincount(truth * size + predicted, minlength=size * size).reshape(size, size).astype(float)
        )

    found = dual_annealing(loss, [(-4.0, 4.0)] * size, maxfun=EVALUATIONS, no_local_search=True, rng=fold.seed)
    return np.argmax(ballot.new * np.exp(found.x), axis=1), float(found.fun)
