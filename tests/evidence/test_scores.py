"""The reader of class scores: every container gives the same matrix, every function the same sentences."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import compromis as cp
from compromis.evidence.scores import as_dense, check_scores, read_scores, with_absent_classes

SCORES = [[0.25, 0.75], [1.0, 0.0]]
COLUMNS = {"b": [0.75, 0.0], "a": [0.25, 1.0]}
CONTAINERS = {
    "list": SCORES,
    "float32": np.array(SCORES, dtype=np.float32),
    "Fortran order": np.asfortranarray(SCORES),
    "one column": [0.75, 0.0],
    "column vector": [[0.75], [0.0]],
    "pandas": pd.DataFrame(COLUMNS),
    "polars": pl.DataFrame(COLUMNS),
    "pyarrow": pa.table(COLUMNS),
    "CSR": scipy.sparse.csr_array(SCORES),
    "COO": scipy.sparse.coo_matrix(SCORES),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_containers(container):
    given = CONTAINERS[container]
    told = {"pos_label": "b"} if "column" in container else {}
    assert as_dense(read_scores(given, ("a", "b"), 2, **told)).tolist() == SCORES
    truth = ["b", "a"]
    assert cp.Votes.from_proba(truth, given, labels=["a", "b"], **told).dense().tolist() == SCORES
    assert cp.evaluate(truth, y_proba=given, **told).summary.accuracy == 1
    assert cp.Decision(("a", "b"), [1.0, 1.0]).decide(given, **told).tolist() == truth
    if not told:
        assert cp.OperatingPoints.one_vs_rest(truth, given)["b"].threshold[1:].tolist() == [0.75, 0.0]


def test_columns_named_as_text_of_the_classes():
    assert read_scores(pd.DataFrame({"1": [0.5], "0": [0.25]}), (0, 1)).tolist() == [[0.25, 0.5]]


DOORS = {
    "votes": lambda y, scores: cp.Votes.from_proba(y, scores),
    "evaluate": lambda y, scores: cp.evaluate(y, y_proba=scores),
    "one_vs_rest": lambda y, scores: cp.OperatingPoints.one_vs_rest(y, scores),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([[1, 2, 3], [2, 1, 3]], "y_proba has 3 columns, but there are 2 classes"),
        ([[1, 2]], "y_proba has 1 rows, y has 2; they must describe the same rows"),
        ([["a", "b"], ["c", "d"]], "y_proba must hold numbers, one column per class"),
        ([[1, np.inf], [1, 1]], "y_proba must be finite, got inf in row 0, column 1"),
        ([np.eye(2), np.eye(2)], "a model of several outputs gives a matrix for each"),
        ([0.5, 1.5], "y_proba with one column is the probability of 1, at most 1, got 1.5"),
        (pd.DataFrame({"x": [1, 2], "y": [1, 2]}), "the columns of y_proba are 'x', 'y', the classes 0, 1"),
    ],
)
def test_sentences_are_the_same_everywhere(door, scores, said):
    with pytest.raises(cp.InputError, match=said):
        DOORS[door]([0, 1], scores)


def test_negative_scores():
    for matrix in (np.array([[1.0, -2.0]]), scipy.sparse.csr_array([[1.0, -2.0]])):
        with pytest.raises(cp.InputError, match="scores must not be negative, got -2 in row 0, column 1"):
            check_scores(matrix, "scores")
        check_scores(matrix, negative=True)


def test_classes_that_a_fold_lacked_get_nothing():
    shares = np.array([[0.25, 0.75]])
    assert with_absent_classes(shares, np.array(["a", "c"]), ("a", "b", "c")).tolist() == [[0.25, 0.0, 0.75]]
    assert with_absent_classes(shares, ["b", "a"], ("a", "b")).tolist() == [[0.75, 0.25]]


READERS = {
    "evaluate": lambda y, p, **how: cp.evaluate(y, y_proba=p, **how).counts,
    "votes": lambda y, p, **how: cp.Votes.from_proba(y, p, **how).counts([1, 1, 1]),
    "compare": lambda y, p, **how: cp.compare_models(y, {"a": p, "b": y}, **how).evaluations["a"].counts,
    "points": lambda y, p, **how: cp.OperatingPoints.one_vs_rest(y, p, **how),
}


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_columns_without_names_are_not_taken_for_categories_in_another_order(read, kind):
    values, order = ["low", "mid", "high", "high"], ["low", "mid", "high"]
    y = pd.Series(pd.Categorical(values, order)) if kind == "pandas" else pl.Series(values, dtype=pl.Enum(order))
    usual = sorted(order)  # the columns of scikit-learn
    proba = np.array([[label == truth for label in usual] for truth in values], dtype=float)
    with pytest.raises(cp.InputError, match="pass labels="):
        READERS[read](y, proba)
    named = pd.DataFrame(proba, columns=usual)
    for given in (READERS[read](y, proba, labels=usual), READERS[read](y, named)):
        if read != "points":
            assert given.matrix.trace() == 4
    READERS[read](list(y), proba)  # nothing but one order


def test_preferences_as_labels_say_no_order_of_columns():
    y = pd.Categorical(["ok", "bad"], ["ok", "bad"])
    with pytest.raises(cp.InputError, match="pass labels="):
        cp.evaluate(y, y_proba=[[0, 1], [1, 0]], labels=cp.Preferences({"bad": 2}))
    assert cp.evaluate(y, y_proba=[0, 1], pos_label="bad").summary.accuracy == 1  # one column needs no order
    with pytest.raises(cp.InputError, match="pass labels="):
        cp.evaluate(y, list(y), y_proba=[[0, 1], [1, 0]], needs_review=[True, False])


@pytest.mark.parametrize("name", ["y_proba", "sample_weight", "amount", "groups", "by"])
def test_the_same_row_labels_in_another_order_are_refused(name):
    y = pd.Series(["b", "a", "a"], index=[2, 0, 1])
    beside = {"y_proba": pd.DataFrame({"a": [1, 1, 0], "b": [0, 0, 1]})}.get(name, pd.Series([1, 2, 3]))
    given = {name: beside, "preferences": {"b": 2}}
    if name == "amount":
        given["preferences"] = cp.Preferences(cost={("b", "a"): "amount"})
    predicted = None if name == "y_proba" else ["b", "a", "a"]
    with pytest.raises(cp.InputError, match=f"{name} has the pandas row labels of the true classes in another order"):
        cp.evaluate(y, predicted, **given)
    result = cp.evaluate(y, predicted, **{**given, name: beside.reindex(y.index)})
    assert result.summary.accuracy == 1
    if name != "sample_weight":  # whose row labels must be the same
        cp.evaluate(y.set_axis([7, 8, 9]), predicted, **given)  # a frame made of an array has row labels of its own


def test_scores_and_groups_of_a_search_in_another_order_are_refused():
    y, turned = pd.Series([0, 1, 1]), pd.Series([0.1, 0.2, 0.9])[::-1]
    with pytest.raises(cp.InputError, match="y_score has the pandas row labels"):
        cp.OperatingPoints.from_predictions(y, turned)
    with pytest.raises(cp.InputError, match="by has the pandas row labels"):
        cp.search_weights(y, np.ones((3, 2)), by=turned)
