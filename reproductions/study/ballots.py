"""Votes to search on and votes of new rows, of every base model; gathered once for a fold and shared by all ways.

They are kept under the folder STUDY_STORE, so that a way that is added later needs no fit.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from compromis.estimators.honest_votes import out_of_bag_votes, votes_of
from compromis.estimators.pragma_forest import PragmaForestClassifier
from reproductions.study.rows import Clock, Floats, Fold, Rows

TREES = 100
NOTHING_STORED = ""


@dataclass(frozen=True, slots=True, eq=False)
class Ballot:
    """Votes to search on, votes to decide new rows by, half a vote, and what they cost."""

    honest: Floats
    new: Floats
    half: float
    seconds: float


def forest(seed: int, **options: Any) -> RandomForestClassifier:
    """scikit-learn's forest."""
    return RandomForestClassifier(TREES, random_state=seed, n_jobs=1, **options)


def pragma_forest(seed: int, trees: int = TREES, **options: Any) -> PragmaForestClassifier:
    """Ours, without tuning: the ways tune it."""
    return PragmaForestClassifier(trees, tune=False, random_state=seed, n_jobs=1, **options)


def boosting(seed: int) -> HistGradientBoostingClassifier:
    """scikit-learn's gradient boosting."""
    return HistGradientBoostingClassifier(random_state=seed)


def lightgbm(seed: int) -> Any:
    """LightGBM's gradient boosting."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=TREES, random_state=seed, n_jobs=1, deterministic=True, force_row_wise=True, verbose=-1
    )


def logistic(nominal: Any) -> Any:
    """Logistic regression on indicators and standardised numbers."""
    numbers = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), np.flatnonzero(nominal)), (numbers, np.flatnonzero(~nominal))
    )
    return make_pipeline(columns, LogisticRegression(max_iter=300))


class ByClass(PragmaForestClassifier):
    """A forest whose trees see no more than so many times the rarest class's rows of any class; more where it has more than `few`."""

    def __init__(self, most: float, trees: int, seed: int, leaf: int = 1, few: float = np.inf) -> None:
        super().__init__(trees, tune=False, random_state=seed, n_jobs=1, min_samples_leaf=leaf)
        self.most, self.trees, self.seed, self.leaf, self.few = most, trees, seed, leaf, few

    def _at_training_shares(self, shares: Floats) -> Floats:
        return shares  # votes are weighed anyway

    def _draws_for(self, labels: Any) -> Any:
        support = np.bincount(labels, minlength=len(self.classes_))
        most = self.most * max(1.0, support.min() / self.few)
        return np.minimum(support, np.ceil(most * support.min()).astype(int))


MODELS: dict[str, Callable[[Rows, int], Any]] = {
    "forest": lambda _, seed: forest(seed),
    "boosting": lambda _, seed: boosting(seed),
    "lightgbm": lambda _, seed: lightgbm(seed),
    "logistic": lambda rows, _: logistic(rows.nominal),
}
"""Base models that see codes; forests of ours see categories."""
FORESTS: dict[str, Callable[[Rows, int], Any]] = {
    "pragma": lambda _, seed: pragma_forest(seed),
    "pragma laplace": lambda _, seed: pragma_forest(seed, local_model="laplace"),
    "pragma m": lambda rows, seed: pragma_forest(seed, local_model=m_estimate(rows, 2.0)),
    "pragma leaf 5": lambda _, seed: pragma_forest(seed, min_samples_leaf=5),
    "pragma class_weight leaf 5": lambda _, seed: pragma_forest(seed, min_samples_leaf=5, class_weight="balanced"),
    "pragma 300": lambda _, seed: pragma_forest(seed, 300),
    "pragma balanced": lambda _, seed: ByClass(1, TREES, seed),
    "pragma balanced 300": lambda _, seed: ByClass(1, 300, seed),
    "pragma balanced 3": lambda _, seed: ByClass(3, TREES, seed),
    "pragma balanced 3, 300": lambda _, seed: ByClass(3, 300, seed),
    "pragma balanced leaf 3": lambda _, seed: ByClass(1, TREES, seed, 3),
    "pragma few 25": lambda _, seed: ByClass(3, TREES, seed, few=25),
    "pragma auto": lambda _, seed: PragmaForestClassifier(TREES, random_state=seed, n_jobs=1),
    "pragma few 50": lambda _, seed: ByClass(3, TREES, seed, few=50),
}


def m_estimate(rows: Rows, m: float) -> Callable[[Floats], Floats]:
    """Leaf shares with `m` rows of the class shares of all training rows added."""
    priors = np.unique(rows.y, return_counts=True)[1] / len(rows.y)
    return lambda weights: (weights + m * priors) / (weights.sum(axis=1, keepdims=True) + m)


@dataclass(eq=False)
class Ballots:
    """Every ballot of a fold, each gathered when it is first asked for."""

    fold: Fold

    def get(self, base: str, kind: str) -> Ballot:
        """A ballot: ``bag``, ``hard`` (out of bag) or ``folds N`` of a base model."""
        store = os.environ.get("STUDY_STORE", NOTHING_STORED)
        file = Path(store) / f"{self.fold.name}-{base}-{kind}.npz".replace(" ", "_")
        if store and file.exists():
            with np.load(file) as found:
                return Ballot(found["honest"], found["new"], *found["rest"].tolist())
        clock = Clock()
        with clock.running():
            honest, new, members = self._gather(base, kind)
        ballot = Ballot(honest, new, 0.5 / members, clock.seconds)
        if store:
            file.parent.mkdir(parents=True, exist_ok=True)
            np.savez(file, honest=honest, new=new, rest=np.array([ballot.half, ballot.seconds]))
        return ballot

    def _gather(self, base: str, kind: str) -> tuple[Floats, Floats, int]:
        model, (train, test) = self._fitted(base), self._inputs(base)
        ours = base in FORESTS
        members = model.n_estimators if ours or base == "forest" else len(train)
        if not kind.startswith("folds"):
            hard = kind == "hard"
            labels = np.array(self.fold.labels)
            return out_of_bag_votes(model, train, labels, hard=hard), votes_of(model, test, labels, hard=hard), members
        honest = np.zeros((len(self.fold.train.y), len(self.fold.labels)))
        for part, rest in StratifiedKFold(int(kind.split()[1]), shuffle=True, random_state=self.fold.seed).split(
            self.fold.train.codes, self.fold.train.y
        ):
            one = self._make(base).fit(train.iloc[part] if ours else train[part], self.fold.train.y[part])
            where = np.searchsorted(self.fold.labels, one.classes_)
            honest[np.ix_(rest, where)] = one.predict_proba(train.iloc[rest] if ours else train[rest])
        return honest, model.predict_proba(test), members

    def _make(self, base: str) -> Any:
        return (FORESTS | MODELS)[base](self.fold.train, self.fold.seed)

    def _inputs(self, base: str) -> tuple[Any, Any]:
        train, test = self.fold.train, self.fold.test
        return (train.frame, test.frame) if base in FORESTS else (train.codes, test.codes)

    @cached_property
    def _models(self) -> dict[str, Any]:
        return {}

    def _fitted(self, base: str) -> Any:
        if base not in self._models:
            self._models[base] = self._make(base).fit(self._inputs(base)[0], self.fold.train.y)
        return self._models[base]
