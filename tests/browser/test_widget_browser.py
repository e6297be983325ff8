"""What notebooks show, in Chromium: the panel's module with a stub for the notebook's model, and the pages of other results."""

from __future__ import annotations

import json

import pytest

import compromis as cp
from compromis.reports.page import embedded
from tests.browser.conftest import CLIPPED
from tests.browser.test_report_reading import CONTROLS, REACHED, TWO, WIDTHS

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


HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><title>notebook</title><style>@media (prefers-color-scheme: dark) { body { background: #111; color: #eee; } }</style><main><h1>A notebook</h1><h2>A cell</h2>'


def page_of(knobs):
    return (
        f'{HEAD}<style>{knobs._css}</style><div id="root"></div></main><script type="text/plain" id="esm">{knobs._esm}</script>'
        f'<script type="application/json" id="content">{embedded(knobs.page)}</script><script type="module">{STUB}</script>'
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_panel_at_each_width(opened, violations, scheme):
    page = opened(page_of(cp.panel(TWO))).page
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("globalThis.ready")
    for width, height in WIDTHS:
        page.set_viewport_size({"width": width, "height": height})
        box = page.locator(".cp-headline").first.bounding_box()
        assert box["y"] + box["height"] < height
        assert page.locator(".cp-headline").first.inner_text().startswith("Finds")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert page.evaluate(CLIPPED) == [], width
        assert violations(page) == [], width


def test_the_keyboard_reaches_and_names_every_control_of_the_panel(opened):
    page = opened(page_of(cp.panel(TWO))).page
    page.wait_for_function("globalThis.ready")
    wanted, seen = page.evaluate(CONTROLS), {}
    for _ in range(wanted):
        page.keyboard.press("Tab")
        number, name = page.evaluate(REACHED)
        seen[number] = name
    assert len(seen) == wanted > 10
    assert all(seen.values())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_results_at_each_width(opened, violations, scheme):
    sure = cp.Preferences({"hypothyroid": cp.Preference(10, 0.1, 0.9, min_recall=0.5, confidence=0.9)})
    search = cp.search_weights(TWO.votes, preferences=sure, review=cp.Review(max_share=0.1), random_state=0)
    shown = [TWO, TWO.preferences, TWO.verdict, TWO.counts, TWO.intervals, cp.check(TWO), search, search.guarantee]
    shown += [search.review, search.decision, cp.monitor({"May": TWO.counts}, preferences=sure)]
    watched = opened(f"{HEAD}{''.join(one._repr_html_() for one in shown)}</main>")
    page = watched.page
    page.emulate_media(color_scheme=scheme)
    for width, height in WIDTHS:
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), width
        assert page.evaluate(CLIPPED) == [], width
        repeated = "landmark-unique"  # two results may hold tables of one name
        assert [one for one in violations(page) if not one.startswith(repeated)] == [], width
    assert watched.errors == []


def test_the_module_runs_and_tells_the_model(opened):
    votes = cp.Votes.from_proba(
        ["good", "bad", "bad", "good", "good"], [[3, 1], [2, 2], [0, 4], [3, 2], [1, 2]], labels=["good", "bad"]
    )
    knobs = cp.panel(votes, preferences=cp.Preferences.prioritise(["bad"]))
    watched = opened(page_of(knobs))
    watched.page.wait_for_function("globalThis.ready")
    watched.page.get_by_role("button", name="Tune on these rows").click()
    knob = watched.page.get_by_label("Precision at full recall: good")
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
