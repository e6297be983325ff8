"""What a person sees in the studio: the result in rows first, at any width, in light and dark, by keyboard, after a reload and from a link."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import compromis as cp
from compromis.studio.serving import write_demo
from tests.browser.test_studio import held, knob, turn, visit  # noqa: F401
from tests.studio.conftest import compiled, studio  # noqa: F401

SIZES = [(390, 844), (1024, 768), (1440, 900)]
CLIPPED = """() => [...document.querySelectorAll('header *, main *')].filter((one) => {
  if (!one.checkVisibility() || !one.textContent.trim() || one.children.length || one.closest('.visually-hidden, .scroll, svg, [popover], .cp-scroll, option')) return false;
  const style = getComputedStyle(one), box = one.getBoundingClientRect();
  const hides = style.overflowX === 'hidden' && style.textOverflow !== 'ellipsis' && one.scrollWidth > one.clientWidth + 1;
  const scrolls = one.closest('.cp-panel') && one.closest('table, .cp-table');
  return hides || (!scrolls && (box.right > innerWidth + 1 || box.left < -1));
}).map((one) => one.outerHTML.slice(0, 160))"""


@pytest.fixture
def opened(studio, visit, tmp_path):  # noqa: F811
    """A function that opens the demo's table in a new browser, at a size and in a colour scheme; the models are loaded once."""
    one = studio(write_demo(tmp_path))

    def go(width=1280, height=900, scheme="light"):
        watched = visit(one.address, viewport={"width": width, "height": height}, color_scheme=scheme)
        if not one.workspace.models():
            watched.page.get_by_role("button", name="Load", exact=True).click()
        watched.page.wait_for_selector(".cp-panel")
        return one, watched

    return go


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_step_at_each_size(opened, violations, scheme):
    for width, height in SIZES:
        _, watched = opened(width, height, scheme)
        page = watched.page
        box = page.locator(".headline-now").bounding_box()
        assert box["y"] >= 0, (width, scheme)
        assert box["y"] + box["height"] <= height, (width, scheme)
        for step in ("Load", "Ask and tune", "Compare", "Save"):
            page.get_by_role("tab", name=step).click()
            if step == "Ask and tune" and page.locator("#by-choices").is_visible():
                page.click("#by-choices")
                expect(page.locator(".side")).to_have_count(2)
            if step == "Compare":
                page.wait_for_selector(".chart")
            assert page.evaluate(CLIPPED) == [], (width, scheme, step)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (width, scheme, step)
            assert violations(page) == [], (width, scheme, step)
        assert watched.errors == []


def test_on_a_phone_the_result_comes_before_the_sliders(opened):
    _, watched = opened(390, 844)
    top = {
        name: watched.page.locator(name).first.bounding_box()["y"]
        for name in ("#headline", ".cp-table", ".cp-controls")
    }
    assert top["#headline"] < top[".cp-table"] < top[".cp-controls"]


def test_choices_are_answered_by_keyboard_and_survive_a_reload(opened):
    one, watched = opened()
    page = watched.page
    page.locator("#by-choices").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".question")).to_contain_text("Question 1 of")
    expect(page.locator(".side").first).to_be_focused()
    page.locator(".side").nth(1).focus()
    for number in (2, 3):
        page.keyboard.press("Enter")
        expect(page.locator(".question")).to_contain_text(f"Question {number} of")
    expect(page.locator(".side").first).to_be_focused()
    expect(page.locator(".known-line")).to_contain_text("recall weight of malignant")
    expect(page.locator(".headline-now")).to_contain_text(re.compile(r"Finds \d+ of 154 malignant"))
    asked = page.locator(".sides").inner_text()
    page.reload()
    expect(page.locator(".question")).to_contain_text("Question 3 of")
    assert page.locator(".sides").inner_text() == asked
    page.get_by_role("button", name="Back", exact=True).click()
    expect(page.locator(".question")).to_contain_text("Question 2 of")
    interview = cp.tradeoffs.Interview(one.workspace.model("2").votes, ["malignant"], answers=["second"])
    shown = [int(text) for text in re.findall(r"finds (\d+)", page.locator(".sides").inner_text())]
    assert shown == [side[0].found for side in (interview.question.first, interview.question.second)]
    page.get_by_role("button", name="That is enough").click()
    expect(page.locator(".ask")).not_to_have_attribute("open", "")
    held(one, lambda told: told["malignant"].importance == 10 and told["malignant"].recall_weight > 0.5)
    assert watched.errors == []


def test_a_question_is_answered_once(opened):
    """However often a button is pressed, and though the answer of the server was lost."""
    _, watched = opened()
    page = watched.page
    page.click("#by-choices")
    expect(page.locator(".question")).to_contain_text("Question 1 of")
    page.locator(".side").first.dblclick()
    expect(page.locator(".question")).to_contain_text("Question 2 of")
    page.route("**/interview", lambda route: route.abort())
    page.locator(".side").first.click()
    expect(page.locator(".ask").get_by_role("alert")).to_contain_text("cannot be reached")
    page.unroute("**/interview")
    page.locator(".side").first.click()
    expect(page.locator(".question")).to_contain_text("Question 3 of")
    expect(page.locator(".ask").get_by_role("alert")).to_be_hidden()


def test_what_failed_is_asked_again_and_no_error_stands(opened):
    one, watched = opened()
    page = watched.page
    error = page.locator("#tune > .error")
    slider = knob(page, "malignant", "Importance")
    page.route("**/hold", lambda route: route.abort())
    turn(slider, 12)
    expect(error).to_contain_text("cannot be reached")
    page.unroute("**/hold")
    page.get_by_role("tab", name="Compare").click()  # tells what was not told yet
    held(one, lambda told: told["malignant"].importance == 10)
    expect(error).to_have_text("")
    page.wait_for_selector(".chart")
    page.route("**/panel", lambda route: route.abort())
    page.get_by_role("tab", name="Ask and tune").click()
    page.select_option("#model", index=0)
    expect(error).to_contain_text("cannot be reached")
    page.unroute("**/panel")
    expect(page.locator(".cp-panel")).to_be_visible()
    expect(error).to_be_hidden()


def test_what_was_tuned_to_other_preferences_is_not_shown(opened):
    one, watched = opened()
    page = watched.page
    page.get_by_role("tab", name="Compare").click()
    page.get_by_role("button", name=re.compile("^Tune the")).click()
    loss = page.locator(".numbers tbody td:last-child").first
    expect(loss).to_have_text(re.compile(r"0\.\d{4}"))
    page.get_by_role("tab", name="Ask and tune").click()
    turn(knob(page, "malignant", "Importance"), 12)
    page.get_by_role("tab", name="Compare").click()  # before the sliders have rested
    expect(loss).to_have_text("–")
    held(one, lambda told: told["malignant"].importance == 10)
    now = cp.evaluate(one.workspace.models()[-1].counts()).per_class["malignant"]
    expect(page.locator(".numbers tbody tr").last.locator("td").nth(2)).to_have_text(f"{100 * now.recall:.1f} %")


def test_the_two_questions_understand_shares_as_people_write_them(opened):
    one, watched = opened()
    page = watched.page
    page.click("#by-questions")
    fields = page.locator(".direct input")
    for field, text in zip(fields.all(), ("90%", "0.3", "x"), strict=True):
        field.fill(text)
    page.get_by_role("button", name="Tune to these answers").click()
    expect(page.locator(".ask").get_by_role("alert")).to_contain_text("a share is written as 0.95, 95 % or 95")
    fields.nth(2).fill("95")
    page.get_by_role("button", name="Tune to these answers").click()
    expect(page.locator(".headline-now")).to_contain_text("malignant")
    held(one, lambda told: told["malignant"].min_recall == 0.9)
    told = one.workspace.preferences.preferences().of("malignant")
    assert told == cp.Preference(10, 0.3, 0.95, min_recall=0.9)


def test_who_chooses_by_keyboard_stays_at_the_control(opened):
    _, watched = opened()
    page = watched.page
    for tab, select in (("Ask and tune", "#model"), ("Compare", "#compare-class")):
        page.get_by_role("tab", name=tab).click()
        page.locator(select).focus()
        before = page.locator(select).input_value()
        page.keyboard.press(
            "ArrowUp" if before == page.locator(f"{select} option").last.get_attribute("value") else "ArrowDown"
        )
        expect(page.locator(select)).not_to_have_value(before)
        expect(page.locator(select)).to_be_focused()


def test_each_step_has_an_address_and_back_leads_to_the_step_before(opened):
    one, watched = opened()
    page = watched.page
    expect(page).to_have_url(re.compile("#tune$"))
    page.get_by_role("tab", name="Compare").click()
    expect(page).to_have_url(re.compile("#compare$"))
    page.go_back()
    expect(page.get_by_role("tab", name="Ask and tune")).to_have_attribute("aria-selected", "true")
    page.go_forward()
    page.wait_for_selector(".chart")
    linked = watched.page.context.new_page()
    linked.goto(f"{one.address}#save")
    expect(linked.locator("#save-report")).to_be_visible()
    expect(linked).to_have_url(f"{one.base}/#save")


def test_every_control_is_reached_by_the_tab_key_and_has_a_name(opened):
    _, watched = opened()
    page = watched.page
    page.click("#by-choices")
    expect(page.locator(".side")).to_have_count(2)
    wanted = page.evaluate("""() => { let n = 0; for (const one of document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]'))
      if (one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.tabIndex >= 0 && !(one.type === 'radio' && !one.checked) && !one.closest('[popover]:not(:popover-open)')) one.dataset.reach = ++n; return n; }""")
    page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    reached = set()
    for _ in range(2 * wanted):
        page.keyboard.press("Tab")
        at = page.evaluate("document.activeElement?.dataset?.reach ?? null")
        if at is not None:
            reached.add(int(at))
        if len(reached) == wanted:
            break
    missed = page.evaluate(
        "(seen) => [...document.querySelectorAll('[data-reach]')].filter((one) => !seen.includes(Number(one.dataset.reach))).map((one) => one.outerHTML.slice(0, 120))",
        sorted(reached),
    )
    assert missed == []
    unnamed = page.evaluate("""() => [...document.querySelectorAll('[data-reach]')]
      .filter((one) => !(one.labels?.length || one.getAttribute('aria-label') || one.getAttribute('aria-labelledby') || one.textContent.trim() || one.title)).map((one) => one.outerHTML)""")
    assert unnamed == []


def test_a_word_is_explained_and_the_glossary_holds_them_all(opened):
    _, watched = opened()
    page = watched.page
    page.get_by_role("tab", name="Compare").click()
    page.wait_for_selector(".chart")
    for button in page.locator("#compare .term").all():
        button.click()
        expect(page.locator(".term-text:popover-open")).to_have_count(1)
        page.keyboard.press("Escape")
    page.get_by_role("tab", name="Ask and tune").click()
    page.get_by_text("What the words mean").click()
    assert page.locator(".glossary dt").count() >= 15


def test_a_raw_table_gets_a_model_and_the_report_opens_in_a_tab(studio, visit, tmp_path):  # noqa: F811
    generator = np.random.default_rng(1)
    y = np.where(generator.random(200) < 0.3, "bad", "good")
    path = tmp_path / "raw.csv"
    path.write_text(
        "customer,x,state\n"
        + "\n".join(
            f"C{i},{a:.4f},{b}"
            for i, (a, b) in enumerate(zip(generator.normal(size=200) + 2 * (y == "bad"), y, strict=True))
        )
    )
    one = studio(path)
    watched = visit(one.address)
    page = watched.page
    expect(page.locator("#fit")).to_be_visible()
    expect(page.locator(".ignored").get_by_label("customer")).to_be_checked()
    expect(page.locator(".ignored").get_by_label("x")).not_to_be_checked()
    page.select_option("#fit", "logistic")
    page.get_by_role("button", name="Fit and load").click()
    page.wait_for_selector(".cp-panel", timeout=90_000)
    assert [model.name for model in one.workspace.models()] == ["raw.csv: logistic"]
    assert one.workspace.models()[0].recipe.columns.ignore == ("customer",)
    expect(page.locator(".headline-now")).to_contain_text(re.compile("Finds .* bad"))
    page.get_by_role("tab", name="Save").click()
    page.click("#save-report")
    with page.context.expect_page() as opening:
        page.get_by_role("link", name="Open the report").click()
    report = opening.value
    report.wait_for_selector(".cp-panel")
    assert report.evaluate("window.origin") == "null"
    assert watched.errors == []


def test_many_rows_are_exact(studio, visit, tmp_path):  # noqa: F811
    """300,000 rows of probabilities: nothing on the page is rounded, and the curves stand on the same votes as the table."""
    generator = np.random.default_rng(7)
    y = (generator.random(300_000) < 0.1).astype(int)
    p = 1 / (1 + np.exp(-generator.normal(size=len(y)) - 2.2 * y + 1.6))
    path = tmp_path / "many.csv"
    lines = [f"{('good', 'bad')[k]},{v:.6f},{1 - v:.6f}" for k, v in zip(y.tolist(), p.tolist(), strict=True)]
    path.write_text("truth,p_bad,p_good\n" + "\n".join(lines) + "\n")
    one = studio(path)
    page = visit(one.address).page
    page.get_by_role("button", name="Load", exact=True).click()
    page.wait_for_selector(".cp-panel", timeout=60_000)
    model = one.workspace.models()[0]
    assert model.document["binning"] is None
    expect(page.locator(".cp-panel .cp-note", has_text="rounded")).to_have_count(0)
    counts = model.votes.counts([1.0, 1.0]).matrix
    expect(page.locator(".headline-now")).to_contain_text(f"Finds {counts[0, 0]:,} of {counts[0].sum():,} bad")
