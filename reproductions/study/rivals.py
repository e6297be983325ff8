"""The ways to serve preferences that the study compares, each with a forest of the same size.

Forests of scikit-learn and imbalanced-learn see nominal columns as codes; PragmaForest sees them as categories.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from imblearn.ensemble import BalancedRandomForestClassifier
from imblearn.over_sampling import SMOTE, SMOTEN, SMOTENC
from imblearn.pipeline import make_pipeline
from numpy.typing import NDArray
from scipy.optimize import dual_annealing
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import (
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
)

import compromis as cp
from compromis.measures.pragma import pragma
from reproductions.study.rows import Answer, Answers, Clock, Floats, Rival, Rows, Settings

TREES = 100
EVALUATIONS = 1000


def forest(seed: int, **options: Any) -> RandomForestClassifier:
    """The forest of every rival that has no forest of its own."""
    return RandomForestClassifier(TREES, random_state=seed, n_jobs=1, **options)


def whatever_the_preferences(make: Callable[[Rows, int], Any]) -> Rival:
    """A model that no preferences changes: one fit serves every metric."""

    def rival(train: Rows, test: Rows, settings: Settings) -> Answers:
        clock = Clock()
        with clock.running():
            model = make(train, settings.seed).fit(train.codes, train.y)
        return dict.fromkeys(settings.by_metric, Answer(model.predict(test.codes), clock.seconds))

    return rival


def by_preferences(make: Callable[[cp.Preferences, int], Any], *, frames: bool = False) -> Rival:
    """A model fitted anew for the preferences under each metric."""

    def rival(train: Rows, test: Rows, settings: Settings) -> Answers:
        found = {}
        for metric, preferences in settings.by_metric.items():
            clock = Clock()
            with clock.running():
                model = make(preferences, settings.seed).fit(train.frame if frames else train.codes, train.y)
            predicted = model.predict(test.frame if frames else test.codes)
            found[metric] = Answer(predicted, clock.seconds, getattr(model, "loss_", float("nan")))
        return found

    return rival


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


def threshold_tuner(train: Rows, test: Rows, settings: Settings) -> Answers:
    """scikit-learn's threshold tuner with our scorer; it takes two classes only."""
    if len(np.unique(train.y)) > 2:
        return {}

    def make(preferences: cp.Preferences, seed: int) -> Any:
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        return TunedThresholdClassifierCV(forest(seed), scoring=cp.pragma_scorer(preferences), cv=folds)

    return by_preferences(make)(train, test, settings)


def annealed_probabilities(train: Rows, test: Rows, settings: Settings) -> Answers:
    """Out-of-fold probabilities, gathered once, and scipy's dual annealing of the class weights on them."""
    shared = Clock()
    with shared.running():
        folds = StratifiedKFold(5, shuffle=True, random_state=settings.seed)
        votes = cross_val_predict(forest(settings.seed), train.codes, train.y, cv=folds, method="predict_proba")
        model = forest(settings.seed).fit(train.codes, train.y)
    labels, truth = np.unique(train.y, return_inverse=True)
    new = model.predict_proba(test.codes)
    found = {}
    for metric, preferences in settings.by_metric.items():
        clock = Clock()
        with clock.running():
            weights, loss = annealed(votes, truth, preferences, labels.tolist(), settings.seed)
        found[metric] = Answer(labels[np.argmax(new * weights, axis=1)], shared.seconds + clock.seconds, loss)
    return found


def annealed(
    votes: Floats, truth: NDArray[np.intp], preferences: cp.Preferences, labels: list[Any], seed: int
) -> tuple[Floats, float]:
    """Weights and their loss on the votes, found by 1,000 evaluations."""
    on, size = preferences.on(labels), len(labels)

    def loss(logarithms: Floats) -> float:
        predicted = np.argmax(votes * np.exp(logarithms), axis=1)
        matrix = np.bincount(truth * size + predicted, minlength=size * size).reshape(size, size)
        return pragma(cp.Counts(matrix, tuple(labels), len(truth)), on).total

    found = dual_annealing(loss, [(-4.0, 4.0)] * size, maxfun=EVALUATIONS, no_local_search=True, rng=seed)
    return np.exp(found.x), float(found.fun)


RIVALS: dict[str, Rival] = {
    "forest": whatever_the_preferences(lambda _, seed: forest(seed)),
    "class_weight": whatever_the_preferences(lambda _, seed: forest(seed, class_weight="balanced")),
    "balanced forest": whatever_the_preferences(
        lambda _, seed: BalancedRandomForestClassifier(TREES, random_state=seed, n_jobs=1)
    ),
    "SMOTE + forest": whatever_the_preferences(smote),
    "threshold tuner": threshold_tuner,
    "annealed probabilities": annealed_probabilities,
    "tuned forest": by_preferences(
        lambda preferences, seed: cp.TunedDecisionClassifier(forest(seed), preferences=preferences, random_state=seed)
    ),
    "PragmaForest": by_preferences(
        lambda preferences, seed: cp.PragmaForestClassifier(
            TREES, preferences=preferences, random_state=seed, n_jobs=1
        ),
        frames=True,
    ),
}
