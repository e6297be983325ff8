"""compromis preferences: questions, answers, and a file."""

from __future__ import annotations

import pytest

import compromis as cp
from tests.cli.files import TRUTH
from tests.command_line import run


def test_preferences_asks_and_writes(table):
    answers = "10\n0.1\n0.9\n0.05\n" + "\n\n\n0\n"
    done = run(
        "preferences",
        "--metric",
        "kulczynski",
        "--label",
        "bad",
        "--label",
        "good",
        "--output",
        "preferences.toml",
        input=answers,
    )
    assert done.exit_code == 0, done.output
    preferences = cp.Preferences.from_toml("preferences.toml")
    assert preferences.of("bad") == cp.Preference(10, 0.1, 0.9, min_precision=0.05)
    assert preferences.of("good") == cp.Preference(1, 0.8, 0.8)
    assert "What precision would you accept for a recall of 1?" in done.stdout
    done = run("preferences", "--metric", "kulczynski", "--label", "bad", "--output", "preferences.toml", input=answers)
    assert done.exit_code == 2
    assert "preferences.toml exists already" in done.stderr
    done = run(
        "preferences", "--metric", "kulczynski", table, "--truth", "truth", "--output", "w2.toml", input="\n" * 16
    )
    assert done.exit_code == 0
    assert set(cp.Preferences.from_toml("w2.toml").by_class) == set(TRUTH)


def test_preferences_refuses_a_percentage():
    done = run("preferences", "--metric", "kulczynski", "--label", "bad", input="10\n10\n0.1\n0.9\n0\n")
    assert "for 10 % write 0.1" in done.output
    assert cp.Preferences.from_toml("preferences.toml").of("bad").precision_at_full_recall == 0.1


@pytest.mark.parametrize("answer", ["nan", "1", "-0.1", "0,1", "ten"])
def test_preferences_asks_again(answer):
    done = run("preferences", "--metric", "kulczynski", "--label", "bad", input=f"10\n{answer}\n0.2\n0.9\n\n")
    assert done.exit_code == 0
    assert "this is a" in done.output
    preferences = cp.Preferences.from_toml("preferences.toml").of("bad")
    assert preferences == cp.Preference(
        10, 0.2, 0.9, min_precision=0.2
    )  # what one accepts is the floor, unless one says otherwise


@pytest.mark.parametrize("metric", ["f", "jaccard", "fowlkes_mallows"])
def test_preferences_need_no_floor_where_giving_up_is_not_rewarded(metric):
    assert run("preferences", "--label", "bad", "--metric", metric, input="10\n0.2\n0.9\n\n").exit_code == 0
    assert cp.Preferences.from_toml("preferences.toml").of("bad") == cp.Preference(10, 0.2, 0.9)


def test_too_many_classes_to_ask_about(tmp_path):
    (tmp_path / "many.csv").write_text("t\n" + "\n".join(f"c{k}" for k in range(51)))
    done = run("preferences", "--metric", "kulczynski", "many.csv", "--truth", "t")
    assert done.exit_code == 2
    assert "has 51 classes; name those that matter with --label" in done.stderr
