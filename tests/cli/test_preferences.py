"""compromis preferences: questions, answers, and a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import compromis as cp
from tests.cli.files import TRUTH
from tests.command_line import run

PLANE = "preferences", "--metric", "kulczynski"


def test_preferences_asks_and_writes(table):
    answers = "\n0.1\n0.9\n0.05\n10\n" + "\n\n\n0\n\n"
    done = run(*PLANE, "--label", "bad", "--label", "good", "--output", "preferences.toml", input=answers)
    assert done.exit_code == 0, done.output
    preferences = cp.Preferences.from_toml("preferences.toml")
    assert preferences.of("bad") == cp.Preference(10, 0.1, 0.9, min_precision=0.05)
    assert preferences.of("good") == cp.Preference(1, 0.8, 0.8)
    assert "If all of them were found: what share of the alarms must be right?" in done.stdout
    done = run(*PLANE, "--label", "bad", "--output", "preferences.toml", input=answers)
    assert done.exit_code == 2
    assert "preferences.toml exists already" in done.stderr


def test_the_classes_of_a_file_are_chosen_the_rarest_first(table):
    done = run("preferences", table, "--truth", "truth", input="1\n90%\n\n\n\n3\n")
    assert done.exit_code == 0, done.output
    rows = {label: TRUTH.count(label) for label in set(TRUTH)}
    rarest = min(rows, key=lambda label: (rows[label], label))
    assert cp.Preferences.from_toml("preferences.toml").by_class == {rarest: cp.Preference(3, 0.8, 0.8, min_recall=0.9)}
    both = run("preferences", table, "--truth", "truth", "--force", input=f"1,{rarest},2,3,4\n" + "\n" * 20)
    assert both.exit_code == 0, both.output
    assert set(cp.Preferences.from_toml("preferences.toml").by_class) == set(TRUTH)
    wrong = run("preferences", table, "--truth", "truth", "--force", input="7\n\n" + "\n" * 5)
    assert "'7' is neither a class nor a number from 1 to 4" in wrong.output


def test_shares_are_understood_as_people_write_them():
    assert run("preferences", "--label", "bad", input="95%\n10\n90 %\n\n4\n").exit_code == 0
    assert cp.Preferences.from_toml("preferences.toml").of("bad") == cp.Preference(4, 0.1, 0.9, min_recall=0.95)


def test_a_measure_stands_for_both_answers():
    done = run("preferences", "--label", "bad", input="\nF2\n\n1\n")
    assert done.exit_code == 0
    assert "recall of a precision" not in done.output
    assert cp.Preferences.from_toml("preferences.toml").of("bad") == cp.Preference(beta=2)
    plane = run(*PLANE, "--label", "bad", "--force", input="\nF2\n0.2\n0.9\n\n\n")
    assert "F2 is for metric f, the metric is kulczynski" in plane.output
    assert cp.Preferences.from_toml("preferences.toml").of("bad").answers == (0.2, 0.9)


def test_one_can_go_back():
    done = run("preferences", "--label", "bad", input="0.5\nback\n0.6\n0.1\nb\n0.2\n0.9\n\n2\n")
    assert done.exit_code == 0
    assert cp.Preferences.from_toml("preferences.toml").of("bad") == cp.Preference(2, 0.2, 0.9, min_recall=0.6)


@pytest.mark.parametrize("answer", ["nan", "1", "-0.1", "0,1", "ten"])
def test_preferences_asks_again(answer):
    done = run(*PLANE, "--label", "bad", input=f"\n{answer}\n0.2\n0.9\n\n10\n")
    assert done.exit_code == 0
    assert "this is a" in done.output
    preferences = cp.Preferences.from_toml("preferences.toml").of("bad")
    assert preferences == cp.Preference(
        10, 0.2, 0.9, min_precision=0.2
    )  # what one accepts is the floor, unless one says otherwise


@pytest.mark.parametrize("metric", ["f", "jaccard", "fowlkes_mallows"])
def test_preferences_need_no_floor_where_giving_up_is_not_rewarded(metric):
    assert run("preferences", "--label", "bad", "--metric", metric, input="\n0.2\n0.9\n\n10\n").exit_code == 0
    assert cp.Preferences.from_toml("preferences.toml").of("bad") == cp.Preference(10, 0.2, 0.9)


def test_input_that_ends_is_one_sentence():
    done = run("preferences", "--label", "bad", input="\n")
    assert done.exit_code == 2
    assert "standard input ended before every question was answered" in done.stderr
    assert not Path("preferences.toml").exists()


@pytest.fixture
def scored(tmp_path):
    """A table of probabilities, and its votes."""
    generator = np.random.default_rng(4)
    y = np.where(generator.random(400) < 0.2, "bad", "good")
    p_bad = 1 / (1 + np.exp(-generator.normal(size=400) - np.where(y == "bad", 1.0, -1.0)))
    lines = [f"{label},{p:.6f},{1 - p:.6f}" for label, p in zip(y, p_bad, strict=True)]
    Path("scored.csv").write_text("truth,p_bad,p_good\n" + "\n".join(lines))
    rounded = p_bad.round(6)
    return cp.Votes.from_proba(y.tolist(), np.c_[rounded, 1 - rounded], labels=["bad", "good"])


def test_choices_are_those_of_the_library(scored):
    """The same answers as in Python give the same preferences; one of them is taken back."""
    done = run(
        "preferences", "scored.csv", "--truth", "truth", "--proba", "p_", input="1\n2\n1\nback\n2\n=\n1\n2\n1\n2\n"
    )
    assert done.exit_code == 0, done.output
    answers = ["second", "second", "alike", "first", "second", "first", "second"]
    interview = cp.tradeoffs.Interview(scored, ["bad"], answers=answers)
    assert interview.question is None
    assert cp.Preferences.from_toml("preferences.toml") == interview.preferences()
    assert str(cp.tradeoffs.Interview(scored, ["bad"]).question) in done.output
    assert "Tuned to your choices: finds " in done.output


def test_one_may_stop_when_enough_was_said(scored):
    arguments = "preferences", "scored.csv", "--truth", "truth", "--proba", "p_", "--label", "bad"
    none = run(*arguments, input="stop\n")
    assert none.exit_code == 2
    assert "nothing was answered" in none.stderr
    done = run(*arguments, input="left\n1\nstop\n")
    assert "answer 1 or 2, = if they are alike" in done.output
    told = cp.tradeoffs.Interview(scored, ["bad"], answers=["first"]).preferences()
    assert cp.Preferences.from_toml("preferences.toml") == told


def test_too_many_classes_to_ask_about(tmp_path):
    (tmp_path / "many.csv").write_text("t\n" + "\n".join(f"c{k}" for k in range(51)))
    done = run("preferences", "--metric", "kulczynski", "many.csv", "--truth", "t")
    assert done.exit_code == 2
    assert "has 51 classes; name those that matter with --label" in done.stderr
