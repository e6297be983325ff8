"""compromis fit and predict: models that come back from their file."""

from __future__ import annotations

import json
import pickle
import re
import zipfile
from pathlib import Path

import numpy as np
import pandas
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import compromis as cp
from compromis.estimators.model_file import MODELS, load_model
from tests.command_line import run


def fit(path, *options):
    """Fit a model of flowers, to which virginica matters most."""
    preferences = ("--prioritise", "virginica", "--metric", "f")
    return run("fit", path, "--target", "species", "--trees", "20", *preferences, *options, "--output", "m.model")


@pytest.fixture
def flowers(tmp_path):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    colour = np.where(X[:, 2] < 2.5, "white", np.where(X[:, 3] > 1.6, "", "blue"))
    rows = [
        f"{a},{b},{'' if n % 17 == 0 else c},{d},{o},{s}"
        for n, ((a, b, c, d), o, s) in enumerate(zip(X, colour, names, strict=True))
    ]
    path = tmp_path / "flowers.csv"
    path.write_text("sl,sw,pl,pw,colour,species\n" + "\n".join(rows) + "\n")
    return path, names


@pytest.mark.parametrize("model", list(MODELS))
def test_fit_and_predict(flowers, model):
    path, names = flowers
    done = fit(path, "--model", model)
    assert done.exit_code == 0, done.output
    assert "virginica" in done.stdout
    done = run("predict", "m.model", path)
    assert done.exit_code == 0, done.output
    predicted = done.stdout.splitlines()
    assert predicted[0] == "species"
    found = np.array(predicted[1:])
    assert np.mean(found[names == "virginica"] == "virginica") > 0.9  # the class that matters
    assert np.mean(found == names) > 0.8
    again = run("predict", "m.model", path, "--output", "out.csv")
    assert again.exit_code == 0
    assert Path("out.csv").read_text() == done.stdout


def test_fit_says_what_the_written_model_is_worth(flowers):
    """Loss and weights are those of the file; the loss follows from the printed rates by the formula of metric f."""
    path, _ = flowers
    preferences = ("--prioritise", "versicolor", "--metric", "f")
    said = run("fit", path, "--target", "species", *preferences, "--output", "m.model", "--trees", "20").stdout
    decision = load_model("m.model").decision
    printed = dict(zip(decision.classes, decision.weights, strict=True))
    for label, weight in printed.items():
        assert re.search(rf"^{label} .* {weight:.4g} ", said, re.MULTILINE)
    loss = 0.0  # of the rates in the table: each fifth of the votes judged by weights of the others
    for label, importance, accepted in (
        ("versicolor", 10, (0.1, 0.9)),
        ("setosa", 1, (0.8, 0.8)),
        ("virginica", 1, (0.8, 0.8)),
    ):
        recall, precision = (float(part) for part in re.search(rf"^{label} .*", said, re.MULTILINE)[0].split()[4:6])
        share = (1 / accepted[0] - 1) / ((1 / accepted[0] - 1) + (1 / accepted[1] - 1))  # equal worth of both answers
        loss += importance * (1 - 1 / (share / recall + (1 - share) / precision)) / 12
    told = float(re.search(r"^Loss ([\d.]+)", said, re.MULTILINE)[1])
    assert told == pytest.approx(loss, abs=2e-3)  # rates have three digits
    assert "Verdict: better than no model." in said
    assert float(re.search(r"expect a loss of ([0-9.]+)", said)[1]) == pytest.approx(told, abs=6e-4)


def test_predict_beside_the_rows(flowers):
    """With --append and --proba the output can be evaluated and reported without another tool; line ends of Windows are none of its business."""
    path, names = flowers
    Path("windows.csv").write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    fit(path)
    alone = run("predict", "m.model", "windows.csv").stdout.splitlines()[1:]
    done = run("predict", "m.model", "windows.csv", "--append", "--proba", "p_", "--output", "all.csv")
    assert done.exit_code == 0, done.output
    table = pandas.read_csv("all.csv", keep_default_na=False)
    assert list(table) == [
        "sl",
        "sw",
        "pl",
        "pw",
        "colour",
        "species",
        "predicted",
        "p_setosa",
        "p_versicolor",
        "p_virginica",
    ]
    assert table["species"].tolist() == names.tolist()
    assert table["predicted"].tolist() == alone
    decision = load_model("m.model").decision
    votes = table[[f"p_{label}" for label in decision.classes]].to_numpy()
    assert votes.sum(axis=1) == pytest.approx(np.ones(len(votes)))
    assert decision.decide(votes).tolist() == alone
    judged = run("evaluate", "all.csv", "--truth", "species", "--prediction", "predicted", "--proba", "p_")
    assert judged.exit_code == 0, judged.output
    twice = run("predict", "m.model", "all.csv", "--append")
    assert twice.exit_code == 2
    assert twice.stderr == "Error: all.csv has a column 'predicted' already; rename it, or leave out --append\n"


def test_what_the_model_was_not_trained_on(flowers, tmp_path):
    path, _ = flowers
    assert (
        run(
            "fit", path, "--target", "species", "--trees", "5", "--prioritise", "setosa", "--output", "m.model"
        ).exit_code
        == 0
    )
    (tmp_path / "new.csv").write_text(
        "colour,sl,sw,pl,pw\ngreen,5,3,1,0.2\n,,,,\n"
    )  # another order, an unseen category, all missing
    done = run("predict", "m.model", "new.csv")
    assert len(done.stdout.splitlines()) == 3
    assert "'colour' of new.csv has 'green' in 1 of 2 rows, which training did not have" in done.stderr
    (tmp_path / "less.csv").write_text("sl,sw\n5,3\n")
    done = run("predict", "m.model", "less.csv")
    assert done.exit_code == 2
    assert "there is no column 'pl'" in done.stderr
    (tmp_path / "text.csv").write_text("colour,sl,sw,pl,pw\nblue,five,3,1,0.2\n")
    done = run("predict", "m.model", "text.csv")
    assert done.exit_code == 2
    assert "column 'sl' of text.csv held numbers in training, now 'five'" in done.stderr


@pytest.mark.parametrize("first", [0, 1])
def test_the_index_that_pandas_writes_is_no_feature(flowers, first):
    path, _ = flowers
    header, *rows = path.read_text().splitlines()
    path.write_text("\n".join(["," + header, *(f"{number},{row}" for number, row in enumerate(rows, first))]) + "\n")
    assert "left out the first column of flowers.csv, which has no name and counts the rows" in fit(
        path
    ).stderr.replace(str(path), path.name)
    assert [column.name for column in load_model("m.model").columns] == ["sl", "sw", "pl", "pw", "colour"]


def test_a_model_file_runs_no_code(tmp_path):
    class Trap:
        def __reduce__(self):
            return open, (str(tmp_path / "sprung"), "w")

    (tmp_path / "pickle.model").write_bytes(pickle.dumps(Trap()))
    with zipfile.ZipFile(tmp_path / "zip.model", "w") as archive:
        archive.writestr(
            "model.json",
            '{"schema": "compromis/model", "version": 2, "scikit_learn": "1.0", "target": "t", "hard": false, "columns": {}}',
        )
        archive.writestr("decision.json", cp.Decision(("a", "b"), np.ones(2)).to_json())
        archive.writestr("classifier.skops", pickle.dumps(Trap()))
    for name in ("pickle.model", "zip.model"):
        with pytest.raises(cp.InputError, match=r"is not a model file|holds types that are not trusted"):
            load_model(tmp_path / name)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(("newer", "code"), [("99.0.1", 2), (sklearn.__version__, 0), ("0.24.2", 0)])
def test_a_model_of_a_later_scikit_learn_is_refused(flowers, newer, code):
    path, _ = flowers
    run("fit", path, "--target", "species", "--trees", "3", "--prioritise", "virginica", "--output", "m.model")
    with zipfile.ZipFile("m.model") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(parts["model.json"])
    assert header.pop("scikit_learn") == sklearn.__version__
    parts["model.json"] = json.dumps(header | {"scikit_learn": newer}).encode()
    with zipfile.ZipFile("other.model", "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    done = run("predict", "other.model", path)
    assert done.exit_code == code, done.output
    if code:
        said = f"other.model was written with scikit-learn 99.0.1, this is {sklearn.__version__}; update scikit-learn"
        assert said in done.stderr


def test_tuned_forest_and_model_file_decide_alike(flowers):
    path, names = flowers
    assert (
        run(
            "fit", path, "--target", "species", "--trees", "15", "--prioritise", "virginica", "--output", "m.model"
        ).exit_code
        == 0
    )
    model = load_model("m.model")
    assert isinstance(model.classifier, RandomForestClassifier)
    assert model.hard
    assert model.decision.smoothing == 0
    assert set(model.decision.classes) == set(names)


def test_a_model_with_a_review_tells_which_rows_a_person_looks_at(flowers):
    path, names = flowers
    done = fit(path, "--review", "max_share=0.1")
    assert done.exit_code == 0, done.output
    model = load_model("m.model")
    assert model.decision.review is not None
    assert run("predict", "m.model", path, "--append", "--proba", "p_", "--output", "out.csv").exit_code == 0
    written = pandas.read_csv("out.csv")
    shares = written[[f"p_{label}" for label in model.decision.classes]].to_numpy()
    labels, flags = model.decision.decide(shares, return_review=True)
    assert written["needs_review"].tolist() == flags.tolist()
    assert written["predicted"].tolist() == labels.tolist()
    judged = ("evaluate", "out.csv", "--truth", "species", "--prediction", "predicted", "--json")
    alone, reviewed = (json.loads(run(*judged, *more).stdout) for more in ((), ("--needs-review", "needs_review")))
    assert alone["summary"]["correct"] == (labels == names).sum()
    assert reviewed["summary"]["correct"] == ((labels == names) | flags).sum()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("0.1", "write at_most=200,per=20000 or max_share=0.01"),
        ("at_most=1.5,per=3", "write at_most=200,per=20000"),
        ("at_most=5", "at_most needs per"),
        ("max_share=0.1,max_share=0.2", "write at_most=200,per=20000"),
    ],
)
def test_a_cap_that_is_none(flowers, given, said):
    done = fit(flowers[0], "--review", given)
    assert done.exit_code == 2
    assert said in done.output


def test_flags_are_true_or_false(flowers):
    done = run("evaluate", flowers[0], "--truth", "species", "--prediction", "species", "--needs-review", "sw")
    assert done.exit_code == 2
    assert "column 'sw' holds true or false for each row, got '3.5'" in done.output
