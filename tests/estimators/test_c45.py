"""C45Classifier as a scikit-learn estimator: its contract, frames, missing values, and input that cannot be used."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from compromis.estimators.c45 import C45Classifier

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

COLUMNS = {
    "outlook": ["sunny", "rain", None, "overcast"] * 10,
    "degrees": [20.0, 12.5, None, 18.0] * 10,
    "windy": [True, False, True, None] * 10,
}
LABELS = np.array(["a", "b", "a", "c"] * 10)


def numbers(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")


def test_check_estimator() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(C45Classifier(), on_fail=None, on_skip=None)
    failed = [result["check_name"] for result in results if result["status"] == "failed"]
    assert failed == []
    assert sum(result["status"] == "passed" for result in results) > 40


def test_fit_leaves_parameters_alone_and_survives_pickling() -> None:
    X, y = numbers()
    model = C45Classifier(confidence=0.1, min_leaf=3).fit(X, y)
    assert clone(model).get_params() == {
        "confidence": 0.1, "min_leaf": 3, "pruned": True, "subtree_raising": True
    }  # fmt: skip
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.export_text() == model.export_text()


def test_weights_are_repetitions() -> None:
    X, y = numbers(200)
    weights = np.random.default_rng(1).integers(0, 4, 200)
    repeated = C45Classifier().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    weighted = C45Classifier().fit(X, y, sample_weight=weights)
    assert weighted.export_text() == repeated.export_text()
    assert weighted.size_ > 3


def test_counts_of_nodes() -> None:
    X, y = numbers(200)
    model = C45Classifier().fit(X, y)
    lines = [line for line in model.export_text().splitlines() if "<=" in line or ">" in line]
    assert model.size_ == len(lines) + 1
    assert model.n_leaves_ == model.get_n_leaves() == sum(": " in line for line in lines)
    assert model.get_depth() == max(line.count("|") for line in lines) + 1


def test_frames_of_either_library_and_missing_values_agree() -> None:
    pandas_model = C45Classifier().fit(pd.DataFrame(COLUMNS), LABELS)
    polars_model = C45Classifier().fit(pl.DataFrame(COLUMNS), LABELS)
    assert pandas_model.export_text() == polars_model.export_text()
    assert "outlook = overcast" in pandas_model.export_text()
    expected = pandas_model.predict_proba(pd.DataFrame(COLUMNS))
    assert np.array_equal(polars_model.predict_proba(pl.DataFrame(COLUMNS)), expected)
    assert np.allclose(expected.sum(axis=1), 1)


def test_category_order_is_kept_and_text_is_sorted() -> None:
    order = ["x", "sunny", "rain", "overcast"]
    ordered = pd.DataFrame(COLUMNS).assign(outlook=pd.Categorical(COLUMNS["outlook"], order))
    enum = pl.DataFrame(COLUMNS).with_columns(pl.col("outlook").cast(pl.Enum(order)))
    for frame in (ordered, enum):
        assert C45Classifier().fit(frame, LABELS).columns_[0].categories == tuple(order)
    text = C45Classifier().fit(pd.DataFrame(COLUMNS), LABELS)
    assert text.columns_[0].categories == ("overcast", "rain", "sunny")
    loose = pl.DataFrame(COLUMNS).with_columns(pl.col("outlook").cast(pl.Categorical))
    assert C45Classifier().fit(loose, LABELS).columns_ == text.columns_


def test_an_unseen_category_counts_as_missing() -> None:
    frame = pd.DataFrame(COLUMNS)
    model = C45Classifier().fit(frame, LABELS)
    unseen = model.predict_proba(frame.assign(outlook="hail"))
    assert np.array_equal(unseen, model.predict_proba(frame.assign(outlook=None)))
    assert not np.array_equal(unseen, model.predict_proba(frame))


def test_missing_values_are_spread_in_proportion() -> None:
    X = np.array([[0.0]] * 6 + [[1.0]] * 2)
    model = C45Classifier(min_leaf=1, pruned=False).fit(X, ["a"] * 6 + ["b"] * 2)
    assert model.predict_proba([[np.nan]]).tolist() == [[0.75, 0.25]]


def test_values_equal_to_the_threshold_go_left() -> None:
    model = C45Classifier().fit([[1.0], [1.0], [4.0], [4.0]], [0, 0, 1, 1])
    assert "x0 <= 1: 0 (2.0)" in model.export_text()
    assert model.predict([[1.0], [1.1], [4.0]]).tolist() == [0, 1, 1]


@pytest.mark.parametrize("X", [np.full((40, 2), np.nan), np.ones((40, 2))])
def test_columns_that_say_nothing_give_one_leaf(X: np.ndarray) -> None:
    model = C45Classifier().fit(X, LABELS)
    assert model.size_ == 1
    assert model.export_text().startswith(": a (40.0/20.0)\n\nNumber of Leaves  : \t1\n")
    assert set(model.predict(X)) == {"a"}


def test_columns_without_any_value() -> None:
    empty = pd.DataFrame({"a": [None] * 40, "b": pd.Categorical([None] * 40)})
    assert C45Classifier().fit(empty, LABELS).size_ == 1
    assert C45Classifier().fit(pl.DataFrame({"a": [None] * 40}), LABELS).size_ == 1


def test_one_class_gives_one_leaf() -> None:
    model = C45Classifier().fit(numbers()[0], ["only"] * 60)
    assert model.predict_proba(numbers()[0]).tolist() == [[1.0]] * 60


def test_half_precision_is_read_as_it_is() -> None:
    X, y = numbers()
    half = X.astype(np.float16)
    assert C45Classifier().fit(half, y).export_text() == C45Classifier().fit(half.astype(float), y).export_text()


def test_huge_values_do_not_overflow_the_threshold() -> None:
    X = np.array([[1.5e308], [1.6e308], [1.7e308], [1.75e308]] * 3)
    model = C45Classifier().fit(X, [0, 0, 1, 1] * 3)
    assert model.predict(X).tolist() == [0, 0, 1, 1] * 3


def test_many_categories_are_handled() -> None:
    names = [f"c{i % 300}" for i in range(1200)]
    frame = pd.DataFrame({"name": names})
    model = C45Classifier().fit(frame, [int(name[1:]) % 2 for name in names])
    assert model.n_leaves_ == 300
    assert model.score(frame, [int(name[1:]) % 2 for name in names]) == 1.0


FRAME = pd.DataFrame(numbers()[0], columns=list("abc"))
Y = numbers()[1]


@pytest.mark.parametrize(
    ("X", "kind", "message"),
    [
        (np.array([[np.inf], [1.0]] * 30), ValueError, "infinity"),
        (FRAME.assign(b=-np.inf), ValueError, "column 'b' has infinite values"),
        (scipy.sparse.csr_array(np.ones((60, 2))), TypeError, "Sparse data was passed"),
        (FRAME.assign(d=pd.Timestamp("2020-01-01")), ValueError, "column 'd' has type Datetime"),
        (FRAME.assign(d=[[1]] * 60), ValueError, "column 'd' has type"),
        (FRAME.assign(d=[1, "x"] * 30), ValueError, "column 'd' has type"),
        (pl.LazyFrame({"a": [1.0] * 60}), ValueError, "collect it first"),
        (pd.DataFrame(np.ones((60, 2)), columns=["a", "a"]), ValueError, "several columns of the same name"),
        (FRAME[:0], ValueError, "X has 0 rows"),
        (FRAME[:7], ValueError, "X has 7 rows and y has 60"),
        (np.ones(60), ValueError, "2D array"),
        ([["text"]] * 60, ValueError, "could not convert"),
    ],
)
def test_input_that_cannot_be_used(X: object, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        C45Classifier().fit(X, Y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([None, "a"] * 30, "y has missing labels"),
        ([np.nan, 1.0] * 30, "NaN"),
        (np.arange(60) + 0.5, "continuous"),
        (np.ones((60, 2)), "1d array"),
    ],
)
def test_labels_that_cannot_be_used(y: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        C45Classifier().fit(FRAME, y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(60, -1.0), "at least 0"),
        (np.full(60, np.nan), "finite"),
        (np.zeros(60), "zero for every row"),
        (np.full(60, 1e308), "too large"),
        (np.ones(3), "shape"),
        (["x"] * 60, "numbers"),
    ],
)
def test_weights_that_cannot_be_used(weights: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        C45Classifier().fit(FRAME, Y, sample_weight=weights)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"confidence": 0.0}, "confidence lies between"),
        ({"confidence": 1.5}, "confidence lies between"),
        ({"confidence": "high"}, "confidence lies between"),
        ({"min_leaf": 0}, "min_leaf is a whole number"),
        ({"min_leaf": 2.5}, "min_leaf is a whole number"),
        ({"min_leaf": True}, "min_leaf is a whole number"),
        ({"pruned": "no"}, "pruned is True or False"),
        ({"subtree_raising": 1}, "subtree_raising is True or False"),
    ],
)
def test_parameters_that_cannot_be_used(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        C45Classifier(**parameters).fit(FRAME, Y)


def test_a_leaf_may_need_more_than_there_is() -> None:
    assert C45Classifier(min_leaf=10**30).fit(FRAME, Y).size_ == 1


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FRAME[["a", "b"]], "yet now missing"),
        (FRAME[["b", "a", "c"]], "same order"),
        (FRAME.rename(columns={"a": "z"}), "unseen at fit time"),
        (FRAME.assign(a="text"), "column 'a' was numeric in training"),
        (FRAME.assign(a=np.inf), "infinite values"),
        (np.ones((2, 4)), "4 features"),
    ],
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_rows_to_predict_that_cannot_be_used(frame: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        C45Classifier().fit(FRAME, Y).predict(frame)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_nominal_columns_need_a_frame() -> None:
    model = C45Classifier().fit(pd.DataFrame(COLUMNS), LABELS)
    with pytest.raises(ValueError, match="nominal columns 'outlook', 'windy'; pass a data frame"):
        model.predict(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="column 'outlook' was nominal in training"):
        model.predict(pd.DataFrame(COLUMNS).assign(outlook=[["list"]] * 40))
