"""The coder of labels: positions, order, groups of rows, truth and predictions that fit together; arrays of other libraries."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

import compromis as cp
from compromis import labels as arrays
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


@pytest.mark.parametrize("count", [cp.Counts.from_predictions, cp.evaluate])
@pytest.mark.parametrize("other", ["fraud ", "Fraud", "\tFRAUD"])
def test_spellings_of_one_class_are_told(count, other):
    truth, predicted = ["fraud", other, "ok"], ["fraud", "fraud", "ok"]
    for rows in ((truth, predicted), (predicted, truth)):
        with pytest.warns(UserWarning, match="differ in spaces or capitals alone"):
            count(*rows)


@pytest.mark.parametrize(
    ("truth", "predicted", "labels"),
    [
        (["a", "A", "b"], ["a", "a", "b"], None),  # letters to be read
        (["us", "US"], ["US", "us"], None),  # both spelt on both sides
        (["us", "US"], ["us", "us"], ["us", "US"]),
        ([1, 2], [1, 1], None),
    ],
)
def test_spellings_that_are_meant_are_not_told(truth, predicted, labels):
    assert cp.Counts.from_predictions(truth, predicted, labels=labels).rows == len(truth)


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


TRUTH = [0, 1, 1, 0, 1]
NUMBERS = {
    "integers": np.array(TRUTH),
    "floats": np.array(TRUTH, dtype=np.float16),
    "booleans": np.array(TRUTH, dtype=bool),
    "nullable integers": pd.array(TRUTH, dtype="Int64"),
    "nullable booleans": pd.array(TRUTH, dtype="boolean"),
    "nullable floats": pd.Series(TRUTH, dtype="Float64"),
    "categories": pd.Categorical(map(float, TRUTH)),
    "scalars of numpy": [np.int64(label) for label in TRUTH],
    "scalars of Arrow": [pa.scalar(float(label)) for label in TRUTH],
    "Arrow": pa.array(TRUTH),
    "Polars": pl.Series(TRUTH, dtype=pl.Float32),
    "1 and 1.0": [0, 1.0, 1, 0.0, 1],
}


@pytest.mark.parametrize("first", NUMBERS)
@pytest.mark.parametrize("second", NUMBERS)
def test_labels_that_are_equal_as_numbers_are_one_label(first, second):
    truth, predicted = NUMBERS[first], NUMBERS[second]
    counts = cp.evaluate(truth, predicted, preferences={1: 10}).counts
    assert counts.matrix.tolist() == [[2, 0], [0, 3]]
    assert counts.classes == (0, 1)
    assert [type(label) for label in counts.classes] == [type(label) for label in encode(read_labels(truth, "y"))[1]]
    assert cp.Counts.from_predictions(truth, predicted, labels=[1.0, 0.0]).matrix.tolist() == [[3, 0], [0, 2]]


def test_numbers_and_text_stay_apart():
    """And floats that are no integers from integers, which are probabilities more often than labels."""
    for truth, predicted in ((TRUTH, list("01101")), ([0, 1, 2], [0.5, 1, 2]), ([0, 1], [True, 2])):
        with pytest.raises(cp.InputError, match=r"types? "):
            cp.evaluate(truth, predicted)
    assert cp.evaluate([True, False, True], [1, 0, 2]).counts.classes == (0, 1, 2)


def test_nullable_labels_in_an_estimator_and_its_scorer(rng):
    """scikit-learn turns nullable integers into floats."""
    X = rng.normal(size=(80, 2))
    y = pd.array((X[:, 0] > 0).astype(int), dtype="Int64")
    tuned = cp.TunedDecisionClassifier(LogisticRegression(), preferences={1: 5}, random_state=0).fit(X, y)
    assert cp.evaluate(y, tuned.predict(X)).summary.accuracy > 0.9
    assert cp.pragma_scorer({1: 5})(tuned, X, y) > -0.2


def test_classes_that_may_be_absent_come_from_what_knows_them():
    """A quiet Monday without the rare class."""
    preferences = cp.Preferences({"fraud": 10})
    quiet = ["ok"] * 5
    with pytest.raises(cp.InputError, match=r"neither in the data nor in labels.*pass labels=\[...\] with it"):
        cp.evaluate(quiet, quiet, preferences=preferences)
    decision = cp.Decision(("fraud", "ok"), [3.0, 1.0])
    model = DummyClassifier().fit(np.zeros((2, 1)), ["fraud", "ok"])
    for labels in (["fraud", "ok"], decision, preferences, model):
        result = cp.evaluate(quiet, quiet, preferences=preferences, labels=labels)
        assert result.counts.classes == ("fraud", "ok")
        assert result.per_class["fraud"].support == 0


def test_a_label_in_common_may_weigh_nothing():
    counts = cp.Counts.from_predictions([0, 1], [1, 1], sample_weight=[1, 0])
    assert counts.matrix.tolist() == [[0, 1], [0, 0]]


def test_folds_may_have_no_label_in_common():
    """A scorer sees few rows at a time, and must not break where all of them are predicted wrong."""
    constant = DummyClassifier(strategy="constant", constant=1).fit(np.zeros((2, 1)), [0, 1])
    assert cp.pragma_scorer(cp.Preferences())(constant, np.zeros((3, 1)), np.zeros(3, dtype=int)) == 0


class OnCard:
    """What cupy's arrays are to us: numpy refuses them, get() copies."""

    def __init__(self, values):
        self._values = np.asarray(values)

    def __array__(self, *arguments, **options):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __len__(self):
        return len(self._values)

    def get(self):
        return self._values


OnCard.__module__ = "cupy"


@pytest.fixture(autouse=True)
def _not_warned_yet(monkeypatch):
    monkeypatch.setattr(arrays, "_warned", False)


def test_arrays_on_a_card_are_copied_with_one_warning():
    votes, y = [[9, 1], [6, 4], [2, 8]], [0, 1, 1]
    with pytest.warns(cp.DeviceWarning, match="an array of cupy is copied to the host's memory") as said:
        search = cp.search_weights(OnCard(y), OnCard(votes), random_state=0)
    assert [one.category for one in said].count(cp.DeviceWarning) == 1
    assert np.array_equal(search.weights, cp.search_weights(y, votes, random_state=0).weights)
    result = cp.evaluate(OnCard(y), y_proba=OnCard(np.array(votes) / 10), sample_weight=OnCard([1.0, 1.0, 2.0]))
    assert result.summary.accuracy == 3 / 4
    assert len(cp.OperatingPoints.from_predictions(OnCard([0, 1]), OnCard([0.2, 0.8])).threshold) == 3
    assert cp.regression.evaluate(OnCard([1.0, 2.0]), OnCard([1.0, 2.5])).summary.rows == 2


@pytest.mark.integration
def test_tensors_of_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    votes = torch.tensor([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]], requires_grad=True)
    y = torch.tensor([0, 1, 1])
    expected = cp.search_weights(y.numpy(), votes.detach().numpy(), random_state=0)
    assert np.array_equal(cp.search_weights(y, votes, random_state=0).weights, expected.weights)
    half = cp.Decision((0, 1), [1.0, 1.0]).decide(votes.detach().to(torch.bfloat16))
    assert half.tolist() == [0, 0, 1]
    assert cp.evaluate(y, torch.tensor([0, 0, 1])).summary.correct == 2


MULTI = np.array([[0, 1], [1, 0], [1, 1]])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: cp.evaluate(MULTI, MULTI),
            r"got shape \(3, 2\); pass probabilities as y_proba, and evaluate each output of a multi-label model by itself",
        ),
        (
            lambda: cp.search_weights([0, 1, 2], [np.eye(3), np.eye(3)], random_state=0),
            "a model of several outputs gives a matrix for each",
        ),
        (lambda: cp.evaluate([0, 1, 2], y_proba=[np.eye(3), np.eye(3)]), "pass one of them at a time"),
        (lambda: cp.Decision((0, 1, 2), [1.0] * 3).decide([np.eye(3), np.eye(3)]), "pass one of them at a time"),
    ],
)
def test_several_outputs(call, said):
    with pytest.raises(cp.InputError, match=said):
        call()


@pytest.mark.parametrize(
    "model",
    [
        cp.TunedDecisionClassifier(LogisticRegression()),
        cp.PragmaTreeClassifier(),
        cp.PragmaForestClassifier(3),
        cp.C45Classifier(),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("kind", [np.array, lambda rows: np.array(rows).tolist()], ids=["array", "list"])
def test_estimators_of_several_outputs(model, kind):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(cp.InputError, match=r"2 outputs; fit one .* with sklearn\.multioutput\.MultiOutputClassifier"):
        model.fit(X, kind(np.column_stack([y, y])))


def test_the_advice_helps():
    X, y = load_iris(return_X_y=True)
    outputs = np.column_stack([y, y == 1])
    forest = cp.TunedDecisionClassifier(RandomForestClassifier(10, random_state=0), resamples=0, random_state=0)
    both = MultiOutputClassifier(forest).fit(X, outputs)
    assert both.predict(X).shape == (150, 2)
    assert np.array_equal(both.estimators_[0].predict(X), forest.fit(X, y).predict(X))


def test_mappings_of_columns_and_classes_go_both_ways():
    frame = pl.DataFrame({"t": list("aabb"), "p_a": [0.9, 0.4, 0.2, 0.1], "p_b": [0.1, 0.6, 0.8, 0.9]})
    decision = cp.Decision(("a", "b"), [1.0, 1.0])
    for mapping in ({"p_a": "a", "p_b": "b"}, {"b": "p_b", "a": "p_a"}):
        assert cp.Votes.from_frame(frame, truth="t", proba=mapping).points(["b"])["b"].positives == 2
        assert cp.frames.decide(frame, proba=mapping, weights=decision)["decision"].to_list() == list("abbb")
        assert cp.frames.decide(frame, proba=mapping)["decision"].to_list() == list("abbb")
        assert cp.frames.evaluate(frame, truth="t", proba=mapping).summary.accuracy == 0.75
        assert cp.frames.search_weights(frame, truth="t", proba=mapping).search.loss == 0
        assert '"p_a"' in decision.to_sql(mapping)
    swapped = {"a": "b", "b": "a"}  # both ways fit: each door keeps the one it documents
    assert decision.to_sql(swapped) != decision.to_sql({"a": "a", "b": "b"})
    with pytest.raises(cp.InputError, match="a class of its own"):
        cp.Votes.from_frame(frame, truth="t", proba={"p_a": "a", "p_b": "a"})
    with pytest.raises(cp.InputError, match="give the class of each column, or the column of each class"):
        cp.frames.decide(frame, proba={"p_a": "x", "p_b": "y"}, weights=decision)


@pytest.mark.parametrize("labels", [("fraud", "ok"), (0, 1), ("a", "ba")])
def test_a_common_prefix_of_columns_is_left_out(labels):
    truth = [labels[0], labels[1], labels[1]]
    columns = {f"p_{label}": share for label, share in zip(labels, ([0.9, 0.2, 0.1], [0.1, 0.8, 0.9]), strict=True)}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        assert cp.evaluate(truth, y_proba=frame).summary.accuracy == 1
        assert cp.search_weights(truth, frame).counts.classes == labels
        assert cp.Decision(labels, [1.0, 1.0]).decide(frame[list(columns)[::-1]]).tolist() == truth
    if isinstance(labels[0], str):
        frame = pl.DataFrame({"t": truth, **columns})
        assert cp.frames.search_weights(frame, truth="t", proba=list(columns)).search.classes == labels
        absent = cp.Votes.from_proba(truth[1:], pl.DataFrame(columns)[1:], labels=labels)
        assert absent.classes == labels
    with pytest.raises(cp.InputError, match="name the columns after the classes"):
        cp.evaluate(truth, y_proba=pd.DataFrame({"p_x": [0.9, 0.2, 0.1], "q_y": [0.1, 0.8, 0.9]}))


@pytest.mark.parametrize("labels", [None, 3])
def test_classes_are_a_list(labels):
    with pytest.raises(cp.InputError, match=rf"^labels must be a list of classes, got {labels!r}$"):
        cp.Votes.from_answers([["a"], ["b"]], labels=labels)
