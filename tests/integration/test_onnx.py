"""The ONNX of a decision, run by onnxruntime: the same labels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import compromis as cp
from tests.hostile_votes import LABELS, RATIO, WEIGHTS, calls_at_the_ratio, hostile_votes, plainly, plainly_reviewed

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")


def run(model, **inputs):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


@pytest.mark.parametrize("smoothing", [0.0, 0.025])
def test_the_decision_alone(smoothing):
    votes = hostile_votes(100_000)
    (found,) = run(cp.Decision(LABELS, WEIGHTS, smoothing=smoothing).to_onnx(), votes=votes)
    assert found.tolist() == [LABELS[k] for k in plainly(votes, WEIGHTS, smoothing)]


@pytest.mark.parametrize("smoothing", [0.0, 0.025])
def test_the_rows_to_review(smoothing):
    votes = calls_at_the_ratio(100_000)
    decision = cp.Decision(LABELS, WEIGHTS, smoothing=smoothing, review=RATIO)
    found, review = run(decision.to_onnx(), votes=votes)
    assert found.tolist() == [LABELS[k] for k in plainly(votes, WEIGHTS, smoothing)]
    assert review.tolist() == plainly_reviewed(votes, WEIGHTS, RATIO, smoothing)


@pytest.mark.parametrize("classes", [(5, -3), (True, False), (0.5, 1.5)])
def test_labels_keep_their_type(classes):
    (found,) = run(cp.Decision(classes, [1.0, 1.0]).to_onnx(), votes=np.eye(2))
    assert found.tolist() == list(classes)


def rows(count=100_000):
    X, y = make_classification(count, 8, n_informative=5, n_classes=3, weights=[0.8, 0.15], random_state=0)
    return X.astype(np.float32), np.array(["low", "mid", "it's high"])[y]


MODELS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "forest": RandomForestClassifier(20, random_state=0, max_depth=8),
    "boosting": GradientBoostingClassifier(n_estimators=20, random_state=0),
    "network": MLPClassifier((8,), max_iter=60, tol=1e-2, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_with_its_decision(name):
    X, y = rows()
    model = MODELS[name].fit(X[:4000], y[:4000])
    search = cp.search_weights(
        y[4000:8000],
        model.predict_proba(X[4000:8000]),
        preferences=cp.Preferences.prioritise(["it's high"], metric="f"),
        random_state=0,
    )
    label, votes = run(search.decision.to_onnx(model, X[:1]), X=X)
    assert (label == search.decision.decide(votes)).all()  # predicted exactly from what the graph gives as votes
    assert np.allclose(votes, model.predict_proba(X), atol=1e-5)
    differ = label != search.decision.decide(model.predict_proba(X))
    scores = model.predict_proba(X)[differ] * search.weights
    best = np.sort(scores, axis=1)
    assert differ.mean() < 1e-3
    assert (best[:, -1] - best[:, -2] < 1e-5).all()  # float32 probabilities: only rows on the brink may differ


def test_float64_models_give_the_same_labels_to_the_last_row():
    X, y = rows()
    X = X.astype(np.float64)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:4000], y[:4000])
    decision = cp.search_weights(y[4000:8000], model.predict_proba(X[4000:8000]), random_state=0).decision
    label, votes = run(decision.to_onnx(model, X[:1]), X=X)
    assert votes.dtype == np.float64
    assert (label == decision.decide(model.predict_proba(X))).all()


@pytest.mark.parametrize("forest", [RandomForestClassifier, ExtraTreesClassifier])
def test_a_tuned_forest_of_hard_votes(forest):
    X, y = rows()
    preferences = cp.Preferences({"it's high": cp.Preference(3)}, metric="f")
    tuned = cp.TunedDecisionClassifier(
        forest(20, random_state=0, min_samples_leaf=5, bootstrap=True),
        preferences=preferences,
        resamples=3,
        random_state=0,
    ).fit(X[:4000], y[:4000])
    assert tuned.votes_are_hard_
    before = tuned.predict_proba(X[:100])
    label, votes = run(tuned.to_onnx(X[:1]), X=X)
    assert np.allclose(votes, tuned.vote_shares(X), atol=1e-6)
    assert (label == tuned.predict(X)).all()
    assert (tuned.predict_proba(X[:100]) == before).all()  # the forest itself is as it was


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_our_forest_alone_and_inside(dtype):
    X, y = rows(20_000)
    X = X.astype(dtype) + dtype(1e-9)
    X[::7, 2] = np.nan
    options = {"preferences": {"it's high": 3.0}, "random_state": 0}
    forest = cp.PragmaForestClassifier(15, **options).fit(X[:4000], y[:4000])
    inside = cp.TunedDecisionClassifier(cp.PragmaForestClassifier(15, tune=False, random_state=0), **options)
    for model in (forest, inside.fit(X[:4000], y[:4000])):
        label, votes = run(model.to_onnx(X[:1]), X=X)
        assert np.array_equal(votes, model.vote_shares(X))
        assert np.array_equal(label, model.predict(X))


def test_probabilities_of_sampled_classes():
    X, y = rows(3000)
    rare = y == "it's high"
    keep = np.flatnonzero(~rare | (np.cumsum(rare) <= 40))
    forest = cp.PragmaForestClassifier(15, sampling="classes", min_samples_leaf=5, tune=False, random_state=0)
    tuned = cp.TunedDecisionClassifier(forest, votes="proba", resamples=0, random_state=0).fit(X[keep], y[keep])
    label, votes = run(tuned.to_onnx(X[:1]), X=X)
    assert np.allclose(votes, tuned.vote_shares(X), atol=1e-6)
    assert (label == tuned.predict(X)).all()


def test_a_tuned_classifier_of_probabilities():
    X, y = rows(20_000)
    tuned = cp.TunedDecisionClassifier(LogisticRegression(), resamples=0, random_state=0).fit(X[:2000], y[:2000])
    label, _ = run(tuned.to_onnx(X[:1].astype(np.float64)), X=X.astype(np.float64))
    assert (label == tuned.predict(X.astype(np.float64))).all()


def test_hard_votes_of_other_ensembles_have_no_onnx():
    X, y = load_iris(return_X_y=True)
    bagged = BaggingClassifier(LogisticRegression(max_iter=500), 5, random_state=0)
    tuned = cp.TunedDecisionClassifier(bagged, resamples=0, random_state=0).fit(X, y)
    with pytest.raises(cp.InputError, match="votes='proba'"):
        tuned.to_onnx(X[:1])


def test_mistakes(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(X, y)
    decision = cp.Decision((0, 1, 2), [1.0, 2.0, 3.0])
    assert (
        len(decision.to_onnx(model, X[:1], path=tmp_path / "m.onnx").SerializeToString())
        == (tmp_path / "m.onnx").stat().st_size
    )
    with pytest.raises(cp.InputError, match="the classes of the model are 0, 1, 2, those of the weights"):
        cp.Decision(("a", "b", "c"), [1.0, 2.0, 3.0]).to_onnx(model, X[:1])
    with pytest.raises(cp.InputError, match="X is missing"):
        decision.to_onnx(model)
    with pytest.raises(cp.InputError, match="X is a table of numbers"):
        decision.to_onnx(model, [["a"] * 4])
    with pytest.raises(cp.InputError, match="no classes_"):
        decision.to_onnx(LogisticRegression(), X[:1])
    with pytest.raises(cp.InputError, match="needs predict_proba, which LinearSVC has not"):
        decision.to_onnx(LinearSVC().fit(X, y), X[:1])
    with pytest.raises(cp.InputError, match="skl2onnx cannot convert PragmaTreeClassifier"):
        decision.to_onnx(cp.PragmaTreeClassifier().fit(X, y), X[:1])
    with pytest.raises(cp.InputError, match="labels of one kind"):
        cp.Decision((("a",), ("b",)), [1.0, 1.0]).to_onnx()
