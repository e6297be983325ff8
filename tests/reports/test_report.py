"""The report: what its page holds, and the ways to make it."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import compromis as cp
from compromis.cli.run import main
from compromis.errors import InputError
from compromis.reports.page import embedded

SECTIONS = ["headline", "verdict", "knobs", "classes", "confusion", "votes", "curves", "weights", "preferences", "how"]


def voted(classes: int, rows: int, trees: int = 50, seed: int = 0):
    """Votes of trees and true classes, named after letters."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    chances = rng.dirichlet(np.full(classes, 0.3), rows) * 0.5 + 0.5 * np.eye(classes)[y]
    names = np.array([chr(65 + k) for k in range(classes)])
    return np.array([rng.multinomial(trees, chance) for chance in chances]) / trees, names[y], names.tolist()


@pytest.fixture(scope="module")
def result():
    votes, y, labels = voted(3, 300)
    preferences = cp.Preferences({"A": cp.Preference(10, 0.2, 0.9, min_precision=0.3)}, metric="f")
    return cp.evaluate(y, y_proba=votes, labels=labels, preferences=preferences, confidence=0.95)


def content_of(page: str) -> dict:
    return json.loads(re.search(r'id="content">(.*?)</script>', page, re.DOTALL)[1])


def test_every_section_is_there_and_says_what_the_evaluation_says(result, tmp_path):
    page = result.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    assert re.findall(r'<section id="(\w+)"', page) == SECTIONS
    text = html.unescape(page)
    for sentence in result.findings(heading=""):
        assert sentence[0].upper() + sentence[1:] in text
    for line in result.preferences.describe().split("\n"):
        assert line in text
    for one in result.per_class.values():
        assert f"{one.recall:.3f}" in page
    interval = result.intervals.per_class["A"]["recall"]
    assert f"on rows like these {100 * interval.low:.1f} to {100 * interval.high:.1f} % of" in page
    assert f"{interval.low:.3f} to {interval.high:.3f}" in page
    assert content_of(page)["matrix"] == result.counts.matrix.tolist()


def test_a_verdict_that_tuning_would_change_says_so_and_the_weights_say_all_of_what_they_do():
    truth = np.array(
        ["pulmonary embolism, segmental or more central"] * 20 + ["no acute cardiopulmonary diagnosis"] * 80
    )
    score = np.where(truth == truth[0], 0.4, 0.1)  # found by any threshold below 0.4, missed by the highest score
    page = cp.report(cp.evaluate(truth, y_proba=np.c_[1 - score, score], preferences={truth[0]: 10}))
    assert (page.evaluation.verdict.state, page.tuned.verdict.loss) == ("no better", 0)
    assert "tuned on these rows, the loss is 0.0000, below" in page.html
    told = "finds 20 of 20 rows of class &#39;pulmonary embolism, …tal or more central&#39; (misses none), no false alarms. The weights"
    assert told in page.html
    better = cp.report(
        cp.evaluate(truth, y_proba=np.c_[score < 0.2, score > 0.2].astype(float), preferences={truth[0]: 10})
    )
    assert "Tuning may help" not in better.html
    blind = np.c_[1 - np.tile([0.1, 0.2], 50), np.tile([0.1, 0.2], 50)]  # the score knows nothing of the class
    worthless = cp.report(cp.evaluate(truth, y_proba=blind, preferences={truth[0]: cp.Preference(10, 0.1, 0.9)}))
    assert worthless.evaluation.verdict.state == "no better"
    assert "Tuning alone does not help: even tuned" in worthless.html


def test_the_page_holds_evidence_that_gives_the_same_counts(result):
    report = cp.report(result)
    panel = content_of(report.html)["panel"]
    assert panel["before"] == result.counts.matrix.tolist()
    assert (report.weights.tolist(), panel["weights"], panel["weighed"]) == ([1, 1, 1], [1, 1, 1], True)
    assert panel["counts"] == result.counts.matrix.tolist()
    best = cp.search_weights(result.votes, preferences=result.preferences, random_state=0)
    assert report.search.loss == pytest.approx(best.loss, rel=0.005)
    assert report.tuned.counts.matrix.tolist() == result.votes.counts(report.search.weights).matrix.tolist()
    assert panel["evidence"]["patterns"] < len(result.votes)


def test_the_policy_holds_the_hashes_of_script_and_style(result):
    page = cp.report(result).html
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    for tag in (r'<script type="module">(.*?)</script>', r"<style>(.*?)</style>"):
        (text,) = re.findall(tag, page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert re.findall(r"\son\w+=|\sstyle=|src=|https?://", page.split("<script")[0]) == []


def test_json_inside_a_page_ends_nothing():
    text = "</script><!--<script>&\u2028\u2029"
    inside = str(embedded({"a": text}))
    assert not re.search("[<>&\u2028\u2029]", inside)
    assert json.loads(inside) == {"a": text}


def test_twenty_six_classes_fit_into_two_megabytes_in_three_seconds():
    votes, y, labels = voted(26, 20_000)
    preferences = cp.Preferences.prioritise(list("AEIOU"), metric="f")
    result = cp.evaluate(y, y_proba=votes, labels=labels, preferences=preferences)
    cp.report(
        cp.evaluate(y[:300], y_proba=votes[:300], labels=labels, preferences=preferences)
    )  # kernels and templates are loaded
    begin = time.process_time()
    page = cp.report(result).html
    assert (
        time.process_time() - begin < 6
    )  # the target is 3 s of wall clock on a quiet machine, see benchmarks/bench_panel.py
    assert len(page.encode()) < 2_200_000
    assert "y_proba" not in content_of(page)["panel"]


def test_weights_given_are_shown_and_not_searched(result):
    report = cp.report(result, weights=[2.0, 1.0, 1.0], title="Weighed", command="make it")
    assert report.search is None
    assert content_of(report.html)["panel"]["weights"] == [2.0, 1.0, 1.0]
    assert "<h1>Weighed</h1>" in report.html
    assert "<code>make it</code>" in report.html


def test_votes_alone_make_a_report():
    votes, y, labels = voted(3, 200)
    patterns = cp.Votes.from_proba(y, votes, labels=labels)
    report = cp.report(patterns, weights=[3.0, 1.0, 1.0], preferences=cp.Preferences.prioritise(["A"]), confidence=0.9)
    assert report.evaluation.counts.matrix.tolist() == patterns.counts([3.0, 1.0, 1.0]).matrix.tolist()
    assert report.evaluation.intervals.confidence == 0.9


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ([1, 2], {}, "made of an Evaluation or of Votes, got list"),
        (cp.evaluate([1, 2], [1, 1]), {"weights": [1, 2]}, "weights are given, but no votes"),
        (cp.evaluate([1, 2], [1, 1]), {"preferences": cp.Preferences()}, "has its own preferences"),
        (
            cp.evaluate([1, 2], [1, 1]),
            {"votes": cp.Votes.from_proba([3, 4], [[1, 2], [2, 1]])},
            "votes and evaluation are of different classes",
        ),
    ],
)
def test_what_does_not_fit_is_said(data, options, message):
    with pytest.raises(InputError, match=message):
        cp.report(data, **options)


def test_a_metric_of_ones_own_has_a_report_without_knobs():
    own = cp.Metric("mine", lambda p, r, weight: (1 - weight) * p + weight * r)
    votes, y, labels = voted(2, 60)
    page = cp.report(cp.evaluate(y, y_proba=votes, labels=labels, preferences=cp.Preferences(metric=own))).html
    assert "which a page cannot run" in page
    assert content_of(page)["panel"] is None


def test_degenerate_evaluations_have_reports():
    one = cp.evaluate(["a", "a"], y_proba=[[1.0, 0.0], [0.4, 0.6]], labels=["a", "b"], preferences=cp.Preferences())
    never = cp.evaluate(["a", "b"], ["a", "a"], preferences=cp.Preferences.prioritise(["b"]), confidence=0.9)
    absent = cp.evaluate(
        ["a", "b"],
        y_proba=[[0.5, 0.5, 0], [0, 1, 0]],
        labels=["a", "b", "c"],
        preferences=cp.Preferences({"c": cp.Preference(5)}),
    )
    weighted = cp.evaluate(
        ["a", "b"], y_proba=[[0.5, 0.5], [0, 1]], sample_weight=[0.5, 2.5], preferences=cp.Preferences()
    )
    for result in (one, never, absent, weighted):
        assert re.findall(r'<section id="(\w+)"', result.to_html())[:2] == ["headline", "verdict"]


def test_a_report_shows_itself_in_notebooks(result):
    report = cp.report(result)
    frame = report._repr_html_()
    told, _, _ = frame.partition("<iframe srcdoc=")
    assert html.unescape(told) == f"<p>{result.headline}</p>"
    assert 'sandbox="allow-scripts allow-downloads"' in frame
    assert html.unescape(re.search('srcdoc="([^"]*)"', frame)[1]) == report.html
    assert str(report) == str(result)


def test_the_fragment_has_the_intervals(result):
    interval = result.intervals.per_class["B"]["precision"]
    fragment = result._repr_html_()
    assert f"{interval.low:.3f} to {interval.high:.3f}" in fragment
    assert "<script" not in fragment


def test_cross_evaluation_keeps_the_votes_of_all_folds(rng):
    from sklearn.naive_bayes import GaussianNB

    y = rng.integers(0, 3, 90)
    X = np.eye(3)[y] + rng.normal(size=(90, 3))
    result = cp.cross_evaluate(GaussianNB(), X, y, preferences=cp.Preferences.prioritise([2]), cv=3)
    assert len(result.votes) == 90
    assert result.votes.counts(np.ones(3)).matrix.tolist() == result.counts.matrix.tolist()
    assert '<section id="knobs"' in result.to_html()


def test_rows_in_another_order_have_the_same_fingerprint():
    votes, y, labels = voted(3, 100)
    order = np.random.default_rng(1).permutation(100)
    pages = [
        cp.report(cp.evaluate(y[rows], y_proba=votes[rows], labels=labels)).html
        for rows in (np.arange(100), order, order[:99])
    ]
    marks = [re.search(r"evidence</dt><dd><code>(\w+)<", page)[1] for page in pages]
    assert marks[0] == marks[1] != marks[2]


@pytest.fixture
def table(tmp_path):
    votes, y, labels = voted(3, 120)
    lines = ["truth,predicted," + ",".join(f"p_{label}" for label in labels)]
    lines += [f"{truth},{labels[row.argmax()]},{','.join(map(str, row))}" for truth, row in zip(y, votes, strict=True)]
    (tmp_path / "votes.csv").write_text("\n".join(lines) + "\n")
    return cp.evaluate(y, y_proba=votes, labels=labels, preferences=cp.Preferences.prioritise(["A"], metric="f"))


def run(*arguments):
    return CliRunner().invoke(main, ["report", *arguments], catch_exceptions=False)


def test_command_line(table):
    arguments = [
        "votes.csv",
        "--truth",
        "truth",
        "--proba",
        "p_",
        "--prioritise",
        "A",
        "--metric",
        "f",
        "--output",
        "a b.html",
    ]
    done = run(*arguments)
    assert done.exit_code == 0
    assert done.output == f"{table.headline}\nVerdict: {table.verdict.word}.\nreport written to a b.html\n"
    with open("a b.html", encoding="utf-8") as file:
        page = file.read()
    assert content_of(page)["matrix"] == table.counts.matrix.tolist()
    assert run(str(Path("votes.csv").resolve()), *arguments[1:]).exit_code == 0
    with open("a b.html", encoding="utf-8") as file:
        assert "<h1>A in votes.csv</h1>" in file.read()
    assert (
        "compromis report votes.csv --truth truth --proba p_ --prioritise A --metric f --output &#39;a b.html&#39;"
        in page
    )


def test_command_line_with_weights_and_with_decisions(table):
    cp.Decision(("A", "B", "C"), [3.0, 1.0, 1.0], smoothing=0.01).to_json("w.json")
    assert run("votes.csv", "--truth", "truth", "--proba", "p_", "--weights", "w.json").exit_code == 0
    with open("report.html", encoding="utf-8") as file:
        panel = content_of(file.read())["panel"]
    assert (panel["weights"], panel["smoothing"]) == ([3.0, 1.0, 1.0], 0.01)
    assert panel["before"] == panel["counts"]
    done = run("votes.csv", "--truth", "truth", "--prediction", "predicted")
    assert done.output == f"{cp.evaluate(table.counts).headline}\nreport written to report.html\n"
    with open("report.html", encoding="utf-8") as file:
        assert content_of(file.read())["matrix"] == table.counts.matrix.tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["votes.csv", "--truth", "truth"], "give --prediction, --proba, or both"),
        (["votes.csv", "--truth", "true", "--proba", "p_"], "there is no column 'true' (did you mean 'truth'?)"),
        (
            ["votes.csv", "--truth", "truth", "--proba", "p_", "--weights", "w.json"],
            "the weights are for 'x', 'y', the scores for",
        ),
        (
            ["votes.csv", "--truth", "truth", "--proba", "p_", "--output", "no/such/report.html"],
            "No such file or directory",
        ),
    ],
)
def test_command_line_says_what_is_wrong(table, arguments, message):
    cp.Decision(("x", "y"), [1.0, 2.0]).to_json("w.json")
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in done.output


def test_a_review_is_told_with_what_it_is_worth():
    rng = np.random.default_rng(0)
    y = (rng.random(500) < 0.2).astype(int)
    share = 1 / (1 + np.exp(1.5 - rng.normal(size=500) - 2 * y))
    votes = cp.Votes.from_proba(y, np.column_stack([1 - share, share]))
    page = cp.report(votes, preferences=cp.Preferences(), weights=[1, 2], review=1.5)
    expected = cp.Decision((0, 1), [1, 2], review=1.5).review_on(votes)
    assert page.reviewed.asked.matrix.tolist() == expected.asked.matrix.tolist()
    assert '<section id="review"' in page.html
    assert '<section id="review"' not in cp.report(votes, preferences=cp.Preferences(), weights=[1, 2]).html
