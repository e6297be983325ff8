"""compromis monitor: periods, advice, and the command that follows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import compromis as cp
from tests.cli.files import write
from tests.command_line import run

MONITOR = ("--truth", "class", "--proba", "p_", "--weights", "w.json", "--preferences", "preferences.toml")


def test_over_time(files):
    done = run("monitor", "spring.csv", "autumn.csv", "worse.csv", "unlabelled.csv", *MONITOR)
    assert done.exit_code == 1
    lines = done.output.splitlines()
    lines = [line for line in lines if ".csv  " in line]
    assert [line.split()[0] for line in lines] == ["spring.csv", "autumn.csv", "worse.csv", "unlabelled.csv"]
    assert ["NOT MET" in line for line in lines] == [False, True, True, True]
    said = " ".join(done.output.split())
    assert "Period autumn.csv: the class shares have changed ('bad' 9.1 % -> 1.0 %)" in said
    assert "Period worse.csv: the rows of 'bad' are predicted differently" in said
    assert "surely missed" in lines[2]
    assert done.output.startswith("Period unlabelled.csv: your preferences are not met (missed in 3 of 4 periods).")


def test_it_says_the_command(files):
    done = run("monitor", "spring.csv", "autumn.csv", *MONITOR)
    command = "compromis tune spring.csv --truth class --proba p_ --prevalence bad=0.009901 --prevalence good=0.9901"
    assert command in done.output
    tune = run(*command.split()[1:], "--preferences", "preferences.toml", "--output", "new.json")
    assert tune.exit_code == 0
    assert cp.Decision.from_json("new.json").classes == ("bad", "good")


def test_met(files):
    Path("summer.csv").write_bytes(Path("spring.csv").read_bytes())
    done = run(
        "monitor",
        "spring.csv",
        "summer.csv",
        "--truth",
        "class",
        "--prediction",
        "predicted",
        "--preferences",
        "preferences.toml",
    )
    assert done.exit_code == 0
    assert "Your preferences are met in every period." in done.output


def test_only_what_is_surely_missed_fails(files):
    write("few.csv", {("good", "good"): 50, ("bad", "bad"): 11, ("bad", "good"): 3})
    files_and_columns = (
        "monitor",
        "spring.csv",
        "few.csv",
        "--truth",
        "class",
        "--prediction",
        "predicted",
        "--preferences",
        "preferences.toml",
    )
    assert run(*files_and_columns).exit_code == 1
    assert run(*files_and_columns, "--fail-on", "surely-missed").exit_code == 0
    assert run(*files_and_columns, "--fail-on", "surely-missed", "--confidence", "0.01").exit_code == 1
    assert run("monitor", "spring.csv", "worse.csv", *MONITOR, "--fail-on", "surely-missed").exit_code == 1


def test_a_reference_of_its_own(files):
    done = run("monitor", "unlabelled.csv", *MONITOR, "--reference", "spring.csv", "--json")
    period = json.loads(done.output)["periods"][0]
    assert period["labelled"] is False
    # alarms: 118 of 2020; (118 / 2020 - 0.05) / (0.9 - 0.05)
    assert period["shares"][0] == pytest.approx((118 / 2020 - 0.05) / 0.85)


def test_markdown(files):
    assert (
        "| <code>spring&#46;csv</code> | 1,100 |"
        in run("monitor", "spring.csv", "autumn.csv", *MONITOR, "--markdown").output
    )
