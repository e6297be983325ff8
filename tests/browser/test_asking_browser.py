"""The notebook's interview in Chromium, with a stub for the notebook's model that hands answers to Python."""

from __future__ import annotations

import json

import numpy as np
import pytest

import compromis as cp
from compromis.reports.page import embedded

pytest.importorskip("anywidget", reason="anywidget is not installed")

STUB = """
const address = URL.createObjectURL(new Blob([document.getElementById("esm").textContent], { type: "text/javascript" }));
const { default: widget } = await import(address);
const values = { page: JSON.parse(document.getElementById("content").textContent), answers: [] };
let heard = null;
const model = { get: (name) => values[name], set: (name, value) => { values[name] = value; }, save_changes: () => {}, on: (_, done) => { heard = done; }, off: () => { heard = null; } };
globalThis.values = values;
globalThis.hear = (page) => { values.page = page; heard(); };
globalThis.remove = widget.render({ model, el: document.getElementById("root") });
globalThis.ready = true;
"""


def test_answers_go_to_python_and_questions_come_back(opened, violations):
    generator = np.random.default_rng(2)
    y = np.where(generator.random(300) < 0.2, "<b>ill", "well")
    p = 1 / (1 + np.exp(-generator.normal(size=300) - np.where(y == "<b>ill", 1.0, -1.0)))
    votes = cp.Votes.from_proba(y.tolist(), np.c_[p, 1 - p], labels=["<b>ill", "well"])
    asking = cp.reports.ask(votes, ["<b>ill"])
    watched = opened(
        f'<!doctype html><html lang="en"><title>asking</title><meta charset="utf-8"><main><h1>Notebook</h1><div id="root"></div></main><script type="text/plain" id="esm">{asking._esm}</script>'
        f'<script type="application/json" id="content">{embedded(asking.page)}</script><script type="module">{STUB}</script>'
    )
    page = watched.page
    page.wait_for_function("globalThis.ready")
    for name in ("Result 2", "Result 1", "They are alike", "Back", "Result 2"):
        page.get_by_role("button", name=name).click()
        asking.answers = page.evaluate("values.answers")
        page.evaluate("(page) => hear(page)", json.loads(json.dumps(asking.page)))
    expected = cp.tradeoffs.Interview(votes, ["<b>ill"], answers=["second", "first", "second"])
    assert asking.interview.answers == expected.answers
    assert asking.preferences == expected.preferences()
    shown = page.inner_text("#root")
    assert "Question 4 of at most 7" in shown
    assert f"finds {expected.question.first[0]}" in shown
    assert violations(page) == []
    page.evaluate("remove()")
    assert page.inner_text("#root") == ""
    assert watched.errors == []


def test_without_a_kernel_the_question_is_text():
    votes = cp.Votes.from_proba(["a", "a", "b", "b"], [[3, 1], [2, 2], [2, 2], [0, 4]], labels=["a", "b"])
    bundle, _ = cp.reports.ask(votes, ["a"])._repr_mimebundle_()
    assert "which of these two results" in bundle["text/plain"]
    assert "which of these two results" in bundle["text/html"]
