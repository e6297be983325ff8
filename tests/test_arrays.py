"""Arrays of other libraries, and targets of several outputs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

import compromis as cp
from compromis import labels as arrays


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
    assert len(said) == 1
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
