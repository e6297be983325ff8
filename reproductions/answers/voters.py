"""Answers as a language model gives them: confusion between classes that are alike, popular classes too often, refusals, loose wording."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from reproductions.data import load

Floats = NDArray[np.float64]

MOST_ROWS = 4000
POPULAR = 0.5
"""Beliefs are multiplied by the class shares to this power: models name popular classes too often."""
RIGHT = 0.7
"""The part of answers that are right before refusals and wording, where the data allow it: as of a language model without training."""
CONCORDANT = 8.0
"""How alike the answers to one row are: of a Dirichlet distribution around the belief."""
REFUSED, HARD = 0.03, 0.1
"""The part of answers that is refused for any row, and for a row about which nothing is known more."""
WORDED = {0.70: "{}", 0.80: "{}.", 0.88: "**{}**", 0.93: '"{}"', 0.97: " {}\n", 1.0: "It could be {} or something else"}
"""How an answer is written, by cumulated shares; the last names no class."""


def rows_of(name: str) -> tuple[Floats, NDArray[Any]]:
    """Numbers and labels of the first rows of a data set, which are a random part."""
    frame, y = load(name)
    return pandas.get_dummies(frame.iloc[:MOST_ROWS]).fillna(0).to_numpy(float), np.char.add("class ", y[:MOST_ROWS])


def beliefs(X: Floats, y: NDArray[Any]) -> tuple[Floats, list[str]]:
    """What a model believes that never saw a label of ours: out-of-fold probabilities, tempered to `RIGHT`, leaning to popular classes."""
    labels, sizes = np.unique(y, return_counts=True)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    logs = np.log(np.maximum(cross_val_predict(model, X, y, cv=folds, method="predict_proba"), 1e-12))
    own, truth = np.arange(len(y)), np.searchsorted(labels, y)

    def tempered(heat: float) -> Floats:
        return softmax(logs / heat + POPULAR * np.log(sizes / sizes.sum()), axis=1)

    def over(heat: float) -> float:
        return float(tempered(heat)[own, truth].mean() - RIGHT)

    coolest, hottest = 1.0, 100.0
    heat = coolest if over(coolest) <= 0 else brentq(over, coolest, hottest)
    return tempered(heat), labels.tolist()


def answers_of(belief: Floats, labels: list[str], each: int, rng: np.random.Generator) -> NDArray[np.object_]:
    """So many answers for each row, in words; None is refused."""
    rows, classes = belief.shape
    own = rng.gamma(np.maximum(CONCORDANT * belief, 1e-6))
    own /= own.sum(axis=1, keepdims=True)
    chosen = (rng.random((rows, each, 1)) > own.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
    entropy = -(own * np.log(np.maximum(own, 1e-300))).sum(axis=1) / np.log(classes)
    refused = rng.random((rows, each)) < (REFUSED + HARD * entropy)[:, None]
    wording = np.searchsorted([*WORDED], rng.random((rows, each)))
    forms = [*WORDED.values()]
    texts = [
        [forms[how].format(labels[k]) for k, how in zip(*row, strict=True)] for row in zip(chosen, wording, strict=True)
    ]
    return np.where(refused, None, np.array(texts, dtype=object))
