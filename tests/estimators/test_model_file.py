"""Model files: what is written comes back; files of 0.1.0 and of later versions are refused in one sentence."""

from __future__ import annotations

import io
import json
import pickle
import warnings
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import skops.io
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression

import compromis as cp
from compromis.estimators.model_file import describe_table, encode_table, load_model, save_model
from compromis.trees.columns import Column
from tests.model_files import ROWS, logistic_model
from tests.stress.promise_13_releases import RELEASES


@pytest.mark.filterwarnings("ignore:.*training did not have:UserWarning")
def test_a_model_comes_back(tmp_path):
    model = logistic_model()
    save_model(model, tmp_path / "m.model")
    again = load_model(tmp_path / "m.model")
    assert (again.columns, again.target, again.hard) == (model.columns, model.target, model.hard)
    texts = {"size": ["1.5", None], "colour": ["red", "violet"], "age": ["3", "88"]}
    assert again.vote_shares(texts, "x.csv").tolist() == model.vote_shares(texts, "x.csv").tolist()
    with pytest.raises(cp.InputError, match=r"x\.csv lacks 'age', which the model was trained on"):
        again.vote_shares({name: texts[name] for name in ("size", "colour")}, "x.csv")


@pytest.mark.parametrize("path", sorted(ROWS.parent.glob("*.model")), ids=lambda path: path.stem)
def test_files_of_the_first_release_are_refused(path):
    with pytest.raises(cp.InputError, match=r"was written by compromis 0\.1\.0, which was never published; fit"):
        load_model(path)


@pytest.mark.parametrize(
    ("forged", "message"),
    [
        ({"version": 3, "columns": "new"}, "has version 3, this compromis reads up to 2; update compromis"),
        ({"columns": {}}, "is not a model file of compromis"),
    ],
)
def test_a_header_that_this_version_does_not_write_is_refused(tmp_path, forged, message):
    save_model(logistic_model(), tmp_path / "m.model")
    with zipfile.ZipFile(tmp_path / "m.model") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["model.json"] = json.dumps(json.loads(parts["model.json"]) | forged).encode()
    with zipfile.ZipFile(tmp_path / "forged.model", "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(cp.InputError, match=message):
        load_model(tmp_path / "forged.model")


def test_texts_become_numbers_and_codes():
    texts = {"n": ["1", None, "2.5"], "c": ["b", "a", None], "id": [f"row {k}" for k in range(300)]}
    columns = describe_table(texts, ["n", "c"], "t.csv")
    assert columns == (Column("n"), Column("c", ("a", "b")))
    expected = [[1, 1], [np.nan, 0], [2.5, np.nan]]
    np.testing.assert_array_equal(encode_table(texts, columns, "t.csv"), expected)
    with pytest.warns(UserWarning, match=r"'c' of t\.csv has 'z' in 1 of 1 rows, which training did not have"):
        unseen = encode_table({"n": ["7"], "c": ["z"]}, columns, "t.csv")
    np.testing.assert_array_equal(unseen, [[7, np.nan]])
    with pytest.raises(cp.InputError, match=r"column 'n' of t\.csv held numbers in training"):
        encode_table({"n": ["seven"], "c": ["a"]}, columns, "t.csv")
    with pytest.raises(
        cp.InputError, match=r"300 different texts; leave it out if it names the rows \(--ignore 'id'\)"
    ):
        describe_table(texts, ["id"], "t.csv")


@pytest.mark.parametrize("value", ["1e39", "-1e39", "inf"])
def test_numbers_that_no_tree_takes_are_refused_with_their_row(value):
    with pytest.raises(cp.InputError, match=r"column 'x' of rows\.csv holds -?(1e\+39|inf) in data row 2; models take"):
        encode_table({"x": ["1", value]}, [Column("x")], "rows.csv")


def bend(path, change):
    """Change the schema of the classifier in a model file, and the arrays beside it."""
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(io.BytesIO(parts["classifier.skops"])) as old:
        inner = {name: old.read(name) for name in old.namelist()}
    change(inner)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as new:
        for name, content in inner.items():
            new.writestr(name, content)
    parts["classifier.skops"] = stream.getvalue()
    with zipfile.ZipFile(path, "w") as new:
        for name, content in parts.items():
            new.writestr(name, content)


def in_arrays(wanted, values):
    """Return a change of one field in every array that has it."""

    def change(inner):
        for name, content in inner.items():
            array = np.load(io.BytesIO(content)) if name.endswith(".npy") else np.zeros(0)
            if array.dtype.names and wanted in array.dtype.names:
                array[wanted] = values(array)
                stream = io.BytesIO()
                np.save(stream, array)
                inner[name] = stream.getvalue()

    return change


def in_schema(old, new):
    return lambda inner: inner.update({"schema.json": inner["schema.json"].replace(old, new)})


@pytest.mark.parametrize("kind", ["forest", "extra-trees", "boosting"])
def test_trees_that_lead_out_of_themselves_are_refused(tmp_path, kind):
    """The compiled trees of scikit-learn believe such numbers: the process that predicted would end, or go round for ever."""
    left, feature = ("left", "feature_idx") if kind == "boosting" else ("left_child", "feature")
    inner = (lambda nodes: nodes["is_leaf"] == 0) if kind == "boosting" else (lambda nodes: nodes["left_child"] >= 0)
    ways = [
        in_arrays(left, lambda nodes: np.where(inner(nodes), 10**6, nodes[left])),
        in_arrays(left, lambda nodes: np.where(inner(nodes), np.arange(len(nodes)), nodes[left])),
        in_arrays(feature, lambda nodes: np.where(inner(nodes), 10**6, nodes[feature])),
    ]
    for change in ways:
        path = tmp_path / "bent.model"
        path.write_bytes((RELEASES / "0.2.0" / f"{kind}.model").read_bytes())
        cp.estimators.load_model(path)
        bend(path, change)
        with pytest.raises(cp.InputError, match="is none that compromis fit writes"):
            cp.estimators.load_model(path)


def test_a_class_in_the_place_of_an_object_is_one_sentence(tmp_path):
    path = tmp_path / "bent.model"
    path.write_bytes((RELEASES / "0.2.0" / "forest.model").read_bytes())
    bend(path, in_schema(b'"__loader__": "TreeNode"', b'"__loader__": "FunctionNode"'))
    with pytest.raises(cp.InputError, match="is not a model file of compromis"):
        cp.estimators.load_model(path)


@pytest.mark.filterwarnings("ignore:.*training did not have:UserWarning")
def test_whatever_a_classifier_raises_is_one_sentence():
    model = replace(logistic_model(), classifier=object())
    texts = {column.name: ["1"] for column in model.columns}
    with pytest.raises(
        cp.InputError, match=r"the model does not work on rows\.csv, fit it again: 'object' object has no"
    ):
        model.vote_shares(texts, "rows.csv")


@pytest.mark.parametrize(
    "model",
    [
        cp.TunedDecisionClassifier(LogisticRegression(max_iter=500), random_state=0),
        cp.TunedDecisionClassifier(LogisticRegression(max_iter=500), random_state=0, store_evidence=False),
        cp.PragmaForestClassifier(5, random_state=0),
        cp.PragmaTreeClassifier(),
        cp.C45Classifier(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_fitted_estimators_go_through_skops_and_hold_no_code(model):
    """MLflow's default for scikit-learn's models, too: it takes the same list as skops_trusted_types."""
    X, y = load_wine(return_X_y=True)
    y = np.array(["a", "b", "c"])[y]
    if "preferences" in model.get_params():
        model = clone(model).set_params(
            preferences={"b": cp.Preference(10, 0.9, 0.95, min_recall=1.0, min_precision=0.999)}
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(model).fit(X[:, :3], y)
        str(getattr(model, "verdict_", ""))  # cached parts are written too
    data = skops.io.dumps(model)
    assert set(skops.io.get_untrusted_types(data=data)) <= set(cp.integrations.skops_trusted_types())
    again = skops.io.loads(data, trusted=cp.integrations.skops_trusted_types())
    assert np.array_equal(again.predict(X[:, :3]), model.predict(X[:, :3]))
    if hasattr(model, "tuning_"):
        assert str(again.verdict_) == str(model.verdict_)
        assert again.preferences == model.preferences
        assert again.search_.arrays.metric is model.search_.arrays.metric


def test_evidence_may_be_left_out(rng):
    X = rng.normal(size=(4000, 3))
    y = (X[:, 0] + rng.normal(size=4000) > 1.5).astype(int)
    whole = cp.TunedDecisionClassifier(LogisticRegression(), random_state=0, preferences={1: 5}).fit(X, y)
    bare = clone(whole).set_params(store_evidence=False).fit(X, y)
    assert bare.patterns_ is None
    assert np.array_equal(bare.predict(X), whole.predict(X))
    assert str(bare.verdict_) == str(whole.verdict_)
    assert len(pickle.dumps(bare)) < 20_000 < 100_000 < len(pickle.dumps(whole))
    with pytest.raises(cp.InputError, match="store_evidence=False"):
        bare.with_prevalence([0.5, 0.5])


def test_skops_takes_guarantees_and_weights_by_group():
    rng = np.random.default_rng(0)
    y, site = np.repeat([0, 1], 150), np.tile(["north", "south"], 150)
    X = rng.normal(size=(300, 2)) + y[:, np.newaxis]
    preferences = {1: cp.Preference(min_recall=0.6, confidence=0.9)}
    model = cp.TunedDecisionClassifier(
        LogisticRegression(), preferences=preferences, store_evidence=False, random_state=0
    )
    data = skops.io.dumps(model.fit(X, y, by=site))
    again = skops.io.loads(data, trusted=cp.integrations.skops_trusted_types())
    assert again.guarantee_.items == model.guarantee_.items
    np.testing.assert_array_equal(again.predict(X, by=site), model.predict(X, by=site))
