"""split: exact sizes, classes at their share, whole groups, every container, and rows that stand in two parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import compromis as cp
from compromis.frames.reading import read_table


def parts_of(result):
    return result.train, result.validation, result.test


@settings(deadline=None)
@given(
    support=st.lists(st.integers(3, 60), min_size=1, max_size=8),
    shares=st.tuples(st.integers(1, 20), st.integers(1, 20), st.integers(1, 20)),
    seed=st.integers(0, 1000),
)
def test_exact_sizes_and_each_class_in_each_part(support, shares, seed):
    y = np.repeat(np.arange(len(support)), support)
    train, validation, test = (share / sum(shares) for share in shares)
    rows = len(y)
    options = {"train": train, "validation": validation, "test": test, "random_state": seed}
    if min(shares) / sum(shares) * rows < len(support) + 1:  # a part of fewer rows than classes, give or take one
        return
    result = cp.model_selection.split(np.arange(rows)[:, None], y, **options)
    assert sorted(np.concatenate(parts_of(result)).tolist()) == list(range(rows))
    for part, share in zip(parts_of(result), (train, validation, test), strict=True):
        assert abs(len(part) - share * rows) < 1
        held = np.bincount(y[part], minlength=len(support))
        assert held.min() >= 1


def test_classes_are_at_their_share(rng):
    y = rng.choice(["a", "b", "c"], 1000, p=[0.7, 0.25, 0.05])
    result = cp.model_selection.split(np.arange(1000), y, random_state=0)
    assert [len(part) for part in parts_of(result)] == [600, 200, 200]
    for label in "abc":
        whole = (y == label).sum()
        for part, share in zip((result.y_train, result.y_validation, result.y_test), (0.6, 0.2, 0.2), strict=True):
            assert abs((part == label).sum() - share * whole) < 1
    assert (result.y_test == y[result.test]).all()
    assert (result.X_test == result.test).all()


def test_the_seed_decides():
    X, y = np.arange(100), np.arange(100) % 2
    first, again, other = (cp.model_selection.split(X, y, random_state=seed).test.tolist() for seed in (1, 1, 2))
    assert first == again != other


CONTAINERS = {
    "array": lambda X: X,
    "pandas": lambda X: pd.DataFrame(X, columns=["a", "b"], index=np.arange(len(X)) + 1000),
    "polars": lambda X: pl.DataFrame(X, schema=["a", "b"]),
    "pyarrow": lambda X: pa.table({"a": X[:, 0], "b": X[:, 1]}),
    "csr": scipy.sparse.csr_matrix,
    "coo": scipy.sparse.coo_array,
    "list": lambda X: X.tolist(),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers(rng, name):
    X = rng.integers(0, 1000, (50, 2)).astype(float)
    y = rng.integers(0, 2, 50)
    result = cp.model_selection.split(CONTAINERS[name](X), pl.Series(y) if name == "polars" else y, random_state=3)
    got = result.X_test
    values = got.toarray() if "toarray" in dir(got) else got.to_pandas() if name == "pyarrow" else got
    assert np.array_equal(np.asarray(values, dtype=float), X[result.test])
    assert np.array_equal(np.asarray(result.y_test), y[result.test])
    assert type(got) is type(CONTAINERS[name](X)) or name == "coo"
    six = list(result)
    assert six[0] is result.X_train
    assert six[5] is result.y_test


def test_numbers_are_not_stratified():
    result = cp.model_selection.split(np.arange(20), np.linspace(0, 1, 20), random_state=0)
    assert not result.stratified
    assert [len(part) for part in parts_of(result)] == [12, 4, 4]


def test_two_parts():
    result = cp.model_selection.split(np.arange(10), [0, 1] * 5, train=0.8, validation=0, test=0.2)
    assert [len(part) for part in parts_of(result)] == [8, 0, 2]
    assert len(result.X_validation) == 0
    assert "no row stands in two parts" in str(result)


def test_groups_stay_together_and_classes_near_their_share(rng):
    groups = rng.integers(0, 80, 2000)
    y = rng.choice([0, 1], 2000, p=[0.8, 0.2])
    result = cp.model_selection.split(np.arange(2000), y, groups=groups, random_state=0)
    held = [set(groups[part]) for part in parts_of(result)]
    assert sum(map(len, held)) == len(set.union(*held))
    assert [len(part) / 2000 for part in parts_of(result)] == pytest.approx([0.6, 0.2, 0.2], abs=0.02)
    assert all(abs(y[part].mean() - y.mean()) < 0.03 for part in parts_of(result))


def test_three_groups_fill_three_parts():
    result = cp.model_selection.split(np.arange(30), [0, 1] * 15, groups=["a", "b", "c"] * 10)
    assert [len(part) for part in parts_of(result)] == [10, 10, 10]


def test_the_letters_have_1332_repeated_rows(data):
    table = read_table(str(data / "letter.csv.gz"), lambda names: names)
    texts = table.texts()
    y = texts["class"]
    X = np.column_stack([np.array(column, dtype=int) for name, column in texts.items() if name != "class"])
    groups = cp.model_selection.row_groups(X)
    assert len(y) - len(set(groups.tolist())) == 1332  # as the data's notes say
    result = cp.model_selection.split(X, y, random_state=0)
    rows = {tuple(row) for row in result.X_train.tolist()}
    assert len(result.leaks.test) == sum(tuple(row) in rows for row in result.X_test.tolist()) > 200
    assert "pass groups=compromis.model_selection.row_groups(X)" in str(result)
    together = cp.model_selection.split(X, y, groups=groups, random_state=0)
    assert len(together.leaks) == 0
    assert len(together.test) == pytest.approx(4000, abs=40)


def test_a_leak_between_validation_and_test_counts():
    """Row 0 of the test set stands in the validation set alone: models are chosen by it, then judged by it."""
    parts = cp.model_selection.split(np.arange(20.0)[:, None], [0, 1] * 10, random_state=0)
    leaking = replace(parts, X_test=np.vstack([parts.X_validation[:1], parts.X_test[1:]]))
    assert len(parts.leaks) == 0
    assert len(leaking.leaks) == len(leaking.leaks.test_in_validation) == 1
    assert "rows of the test set (25.0 %) also stands in the validation set" in str(leaking)
    assert leaking.leaks.test_in_validation.columns() == {"row": [0], "source": [0]}


def test_wekas_priors():
    assert cp.model_selection.training_priors(["good"] * 11 + ["bad"] * 6, labels=["good", "bad"]) == {
        "good": 12 / 19,
        "bad": 7 / 19,
    }


# --- bad input

X, Y = np.arange(20), [0, 1] * 10


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        ((X, Y[:-1]), {}, "X has 20 rows, y has 19"),
        (([], []), {}, "X has no rows; there is nothing to split"),
        ((5, Y), {}, "X must be an array, frame, sparse matrix or list of rows, got int"),
        ((X, Y), {"train": 60}, "train is a share between 0 and 1, got 60; for 60 % write 0.6"),
        ((X, Y), {"test": 0.3}, "train, validation and test sum to 1, got 1.1"),
        ((X, Y), {"train": 0, "test": 0.8}, "train is 0"),
        ((X, ["a"] * 18 + ["b"] * 2), {}, "class 'b' has 2 rows, too few to be in each of the 3 parts"),
        ((X, ["a"] * 16 + ["b"] * 2 + ["c"] * 2), {}, "class 'b' has 2 rows.*and 1 more classes are as small"),
        ((X, [0, 1, None, 1] * 5), {}, "y has 5 missing labels"),
        ((X, list(range(5)) * 4), {"train": 0.9, "validation": 0.05, "test": 0.05}, "part gets 1 rows, but there are 5 classes"),
        ((X, Y), {"groups": [1]}, "groups has 1 rows, X has 20"),
        ((X, Y), {"groups": [1, 1, 2, 2] * 5}, "there are 2 groups for 3 parts .*a part would stay empty"),
        ((X, ["a"] * 10 + ["b"] * 10), {"groups": [1, 2] * 5 + [3, 4, 5, 6, 7] * 2}, "class 'a' stands in 2 groups, too few"),
        ((X[:2], [0.5, 1.5]), {}, "2 rows are too few for 3 parts"),
    ],
)  # fmt: skip
def test_mistakes(arguments, options, said):
    with pytest.raises(cp.InputError, match=said) as caught:
        cp.model_selection.split(*arguments, **options)
    assert "\n" not in str(caught.value)
