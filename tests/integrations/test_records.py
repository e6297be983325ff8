"""Where people keep results: MLflow's records, skore's reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import compromis as cp

pytestmark = pytest.mark.integration

PREFERENCES = cp.Preferences({"a/b|c": cp.Preference(10, min_precision=0.5)}, metric="f")
TRUTH, PREDICTED = ["a/b|c", "x", "x", "y", "x"], ["a/b|c", "a/b|c", "x", "x", "x"]


@pytest.fixture
def mlflow(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    package = pytest.importorskip("mlflow", reason="mlflow-skinny is not installed")
    before = package.get_tracking_uri()
    package.set_tracking_uri((tmp_path / "runs").as_uri())
    yield package
    package.set_tracking_uri(before)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_mlflow(mlflow):
    result = cp.evaluate(TRUTH, PREDICTED, preferences=PREFERENCES)
    with mlflow.start_run() as run:
        said = cp.integrations.log_to_mlflow(result, prefix="test/")
    client = mlflow.MlflowClient()
    stored = client.get_run(run.info.run_id)
    assert stored.data.metrics == said
    assert stored.data.metrics["test/accuracy"] == pytest.approx(3 / 5)
    assert stored.data.metrics["test/a_b_c/precision"] == pytest.approx(1 / 2)
    assert stored.data.metrics["test/x/recall"] == pytest.approx(2 / 3)
    assert "test/y/precision" not in said  # never predicted: undefined
    assert stored.data.tags["compromis.verdict"] == str(result.verdict)
    names = {file.path for file in client.list_artifacts(run.info.run_id, "test/compromis")}
    assert names == {f"test/compromis/evaluation.{ending}" for ending in ("html", "md", "json")}
    folder = Path(mlflow.artifacts.download_artifacts(run_id=run.info.run_id, artifact_path="test/compromis"))
    assert json.loads((folder / "evaluation.json").read_text())["summary"]["accuracy"] == pytest.approx(3 / 5)
    assert (folder / "evaluation.html").read_text().lower().startswith("<!doctype html>")


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_mlflow_classes_that_would_be_called_alike(mlflow):
    result = cp.evaluate(["a|", "a?", "loss"], ["a|", "a|", "loss"])
    with mlflow.start_run():
        said = cp.integrations.log_to_mlflow(result, report=False)
    assert said["a_/recall"] == 0.0  # "a?" comes first
    assert said["a__1/recall"] == 1.0
    assert said["loss_2/recall"] == 1.0


def test_mlflow_takes_evaluations():
    with pytest.raises(cp.InputError, match="got dict"):
        cp.integrations.log_to_mlflow({})


@pytest.mark.filterwarnings("ignore")
def test_skore():
    skore = pytest.importorskip("skore", reason="skore is not installed")
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    preferences = cp.Preferences.prioritise(["virginica"], metric="f")
    model = LogisticRegression(max_iter=3).fit(X[::2], names[::2])
    report = skore.EstimatorReport(model, X_test=X[1::2], y_test=names[1::2])
    assert cp.integrations.add_to_skore(report, preferences) == ["pragma_loss", "pragma_shortfall", "pragma_class_loss"]
    values = report.metrics.summarize().frame()
    predicted = model.predict(X[1::2])
    result = cp.evaluate(names[1::2], predicted, preferences=preferences)
    assert values["pragma_loss"] == pytest.approx(cp.pragma_loss(names[1::2], predicted, preferences=preferences))
    assert values["pragma_shortfall"] == 0
    assert values["pragma_loss_virginica"] == pytest.approx(result.per_class["virginica"].loss)
    # skore's own numbers by class and ours are the same
    assert values["recall_virginica"] == pytest.approx(result.per_class["virginica"].recall)
    assert values["precision_versicolor"] == pytest.approx(result.per_class["versicolor"].precision)


def test_skore_takes_reports_and_preferences():
    with pytest.raises(cp.InputError, match="got dict"):
        cp.integrations.add_to_skore({}, cp.Preferences())
    with pytest.raises(cp.InputError, match="got NoneType"):
        cp.integrations.skore_metrics(None)
