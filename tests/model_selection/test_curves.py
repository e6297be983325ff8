"""Learning and complexity curves: the course's two examples, known fits, verdicts, displays."""

from __future__ import annotations

import importlib.util
import math
import runpy
import sys
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import mean_absolute_error, root_mean_squared_error
from sklearn.model_selection import KFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import compromis as cp
from compromis.model_selection.curves import ComplexityCurve, FoldLosses, LearningCurve

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(8))
def test_the_polynomials_of_the_course(seed):
    fits = example("generalisation_polynomials").curve(seed).fits
    assert [fit.state for fit in fits] == ["underfits", "good", "overfits"]


@pytest.mark.parametrize("seed", range(5))
def test_the_three_boundaries_of_the_course(seed):
    fits = example("generalisation_boundaries").curve(seed).fits
    assert [fit.state for fit in fits] == ["underfits", "good", "overfits"]


@pytest.mark.parametrize("name", ["generalisation_polynomials", "generalisation_boundaries"])
def test_the_examples_print_and_draw(name, tmp_path, monkeypatch, capsys):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr(sys, "argv", [name, str(tmp_path / "picture.png")])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    pyplot.close("all")
    lines = capsys.readouterr().out.splitlines()
    assert ["underfits" in line or "good" in line or "overfits" in line for line in lines] == [True] * 3
    assert (tmp_path / "picture.png").stat().st_size > 10_000


@pytest.fixture
def cloud(rng):
    X = rng.normal(size=(120, 2))
    return X, np.where(X[:, 0] + 0.7 * rng.normal(size=120) > 0.8, "rare", "common")


def test_losses_are_those_of_cross_validation(cloud, rng):
    """scikit-learn's cross_validate with the scorer gives the same losses, fold by fold."""
    X, y = cloud
    preferences, folds = cp.Preferences.prioritise(["rare"]), KFold(4, shuffle=True, random_state=1)
    curve = cp.model_selection.complexity_curve(
        KNeighborsClassifier(), X, y, parameter="n_neighbors", values=[15, 1], preferences=preferences, cv=folds
    )
    for place, neighbours in enumerate([15, 1]):
        expected = cross_validate(
            KNeighborsClassifier(neighbours),
            X,
            y,
            cv=folds,
            scoring=cp.pragma_scorer(preferences),
            return_train_score=True,
        )
        assert curve.losses.validation[place] == pytest.approx(1 - expected["test_score"])
        assert curve.losses.train[place] == pytest.approx(1 - expected["train_score"])


def test_regression_errors_and_the_naive_one(rng):
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, 2.0, 0.0] + rng.normal(size=60)
    folds = KFold(3)
    for error, measure in (
        ("root_mean_squared_error", root_mean_squared_error),
        ("mean_absolute_error", mean_absolute_error),
        (mean_absolute_error, mean_absolute_error),
    ):
        curve = cp.model_selection.preference_learning_curve(
            LinearRegression(), X, y, error=error, cv=folds, train_sizes=[0.5, 1]
        )
        naive, unseen = [], []
        for train, test in folds.split(X):
            unseen.append(measure(y[test], LinearRegression().fit(X[train], y[train]).predict(X[test])))
            naive.append(measure(y[test], np.full(len(test), y[train].mean())))
        assert curve.losses.validation[-1] == pytest.approx(unseen)
        assert curve.losses.naive == pytest.approx(naive)
    assert curve.sizes == (20, 40)


def test_subsets_are_stratified_and_nested(rng):
    """The smallest subset of an imbalanced set still has both classes: a linear model can be fitted on it."""
    y = np.repeat([0, 1], [190, 10])
    X = rng.normal(size=(200, 1)) + y[:, None]
    curve = cp.model_selection.preference_learning_curve(LogisticRegression(), X, y, train_sizes=[0.15, 1.0])
    assert curve.sizes == (24, 160)


def made(train, validation, naive, sizes=(100, 200), ratio=0.25, target=None, spread=0.001):
    wobble = spread * np.array([-1, 0, 1, 0, 0])
    losses = FoldLosses(
        train=np.array(train)[:, None] + wobble,
        validation=np.array(validation)[:, None] + wobble[::-1],
        naive=np.full(5, naive),
        test_ratio=ratio,
    )
    return LearningCurve(sizes=sizes, losses=losses, error="loss", target=target).verdict


@pytest.mark.parametrize(
    ("train", "validation", "naive", "word", "more"),
    [
        ([0.40, 0.41], [0.445, 0.44], 0.5, "underfits", False),
        ([0.05, 0.06], [0.30, 0.20], 0.5, "overfits", True),
        ([0.00, 0.00], [0.20, 0.20], 0.5, "overfits", False),
        ([0.10, 0.10], [0.12, 0.12], 0.5, "good", False),
        ([0.10, 0.10], [0.18, 0.13], 0.5, "good", True),
        ([0.20, 0.20], [0.70, 0.55], 0.5, "overfits", True),
        ([0.24, 0.24], [0.40, 0.41], 0.4, "underfits", False),
    ],
)
def test_verdicts(train, validation, naive, word, more):
    fit = made(train, validation, naive)
    assert (fit.state, fit.more_data) == (word, more)
    assert fit.sentence.startswith(word)
    assert ("more data would help" in fit.sentence) == more


def test_a_target_decides_what_underfits():
    assert made([0.2, 0.2], [0.22, 0.22], 0.5).state == "good"
    assert made([0.2, 0.2], [0.22, 0.22], 0.5, target=0.1).state == "underfits"
    assert made([0.3, 0.3], [0.32, 0.32], 0.5, target=0.35).state == "good"


def test_real_fits(rng):
    X = rng.uniform(-1, 1, (400, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)  # no line separates it
    assert cp.model_selection.preference_learning_curve(LogisticRegression(), X, y).verdict.state == "underfits"
    good = cp.model_selection.preference_learning_curve(SVC(), X, y).verdict
    assert good.state == "good"
    noisy = np.where(rng.random(400) < 0.25, 1 - y, y)
    assert (
        cp.model_selection.preference_learning_curve(DecisionTreeClassifier(random_state=0), X, noisy).verdict.state
        == "overfits"
    )
    few = cp.model_selection.preference_learning_curve(
        KNeighborsRegressor(5), X, X[:, 0] * X[:, 1], train_sizes=[0.1, 0.5, 1.0]
    ).verdict
    assert few.more_data


def test_a_model_worth_nothing(rng):
    X, y = rng.normal(size=(100, 2)), rng.integers(0, 2, 100)
    curve = cp.model_selection.complexity_curve(DummyClassifier(), X, y, parameter="strategy", values=["most_frequent"])
    assert curve.fits[0].state == "no better"
    assert "no better than" in str(curve.fits[0])


def test_the_recommended_value_is_the_simplest_good_one(rng):
    """On a thousand noisy rows one neighbour overfits and 700 underfit, whatever the draw."""
    X = rng.normal(size=(1000, 2))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=1000) > 0.8, "rare", "common")
    curve = cp.model_selection.complexity_curve(
        KNeighborsClassifier(), X, y, parameter="n_neighbors", values=[700, 25, 21, 1]
    )
    words = [fit.state for fit in curve.fits]
    assert (words[0], words[-1]) == ("underfits", "overfits")
    assert curve.recommended in {25, 21}
    assert curve.recommended == curve.values[words.index("good")]


def test_frames_groups_and_jobs(cloud, rng):
    X, y = cloud
    groups = rng.integers(0, 20, 120)
    first = cp.model_selection.preference_learning_curve(
        LogisticRegression(), pd.DataFrame(X, columns=["a", "b"]), pd.Series(y), groups=groups
    )
    with joblib.parallel_config(backend="threading"):
        second = cp.model_selection.preference_learning_curve(LogisticRegression(), X, y, groups=groups, n_jobs=2)
    assert np.array_equal(first.losses.validation, second.losses.validation)


# --- displays


def test_displays(cloud, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X, y = cloud
    learning = cp.plots.PreferenceLearningCurveDisplay.from_estimator(LogisticRegression(), X, y, cv=3)
    assert learning.caption == f"{learning.curve.verdict.sentence}."
    assert {text.get_text() for text in learning.ax_.get_legend().get_texts()} == {
        "training rows", "new rows (validation)", "without a model",
    }  # fmt: skip
    drawn = [line.get_ydata() for line in learning.ax_.lines]
    assert drawn[1] == pytest.approx(learning.curve.losses.validation_mean)
    assert learning.to_frame("pandas")["validation_loss"].tolist() == pytest.approx(drawn[1].tolist())
    ax = pyplot.subplots()[1]
    complexity = cp.plots.PreferenceLearningCurveDisplay.from_estimator(
        KNeighborsClassifier(), X, y, parameter="n_neighbors", values=[60, 1], ax=ax
    )
    assert complexity.ax_ is ax
    assert [text.get_text() for text in ax.texts] == [fit.state for fit in complexity.curve.fits]
    assert list(complexity.to_frame("pandas")["fit"]) == [fit.state for fit in complexity.curve.fits]
    pyplot.close("all")


# --- at the borders


def folds(train, validation, naive, ratio=0.25):
    train, validation, naive = (np.array(part, dtype=float) for part in (train, validation, naive))
    return FoldLosses(train=train, validation=validation, naive=naive, test_ratio=ratio)


def test_the_standard_error_of_nadeau_and_bengio():
    """Deviations -1, 0, 1: their standard deviation is 1, times the root of 1/3 + 1/2."""
    error = folds([[1, 2, 3]], [[4, 4, 4]], [1, 1, 4], 0.5)
    assert error.standard_error(error.train).tolist() == pytest.approx([math.sqrt(1 / 3 + 1 / 2)])
    assert error.standard_error(error.validation).tolist() == [0.0]
    assert (error.train_mean.tolist(), error.validation_mean.tolist(), error.naive_mean) == ([2.0], [4.0], 2.0)


def learning(train, validation, naive=1.0, sizes=(50, 100), **options):
    losses = folds([[one, one] for one in train], [[one, one] for one in validation], [naive, naive])
    return LearningCurve(sizes=sizes, losses=losses, error="loss", **options)


def test_the_words_at_their_borders():
    assert learning([0.25, 0.25], [0.5, 0.5]).verdict.state == "good"  # just half of the loss on new rows
    assert learning([0.25, 0.2], [0.5, 0.5]).verdict.state == "overfits"
    assert learning([0.5, 0.5], [0.9, 0.9]).verdict.state == "good"  # just half of the loss without a model
    assert learning([0.5, 0.51], [0.9, 0.9]).verdict.state == "underfits"
    assert learning([0.5, 0.5], [1.0, 1.0]).verdict.state == "no better"
    assert (
        learning([0.0, 0.0], [0.02, 0.02]).verdict.state == "good"
    )  # a gap of 2 % of the loss without a model is none
    assert learning([0.0, 0.0], [0.03, 0.03]).verdict.state == "overfits"
    assert learning([0.3, 0.3], [0.4, 0.4], target=0.3).verdict.state == "good"


def test_what_more_rows_would_bring():
    curve = learning([0.1, 0.1, 0.1], [0.9, 0.3, 0.15], sizes=(20, 50, 100))
    assert curve.verdict.more_data
    assert curve.verdict.sentence == (
        "good: the loss is 0.1 on the training rows and 0.15 on new rows, 1 without a model; "
        "more data would help: from 50 to 100 rows it fell by 0.15 on new rows"
    )
    rose = learning([0.1, 0.1], [0.15, 0.17]).verdict
    assert not rose.more_data
    assert rose.sentence.endswith("more data would hardly help: from 50 to 100 rows it rose by 0.02 on new rows")
    assert not learning([0.0, 0.0], [0.02, 0.0]).verdict.more_data  # just 2 % of the loss without a model
    assert learning([0.1, 0.1], [0.18, 0.15]).verdict.more_data
    unsure = LearningCurve(
        sizes=(50, 100), losses=folds([[0.1, 0.1]] * 2, [[0.5, 0.1], [0.1, 0.1]], [1, 1]), error="loss"
    )
    # saved 0.4 and 0: 0.2 on average, with a standard error of 0.2828 sqrt(1/2 + 1/4) = 0.245
    assert not unsure.verdict.more_data


def complexity(train, validation, naive=(1.0, 1.0), values=(1, 2, 3)):
    losses = folds(train, validation, naive)
    return ComplexityCurve(parameter="tree__depth", values=values, losses=losses, error="loss")


def test_the_verdict_on_each_value():
    curve = complexity([[0.5, 0.5], [0.3, 0.3], [0.1, 0.1]], [[0.6, 0.6], [0.4, 0.4], [0.5, 0.5]])
    assert [fit.state for fit in curve.fits] == ["underfits", "good", "overfits"]
    assert (curve.best, curve.recommended, curve.axis, curve.positions) == (1, 2, "depth", (1, 2, 3))
    assert str(curve.verdict) == "depth: 1 underfits; 2 good; 3 overfits"
    assert curve.fits[0].sentence == (
        "underfits: the loss is 0.5 on the training rows and 0.6 on new rows, both worse than 0.3 and 0.4 for depth 2"
    )
    assert curve.fits[2].sentence == (
        "overfits: the loss is 0.1 on the training rows and 0.5 on new rows, against 0.3 and 0.4 for depth 2"
    )
    columns = curve.columns()
    assert list(columns) == [
        "depth", "training_loss", "validation_loss", "training_standard_error", "validation_standard_error", "fit",
    ]  # fmt: skip
    assert columns["validation_loss"] == pytest.approx([0.6, 0.4, 0.5])


def test_the_last_value_and_equal_training_losses():
    last = complexity([[0.5, 0.5], [0.5, 0.5]], [[0.6, 0.6], [0.4, 0.4]], values=(0.5, 10.0))
    assert last.fits[0].state == "overfits"  # it does no worse on the rows it saw
    assert str(last.verdict) == "depth: 0.5 overfits; 10 good; the best value is the last one, so try beyond it"
    alone = complexity([[0.5, 0.5]], [[0.6, 0.6]], values=(7,))
    assert str(alone.verdict) == "depth: 7 good"
    useless = complexity([[0.5, 0.5]], [[1.0, 1.0]], values=(7,))
    assert useless.fits[0].sentence == (
        "no better: the loss is 0.5 on the training rows and 1 on new rows, no better than 1 without a model"
    )
    assert useless.recommended == 7


def test_good_is_within_one_standard_error_and_two_of_the_difference():
    """The best has validation losses 0.3 and 0.5: standard error sqrt(0.02) sqrt(1/2 + 1/4) = 0.1225."""

    def word(more):
        curve = complexity([[0.2, 0.2]] * 2, [[0.3, 0.5], more], values=(1, 2))
        return curve.fits[1].state

    assert word([0.41, 0.61]) == "overfits"  # the same difference on both folds: its standard error is 0
    assert word([0.32, 0.70]) == "good"  # 0.11 more, the difference varies by 0.1273 sqrt(3/4) = 0.110
    assert word([0.32, 0.74]) == "overfits"  # 0.13 more
    assert word([0.45, 0.55]) == "good"  # 0.10 more, the difference varies by 0.0707 sqrt(3/4) = 0.0612, doubled 0.1225
    assert word([0.47, 0.57]) == "good"  # 0.12 more
    assert word([0.48, 0.58]) == "overfits"  # 0.13 more


def test_three_sizes_of_which_only_the_last_counts():
    """Training losses 0.4, 0.3, 0.1 and 0.5, 0.9, 0.15 on new rows: the last pair is good, any other is not."""
    curve = learning([0.4, 0.3, 0.1], [0.5, 0.9, 0.15], sizes=(20, 50, 100))
    assert curve.verdict.state == "good"
    assert curve.verdict.sentence.startswith("good: the loss is 0.1 on the training rows and 0.15 on new rows")
    assert curve.positions == (20, 50, 100)
    assert (
        learning([0.0, 0.0, 0.0], [0.9, 0.9, 0.01], sizes=(20, 50, 100)).verdict.state == "good"
    )  # a gap of 1 % is none
    assert learning([0.0, 0.0, 0.0], [0.0, 0.0, 0.5], sizes=(20, 50, 100)).verdict.state == "overfits"


def test_worse_than_no_model():
    assert learning([0.45, 0.45], [0.8, 0.8], naive=0.75).verdict.state == "underfits"
    assert learning([0.3, 0.3], [0.5, 0.5], naive=0.4, target=0.3).verdict.state == "no better"
    wild = LearningCurve(sizes=(50, 100), losses=folds([[0, 0]] * 2, [[0, 4], [0, 4]], [1, 1]), error="loss")
    # 2 more than on the training rows, with a standard error of 2.83 sqrt(3/4) = 2.45, but no better than no model
    assert wild.verdict.state == "overfits"


def test_savings_are_shares_of_the_loss_without_a_model():
    assert learning([1.0, 1.0], [1.235, 1.2], naive=4.0).verdict.more_data is False  # 0.035 of 4 is below 2 %
    assert learning([0.1, 0.1], [0.13, 0.11], naive=0.5).verdict.more_data  # 0.02 of 0.5 is 4 %


def test_two_standard_errors_of_the_difference():
    """0.09 and 0.05 more: 0.07 on average, twice its standard error is 2 x 0.0283 sqrt(3/4) = 0.049."""
    curve = complexity([[0.2, 0.2]] * 2, [[0.3, 0.5], [0.39, 0.55]], values=(1, 2))
    assert curve.fits[1].state == "overfits"


def test_a_value_better_on_one_fold_and_worse_on_the_other():
    """-0.05 and 0.25 more: 0.1 on average, within one standard error of the best (0.1225)."""
    curve = complexity([[0.2, 0.2]] * 2, [[0.3, 0.5], [0.25, 0.75]], values=(1, 2))
    assert curve.fits[1].state == "good"
    assert complexity([[0.5, 0.5]], [[1.2, 1.2]], values=(7,)).fits[0].state == "no better"


def test_half_of_the_rows_is_the_nearest_size():
    curve = learning([0.1] * 4, [0.9, 0.3, 0.16, 0.15], sizes=(20, 50, 90, 100))
    assert "from 50 to 100 rows it fell by 0.15" in curve.verdict.sentence


def test_gaps_of_the_last_size_in_shares_of_the_loss_without_a_model():
    assert learning([0.0, 0.5, 0.0], [0.9, 0.9, 0.5], sizes=(20, 50, 100)).verdict.state == "overfits"
    assert learning([0.0, 0.0], [0.05, 0.05], naive=4.0).verdict.state == "good"  # 0.05 is below 2 % of 4


# --- containers


@pytest.mark.parametrize(
    "make",
    [
        lambda X: X.tolist(),
        pd.DataFrame,
        lambda X: pl.DataFrame(X),
        lambda X: pa.table(pd.DataFrame(X, columns=["a", "b"])),
        sparse.csr_array,
        sparse.coo_matrix,
    ],
    ids=["list", "pandas", "polars", "pyarrow", "csr", "coo"],
)
def test_any_container(cloud, make):
    X, y = cloud
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X has feature names|X does not have valid")
        expected, found = (
            cp.model_selection.preference_learning_curve(LogisticRegression(), rows, y, cv=3, train_sizes=[0.5, 1])
            for rows in (X, make(X))
        )
        names = pa.array(y.tolist()) if "pyarrow" in str(type(make(X))) else pl.Series(y)
        named = cp.model_selection.preference_learning_curve(LogisticRegression(), X, names, cv=3, train_sizes=[0.5, 1])
    assert found.losses.validation == pytest.approx(expected.losses.validation)
    assert named.losses.validation == pytest.approx(expected.losses.validation)


# --- bad input

X, Y = np.arange(20.0).reshape(10, 2), [0, 1] * 5


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        ((X, [0] * 8 + [1] * 2), {}, "a class has fewer rows than there are folds: 1 has 2 of 5 needed"),
        ((X, Y[:-1]), {}, "X has 10 rows, y has 9"),
        ((X[:0], []), {}, "X has no rows"),
        ((X, Y), {"cv": 1}, "cross-validation needs at least 2 folds, got cv=1"),
        ((X, Y), {"preferences": cp.Preferences.prioritise(["sick"])}, "there is a preference for 'sick'"),
        ((X, Y), {"error": "root_mean_square_error"}, "there is no error 'root_mean_square_error' .did you mean"),
        ((X, Y), {"train_sizes": [10, 20]}, "train_sizes are at least two shares"),
        ((X, Y), {"train_sizes": [1.0]}, "train_sizes are at least two shares"),
    ],
)
def test_mistakes(arguments, options, said):
    with pytest.raises(cp.InputError, match=said):
        cp.model_selection.preference_learning_curve(DecisionTreeClassifier(), *arguments, **options)


def test_mistakes_with_regressors_and_parameters():
    with pytest.raises(cp.InputError, match="preferences are for classifiers, and LinearRegression is none"):
        cp.model_selection.preference_learning_curve(LinearRegression(), X, Y, preferences=cp.Preferences())
    with pytest.raises(cp.InputError, match="the root mean squared log error is for values of at least 0"):
        cp.model_selection.preference_learning_curve(
            LinearRegression(), X, np.arange(10) - 5.0, error="root_mean_squared_log_error"
        )
    with pytest.raises(cp.InputError, match="y must be finite"):
        cp.model_selection.preference_learning_curve(LinearRegression(), X, [np.nan] * 10)
    with pytest.raises(cp.InputError, match="there are 10 rows for 11 folds, so 1 folds would be empty"):
        cp.model_selection.preference_learning_curve(LinearRegression(), X, np.arange(10.0), cv=11)
    with pytest.raises(cp.InputError, match="no parameter 'max_dept'; did you mean 'max_depth'"):
        cp.model_selection.complexity_curve(DecisionTreeClassifier(), X, Y, parameter="max_dept", values=[1])
    with pytest.raises(cp.InputError, match="values is empty"):
        cp.model_selection.complexity_curve(DecisionTreeClassifier(), X, Y, parameter="max_depth", values=[])
    with pytest.raises(cp.InputError, match="there are 2 groups for 3 folds, so 1 folds would be empty"):
        cp.model_selection.complexity_curve(
            DecisionTreeClassifier(), X, Y, parameter="max_depth", values=[1], groups=[0] * 5 + [1] * 5, cv=3
        )
