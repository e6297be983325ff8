"""compromis evaluate: the library's numbers, whatever is asked for."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import compromis as cp
from tests.cli.files import PREDICTED, SPRING, TRUTH
from tests.command_line import run


def test_evaluate_is_the_librarys(table):
    preferences = cp.Preferences.prioritise(["bad"])
    expected = cp.evaluate(TRUTH, PREDICTED, preferences=preferences)
    done = run("evaluate", table, "--truth", "truth", "--prediction", "predicted", "--prioritise", "bad")
    assert done.exit_code == 0
    assert done.stdout == str(expected)
    done = run("evaluate", table, "--truth", "truth", "--prediction", "predicted", "--prioritise", "bad", "--json")
    assert json.loads(done.stdout) == json.loads(expected.to_json())


def test_weights_labels_metric_and_preferences(table, tmp_path):
    preferences = cp.Preferences({"bad": cp.Preference(5, 0.2, 0.7)}, metric="f")
    preferences.to_toml(tmp_path / "preferences.toml")
    order = ["good", "bad", "NA", "01", "1", "absent"]
    labels = [part for label in order for part in ("--label", label)]
    done = run(
        "evaluate", table, "--truth", "truth", "--prediction", "predicted", "--weight", "weight",
        "--preferences", "preferences.toml", "--metric", "fowlkes_mallows", *labels, "--json",
    )  # fmt: skip
    expected = cp.evaluate(
        TRUTH,
        PREDICTED,
        sample_weight=[1, 2, 1, 1, 1, 1],
        labels=order,
        preferences=preferences.with_metric("fowlkes_mallows"),
    )
    assert json.loads(done.stdout) == json.loads(expected.to_json())


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_scores(tmp_path, rng, suffix):
    truth = rng.choice(["a", "b", "c"], 60)
    shares = rng.dirichlet([1, 1, 1], 60)
    frame = pl.DataFrame({"t": truth, **{f"p_{label}": shares[:, k] for k, label in enumerate("abc")}})
    path = tmp_path / f"scores.{suffix}"
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "tsv": lambda p: frame.write_csv(p, separator="\t")}[
        suffix
    ](path)
    done = run("evaluate", path, "--truth", "t", "--proba", "p_", "--json")
    expected = cp.evaluate(truth, y_proba=shares)
    assert json.loads(done.stdout) == json.loads(expected.to_json())
    assert run("evaluate", path, "--truth", "t", "--proba", "p_a", "--proba", "p_b", "--proba", "p_c").exit_code == 2


def test_standard_input(table):
    done = run("evaluate", "-", "--truth", "truth", "--prediction", "predicted", input=table.read_text())
    assert done.stdout == str(cp.evaluate(TRUTH, PREDICTED))


def test_missing_labels(tmp_path):
    (tmp_path / "m.csv").write_text("t,d\na,a\n,b\nb,b\n,a\n")
    done = run("evaluate", "m.csv", "--truth", "t", "--prediction", "d")
    assert done.exit_code == 2
    assert "column 't' of m.csv has 2 missing values (the first in data row 2)" in done.stderr
    done = run("evaluate", "m.csv", "--truth", "t", "--prediction", "d", "--drop-missing")
    assert done.exit_code == 0
    assert "left out 2 rows without a class" in done.stderr
    assert done.stdout == str(cp.evaluate(["a", "b"], ["a", "b"]))


def test_a_truth_column_that_looks_like_a_score(tmp_path):
    (tmp_path / "s.csv").write_text("p_truth,p_a,p_b\na,0.9,0.1\nb,0.2,0.8\n")
    assert run("evaluate", "s.csv", "--truth", "p_truth", "--proba", "p_").exit_code == 0


def test_arff_weights_are_used(tmp_path):
    (tmp_path / "w.arff").write_text(
        "@relation w\n@attribute t {a,b}\n@attribute d {a,b}\n@data\na,a,{3}\nb,a,{1}\n?,a,{7}\n"
    )
    done = run("evaluate", "w.arff", "--truth", "t", "--prediction", "d", "--drop-missing", "--json")
    assert json.loads(done.stdout)["counts"]["matrix"] == [[3.0, 0.0], [1.0, 0.0]]
    assert "left out 1 row without a class" in done.stderr


def test_sixty_configurations(tmp_path, rng):
    """The command line and the library give the same JSON, whatever is asked for; promise 9 asks 200 times."""
    for number in range(60):
        classes = rng.choice(["a", "b", "NA", "01", "x y", "-1"], rng.integers(2, 6), replace=False)
        size = int(rng.integers(1, 30))
        truth, decision = rng.choice(classes, (2, size))
        decision[0] = truth[0]  # classes that have nothing in common are refused
        weight = rng.integers(1, 5, size)
        path = tmp_path / f"{number}.tsv"
        path.write_text(
            "t\td\tw\n" + "".join(f"{t}\t{d}\t{w}\n" for t, d, w in zip(truth, decision, weight, strict=True))
        )
        metric = str(rng.choice(list(cp.metrics.METRICS)))
        preferences = cp.Preferences.prioritise([truth[0]], metric=metric)
        use_weight = bool(rng.integers(2))
        options = ["--weight", "w"] if use_weight else []
        done = run(
            "evaluate",
            path,
            "--truth",
            "t",
            "--prediction",
            "d",
            f"--prioritise={truth[0]}",
            "--metric",
            metric,
            *options,
            "--json",
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # Jaccard's
            expected = cp.evaluate(
                truth, decision, preferences=preferences, sample_weight=weight if use_weight else None
            )
        assert json.loads(done.stdout) == json.loads(expected.to_json()), done.output


def test_costs(files):
    with open("cost.csv", "w") as file:
        file.write("true,good,bad\nbad,9,0\ngood,0,1\n")
    document = json.loads(
        run(
            "evaluate",
            "spring.csv",
            "--truth",
            "class",
            "--prediction",
            "predicted",
            "--cost",
            "cost.csv",
            "--json",
        ).output
    )
    assert document["summary"]["total_cost"] == 9 * 10 + 50


def test_priors_are_those_of_the_library(files):
    truth, predicted = (np.repeat([pair[place] for pair in SPRING], list(SPRING.values())) for place in (0, 1))
    train = ["bad"] * 20 + ["good"] * 2000
    expected = cp.evaluate(
        truth, predicted, priors=cp.model_selection.training_priors(train)
    ).summary.relative_absolute_error
    arguments = ("evaluate", "spring.csv", "--truth", "class", "--prediction", "predicted", "--json")
    by_file = json.loads(run(*arguments, "--train-file", "autumn.csv").output)
    assert by_file["summary"]["relative_absolute_error"] == expected
    by_hand = json.loads(run(*arguments, "--priors", "bad=0.1", "--priors", "good=0.9").output)
    assert by_hand["priors"] == {"given": True, "shares": [0.1, 0.9]}


def test_markdown(files):
    done = run("evaluate", "spring.csv", "--truth", "class", "--prediction", "predicted", "--markdown")
    assert done.output.startswith("**Finds 90 of 100 bad (misses 10), 50 false alarms**\n")
    assert "1,100 rows: accuracy 0.945, kappa 0.720" in done.output
    assert "| <code>bad</code> | 100 | 90 | 10 | 50 | 0.900 | 0.643 |" in done.output


def test_the_note_suits_the_options(files):
    done = run("evaluate", "spring.csv", "--truth", "class", "--prediction", "predicted", "--full")
    assert "give priors for those of training" in done.output


def test_a_table_without_rows(tmp_path):
    (tmp_path / "none.csv").write_text("t,d\n")
    (tmp_path / "gaps.csv").write_text("t,d\na,\n,b\n")
    given = ["--truth", "t", "--prediction", "d", "--drop-missing"]
    assert "none.csv has no rows; there is nothing to read" in run("evaluate", "none.csv", *given).stderr
    assert "gaps.csv has no rows with a class" in run("evaluate", "gaps.csv", *given).stderr


def test_costs_by_amount(files):
    """Costs from a preferences file and from the library are one; the search pays amounts too."""
    rng = np.random.default_rng(0)
    truth = np.where(rng.random(400) < 0.2, "fraud", "ok")
    score = np.clip(rng.normal(0.3 + 0.3 * (truth == "fraud"), 0.2), 0.01, 0.99).round(3)
    amount, predicted = rng.lognormal(3, 1, 400).round(2), np.where(score > 0.5, "fraud", "ok")
    pd.DataFrame({"t": truth, "d": predicted, "p_fraud": score, "p_ok": (1 - score).round(3), "euro": amount}).to_csv(
        "transactions.csv", index=False
    )
    with open("costs.toml", "w") as file:
        file.write('[cost]\nlabels = ["fraud", "ok"]\nmatrix = [[0, "amount"], [5, 0]]\n')
    costs = cp.Preferences(cost={("fraud", "ok"): "amount", ("ok", "fraud"): 5})
    assert cp.Preferences.from_toml("costs.toml") == costs
    given = ("transactions.csv", "--truth", "t", "--preferences", "costs.toml")
    evaluated = json.loads(run("evaluate", *given, "--prediction", "d", "--amount", "euro", "--json").output)
    expected = cp.evaluate(truth, predicted, preferences=costs, amount=amount).summary
    assert evaluated["summary"]["total_cost"] == pytest.approx(expected.total_cost)
    with open("costs.csv", "w") as file:
        file.write("true,ok,fraud\nfraud,amount,0\nok,0,5\n")
    table = (
        "transactions.csv",
        "--truth",
        "t",
        "--cost",
        "costs.csv",
        "--prediction",
        "d",
        "--amount",
        "euro",
        "--json",
    )
    assert json.loads(run("evaluate", *table).output)["summary"] == evaluated["summary"]
    with open("costs.csv", "w") as file:
        file.write("true,ok,fraud\nfraud,amount,0\nok,0,much\n")
    assert "column 'fraud' of costs.csv must hold numbers, got 'much' in data row 2" in run("evaluate", *table).output
    tuned = run("tune", *given, "--proba", "p_", "--amount", "euro", "--output", "weights.json")
    assert tuned.exit_code == 0
    votes = np.column_stack([score, (1 - score).round(3)])
    found = cp.search_weights(truth, votes, preferences=costs, labels=["fraud", "ok"], amount=amount)
    assert cp.Decision.from_json("weights.json").weights.tolist() == pytest.approx(found.weights.tolist())
    without = run("evaluate", *given, "--prediction", "d")
    assert without.exit_code == 2
    assert "amount is missing" in without.output
    assert (
        "needs the rows in memory"
        in run("evaluate", *given, "--prediction", "d", "--amount", "euro", "--engine", "polars").output
    )


def test_a_share_may_be_written_in_per_cent(table):
    options = ("evaluate", table, "--truth", "truth", "--prediction", "predicted", "--confidence")
    assert run(*options, "95%").stdout == run(*options, "0.95").stdout
    assert "written like 0.95 or 95%, got 'high'" in run(*options, "high").stderr


def test_without_preferences_the_next_step_is_named(table):
    options = ("evaluate", table, "--truth", "truth", "--prediction", "predicted")
    assert "--prioritise LABEL" in run(*options).stderr
    assert run(*options, "--prioritise", "bad").stderr == run(*options, "--json").stderr == ""


def test_tuning_is_named_where_it_may_help(tmp_path):
    """A score that finds one of ten by the highest vote, and all of them at another threshold."""
    rows = ["truth,p_ill,p_well", *["ill,0.4,0.6"] * 99, "ill,0.6,0.4", *["well,0.1,0.9"] * 900]
    (tmp_path / "votes.csv").write_text("\n".join(rows) + "\n")
    told = run("evaluate", tmp_path / "votes.csv", "--truth", "truth", "--proba", "p_", "--prioritise", "ill").stdout
    assert "no better than no model" in told
    assert "Tuning may help: tuned on these rows, the loss is 0.0000" in told
