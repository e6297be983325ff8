"""Decisions as arrays, frames, patterns, JSON and the copied predictor: all decide alike."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import compromis as cp
from compromis.weights import predictor
from tests.hostile_votes import LABELS, WEIGHTS, hostile_votes, plainly

ROWS = 100_000


@pytest.fixture(scope="module")
def votes():
    return hostile_votes(ROWS)


@pytest.fixture(scope="module", params=[0.0, 0.025], ids=["bare", "smoothed"])
def predicted(request, votes):
    decision = cp.Decision(LABELS, WEIGHTS, smoothing=request.param)
    return decision, np.array(LABELS)[plainly(votes, WEIGHTS, request.param)]


def test_the_cases_are_hostile(votes):
    scores = votes * WEIGHTS
    largest = scores.max(axis=1, keepdims=True)
    assert ((scores == largest).sum(axis=1) > 1).sum() > 1000
    assert ((scores >= largest * (1 - 1e-15)).sum(axis=1) > 1).sum() > 10_000
    assert (votes.sum(axis=1) == 0).sum() > 1000


@pytest.mark.parametrize("kind", [np.float64, np.float32, "sparse", "frame"])
def test_numpy(predicted, votes, kind):
    decision, expected = predicted
    if kind == np.float32:
        votes = votes.astype(np.float32)
        expected = np.array(LABELS)[plainly(votes, WEIGHTS, decision.smoothing)]
    if kind == "sparse":
        votes = scipy.sparse.csr_array(votes)
    if kind == "frame":
        polars = pytest.importorskip("polars", reason="polars is not installed")
        votes = polars.DataFrame({label: votes[:, k] for k, label in enumerate(LABELS)})[:, ::-1]
    assert (decision.decide(votes) == expected).all()


def test_patterns_decide_alike(predicted, votes):
    decision, expected = predicted
    positions = cp.Votes.from_proba([0] * ROWS, votes, labels=list(range(5)), merge=False).decide(
        WEIGHTS, smoothing=decision.smoothing
    )
    assert (np.array(LABELS)[positions] == expected).all()


def test_json_predictor(predicted, votes, tmp_path):
    decision, expected = predicted
    decision.to_json(tmp_path / "d.json")
    assert (predictor.decide(predictor.load(tmp_path / "d.json"), votes) == expected).all()
    assert (cp.Decision.from_json(tmp_path / "d.json").decide(votes) == expected).all()


def test_the_predictor_needs_numpy_alone(tmp_path):
    cp.Decision(("a", "b"), [1.0, 3.0]).to_json(tmp_path / "d.json")
    Path("predictor.py").write_text(Path(predictor.__file__).read_text("utf-8"), "utf-8")
    program = (
        "import sys; sys.path.insert(0, '.'); import predictor;"
        "print(predictor.decide(predictor.load('d.json'), [[.7, .3], [.8, .2], [.75, .25]]).tolist());"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'compromis', 'msgspec', 'scipy', 'sklearn'}))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["['b', 'a', 'a']", "[]"]


def test_reading_and_applying_a_decision_loads_no_kernel():
    cp.Decision(("a", "b"), [1.0, 3.0]).to_json("d.json")
    program = (
        "import sys, compromis as cp; cp.Decision.from_json('d.json').decide([[1, 2]]);"
        "print([name for name in sys.modules if name.endswith('_kernels')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("votes", "said"),
    [
        ([[0.5, np.nan]], "y_proba must be finite, got nan in row 0, column 1"),
        ([[0.5, 0.5], [np.inf, 0.5]], "got inf in row 1, column 0"),
        ([[0.5, -1.0]], "y_proba must not be negative"),
        ([[0.5, 0.5, 0.5]], "y_proba has 3 columns, but there are 2 classes"),
    ],
)
def test_votes_that_are_none(votes, said):
    with pytest.raises(cp.InputError, match=said):
        cp.Decision(("a", "b"), [1.0, 2.0]).decide(votes)
    document = json.loads(cp.Decision(("a", "b"), [1.0, 2.0]).to_json())
    with pytest.raises(ValueError, match="votes must"):
        predictor.decide(document, votes)


@pytest.mark.parametrize(
    ("version", "message"),
    [(1, r"by compromis 0\.1\.0, .* write it again"), (3, "has version 3, .*reads up to 2; update compromis")],
)
def test_files_of_another_version(version, message):
    Path("d.json").write_text(
        json.dumps(json.loads(cp.Decision(("a", "b"), [1.0, 2.0]).to_json()) | {"version": version})
    )
    with pytest.raises(cp.InputError, match=rf"^d\.json .*{message}$"):
        cp.Decision.from_json("d.json")
    with pytest.raises(ValueError, match="update this file"):
        predictor.load("d.json")


def test_a_file_of_0_1_0_is_refused_in_one_sentence():
    old = Path(__file__).parents[1] / "fixtures" / "0.1.0" / "decision.json"
    with pytest.raises(cp.InputError, match=r"was written by compromis 0\.1\.0") as refused:
        cp.Decision.from_json(old)
    assert "\n" not in str(refused.value)


def test_json_round_trip(tmp_path):
    decision = cp.Decision(("x", "y", "z"), [0.5, 2.0, 1.0], smoothing=0.01)
    again = cp.Decision.from_json(decision.to_json(tmp_path / "d.json"))
    assert again == decision
    assert hash(again) == hash(decision)
    with pytest.raises(ValueError, match="read-only"):
        again.weights[0] = 1.0
    others = (
        (("x", "z", "y"), [0.5, 2.0, 1.0], 0.01),
        (("x", "y", "z"), [0.5, 2.0, 1.1], 0.01),
        (("x", "y", "z"), [0.5, 2.0, 1.0], 0.0),
    )
    assert all(cp.Decision(classes, weights, smoothing=added) != decision for classes, weights, added in others)
    votes = np.random.default_rng(0).dirichlet([1, 1, 1], 500)
    expected = np.array(decision.classes)[np.argmax((votes + 0.01) * decision.weights, axis=1)]
    assert np.array_equal(cp.Decision.from_json(tmp_path / "d.json").decide(votes), expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "other"}, "this holds 'other', not 'compromis/decision'"),
        ({"weights": [1.0]}, "weight"),
        ({"weights": [1.0, -1.0]}, "weight"),
        ({"classes": ["a", "a"]}, "each class stands once"),
        ({"weights": "x"}, "this is not a decision"),
        ({"smoothing": -1.0}, "smoothing is a finite number of at least 0"),
    ],
)
def test_bad_decisions(change, message):
    document = json.loads(cp.Decision(("a", "b"), [1.0, 2.0]).to_json()) | change
    with pytest.raises(cp.InputError, match=message):
        cp.Decision.from_json(json.dumps(document))


def test_a_search_writes_its_decision():
    search = cp.search_weights(["a", "b", "b", "b"], [[9, 1], [6, 4], [6, 4], [2, 8]], random_state=0)
    search.to_json("d.json")
    assert np.array_equal(cp.Decision.from_json("d.json").weights, search.weights)


def test_the_order_of_a_model_and_other_classes():
    decision = cp.Decision(("a", "b", "c"), [1.0, 2.0, 3.0])
    assert decision.for_classes(np.array(["c", "a", "b"])).weights.tolist() == [3.0, 1.0, 2.0]
    with pytest.raises(
        cp.InputError, match="the classes of the model are 'a', 'b', those of the weights 'a', 'b', 'c'"
    ):
        decision.for_classes(["a", "b"])
    with pytest.raises(cp.InputError, match="classes"):
        cp.Decision((0, 1), [1.0, 2.0]).for_classes(["0", "1"])
    assert cp.Decision((0, 1), [1.0, 2.0]).for_classes(np.array([1.0, 0.0])).weights.tolist() == [
        2.0,
        1.0,
    ]  # equal as numbers
    with pytest.raises(cp.InputError, match="each class stands once"):
        cp.Decision((1, True), [1.0, 2.0])


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "duckdb"])
def test_inside_frames(predicted, votes, kind):
    decision, expected = predicted
    polars = pytest.importorskip("polars", reason="polars is not installed")
    names = [f"p{k}" for k in range(5)]
    frame = polars.DataFrame(votes, schema=names).with_row_index("row")
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
        base = duckdb.connect()
        base.register("votes", frame.to_arrow())
        found = cp.frames.decide(base.table("votes"), proba=names, weights=decision).order("row").fetchall()
        assert [row[-1] for row in found] == expected.tolist()
        return
    given = {"polars": frame, "lazy": frame.lazy(), "pandas": frame.to_pandas()}[kind]
    found = cp.frames.decide(given, proba=names, weights=decision)
    found = found.collect() if kind == "lazy" else found
    assert (
        found["decision"].to_list() == expected.tolist()
        if kind != "pandas"
        else found["decision"].tolist() == expected.tolist()
    )


@pytest.mark.parametrize("wrong", ["0.5", None, np.nan, np.inf, -1, [0.5]])
def test_smoothing_is_a_number(wrong):
    votes = cp.Votes.from_proba(["a", "b"], [[2, 1], [1, 2]], labels=["a", "b"])
    for use in (
        lambda: cp.Decision(("a", "b"), [1.0, 1.0], smoothing=wrong),
        lambda: votes.counts([1, 1], smoothing=wrong),
        lambda: cp.search_weights(votes, smoothing=wrong),
    ):
        with pytest.raises(cp.InputError, match="smoothing is a finite number of at least 0") as refused:
            use()
        assert refused.value.parameter == "smoothing"


@pytest.mark.parametrize("smoothing", [0.0, 0.05])
@pytest.mark.parametrize("pos_label", [None, "fraud", "ok"])
def test_two_classes_have_a_threshold(rng, smoothing, pos_label):
    share = rng.random(500)
    for weights in rng.lognormal(0, 2, (20, 2)):
        decision = cp.Decision(("fraud", "ok"), weights, smoothing=smoothing, pos_label=pos_label)
        threshold = decision.threshold
        assert threshold.label == (pos_label or "ok")
        assert threshold.inclusive is (threshold.label == "fraud")
        reached = share >= threshold if threshold.inclusive else share > threshold
        predicted = decision.decide(share, pos_label=threshold.label)
        assert (reached == (predicted == threshold.label)).all()


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_threshold_is_that_of_the_rounded_products(smoothing):
    """Weights by hand meet shares that are ties but for rounding: a third of those below was on the other side."""
    for first, second, label in product(range(1, 12), range(1, 12), ("fraud", "ok")):
        decision = cp.Decision(("fraud", "ok"), [first, second], smoothing=smoothing, pos_label=label)
        threshold = float(decision.threshold)
        share = np.clip([np.nextafter(threshold, 0), threshold, np.nextafter(threshold, 1)], 0, 1)
        reached = share >= threshold if decision.threshold.inclusive else share > threshold
        assert (reached == (decision.decide(share, pos_label=label) == label)).all()
    assert cp.Decision(("fraud", "ok"), [1.0, 1e-6]).threshold.rule == "'ok' above 0.999999000001"


def test_a_threshold_follows_the_tie_rule_and_travels():
    """Equal weights: one half is a tie, which goes to the first class."""
    for label, rule in (("a", "'a' from 0.5 on"), ("b", "'b' above 0.5")):
        threshold = cp.Decision(("a", "b"), [1.0, 1.0], pos_label=label).threshold
        assert (threshold, threshold.rule) == (0.5, rule)
        again = pickle.loads(pickle.dumps(threshold))
        assert (again, again.label, again.inclusive) == (0.5, label, label == "a")
        assert cp.Decision(("a", "b"), [1.0, 1.0]).decide([0.5], pos_label=label).tolist() == ["a"]
    decision = cp.Decision(("a", "b"), [1.0, 3.0], pos_label="a")
    assert cp.Decision.from_json(decision.to_json()).threshold.label == "a"
    assert decision.for_classes(["b", "a"]).threshold.rule == "'a' above 0.75"
    three = cp.Decision(("a", "b", "c"), [1.0, 1.0, 1.0])
    assert not hasattr(three, "threshold")
    with pytest.raises(cp.InputError, match="pos_label is 'd', but the classes are 'a', 'b', 'c'"):
        cp.Decision(("a", "b", "c"), [1.0, 1.0, 1.0], pos_label="d")
