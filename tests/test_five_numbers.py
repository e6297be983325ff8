"""Found, missed, false alarms, loss and the verdict's state are the same from Python, command line, JSON, report and studio."""

from __future__ import annotations

import csv
import html
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

import compromis as cp
from compromis.reports import panel_assets, panel_document
from tests.command_line import run

CASES = 50
WORDS = {
    "better": "better than no model",
    "not told apart": "not told apart from no model",
    "no better": "no better than no model",
}
NODE = shutil.which("node")
SCRIPT = """
(documents) => documents.map((page) => {
  const preferences = { metric: page.preferences.metric, cost: page.preferences.cost, classes: page.preferences.classes.map((one, k) => ({ ...page.classes[k], ...one })) };
  const counts = decide(readPatterns(page), page.weights), told = headlineOf(counts, preferences).classes[0];
  return [page.classes[told.k].text, told.found, told.missed, told.alarms, lossParts(counts, preferences).total];
})
"""


def make(seed):
    """Rows with votes, and preferences under which some class matters; as text, which is what files hold."""
    rng = np.random.default_rng(seed)
    size, rows = int(rng.integers(2, 7)), int(rng.integers(40, 200))
    labels = [f"kind {letter}" for letter in "abcdefg"[:size]]
    truth = np.append(np.arange(size), rng.choice(size, rows, p=rng.dirichlet(np.ones(size))))
    votes = np.array([rng.multinomial(20, 0.6 / size + 0.4 * np.eye(size)[k]) for k in truth])
    first = cp.Preference(int(rng.integers(2, 20)), 0.2, 0.8, min_recall=0.7 if seed % 3 == 0 else None)
    preferences = cp.Preferences({labels[int(rng.integers(size))]: first})
    return [labels[k] for k in truth], votes, labels, preferences


def five(result):
    told = result.headline.classes[0]
    return [told.label, told.found, told.missed, told.false_alarms], result.headline.loss, result.headline.state


def by_hand(truth, votes, labels, label):
    """Count rows without the library; the first class wins a tie."""
    predicted = [labels[int(np.argmax(row))] for row in votes]
    pairs = list(zip(truth, predicted, strict=True))
    found = sum(true == label == guess for true, guess in pairs)
    return [label, found, truth.count(label) - found, sum(guess == label != true for true, guess in pairs)]


@pytest.fixture(scope="module")
def cases():
    found = []
    for seed in range(CASES):
        truth, votes, labels, preferences = make(seed)
        result = cp.evaluate(truth, y_proba=votes, labels=labels, preferences=preferences)
        found.append((truth, votes, labels, preferences, result))
    return found


def test_python_counts_as_by_hand(cases):
    for truth, votes, labels, _, result in cases:
        rows, loss, state = five(result)
        assert rows == by_hand(truth, votes, labels, rows[0])
        assert (loss, state) == (result.verdict.loss, result.verdict.state)


def test_json_says_the_same(cases):
    for *_, result in cases:
        told = json.loads(result.to_json())["headline"]
        first = told["classes"][0]
        rows = [first[name] for name in ("label", "found", "missed", "false_alarms")]
        assert (rows, told["loss"], told["state"]) == five(result)


def test_the_command_line_says_the_same(cases, tmp_path):
    for number, (truth, votes, labels, preferences, result) in enumerate(cases):
        path, toml = tmp_path / f"{number}.csv", tmp_path / f"{number}.toml"
        preferences.to_toml(toml)
        with path.open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["truth", *(f"p_{label}" for label in labels)])
            writer.writerows([true, *row] for true, row in zip(truth, votes.tolist(), strict=True))
        done = run("evaluate", path, "--truth", "truth", "--proba", "p_", "--preferences", toml)
        assert done.exit_code == 0, done.output
        text = " ".join(done.stdout.split())
        (label, *numbers), loss, state = five(result)
        said = re.match(r"Finds (\d+) of \d+ (kind .) \(misses (\w+)\), (\w+) false alarms?", text)
        assert [said[2], *(int(told.replace("none", "0").replace("no", "0")) for told in said.group(1, 3, 4))] == [
            label,
            *numbers,
        ]
        assert f"Verdict: {WORDS[state]}" in text
        assert f"loss {loss:.4f}" in text.lower()


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_knobs_of_report_and_studio_say_the_same(cases, tmp_path):
    documents = [
        panel_document(cp.Votes.from_proba(truth, votes, labels=labels), preferences)
        for truth, votes, labels, preferences, _ in cases
    ]
    (tmp_path / "documents.json").write_text(json.dumps(documents))
    answer = f'process.stdout.write(JSON.stringify(({SCRIPT})(JSON.parse(fs.readFileSync("documents.json")))));'
    (tmp_path / "work.mjs").write_text(f'{panel_assets()[0]}\nimport fs from "node:fs";\n{answer}')
    done = subprocess.run([NODE, "work.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    for (*rows, loss), (*_, result) in zip(json.loads(done.stdout), cases, strict=True):
        assert (rows, loss) == (five(result)[0], pytest.approx(five(result)[1], rel=1e-12))


def test_the_page_of_the_report_says_the_same(cases):
    for *_, result in cases[::5]:  # a page takes a while; its knobs are tried with every case above
        (part,) = re.findall(r'<section id="headline".*?</section>', cp.report(result).html, re.DOTALL)
        told = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", part)).split())
        assert f"{result.headline.sentences()[0]}." in told
        assert WORDS[result.headline.state].capitalize() in told
