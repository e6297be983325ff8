"""The panel's script against Python, run by node; and the documents that it reads."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest

import compromis as cp
from compromis.errors import InputError
from compromis.reports import panel_assets, panel_document
from compromis.reports.panel.document import RUNGS, binned
from tests.reports.panel_cases import WORK, check, large_case, make_case, small_cases

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """Ask node what the panel's script makes of documents."""

    def ask(documents):
        folder = tmp_path_factory.mktemp("node")
        (folder / "documents.json").write_text(json.dumps(documents))
        answer = 'process.stdout.write(JSON.stringify(work(JSON.parse(fs.readFileSync("documents.json")))));'
        program = f'{panel_assets()[0]}\nimport fs from "node:fs";\nconst work = {WORK};\n{answer}'
        (folder / "work.mjs").write_text(program)
        done = subprocess.run([NODE, "work.mjs"], cwd=folder, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


@needs_node
@pytest.mark.filterwarnings("ignore:the weighted Jaccard metric")
def test_small_problems_match_python(work):
    cases = small_cases(60)
    for case, answer in zip(cases, work([case.document for case in cases]), strict=True):
        check(case, answer)


LARGE = [
    (2, 500, 0, 50), (3, 600, 1, 20), (4, 800, 2, None), (5, 1500, 3, None), (8, 1000, 5, 50), (12, 1200, 4, 30), (26, 2000, 7, 50)
]  # fmt: skip
"""Classes, rows, seed (odd ones with constraints), trees."""


@needs_node
@pytest.mark.filterwarnings("ignore:the weighted Jaccard metric")
def test_many_classes_match_python(work):
    cases = [large_case(k, n, seed, trees=trees, floors=seed % 2 == 1) for k, n, seed, trees in LARGE]
    cases += [large_case(k, n, seed, trees=trees, costs=True) for k, n, seed, trees in LARGE[::2]]
    for case, answer in zip(cases, work([case.document for case in cases]), strict=True):
        check(case, answer)


@needs_node
def test_a_share_that_ends_in_five_is_rounded_as_python_does(work):
    votes = np.array([[0.9, 0.1]] * 10 + [[0.1, 0.9]] * 6)
    case = make_case(votes, np.array(["a"] * 13 + ["b"] * 3), cp.Preferences({"b": 10}))  # 13 of 16: 81.25 %
    (answer,) = work([case.document])
    check(case, answer)
    assert answer["headline"][1] == "13 of 16 rows right (81.2 %)."


@needs_node
def test_toml_python_and_weights_say_the_same(work, tmp_path):
    labels = ['say "hi"', "café\\n", "x = 1\ny", "🦊", "שלום"]
    rng = np.random.default_rng(0)
    votes, y = rng.integers(0, 9, (80, 5)), np.array(labels)[rng.integers(0, 5, 80)]
    preferences = cp.Preferences(
        {
            labels[0]: cp.Preference(10, 0.1, 0.95, min_recall=0.125, max_share=0.25),
            labels[3]: cp.Preference(2, recall_weight=0.7),
        },
        default=cp.Preference(0.5, 0.0, 0.3),
        metric="f",
    )
    case = make_case(votes, y, preferences, labels=labels, smoothing=0.5)
    (answer,) = work([case.document])
    (tmp_path / "preferences.toml").write_text(answer["toml"], encoding="utf-8")
    read = cp.Preferences.from_toml(tmp_path / "preferences.toml")
    assert [read.of(label) for label in labels] == [preferences.of(label) for label in labels]
    assert read.metric is preferences.metric
    search = eval(
        answer["python"], {"cp": cp, "y_proba": votes, "y_true": y}
    )  # our own line, which a person would paste
    assert [search.arrays.recall_weight.tolist(), search.smoothing] == [
        preferences.on(labels).recall_weight.tolist(),
        0.5,
    ]
    decision = cp.Decision.from_json(answer["decision"])
    assert decision.classes == tuple(labels)
    predicted = cp.Counts.from_predictions(y, decision.decide(votes), labels=labels)
    assert predicted.matrix.tolist() == answer["tuned"]


@needs_node
def test_costs_as_toml_and_python(work, tmp_path):
    rng = np.random.default_rng(0)
    votes, y = rng.integers(0, 9, (80, 3)), rng.integers(0, 3, 80)
    preferences = cp.Preferences({1: {"max_share": 0.25}}, cost=[[0, 1.5, 2], [-1, 0, 3], [9, 8, 0]], labels=range(3))
    case = make_case(votes, y, preferences, labels=range(3))
    (answer,) = work([case.document])
    check(case, answer)
    (tmp_path / "preferences.toml").write_text(answer["toml"])
    assert cp.Preferences.from_toml(tmp_path / "preferences.toml") == preferences
    search = eval(
        answer["python"], {"cp": cp, "y_proba": votes, "y_true": y}
    )  # our own line, which a person would paste
    assert search.arrays.cost.tolist() == [list(row) for row in preferences.cost]


@needs_node
@pytest.mark.parametrize("labels", [[1, 2], [1.0, 2.5], [True, False], ["1", "2"], [10**17 + 1, 5]])
def test_labels_keep_their_type(work, labels, tmp_path):
    case = make_case(
        [[3, 1], [1, 2], [0, 1]],
        [labels[0], labels[1], labels[1]],
        cp.Preferences({labels[0]: cp.Preference(5)}),
        labels=labels,
    )
    (answer,) = work([case.document])
    (tmp_path / "preferences.toml").write_text(answer["toml"])
    expected = [(label, type(label)) for label in labels]
    read = cp.Preferences.from_toml(tmp_path / "preferences.toml")
    assert [(label, type(label)) for label in read.by_class] == expected
    assert [(label, type(label)) for label in cp.Decision.from_json(answer["decision"]).classes] == expected


@needs_node
def test_python_rounds_exact_ties_to_even(tmp_path):
    numbers = [0.5, 1.5, 2.5, 12.5, 0.03125, 0.0625, 0.1, 0.15, 1 / 3, 2.675, 1e-9]
    program = (
        panel_assets()[0]
        + f"\nconsole.log(JSON.stringify({numbers}.flatMap((x) => [0, 3, 4].map((d) => fixed(x, d)))));"
    )
    (tmp_path / "round.mjs").write_text(program)
    done = subprocess.run([NODE, "round.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [f"{number:.{decimals}f}" for number in numbers for decimals in (0, 3, 4)]


def test_the_bundle_is_one_module_without_imports_or_markup():
    script, _ = panel_assets()
    assert "innerHTML" not in script
    assert not any(line.startswith("import") for line in script.splitlines())
    assert "</script" not in script.lower()


def test_votes_that_do_not_fit_are_binned_and_say_so(rng):
    shares = rng.dirichlet(np.full(4, 0.5), 40_000)
    y = np.array([rng.choice(4, p=share) for share in shares[:4000]])
    patterns = cp.Votes.from_proba(y, shares[:4000])
    assert panel_document(patterns)["binning"] is None
    document = panel_document(patterns, most_bytes=20_000)
    assert document["evidence"]["patterns"] < 4000
    assert "rounded to within" in document["binning"]
    assert json.loads(json.dumps(document)) == document


@pytest.mark.parametrize("rung", RUNGS)
def test_binning_keeps_ratios_within_what_it_says(rng, rung):
    shares = rng.dirichlet(np.full(5, 0.4), 300)
    patterns = cp.Votes.from_proba(rng.integers(0, 5, 300), shares)
    kept, binning = binned(patterns, 0.0, *rung)
    assert kept.support.tolist() == patterns.support.tolist()
    ratio, floor = rung
    share = shares / shares.max(axis=1, keepdims=True)
    expected = {
        tuple(np.round(np.where(row >= floor, ratio ** np.round(np.log(row) / np.log(ratio)), 0), 9)) for row in share
    }
    assert {tuple(np.round(row, 9)) for row in kept.votes} == expected
    votes = np.array(sorted(expected))
    assert votes[votes > 0].min() >= floor / ratio**0.5
    changed = sum(
        row.argmax() != np.where(row >= floor, np.round(np.log(row) / np.log(ratio)), -np.inf).argmax() for row in share
    )
    assert binning.changed == changed


def test_a_metric_of_ones_own_is_refused():
    patterns = cp.Votes.from_proba(["a", "b"], [[1, 2], [2, 1]])
    own = cp.Metric("mine", lambda p, r, weight: (1 - weight) * p + weight * r)
    with pytest.raises(InputError, match="which a page cannot run"):
        panel_document(patterns, cp.Preferences(metric=own))


def test_patterns_are_needed():
    with pytest.raises(InputError, match=r"votes are compromis\.Votes, got list"):
        panel_document([[1, 2]])
