"""Laws of the estimators: rows in another order, other names of classes, weights as repetition, decisions that can be carried elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import compromis as cp
from compromis.estimators.model_file import TableModel, load_model, save_model
from compromis.trees.columns import Column
from tests.properties.laws import law
from tests.properties.strategies import positive_weights, seeds

# whether such small problems can be learnt is not the question here
pytestmark = pytest.mark.filterwarnings("ignore::compromis.errors.NotBetterWarning")

TREES = {
    "PRAGMA": lambda: cp.PragmaTreeClassifier(random_state=0),
    "gini": lambda: cp.PragmaTreeClassifier(criterion="gini", random_state=0),
    "C4.5": lambda: cp.C45Classifier(),
}
SMALL = {"n_estimators": 4, "random_state": 0}
trees = st.sampled_from(list(TREES))


@st.composite
def problems(draw, rows=24):
    """Whole numbers, so that a column holds ties; two or three classes, each several times."""
    rng = np.random.default_rng(draw(seeds))
    y = rng.permutation(np.arange(rows) % draw(st.integers(2, 3)))
    return np.column_stack([2 * y + rng.integers(0, 4, rows), rng.integers(0, 6, rows)]).astype(float), y


@law(examples=6)
@given(problems(), trees, seeds)
def test_a_tree_does_not_depend_on_the_order_of_rows_or_the_unit_of_columns(problem, kind, seed):
    X, y = problem
    expected = TREES[kind]().fit(X, y).predict_proba(X)
    order = np.random.default_rng(seed).permutation(len(y))
    assert np.allclose(TREES[kind]().fit(X[order], y[order]).predict_proba(X), expected)
    scaled = X * [1024.0, 0.25]
    assert np.allclose(TREES[kind]().fit(scaled, y).predict_proba(scaled), expected)
    assert np.allclose(expected.sum(axis=1), 1)


@law(examples=6)
@given(problems(), st.sampled_from([*TREES, "forest"]))
def test_names_of_classes_are_only_names(problem, kind):
    X, y = problem
    names = np.array(["ant", "bee", "cow"])
    model = TREES.get(kind, lambda: cp.PragmaForestClassifier(**SMALL))
    numbered, named = model().fit(X, y), model().fit(X, names[y])
    assert named.classes_.tolist() == names[numbered.classes_].tolist()
    assert named.predict(X).tolist() == names[numbered.predict(X)].tolist()
    assert named.predict_proba(X).tolist() == numbered.predict_proba(X).tolist()


@law(examples=6)
@given(problems(), st.sampled_from(["PRAGMA", "gini"]), seeds)
def test_whole_weights_are_repetition(problem, kind, seed):
    X, y = problem
    weight = np.random.default_rng(seed).integers(1, 4, len(y))
    weighted = TREES[kind]().fit(X, y, sample_weight=weight)
    copied = TREES[kind]().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert np.allclose(weighted.predict_proba(X), copied.predict_proba(X))
    heavier = TREES[kind]().fit(X, y, sample_weight=weight * 4.0)
    assert np.allclose(weighted.predict_proba(X), heavier.predict_proba(X))


@law(examples=6)
@given(problems(), st.sampled_from(["PRAGMA", "gini"]))
def test_a_leaf_has_the_class_shares_of_its_rows(problem, kind):
    X, y = problem
    tree = TREES[kind]().fit(X, y)
    leaves = tree.apply(X)
    for leaf, shares, predicted in zip(leaves, tree.predict_proba(X), tree.predict(X), strict=True):
        inside = np.bincount(y[leaves == leaf], minlength=len(tree.classes_))
        assert np.allclose(shares, inside / inside.sum())
        assert inside[predicted] == inside.max()
    assert len({*leaves}) == tree.get_n_leaves()


@law(examples=4)
@given(problems())
def test_a_forest_decides_by_its_weights_and_the_same_seed_gives_the_same_forest(problem):
    X, y = problem
    forest = cp.PragmaForestClassifier(**SMALL).fit(X, y)
    votes = forest.vote_shares(X)
    assert np.allclose(votes.sum(axis=1), 1)
    assert np.allclose(forest.predict_proba(X).sum(axis=1), 1)
    decision = cp.Decision(tuple(forest.classes_.tolist()), forest.weights_)
    assert decision.decide(votes).tolist() == forest.predict(X).tolist()
    again = cp.PragmaForestClassifier(**SMALL, n_jobs=2).fit(X, y)
    assert again.weights_.tolist() == forest.weights_.tolist()
    assert again.predict_proba(X).tolist() == forest.predict_proba(X).tolist()


@law(examples=6)
@given(problems(), positive_weights, st.integers(-10, 10))
def test_weights_set_by_hand_decide_at_any_scale(problem, weights, power):
    X, y = problem
    weights = weights[: len(set(y))]
    first, second, plain = (
        cp.TunedDecisionClassifier(GaussianNB(), weights=one).fit(X, y)
        for one in (weights, [w * 2.0**power for w in weights], [1.0] * len(weights))
    )
    votes = first.vote_shares(X)
    assert first.predict(X).tolist() == second.predict(X).tolist() == first.decision_.decide(votes).tolist()
    weighted = (votes + first.smoothing_) * weights
    assert np.allclose(first.weighted_votes(X), weighted / weighted.sum(axis=1, keepdims=True))
    base = GaussianNB().fit(X, y)
    assert plain.predict(X).tolist() == base.predict(X).tolist()
    assert first.predict_proba(X).tolist() == base.predict_proba(X).tolist()


@law(examples=3)
@given(problems())
def test_tuned_weights_lose_no_more_than_equal_ones_on_the_votes_they_were_tuned_on(problem):
    X, y = problem
    preferences = cp.Preferences({0: cp.Preference(10, 0.1, 0.9)}, metric="f")
    options = {"preferences": preferences, "resamples": 0, "random_state": 0}
    tuned = cp.TunedDecisionClassifier(GaussianNB(), **options).fit(X, y)
    equal = tuned.patterns_.counts(np.ones(len(tuned.classes_)), smoothing=tuned.smoothing_)
    assert tuned.search_.loss <= cp.evaluate(equal, preferences=preferences).summary.loss + 1e-12


@law(examples=3)
@given(st.lists(st.text(min_size=1, max_size=5), min_size=2, max_size=3, unique=True), st.floats(0.01, 100))
def test_a_model_file_keeps_everything(tmp_path_factory, classes, weight):
    X = np.arange(12.0).reshape(-1, 1)
    model = LogisticRegression().fit(X, [k % len(classes) for k in range(12)])
    decision = cp.Decision(tuple(classes), [weight, *[1.0] * (len(classes) - 1)], smoothing=0.25)
    columns = (Column("size \u00e9"), Column("colour", ("NA", "", "x,y")))
    path = tmp_path_factory.mktemp("model") / "model"
    save_model(TableModel(classifier=model, decision=decision, columns=columns, target="target", hard=False), path)
    again = load_model(path)
    assert again.columns == columns
    assert again.target == "target"
    assert again.decision.classes == decision.classes
    assert again.decision.weights.tolist() == decision.weights.tolist()
    assert again.classifier.predict_proba(X).tolist() == model.predict_proba(X).tolist()
