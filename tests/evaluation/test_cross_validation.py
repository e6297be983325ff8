"""Cross-validation: against scikit-learn's, fold by fold, and what must not be judged."""

from __future__ import annotations

import json
import math
import warnings
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse, stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import accuracy_score, cohen_kappa_score, confusion_matrix, roc_auc_score
from sklearn.model_selection import (
    GroupKFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import compromis as cp

X, Y = load_iris(return_X_y=True)
TABLE = pa.table({name: X[:, column] for column, name in enumerate("abcd")})
FOLDS = StratifiedKFold(5, shuffle=True, random_state=3)
PREFERENCES = cp.Preferences.prioritise([2])


def test_pooled_and_averaged_are_scikit_learns():
    result = cp.cross_evaluate(GaussianNB(), X, Y, cv=FOLDS, preferences=PREFERENCES)
    predicted = cross_val_predict(GaussianNB(), X, Y, cv=FOLDS)
    proba = cross_val_predict(GaussianNB(), X, Y, cv=FOLDS, method="predict_proba")
    assert result.counts.matrix.tolist() == confusion_matrix(Y, predicted).tolist()
    assert result.per_class[1].roc_area == pytest.approx(roc_auc_score(Y == 1, proba[:, 1]))
    scores = cross_val_score(GaussianNB(), X, Y, cv=FOLDS)
    assert result.averages["accuracy"].mean.value == pytest.approx(scores.mean())
    assert result.averages["accuracy"].deviation == pytest.approx(scores.std(ddof=1))
    losses = 1 - cross_val_score(GaussianNB(), X, Y, cv=FOLDS, scoring=cp.pragma_scorer(PREFERENCES))
    assert result.averages["loss"].mean.value == pytest.approx(losses.mean())
    assert result.summary.loss == pytest.approx(cp.pragma_loss(Y, predicted, preferences=PREFERENCES))
    assert result.verdict.baselines[0].name == "always predicting 0"


def test_the_interval_of_a_mean_keeps_to_what_can_be():
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(GaussianNB(), X, Y, cv=folds)
    reach = stats.t.ppf(0.975, 2) * scores.std(ddof=1) * math.sqrt(1 / 3 + 1 / 2)  # Nadeau and Bengio
    assert scores.mean() + reach > 1
    result = cp.cross_evaluate(GaussianNB(), X, Y, cv=folds, preferences=PREFERENCES)
    accuracy = result.averages["accuracy"].mean
    assert (accuracy.low, accuracy.high) == (pytest.approx(scores.mean() - reach), 1.0)
    costly = cp.cross_evaluate(
        GaussianNB(), X, Y, cv=folds, preferences=cp.Preferences(cost=4 - 4 * np.eye(3), labels=[0, 1, 2])
    )
    assert costly.averages["loss"].mean.low == pytest.approx(4 - 4 * (scores.mean() + reach))


def test_each_fold_is_an_evaluation():
    result = cp.cross_evaluate(GaussianNB(), X, Y, cv=FOLDS)
    for fold, (train, test) in zip(result.folds, FOLDS.split(X, Y), strict=True):
        predicted = GaussianNB().fit(X[train], Y[train]).predict(X[test])
        assert isinstance(fold, cp.Evaluation)
        assert fold.summary.accuracy == accuracy_score(Y[test], predicted)
        assert fold.summary.kappa == pytest.approx(cohen_kappa_score(Y[test], predicted))
        assert fold.priors == pytest.approx((np.bincount(Y[train]) + 1) / (len(train) + 3))
    assert sum(result.test_rows) == 150
    assert len(result.fit_seconds) == len(result.predict_seconds) == 5
    assert min(result.fit_seconds) > 0


def test_relative_errors_compare_with_each_training_fold():
    """Weka in cross-validation: the sum of the errors over the sum of what each fold's training priors would err."""
    result = cp.cross_evaluate(GaussianNB(), X, Y, cv=FOLDS)
    absolute = squared = by_prior = by_prior_squared = 0.0
    for train, test in FOLDS.split(X, Y):
        proba = GaussianNB().fit(X[train], Y[train]).predict_proba(X[test])
        priors = (np.bincount(Y[train]) + 1) / (len(train) + 3)
        truth = np.eye(3)[Y[test]]
        absolute += np.abs(truth - proba).sum()
        squared += ((truth - proba) ** 2).sum()
        by_prior += np.abs(truth - priors).sum()
        by_prior_squared += ((truth - priors) ** 2).sum()
    assert result.summary.relative_absolute_error == pytest.approx(absolute / by_prior)
    assert result.summary.root_relative_squared_error == pytest.approx(math.sqrt(squared / by_prior_squared))
    assert result.summary.mean_absolute_error == pytest.approx(absolute / 450)


def test_decisions_without_probabilities():
    result = cp.cross_evaluate(LinearSVC(), X, Y, cv=FOLDS)
    predicted = cross_val_predict(LinearSVC(), X, Y, cv=FOLDS)
    assert result.counts.matrix.tolist() == confusion_matrix(Y, predicted).tolist()
    assert result.summary.mean_absolute_error == pytest.approx(2 * (predicted != Y).sum() / 450)


@pytest.mark.parametrize(
    "rows",
    [X, X.tolist(), pd.DataFrame(X), pl.DataFrame(X), TABLE, sparse.csr_array(X), sparse.coo_matrix(X)],
    ids=["array", "list", "pandas", "polars", "pyarrow", "sparse", "coo"],
)
@pytest.mark.parametrize(
    "labels",
    [Y, Y.tolist(), pd.Series(Y, index=np.arange(150)[::-1]), pl.Series(Y), pa.array(Y)],
    ids=["array", "list", "series", "polars", "pyarrow"],
)
def test_any_container(rows, labels):
    model = MultinomialNB() if sparse.issparse(rows) else GaussianNB()
    expected = cp.cross_evaluate(model, X, Y, cv=3)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X has feature names|X does not have valid")
        found = cp.cross_evaluate(model, rows, labels, cv=3)
    assert found.counts.matrix.tolist() == expected.counts.matrix.tolist()


def test_rows_of_different_number():
    with pytest.raises(cp.InputError, match="X has 149 rows, y has 150"):
        cp.cross_evaluate(GaussianNB(), X[:-1], Y)


def test_preferences_as_a_plain_mapping():
    result = cp.cross_evaluate(GaussianNB(), X, Y, cv=3, preferences={2: 10})
    assert (
        result.summary.loss
        == cp.cross_evaluate(GaussianNB(), X, Y, cv=3, preferences=cp.Preferences({2: 10})).summary.loss
    )


def test_text_labels_and_classes_in_order():
    names = np.array(["setosa", "versicolor", "virginica"])[Y]
    order = ["virginica", "versicolor", "setosa"]
    result = cp.cross_evaluate(GaussianNB(), X, names, cv=FOLDS, labels=order)
    plain = cp.cross_evaluate(GaussianNB(), X, Y, cv=FOLDS)
    assert result.counts.classes == tuple(order)
    assert result.counts.matrix.tolist() == plain.counts.matrix[::-1, ::-1].tolist()
    assert result.per_class["setosa"].roc_area == plain.per_class[0].roc_area


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_backends_of_joblib_give_the_same(backend):
    plain = cp.cross_evaluate(GaussianNB(), X, Y, preferences=PREFERENCES, confidence=0.9)
    with joblib.parallel_config(backend=backend):
        found = cp.cross_evaluate(GaussianNB(), X, Y, preferences=PREFERENCES, confidence=0.9, n_jobs=2)
    assert found.counts.matrix.tolist() == plain.counts.matrix.tolist()
    assert found.intervals.summary == plain.intervals.summary


def test_groups_stay_together(rng):
    groups = rng.integers(0, 12, 150)
    seen = []

    class Spy(GaussianNB):
        def predict(self, rows):
            seen.append({tuple(row) for row in rows})
            return super().predict(rows)

    result = cp.cross_evaluate(Spy(), X, Y, groups=groups, cv=4, confidence=0.95)
    by_group = [{tuple(row) for row in X[groups == group]} for group in range(12)]
    alone = [
        group - set().union(*(other for k, other in enumerate(by_group) if k != number))
        for number, group in enumerate(by_group)
    ]
    for group in alone:
        assert sum(bool(group & fold) for fold in seen) == 1
    rows = cp.evaluate(result.counts, confidence=0.95).intervals
    assert result.intervals.summary["accuracy"] != rows.summary["accuracy"]


def test_rows_in_order_of_time():
    order = np.random.default_rng(0).permutation(150)
    result = cp.cross_evaluate(GaussianNB(), X[order], Y[order], cv=TimeSeriesSplit(4))
    assert result.untested == 30
    assert result.counts.rows == 120
    assert result.train_rows == (30, 60, 90, 120)
    assert "30 rows are in no test fold" in str(result)


def test_repeated_folds_do_not_make_rows():
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0)
    repeated = cp.cross_evaluate(GaussianNB(), X, Y, cv=folds, confidence=0.95)
    once = cp.cross_evaluate(GaussianNB(), X, Y, cv=FOLDS, confidence=0.95)
    assert repeated.repeats == 4
    assert repeated.counts.rows == 600
    for name in ("accuracy", "kappa"):
        assert repeated.intervals.summary[name].width == pytest.approx(once.intervals.summary[name].width, rel=0.25)
    width = once.intervals.per_class[1]["roc_area"].width
    assert repeated.intervals.per_class[1]["roc_area"].width == pytest.approx(width, rel=0.6)


def test_a_class_that_a_training_fold_lacks():
    labels = np.r_[np.zeros(50, int), np.ones(50, int), np.full(50, 2)]
    folds = [(np.arange(100), np.arange(100, 150)), (np.arange(50, 150), np.arange(50))]
    result = cp.cross_evaluate(GaussianNB(), X, labels, cv=folds, preferences=PREFERENCES)
    assert result.per_class[2].recall == 0
    assert result.folds[0].counts.classes == (0, 1, 2)
    assert str(result)


def test_weights_reach_fit_and_counts(rng):
    weight = rng.integers(0, 4, 150).astype(float)
    result = cp.cross_evaluate(GaussianNB(), X, Y, cv=FOLDS, sample_weight=weight)
    predicted = np.empty_like(Y)
    for train, test in FOLDS.split(X, Y):
        predicted[test] = GaussianNB().fit(X[train], Y[train], sample_weight=weight[train]).predict(X[test])
    assert result.counts.matrix.tolist() == confusion_matrix(Y, predicted, sample_weight=weight).tolist()


def test_progress_is_told():
    told = []
    cp.cross_evaluate(GaussianNB(), X, Y, cv=4, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_bar_on_request(capsys):
    cp.cross_evaluate(GaussianNB(), X, Y, cv=4, progress=True)
    cp.cross_evaluate(GaussianNB(), X, Y, cv=4)
    assert capsys.readouterr().out == ""


class Memoriser(ClassifierMixin, BaseEstimator):
    """Chooses its 'weights' on its own training rows, where it knows everything."""

    def __init__(self, honest=False):
        self.honest = honest

    def fit(self, rows, labels):
        self.classes_ = np.unique(labels)
        self.weights_ = np.ones(len(self.classes_))
        self.inner_ = GaussianNB().fit(rows, labels)
        half = len(labels) // 2
        inner = GaussianNB().fit(rows[:half], labels[:half])
        loss = (
            cp.pragma_loss(labels[half:], inner.predict(rows[half:]), preferences=PREFERENCES_OF_ONE)
            if self.honest
            else 0.0
        )
        self.search_ = SimpleNamespace(loss=loss)
        return self

    def predict(self, rows):
        return self.inner_.predict(rows)


PREFERENCES_OF_ONE = cp.Preferences.prioritise([1])


@pytest.fixture
def noisy():
    rows, labels = make_classification(120, 20, n_informative=2, flip_y=0.3, random_state=1)
    return rows, labels


@pytest.mark.parametrize("wrap", [lambda model: model, lambda model: make_pipeline(StandardScaler(), model)])
def test_optimism_is_said_with_its_size(noisy, wrap):
    with pytest.warns(
        cp.OptimismWarning, match=r"is 0\.0000, on unseen rows 0\.\d+: it looks better by 0\.\d+ than it is"
    ) as told:
        result = cp.cross_evaluate(wrap(Memoriser()), *noisy, preferences=PREFERENCES_OF_ONE)
    assert result.optimism == pytest.approx(result.summary.loss)  # the chosen loss was 0
    assert f"better by {result.optimism:.4f}" in str(told[0].message)
    assert f"lower by {result.optimism:.4f}" in str(result)
    assert told[0].filename == __file__


class FixedRule(ClassifierMixin, BaseEstimator):
    """Chooses nothing: the sign of the first column. Its 'chosen' counts are those of its training rows."""

    def fit(self, rows, labels):
        self.classes_ = np.array([0, 1])
        counts = cp.Counts.from_predictions(labels, self.predict(rows), labels=[0, 1])
        self.search_ = SimpleNamespace(
            counts=counts, loss=cp.evaluate(counts, preferences=PREFERENCES_OF_ONE).summary.loss
        )
        return self

    def predict(self, rows):
        return (rows[:, 0] > 0).astype(int)


@pytest.mark.parametrize("metric", ["f", "kulczynski"])
def test_a_rule_that_chooses_nothing_has_no_optimism(metric, rng):
    """A loss of 30 rows is not on average that of 270: the metric is not linear. Folds are pooled before they are compared."""
    preferences = cp.Preferences.prioritise([1], metric=metric)
    for _ in range(5):
        labels = (rng.random(300) < 0.1).astype(int)
        rows = (rng.normal(size=300) + 2.5 * labels - 1.2)[:, np.newaxis]
        assert abs(cp.cross_evaluate(FixedRule(), rows, labels, preferences=preferences, cv=10).optimism) < 1e-12


def test_an_honest_choice_is_not_warned_of(noisy):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = cp.cross_evaluate(Memoriser(honest=True), *noisy, preferences=PREFERENCES_OF_ONE)
        assert math.isnan(cp.cross_evaluate(GaussianNB(), *noisy, preferences=PREFERENCES_OF_ONE).optimism)
        assert math.isnan(cp.cross_evaluate(Memoriser(), *noisy).optimism)  # without preferences there is no loss
    assert result.optimism < 0.01


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": 60}, r"'b' has 50, .*of 60 needed; use cv=50 or fewer"),
        ({"cv": 1}, "at least 2 folds, got cv=1"),
        ({"groups": [0, 1, 2] * 50, "cv": 10}, "3 groups for 10 folds, so 7 folds would be empty; use cv=3 or fewer"),
        ({"groups": [0, 1], "cv": 2}, "groups has 2 rows, the data has 150"),
        ({"cv": [(range(100), [])]}, "fold 1 has no test rows"),
        ({"cv": [(range(100), range(99, 150))]}, "fold 1 has 1 rows in training and test"),
        ({"cv": [(range(100), range(100, 151))]}, "fold 1 names a test row outside of the 150 rows"),
        ({"cv": []}, "cv gives no folds"),
        ({"cv": StratifiedKFold(3), "groups": np.arange(150) // 2}, "rows of one group in training and test"),
        ({"cv": GroupKFold(3)}, "cv cannot split these rows: The 'groups' parameter should not be None"),
        ({"confidence": 1}, "both excluded, got 1"),
        ({"preferences": "all"}, "is a compromis.Preferences or a mapping by class, got str"),
        ({"preferences": cp.Preferences.prioritise(["d"])}, "preference for 'd'"),
    ],
)
def test_bad_input(options, message):
    names = np.array(list("abc"))[Y]
    with pytest.raises(cp.InputError, match=message) as raised:
        cp.cross_evaluate(GaussianNB(), X, names, **options)
    assert "\n" not in str(raised.value)


def test_which_class_has_too_few_rows():
    names = np.r_[["common"] * 140, ["rare"] * 7, ["rarer"] * 3]
    message = "a class has fewer rows than there are folds: 'rare' has 7, 'rarer' has 3 of 10 needed; use cv=3"
    with pytest.raises(cp.InputError, match=message):
        cp.cross_evaluate(GaussianNB(), X, names)


def test_renderings():
    result = cp.cross_evaluate(GaussianNB(), X, Y, preferences=PREFERENCES, confidence=0.9)
    text = result.full()
    assert "=== Cross-validation (10 folds) ===" in text
    assert "of the mean" in text
    assert "Over folds" in str(result)
    assert "=== Intervals (90 % confidence) ===" in text
    document = json.loads(result.to_json())
    assert len(document["cross_validation"]["folds"]) == 10
    assert document["cross_validation"]["averages"]["loss"]["mean"] == result.averages["loss"].mean.value
    assert document["schema"] == "compromis/evaluation"
    assert repr(result).startswith("<CrossEvaluation in 10 folds of 150 rows")


def test_groups_reach_the_folds_that_an_estimator_makes_itself():
    """A tuned estimator makes folds inside each training fold; without the groups its votes would not be honest."""
    rng = np.random.default_rng(0)
    X, y, groups = rng.normal(size=(90, 2)), rng.integers(0, 2, 90), np.arange(90) % 15
    seen = []

    class Spy(GaussianNB):
        def fit(self, X, y, sample_weight=None, *, groups=None):
            seen.append(groups)
            return super().fit(X, y, sample_weight)

    cp.cross_evaluate(Spy(), X, y, cv=3, groups=groups, n_jobs=1)
    assert len(seen) == 3
    assert all(len(set(part)) == 10 and len(part) == 60 for part in seen)
