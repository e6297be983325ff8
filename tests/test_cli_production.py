"""compromis check and monitor, Markdown, and the options that came with them: each run as a user would."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import compromis as cp
from compromis._text import code, prose
from compromis.cli.run import in_options
from tests.command_line import run


def write(name, counts, truth=True):
    """Rows that come to these counts; probabilities that decide so."""
    lines = ["class,predicted,p_bad,p_good" if truth else "predicted,p_bad,p_good"]
    for (true, predicted), rows in counts.items():
        share = 0.9 if predicted == "bad" else 0.2
        lines += [(f"{true}," if truth else "") + f"{predicted},{share},{1 - share:.1f}"] * rows
    with open(name, "w") as file:
        file.write("\n".join(lines) + "\n")


SPRING = {("good", "good"): 950, ("good", "bad"): 50, ("bad", "good"): 10, ("bad", "bad"): 90}
AUTUMN = {("good", "good"): 1900, ("good", "bad"): 100, ("bad", "good"): 2, ("bad", "bad"): 18}
WORSE = {("good", "good"): 950, ("good", "bad"): 50, ("bad", "good"): 70, ("bad", "bad"): 30}


@pytest.fixture
def files(_in_an_empty_folder):
    for name, counts in {"spring.csv": SPRING, "autumn.csv": AUTUMN, "worse.csv": WORSE}.items():
        write(name, counts)
    write("unlabelled.csv", AUTUMN, truth=False)
    cp.Preferences({"bad": cp.Preference(10, min_precision=0.5, min_recall=0.8)}, metric="f").to_toml(
        "preferences.toml"
    )
    cp.Decision(("bad", "good"), [1.0, 1.0]).to_json("w.json")


CHECK = ("--truth", "class", "--prediction", "predicted", "--preferences", "preferences.toml")


class TestCheck:
    def test_met(self, files):
        done = run("check", "spring.csv", *CHECK)
        assert done.exit_code == 0
        assert "ok      precision of 'bad': 0.6429, at least 0.5" in done.output
        assert "The check of 1,100 rows passed." in done.output

    def test_missed(self, files):
        done = run("check", "worse.csv", *CHECK)
        assert done.exit_code == 1
        assert "MISSED  precision of 'bad': 0.3750, at least 0.5" in done.output
        assert "MISSED  recall of 'bad': 0.3000, at least 0.8" in done.output
        assert "failed: 2 of 2 are missed." in done.output

    def test_weights_decide_the_votes(self, files):
        votes = ("--truth", "class", "--proba", "p_", "--preferences", "preferences.toml")
        assert run("check", "spring.csv", *votes, "--weights", "w.json").exit_code == 0
        cp.Decision(("bad", "good"), [1.0, 100.0]).to_json("w.json")
        assert run("check", "spring.csv", *votes, "--weights", "w.json").exit_code == 1
        assert run("check", "spring.csv", *votes).exit_code == 0

    def test_a_largest_loss(self, files):
        assert run("check", "spring.csv", *CHECK, "--max-loss", "0.9").exit_code == 0
        done = run("check", "spring.csv", *CHECK, "--max-loss", "0.01")
        assert done.exit_code == 1
        assert re.search(r"MISSED  loss: 0\.\d{4}, at most 0.01", done.output)

    def test_json_and_markdown(self, files):
        document = json.loads(run("check", "worse.csv", *CHECK, "--json").output)
        assert document["passed"] is False
        assert [one["reached"] for one in document["conditions"]] == [0.375, 0.3]
        text = run("check", "worse.csv", *CHECK, "--markdown").output
        assert text.startswith("**compromis check: failed**\n\n- Loss ")
        assert "| <code>recall of &#39;bad&#39;</code> | 0.3000 | at least 0.8 | MISSED |" in text

    def test_a_class_that_is_never_decided_misses_its_precision(self, files):
        write("never.csv", {("good", "good"): 10, ("bad", "good"): 2})
        assert "MISSED  precision of 'bad': 0.0000" in run("check", "never.csv", *CHECK).output

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("spring.csv", "--truth", "class", "--prediction", "predicted"), "Missing option '--preferences'"),
            (
                ("spring.csv", "--truth", "class", "--preferences", "preferences.toml"),
                "give --prediction, or --proba with --weights",
            ),
            (("spring.csv", *CHECK, "--weights", "w.json"), "--weights decide columns of votes; give --proba"),
            (("spring.csv", *CHECK[:3], "nothing", *CHECK[4:]), "there is no column 'nothing'"),
            (("missing.csv", *CHECK), "there is no file 'missing.csv'"),
            (("spring.csv", *CHECK[:4], "--preferences", "none.toml"), "none.toml"),
            (("spring.csv", *CHECK[:4], "--preferences", "plain.toml"), "set no minimum"),
            (("spring.csv", *CHECK[:2], "--proba", "p_", *CHECK[4:], "--weights", "newer.json"), "update compromis"),
            (
                ("spring.csv", *CHECK[:2], "--proba", "p_", *CHECK[4:], "--weights", "other.json"),
                "no score column for 'ugly'",
            ),
        ],
    )
    def test_mistakes_exit_with_2(self, files, arguments, said):
        cp.Preferences().to_toml("plain.toml")
        newer = json.loads(cp.Decision(("bad", "good"), [1.0, 1.0]).to_json()) | {"version": 9}
        with open("newer.json", "w") as file:
            json.dump(newer, file)
        cp.Decision(("bad", "ugly"), [1.0, 1.0]).to_json("other.json")
        done = run("check", *arguments)
        assert done.exit_code == 2
        assert said in done.output
        assert "Traceback" not in done.output


WATCH = ("--truth", "class", "--proba", "p_", "--weights", "w.json", "--preferences", "preferences.toml")


class TestWatch:
    def test_over_time(self, files):
        done = run("monitor", "spring.csv", "autumn.csv", "worse.csv", "unlabelled.csv", *WATCH)
        assert done.exit_code == 1
        lines = done.output.splitlines()
        assert [line.split()[0] for line in lines[1:5]] == ["spring.csv", "autumn.csv", "worse.csv", "unlabelled.csv"]
        assert [line.endswith("NOT MET") for line in lines[1:5]] == [False, True, True, True]
        assert "autumn.csv: the class shares have changed ('bad' 9.1 % -> 1.0 %)" in done.output
        assert "worse.csv: the rows of 'bad' are predicted differently" in done.output

    def test_it_says_the_command(self, files):
        done = run("monitor", "spring.csv", "autumn.csv", *WATCH)
        command = (
            "compromis tune spring.csv --truth class --proba p_ --prevalence bad=0.009901 --prevalence good=0.9901"
        )
        assert command in done.output
        tune = run(*command.split()[1:], "--preferences", "preferences.toml", "--output", "new.json")
        assert tune.exit_code == 0
        assert cp.Decision.from_json("new.json").classes == ("bad", "good")

    def test_met(self, files):
        done = run(
            "monitor",
            "spring.csv",
            "spring.csv",
            "--truth",
            "class",
            "--prediction",
            "predicted",
            "--preferences",
            "preferences.toml",
        )
        assert done.exit_code == 0
        assert "Your preferences are met in every period." in done.output

    def test_a_reference_of_its_own(self, files):
        done = run("monitor", "unlabelled.csv", *WATCH, "--reference", "spring.csv", "--json")
        period = json.loads(done.output)["periods"][0]
        assert period["labelled"] is False
        # alarms: 118 of 2020; (118 / 2020 - 0.05) / (0.9 - 0.05)
        assert period["shares"][0] == pytest.approx((118 / 2020 - 0.05) / 0.85)

    def test_markdown(self, files):
        assert (
            "| <code>spring&#46;csv</code> | 1,100 |"
            in run("monitor", "spring.csv", "autumn.csv", *WATCH, "--markdown").output
        )

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("spring.csv", *WATCH[2:]), "give --truth"),
            (("unlabelled.csv", *WATCH), "there is no column 'class'"),
            (("spring.csv", *WATCH[:-2]), "say what matters"),
            (("spring.csv", "-", *WATCH), "standard input cannot be read twice"),
        ],
    )
    def test_mistakes(self, files, arguments, said):
        done = run("monitor", *arguments)
        assert done.exit_code == 2
        assert said in done.output


class TestEvaluate:
    def test_costs(self, files):
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

    def test_priors_are_those_of_the_library(self, files):
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

    def test_markdown(self, files):
        done = run("evaluate", "spring.csv", "--truth", "class", "--prediction", "predicted", "--markdown")
        assert done.output.startswith("**Evaluation of 1,100 rows, accuracy 0.945")
        assert "| <code>bad</code> | 100 | 140 | 0.900 | 0.643 |" in done.output

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (("--priors", "bad"), "write LABEL=SHARE"),
            (("--priors", "bad=x"), "write LABEL=SHARE"),
            (("--priors", "bad=1", "--priors", "bad=0"), "given twice"),
            (("--priors", "bad=1"), "--priors misses 'good'"),
            (("--priors", "bad=0.1", "--priors", "good=0.1"), "--priors are shares that sum to 1"),
            (("--priors", "bad=1", "--train-file", "spring.csv"), "give --priors or --train-file, not both"),
            (("--cost", "spring.csv"), "must name the same classes"),
            (("--cost", "three.csv", "--label", "bad", "--label", "good"), "the classes of --cost are"),
            (("--label", "bad"), "--label misses 'good'"),
        ],
    )
    def test_mistakes(self, files, options, said):
        with open("three.csv", "w") as file:
            file.write("true,a,b,c\na,0,1,1\nb,1,0,1\nc,1,1,0\n")
        done = run("evaluate", "spring.csv", "--truth", "class", "--prediction", "predicted", *options)
        assert done.exit_code == 2
        assert said in done.output

    def test_the_note_names_the_option(self, files):
        done = run("evaluate", "spring.csv", "--truth", "class", "--prediction", "predicted")
        assert "give --train-file for those of the training rows" in done.output
        assert "priors=" not in done.output


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("y_true has 3 rows, y_pred has 4", "the column of --truth has 3 rows, the column of --prediction has 4"),
        ("give one column per class, and labels= if a class does not occur", "give one column per class, and --label for each class if one does not occur"),
        ("labels misses 'x', which y_true has; add it to labels", "--label misses 'x', which the column of --truth has; give it with --label too"),
        ("or use metric f, which", "or use --metric f, which"),
    ],
)  # fmt: skip
def test_words(sentence, expected):
    assert in_options(sentence) == expected


HOSTILE = [
    "a|b",
    "<script>x</script>",
    "`tick`",
    "**bold**",
    "new\nline | x",
    "@someone",
    "#12",
    "[x](http://y)",
    "www.x.org",
    "a\\|b",
    "![i](j)",
    "&lt;",
]


@pytest.mark.parametrize("label", HOSTILE)
def test_markdown_shows_labels_as_they_are_and_nothing_else(label):
    markdown_it = pytest.importorskip("markdown_it", reason="markdown-it-py is not installed")
    result = cp.evaluate(
        [label, "x", label], [label, label, "x"], preferences=cp.Preferences({label: cp.Preference(min_precision=0.9)})
    )
    page = markdown_it.MarkdownIt("commonmark").enable("table").render(result.to_markdown())
    shown = label.replace("\n", "\\n")
    cells = [re.sub(r"</?code>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", page)]
    from html import unescape

    assert unescape(cells[0]) == shown or unescape(cells[10]) == shown
    assert len(re.findall(r"<tr>", page)) == 3 + 5 + 3  # the tables have the rows they should
    for mark in ("<script", "<strong>b", "<a ", "<img", "<em>"):
        assert mark not in page


def test_a_mention_is_none():
    assert "&#64;&#8203;someone" in prose("the recall of '@someone' is 0.5")
    assert code("@someone") == "<code>&#64;someone</code>"
    assert prose("loss 0.5, done.") == "loss 0.5, done."
