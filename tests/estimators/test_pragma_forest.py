"""PragmaForestClassifier: votes, tuning, threads, and scikit-learn's forest as a yardstick."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from compromis.errors import InputError, NotBetterWarning
from compromis.estimators import tuning
from compromis.estimators.pragma_forest import PragmaForestClassifier
from compromis.estimators.tuned_decision import TunedDecisionClassifier
from compromis.preferences import Preferences
from compromis.trees.store import mean_shares, tree_leaves
from compromis.weights import search_weights

EXPLAINED = {
    "check_sample_weight_equivalence_on_dense_data": "a bootstrap sample draws rows, not weights, as in scikit-learn's forest"
}


TUNED = "the decision is the largest weighted vote, not the largest probability; scikit-learn's threshold tuner has this exception too"


def explained(estimator):
    return EXPLAINED if not estimator.tune else EXPLAINED | dict.fromkeys(["check_classifiers_train"], TUNED)


@parametrize_with_checks(
    [PragmaForestClassifier(10, tune=False), PragmaForestClassifier(10)], expected_failed_checks=explained
)
@pytest.mark.filterwarnings("ignore::compromis.NotBetterWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def three(rng):
    return make_classification(300, 6, n_informative=4, n_classes=3, random_state=3)


def fingerprint(forest, X):
    digest = hashlib.sha256()
    trees = forest.trees_
    for array in (trees.nodes, trees.figures, trees.subsets, trees.leaf_shares, trees.leaf_classes, forest.oob_votes_):
        digest.update(array.tobytes())
    digest.update(forest.predict_proba(X).tobytes() + forest.vote_shares(X).tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize("criterion", ["gini", "pragma", "hellinger"])
def test_one_hash_whatever_the_number_of_threads(three, criterion):
    X, y = three
    X[::7, 2] = np.nan
    hashes = {
        fingerprint(
            PragmaForestClassifier(
                12, criterion=criterion, tune=False, n_jobs=jobs, random_state=5, categorical_features=None
            ).fit(X, y),
            X,
        )
        for jobs in (1, 2, 4)
    }
    assert len(hashes) == 1
    other = PragmaForestClassifier(12, criterion=criterion, tune=False, random_state=6).fit(X, y)
    assert fingerprint(other, X) not in hashes


def test_votes_are_the_trees_hard_votes(three):
    X, y = three
    forest = PragmaForestClassifier(15, tune=False, random_state=0, max_depth=3).fit(X, y)
    bins = forest.binning_.columns(X).bins
    trees = forest.trees_
    votes = np.zeros((len(X), 3))
    for tree in range(15):
        for row, leaf in enumerate(tree_leaves(trees, tree, bins)):
            votes[row, int(np.argmax(trees.shares_of_leaf(leaf, 3)))] += 1
    np.testing.assert_allclose(forest.vote_shares(X), votes / 15)
    np.testing.assert_array_equal(forest.predict(X), np.argmax(votes, axis=1))
    np.testing.assert_array_equal(forest.predict_proba(X), mean_shares(trees, bins, 3))


def test_out_of_bag_votes_are_honest(three):
    """Trees know the rows they saw by heart: out-of-bag votes must not."""
    X, _ = three
    y = np.random.default_rng(0).integers(0, 2, len(X))  # noise
    forest = PragmaForestClassifier(50, tune=False, random_state=0).fit(X, y)
    assert forest.score(X, y) > 0.95
    assert np.mean(np.argmax(forest.oob_votes_, axis=1) == y) < 0.6
    np.testing.assert_allclose(forest.oob_votes_.sum(axis=1), 1.0)


def test_rows_never_out_of_bag_have_no_votes(three):
    X, y = three
    votes = PragmaForestClassifier(1, tune=False, random_state=0).fit(X, y).oob_votes_
    totals = votes.sum(axis=1)
    assert set(totals.tolist()) == {0.0, 1.0}
    assert 0.3 < totals.mean() < 0.45  # about 1/e of the rows
    assert not PragmaForestClassifier(3, tune=False, bootstrap=False).fit(X, y).oob_votes_.any()


def test_tuning_is_on_out_of_bag_votes_and_its_weights_decide(three, monkeypatch):
    monkeypatch.setattr(tuning, "with_expected_truth", lambda *_: None)  # weights are of the rows alone
    X, y = three
    names = np.array(["x", "y", "z"])[y]
    preferences = Preferences.prioritise(["z"])
    forest = PragmaForestClassifier(10, preferences=preferences, random_state=1).fit(X, names)
    alone = search_weights(names, forest.oob_votes_, preferences=preferences, random_state=0)
    assert alone.optimal
    assert forest.search_.loss == alone.loss
    np.testing.assert_array_equal(forest.search_.counts.matrix, alone.counts.matrix)
    logarithms = np.log(forest.stability_.weights)
    np.testing.assert_allclose(np.log(forest.weights_), logarithms.mean(axis=0), rtol=1e-12, atol=1e-12)
    expected = np.array(["x", "y", "z"])[np.argmax(forest.vote_shares(X) * forest.weights_, axis=1)]
    np.testing.assert_array_equal(forest.predict(X), expected)
    plain = PragmaForestClassifier(10, tune=False, random_state=1).fit(X, names)
    assert plain.search_ is None
    assert plain.weights_.tolist() == [1.0, 1.0, 1.0]
    assert (plain.predict(X) == "z").sum() < (forest.predict(X) == "z").sum()
    np.testing.assert_array_equal(plain.predict_proba(X), forest.predict_proba(X))


def test_it_has_what_the_meta_estimator_has(three):
    X, y = three
    forest = PragmaForestClassifier(10, preferences={2: 5.0}, random_state=0).fit(X, y)
    shares = forest.vote_shares(X)
    assert forest.decision_.decide(shares).tolist() == forest.predict(X).tolist()
    weighted = shares * forest.weights_
    np.testing.assert_allclose(forest.weighted_votes(X), weighted / weighted.sum(axis=1, keepdims=True))
    assert forest.patterns_.counts(forest.weights_).matrix.tolist() == forest.tuning_.counts.matrix.tolist()
    assert (forest.loss_, forest.verdict_, forest.smoothing_) == (forest.tuning_.loss, forest.tuning_.verdict, 0.0)
    rarer = forest.with_prevalence([0.49, 0.49, 0.02])
    assert not np.allclose(rarer.weights_, forest.weights_)
    assert rarer.trees_ is forest.trees_
    plain = PragmaForestClassifier(10, tune=False, random_state=0).fit(X, y)
    assert [plain.tuning_, plain.verdict_, plain.loss_, plain.stability_, plain.patterns_] == [None] * 5
    with pytest.raises(InputError, match="no evidence to search again"):
        plain.with_prevalence([1, 1, 1])


def test_onnx_votes_and_decides_alike(three):
    """Thresholds are rounded so that a float32 goes the same way; `tests/integration/test_onnx.py` runs float64 too."""
    reference = pytest.importorskip("onnx.reference")
    X, y = three
    X = X.astype(np.float32)
    X[::5, 1] = np.nan
    forest = PragmaForestClassifier(4, max_depth=4, random_state=0).fit(X, y)
    label, votes = reference.ReferenceEvaluator(forest.to_onnx(X[:1])).run(None, {"X": X})
    np.testing.assert_array_equal(votes, forest.vote_shares(X))
    np.testing.assert_array_equal(label, forest.predict(X))
    soft = TunedDecisionClassifier(forest, votes="proba", weights=[1, 2, 3]).fit(X, y)
    label, votes = reference.ReferenceEvaluator(soft.to_onnx(X[:1])).run(None, {"X": X})
    np.testing.assert_allclose(votes, forest.predict_proba(X), atol=1e-6)
    nominal = PragmaForestClassifier(2, categorical_features=[0], random_state=0, tune=False).fit(np.round(X), y)
    with pytest.raises(InputError, match="'x0' of the forest are nominal"):
        nominal.to_onnx(X[:1])


def test_a_preferences_met_by_giving_up_is_said(rng):
    X, y = rng.normal(size=(400, 3)), np.r_[np.ones(4), np.zeros(396)]
    with pytest.warns(NotBetterWarning, match="always predicting"):
        PragmaForestClassifier(20, preferences=Preferences.prioritise([1.0]), random_state=0).fit(X, y)


def test_ties_go_to_the_first_class():
    forest = PragmaForestClassifier(2, tune=False, random_state=0).fit([[0.0], [1.0]], ["a", "b"])
    forest.vote_shares = lambda X: np.array([[0.5, 0.5]])
    assert forest.predict([[0.0]]).tolist() == ["a"]


def test_one_class_is_not_tuned():
    forest = PragmaForestClassifier(3).fit(np.eye(3), [1, 1, 1])
    assert forest.search_ is None
    assert forest.predict(np.eye(3)).tolist() == [1, 1, 1]


@pytest.fixture
def rare(rng):
    """Two classes in the ratio 1 to 20, with a column that tells them apart by half."""
    y = np.repeat([0, 1], [400, 20])
    return np.column_stack([rng.normal(1.5 * y, 1), rng.normal(size=420)]), y


@pytest.mark.filterwarnings("ignore::compromis.NotBetterWarning")
def test_trees_of_tuned_forests_see_three_times_the_rarest_class(rare):
    X, y = rare
    plain, rows = (
        PragmaForestClassifier(20, tune=False, sampling=one, random_state=0).fit(X, y) for one in ("auto", "rows")
    )
    tuned = PragmaForestClassifier(20, preferences={1: 5.0}, random_state=0).fit(X, y)
    np.testing.assert_array_equal(plain.trees_.nodes, rows.trees_.nodes)
    assert tuned.trees_.figures[tuned.trees_.roots, 1].tolist() == [80.0] * 20  # the weight in each root
    limited = PragmaForestClassifier(20, tune=False, sampling="limited", random_state=0).fit(X, y)
    np.testing.assert_array_equal(limited.trees_.nodes, tuned.trees_.nodes)
    even = PragmaForestClassifier(20, sampling="classes", tune=False, random_state=0).fit(X, y)
    assert even.trees_.figures[even.trees_.roots, 1].tolist() == [40.0] * 20


def test_out_of_bag_votes_and_probabilities_of_sampled_classes(rare):
    """Rows of the large class are out of nearly every bag; probabilities are at the shares of the training rows again."""
    X, y = rare
    forest = PragmaForestClassifier(200, sampling="classes", tune=False, min_samples_leaf=5, random_state=0).fit(X, y)
    honest = forest.oob_votes(X, hard=False)
    assert honest.sum(axis=1) == pytest.approx(1.0)
    assert honest[:, 1].mean() == pytest.approx(20 / 420, rel=0.5)
    assert forest.predict_proba(X)[:, 1].mean() == pytest.approx(20 / 420, rel=0.5)
    assert forest.vote_shares(X)[:, 1].mean() > 0.2


def test_rows_of_weight_zero_are_left_out(three):
    X, y = three
    weights = np.r_[np.zeros(100), np.ones(200)]
    forest = PragmaForestClassifier(30, random_state=0).fit(X, y, weights)
    assert not forest.oob_votes_[:100].any()
    assert forest.oob_votes_[100:].any(axis=1).all()
    assert forest.search_.counts.total == 200
    alone = PragmaForestClassifier(30, random_state=0).fit(X[100:], y[100:])
    np.testing.assert_array_equal(alone.predict_proba(X), forest.predict_proba(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators is a whole number of at least 1, got 0"),
        ({"n_estimators": 2147483647}, "n_estimators is below 2,147,483,647, got 2147483647"),
        ({"n_estimators": None}, "n_estimators is a whole number of at least 1, got None"),
        ({"n_estimators": 2.5}, "n_estimators"),
        ({"bootstrap": False}, "tuning needs out-of-bag votes"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        PragmaForestClassifier(**parameters).fit(np.eye(4), [0, 1, 0, 1])


def test_text_and_picture_of_one_tree(three):
    pytest.importorskip("matplotlib").use("Agg")
    X, y = three
    forest = PragmaForestClassifier(3, tune=False, random_state=0).fit(X, y)
    texts = [forest.export_text(tree, max_depth=2) for tree in range(3)]
    assert len(set(texts)) == 3
    assert forest.plot(1, max_depth=1).texts
    with pytest.raises(InputError, match="tree is a number from 0 to 2"):
        forest.export_text(3)


def test_frame_with_text_columns(rng):
    colour = rng.choice(list("rgb"), 200)
    X = pd.DataFrame({"colour": colour, "noise": rng.normal(size=200)})
    forest = PragmaForestClassifier(20, tune=False, random_state=0).fit(X, colour == "g")
    assert forest.score(X, colour == "g") == 1.0
    assert forest.feature_importances_[0] > 0.8
    assert forest.feature_importances_.sum() == pytest.approx(1.0)


def read(data, name):
    frame = pd.read_csv(data / f"{name}.csv.gz", na_values=["?"])
    return frame.drop(columns="class"), frame["class"].astype(str).to_numpy()


def as_numbers(X):
    """Frames for scikit-learn: categories one-hot, missing values kept."""
    return pd.get_dummies(X, dtype=float).to_numpy(dtype=float)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["letter", "satimage", "hypothyroid", "mammography"])
def test_as_accurate_as_scikit_learn(data, name):
    X, y = read(data, name)
    ours, theirs = [], []
    for seed in range(3):
        folds = KFold(5, shuffle=True, random_state=seed)
        mine = PragmaForestClassifier(50, criterion="gini", tune=False, random_state=seed)
        other = RandomForestClassifier(50, random_state=seed)
        ours.append(cross_val_score(mine, X, y, cv=folds).mean())
        theirs.append(cross_val_score(other, as_numbers(X), y, cv=folds).mean())
    print(f"{name}: {np.mean(ours):.4f}, scikit-learn {np.mean(theirs):.4f}")
    assert np.mean(ours) >= np.mean(theirs) - 0.005
