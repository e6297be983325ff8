"""Learning and complexity curves: the course's two examples, known fits, verdicts, displays."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import mean_absolute_error, root_mean_squared_error
from sklearn.model_selection import KFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import compromis as cp
from compromis.model_selection.curves import FoldLosses, LearningCurve

EXAMPLES = Path(__file__).parents[1] / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(8))
def test_the_polynomials_of_the_course(seed):
    fits = example("generalisation_polynomials").curve(seed).fits
    assert [fit.word for fit in fits] == ["underfits", "good", "overfits"]


@pytest.mark.parametrize("seed", range(5))
def test_the_three_boundaries_of_the_course(seed):
    fits = example("generalisation_boundaries").curve(seed).fits
    assert [fit.word for fit in fits] == ["underfits", "good", "overfits"]


@pytest.mark.parametrize("name", ["generalisation_polynomials", "generalisation_boundaries"])
def test_the_examples_print_and_draw(name, tmp_path):
    pytest.importorskip("matplotlib")
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), "picture.png"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert ["underfits" in line or "good" in line or "overfits" in line for line in done.stdout.splitlines()] == [
        True
    ] * 3
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
        assert curve.losses.validation[place] == pytest.approx(-expected["test_score"])
        assert curve.losses.train[place] == pytest.approx(-expected["train_score"])


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
        np.array(train)[:, None] + wobble, np.array(validation)[:, None] + wobble[::-1], np.full(5, naive), ratio
    )
    return LearningCurve(sizes, losses, "loss", target).verdict


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
    assert (fit.word, fit.more_data) == (word, more)
    assert fit.sentence.startswith(word)
    assert ("more data would help" in fit.sentence) == more


def test_a_target_decides_what_underfits():
    assert made([0.2, 0.2], [0.22, 0.22], 0.5).word == "good"
    assert made([0.2, 0.2], [0.22, 0.22], 0.5, target=0.1).word == "underfits"
    assert made([0.3, 0.3], [0.32, 0.32], 0.5, target=0.35).word == "good"


def test_real_fits(rng):
    X = rng.uniform(-1, 1, (400, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)  # no line separates it
    assert cp.model_selection.preference_learning_curve(LogisticRegression(), X, y).verdict.word == "underfits"
    good = cp.model_selection.preference_learning_curve(SVC(), X, y).verdict
    assert good.word == "good"
    noisy = np.where(rng.random(400) < 0.25, 1 - y, y)
    assert (
        cp.model_selection.preference_learning_curve(DecisionTreeClassifier(random_state=0), X, noisy).verdict.word
        == "overfits"
    )
    few = cp.model_selection.preference_learning_curve(
        KNeighborsRegressor(5), X, X[:, 0] * X[:, 1], train_sizes=[0.1, 0.5, 1.0]
    ).verdict
    assert few.more_data


def test_a_model_worth_nothing(rng):
    X, y = rng.normal(size=(100, 2)), rng.integers(0, 2, 100)
    curve = cp.model_selection.complexity_curve(DummyClassifier(), X, y, parameter="strategy", values=["most_frequent"])
    assert curve.fits[0].word == "uninformative"
    assert "no better than" in str(curve.fits[0])


def test_the_recommended_value_is_the_simplest_good_one(rng):
    """On a thousand noisy rows one neighbour overfits and 700 underfit, whatever the draw."""
    X = rng.normal(size=(1000, 2))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=1000) > 0.8, "rare", "common")
    curve = cp.model_selection.complexity_curve(
        KNeighborsClassifier(), X, y, parameter="n_neighbors", values=[700, 25, 21, 1]
    )
    words = [fit.word for fit in curve.fits]
    assert (words[0], words[-1]) == ("underfits", "overfits")
    assert curve.recommended in {25, 21}
    assert curve.recommended == curve.values[words.index("good")]


def test_frames_groups_and_jobs(cloud, rng):
    X, y = cloud
    groups = rng.integers(0, 20, 120)
    first = cp.model_selection.preference_learning_curve(
        LogisticRegression(), pd.DataFrame(X, columns=["a", "b"]), pd.Series(y), groups=groups
    )
    second = cp.model_selection.preference_learning_curve(LogisticRegression(), X, y, groups=groups, n_jobs=2)
    assert np.array_equal(first.losses.validation, second.losses.validation)


# --- displays


def test_displays(cloud, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X, y = cloud
    learning = cp.plots.PreferenceLearningCurveDisplay.from_estimator(LogisticRegression(), X, y, cv=3)
    assert learning.ax_.get_title(loc="left").replace("\n", " ") == learning.curve.verdict.sentence
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
    assert [text.get_text() for text in ax.texts] == [fit.word for fit in complexity.curve.fits]
    assert list(complexity.to_frame("pandas")["fit"]) == [fit.word for fit in complexity.curve.fits]
    pyplot.close("all")


@pytest.mark.parametrize("rows", [10, 1000, 6000])
def test_residual_displays(rng, rows):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X = rng.normal(size=(rows, 1))
    y = X[:, 0] + rng.normal(size=rows)
    model = LinearRegression().fit(X, y)
    residual = cp.plots.ResidualDisplay.from_estimator(model, X, y)
    assert residual.to_frame("pandas")["residual"].to_numpy() == pytest.approx(model.predict(X) - y)
    against = cp.plots.PredictedAgainstTrueDisplay.from_predictions(y, model.predict(X))
    for display, across, up in ((residual, model.predict(X), model.predict(X) - y), (against, y, model.predict(X))):
        if rows < 5000:
            assert np.allclose(display.ax_.collections[0].get_offsets(), np.column_stack([across, up]))
    assert (residual.ax_.get_xlabel(), against.ax_.get_xlabel()) == ("predicted", "true")
    pyplot.close("all")


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(cp.MissingExtra, match=r"pip install 'compromis\[plot\]'"):
        cp.plots.ResidualDisplay.from_predictions([1, 2], [1, 2])


# --- bad input

X, Y = np.arange(20.0).reshape(10, 2), [0, 1] * 5


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        ((X, [0] * 8 + [1] * 2), {}, "class 1 has 2 rows, fewer than the 5 folds"),
        ((X, Y[:-1]), {}, "X has 10 rows, y has 9"),
        ((X[:0], []), {}, "X has no rows"),
        ((X, Y), {"cv": 1}, "cv is a number of folds of at least 2, got 1"),
        ((X, Y), {"preferences": cp.Preferences.prioritise(["sick"])}, "there is a preference for 'sick'"),
        ((X, Y), {"error": "root_mean_square_error"}, "there is no error 'root_mean_square_error'; did you mean"),
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
    with pytest.raises(cp.InputError, match="there are 10 rows, fewer than the 11 folds"):
        cp.model_selection.preference_learning_curve(LinearRegression(), X, np.arange(10.0), cv=11)
    with pytest.raises(cp.InputError, match="no parameter 'max_dept'; did you mean 'max_depth'"):
        cp.model_selection.complexity_curve(DecisionTreeClassifier(), X, Y, parameter="max_dept", values=[1])
    with pytest.raises(cp.InputError, match="values is empty"):
        cp.model_selection.complexity_curve(DecisionTreeClassifier(), X, Y, parameter="max_depth", values=[])
    with pytest.raises(cp.InputError, match="there are 2 groups for 3 folds, so a fold would stay empty"):
        cp.model_selection.complexity_curve(
            DecisionTreeClassifier(), X, Y, parameter="max_depth", values=[1], groups=[0] * 5 + [1] * 5, cv=3
        )
