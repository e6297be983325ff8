"""The command line: the library's numbers, exit code 2 and one sentence for every mistake, and a quick --help."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import warnings
from pathlib import Path

import polars as pl
import pytest

import compromis as cp
from tests import command_line


def printed(evaluation):
    """The library's report; its one note that names a parameter names the option instead."""
    note = "pass priors= for those of the training rows"
    return str(evaluation).replace(note, "give --train-file for those of the training rows")


GIVEN = ["evaluate", "results.csv", "--truth", "truth", "--prediction", "decision"]
TRUTH, DECISION = ["bad", "good", "good", "NA", "bad", "01"], ["bad", "bad", "good", "NA", "good", "1"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    return command_line.run


@pytest.fixture
def table(tmp_path):
    rows = zip(TRUTH, DECISION, [1, 2, 1, 1, 1, 1], strict=True)
    path = tmp_path / "results.csv"
    path.write_text("truth,decision,weight\n" + "".join(f"{t},{d},{w}\n" for t, d, w in rows))
    return path


def test_evaluate_is_the_librarys(run, table):
    preferences = cp.Preferences.prioritise(["bad"])
    expected = cp.evaluate(TRUTH, DECISION, preferences=preferences)
    done = run("evaluate", table, "--truth", "truth", "--prediction", "decision", "--prioritise", "bad")
    assert done.exit_code == 0
    assert done.stdout == printed(expected)
    done = run("evaluate", table, "--truth", "truth", "--prediction", "decision", "--prioritise", "bad", "--json")
    assert json.loads(done.stdout) == json.loads(expected.to_json())


def test_weights_labels_index_and_preferences(run, table, tmp_path):
    preferences = cp.Preferences({"bad": cp.Preference(5, 0.2, 0.7)}, metric="f")
    preferences.to_toml(tmp_path / "preferences.toml")
    order = ["good", "bad", "NA", "01", "1", "absent"]
    labels = [part for label in order for part in ("--label", label)]
    done = run(
        "evaluate", table, "--truth", "truth", "--prediction", "decision", "--weight", "weight",
        "--preferences", "preferences.toml", "--metric", "fowlkes_mallows", *labels, "--json",
    )  # fmt: skip
    expected = cp.evaluate(
        TRUTH,
        DECISION,
        sample_weight=[1, 2, 1, 1, 1, 1],
        labels=order,
        preferences=preferences.with_metric("fowlkes_mallows"),
    )
    assert json.loads(done.stdout) == json.loads(expected.to_json())


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_scores(run, tmp_path, rng, suffix):
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


def test_a_warning_is_one_line(run, table):
    done = run(*GIVEN, "--prioritise", "bad", "--metric", "jaccard")
    assert done.exit_code == 0
    assert done.stderr.startswith("Warning: the weighted Jaccard metric")
    assert len(done.stderr.splitlines()) == 1


def test_standard_input(run, table):
    done = run("evaluate", "-", "--truth", "truth", "--prediction", "decision", input=table.read_text())
    assert done.stdout == printed(cp.evaluate(TRUTH, DECISION))


def test_missing_labels(run, tmp_path):
    (tmp_path / "m.csv").write_text("t,d\na,a\n,b\nb,b\n,a\n")
    done = run("evaluate", "m.csv", "--truth", "t", "--prediction", "d")
    assert done.exit_code == 2
    assert "column 't' of m.csv has 2 missing values (the first in data row 2)" in done.stderr
    done = run("evaluate", "m.csv", "--truth", "t", "--prediction", "d", "--drop-missing")
    assert done.exit_code == 0
    assert "left out 2 rows without a class" in done.stderr
    assert done.stdout == printed(cp.evaluate(["a", "b"], ["a", "b"]))


def test_preferences_asks_and_writes(run, table):
    answers = "10\n0.1\n0.9\n0.05\n" + "\n\n\n0\n"
    done = run("preferences", "--label", "bad", "--label", "good", "--output", "preferences.toml", input=answers)
    assert done.exit_code == 0, done.output
    preferences = cp.Preferences.from_toml("preferences.toml")
    assert preferences.of("bad") == cp.Preference(10, 0.1, 0.9, min_precision=0.05)
    assert preferences.of("good") == cp.Preference()
    assert "What precision would you accept for a recall of 1?" in done.stdout
    done = run("preferences", "--label", "bad", "--output", "preferences.toml", input=answers)
    assert done.exit_code == 2
    assert "preferences.toml exists already" in done.stderr
    done = run("preferences", table, "--truth", "truth", "--output", "w2.toml", input="\n" * 16)
    assert done.exit_code == 0
    assert set(cp.Preferences.from_toml("w2.toml").by_class) == set(TRUTH)


def test_preferences_refuses_a_percentage(run):
    done = run("preferences", "--label", "bad", input="10\n10\n0.1\n0.9\n0\n")
    assert "for 10 % write 0.1" in done.output
    assert cp.Preferences.from_toml("preferences.toml").of("bad").precision_at_full_recall == 0.1


@pytest.mark.parametrize("answer", ["nan", "1", "-0.1", "0,1", "ten"])
def test_preferences_asks_again(run, answer):
    done = run("preferences", "--label", "bad", input=f"10\n{answer}\n0.2\n0.9\n\n")
    assert done.exit_code == 0
    assert "this is a" in done.output
    preferences = cp.Preferences.from_toml("preferences.toml").of("bad")
    assert preferences == cp.Preference(
        10, 0.2, 0.9, min_precision=0.2
    )  # what one accepts is the floor, unless one says otherwise


@pytest.mark.parametrize("metric", ["f", "jaccard", "fowlkes_mallows"])
def test_preferences_need_no_floor_where_giving_up_is_not_rewarded(run, metric):
    assert run("preferences", "--label", "bad", "--metric", metric, input="10\n0.2\n0.9\n\n").exit_code == 0
    assert cp.Preferences.from_toml("preferences.toml").of("bad") == cp.Preference(10, 0.2, 0.9)


def test_help_names_every_command_and_loads_none(run):
    """Each command is a module of the package, and the list of them needs none."""
    said = run("--help").output
    folder = Path(cp.__file__).parent / "cli"
    commands = {
        file.stem
        for file in folder.glob("*.py")
        if "@click.command(" in file.read_text(encoding="utf-8") and file.stem != "regression"
    }  # evaluate's other half
    assert set(re.findall(r"^  (\w+)  +[A-Z]", said, re.MULTILINE)) == commands
    code = "import sys\nfrom compromis.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\nprint('\\n'.join(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert [name for name in commands if f"compromis.cli.{name}" in loaded] == []


@pytest.mark.parametrize(
    ("written", "advice"), [("evalute", "did you mean 'evaluate'?"), ("xyz", "the commands are evaluate, compare,")]
)
def test_a_command_that_is_not_there(run, written, advice):
    done = run(written, "a.csv")
    assert done.exit_code == 2
    assert f"there is no command {written!r}; {advice}" in done.stderr


def test_a_truth_column_that_looks_like_a_score(run, tmp_path):
    (tmp_path / "s.csv").write_text("p_truth,p_a,p_b\na,0.9,0.1\nb,0.2,0.8\n")
    assert run("evaluate", "s.csv", "--truth", "p_truth", "--proba", "p_").exit_code == 0


def test_arff_weights_are_used(run, tmp_path):
    (tmp_path / "w.arff").write_text(
        "@relation w\n@attribute t {a,b}\n@attribute d {a,b}\n@data\na,a,{3}\nb,a,{1}\n?,a,{7}\n"
    )
    done = run("evaluate", "w.arff", "--truth", "t", "--prediction", "d", "--drop-missing", "--json")
    assert json.loads(done.stdout)["counts"]["matrix"] == [[3.0, 0.0], [1.0, 0.0]]
    assert "left out 1 row without a class" in done.stderr


def test_too_many_classes_to_ask_about(run, tmp_path):
    (tmp_path / "many.csv").write_text("t\n" + "\n".join(f"c{k}" for k in range(51)))
    done = run("preferences", "many.csv", "--truth", "t")
    assert done.exit_code == 2
    assert "has 51 classes; name those that matter with --label" in done.stderr


def test_demo(run):
    done = run("demo")
    assert done.exit_code == 0
    assert "malignant" in done.stdout
    assert "Verdict: informative" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["evaluate", "nowhere.csv", "--truth", "t", "--prediction", "d"], "there is no file 'nowhere.csv'"),
        (["evaluate", "results.csv", "--truth", "trut", "--prediction", "decision"], "no column 'trut'; did you mean 'truth'?"),
        (["evaluate", "results.csv", "--truth", "truth"], "give --prediction, --proba, or both"),
        (["evaluate", "results.csv", "--truth", "truth", "--proba", "q_"], "no column is named 'q_' or starts with it"),
        ([*GIVEN, "--weight", "decision"], "must hold numbers, got 'bad' in data row 1"),
        ([*GIVEN, "--prioritise", "bda"], "which is neither in the data nor given with --label; did you mean 'bad'?"),
        ([*GIVEN, "--metric", "g"], "there is no metric 'g'"),
        ([*GIVEN, "--label", "bad"], "--label misses"),
        ([*GIVEN, "--preferences", "no.toml"], "no.toml: No such file"),
        ([*GIVEN, "--preferences", "a", "--prioritise", "b"], "not both"),
        (["evaluate", "-", "--truth", "truth", "--prediction", "decision"], "standard input is empty"),
        (["preferences"], "give FILE and --truth COL, or --label"),
        (["preferences", "--label", "a", "--metric", "nope"], "there is no metric 'nope'"),
        (["preferences", "results.csv", "--truth", "nope"], "there is no column 'nope'"),
        (["preferences", "--label", "a", "--output", "nowhere/preferences.toml"], "there is no folder nowhere"),
        (["preferences", "-", "--truth", "t"], "standard input is where your answers come from"),
    ],
)  # fmt: skip
def test_mistakes(run, table, arguments, said):
    done = run(*arguments, input="")
    assert done.exit_code == 2
    assert said in done.stderr
    assert "Traceback" not in done.output
    assert done.stdout == ""


def test_two_hundred_configurations(run, tmp_path, rng):
    """The command line and the library give the same JSON, whatever is asked for."""
    for number in range(200):
        classes = rng.choice(["a", "b", "NA", "01", "x y", "-1"], rng.integers(2, 6), replace=False)
        size = int(rng.integers(1, 30))
        truth, decision = rng.choice(classes, (2, size))
        decision[0] = truth[0]  # a label in common
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


@pytest.mark.parametrize("command", [["-m", "compromis", "--help"], ["-m", "compromis", "evaluate", "--help"]])
def test_help_imports_nothing_heavy(command):
    program = f"import sys, runpy; sys.argv = {['compromis', *command[2:]]!r}\n"
    program += "try: runpy.run_module('compromis', run_name='__main__')\nexcept SystemExit: pass\n"
    program += (
        "print([name for name in ('numpy', 'sklearn', 'numba', 'rich', 'jinja2', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "Usage" in done.stdout
