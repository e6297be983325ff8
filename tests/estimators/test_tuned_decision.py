"""The meta-estimator: honest votes, the scikit-learn contract, and decisions that follow from weights and votes."""

from __future__ import annotations

import html
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_validate,
    train_test_split,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.estimator_checks import parametrize_with_checks

import compromis as cp
from compromis.errors import NotBetterWarning
from compromis.estimators import tuned_decision
from tests.estimators.test_honest_votes import FORESTS

PREFERENCES = cp.Preferences.prioritise(["b"], metric="f")


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return X, np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize(
    "estimator", [*FORESTS, KNeighborsClassifier(), GaussianNB()], ids=lambda estimator: type(estimator).__name__
)
def test_the_decision_is_the_largest_tuned_decision(wine, estimator):
    X, y = wine
    tuned = cp.TunedDecisionClassifier(estimator, preferences=PREFERENCES, random_state=0).fit(X, y)
    shares = tuned.vote_shares(X)
    expected = tuned.classes_[np.argmax((shares + tuned.smoothing_) * tuned.weights_, axis=1)]
    assert (tuned.predict(X) == expected).mean() > 0.99  # but for ties at the last digit
    assert tuned.weighted_votes(X).sum(axis=1) == pytest.approx(1)
    assert np.array_equal(tuned.predict_proba(X), tuned.estimator_.predict_proba(X))
    assert tuned.weights_.prod() == pytest.approx(1)


def test_our_forest_inside_is_tuned_on_its_own_out_of_bag_votes(wine, monkeypatch):
    """One fit, hard votes, the same evidence and optimum as the forest that tunes itself."""
    X, y = wine
    fits = []
    original = cp.PragmaForestClassifier.fit
    monkeypatch.setattr(
        cp.PragmaForestClassifier, "fit", lambda self, *a, **k: fits.append(1) or original(self, *a, **k)
    )
    options = {"preferences": PREFERENCES, "random_state": 0}
    tuned = cp.TunedDecisionClassifier(cp.PragmaForestClassifier(15, tune=False, random_state=0), **options).fit(X, y)
    assert (len(fits), tuned.votes_are_hard_) == (1, True)
    forest = cp.PragmaForestClassifier(15, **options).fit(X, y)
    assert np.array_equal(tuned.estimator_.oob_votes_, forest.oob_votes_)
    assert np.array_equal(tuned.patterns_.votes, forest.patterns_.votes)
    assert tuned.search_.loss == forest.search_.loss
    assert np.array_equal(tuned.vote_shares(X), forest.vote_shares(X))
    by_hand = dict(zip(forest.classes_, forest.weights_, strict=True))
    again = cp.TunedDecisionClassifier(tuned.estimator, weights=by_hand).fit(X, y)
    assert np.array_equal(again.predict(X), forest.predict(X))


def test_preferences_by_class(wine):
    given = {"b": {"importance": 10, "precision_at_full_recall": 0.1, "recall_at_full_precision": 0.9}}
    for model in (
        cp.TunedDecisionClassifier(GaussianNB(), preferences=given, random_state=0),
        cp.PragmaForestClassifier(10, preferences=given, random_state=0),
    ):
        assert clone(model).preferences == given
        expected = clone(model).set_params(preferences=cp.Preferences(given)).fit(*wine)
        assert np.array_equal(model.fit(*wine).weights_, expected.weights_)
        assert model.preferences is given
        assert "10" in model._repr_html_()
        with pytest.raises(cp.InputError, match="preferences is a compromis"):
            clone(model).set_params(preferences=["b"]).fit(*wine)


def test_stored_loss_and_counts_follow_from_the_honest_votes(wine):
    X, y = wine
    tuned = cp.TunedDecisionClassifier(
        RandomForestClassifier(15, random_state=0), preferences=PREFERENCES, random_state=0, resamples=0
    ).fit(X, y)
    counts = tuned.patterns_.counts(tuned.weights_, smoothing=tuned.smoothing_)
    assert np.array_equal(counts.matrix, tuned.search_.counts.matrix)
    assert tuned.loss_ == tuned.search_.loss
    equal = tuned.patterns_.counts(np.ones(3), smoothing=tuned.smoothing_)
    from compromis.measures.pragma import pragma

    assert tuned.loss_ <= pragma(equal, PREFERENCES.on(equal.classes)).total


def test_it_serves_the_preferences_on_new_rows():
    X, y = make_classification(4000, 10, n_informative=4, weights=[0.93], flip_y=0.02, class_sep=0.8, random_state=3)
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    preferences = cp.Preferences.prioritise([1], metric="f")
    forest = RandomForestClassifier(50, random_state=0)
    plain = cp.pragma_loss(y_test, clone(forest).fit(X_train, y_train).predict(X_test), preferences=preferences)
    tuned = cp.TunedDecisionClassifier(forest, preferences=preferences, random_state=0).fit(X_train, y_train)
    assert cp.pragma_loss(y_test, tuned.predict(X_test), preferences=preferences) < 0.9 * plain


def test_out_of_fold_and_prefit_agree_with_hand_made_votes(wine):
    X, y = wine
    cv = StratifiedKFold(4, shuffle=True, random_state=1)
    tuned = cp.TunedDecisionClassifier(GaussianNB(), preferences=PREFERENCES, cv=cv, resamples=0).fit(X, y)
    votes = np.zeros((len(X), 3))
    for train, test in cv.split(X, y):
        votes[test] = GaussianNB().fit(X[train], y[train]).predict_proba(X[test])
    by_hand = cp.search_weights(y, votes, preferences=PREFERENCES, random_state=0)
    assert tuned.weights_ == pytest.approx(by_hand.weights)
    half = np.arange(len(X)) % 2 == 0
    fitted = GaussianNB().fit(X[half], y[half])
    prefit = cp.TunedDecisionClassifier(fitted, preferences=PREFERENCES, cv="prefit", resamples=0).fit(
        X[~half], y[~half]
    )
    frozen = cp.TunedDecisionClassifier(FrozenEstimator(fitted), preferences=PREFERENCES, cv=2, resamples=0).fit(
        X[~half], y[~half]
    )
    assert prefit.estimator_ is fitted
    assert prefit.weights_ == pytest.approx(frozen.weights_)


def test_repeated_folds_are_averaged(wine):
    X, y = wine
    X = X[:, :2]
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=4)
    tuned = cp.TunedDecisionClassifier(GaussianNB(), preferences=PREFERENCES, cv=folds, resamples=0).fit(X, y)
    pairs = list(folds.split(X, y))
    once = cross_val_predict(GaussianNB(), X, y, cv=pairs[:3], method="predict_proba")
    again = cross_val_predict(GaussianNB(), X, y, cv=pairs[3:], method="predict_proba")
    assert tuned.search_.loss == cp.search_weights(y, (once + again) / 2, preferences=PREFERENCES, random_state=0).loss


def test_weights_by_hand(wine):
    X, y = wine
    for weights in ({"b": 8.0}, [1.0, 8.0, 1.0]):
        tuned = cp.TunedDecisionClassifier(GaussianNB(), weights=weights).fit(X, y)
        assert tuned.weights_ == pytest.approx([0.5, 4.0, 0.5])
        assert tuned.search_ is None
        expected = tuned.classes_[np.argmax(GaussianNB().fit(X, y).predict_proba(X) * [1, 8, 1], axis=1)]
        assert np.array_equal(tuned.predict(X), expected)


def test_nothing_of_an_earlier_tuning_stays_with_weights_by_hand(wine):
    tuned = cp.TunedDecisionClassifier(GaussianNB(), preferences=PREFERENCES, random_state=0, resamples=0).fit(*wine)
    assert (tuned.loss_, tuned.verdict_.rows) == (tuned.search_.loss, "cross-fitted")
    tuned.set_params(weights=[1.0, 2.0, 1.0]).fit(*wine)
    assert [tuned.tuning_, tuned.search_, tuned.verdict_, tuned.loss_, tuned.stability_, tuned.patterns_] == [None] * 6


def test_the_summary_tells_what_decides_from_what_was_found(wine):
    tuned = (
        cp.TunedDecisionClassifier(GaussianNB(), preferences=PREFERENCES, random_state=0, resamples=5)
        .fit(*wine)
        .tuning_
    )
    worse, level = (
        replace(tuned, chosen=replace(tuned.chosen, loss=tuned.search.loss + more)).to_text(width=500)
        for more in (0.5, 0)
    )
    assert f"on these it is {tuned.search.loss + 0.5:.4f}, with weights averaged over 5 resamples" in worse
    assert f"({tuned.search.loss:.4f} is proven to be the lowest on these votes, and would pro" in worse
    assert "resamples (proven to be the lowest on these votes)" in level


def test_same_seed_same_result(wine):
    X, y = wine
    runs = [
        cp.TunedDecisionClassifier(
            KNeighborsClassifier(), preferences=PREFERENCES, random_state=7, n_jobs=jobs, resamples=3
        ).fit(X, y)
        for jobs in (1, 2)
    ]
    assert np.array_equal(runs[0].weights_, runs[1].weights_)
    assert np.array_equal(runs[0].stability_.weights, runs[1].stability_.weights)


def test_votes_of_rows_seen_in_training_are_refused(wine):
    X, y = wine
    rows = np.arange(len(X))
    tuned = cp.TunedDecisionClassifier(GaussianNB(), cv=[(rows, rows[::4])], random_state=0)
    with pytest.raises(cp.InputError, match="fold 1 has 45 rows in training and test"):
        tuned.fit(X, y)


def test_stability(wine):
    X, y = wine
    tuned = cp.TunedDecisionClassifier(GaussianNB(), preferences=PREFERENCES, random_state=0, resamples=8).fit(X, y)
    assert tuned.stability_.weights.shape == (8, 3)
    assert (tuned.stability_.ratio >= 1).all()
    assert "over 8 resamples" in str(tuned.stability_)


def test_frames_names_clone_pickle_and_search(wine):
    X, y = wine
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    tuned = cp.TunedDecisionClassifier(
        RandomForestClassifier(10, random_state=0), preferences=PREFERENCES, random_state=0, resamples=2
    ).fit(frame, y)
    assert list(tuned.feature_names_in_) == list(frame.columns)
    assert tuned.n_features_in_ == 13
    again = pickle.loads(pickle.dumps(tuned))
    assert np.array_equal(again.predict(frame), tuned.predict(frame))
    assert np.array_equal(clone(tuned).fit(frame, y).weights_, tuned.weights_)
    pipeline = make_pipeline(
        StandardScaler(),
        cp.TunedDecisionClassifier(LogisticRegression(), preferences=PREFERENCES, random_state=0, resamples=0),
    )
    grid = GridSearchCV(
        pipeline, {"tuneddecisionclassifier__estimator__C": [0.1, 1.0]}, scoring=cp.pragma_scorer(PREFERENCES), cv=3
    )
    assert grid.fit(frame, y).best_score_ > 0.7


def test_our_forest_in_a_pipeline_and_a_grid(wine):
    X, y = wine
    forest = cp.PragmaForestClassifier(5, tune=False, random_state=0)
    inside = cp.TunedDecisionClassifier(forest, random_state=0, resamples=0)
    for model, name in ((inside, "estimator__max_depth"), (cp.PragmaForestClassifier(5, random_state=0), "max_depth")):
        pipeline = make_pipeline(StandardScaler(), model.set_params(preferences=PREFERENCES))
        step = type(model).__name__.lower()
        grid = GridSearchCV(pipeline, {f"{step}__{name}": [1, 6]}, scoring=cp.pragma_scorer(PREFERENCES), cv=2)
        assert grid.fit(X, y).best_params_ == {f"{step}__{name}": 6}
        assert grid.best_estimator_[-1].decision_.classes == ("a", "b", "c")


def test_a_fold_may_lack_a_rare_class():
    X, y = make_classification(60, random_state=0)
    y = y.copy()
    y[:2] = 2  # two rows: not in every fold's training part
    tuned = cp.TunedDecisionClassifier(
        GaussianNB(), cv=KFold(30), random_state=0, preferences=cp.Preferences.prioritise([1], metric="f")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert list(tuned.fit(X, y).classes_) == [0, 1, 2]


@pytest.mark.filterwarnings("ignore::compromis.NotBetterWarning")
def test_sample_weights_reach_the_estimator_and_the_search_only_when_told(wine):
    X, y = wine
    weight = np.where(y == "b", 5.0, 1.0) * np.linspace(1, 2, len(y))
    tuned = cp.TunedDecisionClassifier(GaussianNB(), preferences=PREFERENCES, random_state=0, resamples=0)
    tuned.fit(X, y, sample_weight=weight)
    assert tuned.search_.counts.total == len(y)
    assert tuned.estimator_.class_prior_ == pytest.approx(GaussianNB().fit(X, y, weight).class_prior_)
    tuned.fit(X, y, search_sample_weight=weight)
    assert tuned.search_.counts.total == pytest.approx(weight.sum())
    assert tuned.estimator_.class_prior_ == pytest.approx(GaussianNB().fit(X, y).class_prior_)
    forest = cp.PragmaForestClassifier(10, preferences=PREFERENCES, random_state=0)
    assert forest.fit(X, y, weight).search_.counts.rows == forest.search_.counts.total
    told = forest.fit(X, y, search_sample_weight=weight).patterns_
    assert told.multiplicity.sum() == pytest.approx(weight[forest.oob_votes_.any(axis=1)].sum())


def test_balancing_weights_do_not_break_a_minimum():
    """`class_weight`-like weights in fit shift the probabilities; the search makes up for them on the real shares."""
    X, y = make_classification(3000, 8, n_informative=6, weights=[0.95], flip_y=0.01, class_sep=1.2, random_state=1)
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    balanced = compute_sample_weight("balanced", y_train)
    preferences = cp.Preferences({1: cp.Preference(10, 0.5, 0.5, min_precision=0.5)})
    tuned = cp.TunedDecisionClassifier(LogisticRegression(), preferences=preferences, random_state=0)
    tuned.fit(X_train, y_train, sample_weight=balanced)
    assert cp.evaluate(y_test, tuned.predict(X_test)).per_class[1].precision >= 0.5
    with pytest.warns(UserWarning, match="a function of the class alone"):
        tuned.fit(X_train, y_train, search_sample_weight=balanced)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tuned.fit(X_train, y_train, search_sample_weight=np.full(len(y_train), 3.0))


def test_rows_of_weight_zero_leave_the_search(wine):
    X, y = wine
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    tuned = cp.TunedDecisionClassifier(GaussianNB(), preferences=PREFERENCES, random_state=0, resamples=0)
    assert tuned.fit(X, y, sample_weight=weight).search_.counts.total == weight.sum()
    assert tuned.fit(X, y, weight, search_sample_weight=np.arange(len(y))).patterns_.support.sum() == (
        np.arange(len(y))[weight > 0].sum()
    )


@pytest.mark.parametrize("options", [{}, {"cv": "prefit"}])
def test_weights_that_no_fit_takes_are_refused(wine, options):
    X, y = wine
    inner = GaussianNB().fit(X, y) if options else KNeighborsClassifier()
    with pytest.raises(cp.InputError, match="takes no sample_weight"):
        cp.TunedDecisionClassifier(inner, **options).fit(X, y, np.ones(len(y)))


@pytest.mark.parametrize("cv", ["auto", 3, StratifiedGroupKFold(3), GroupKFold(3)])
@pytest.mark.parametrize("estimator", [GaussianNB(), RandomForestClassifier(5, random_state=0)])
def test_groups_stay_in_one_fold(wine, monkeypatch, estimator, cv):
    X, y = wine
    groups = np.array([f"g{k % 30}" for k in range(len(y))])
    folds = []
    original = tuned_decision.choose_folds
    monkeypatch.setattr(tuned_decision, "choose_folds", lambda *a, **k: folds.append(original(*a, **k)) or folds[-1])
    tuned = cp.TunedDecisionClassifier(estimator, preferences=PREFERENCES, cv=cv, random_state=0, resamples=0)
    tuned.fit(X, y, groups=groups)
    assert len(folds[0]) == (5 if cv == "auto" else 3)
    assert all(not set(groups[fold.train]) & set(groups[fold.test]) for fold in folds[0])
    with sklearn.config_context(enable_metadata_routing=True):
        tuned.fit(X, y, groups=groups)
    assert len(folds) == 2


def test_folds_that_break_groups_are_refused(wine):
    X, y = wine
    tuned = cp.TunedDecisionClassifier(GaussianNB(), cv=StratifiedKFold(3), random_state=0)
    with (
        pytest.warns(UserWarning, match="ignored"),
        pytest.raises(cp.InputError, match="rows of one group in training"),
    ):
        tuned.fit(X, y, groups=np.arange(len(y)) // 2)


def test_two_classes_have_a_threshold(wine):
    X, y = wine
    two = y != "c"
    for preferences, label in ((PREFERENCES, "b"), (cp.Preferences({"a": 10}), "a"), (None, "b")):
        for estimator in (GaussianNB(), RandomForestClassifier(7, random_state=0)):
            tuned = cp.TunedDecisionClassifier(estimator, preferences=preferences, random_state=0).fit(
                X[two, :2], y[two]
            )
            share = tuned.vote_shares(X[:, :2])[:, "ab".index(label)]
            reached = share >= tuned.threshold_ if label == "a" else share > tuned.threshold_
            assert tuned.threshold_.label == label
            assert (reached == (tuned.predict(X[:, :2]) == label)).all()
            told = label if preferences else "a"  # as the headline: the rarer class
            assert f"of 1,000 rows are predicted '{told}'" in str(tuned.tuning_)
            assert "Threshold: " in str(tuned.search_)
    assert not hasattr(cp.TunedDecisionClassifier(GaussianNB()).fit(X, y), "threshold_")
    assert (
        cp.PragmaForestClassifier(5, preferences=PREFERENCES, random_state=0).fit(X[two], y[two]).threshold_.label
        == "b"
    )


def test_metadata_routing(wine):
    X, y = wine
    weight = np.where(y == "b", 5.0, 1.0) * np.linspace(1, 2, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        inner = GaussianNB().set_fit_request(sample_weight=True)
        tuned = cp.TunedDecisionClassifier(inner, preferences=PREFERENCES, random_state=0).set_fit_request(
            sample_weight=True
        )
        tuned.fit(X, y, sample_weight=weight)
        assert tuned.estimator_.class_prior_ == pytest.approx(GaussianNB().fit(X, y, weight).class_prior_)
        silent = cp.TunedDecisionClassifier(
            GaussianNB().set_fit_request(sample_weight=False), preferences=PREFERENCES, random_state=0
        )
        silent = silent.set_fit_request(sample_weight=True).fit(X, y, sample_weight=weight)
        assert silent.estimator_.class_prior_ == pytest.approx(GaussianNB().fit(X, y).class_prior_)
        assert silent.search_.counts.total == pytest.approx(weight.sum())
        unasked = cp.TunedDecisionClassifier(inner, preferences=PREFERENCES, random_state=0)
        assert unasked.fit(X, y, sample_weight=weight).search_.counts.total == len(y)
        tuned = tuned.set_score_request(sample_weight=False)
        cross_validate(tuned, X, y, params={"sample_weight": weight}, cv=3, error_score="raise")


def test_with_prevalence_on_resampled_data():
    """Where only the class shares change, weights for the new shares are about as good as weights tuned on new labels."""
    X, y = make_classification(20_000, 8, n_informative=5, weights=[0.8], class_sep=0.7, random_state=1)
    X_train, X_new, y_train, y_new = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    rng = np.random.default_rng(0)
    positive, negative = np.flatnonzero(y_new == 1), np.flatnonzero(y_new == 0)
    rare = np.concatenate([rng.choice(positive, 160, replace=False), negative[:8000]])  # 2 % instead of 20 %
    preferences = cp.Preferences({1: cp.Preference(5, 0.3, 0.7)}, metric="f")
    tuned = cp.TunedDecisionClassifier(GaussianNB(), preferences=preferences, random_state=0, resamples=0).fit(
        X_train, y_train
    )
    adjusted = tuned.with_prevalence({0: 0.98, 1: 0.02})
    assert not np.allclose(adjusted.weights_, tuned.weights_)
    best = cp.search_weights(y_new[rare], tuned.vote_shares(X_new[rare]), preferences=preferences, random_state=0).loss

    def loss(model):
        return cp.pragma_loss(y_new[rare], model.predict(X_new[rare]), preferences=preferences)

    assert loss(adjusted) <= 1.05 * best
    assert loss(adjusted) < loss(tuned)


class Unfit(GaussianNB):
    """An estimator whose fit nobody may reach."""

    def fit(self, X, y, sample_weight=None):
        raise AssertionError("this is the costly part")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"method": "guess"}, "there is no method 'guess'"),
        ({"resamples": 2.5}, "resamples is 'auto' or a whole number of at least 0, got 2.5"),
        ({"resamples": "many"}, "resamples is 'auto'"),
        ({"max_ratio": 0.5}, "max_ratio is at least 1"),
        ({"smoothing": "some"}, "smoothing is 'auto'"),
        ({"cv": "five"}, "cv is 'auto'"),
        ({"cv": 1}, "n_splits"),
        ({"cv": 2.5}, "Expected `cv` as an integer"),
        ({"preferences": {"z": 2}}, "a preference for 'z'"),
        ({"preferences": dict.fromkeys("abc", 0)}, "importances of all 3 classes are 0"),
        ({"preferences": ["a"]}, "preferences is a compromis.Preferences"),
        ({"weights": {"z": 2}}, "there is a weight for 'z'"),
        ({"weights": [1, 2]}, "weights"),
        ({"votes": "soft"}, "votes is 'auto'"),
        ({"random_state": "x"}, "cannot be used to seed"),
    ],
)
def test_parameters_are_read_before_anything_is_fitted(wine, wrong, message):
    X, y = wine
    with pytest.raises(ValueError, match=message):
        cp.TunedDecisionClassifier(Unfit(), **wrong).fit(X, y)


def test_a_fitted_estimator_names_the_classes(wine):
    """The rows held out may lack a class that the estimator knows: a preference for it is right."""
    X, y = wine
    fitted = GaussianNB().fit(X, y)
    rows = y != "c"
    preferences = cp.Preferences({"b": 3.0, "c": 10.0})
    tuned = cp.TunedDecisionClassifier(fitted, cv="prefit", preferences=preferences, random_state=0).fit(
        X[rows], y[rows]
    )
    assert tuned.weights_.shape == (3,)


def test_a_worthless_result_warns(wine):
    with pytest.warns(cp.NotBetterWarning, match="no better than no model: loss"):
        cp.TunedDecisionClassifier(DummyClassifier(), preferences=PREFERENCES).fit(*wine)


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: cp.TunedDecisionClassifier(LinearRegression()), cp.InputError, "a classifier with predict_proba, got LinearRegression"),
        (lambda: cp.TunedDecisionClassifier(LinearSVC()), cp.InputError, "LinearSVC has no predict_proba; wrap it in sklearn.calibration.Cali"),
        (lambda: cp.TunedDecisionClassifier(GaussianNB(), votes="hard"), cp.InputError, "votes='hard' needs an ensemble"),
        (lambda: cp.TunedDecisionClassifier(GaussianNB(), votes="soft"), cp.InputError, "votes is 'auto', 'hard' or 'proba', got 'soft'"),
        (lambda: cp.TunedDecisionClassifier(GaussianNB(), cv="prefit"), NotFittedError, "cv='prefit' needs a fitted estimator"),
        (lambda: cp.TunedDecisionClassifier(GaussianNB(), cv="five"), cp.InputError, "cv is 'auto', 'prefit', a number of folds or a splitter"),
        (lambda: cp.TunedDecisionClassifier(GaussianNB(), smoothing=-1), cp.InputError, "smoothing is 'auto' or a finite number of at least 0"),
        (lambda: cp.TunedDecisionClassifier(GaussianNB(), resamples=-1), cp.InputError, "resamples is 'auto' or a whole number of at least 0"),
        (lambda: cp.TunedDecisionClassifier(GaussianNB(), weights={"z": 2}), cp.InputError, "there is a weight for 'z', but the classes are"),
        (lambda: cp.TunedDecisionClassifier(GaussianNB(), weights=[1, -1, 1]), cp.InputError, "weight"),
        (lambda: cp.TunedDecisionClassifier(GaussianNB(), preferences=cp.Preferences.prioritise(["z"])), cp.InputError, "preference for 'z'"),
        (lambda: cp.TunedDecisionClassifier(GaussianNB(), method="guess"), cp.InputError, "there is no method 'guess'"),
    ],
)  # fmt: skip
def test_bad_input(wine, make, error, said):
    with pytest.raises(error, match=said):
        make().fit(*wine)


def test_one_class_only(wine):
    with pytest.raises(cp.InputError, match="y has only one class, 'a'; there is nothing to decide"):
        cp.TunedDecisionClassifier(GaussianNB()).fit(wine[0], np.full(len(wine[0]), "a"))


def test_bad_prevalence(wine):
    tuned = cp.TunedDecisionClassifier(GaussianNB(), preferences=PREFERENCES, random_state=0).fit(*wine)
    for shares, said in (
        ({"a": 1}, "shares misses 'b', 'c'; give one share for every class"),
        ([1, 2], "there are 3 classes; give one share per class"),
        ([-1, 1, 1], "at least 0"),
    ):
        with pytest.raises(cp.InputError, match=said):
            tuned.with_prevalence(shares)
    with pytest.raises(cp.InputError, match="no evidence to search again"):
        cp.TunedDecisionClassifier(GaussianNB(), weights=[1, 2, 3]).fit(*wine).with_prevalence([1, 1, 1])


DECISION = "the decision is the largest weighted vote, not the largest probability; scikit-learn's threshold tuner has this exception too"


BOOTSTRAP = (
    "bootstrap samples are drawn by row, so weighing a row is not repeating it; the forest itself has this exception"
)


EXPLAINED = {
    "LogisticRegression": {"check_classifiers_train": DECISION},
    "DecisionTreeClassifier": {},
    "RandomForestClassifier": {
        "check_classifiers_train": DECISION,
        "check_sample_weight_equivalence_on_dense_data": BOOTSTRAP,
        "check_sample_weight_equivalence_on_sparse_data": BOOTSTRAP,
    },
}


@parametrize_with_checks(
    [
        cp.TunedDecisionClassifier(LogisticRegression(), random_state=0, resamples=2),
        cp.TunedDecisionClassifier(DecisionTreeClassifier(random_state=0), random_state=0, resamples=2),
        cp.TunedDecisionClassifier(RandomForestClassifier(5, random_state=0), random_state=0, resamples=2),
    ],
    expected_failed_checks=lambda tuned: EXPLAINED[type(tuned.estimator).__name__],
)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cp.NotBetterWarning)  # the checks' data is noise
        check(estimator)


def test_a_real_table_end_to_end():
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    preferences = cp.Preferences({0: cp.Preference(10, 0.3, 0.95)}, metric="f")
    tuned = cp.TunedDecisionClassifier(
        RandomForestClassifier(20, random_state=0), preferences=preferences, random_state=0
    ).fit(X_train, y_train)
    result = cp.evaluate(y_test, tuned.predict(X_test), preferences=preferences)
    assert result.verdict.state == "better"
    assert result.per_class[0].recall >= 0.95


def test_estimators_say_their_preferences_below_the_diagram():
    from sklearn.ensemble import RandomForestClassifier

    preferences = cp.Preferences({"<b>bad</b>": cp.Preference(10, 0.1, 0.9)}, metric="f")
    for model in (
        cp.TunedDecisionClassifier(RandomForestClassifier(2), preferences=preferences),
        cp.PragmaTreeClassifier(preferences=preferences),
        cp.PragmaForestClassifier(preferences=preferences),
    ):
        shown = model._repr_mimebundle_()["text/html"]
        assert "<b>bad" not in shown
        for line in preferences.describe().split("\n"):
            assert html.escape(line) in shown
    assert "What matters" not in cp.PragmaTreeClassifier()._repr_html_()


@pytest.fixture(scope="module")
def rare():
    """A class of 5 % that a probability of 1/2 never finds: accuracy is best where nobody is called rare."""
    X, y = make_classification(1500, weights=[0.95], class_sep=0.6, flip_y=0.02, random_state=3)
    return X, np.where(y == 1, "rare", "common")


@pytest.mark.parametrize(
    "preferences",
    [
        cp.Preferences.prioritise(["rare"]),
        cp.Preferences({"rare": {"importance": 5, "min_recall": 0.6}}),
        cp.Preferences(cost={("rare", "common"): 50, ("common", "rare"): 1}),
        cp.Preferences({"rare": {"min_recall": 0.5}}, cost={("rare", "common"): 3, ("common", "rare"): 1}),
    ],
)
def test_a_grid_search_picks_by_preferences_not_by_accuracy(rare, preferences):
    X, y = rare
    tuned = cp.TunedDecisionClassifier(LogisticRegression(), preferences=preferences, resamples=0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotBetterWarning)
        grid = {"max_ratio": [1, None]}  # 1: equal weights, which have the best accuracy
        chosen = GridSearchCV(tuned, grid, cv=3).fit(X, y)
        by_accuracy = GridSearchCV(tuned, grid, cv=3, scoring="accuracy").fit(X, y)
        by_scorer = GridSearchCV(tuned, grid, cv=3, scoring=cp.pragma_scorer(preferences)).fit(X, y)
        plain = cp.TunedDecisionClassifier(LogisticRegression(), resamples=0, random_state=0).fit(X, y)
    assert by_accuracy.best_params_ == {"max_ratio": 1}
    assert chosen.best_params_ == {"max_ratio": None}
    np.testing.assert_allclose(chosen.cv_results_["mean_test_score"], by_scorer.cv_results_["mean_test_score"])
    counts = cp.Counts.from_predictions(y, chosen.predict(X))
    loss = cp.evaluate(counts, preferences=preferences)
    if not loss.verdict.constraints:
        assert chosen.best_estimator_.score(X, y) == pytest.approx(1 - loss.summary.loss)
    assert plain.score(X, y) == pytest.approx((plain.predict(X) == y).mean())


def test_constraints_come_first_in_a_grid_search(rare):
    """By the loss equal weights would be better; the minimum speaks for the others."""
    X, y = rare
    costs = cp.Preferences({"rare": {"min_recall": 0.8}}, cost={("rare", "common"): 1, ("common", "rare"): 1})
    tuned = cp.TunedDecisionClassifier(LogisticRegression(), preferences=costs, resamples=0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotBetterWarning)
        chosen = GridSearchCV(tuned, {"max_ratio": [1, None]}, cv=3).fit(X, y)
    assert chosen.best_params_ == {"max_ratio": None}
    scores = chosen.cv_results_["mean_test_score"]
    assert scores[0] < scores[1]


def test_trees_score_by_preferences(rare):
    X, y = rare
    preferences = cp.Preferences.prioritise(["rare"])
    tree = cp.PragmaTreeClassifier(preferences=preferences, max_depth=3).fit(X, y)
    assert tree.score(X, y) == pytest.approx(1 - cp.pragma_loss(y, tree.predict(X), preferences=preferences))
    weight = np.where(y == "rare", 3.0, 1.0)
    expected = cp.pragma_loss(y, tree.predict(X), preferences=preferences, sample_weight=weight)
    assert tree.score(X, y, weight) == pytest.approx(1 - expected)


class TestEffort:
    """effort="best": the mean probabilities of three times five folds."""

    def test_votes_are_the_mean_of_three_models_that_have_not_seen_the_row(self, wine):
        X, y = wine
        seen = []

        class Recording(GaussianNB):
            def fit(self, X, y):
                seen.append({tuple(row) for row in X})
                return super().fit(X, y)

        tuned = cp.TunedDecisionClassifier(Recording(), preferences=PREFERENCES, effort="best", random_state=0).fit(
            X, y
        )
        assert len(seen) == 16  # fifteen folds, and all rows
        left_out = [sum(tuple(row) not in rows for rows in seen) for row in X]
        assert set(left_out) == {3}
        votes = [
            np.mean(
                [
                    GaussianNB().fit(*_of(rows, X, y)).predict_proba(row[np.newaxis])[0]
                    for rows in seen
                    if tuple(row) not in rows
                ],
                axis=0,
            )
            for row in X[:10]
        ]
        honest = tuned.patterns_.votes
        assert all(np.isclose(honest, vote, rtol=1e-12, atol=1e-15).all(axis=1).any() for vote in votes)

    def test_a_forest_is_judged_by_probabilities_of_folds(self, wine):
        forest = RandomForestClassifier(5, random_state=0)
        tuned = cp.TunedDecisionClassifier(forest, preferences=PREFERENCES, effort="best", random_state=0).fit(*wine)
        assert not tuned.votes_are_hard_
        assert (tuned.patterns_.votes.sum(axis=1) > 0).all()  # out of bag of five trees, some rows have none
        np.testing.assert_allclose(tuned.vote_shares(wine[0]), tuned.estimator_.predict_proba(wine[0]))

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"effort": "most"}, "effort is 'auto' or 'best', got 'most'"),
            ({"effort": "best", "cv": 3}, "effort='best' makes the folds itself; leave cv out, or effort"),
        ],
    )
    def test_bad_input(self, wine, options, said):
        with pytest.raises(cp.InputError, match=said) as caught:
            cp.TunedDecisionClassifier(GaussianNB(), **options).fit(*wine)
        assert caught.value.parameter == "effort"


def _of(rows, X, y):
    chosen = np.array([tuple(row) in rows for row in X])
    return X[chosen], y[chosen]


@pytest.mark.parametrize("name", ["X", "sample_weight", "search_sample_weight", "by", "amount"])
@pytest.mark.parametrize("estimator", [cp.TunedDecisionClassifier(LogisticRegression()), cp.PragmaForestClassifier()])
def test_rows_that_stand_in_another_order_are_refused(estimator, name):
    y = pd.Series(["a", "b"] * 4)
    costs = {("a", "b"): "amount", ("b", "a"): 1} if name == "amount" else None
    given = {"X": pd.DataFrame({"x": range(8)}), name: pd.Series(range(1, 9))[::-1]}
    given["X"] = given["X"] if name != "X" else given["X"].to_frame()
    with pytest.raises(cp.InputError, match=f"{name} has the pandas row labels of the true classes in another order"):
        clone(estimator).set_params(preferences=cp.Preferences(cost=costs)).fit(given.pop("X"), y, **given)


def test_groups_that_stand_in_another_order_are_refused():
    y = pd.Series(["a", "b"] * 4)
    with pytest.raises(cp.InputError, match="groups has the pandas row labels of the true classes in another order"):
        cp.TunedDecisionClassifier(LogisticRegression()).fit([[0], [1]] * 4, y, groups=y[::-1])


@pytest.mark.parametrize("estimator", [cp.PragmaTreeClassifier(), cp.C45Classifier()])
def test_trees_refuse_rows_in_another_order_too(estimator):
    y = pd.Series(["a", "b"] * 4)
    with pytest.raises(cp.InputError, match="X has the pandas row labels of the true classes in another order"):
        estimator.fit(pd.DataFrame({"x": range(8)})[::-1], y)


def test_a_meta_estimator_that_numbers_the_classes_is_named():
    members = [("tuned", cp.TunedDecisionClassifier(LogisticRegression(), preferences={"bad": 10}))]
    with pytest.raises(cp.InputError, match=r"the classes are 0, 1; StackingClassifier, .* number the classes"):
        VotingClassifier(members).fit([[0], [1]] * 4, ["good", "bad"] * 4)


@pytest.mark.parametrize("estimator", [
    cp.TunedDecisionClassifier(GaussianNB(), weights=[1, 2]),
    cp.PragmaForestClassifier(3, tune=False, random_state=0),
])  # fmt: skip
def test_a_confidence_is_not_forgotten_where_nothing_is_searched(estimator):
    X, y = np.arange(40.0).reshape(-1, 1), np.repeat([0, 1], 20)
    estimator.set_params(preferences={1: cp.Preference(min_recall=0.9, confidence=0.9)})
    with pytest.warns(cp.GuaranteeWarning, match="nothing is guaranteed"):
        estimator.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator.set_params(preferences={1: cp.Preference(min_recall=0.9)}).fit(X, y)
