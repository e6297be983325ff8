"""The panel's script in Chromium against Python, and what its knobs and buttons do."""

from __future__ import annotations

import json

import numpy as np
import playwright.sync_api as playwright
import pytest

import compromis as cp
from compromis.reports import panel_assets
from compromis.reports.page import embedded
from tests.reports.panel_cases import WORK, check, large_case, make_case, small_cases


def page_of(document: dict, start: str = "") -> str:
    """A page with nothing but the panel."""
    script, style = panel_assets()
    return (
        f'<!doctype html><meta charset="utf-8"><title>panel</title><style>{style}</style><div id="root"></div>'
        f'<script type="application/json" id="content">{embedded(document)}</script><script type="module">{script}\n'
        f'const page = JSON.parse(document.getElementById("content").textContent);\n'
        f"globalThis.work = {WORK};\n{start or 'globalThis.panel = mountPanel(document.getElementById(`root`), page);'}</script>"
    )


@pytest.mark.filterwarnings("ignore:the weighted Jaccard metric")
def test_chromium_matches_python(opened):
    cases = [*small_cases(24), large_case(4, 600, 8), large_case(26, 1000, 1, trees=30)]
    watched = opened(page_of(cases[0].document))
    answers = watched.page.evaluate("(documents) => globalThis.work(documents)", [case.document for case in cases])
    for case, answer in zip(cases, answers, strict=True):
        check(case, answer)
    assert watched.errors == []


@pytest.fixture
def case():
    return large_case(4, 500, 1, trees=25)


def turn(page, place: int, value: int) -> None:
    """Move the slider at a place, three of each class in the order of the classes, and wait for the weights to settle."""
    page.evaluate(
        """async ([place, value]) => {
            const { classes } = JSON.parse(document.getElementById("content").textContent);
            const knob = classes.flatMap(({ text }) => [...document.querySelectorAll(`input[type=range][aria-label$=": ${text}"]`)])[place];
            knob.value = value;
            knob.dispatchEvent(new Event("input", { bubbles: true }));
            await panel.settled();
        }""",
        [place, value],
    )


def test_a_metric_that_the_script_does_not_know(opened, case):
    """Not Jaccard's formula, which is the last."""
    unknown = case.document | {"preferences": case.document["preferences"] | {"metric": "mine"}}
    page = opened(page_of(case.document)).page
    with pytest.raises(playwright.Error, match="there is no metric mine; choose one of kulczynski, f"):
        page.evaluate("(documents) => globalThis.work(documents)", [unknown])


def test_a_knob_changes_everything_at_once(opened, case):
    page = opened(page_of(case.document)).page

    def shown():
        parts = (".cp-sentence", ".cp-table tbody", ".cp-matrix tbody", ".cp-loss")
        return [page.inner_text(part) for part in parts] + [page.get_attribute(".cp-picture .cp-dot", "cx")]

    before = shown()
    chosen = page.evaluate("panel.state().chosen")
    turn(page, 3 * chosen + 1, 90)
    after = shown()
    assert [old != new for old, new in zip(before, after, strict=True)] == [True] * 5
    state = page.evaluate("panel.state()")
    counts = case.patterns.counts(state["weights"])
    assert state["counts"] == counts.matrix.tolist()
    rows = "Array.from(document.querySelectorAll('.cp-matrix tbody tr'), (row) => Array.from(row.cells).slice(1).map((one) => one.textContent))"
    shown_counts = [[int(cell.replace(",", "").replace("·", "0")) for cell in row] for row in page.evaluate(rows)]
    assert shown_counts == counts.matrix.tolist()
    assert state["preferences"]["classes"][chosen]["precision_at_full_recall"] == 0.9


def test_reset_goes_back(opened, case):
    page = opened(page_of(case.document)).page
    first = page.evaluate("panel.state()")
    turn(page, 0, 25)
    assert page.evaluate("panel.state()") != first
    page.get_by_role("button", name="Reset").click()
    assert page.evaluate("panel.state()") == first


def test_buttons_copy_and_download(opened, case, tmp_path):
    page = opened(page_of(case.document)).page
    turn(page, 1, 45)
    state = page.evaluate("panel.state()")
    page.get_by_role("button", name="Copy preferences").click()
    page.wait_for_function("document.querySelector('.cp-message').textContent.includes('copied')")
    (tmp_path / "preferences.toml").write_text(page.evaluate("navigator.clipboard.readText()"))
    preferences = cp.Preferences.from_toml(tmp_path / "preferences.toml")
    assert preferences.of(0).precision_at_full_recall == 0.45
    page.get_by_role("button", name="Copy Python").click()
    page.wait_for_function("document.querySelector('.cp-message').textContent.startsWith('Python')")
    assert page.evaluate("navigator.clipboard.readText()").startswith(
        "cp.search_weights(y_true, y_proba, labels=[0, 1, 2, 3]"
    )
    with page.expect_download() as caught:
        page.get_by_role("button", name="Download weights").click()
    caught.value.save_as(tmp_path / "weights.json")
    decision = cp.Decision.from_json(tmp_path / "weights.json")
    assert case.patterns.counts(decision.weights).matrix.tolist() == state["counts"]


def test_minima_are_asked_for_and_refused_beyond_100(opened, case):
    page = opened(page_of(case.document)).page
    chosen = page.evaluate("panel.state().chosen")  # its sliders and fields stand first
    field = page.locator("input[type=number]").first
    field.fill("150")
    assert field.get_attribute("aria-invalid") == "true"
    assert page.evaluate("panel.state().preferences.classes")[chosen]["min_precision"] is None
    turn(page, 0, 20)  # what is in force is shown again, without the complaint
    assert (field.input_value(), field.get_attribute("aria-invalid")) == ("150", "true")  # not while one types
    page.locator("input[type=range]").first.focus()
    turn(page, 0, 22)
    assert (field.input_value(), field.get_attribute("aria-invalid")) == ("", "false")
    assert not page.locator(".cp-constraint .cp-complaint").first.inner_text()
    field.fill("60")
    page.evaluate("panel.settled()")
    assert page.evaluate("panel.state().preferences.classes")[chosen]["min_precision"] == 0.6


def test_knobs_turn_by_keyboard_and_have_names(opened, case):
    page = opened(page_of(case.document)).page
    page.locator("summary").first.focus()
    page.keyboard.press("Tab")
    name = page.evaluate("document.activeElement.labels[0].textContent")
    chosen = "panel.state().preferences.classes[panel.state().chosen]"
    before = page.evaluate(f"{chosen}.importance")
    page.keyboard.press("ArrowRight")
    page.evaluate("panel.settled()")
    assert (name, page.evaluate(f"{chosen}.importance") > before) == ("Importance", True)
    unnamed = "Array.from(document.querySelectorAll('input, select, button, textarea')).filter((one) => !(one.labels && one.labels.length) && !one.textContent.trim() && !one.getAttribute('aria-label')).length"
    assert page.evaluate(unnamed) == 0


def test_remote_weights_are_shown_and_errors_said(opened, case):
    start = """globalThis.asked = []; globalThis.fail = false;
    globalThis.panel = mountPanel(document.getElementById("root"), page, { retune: async (preferences) => {
      if (globalThis.fail) throw new Error("the server is gone");
      globalThis.asked.push(preferences); return { weights: [1, 2, 3, 4], counts: page.counts.map((row) => row.map((one) => 2 * one)) };
    } });"""
    watched = opened(page_of({**case.document, "remote": True}, start))
    turn(watched.page, 1, 33)
    state = watched.page.evaluate("panel.state()")
    assert state["weights"] == [1, 2, 3, 4]
    assert state["counts"] == [[2 * cell for cell in row] for row in case.document["counts"]]
    assert watched.page.evaluate("asked.length") == 1
    watched.page.evaluate("globalThis.fail = true")
    turn(watched.page, 1, 44)
    assert "the server is gone" in watched.page.inner_text(".cp-complaint")
    assert watched.errors == []


def test_given_weights_are_applied_as_they_are(opened):
    tie = make_case(np.array([[2, 1], [1, 1], [0, 3]]), ["a", "b", "b"], cp.Preferences(), labels=["a", "b"])
    page = opened(page_of(tie.document)).page
    assert page.evaluate("panel.state().counts") == [[1, 0], [1, 1]]
    page.evaluate("panel.set({ weights: [1, 2] })")
    assert page.evaluate("panel.state().counts") == [[1, 0], [0, 2]]
    page.evaluate("panel.destroy()")
    assert page.inner_text("#root") == ""


def test_onchange_hears_of_every_change(opened, case):
    start = """globalThis.heard = []; globalThis.panel = mountPanel(document.getElementById("root"), page,
      { onChange: (state) => globalThis.heard.push(state.preferences.classes[0].recall_at_full_precision) });"""
    page = opened(page_of(case.document, start)).page
    turn(page, 2, 12)
    heard = page.evaluate("heard")
    assert (heard[0], heard[-1]) == (
        json.loads(json.dumps(case.document))["preferences"]["classes"][0]["recall_at_full_precision"],
        0.12,
    )
