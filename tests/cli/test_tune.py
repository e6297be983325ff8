"""compromis tune: the library's weights, from rows and from evidence."""

from __future__ import annotations

import json

import polars as pl
import pytest

import compromis as cp
from tests.command_line import run


def test_tune_is_the_librarys(votes, tmp_path):
    path, truth, shares = votes
    done = run(
        "tune", path, "--truth", "truth", "--proba", "p_", "--prioritise", "b", "--metric", "f", "--output", "w.json"
    )
    assert done.exit_code == 0, done.output
    expected = cp.search_weights(
        truth, shares, preferences=cp.Preferences.prioritise(["b"], metric="f"), random_state=0
    )
    decision = cp.Decision.from_json("w.json")
    assert decision.classes == ("a", "b")
    assert decision.weights == pytest.approx(expected.weights)
    assert f"Loss {expected.loss:.4f}" in done.stdout
    assert done.stdout.startswith("Tuned: finds ")
    assert f"Verdict: {expected.verdict.word}" in done.stdout
    assert "Before, with equal weights: " in done.stdout


ANSWERS = """id,truth,a_1,a_2,a_3
1,bug,Bug,BUG.,feature
2,bug,bug,feature,
3,feature,"**Feature**",money?,feature
4,feature,bug,cash,feature
5,outage,"outage",bug,bug
6,outage,,"I cannot, sorry",
7,outage,outage,outage,bug
"""


def test_answers_are_tuned_evaluated_and_decided_as_the_library_does(tmp_path):
    (tmp_path / "answers.csv").write_text(ANSWERS)
    (tmp_path / "means.csv").write_text('text,class\ncash,feature\n"i cannot, sorry",\n')
    rows = [line.split(",") for line in ANSWERS.replace('"I cannot, sorry"', "").replace("cash", "feature").split()[1:]]
    truth, answers = [row[1] for row in rows], [row[2:] for row in rows]
    votes = cp.Votes.from_answers(answers, labels=["bug", "feature", "outage"], y_true=truth)
    given = ("--truth", "truth", "--answers", "a_", "--mapping", "means.csv", "--prioritise", "outage")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        preferences = cp.Preferences.prioritise(["outage"])
        with pytest.warns(cp.FewRowsWarning):
            expected = cp.estimators.tune_votes(votes, preferences=preferences, random_state=0)
        assert expected.decision.smoothing == 0.5 / 3
        tuned = run("tune", "answers.csv", *given, "--output", "w.json")
        assert tuned.exit_code == 0, tuned.output
        assert cp.Decision.from_json("w.json").weights == pytest.approx(expected.weights)
        assert "21 answers for 7 rows: 16 name a class, 4 are refused or empty, 1 name no class" in tuned.stderr
        assert "no class: 'money?' (1)" in tuned.stderr
        assert "1 row has no answer" in tuned.stderr
        assert f"Verdict: {expected.verdict.word}" in tuned.stdout
        judged = run("evaluate", "answers.csv", *given, "--json")
        assert json.loads(judged.stdout)["counts"]["matrix"] == votes.counts([1, 1, 1]).matrix.tolist()
        decided = run("predict", "w.json", "answers.csv", "--answers", "a_", "--mapping", "means.csv")
        known = expected.decision.decide(cp.Votes.from_answers(answers, labels=votes.classes).votes).tolist()
        assert decided.stdout.split("\n")[1:-1] == [*known[:5], '""', known[6]]
        even = run("predict", "w.json", "answers.csv", "--answers", "a_", "--unanswered", "even", "--proba", "p_")
        line = even.stdout.splitlines()[6].split(",")
        assert line[0] == votes.classes[int(expected.weights.argmax())]
        assert [float(share) for share in line[1:]] == pytest.approx([1 / 3] * 3)


def test_options_that_do_not_fit_answers_are_refused(tmp_path):
    (tmp_path / "answers.csv").write_text(ANSWERS)
    path = str(tmp_path / "answers.csv")
    for command, *rest in (
        ["tune", path, "--truth", "truth", "--answers", "a_", "--proba", "a_", "--prioritise", "bug"],
        ["tune", path, "--answers", "a_", "--prioritise", "bug"],
        ["tune", path, "--truth", "truth", "--proba", "a_", "--label", "x", "--prioritise", "bug"],
        ["tune", path, "--truth", "truth", "--mapping", path, "--proba", "a_", "--prioritise", "bug"],
        ["tune", path, "--truth", "truth", "--answers", "a_", "--mapping", path, "--prioritise", "bug"],
        ["tune", path, "--truth", "truth", "--answers", "b_", "--prioritise", "bug"],
        ["evaluate", path, "--truth", "truth", "--answers", "a_", "--weight", "id"],
        ["evaluate", path, "--answers", "a_"],
    ):
        done = run(command, *rest)
        assert done.exit_code == 2, rest
        assert done.stderr.strip().splitlines()[-1].startswith("Error: ")


def test_a_review_is_planned_and_written(votes):
    path, truth, shares = votes
    given = ("tune", path, "--truth", "truth", "--proba", "p_", "--prioritise", "b", "--review", "max_share=0.2")
    done = run(*given, "--output", "w.json")
    assert done.exit_code == 0, done.output
    preferences = cp.Preferences.prioritise(["b"], metric="f")
    expected = cp.search_weights(
        truth, shares, preferences=preferences, random_state=0, review=cp.Review(max_share=0.2)
    )
    assert cp.Decision.from_json("w.json").review == pytest.approx(expected.review.ratio)
    assert "to review" in done.stdout.lower()
    for append in ((), ("--append",)):
        done = run("predict", "w.json", path, "--proba", "p_", *append, "--output", "decided.csv")
        assert done.exit_code == 0, done.output
        decided = pl.read_csv("decided.csv")
        labels, review = expected.decision.decide(shares, return_review=True)
        assert decided["predicted"].to_list() == labels.tolist()
        assert decided["needs_review"].to_list() == review.tolist()
        assert ("truth" in decided.columns) == bool(append)
    done = run("predict", "w.json", path)
    assert done.exit_code == 2
    assert "w.json holds weights; give --proba" in done.output
    done = run(*given, "--engine", "polars")
    assert done.exit_code == 2
    assert "--review needs the rows in memory; leave out --engine" in done.output
