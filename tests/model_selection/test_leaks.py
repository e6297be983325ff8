"""find_leaks and row_groups: equal rows in any container."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import compromis as cp


@pytest.mark.parametrize("kind", ["array", "integers", "pandas", "polars", "csr", "mixed"])
def test_a_planted_leak_is_found(rng, kind):
    train, test = rng.normal(size=(300, 5)), rng.normal(size=(80, 5))
    if kind == "integers":
        train, test = (1e6 * train).astype(np.int64), (1e6 * test).astype(np.int64)
    if kind == "csr":
        train[rng.random(train.shape) < 0.5] = 0
    planted = rng.choice(80, 7, replace=False)
    test[planted] = train[rng.choice(300, 7)]
    make = {
        "pandas": pd.DataFrame,
        "polars": lambda X: pl.DataFrame(X, schema=list("abcde")),
        "csr": scipy.sparse.csr_matrix,
        "mixed": lambda X: pd.DataFrame(X).assign(text=[f"t{row[0]:.3f}" if row[0] < 1 else None for row in X]),
    }.get(kind, lambda X: X)
    leaks = cp.model_selection.find_leaks(make(train), make(test))
    assert sorted(leaks.rows) == sorted(planted)
    assert np.array_equal(train[leaks.sources], test[leaks.rows])
    assert str(leaks) == "7 of 80 rows of the test set (8.8 %) also stand in the training set"


def test_leaks_against_brute_force(rng):
    for _ in range(30):
        train, test = rng.integers(0, 3, (rng.integers(1, 30), 3)), rng.integers(0, 3, (rng.integers(1, 30), 3))
        expected = [row for row in range(len(test)) if (train == test[row]).all(axis=1).any()]
        for make in (np.asarray, lambda X: X.astype(float), lambda X: X.astype(str), scipy.sparse.csr_matrix):
            assert cp.model_selection.find_leaks(make(train), make(test)).rows.tolist() == expected


def test_rows_of_one_hash_are_told_apart(rng, monkeypatch):
    train, test = rng.integers(0, 3, (20, 2)), rng.integers(0, 4, (30, 2))
    found, groups = cp.model_selection.find_leaks(train, test), cp.model_selection.row_groups(test)
    monkeypatch.setattr("compromis.model_selection.leaks.row_hashes", lambda columns: columns[0] * np.uint64(0))
    same = cp.model_selection.find_leaks(train, test)
    assert same.rows.tolist() == found.rows.tolist()
    assert same.sources.tolist() == found.sources.tolist()
    assert cp.model_selection.row_groups(test).tolist() == groups.tolist()


def test_values_that_are_equal_but_look_different():
    assert len(cp.model_selection.find_leaks([[0.0, np.nan]], [[-0.0, -np.nan]])) == 1
    assert len(cp.model_selection.find_leaks(np.array([[1, 2]]), np.array([[1.0, 2.0]]))) == 1
    assert len(cp.model_selection.find_leaks(np.array([[2**53]]), np.array([[2**53 + 1]]))) == 0
    stored_zero = scipy.sparse.csr_matrix(([0.0, 1.0], ([0, 0], [0, 1])), shape=(1, 2))
    assert len(cp.model_selection.find_leaks(stored_zero, scipy.sparse.csr_matrix([[0.0, 1.0]]))) == 1
    swapped = pd.DataFrame({"b": [2], "a": [1]})
    assert len(cp.model_selection.find_leaks(pd.DataFrame({"a": [1], "b": [2]}), swapped)) == 1
    assert len(cp.model_selection.find_leaks([[1, 2]], [[2, 1]])) == 0


@pytest.mark.parametrize(
    ("train", "test", "said"),
    [
        ([[1, 2]], [[1, 2, 3]], "X_train has 2 columns, X_test has 3"),
        (
            pd.DataFrame({"a": [1]}),
            pd.DataFrame({"b": [1]}),
            "different columns: 'a', 'b' only in one|'b', 'a' only in one",
        ),
        (scipy.sparse.csr_matrix([[1]]), [[1]], "one of the two sets is sparse"),
    ],
)
def test_sets_that_cannot_be_compared(train, test, said):
    with pytest.raises(cp.InputError, match=said):
        cp.model_selection.find_leaks(train, test)
