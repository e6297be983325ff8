"""PragmaTreeClassifier: scikit-learn's contract, frames, bad input, text and picture."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from compromis.errors import InputError
from compromis.estimators.pragma_forest import PragmaForestClassifier
from compromis.estimators.pragma_tree import PragmaTreeClassifier
from compromis.estimators.tuned_decision import TunedDecisionClassifier
from compromis.preferences import Preference, Preferences


@parametrize_with_checks([PragmaTreeClassifier(), PragmaTreeClassifier(criterion="gini", max_leaf_nodes=8)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def frame(rng):
    rows = 120
    colour = rng.choice(["red", "green", "blue"], rows)
    size = rng.normal(size=rows)
    frame = pd.DataFrame(
        {
            "colour": pd.Categorical(colour),
            "shape": rng.choice(["round", "flat"], rows),
            "size": np.where(rng.random(rows) < 0.1, np.nan, size),
            "old": rng.random(rows) < 0.5,
            "count": rng.integers(0, 5, rows),
        }
    )
    y = np.where((colour == "red") | (size > 0.5), "yes", "no")
    return frame, y


def test_frames_with_categories(frame):
    X, y = frame
    tree = PragmaTreeClassifier(criterion="gini").fit(X, y)
    assert tree.score(X, y) > 0.97
    assert [column.categories for column in tree.columns_] == [
        ("blue", "green", "red"),
        ("flat", "round"),
        None,
        (False, True),
        None,
    ]
    from_polars = PragmaTreeClassifier(criterion="gini").fit(pl.from_pandas(X), y)
    assert from_polars.export_text() == tree.export_text()
    np.testing.assert_array_equal(from_polars.predict_proba(pl.from_pandas(X)), tree.predict_proba(X))
    assert "colour in {red}" in tree.export_text() or "colour in {blue, green}" in tree.export_text()


def test_unseen_categories_are_missing(frame):
    X, y = frame
    tree = PragmaTreeClassifier().fit(X, y)
    strange, missing = X.head(20).copy(), X.head(20).copy()
    strange["colour"], missing["colour"] = "violet", None
    np.testing.assert_array_equal(tree.predict_proba(strange), tree.predict_proba(missing))
    letters = pd.DataFrame({"letter": ["a", "a", "b", "b", None, None]})
    tree = PragmaTreeClassifier(criterion="gini").fit(
        letters, [0, 0, 1, 1, 1, 1]
    )  # missing is unlike the first category
    assert tree.predict(pd.DataFrame({"letter": ["a", "b", None, "unheard of"]})).tolist() == [0, 1, 1, 1]


def test_categorical_features_of_an_array(rng):
    X = np.column_stack([rng.integers(0, 8, 200) * 1.0, rng.normal(size=200)])
    y = np.isin(X[:, 0], [1, 4, 6])
    tree = PragmaTreeClassifier(criterion="gini", categorical_features=[0]).fit(X, y)
    assert tree.get_depth() == 1
    assert tree.score(X, y) == 1.0
    assert PragmaTreeClassifier(criterion="gini").fit(X, y).get_depth() > 1
    by_mask = PragmaTreeClassifier(criterion="gini", categorical_features=[True, False]).fit(X, y)
    assert by_mask.export_text() == tree.export_text()
    assert np.isfinite(tree.predict_proba([[99.0, 0.0]])).all()


@pytest.mark.parametrize("bad", [[7], ["nope"], [True, False, True]])
def test_categorical_features_that_are_no_columns(bad):
    with pytest.raises(InputError, match="categorical_features"):
        PragmaTreeClassifier(categorical_features=bad).fit(np.eye(4)[:, :2], [0, 1, 0, 1])


def test_missing_values_take_the_learned_side():
    X = np.array([[1.0], [2.0], [np.nan], [np.nan], [8.0], [9.0]])
    y = np.array([0, 0, 1, 1, 1, 1])
    tree = PragmaTreeClassifier(criterion="gini").fit(X, y)
    assert tree.get_n_leaves() == 2
    assert tree.predict([[np.nan]]) == [1]
    assert tree.export_text() == "x0 <= 5: 0 (1 of 2)\nx0 > 5 or missing: 1 (1 of 4)"
    alone = PragmaTreeClassifier(criterion="gini").fit([[1.0], [2.0], [np.nan]], [0, 0, 1])
    assert alone.export_text() == "x0 is not missing: 0 (1 of 2)\nx0 is missing: 1 (1 of 1)"


def test_sample_weights_are_repetitions(rng):
    X, y = rng.integers(0, 9, (60, 3)) * 1.0, rng.integers(0, 3, 60)
    counts = rng.integers(0, 4, 60)
    weighted = PragmaTreeClassifier(max_depth=4).fit(X, y, sample_weight=counts)
    repeated = PragmaTreeClassifier(max_depth=4).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))


def test_class_weights(rng):
    X, y = rng.normal(size=(200, 3)), rng.random(200) < 0.1  # a bin for every value, as scikit-learn has
    plain = PragmaTreeClassifier(criterion="gini", max_depth=2).fit(X, y)
    balanced = PragmaTreeClassifier(criterion="gini", max_depth=2, class_weight="balanced").fit(X, y)
    given = {False: 200 / (2 * (~y).sum()), True: 200 / (2 * y.sum())}
    by_hand = PragmaTreeClassifier(criterion="gini", max_depth=2, class_weight=given).fit(X, y)
    assert balanced.predict(X).sum() > plain.predict(X).sum()
    np.testing.assert_allclose(balanced.predict_proba(X), by_hand.predict_proba(X))
    np.testing.assert_allclose(
        balanced.predict_proba(X),
        DecisionTreeClassifier(max_depth=2, class_weight="balanced").fit(X, y).predict_proba(X),
    )


def test_own_criterion_equals_the_built_in_one(rng):
    def my_gini(left, node, n_left, n, importance, recall_weight, prior):
        right, n_right = node - left, n - n_left
        return (left * left / n_left + right * right / n_right - node * node / n) / n

    X, y = rng.normal(size=(150, 3)), rng.integers(0, 3, 150)
    mine = PragmaTreeClassifier(criterion=my_gini, max_depth=4).fit(X, y)
    assert mine.export_text() == PragmaTreeClassifier(criterion="gini", max_depth=4).fit(X, y).export_text()
    assert clone(mine).criterion is my_gini


def test_preferences_change_the_tree(rng):
    X = rng.normal(size=(400, 4))
    y = np.where(X[:, 0] + rng.normal(size=400) > 1.2, "rare", np.where(X[:, 1] > 0, "b", "c"))
    preferences = Preferences({"rare": Preference(50, recall_weight=0.9)})
    plain = PragmaTreeClassifier(max_depth=1).fit(X, y)
    preferring = PragmaTreeClassifier(max_depth=1, preferences=preferences).fit(X, y)
    assert plain.feature_importances_.argmax() == 1
    assert preferring.feature_importances_.argmax() == 0


@pytest.mark.filterwarnings("ignore::compromis.NotBetterWarning")  # of eight rows
@pytest.mark.parametrize(
    "make",
    [
        PragmaTreeClassifier,
        lambda **given: PragmaForestClassifier(10, random_state=0, **given),
        lambda **given: TunedDecisionClassifier(DecisionTreeClassifier(), random_state=0, cv=2, **given),
    ],
)
def test_folds_without_a_rare_class_work_but_misspelt_labels_do_not(make):
    """One rule: of a class that a fold lacks a warning, as it may be misspelt; an error if no preference is for a class of it."""
    X, y = np.arange(8.0)[:, None], np.array(list("aaaabbbb"))
    both = Preferences({"a": Preference(2.0), "rare": Preference(10.0)})
    with pytest.warns(UserWarning, match="preference for 'rare', a class that does not occur here"):
        fitted = make(preferences=both).fit(X, y)
    known = make(preferences={"a": 2.0}).fit(X, y)
    np.testing.assert_array_equal(fitted.predict(X), known.predict(X))
    with pytest.raises(InputError, match="raer"):
        make(preferences=Preferences({"raer": Preference(10.0)})).fit(X, y)


def test_preferences_are_checked():
    X, y = np.arange(8.0)[:, None], np.array(list("aaaabbbb"))
    with pytest.raises(InputError, match="preferences is a compromis"):
        PragmaTreeClassifier(preferences=["a"]).fit(X, y)
    with pytest.raises(InputError, match=r"importances of all . classes"):
        PragmaTreeClassifier(preferences=Preferences(default=Preference(0.0))).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_depth": 0}, "max_depth is None or a whole number of at least 1"),
        ({"max_depth": "a"}, "max_depth is None or a whole number of at least 1, got 'a'"),
        ({"min_samples_leaf": 0.5}, "min_samples_leaf"),
        ({"min_samples_leaf": None}, "min_samples_leaf"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes"),
        ({"min_gain": -1}, "min_gain"),
        ({"min_weight_fraction_leaf": 0.7}, "min_weight_fraction_leaf"),
        ({"max_features": 0}, "max_features"),
        ({"max_features": "all"}, "max_features"),
        ({"criterion": "ginny"}, "did you mean 'gini'"),
        ({"class_weight": "equal"}, "class_weight"),
        ({"class_weight": {5: 1.0}}, "class_weight names 5"),
        ({"class_weight": {0: -1.0}}, "class weights"),
        ({"local_model": "mean"}, "local_model"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        PragmaTreeClassifier(**parameters).fit(np.eye(4), [0, 1, 0, 1])


@pytest.mark.parametrize(("max_features", "drawn"), [(None, 10), ("sqrt", 3), ("log2", 3), (4, 4), (40, 10), (0.25, 2)])
def test_features_per_node(max_features, drawn):
    from compromis.estimators.fitting import features_per_node

    assert features_per_node(max_features, 10) == drawn


def test_bad_weights():
    for bad, message in [
        ([1, -1, 1, 1], "at least 0, got -1 in row 1"),
        ([1, np.inf, 1, 1], "finite"),
        ([1, 1], "give one weight per row"),
        ([0] * 4, "zero"),
    ]:
        with pytest.raises(ValueError, match=message):
            PragmaTreeClassifier().fit(np.eye(4), [0, 1, 0, 1], sample_weight=bad)


def test_infinite_values(frame):
    X, y = frame
    with pytest.raises(ValueError, match="infinity"):
        PragmaTreeClassifier().fit([[np.inf], [1.0]], [0, 1])
    X["size"] = np.inf
    with pytest.raises(InputError, match="column 'size' has infinite values"):
        PragmaTreeClassifier().fit(X, y)


def test_columns_that_say_nothing(rng):
    y = rng.integers(0, 2, 30)
    for X in (np.full((30, 2), np.nan), np.full((30, 2), 7.0)):
        tree = PragmaTreeClassifier().fit(X, y)
        assert tree.get_n_leaves() == 1
        np.testing.assert_allclose(tree.predict_proba(X)[0], np.bincount(y) / 30)
        assert not tree.feature_importances_.any()
    useful = np.column_stack([np.full(30, np.nan), y])
    assert PragmaTreeClassifier().fit(useful, y).score(useful, y) == 1.0


def test_one_class_only():
    tree = PragmaTreeClassifier().fit(np.eye(3), ["only"] * 3)
    assert tree.predict(np.eye(3)).tolist() == ["only"] * 3
    assert tree.predict_proba(np.eye(3)).tolist() == [[1.0]] * 3


def test_more_than_255_categories(rng):
    names = np.array([f"c{i:03d}" for i in range(600)])
    chosen = rng.integers(0, 600, 5000)
    X, y = pd.DataFrame({"name": names[chosen]}), chosen % 3 == 0
    said = f"'name' has {len(set(chosen))} categories; trees tell the 254 most frequent apart"
    with pytest.warns(UserWarning, match=said):
        tree = PragmaTreeClassifier(criterion="gini").fit(X, y)
    assert tree.score(X, y) > 0.75  # chance: 0.67; the rarer categories share a bin
    assert tree.predict(pd.DataFrame({"name": ["unheard of"]})).shape == (1,)


def test_other_columns_than_in_training(frame):
    X, y = frame
    tree = PragmaTreeClassifier().fit(X, y)
    for other in (X.drop(columns="old"), X.rename(columns={"old": "new"}), X[list(X.columns[::-1])]):
        with pytest.raises(ValueError, match=r"(?i)feature names|order"):
            tree.predict(other)
    with pytest.raises(ValueError, match="features"):
        PragmaTreeClassifier().fit(np.eye(4), [0, 1, 0, 1]).predict(np.eye(3))
    numeric = PragmaTreeClassifier().fit(X[["size"]], y)
    with pytest.raises(InputError, match="column 'size' was numeric in training"):
        numeric.predict(pd.DataFrame({"size": ["big"]}))


def test_float16_and_float32(rng):
    X, y = rng.normal(size=(80, 3)).astype(np.float16), rng.integers(0, 2, 80)
    expected = PragmaTreeClassifier().fit(X.astype(np.float64), y).export_text()
    assert PragmaTreeClassifier().fit(X, y).export_text() == expected
    assert PragmaTreeClassifier().fit(X.astype(np.float32), y).export_text() == expected


def test_sparse_matrices_and_lazy_frames():
    with pytest.raises(TypeError, match="dense data is required"):
        PragmaTreeClassifier().fit(sparse.csr_matrix(np.eye(4)), [0, 1, 0, 1])
    with pytest.raises(InputError, match="lazy frame"):
        PragmaTreeClassifier().fit(pl.LazyFrame({"a": [1, 2]}), [0, 1])


def test_dates_are_refused():
    X = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-01-02"])})
    with pytest.raises(InputError, match="column 'day' has type Datetime"):
        PragmaTreeClassifier().fit(X, [0, 1])


def test_no_rows_at_all():
    with pytest.raises(ValueError, match="X has 0 rows and 1 columns"):
        PragmaTreeClassifier().fit(pd.DataFrame({"a": []}, dtype=float), [])


def test_text_and_picture(frame):
    pytest.importorskip("matplotlib").use("Agg")
    X, y = frame
    tree = PragmaTreeClassifier(criterion="gini").fit(X, y)
    assert len(tree.export_text(max_depth=1).splitlines()) == 2
    assert "rows" in tree.export_text(max_depth=1)
    assert tree.export_text(max_depth=0) == "... 120 rows"
    drawn = [text.get_text() for text in tree.plot(max_depth=2).texts]
    assert "120 rows" in drawn
    assert any("colour in" in text for text in drawn)
    with pytest.raises(NotFittedError):
        PragmaTreeClassifier().export_text()


def test_apply_numbers_leaves(rng):
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 2, 50)
    tree = PragmaTreeClassifier().fit(X, y)
    assert set(tree.apply(X).tolist()) == set(range(tree.get_n_leaves()))


def test_importances_as_scikit_learn_has_them(rng):
    """Leaves of 15 rows: in smaller ones columns split the same rows off, and scikit-learn draws among them."""
    X = rng.normal(size=(200, 4))
    y = X[:, 2] + 0.5 * X[:, 0] + rng.normal(size=200) > 0
    weights = rng.integers(1, 10**5, 200) * 1.0
    limits = {"max_depth": 3, "min_samples_leaf": 15}
    mine = PragmaTreeClassifier(criterion="gini", **limits).fit(X, y, weights).feature_importances_
    other = DecisionTreeClassifier(**limits, random_state=0).fit(X, y, weights).feature_importances_
    np.testing.assert_allclose(mine, other, atol=1e-9)


def test_class_weight_on_a_fold_that_lacks_a_class():
    X, y = np.zeros((12, 1)), np.repeat(["a", "b"], 6)  # one leaf: its shares are the weights
    weights = {"a": 1.0, "b": 3.0, "rare": 9.0}
    with pytest.warns(UserWarning, match="class_weight names 'rare', a class that does not occur here"):
        tree = PragmaTreeClassifier(class_weight=weights).fit(X, y)
    assert tree.classes_.tolist() == ["a", "b"]
    same = PragmaTreeClassifier(class_weight={"a": 1.0, "b": 3.0}).fit(X, y)
    assert (tree.predict_proba(X) == same.predict_proba(X)).all()
