"""The coder of labels: positions, order of classes, groups of rows, and truth and predictions that fit together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier

import compromis as cp
from compromis.labels import encode, encode_classes, positions_in, read_groups, read_labels

KINDS = {
    "text": st.text("abc", max_size=2),
    "small integers": st.integers(-3, 300),
    "wide integers": st.integers(-(2**63), 2**64 - 1),
    "booleans": st.booleans(),
    "floats": st.floats(allow_nan=False),
}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_codes_stand_for_the_labels(kind, data):
    columns = [data.draw(st.lists(KINDS[kind], min_size=1, max_size=12)) for _ in range(2)]
    codes, classes = encode(*(read_labels(values, "y") for values in columns))
    assert list(classes) == sorted(set(columns[0]) | set(columns[1]))
    assert [type(label) for label in classes] == [type(columns[0][0])] * len(classes)
    for part, values in zip(codes, columns, strict=True):
        assert part.dtype == np.int64
        assert [classes[code] for code in part] == values


@pytest.mark.parametrize("values", [["b", "a", "b"], [7, -2, 7], [2**40, 5, 2**40], [True, False, True]])
def test_a_given_order(values):
    order = [values[0], values[1]]
    assert positions_in(values, order, "y").tolist() == [0, 1, 0]
    with pytest.raises(cp.InputError, match="which y has; add it"):
        positions_in(values, order[:1], "y")


def test_categories_come_first_then_other_labels_sorted():
    column = read_labels(pd.Categorical(["low", "high"], ["low", "high", "never"]), "y")
    assert encode(column)[1] == ("low", "high", "never")
    codes, classes = encode(read_labels(["x", "low", "b"], "z"), column)
    assert classes == ("low", "high", "never", "b", "x")
    assert [part.tolist() for part in codes] == [[4, 0, 3], [0, 1]]
    assert encode(column, labels=["high", "low"])[1] == ("high", "low")  # a category without rows may be left out
    assert encode(read_labels(["x", "y"], "y"), categories=("y",))[1] == ("y", "x")


def test_labels_without_an_order_need_one_given():
    one, other = frozenset("a"), frozenset("b")
    values = np.array([one, other, one], dtype=object)
    assert positions_in([1j, 2j, 1j], [2j, 1j], "y").tolist() == [1, 0, 1]
    with pytest.raises(cp.InputError, match=r"the labels of y have no order \(.*pass labels= in the order wanted"):
        encode(read_labels([1j, 2j], "y"))
    assert read_groups(values, 3).tolist() in ([0, 1, 0], [1, 0, 1])


def test_no_rows():
    empty = read_labels([], "y")
    assert encode(empty, labels=["a"])[0][0].tolist() == []
    with pytest.raises(cp.InputError, match="y is empty; there is nothing to evaluate"):
        encode_classes(empty)


def test_groups_are_numbered_by_the_order_of_their_keys():
    assert read_groups(["z", "a", "z", "k"], 4).tolist() == [2, 0, 2, 1]
    assert read_groups([10**12, 3, 10**12], 3).tolist() == [1, 0, 1]
    assert read_groups(pd.Categorical(["u", "w"], ["w", "v", "u"]), 2).tolist() in ([1, 0], [0, 1])
    with pytest.raises(cp.InputError, match="groups has 1 rows, X has 2; give one key per row"):
        read_groups(["a"], 2, "X")


@pytest.mark.parametrize(
    ("truth", "predicted", "said"),
    [
        (["yes", "no"], ["Yes", "No"], "'no', 'yes' and 'No', 'Yes'"),
        ([0, 0, 0], [1, 2, 1], "0 and 1, 2"),
        ([False], [True], "False and True"),
        (pd.Categorical(["a"], ["a", "b"]), pd.Categorical(["b"], ["a", "b"]), "'a' and 'b'"),
    ],
)
def test_truth_and_predictions_without_a_label_in_common(truth, predicted, said):
    for count in (cp.Counts.from_predictions, cp.evaluate):
        with pytest.raises(
            cp.InputError, match=f"y_pred has no label in common with the true classes: {said}; spell them alike"
        ):
            count(truth, predicted)
    labels = list(dict.fromkeys([*truth, *predicted]))
    counts = cp.Counts.from_predictions(truth, predicted, labels=labels)
    assert counts.matrix.trace() == 0
    assert counts.rows == len(truth)


def test_a_label_in_common_may_weigh_nothing():
    counts = cp.Counts.from_predictions([0, 1], [1, 1], sample_weight=[1, 0])
    assert counts.matrix.tolist() == [[0, 1], [0, 0]]


def test_folds_may_have_no_label_in_common():
    """A scorer sees few rows at a time, and must not break where all of them are predicted wrong."""
    constant = DummyClassifier(strategy="constant", constant=1).fit(np.zeros((2, 1)), [0, 1])
    assert cp.pragma_scorer(cp.Preferences())(constant, np.zeros((3, 1)), np.zeros(3, dtype=int)) == -1
