"""Laws of splits, leaks, folds and learning curves: every row once, equal rows found by brute force, losses by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold, PredefinedSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import compromis as cp
from tests.properties.laws import answer, law, refused
from tests.properties.strategies import seeds

tables = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.5, 1.5, float("nan")])), min_size=1, max_size=12)
"""Rows with many repetitions and missing values."""


def key(row):
    return tuple("missing" if value != value else value for value in row)


@law()
@given(tables)
def test_rows_are_of_one_group_just_if_they_are_equal(rows):
    groups = cp.model_selection.row_groups(np.array(rows)).tolist()
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            assert (groups[i] == groups[j]) == (key(one) == key(other))


@law()
@given(tables, tables)
def test_leaks_are_the_rows_that_brute_force_finds(train, test):
    leaks = cp.model_selection.find_leaks(np.array(train), np.array(test))
    known = [key(row) for row in train]
    assert leaks.rows.tolist() == [place for place, row in enumerate(test) if key(row) in known]
    for row, source in zip(leaks.rows.tolist(), leaks.sources.tolist(), strict=True):
        assert key(test[row]) == known[source]
    assert leaks.total == len(test)
    assert leaks.share == len(leaks.rows) / len(test)
    assert cp.model_selection.find_leaks(np.array(train), np.array(train)).share == 1
    refused(cp.model_selection.find_leaks, np.array(train), np.array(test)[:, :1])


@law()
@example(
    [2, 0, 2, 0, 2, 3, 0, 0, 0, 0, 0, 0, 1, 1, 3], 0
)  # found with another seed: large groups took the rare class's places
@given(st.lists(st.integers(0, 4), min_size=12, max_size=40), seeds)
def test_a_split_by_groups_has_every_row_once_and_no_leak(values, seed):
    X = np.array(values, dtype=float).reshape(-1, 1)
    y = np.arange(len(values)) % 2
    parts = answer(cp.model_selection.split, X, y, groups=cp.model_selection.row_groups(X), random_state=seed)
    if parts is None:  # a class in fewer groups than there are parts
        assert min(len({*X[y == k, 0]}) for k in (0, 1)) < 3
        return
    places = np.concatenate([parts.train, parts.validation, parts.test])
    assert sorted(places.tolist()) == list(range(len(values)))
    assert not {*X[parts.train, 0]} & {*X[parts.test, 0]}
    for rows, at in ((parts.X_train, parts.train), (parts.X_test, parts.test)):
        assert rows.tolist() == X[at].tolist()
    assert parts.y_test.tolist() == y[parts.test].tolist()


@law(examples=5)
@given(st.floats(0.1, 0.6), seeds)
def test_shares_that_do_not_sum_to_one_are_one_sentence(share, seed):
    refused(
        cp.model_selection.split, np.arange(10), [0, 1] * 5, train=share, validation=0.1, test=0.1, random_state=seed
    )


@st.composite
def problems(draw, rows=30):
    """Rows with one informative column, three classes, each at least six times."""
    rng = np.random.default_rng(draw(seeds))
    y = rng.permutation(np.arange(rows) % 3)
    return np.column_stack([y + rng.normal(size=rows), rng.normal(size=rows)]), np.array(list("abc"))[y]


@law(examples=3)
@given(problems(), seeds)
def test_the_pooled_counts_are_those_of_scikit_learns_folds(problem, seed):
    X, y = problem
    cv = PredefinedSplit(np.random.default_rng(seed).permutation(np.arange(len(y)) % 3))
    result = cp.cross_evaluate(GaussianNB(), X, y, cv=cv, labels="abc")
    predicted = cross_val_predict(GaussianNB(), X, y, cv=cv)
    assert result.counts.matrix.tolist() == cp.Counts.from_predictions(y, predicted, labels="abc").matrix.tolist()
    total = sum((fold.counts for fold in result.folds[1:]), result.folds[0].counts)
    assert total.matrix.tolist() == result.counts.matrix.tolist()
    mean = np.mean([fold.summary.accuracy for fold in result.folds])
    assert result.averages["accuracy"].mean.value == pytest.approx(mean, abs=1e-12)


@law(examples=3)
@given(problems(), st.floats(0.5, 0.99))
def test_swapping_cross_validations_mirrors_their_difference(problem, confidence):
    X, y = problem
    cv = KFold(3, shuffle=True, random_state=0)
    first, second = (cp.cross_evaluate(one, X, y, cv=cv, labels="abc") for one in (GaussianNB(), DummyClassifier()))
    options = {"measure": "accuracy", "confidence": confidence}
    forward, backward = (
        cp.evaluation.compare_folds(first, second, **options),
        cp.evaluation.compare_folds(second, first, **options),
    )
    mirrored = (-backward.mean.value, -backward.mean.high, -backward.mean.low)
    assert (forward.mean.value, forward.mean.low, forward.mean.high) == pytest.approx(mirrored, abs=1e-12)
    assert forward.p_value == pytest.approx(backward.p_value, abs=1e-12)
    itself = cp.evaluation.compare_folds(first, first, **options)
    assert (itself.mean.value, itself.p_value) == (0, 1)
    other = cp.cross_evaluate(DummyClassifier(), X, y, cv=2, labels="abc")
    refused(cp.evaluation.compare_folds, first, other)


@law(examples=2)
@given(problems())
def test_a_model_that_remembers_has_no_training_loss_and_sizes_grow(problem):
    curve = cp.model_selection.preference_learning_curve(
        KNeighborsClassifier(1), *problem, train_sizes=[0.5, 1.0], cv=3
    )
    columns = curve.columns()
    assert np.allclose(curve.losses.train, 0)
    assert list(curve.sizes) == sorted(curve.sizes)
    assert ((curve.losses.validation >= 0) & (curve.losses.validation <= 1)).all()
    shown = cp.plots.PreferenceLearningCurveDisplay(curve).to_frame()
    assert len(shown) == len(next(iter(columns.values())))


@law(examples=2)
@given(problems())
def test_the_loss_over_a_parameter_is_that_of_each_model_by_itself(problem):
    X, y = problem
    cv = KFold(3)
    curve = cp.model_selection.complexity_curve(
        KNeighborsClassifier(), X, y, parameter="n_neighbors", values=[7, 1], cv=cv
    )
    for place, neighbours in enumerate(curve.values):
        for fold, (train, test) in enumerate(cv.split(X)):
            model = KNeighborsClassifier(neighbours).fit(X[train], y[train])
            loss = cp.pragma_loss(y[test], model.predict(X[test]), preferences=cp.Preferences(), labels="abc")
            assert curve.losses.validation[place, fold] == pytest.approx(loss, abs=1e-12)
    assert np.allclose(curve.losses.train[1], 0)
    refused(
        cp.model_selection.complexity_curve, KNeighborsClassifier(), X, y, parameter="neighbours", values=[1], cv=cv
    )
