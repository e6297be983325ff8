"""Votes by members or models that did not see the row: recomputed row by row, and in the columns of their classes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from imblearn.ensemble import BalancedBaggingClassifier, BalancedRandomForestClassifier
from sklearn.base import clone
from sklearn.datasets import load_wine, make_classification
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import compromis as cp
from compromis.estimators.honest_votes import out_of_bag_votes, out_of_fold_votes, votes_of, voting_ensemble
from compromis.trees.grow import bootstrap
from compromis.trees.store import tree_leaves

PREFERENCES = cp.Preferences.prioritise(["b"], metric="f")


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return X, np.array(["a", "b", "c"])[y]


FORESTS = [
    RandomForestClassifier(15, random_state=0),
    ExtraTreesClassifier(15, bootstrap=True, random_state=0),
    BaggingClassifier(n_estimators=15, max_features=0.5, random_state=0),
    BalancedRandomForestClassifier(15, random_state=0),
]


@pytest.mark.parametrize("forest", FORESTS, ids=lambda forest: type(forest).__name__)
@pytest.mark.parametrize("hard", [True, False])
def test_out_of_bag_votes_are_of_members_that_did_not_see_the_row(wine, forest, hard):
    """Recomputed row by row from what each member was trained on."""
    X, y = wine
    forest = clone(forest).fit(X, y)
    votes = out_of_bag_votes(forest, X, forest.classes_, hard=hard)
    seen = [s.sample_indices_ for s in forest.samplers_] if hasattr(forest, "samplers_") else forest.estimators_samples_
    features = getattr(forest, "estimators_features_", [slice(None)] * len(forest.estimators_))
    for row in range(0, len(X), 7):
        ballots = [
            np.eye(3)[int(tree.predict(X[row : row + 1, columns])[0])]
            if hard
            else tree.predict_proba(X[row : row + 1, columns])[0]
            for tree, sample, columns in zip(forest.estimators_, seen, features, strict=True)
            if row not in sample
        ]
        assert votes[row] == pytest.approx(np.mean(ballots, axis=0) if ballots else np.zeros(3))


def test_out_of_bag_probabilities_are_scikit_learns(wine):
    X, y = wine
    forest = RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, y)
    assert out_of_bag_votes(forest, X, forest.classes_, hard=False) == pytest.approx(forest.oob_decision_function_)


@pytest.mark.parametrize("forest", FORESTS, ids=lambda forest: type(forest).__name__)
def test_forests_are_fitted_once(wine, forest, monkeypatch):
    X, y = wine
    fits = []
    original = type(forest).fit
    monkeypatch.setattr(type(forest), "fit", lambda self, *a, **k: fits.append(1) or original(self, *a, **k))
    cp.TunedDecisionClassifier(forest, preferences=PREFERENCES, random_state=0).fit(X, y)
    assert len(fits) == 1


def test_out_of_bag_votes_of_our_forest_are_of_trees_that_did_not_see_the_row(wine):
    X, y = wine
    weight = np.where(np.arange(len(X)) % 9 == 0, 0.0, 1.0)
    kept = np.flatnonzero(weight)
    forest = cp.PragmaForestClassifier(12, tune=False, max_depth=2, random_state=0).fit(X, y, weight)
    seeds = np.random.RandomState(0).randint(2**31 - 1, size=12)
    seen = [bootstrap(len(kept), np.random.Generator(np.random.PCG64(seed))) for seed in seeds]
    leaves = [tree_leaves(forest.trees_, tree, forest.binning_.columns(X).bins) for tree in range(12)]
    for hard in (True, False):
        votes = out_of_bag_votes(forest, X, forest.classes_, hard=hard)
        assert not votes[weight == 0].any()
        for position, row in enumerate(kept):
            out = [forest.trees_.shares_of_leaf(leaves[tree][row], 3) for tree in range(12) if not seen[tree][position]]
            ballots = [np.eye(3)[shares.argmax()] for shares in out] if hard else out
            assert votes[row] == pytest.approx(np.mean(ballots, axis=0) if ballots else np.zeros(3))
    with pytest.raises(cp.InputError, match="X has 5 rows, but the forest was grown on 178"):
        forest.oob_votes(X[:5])


@pytest.mark.parametrize(
    ("estimator", "leaves_out"),
    [
        (RandomForestClassifier(), True),
        (RandomForestClassifier(bootstrap=False), False),
        (ExtraTreesClassifier(), False),
        (ExtraTreesClassifier(bootstrap=True), True),
        (BaggingClassifier(), True),
        (BalancedRandomForestClassifier(bootstrap=False), True),
        (BalancedBaggingClassifier(), True),
        (cp.PragmaForestClassifier(), True),
        (cp.PragmaForestClassifier(tune=False, bootstrap=False), False),
        (GaussianNB(), None),
        (make_pipeline(RandomForestClassifier()), None),
        (cp.TunedDecisionClassifier(RandomForestClassifier()), None),
    ],
)
def test_who_votes_without_another_fit(estimator, leaves_out):
    ensemble = voting_ensemble(estimator)
    assert (None if ensemble is None else ensemble.leaves_rows_out()) is leaves_out


@pytest.mark.parametrize("hard", [True, False])
@pytest.mark.parametrize(
    "forest", [RandomForestClassifier(5, random_state=0), cp.PragmaForestClassifier(5, tune=False, random_state=0)]
)
def test_a_fold_without_a_class_votes_in_the_columns_of_its_own(wine, forest, hard):
    """Where the first class is missing in training, votes for the second must not count for the first."""
    X, y = wine
    test = np.flatnonzero(y == "a")
    train = np.flatnonzero(y != "a")
    votes = out_of_fold_votes(
        forest, X, y, [(train, test)], np.array(["a", "b", "c"]), hard=hard, fit_params={}, n_jobs=1
    )
    assert not votes[test, 0].any()
    assert votes[test, 1:].sum(axis=1) == pytest.approx(1)
    fitted = clone(forest).fit(X[train], y[train])
    assert np.array_equal(votes[test, 1:], votes_of(fitted, X[test], fitted.classes_, hard=hard))


@pytest.mark.parametrize("inside", [lambda model: model, lambda model: make_pipeline(StandardScaler(), model)])
@pytest.mark.parametrize(("rows", "stops"), [(10_002, True), (10_000, False)])
def test_folds_stop_early_as_the_fit_on_all_rows_does(rows, stops, inside):
    """scikit-learn's boosting decides by the number of rows whether to set rows aside and stop early."""
    X, y = make_classification(rows, 2, n_informative=2, n_redundant=0, random_state=0)
    auto, explicit = (
        out_of_fold_votes(
            inside(HistGradientBoostingClassifier(max_iter=2, random_state=0, early_stopping=early)),
            X,
            y,
            [(np.arange(9_000), np.arange(9_000, rows))],
            np.array([0, 1]),
            hard=False,
            fit_params={},
            n_jobs=1,
        )
        for early in ("auto", stops)
    )
    assert np.array_equal(auto, explicit)
    fitted = HistGradientBoostingClassifier(max_iter=2, random_state=0).fit(X, y)
    assert fitted.do_early_stopping_ is stops


@pytest.mark.parametrize(
    ("package", "name", "options"),
    [
        ("xgboost", "XGBClassifier", {"n_estimators": 5, "n_jobs": 1}),
        ("lightgbm", "LGBMClassifier", {"n_estimators": 5, "n_jobs": 1, "verbose": -1}),
        ("catboost", "CatBoostClassifier", {"iterations": 5, "verbose": False, "allow_writing_files": False}),
    ],
)
@pytest.mark.parametrize("inside", [lambda model: model, lambda model: make_pipeline(StandardScaler(), model)])
def test_boosters_take_text_labels(wine, package, name, options, inside):
    library = pytest.importorskip(package, reason=f"{package} is not installed")
    X, y = wine
    rows = np.r_[:130, 130:134]  # four rows of the last class, fewer than folds would like
    X, y = X[rows], np.array(["fine", "late", "default"])[np.unique(y, return_inverse=True)[1]][rows]
    model = inside(getattr(library, name)(**options))
    tuned = cp.TunedDecisionClassifier(model, preferences={"default": 10}, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tuned.fit(X, y)
        assert list(tuned.classes_) == ["default", "fine", "late"]
        assert set(tuned.predict(X)) <= {"default", "fine", "late"}
        assert (tuned.predict(X) == y).mean() > 0.8
        assert np.array_equal(tuned.vote_shares(X), tuned.predict_proba(X))
        folds = [
            (np.arange(len(y)) != 0, np.arange(len(y)) == 0),
            (y != "default", y == "default"),
        ]  # one lacks a class
        lacking = clone(tuned).set_params(cv=[tuple(map(np.flatnonzero, fold)) for fold in folds]).fit(X, y)
    assert lacking.vote_shares(X).shape == (len(y), 3)


class Positions(GaussianNB):
    """What XGBoost's classifier is to us: it refuses all classes but 0, 1, ..."""

    def fit(self, X, y, sample_weight=None):
        if not np.array_equal(np.unique(y), np.arange(len(np.unique(y)))):
            raise ValueError("Invalid classes inferred from unique values of `y`")
        return super().fit(X, y, sample_weight)


Positions.__module__ = "xgboost.sklearn"


@pytest.mark.parametrize(
    "inside",
    [
        lambda model: model,
        lambda model: make_pipeline(StandardScaler(), model),
        lambda model: BaggingClassifier(model, 4),
    ],
)
def test_labels_are_encoded_where_only_positions_are_taken(wine, inside):
    X, y = wine
    plain, tuned = (
        cp.TunedDecisionClassifier(inside(kind()), preferences={"c": 10}, random_state=0, cv=3).fit(X, y)
        for kind in (GaussianNB, Positions)
    )
    assert tuned.classes_.tolist() == plain.classes_.tolist()
    assert tuned.predict(X).dtype == y.dtype
    if not isinstance(plain.estimator_, BaggingClassifier):
        assert np.array_equal(tuned.predict(X), plain.predict(X))
    odd = np.arange(len(y)) % 2 == 1
    folds = [(odd & (y != "b"), ~odd), (~odd, odd)]  # a class that the training rows of a fold lack
    cv = [tuple(map(np.flatnonzero, fold)) for fold in folds]
    lacking = cp.TunedDecisionClassifier(inside(Positions()), random_state=0, cv=cv)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert lacking.fit(X, y).vote_shares(X).shape == (len(y), 3)
