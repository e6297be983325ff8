"""The notebook panel's module in Chromium, with a stub for the notebook's model."""

from __future__ import annotations

import json

import pytest

import compromis as cp
from compromis.reports.page import embedded

pytest.importorskip("anywidget", reason="anywidget is not installed")

STUB = """
const address = URL.createObjectURL(new Blob([document.getElementById("esm").textContent], { type: "text/javascript" }));
const { default: widget } = await import(address);
const values = { page: JSON.parse(document.getElementById("content").textContent), state: {} };
globalThis.saved = 0;
const model = { get: (name) => values[name], set: (name, value) => { values[name] = value; }, save_changes: () => { globalThis.saved++; } };
globalThis.values = values;
globalThis.remove = widget.render({ model, el: document.getElementById("root") });
globalThis.ready = true;
"""


def test_the_module_runs_and_tells_the_model(opened):
    votes = cp.Votes.from_proba(
        ["good", "bad", "bad", "good", "good"], [[3, 1], [2, 2], [0, 4], [3, 2], [1, 2]], labels=["good", "bad"]
    )
    knobs = cp.panel(votes, preferences=cp.Preferences.prioritise(["bad"]))
    page = (
        f'<!doctype html><meta charset="utf-8"><div id="root"></div><script type="text/plain" id="esm">{knobs._esm}</script>'
        f'<script type="application/json" id="content">{embedded(knobs.page)}</script><script type="module">{STUB}</script>'
    )
    watched = opened(page)
    watched.page.wait_for_function("globalThis.ready")
    watched.page.get_by_role("button", name="Tune on these rows").click()
    knob = watched.page.locator("input[type=range]").nth(1)
    before = watched.page.evaluate("saved")
    knob.focus()
    knob.press("ArrowRight")
    watched.page.wait_for_function("(before) => saved >= before + 2", arg=before)
    knobs.state = json.loads(json.dumps(watched.page.evaluate("values.state")))
    assert knobs.preferences.of("good").precision_at_full_recall == 0.81
    assert knobs.preferences.of("bad") == cp.Preference(10.0, 0.1, 0.9)
    assert len(knobs.weights) == 2
    watched.page.evaluate("remove()")
    assert watched.page.inner_text("#root") == ""
    assert watched.errors == []
