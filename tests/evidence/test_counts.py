"""Counts: every container and label type gives the same numbers; merging obeys its laws; bad input is said plainly."""

from __future__ import annotations

import datetime
from decimal import Decimal
from enum import Enum

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix

import compromis as cp

TRUTH, DECISION = ["b", "a", "b", "c", "a", "b"], ["b", "b", "b", "a", "a", "c"]
EXPECTED = [[1, 1, 0], [0, 2, 1], [1, 0, 0]]  # counted by hand, classes a, b, c

CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "array of str": np.array,
    "array of objects": lambda labels: np.array(labels, dtype=object),
    "column vector": lambda labels: np.array(labels)[:, np.newaxis],
    "strided array": lambda labels: np.repeat(np.array(labels, dtype=object), 2)[::2],
    "pandas": pd.Series,
    "pandas string": lambda labels: pd.Series(labels, dtype="string"),
    "pandas arrow": lambda labels: pd.Series(labels, dtype=pd.ArrowDtype(pa.string())),
    "pandas categorical": lambda labels: pd.Series(labels, dtype="category"),
    "bare categorical": pd.Categorical,
    "pandas index": pd.Index,
    "one-column frame": lambda labels: pd.DataFrame({"y": labels}),
    "polars": pl.Series,
    "polars categorical": lambda labels: pl.Series(labels, dtype=pl.Categorical),
    "polars enum": lambda labels: pl.Series(labels, dtype=pl.Enum(["a", "b", "c"])),
    "pyarrow array": pa.array,
    "pyarrow chunks": lambda labels: pa.chunked_array([labels[:2], labels[2:]]),
}


@pytest.mark.parametrize("first", CONTAINERS)
@pytest.mark.parametrize("second", ["list", "pandas categorical", "polars enum", "array of str"])
def test_containers(first, second):
    counts = cp.Counts.from_predictions(CONTAINERS[first](TRUTH), CONTAINERS[second](DECISION))
    assert counts.classes == ("a", "b", "c")
    assert counts.matrix.tolist() == EXPECTED
    assert counts.matrix.dtype == np.int64


INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, ">i4", "<i8"]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(rng, dtype):
    truth, decision = rng.integers(0, 7, (2, 70_000)).astype(dtype)
    counts = cp.Counts.from_predictions(truth, decision)
    assert counts.classes == tuple(range(7))
    assert all(type(label) is int for label in counts.classes)
    assert np.array_equal(counts.matrix, confusion_matrix(truth, decision))


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1], [-1, 1], [5], [3, 900], [0, 2**40, -(2**63)], [2**64 - 1, 7], [-128, 127],
        [True, False], [0.5, -1.5, 2.0], ["", " a", "NA", "01"], [b"x", b"y"], ["é", "日本", "\N{PILE OF POO}"],
    ],
)  # fmt: skip
def test_labels_of_any_kind(rng, labels):
    truth, decision = ([labels[place] for place in rng.integers(0, len(labels), 500)] for _ in range(2))
    counts = cp.Counts.from_predictions(truth, decision)
    classes = sorted(set(truth) | set(decision))
    assert list(counts.classes) == classes
    expected = [
        [sum(t == a and d == b for t, d in zip(truth, decision, strict=True)) for b in classes] for a in classes
    ]
    assert counts.matrix.tolist() == expected


def test_a_late_wide_label_is_not_lost():
    truth = np.zeros(200_000, dtype=np.int64)
    truth[-1] = 900
    assert cp.Counts.from_predictions(truth, truth).matrix.tolist() == [[199_999, 0], [0, 1]]
    truth[-2] = 10**9
    assert cp.Counts.from_predictions(truth, truth).classes == (0, 900, 10**9)


@pytest.mark.parametrize("late", [1, 5, 15, 16, 17, -1, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("low", [0, 2**63 - 10])
def test_labels_that_appear_late_are_counted(late, low):
    """Sorted data: the first rows do not show the later classes."""
    truth = np.full(150_000, low, dtype=np.int64)
    truth[-70_000:] = late
    for weight in (None, np.full(150_000, 2.0)):
        counts = cp.Counts.from_predictions(truth, truth, sample_weight=weight)
        factor = 1 if weight is None else 2
        assert counts.classes == tuple(sorted({low, late}))
        assert counts.total == 150_000 * factor
        assert counts.matrix[counts.classes.index(late)].sum() == (150_000 if late == low else 70_000) * factor


def test_late_booleans_and_late_strings_are_counted():
    truth = np.arange(150_000) >= 140_000
    assert cp.Counts.from_predictions(truth, truth).matrix.tolist() == [[140_000, 0], [0, 10_000]]
    weight = np.where(truth, 3.0, 1.0)
    counts = cp.Counts.from_predictions(truth.astype(str), truth.astype(str), sample_weight=weight)
    assert counts.matrix.tolist() == [[140_000.0, 0], [0, 30_000.0]]


def test_unsigned_labels_beyond_int64():
    labels = np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64)
    assert cp.Counts.from_predictions(labels, labels).classes == (2**64 - 2, 2**64 - 1)


class Quality(str, Enum):  # noqa: UP042 (people have such classes)
    GOOD = "good"
    GREAT = "great"


def test_text_of_a_class_of_its_own():
    counts = cp.Counts.from_predictions([Quality.GOOD, Quality.GREAT], ["good", "good"])
    assert counts.classes == ("good", "great")
    assert all(type(label) is str for label in counts.classes)
    assert cp.Counts.from_predictions(["a", "a\0"], ["a", "a"]).classes == ("a", "a\0")


def test_dates():
    days = np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[ns]")
    counts = cp.Counts.from_predictions(days, days[::-1])
    assert counts.classes == (datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2))
    assert counts.matrix.tolist() == [[0, 1], [1, 0]]


def test_read_only_and_memory_mapped(tmp_path, rng):
    truth, decision = rng.integers(0, 3, (2, 1000))
    expected = confusion_matrix(truth, decision)
    truth.flags.writeable = False
    np.save(tmp_path / "d.npy", decision)
    mapped = np.load(tmp_path / "d.npy", mmap_mode="r")
    assert np.array_equal(cp.Counts.from_predictions(truth, mapped).matrix, expected)


@pytest.mark.parametrize("kind", ["Int64", "Int8", "boolean", "int64[pyarrow]", "bool[pyarrow]"])
def test_nullable_types(kind):
    values = [1, 0, 1, 1]
    counts = cp.Counts.from_predictions(pd.Series(values, dtype=kind), pd.Series(values, dtype=kind))
    assert counts.matrix.tolist() == [[1, 0], [0, 3]]


def test_categories_keep_their_order_and_absent_classes():
    order = ["low", "medium", "high", "never"]
    truth = pd.Series(pd.Categorical(["high", "low"], categories=order))
    counts = cp.Counts.from_predictions(truth, ["low", "low"])
    assert counts.classes == ("low", "medium", "high", "never")
    assert counts.matrix[2].tolist() == [1, 0, 0, 0]
    assert cp.Counts.from_predictions(truth, ["other", "low"]).classes == (*order, "other")


def test_categories_of_the_decision_count_too():
    decision = pd.Series(pd.Categorical(["b", "a"], categories=["z", "b", "a"]))
    assert cp.Counts.from_predictions(["a", "b"], decision).classes == ("z", "b", "a")


def test_given_order_and_absent_classes():
    counts = cp.Counts.from_predictions([1, 2], [2, 2], labels=[3, 2, 1])
    assert counts.classes == (3, 2, 1)
    assert counts.matrix.tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 0]]


def test_weights(rng):
    truth, decision = rng.integers(0, 3, (2, 5000))
    repeats = rng.integers(0, 4, 5000)
    weighted = cp.Counts.from_predictions(truth, decision, labels=range(3), sample_weight=repeats)
    repeated = cp.Counts.from_predictions(truth.repeat(repeats), decision.repeat(repeats), labels=range(3))
    assert np.array_equal(weighted.matrix, repeated.matrix)
    assert weighted.matrix.dtype == np.float64
    squares = cp.Counts.from_predictions(truth, decision, labels=range(3), sample_weight=repeats**2)
    assert np.array_equal(weighted.squares, squares.matrix)
    assert weighted.rows == 5000


def test_a_class_whose_rows_weigh_nothing_is_still_a_class():
    for kind in (int, str):
        counts = cp.Counts.from_predictions([kind(1), kind(2)], [kind(1), kind(2)], sample_weight=[1, 0])
        assert counts.classes == (kind(1), kind(2))


pairs = st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd"))
rows = st.lists(pairs, max_size=20).map(lambda drawn: [("a", "a"), *drawn])


@given(rows, rows, rows)
def test_merge_laws(first, second, third):
    a, b, c = (cp.Counts.from_predictions(*zip(*part, strict=True)) for part in (first, second, third))
    whole = cp.Counts.from_predictions(*zip(*first, *second, *third, strict=True))
    for total in ((a + b) + c, a + (b + c), (c + a) + b, c + b + a):
        assert total.classes == whole.classes
        assert np.array_equal(total.matrix, whole.matrix)
        assert total.rows == whole.rows


def test_merging_weighted_with_unweighted():
    plain = cp.Counts.from_predictions(["a", "b"], ["a", "a"])
    heavy = cp.Counts.from_predictions(["a"], ["a"], sample_weight=[3.0])
    total = plain + heavy
    assert total.matrix.tolist() == [[4.0, 0.0], [1.0, 0.0]]
    assert total.squares.tolist() == [[10.0, 0.0], [1.0, 0.0]]


def test_huge_counts_are_exact():
    big = cp.Counts.from_matrix([[2**61, 1], [0, 2**60]], ["a", "b"])
    assert (big + big).matrix.tolist() == [[2**62, 2], [0, 2**61]]


def test_sums_that_64_bits_do_not_hold_are_refused():
    big = cp.Counts.from_matrix([[2**61, 1], [0, 2**61]], ["a", "b"])  # each cell would fit, the total would not
    with pytest.raises(cp.InputError, match="more than 64 bits hold"):
        _ = big + big
    points = cp.OperatingPoints.from_bins([0.5], [2**62], [2**61], pos_label=1)
    with pytest.raises(cp.InputError, match="more than 64 bits hold"):
        _ = points + points
    with pytest.raises(cp.InputError, match="more than 64 bits hold"):
        cp.OperatingPoints.from_bins([0.5, 0.1], [2**62, 2**62], [0, 0], pos_label=1)


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (([1, 2], [1]), {}, "y_true has 2 rows, y_pred has 1; they must describe the same rows"),
        (([], []), {}, "y_true and y_pred are empty; there is nothing to evaluate"),
        (([1, "a"], [1, 1]), {}, "y_true mixes labels of types int and str"),
        (([1, True], [1, 1]), {}, "y_true mixes labels of types bool and int"),
        (([1, 2], ["1", "2"]), {}, "y_true has labels of type int, y_pred of type str"),
        ((["a", None, None], ["a", "b", "c"]), {}, r"y_true has 2 missing labels \(the first in row 1"),
        (([1.0, 2.0], [1.0, float("nan")]), {}, r"y_pred has 1 missing label \(the first in row 1"),
        ((pd.Series([1, None], dtype="Int64"), [1, 2]), {}, "y_true has 1 missing label"),
        ((pl.Series(["a", None]), ["a", "b"]), {}, "y_true has 1 missing label"),
        ((pd.Series(pd.Categorical(["a", None])), ["a", "b"]), {}, "y_true has 1 missing label"),
        ((pd.Series([1, 2], index=[5, 6]), pd.Series([1, 2])), {}, "different pandas indexes"),
        (("abc", "abc"), {}, "y_true must be a list, array or series of labels, got str"),
        ((5, 5), {}, "y_true must be a list, array or series of labels, got int"),
        (([[1, 0], [0, 1]], [1, 2]), {}, r"y_true must hold one label per row, got shape \(2, 2\)"),
        ((pd.DataFrame({"a": [1], "b": [2]}), [1]), {}, "y_true must be one column of labels, got DataFrame"),
        (([1, 2], [1, 2]), {"labels": [1]}, "labels misses 2, which the data has"),
        (([1, 2], [1, 2]), {"labels": [1, 2, 1]}, "each class stands once in labels"),
        (([1, 2], [1, 2]), {"labels": 3}, "labels must be a list of classes, got 3"),
        (([1, 2], [1, 2]), {"labels": [[1], [2]]}, "labels must be a list of classes, text or numbers, got list"),
        (([Decimal(1), Decimal("sNaN")], [Decimal(1)] * 2), {}, "y_true has 1 missing label"),
        (([{}, {}], [1, 1]), {}, "y_true holds something that cannot be a label"),
        (([([],)] * 2, [1, 1]), {}, "y_true holds something that cannot be a label"),
        (([1, 2], [1, 2]), {"sample_weight": [1]}, r"sample_weight has shape \(1,\), but there are 2 rows"),
        (([1, 2], [1, 2]), {"sample_weight": [1, -1]}, "sample_weight must be finite and at least 0, got -1 in row 1"),
        (
            ([1, 2], [1, 2]),
            {"sample_weight": [1, float("nan")]},
            "sample_weight must be finite and at least 0, got nan in row 1",
        ),
        (([1, 2], [1, 2]), {"sample_weight": [0, 0]}, "sample_weight is zero for every row"),
        (([1, 2], [1, 2]), {"sample_weight": ["x", "y"]}, "sample_weight must hold numbers"),
        ((range(5000), range(5000)), {}, "there are more than 4,096 classes"),
        ((np.ma.array([1, 2], mask=[False, True]), [1, 2]), {}, "y_true has 1 missing label"),
        ((np.array([np.float64("nan"), np.float64(1)], dtype=object), [1.0, 1.0]), {}, "y_true has 1 missing label"),
        ((np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"), [1, 2]), {}, "y_true has 1 missing label"),
        ((["a", ["b"]], ["a", "b"]), {}, "y_true mixes labels of types list and str"),
        (([["a"], ["b", "c"]], ["a", "b"]), {}, "y_true"),
        (({"a": 1}, [1]), {}, "y_true must be a list, array or series of labels, got dict"),
        (
            (pd.Series([1, 2]), [1, 2]),
            {"sample_weight": pd.Series([1.0, 2.0], index=[7, 8])},
            "y_true and sample_weight have different pandas indexes",
        ),
    ],
)
def test_bad_input(arguments, options, said):
    with pytest.raises(cp.InputError, match=said):
        cp.Counts.from_predictions(*arguments, **options)


def test_a_crosstab_is_read_by_its_names():
    truth, predicted = pd.Series(["ok", "ok", "bad"]), pd.Series(["ok", "bad", "bad"])
    table = pd.crosstab(truth, predicted)
    assert [*table.index] == ["bad", "ok"]
    counts = cp.Counts.from_matrix(table, ["ok", "bad"])
    assert counts.matrix.tolist() == cp.Counts.from_predictions(truth, predicted, labels=["ok", "bad"]).matrix.tolist()
    assert cp.Counts.from_matrix(pd.DataFrame([[1, 2], [3, 4]]), ["x", "y"]).matrix.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("matrix", "classes", "said"),
    [
        ([[1, 2]], ["a", "b"], r"has shape \(2, 2\), got \(1, 2\)"),
        ([[1, 2], [3, -1]], ["a", "b"], "counts are finite numbers of at least 0"),
        ([[1, np.nan], [3, 1]], ["a", "b"], "counts are finite numbers of at least 0"),
        ([[1, 2], [3, 1]], ["a", "a"], "each class stands once"),
        (np.zeros((0, 0)), [], "has shape"),
        (
            pd.DataFrame([[1, 2], [3, 1]], ["a", "b"], ["a", "c"]),
            ["a", "b"],
            "matrix as a data frame has the classes 'a', 'b' as",
        ),
        ([[2**62, 2**62], [2**62, 2**62]], ["a", "b"], "more than 64 bits hold"),
        ([[1e300, 0], [0, 1]], ["a", "b"], "more than 64 bits hold"),
        (np.full((2, 2), 2**64 - 1, dtype=np.uint64), ["a", "b"], "more than 64 bits hold"),
    ],
)
def test_bad_matrix(matrix, classes, said):
    with pytest.raises(cp.InputError, match=said):
        cp.Counts.from_matrix(matrix, classes)
