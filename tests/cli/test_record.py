"""compromis record, check --record, monitor --state and --by: the walk from votes to a signature, and what fails."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest

import compromis as cp
from compromis.evaluation.record import fingerprint
from tests.command_line import run

VOTES = ("--truth", "class", "--proba", "p_")


def rows(name, number=900, seed=0, shift=2.0):
    rng = np.random.default_rng(seed)
    ill = rng.random(number) < 0.3
    site = rng.integers(2, size=number)
    share = np.round(1 / (1 + np.exp(1 - rng.normal(shift * ill - 0.4 * site * ill))), 3)
    lines = [
        f"{['ill', 'well'][not sick]},{p},{1 - p:.3f},{['north', 'south'][s]}"
        for sick, p, s in zip(ill, share, site, strict=True)
    ]
    Path(name).write_text("class,p_ill,p_well,site\n" + "\n".join(lines) + "\n")


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """rows.csv, wanted.toml, weights.json, evidence.json, record.json and record.html in an empty folder."""
    monkeypatch.chdir(tmp_path)
    rows("rows.csv")
    cp.Preferences({"ill": cp.Preference(3, min_recall=0.8, confidence=0.95)}).to_toml("wanted.toml")
    tuned = run(
        "tune", "rows.csv", *VOTES, "--preferences", "wanted.toml", "--output", "weights.json", "--evidence", "evidence.json"
    )  # fmt: skip
    assert tuned.exit_code == 0, tuned.output
    done = run(
        "record", "evidence.json", "--weights", "weights.json", "--preferences", "wanted.toml", "--title", "Screening", "--collected",
        "in May", "--valid-until", "2099-12-31", "--output", "record.json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    return done


def test_from_votes_to_a_page_to_sign(recorded):
    assert "Guarantee: recall of 'ill' at least 0.8 on new rows" in recorded.output
    assert "Screening" in Path("record.html").read_text()
    verified = run("record", "evidence.json", "--verify", "record.json")
    assert verified.exit_code == 0
    assert "every number of record.json follows from evidence.json" in verified.output
    assert json.loads(Path("record.json").read_text())["facts"]["valid_until"] == "2099-12-31"


def test_what_nobody_can_compute_again_is_said(recorded):
    assert "are the word of who recorded it\n" in run("record", "evidence.json", "--verify", "record.json").output
    document = json.loads(Path("record.json").read_text()) | {"compromis": "9.9\x1b[2J", "limits": []}
    del document["seal"]
    document["seal"] = fingerprint(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")
    Path("record.json").write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")
    done = run("record", "evidence.json", "--verify", "record.json")
    assert done.exit_code == 0
    assert "in the words of compromis '9.9\\x1b[2J', which were not compared" in done.output


def test_evidence_that_keeps_rows_back_is_refused(recorded):
    Path("coarse.csv").write_text("class,p_ill,p_well\n" + "ill,0.9,0.1\nwell,0.2,0.8\n" * 40 + "well,0.5,0.5\n")
    assert run("count", "coarse.csv", *VOTES, "--min-cell", "3", "--output", "kept.json").exit_code == 0
    done = run(
        "record", "kept.json", "--weights", "weights.json", "--preferences", "wanted.toml", "--output", "no.json"
    )
    assert done.exit_code == 2
    assert "kept.json keeps cells back" in done.stderr
    assert not Path("no.json").exists()


def test_a_changed_byte_is_refused(recorded):
    Path("record.json").write_text(Path("record.json").read_text().replace("Screening", "Screaming"))
    done = run("record", "evidence.json", "--verify", "record.json")
    assert done.exit_code == 2
    assert done.stderr == "Error: record.json was changed after it was written: its seal does not fit\n"


def test_check_reads_the_record(recorded):
    held = run("check", "evidence.json", "--record", "record.json", "--weights", "weights.json")
    assert held.exit_code == 0
    assert held.output == "The record holds: same decision, same evidence, still valid.\n"
    rows("new.csv", seed=1)
    assert run("check", "new.csv", "--record", "record.json", *VOTES).exit_code == 0
    rows("worse.csv", seed=2, shift=1.0)
    assert run("check", "worse.csv", "--record", "record.json", *VOTES).exit_code == 1
    cp.Decision(("ill", "well"), [1.0, 9.0]).to_json("other.json")
    for given in (("evidence.json",), ("new.csv", *VOTES)):
        done = run("check", *given, "--record", "record.json", "--weights", "other.json")
        assert done.exit_code == 2
        assert "other.json holds another decision than record.json" in done.output


def test_a_lapsed_record_fails_the_check(recorded):
    run(
        "record", "evidence.json", "--weights", "weights.json", "--preferences", "wanted.toml", "--valid-until", "2020-01-01", "--output",
        "old.json",
    )  # fmt: skip
    done = run("check", "evidence.json", "--record", "old.json")
    assert done.exit_code == 1
    assert "lapsed on 2020-01-01" in done.output


def test_a_decision_alone_is_recorded_without_its_search(recorded):
    cp.Decision.from_json("weights.json").to_json("rule.json")
    done = run(
        "record",
        "evidence.json",
        "--weights",
        "rule.json",
        "--preferences",
        "wanted.toml",
        "--output",
        "rule_record.json",
    )
    assert done.exit_code == 0
    assert "weights: given" in done.output
    assert json.loads(Path("rule_record.json").read_text())["guarantee"] is None
    checked = run("check", "evidence.json", "--record", "rule_record.json")
    assert checked.exit_code == 1
    assert "nothing is guaranteed" in checked.output


def test_tests_of_minima_are_carried_on_from_run_to_run(recorded):
    arguments = (
        "--reference",
        "rows.csv",
        *VOTES,
        "--weights",
        "weights.json",
        "--preferences",
        "wanted.toml",
        "--state",
        "state.json",
    )
    rows("monday.csv", seed=3)
    assert run("monitor", "monday.csv", *arguments).exit_code == 0
    rows("tuesday.csv", seed=4, shift=1.0)
    alarmed = run("monitor", "tuesday.csv", *arguments)
    assert alarmed.exit_code == 1
    assert "ALARM: recall of 'ill' has fallen below 0.8" in alarmed.output
    state = cp.drift.AnytimeTests.from_json("state.json")
    assert state.periods == ("monday.csv", "tuesday.csv")
    again = run("monitor", "tuesday.csv", *arguments)
    assert again.exit_code == 2
    assert "'tuesday.csv' were added to the tests before" in again.output


def test_by_is_the_librarys(recorded):
    table = np.genfromtxt("rows.csv", delimiter=",", dtype=str, skip_header=1)
    preferences = cp.Preferences.from_toml("wanted.toml")
    expected = cp.search_weights(
        table[:, 0], table[:, 1:3].astype(float), preferences=preferences, by=table[:, 3], labels=["ill", "well"], random_state=0
    )  # fmt: skip
    done = run("tune", "rows.csv", *VOTES, "--by", "site", "--preferences", "wanted.toml", "--json")
    document = json.loads(done.stdout)
    assert document["weights"] == pytest.approx(expected.weights.tolist(), rel=1e-12)
    assert [item["group"] for item in document["guarantee"]["items"]] == ["north", "south"]
    shown = run("evaluate", "rows.csv", *VOTES, "--by", "site", "--preferences", "wanted.toml", "--json")
    assert {row["group"] for row in json.loads(shown.stdout)["by"]} == {"north", "south"}
    fitted = run(
        "fit",
        "rows.csv",
        "--target",
        "class",
        "--by",
        "site",
        "--trees",
        10,
        "--preferences",
        "wanted.toml",
        "--output",
        "m",
    )
    assert "of group 'south'" in fitted.output
