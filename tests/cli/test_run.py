"""The program: help without loading, one sentence and exit code 2 for every mistake, no orders to the terminal."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

import compromis as cp
from compromis.cli import main
from tests.cli.files import GIVEN
from tests.command_line import run


def test_a_warning_is_one_line(table):
    done = run(*GIVEN, "--prioritise", "bad", "--metric", "jaccard")
    assert done.exit_code == 0
    assert done.stderr.startswith("Warning: the weighted Jaccard metric")
    assert len(done.stderr.splitlines()) == 1


def test_help_names_every_command_and_loads_none():
    """Each command is a module of the package, and the list of them needs none."""
    said = run("--help").output
    folder = Path(cp.__file__).parent / "cli"
    commands = {
        file.stem
        for file in folder.glob("*.py")
        if re.search(r"^@click.(command|group)\(", file.read_text(encoding="utf-8"), re.MULTILINE)
        and file.stem not in ("regression", "run")
    }  # evaluate's other half
    assert set(re.findall(r"^  (\w+)  +[A-Z]", said, re.MULTILINE)) == commands
    code = "import sys\nfrom compromis.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\nprint('\\n'.join(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert [name for name in commands if f"compromis.cli.{name}" in loaded] == []


@pytest.mark.parametrize(
    ("written", "advice"), [("evalute", "did you mean 'evaluate'?"), ("xyz", "the commands are demo, studio,")]
)
def test_a_command_that_is_not_there(written, advice):
    done = run(written, "a.csv")
    assert done.exit_code == 2
    assert f"there is no command {written!r}; {advice}" in done.stderr


def test_commands_that_sentences_name_have_the_options_named():
    """Help, pages and the studio's scripts send their readers to other commands."""
    named = re.compile(r"compromis ([a-z]+)((?: [^ '’`\"<]+)+)")
    for path in Path(cp.__file__).parent.rglob("*"):
        if path.suffix in (".py", ".js", ".html"):
            for command, rest in named.findall(path.read_text(encoding="utf-8")):
                known = main.get_command(None, command)
                wanted = {word for word in rest.split() if re.fullmatch(r"--[a-z-]+", word)} - {"--help"}
                if wanted and command != "labels":  # which has commands of its own
                    assert known is not None, (path.name, command)
                    assert wanted <= {name for one in known.params for name in one.opts}, (path.name, command, wanted)


def test_demo():
    done = run("demo")
    assert done.exit_code == 0
    assert "40 more strokes found, for 159 more false alarms." in done.stdout
    assert "better than no model" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize("command", [["-m", "compromis", "--help"], ["-m", "compromis", "evaluate", "--help"]])
def test_help_imports_nothing_heavy(command):
    program = f"import sys, runpy; sys.argv = {['compromis', *command[2:]]!r}\n"
    program += "try: runpy.run_module('compromis', run_name='__main__')\nexcept SystemExit: pass\n"
    program += "print([name for name in ('numpy', 'sklearn', 'rich', 'jinja2', 'matplotlib') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "Usage" in done.stdout


BAD = "\x1b[2J\x07x\x9b31m"
HOSTILE = {
    "tune": ["tune", "FILE", "--truth", "truth", "--proba", "p_", "--prioritise", BAD],
    "evaluate": ["evaluate", "FILE", "--truth", "truth", "--prediction", "d", "--prioritise", BAD],
    "evaluate scores": ["evaluate", "FILE", "--truth", "truth", "--proba", "p_", "--confidence", "0.9"],
    "tradeoff": ["tradeoff", "FILE", "--truth", "truth", "--score", f"p_{BAD}", "--pos-label", BAD],
    "compare": ["compare", "FILE", "--truth", "truth", "--prediction", "d", "--prediction", f"e{BAD}"],
    "preferences": ["preferences", "--label", BAD, "--label", "b", "--output", "preferences.toml"],
    "count": ["count", "FILE", "--truth", "truth", "--prediction", "d", "--output", "part.json"],
    "a column that is not there": ["evaluate", "FILE", "--truth", BAD, "--prediction", "d"],
    "a file that is not there": ["evaluate", f"no{BAD}.csv", "--truth", "truth", "--prediction", "d"],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_control_character_reaches_the_terminal(name, tmp_path):
    path = tmp_path / "rows.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["truth", "d", f"e{BAD}", f"p_{BAD}", "p_b"])
        writer.writerows(
            [BAD if k % 2 else "b", BAD if k % 3 else "b", BAD if k % 5 else "b", 1 + k % 3, 2] for k in range(20)
        )
    arguments = [str(path) if part == "FILE" else part for part in HOSTILE[name]]
    # without color=True click leaves colours out itself
    done = CliRunner().invoke(main, arguments, input="\n" * 20, color=True)
    assert done.exit_code == (2 if "not there" in name else 0), done.output
    found = [line for line in done.output.splitlines() if not line.isprintable()]
    assert found == []


def test_a_name_of_two_lines_forges_none_in_a_comparison():
    points = cp.OperatingPoints.from_predictions([0, 1, 0, 1], [0.1, 0.9, 0.4, 0.6], pos_label=1)
    bad, plain = "a\nforged by a name", "a forged by a name "
    texts = [cp.compare_curves({name: points, "b": points}, metric="f").report() for name in (bad, plain)]
    assert [len(text.splitlines()) for text in texts] == [len(texts[1].splitlines())] * 2
    assert r"a\nforged by a name" in texts[0]


def test_a_column_called_like_a_parameter_keeps_its_name(tmp_path):
    (tmp_path / "p.csv").write_text("y_true,y_pred\na,a\nb,a\n")
    done = run("evaluate", "p.csv", "--truth", "y_true", "--prediction", "y_prd")
    assert done.exit_code == 2
    said = "there is no column 'y_prd' (did you mean 'y_pred'?); the columns are 'y_true', 'y_pred'"
    assert done.stderr == f"Error: {said}\n"
    done = run("evaluate", "p.csv", "--truth", "y_true", "--prediction", "y_pred", "--label", "a")
    assert "Error: --label misses 'b', which the data has; add it" in done.stderr


@pytest.mark.parametrize("command", ["evaluate", "report", "tune"])
def test_scores_of_one_class_alone_are_refused_by_the_option_that_was_given(tmp_path, command):
    (tmp_path / "p.csv").write_text("t,risk_ill\nill,0.9\nwell,0.1\n")
    done = run(command, "p.csv", "--truth", "t", "--proba", "risk_ill", "--prioritise", "ill")
    assert done.exit_code == 2
    assert done.stderr.startswith(
        "Error: --proba (one column per class) finds 'risk_ill' alone; give one for each class"
    )


@pytest.mark.parametrize("name", ["y_true", "y_proba", "labels", "sample_weight", "priors"])
def test_a_label_called_like_a_parameter_keeps_its_name(tmp_path, name):
    (tmp_path / "p.csv").write_text(f"t,d,w\n{name},a,1\na,{name},-1\n")
    given = ["evaluate", "p.csv", "--truth", "t", "--prediction", "d"]
    assert f"there is a preference for '{name}s'" in run(*given, "--prioritise", f"{name}s").stderr
    assert f"did you mean '{name}'?" in run(*given, "--prioritise", f"{name}s").stderr
    assert f"--label misses '{name}', which" in run(*given, "--label", "a").stderr
    weighted = run(*given, "--weight", "w").stderr
    assert weighted.startswith("Error: the column of --weight must be finite and at least 0, got -1 in data row 2")


def test_rows_are_counted_from_1_whether_they_are_added_up_or_held(tmp_path):
    (tmp_path / "p.csv").write_text("t,d,g,w,p_a,p_b\na,a,x,1,1,0\nb,a,y,-2,-1,1\n")
    given = ["p.csv", "--truth", "t"]
    for more in ([], ["--group", "g"]):
        assert "got -2 in data row 2" in run("evaluate", *given, "--prediction", "d", "--weight", "w", *more).stderr
    for command in (["evaluate"], ["count", "--output", "out.json"], ["tune", "--prioritise", "a", "--by", "g"]):
        assert "got -1 in data row 2" in run(*command, *given, "--proba", "p_").stderr


def test_help_is_nearly_as_quick_as_click():
    """The best of several runs: this machine does other things too."""

    def seconds(*command):
        begin = time.perf_counter()
        subprocess.run([sys.executable, *command], capture_output=True, check=True)
        return time.perf_counter() - begin

    plain, ours = (
        min(seconds(*command) for _ in range(7)) for command in (("-c", "import click"), ("-m", "compromis", "--help"))
    )
    assert ours < 1.5 * plain + 0.05


@pytest.mark.skipif(sys.platform == "win32", reason="what another process has computed is not told there")
def test_a_small_file_is_evaluated_within_a_second(tmp_path):
    """From a cold process; by the processor's time, as this machine does other things too."""
    import resource

    (tmp_path / "x.csv").write_text("t,p\n" + "a,a\nb,a\n" * 500)
    command = [
        sys.executable,
        "-m",
        "compromis",
        "evaluate",
        str(tmp_path / "x.csv"),
        "--truth",
        "t",
        "--prediction",
        "p",
    ]

    def seconds():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = seconds()
    subprocess.run(command, capture_output=True, check=True)
    assert seconds() - before < 1


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Files of every kind that a command reads."""
    monkeypatch.chdir(tmp_path)
    folder = Path("folder")
    folder.mkdir()
    rows = "t,d,p_a,p_b\n" + "a,a,0.9,0.1\nb,b,0.2,0.8\nb,a,0.7,0.3\n" * 20
    for path in (Path("x.csv"), folder / "y.csv"):
        path.write_text(rows)
    for part in ("one.json", "two.json"):
        assert run("count", "x.csv", "--truth", "t", "--prediction", "d", "--output", part).exit_code == 0
    cp.Preferences({"a": 5}).to_toml("wanted.toml")
    Path("link.csv").symlink_to("x.csv")
    Path("model").write_text("no model")


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (["count", "x.csv", "--truth", "t", "--prediction", "d"], "x.csv"),
        (["count", "x.csv", "--truth", "t", "--prediction", "d"], "./link.csv"),
        (["count", "link.csv", "--truth", "t", "--prediction", "d"], "folder/../x.csv"),
        (["count", "folder", "--truth", "t", "--prediction", "d"], "folder/y.csv"),
        (["count", "fol*/*.csv", "--truth", "t", "--prediction", "d"], "folder/y.csv"),
        (["merge", "one.json", "two.json"], "two.json"),
        (["merge", "one.json", "two.json", "--preferences", "wanted.toml"], "wanted.toml"),
        (["tune", "x.csv", "--truth", "t", "--proba", "p_", "--preferences", "wanted.toml"], "wanted.toml"),
        (["tune", "x.csv", "--truth", "t", "--proba", "p_", "--prioritise", "a"], "x.csv"),
        (["fit", "x.csv", "--target", "t", "--prioritise", "a"], "x.csv"),
        (["predict", "model", "x.csv"], "model"),
        (["predict", "model", "x.csv"], "x.csv"),
        (["report", "x.csv", "--truth", "t", "--prediction", "d"], "x.csv"),
        (["preferences", "x.csv", "--truth", "t", "--force"], "x.csv"),
    ],
)
def test_no_command_writes_what_it_reads(arguments, output):
    before = Path(output).read_bytes()
    done = run(*arguments, "--output", output)
    assert done.exit_code == 2, done.output
    assert done.stderr == f"Error: {output} is read by this command; write elsewhere with --output\n"
    assert Path(output).read_bytes() == before


@pytest.mark.usefixtures("written")
def test_standard_input_is_read_too():
    command = [
        sys.executable,
        "-m",
        "compromis",
        "count",
        "-",
        "--truth",
        "t",
        "--prediction",
        "d",
        "--output",
        "x.csv",
    ]
    before = Path("x.csv").read_bytes()
    with Path("x.csv").open("rb") as stream:
        done = subprocess.run(command, stdin=stream, capture_output=True, text=True, check=False)
    assert (done.returncode, Path("x.csv").read_bytes()) == (2, before)
    assert done.stderr == "Error: x.csv is read by this command; write elsewhere with --output\n"


@pytest.mark.usefixtures("written")
def test_an_output_of_an_earlier_run_is_replaced():
    assert run("count", "x.csv", "--truth", "t", "--prediction", "d", "--output", "one.json").exit_code == 0
    assert run("merge", "one.json", "two.json", "--output", "all.json").exit_code == 0
    assert run("merge", "one.json", "two.json", "--output", "all.json").exit_code == 0
