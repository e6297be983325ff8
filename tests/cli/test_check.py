"""compromis check: exit codes, conditions, and what is refused."""

from __future__ import annotations

import json
import re

import compromis as cp
from tests.cli.files import write
from tests.command_line import run

CHECK = ("--truth", "class", "--prediction", "predicted", "--preferences", "preferences.toml")


def condition(output, name):
    """The cells of a condition, as one text: name, reached, asked, state, interval, what the interval says."""
    (line,) = [line for line in output.splitlines() if line.startswith(name)]
    return " ".join(line.split())


def test_met(files):
    done = run("check", "spring.csv", *CHECK)
    assert done.exit_code == 0
    assert condition(done.output, "precision of 'bad'").startswith("precision of 'bad' 0.6429 >= 0.5 met ")
    assert done.output.startswith("Check passed: none of 2 conditions is missed.\nFinds 90 of 100 bad (misses 10)")


def test_missed(files):
    done = run("check", "worse.csv", *CHECK)
    assert done.exit_code == 1
    assert condition(done.output, "precision of 'bad'").startswith("precision of 'bad' 0.3750 >= 0.5 MISSED ")
    assert condition(done.output, "recall of 'bad'").startswith("recall of 'bad' 0.3000 >= 0.8 MISSED ")
    assert done.output.startswith("Check failed: 2 of 2 conditions are missed.")


def test_weights_decide_the_votes(files):
    votes = ("--truth", "class", "--proba", "p_", "--preferences", "preferences.toml")
    assert run("check", "spring.csv", *votes, "--weights", "w.json").exit_code == 0
    cp.Decision(("bad", "good"), [1.0, 100.0]).to_json("w.json")
    assert run("check", "spring.csv", *votes, "--weights", "w.json").exit_code == 1
    assert run("check", "spring.csv", *votes).exit_code == 0


def test_a_largest_loss(files):
    assert run("check", "spring.csv", *CHECK, "--max-loss", "0.9").exit_code == 0
    done = run("check", "spring.csv", *CHECK, "--max-loss", "0.01")
    assert done.exit_code == 1
    assert re.match(r"loss 0\.\d{4} <= 0.01 MISSED ", condition(done.output, "loss "))


def test_json_and_markdown(files):
    document = json.loads(run("check", "worse.csv", *CHECK, "--json").output)
    assert document["passed"] is False
    assert [one["reached"] for one in document["conditions"]] == [0.375, 0.3]
    text = run("check", "worse.csv", *CHECK, "--markdown").output
    assert text.startswith("**check failed: 2 of 2 conditions are missed**\n\n- Finds ")
    assert re.search(
        r"\| <code>recall of &#39;bad&#39;</code> \| 0.3000 \| >= 0.8 \| MISSED \| [^|]* \| surely missed \|", text
    )


def test_only_what_is_surely_missed_fails(files):
    write("few.csv", {("good", "good"): 50, ("bad", "bad"): 11, ("bad", "good"): 3})
    done = run("check", "few.csv", *CHECK)
    assert done.exit_code == 1
    assert re.match(
        r"recall of 'bad' 0.7857 >= 0.8 MISSED .* not told apart$", condition(done.output, "recall of 'bad'")
    )
    assert run("check", "few.csv", *CHECK, "--fail-on", "surely-missed").exit_code == 0
    assert run("check", "few.csv", *CHECK, "--fail-on", "surely-missed", "--confidence", "0.01").exit_code == 1
    assert run("check", "worse.csv", *CHECK, "--fail-on", "surely-missed").exit_code == 1


def test_a_quiet_day_without_the_rare_class(files):
    write("quiet.csv", {("good", "good"): 50})
    done = run("check", "quiet.csv", *CHECK, "--max-loss", "0.9")
    assert done.exit_code == 2
    assert "--label" in done.output
    assert run("check", "quiet.csv", *CHECK, "--max-loss", "0.9", "--label", "bad").exit_code == 0


def test_a_class_that_is_never_predicted_misses_its_precision(files):
    write("never.csv", {("good", "good"): 10, ("bad", "good"): 2})
    told = condition(run("check", "never.csv", *CHECK).output, "precision of 'bad'")
    assert told.startswith("precision of 'bad' 0.0000 >= 0.5 MISSED")


def test_minima_in_each_group_as_in_python(files):
    true = ["bad"] * 20 + ["good"] * 20
    predicted = ["bad"] * 10 + ["bad"] * 7 + ["good"] * 3 + ["good"] * 20  # south finds 7 of 10
    sites = [*["north"] * 10, *["south"] * 10] * 2
    lines = [f"{t},{p},{s},{p == 'bad':d},{p != 'bad':d}" for t, p, s in zip(true, predicted, sites, strict=True)]
    with open("sites.csv", "w") as file:
        file.write("\n".join(["class,predicted,site,p_bad,p_good", *lines]) + "\n")
    preferences = cp.Preferences.from_toml("preferences.toml")
    expected = cp.check(cp.evaluate(true, predicted, by=sites, preferences=preferences, confidence=0.95))
    done = run("check", "sites.csv", *CHECK, "--by", "site")
    assert done.exit_code == 1
    assert str(done.output).splitlines() == str(expected).splitlines()
    assert condition(done.output, "south: recall of 'bad'").startswith("south: recall of 'bad' 0.7000 >= 0.8 MISSED ")
    assert "north: recall of 'bad'" in done.output
    votes = ("--truth", "class", "--proba", "p_", "--preferences", "preferences.toml", "--by", "site")
    assert run("check", "sites.csv", *votes).output == done.output
    assert run("check", "sites.csv", *CHECK).exit_code == 0


def test_one_condition_reads_as_one(files):
    with open("one.toml", "w") as file:
        file.write('[[class]]\nlabel = "bad"\nmin_recall = 0.8\n')
    one = (*CHECK[:-1], "one.toml")
    assert run("check", "spring.csv", *one).output.startswith("Check passed: the condition is not missed.")
    assert run("check", "worse.csv", *one).output.startswith("Check failed: the condition is missed.")
