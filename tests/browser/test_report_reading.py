"""What a reader of the report sees and reaches: at three widths, light and dark, by keyboard, by link, under the pointer."""

from __future__ import annotations

import numpy as np
import pytest

import compromis as cp
from tests.browser.conftest import CLIPPED

LONG = [
    "a_long_class_name_of_the_first_kind_of_thing",
    "a_long_class_name_of_the_second_kind_of_thing",
    "日本語のクラス名",
    "🦊 fox",
    "x" * 165,
    *(f"digit {k} of the other kind" for k in range(12)),
]
SCROLLED = """() => Array.from(document.querySelectorAll(".cp-scroll:not(.cp-matrix-scroll)"))
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && !one.querySelector(".cp-matrix")).map((one) => one.getAttribute("aria-label"))"""
"""Tables of which a reader at a desk sees a part only."""
WIDTHS = ((390, 844), (1024, 768), (1440, 900))


def result_of(labels, rows=600, confidence=0.95, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(len(labels), rows, p=rng.dirichlet(np.full(len(labels), 3.0)))
    logs = 2.5 * np.eye(len(labels))[y] + rng.normal(size=(rows, len(labels)))
    shares = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    preferences = {labels[1]: cp.Preference(10, 0.1, 0.9, min_recall=0.95)}
    names = np.array(labels, dtype=object)[y].tolist()
    return cp.evaluate(names, y_proba=shares, labels=labels, preferences=preferences, confidence=confidence)


TWO, MANY = result_of(["healthy", "hypothyroid"]), result_of(LONG)
RESULTS = {
    "two": TWO,
    "many": MANY,
    "without preferences": cp.evaluate(TWO.votes),
    "predictions alone": cp.evaluate(TWO.counts),
}


@pytest.fixture
def report(opened):
    return lambda result, **options: opened(cp.report(result, **options).html, "report.html")


@pytest.mark.parametrize("name", RESULTS)
def test_the_headline_is_seen_and_nothing_is_cut(report, name):
    watched = report(RESULTS[name])
    page, told = watched.page, RESULTS[name].headline.sentences()[0]
    for width, height in WIDTHS:
        page.set_viewport_size({"width": width, "height": height})
        box = page.locator(".cp-headline").first.bounding_box()
        assert page.locator(".cp-headline").first.inner_text() == f"{told}."
        assert box["y"] + box["height"] < height
        if name in ("two", "many"):  # the bars too
            bars = page.locator(".cp-people").first.bounding_box()
            assert bars["y"] + bars["height"] < height
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert page.evaluate(CLIPPED) == [], width
        assert width < 1000 or page.evaluate(SCROLLED) == [], width
    assert watched.errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(report, violations, scheme):
    page = report(TWO).page
    page.emulate_media(color_scheme=scheme)
    for width, height in WIDTHS:
        page.set_viewport_size({"width": width, "height": height})
        assert violations(page) == []
    page.get_by_role("button", name="Tune on these rows").click()
    page.evaluate("compromisPanel.settled()")
    assert violations(page) == []


@pytest.mark.parametrize("name", ["many", "without preferences", "predictions alone"])
def test_axe_finds_nothing_in_other_pages(report, violations, name):
    result = RESULTS[name] if name != "many" else result_of(LONG[:5], rows=200, confidence=None)
    assert violations(report(result).page) == []


REACHED = """() => {
    const one = document.activeElement;
    if (!one || one === document.body) return null;
    const labels = one.labels?.length ? one.labels[0].textContent : "";
    return [one.dataset.number ??= String(globalThis.reached = (globalThis.reached ?? 0) + 1), one.getAttribute("aria-label") || labels || one.textContent.trim() || one.title];
}"""
CONTROLS = "Array.from(document.querySelectorAll('a[href], button, input, select, summary, [tabindex=\"0\"]')).filter((one) => one.checkVisibility() && !one.disabled && !(one.type === 'radio' && !one.checked)).length"


def test_the_keyboard_reaches_and_names_every_control(report):
    page = report(TWO).page
    wanted, seen = page.evaluate(CONTROLS), {}
    for _ in range(wanted + 5):
        page.keyboard.press("Tab")
        reached = page.evaluate(REACHED)
        if reached is None or reached[0] in seen:
            break
        seen[reached[0]] = reached[1]
    assert len(seen) == wanted
    assert all(seen.values())
    names = list(seen.values())
    assert {"Importance: hypothyroid", "recall at least: healthy, per cent", "Tune on these rows"} <= set(names)


def test_reload_and_link_open_the_same_state(report, tmp_path):
    page = report(MANY).page
    page.get_by_role("button", name="Tune on these rows").click()
    knob = page.get_by_label("Precision at full recall: 🦊 fox")
    page.locator("summary", has_text="🦊 fox").click()
    knob.focus()
    knob.press("End")
    page.get_by_label("share of rows at most: 🦊 fox, per cent").fill("12.5")
    page.evaluate("compromisPanel.settled()")
    state = page.evaluate("compromisPanel.state()")
    page.wait_for_function("() => location.hash === compromisPanel.fragment()")
    page.get_by_role("navigation").get_by_role("link", name="Classes").click()
    page.reload()
    assert page.evaluate("compromisPanel.state()") == state
    assert (state["by"], state["preferences"]["classes"][3]["max_share"]) == ("tuned", 0.125)
    page.get_by_role("button", name="Copy link").click()
    page.locator(".cp-message", has_text="copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    other = page.context.new_page()
    other.goto(link)
    assert other.evaluate("compromisPanel.state()") == state
    other.get_by_role("button", name="Reset").click()
    assert other.evaluate("compromisPanel.state().counts") == MANY.counts.matrix.tolist()


@pytest.mark.parametrize(
    "fragment",
    [
        "#state=",
        "#state=%7B",
        "#state=null",
        '#state={"of":2,"metric":"mine","by":"given"}',
        '#state={"of":3,"metric":"f","by":"given"}',
        '#state={"of":2,"metric":"f","by":"tuned","weights":[1,-1]}',
        '#state={"of":2,"metric":"f","by":"given","classes":{"0":{"importance":"1e9"}}}',
        '#state={"of":2,"metric":"f","by":"given","classes":{"__proto__":{"importance":1}}}',
        '#state={"of":2,"metric":"f","by":"given","classes":{"0":{"text":"<script>"}}}',
        '#state={"of":2,"metric":"f","by":"given","classes":{"0":{"constructor":5}}}',
        '#state={"of":2,"metric":"f","by":"given","classes":{"0":{"__proto__":null}}}',
        '#state={"of":2,"metric":"f","by":"tuned","weights":[1,1e300]}',
    ],
)
def test_a_link_that_says_nothing_sensible_is_left_alone(report, fragment):
    watched = report(TWO)
    first = watched.page.evaluate("compromisPanel.state()")
    watched.page.evaluate("(fragment) => { location.hash = fragment; }", fragment)
    assert watched.page.evaluate("(fragment) => compromisPanel.open(fragment)", fragment) is False
    assert watched.page.evaluate("compromisPanel.state()") == first
    assert watched.errors == []


def test_it_starts_from_the_decision_given_and_tunes_when_asked(report):
    y = np.random.default_rng(1).integers(0, 2, TWO.counts.rows)
    rows = np.repeat(np.arange(len(TWO.votes)), TWO.votes.multiplicity)
    given = cp.evaluate(TWO.votes.truth[rows], y, y_proba=TWO.votes.dense()[rows], preferences={1: 10})
    page = report(given).page
    assert page.evaluate("compromisPanel.state().counts") == given.counts.matrix.tolist()
    assert page.inner_text("#panel tbody tr td:last-child") == "–"
    assert page.get_by_role("button", name="Download weights").is_disabled()
    assert page.locator(".cp-warning").is_hidden()
    page.get_by_role("button", name="Tune on these rows").click()
    page.evaluate("compromisPanel.settled()")
    assert page.locator(".cp-warning").is_visible()
    state = page.evaluate("compromisPanel.state()")
    assert given.votes.counts(state["weights"]).matrix.tolist() == state["counts"]
    page.get_by_role("button", name="Tune on these rows").click()
    assert page.evaluate("compromisPanel.state().counts") == given.counts.matrix.tolist()


def test_curves_tell_their_values_and_set_weights(report):
    page = report(TWO).page
    curve = page.locator("#panel .cp-picture").nth(1)
    curve.scroll_into_view_if_needed()
    box = curve.bounding_box()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.3 * box["height"])
    told = page.locator("#panel .cp-readout").nth(1).inner_text()
    assert told.startswith("found ")
    assert "false alarms" in told
    page.mouse.down()
    page.mouse.up()
    state = page.evaluate("compromisPanel.state()")
    found, alarms = state["counts"][1][1], state["counts"][0][1]
    assert told.startswith(f"found {found} of ")
    assert f", {alarms} false alarms" in told
    assert TWO.votes.counts(state["weights"]).matrix.tolist() == state["counts"]
    curve.focus()
    page.keyboard.press("PageUp")
    assert curve.get_attribute("aria-valuetext").startswith("found ")
    static = page.locator("#curves svg[data-across]").first
    static.hover()
    assert page.locator("#curves .cp-readout").first.inner_text().startswith("recall weight 0.5")


def test_tables_sort_and_find(report):
    page = report(MANY).page
    column = "(c) => Array.from(document.querySelectorAll('#classes tbody tr:not([hidden])'), (row) => row.cells[c].textContent)"
    page.locator("#classes th button", has_text="rows").click()
    rows = [int(text.replace(",", "")) for text in page.evaluate(column, 1)]
    assert rows == sorted(rows, reverse=True)
    page.locator("#classes th button", has_text="rows").click()
    assert [int(text.replace(",", "")) for text in page.evaluate(column, 1)] == rows[::-1]
    assert page.locator("#classes th").nth(1).get_attribute("aria-sort") == "ascending"
    page.locator("#classes").get_by_label("Find a class").fill("digit 1")
    assert len(page.evaluate(column, 1)) == 3


def test_names_of_classes_are_all_different(report):
    page = report(MANY).page
    for rows in ("#classes tbody th .cp-name", "#confusion .cp-matrix thead .cp-name", "#panel summary .cp-name"):
        names = page.locator(rows).all_inner_texts()
        assert len(set(names)) == len(LONG)


def test_rounded_votes_are_never_compared_with_exact_ones(report, monkeypatch):
    from compromis.reports.panel import document

    monkeypatch.setattr(document, "MOST_PATTERNS", 150)
    page = report(TWO).page
    assert page.inner_text("#panel .cp-note").startswith("Note: tuned results on this page are those of rounded votes")
    assert page.evaluate("compromisPanel.state().counts") == TWO.counts.matrix.tolist()  # the decision given is exact
    page.get_by_role("button", name="Tune on these rows").click()
    page.evaluate("compromisPanel.settled()")
    weights = page.evaluate("compromisPanel.state().weights")
    rounded, _ = next(
        (kept, how)
        for kept, how in (document.binned(TWO.votes.merge(), 0.0, *rung) for rung in document.RUNGS)
        if len(kept) <= 150
    )
    assert page.evaluate("compromisPanel.state().counts") == rounded.counts(weights).matrix.tolist()
    before = cp.evaluate(rounded.counts([1, 1]), preferences=TWO.preferences).summary.loss
    assert f"the decision given {before:.4f}" in page.inner_text("#panel .cp-losses")


def test_the_panel_begins_with_the_class_of_the_headline_and_judges_nothing(report):
    votes = np.array([[0.9, 0.1]] * 16 + [[0.2, 0.8]] * 4)
    page = report(cp.evaluate(["well"] * 15 + ["ill"] * 5, y_proba=votes, labels=["well", "ill"])).page
    assert page.locator("#panel tr.cp-chosen th").inner_text() == "ill"
    assert page.locator("#panel details[open] summary .cp-name").all_inner_texts() == ["ill", "well"]
    assert page.locator("#panel .cp-verdict").get_attribute("class").split()[-1] == "cp-unjudged"


def test_headings_of_the_matrix_break_between_words_on_a_phone(report):
    names = [
        "Acute exacerbation of chronic bronchitis",
        "Asthma",
        *(f"diagnosis number {k} of the list" for k in range(4)),
    ]
    page = report(result_of(names)).page
    page.set_viewport_size({"width": 390, "height": 844})
    head = page.locator("#confusion thead .cp-name", has_text="Asthma")
    assert (
        head.evaluate(
            "(one) => { const range = document.createRange(); range.selectNodeContents(one); return range.getClientRects().length; }"
        )
        == 1
    )
