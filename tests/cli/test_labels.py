"""compromis labels, and --sample of evaluate and count: the library's numbers, phase after phase."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import compromis as cp
from compromis.model_selection import LabelPlan
from tests.command_line import run

ROWS = 3_000
RNG = np.random.default_rng(9)
TRUTH = np.where(RNG.random(ROWS) < 0.1, "fraud", "ok")
SCORE = (1 / (1 + np.exp(3 - 2 * RNG.normal(1.5 * (TRUTH == "fraud"))))).round(4)
PREDICTED = np.where(SCORE > 0.3, "fraud", "ok")
JUDGE = np.where(RNG.random(ROWS) < 0.9, TRUTH, "ok")


@pytest.fixture
def population(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = {
        "id": range(ROWS),
        "p_fraud": SCORE,
        "p_ok": (1 - SCORE).round(4),
        "predicted": PREDICTED,
        "judge": JUDGE,
        "=note": ["x"] * ROWS,
    }
    cp.frames.to_csv(columns, "all.csv")
    return tmp_path


def planned(*more, name="plan", how=("--prediction", "predicted")):
    done = run("labels", "plan", "all.csv", "--budget", "150", *how, "--judge", "judge", "--prioritise", "fraud",
               "--output", f"{name}.json", "--rows", f"{name}.csv", "--keep", "id", *more)  # fmt: skip
    assert done.exit_code == 0, done.stderr
    return done


def labelled(name="plan", shuffled=False):
    with open(f"{name}.csv") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["label"] = TRUTH[int(row["row"])]
    order = np.random.default_rng(0).permutation(len(rows)) if shuffled else range(len(rows))
    cp.frames.to_csv({key: [rows[k][key] for k in order] for key in rows[0]}, f"{name}-labelled.csv")
    return f"{name}-labelled.csv"


def test_plan_label_evaluate_and_plan_again(population):
    done = planned()
    made = LabelPlan.from_json("plan.json")
    assert str(made) in done.stdout
    counts = cp.Counts.from_predictions(TRUTH[made.rows], PREDICTED[made.rows], labels=["fraud", "ok"], sample=made)
    preferences = cp.Preferences.prioritise(["fraud"])
    for shuffled in (False, True):
        file = labelled(shuffled=shuffled)
        done = run("evaluate", file, "--sample", "plan.json", "--truth", "label", "--prediction", "predicted",
                   "--prioritise", "fraud", "--confidence", "0.95", "--json")  # fmt: skip
        expected = cp.evaluate(counts, preferences=preferences, confidence=0.95)
        assert json.loads(done.stdout) == json.loads(expected.to_json())
    done = run(
        "count",
        file,
        "--sample",
        "plan.json",
        "--truth",
        "label",
        "--prediction",
        "predicted",
        "--output",
        "first.json",
    )
    assert done.exit_code == 0
    planned("--after", "plan.json", "--counts", "first.json", name="second")
    again = LabelPlan.from_json("second.json")
    assert not {*again.rows.tolist()} & {*made.rows.tolist()}
    run(
        "count",
        labelled("second"),
        "--sample",
        "second.json",
        "--truth",
        "label",
        "--prediction",
        "predicted",
        "--output",
        "more.json",
    )
    run("merge", "first.json", "more.json", "--output", "both.json")
    done = run("evaluate", "both.json", "--prioritise", "fraud", "--json")
    both = counts + cp.Counts.from_predictions(
        TRUTH[again.rows], PREDICTED[again.rows], labels=["fraud", "ok"], sample=again
    )
    assert json.loads(done.stdout) == json.loads(cp.evaluate(both, preferences=preferences).to_json())
    assert json.loads(done.stdout)["counts"]["rows"] == 300


def test_votes_of_a_sample_are_counted_and_tuned(population):
    planned(how=("--proba", "p_"), name="votes")
    with open("votes.csv") as file:
        header = next(csv.reader(file))
    assert header == ["row", "stratum", "predicted", "id"]
    run("labels", "plan", "all.csv", "--budget", "150", "--proba", "p_", "--judge", "judge", "--prioritise", "fraud", "--output", "votes.json",
        "--rows", "votes.csv", "--keep", "id", "--keep", "p_fraud", "--keep", "p_ok")  # fmt: skip
    file = labelled("votes")
    done = run(
        "count", file, "--sample", "votes.json", "--truth", "label", "--proba", "p_", "--output", "votes-counted.json"
    )
    assert done.exit_code == 0, done.stderr
    votes = cp.evidence.read("votes-counted.json").evidence
    assert votes.multiplicity.sum() == pytest.approx(ROWS)
    expected = cp.search_weights(votes, preferences=cp.Preferences.prioritise(["fraud"])).loss
    straight = [file, "--sample", "votes.json", "--truth", "label", "--proba", "p_"]
    for source in (["votes-counted.json"], straight):
        done = run("tune", *source, "--prioritise", "fraud", "--json")
        assert json.loads(done.stdout)["loss"] == pytest.approx(expected)


def test_needed_says_how_many_more_and_fails_where_they_are_not_enough(population):
    planned()
    run(
        "count",
        labelled(),
        "--sample",
        "plan.json",
        "--truth",
        "label",
        "--prediction",
        "predicted",
        "--output",
        "c.json",
    )
    done = run("labels", "needed", "c.json", "--width", "0.1", "--label", "fraud", "--json")
    expected = cp.model_selection.labels_needed(cp.evidence.read("c.json").evidence, width=0.1, labels=["fraud"])
    assert json.loads(done.stdout) == json.loads(expected.to_json())
    assert done.exit_code == 1
    assert run("labels", "needed", "c.json", "--width", "0.99").exit_code == 0


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("labels plan all.csv --budget 50 --output p.json --rows r.csv", "give either --prediction or --proba"),
        (
            "labels plan all.csv --budget 50 --prediction predicted --weights w.json --output p.json --rows r.csv",
            "give --proba",
        ),
        (
            "labels plan all.csv --budget 50 --prediction predicted --counts all.csv --output p.json --rows r.csv",
            "holds no counts",
        ),
        (
            "labels plan all.csv --budget 50 --prediction predicted --output all.csv --rows r.csv",
            "is read by this command",
        ),
        (
            "labels plan all.csv --budget 5 --prediction predicted --output p.json --rows r.csv",
            "too few for 2 predicted",
        ),
        ("labels needed all.csv --width 0.1", "holds no counts"),
        (
            "evaluate all.csv --truth predicted --prediction predicted --sample plan.json --group judge",
            "leave out --group",
        ),
        (
            "evaluate all.csv --truth predicted --prediction predicted --sample plan.json --drop-missing",
            "leave out --drop-missing",
        ),
        ("evaluate all.csv --truth predicted --prediction predicted --sample plan.json", "no column 'row'"),
        ("evaluate part.csv --truth label --prediction predicted --sample plan.json", "lacks 50 of the 150 rows"),
        ("evaluate gap.csv --truth label --prediction predicted --sample plan.json", "1 missing value"),
        (
            "count part.csv --truth label --prediction predicted --sample plan.json --weight id --output c.json",
            "leave out --weight",
        ),
        ("tune part.csv --truth label --proba p_ --sample plan.json --by id --prioritise fraud", "leave out --by"),
        ("tune part.csv --truth label --sample plan.json --prioritise fraud", "Missing option '--proba'"),
    ],
)
def test_mistakes_are_one_sentence(population, command, words):
    planned()
    lines = (population / labelled()).read_text().splitlines()
    (population / "part.csv").write_text("\n".join(lines[:101]) + "\n")
    (population / "gap.csv").write_text("\n".join([*lines[:-1], lines[-1].rpartition(",")[0] + ","]) + "\n")
    done = run(*command.split())
    assert done.exit_code == 2
    assert words in done.stderr


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("nan", "lacks 1 of the 150 rows"),
        ("inf", "lacks 1 of the 150 rows"),
        ("{}.5", "lacks 1 of the 150 rows"),
        ("{}.0", ""),
        ("{0}\n{0}", "has row {} of plan.json more than once"),
    ],
)
def test_rows_are_found_by_their_whole_number(population, written, words):
    planned()
    head, first, *rest = (population / labelled()).read_text().splitlines()
    row, more = first.split(",", 1)
    begun = "\n".join(f"{number},{more}" for number in written.format(row).split("\n"))
    (population / "x.csv").write_text("\n".join([head, begun, *rest]) + "\n")
    done = run("evaluate", "x.csv", "--truth", "label", "--prediction", "predicted", "--sample", "plan.json")
    assert done.exit_code == (2 if words else 0)
    assert words.format(row) in done.stderr
