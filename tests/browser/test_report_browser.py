"""The report in Chromium, from a file and without network."""

from __future__ import annotations

import time

import numpy as np
import pytest

import compromis as cp

HOSTILE = [
    "<script>window.ran = 1</script>",
    '"><img src=x onerror="window.ran=1">',
    "]]>",
    "{{7*7}}",
    "🦊 emoji",
    "\u202eright-to-left שלום",
    "x" * 300,
    "</script><script>window.ran=1</script>",
    "<!--<script>",
    "\u2028line\u2029paragraph",
    "' onfocus=window.ran=1 autofocus '",
    "javascript:window.ran=1",
]


def result_of(labels, rows=400, seed=0, **options):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(labels), rows)
    votes = rng.multinomial(20, np.full(len(labels), 1 / len(labels)), rows) + 12 * np.eye(len(labels))[y] * (
        rng.random((rows, 1)) < 0.7
    )
    names = np.array(labels, dtype=object)
    preferences = cp.Preferences({labels[0]: cp.Preference(10, 0.2, 0.9)}, metric="f")
    return cp.evaluate(
        names[y].tolist(),
        y_proba=votes / votes.sum(axis=1, keepdims=True),
        labels=labels,
        preferences=preferences,
        **options,
    )


@pytest.fixture
def report(opened):
    def show(result, **options):
        return opened(cp.report(result, **options).html, "report.html")

    return show


def turn(page, value):
    """Tune on these rows, and move a slider."""
    page.evaluate(
        """async (value) => {
            const button = document.querySelector("#panel .cp-primary");
            if (button.getAttribute("aria-pressed") === "false") button.click();
            const knob = document.querySelectorAll("#panel input[type=range]")[1];
            knob.value = value;
            knob.dispatchEvent(new Event("input", { bubbles: true }));
            await compromisPanel.settled();
        }""",
        value,
    )


def test_opens_from_a_file_without_network(report):
    watched = report(result_of(["ill", "well", "unsure"], confidence=0.95))
    page = watched.page
    verdict, matrix = page.inner_text("#panel .cp-sentence"), page.inner_text("#panel .cp-matrix")
    turn(page, 85)
    assert page.inner_text("#panel .cp-sentence") != verdict
    assert page.inner_text("#panel .cp-matrix") != matrix
    assert [url for url in watched.requests if not url.startswith("file:")] == []
    assert len(watched.requests) == 1
    assert watched.errors == []


def test_the_toml_copied_gives_the_same_weights_in_python(report, tmp_path):
    result = result_of(["ill", "well", "unsure", "dead"])
    page = report(result).page
    turn(page, 60)
    page.get_by_role("button", name="Copy preferences").click()
    page.wait_for_function("document.querySelector('.cp-message').textContent.includes('copied')")
    (tmp_path / "preferences.toml").write_text(page.evaluate("navigator.clipboard.readText()"))
    preferences = cp.Preferences.from_toml(tmp_path / "preferences.toml")
    state = page.evaluate("compromisPanel.state()")
    assert result.votes.counts(state["weights"]).matrix.tolist() == state["counts"]
    found = cp.search_weights(result.votes, preferences=preferences, random_state=0)
    assert found.loss == pytest.approx(state["loss"], rel=0.005)


def test_names_are_text_and_nothing_runs(report):
    watched = report(result_of(HOSTILE, rows=900), title=HOSTILE[1], command=HOSTILE[0])
    page = watched.page
    assert page.evaluate("window.ran") is None
    assert page.evaluate("document.images.length") == 0
    assert page.evaluate("document.scripts.length") == 2
    assert page.evaluate("document.querySelectorAll('[onerror], [onfocus], [autofocus]').length") == 0
    names = page.evaluate(
        "Array.from(document.querySelectorAll('#classes tbody th .cp-name'), (one) => one.title || one.textContent)"
    )
    from compromis._text import shown_label

    assert names == [shown_label(label) for label in HOSTILE]
    knobs = page.evaluate(
        "Array.from(document.querySelectorAll('#panel summary .cp-name'), (one) => one.title || one.textContent)"
    )
    assert sorted(knobs) == sorted(names)
    assert page.title() == HOSTILE[1]
    assert page.inner_text("h1") == HOSTILE[1]
    assert watched.errors == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_policy_is_in_force(report):
    watched = report(result_of(["a", "b"]))
    page = watched.page
    page.evaluate("""() => {
        const script = document.createElement("script"); script.textContent = "window.ran = 1"; document.body.append(script);
        const picture = document.createElement("img"); picture.src = "https://example.org/x.png"; document.body.append(picture);
        const button = document.createElement("button"); button.setAttribute("onclick", "window.ran = 2"); document.body.append(button); button.click();
    }""")
    deadline = time.monotonic() + 10
    while len(watched.errors) < 3 and time.monotonic() < deadline:
        page.wait_for_timeout(20)
    assert page.evaluate("window.ran") is None
    assert sum("Content Security Policy" in error for error in watched.errors) == 3
    assert page.evaluate("fetch('https://example.org').then(() => 'sent', () => 'refused')") == "refused"


def test_without_votes_there_are_no_knobs_but_the_reason(report):
    watched = report(cp.evaluate(["a", "b", "b"], ["a", "a", "b"]))
    assert watched.page.locator("#panel").count() == 0
    assert "no votes or probabilities were given" in watched.page.inner_text("#how")
    assert watched.errors == []


def test_the_matrix_reads_three_ways(report):
    page = report(cp.evaluate(["a"] * 3 + ["b"] * 5, ["a", "a", "b", "b", "b", "a", "a", "a"])).page
    cells = "Array.from(document.querySelectorAll('#confusion td'), (one) => one.textContent)"
    assert page.evaluate(cells) == ["2", "1", "3", "2"]
    page.get_by_label("by row").check()
    assert page.evaluate(cells) == ["67", "33", "60", "40"]
    page.get_by_label("by column").check()
    assert page.evaluate(cells) == ["40", "33", "60", "67"]


def test_two_hundred_classes_scroll(report):
    labels = [f"class {k}" for k in range(200)]
    result = result_of(labels, rows=2000)
    watched = report(result)
    box = watched.page.locator("#confusion .cp-matrix-scroll")
    assert box.evaluate("(one) => one.scrollWidth > one.clientWidth && one.scrollHeight > one.clientHeight")
    assert watched.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert watched.errors == []


def test_prints_on_paper_without_cut_tables(report, tmp_path):
    page = report(result_of([chr(65 + k) for k in range(26)], rows=900, confidence=0.95)).page
    page.set_viewport_size({"width": 720, "height": 1000})  # A4 between its margins
    page.emulate_media(media="print")
    assert page.locator(".cp-controls").is_hidden()
    cut = "Array.from(document.querySelectorAll('.cp-scroll')).filter((one) => one.clientHeight < one.scrollHeight - 1 || one.clientWidth < one.scrollWidth - 1).map((one) => one.textContent.slice(0, 60))"
    assert page.evaluate(cut) == []
    assert len(page.pdf(format="A4")) > 10_000


CONTRAST = """(dark) => {
    const light = (text) => { const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map((one) => { const s = one / 255; return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const behind = (one) => { for (let at = one; at; at = at.parentElement) { const colour = getComputedStyle(at).backgroundColor; if (!/, 0\\)|\\/ 0\\)|transparent/.test(colour) && !/\\/ 0?\\.|, 0\\./.test(colour)) return colour; } return "rgb(255, 255, 255)"; };
    const low = [];
    for (const one of document.querySelectorAll("h1, h2, p, li, th, td, label, output, dt, dd, a, button, summary, figcaption, small, span")) {
        if (!one.textContent.trim() || !one.offsetParent) continue;
        const [a, b] = [light(getComputedStyle(one).color), light(behind(one))].sort((x, y) => y - x);
        if ((a + 0.05) / (b + 0.05) < 4.5) low.push(one.tagName + "." + one.className + ": " + one.textContent.slice(0, 30));
    }
    return [...new Set(low)].slice(0, 10);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(report, scheme):
    page = report(result_of(["a", "b", "c"], confidence=0.9)).page
    page.emulate_media(color_scheme=scheme)
    assert page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("name", ['<img src=x onerror="window.ran=1">', "{{7*7}} ]]> 🦊", "x" * 200])
def test_names_of_files_and_columns_are_text(watched, tmp_path, name):
    from click.testing import CliRunner

    from compromis.cli.run import main

    rows = "".join(
        f'{truth},"{truth}",{share},{1 - share}\n' for truth, share in (("a", 0.8), ("b", 0.3), ("b", 0.6), ("a", 0.4))
    )
    column = '"' + name.replace('"', '""') + '"'
    (tmp_path / f"{name}.csv").write_text(f"{column},predicted,p_a,p_b\n{rows}", encoding="utf-8")
    done = CliRunner().invoke(main, ["report", f"{name}.csv", "--truth", name, "--proba", "p_", "--prioritise", "b"])
    assert done.exit_code == 0, done.output
    watched.page.goto((tmp_path / "report.html").as_uri())
    assert watched.page.inner_text("h1") == f"b in {name}.csv"
    assert name in watched.page.inner_text("#how")
    assert watched.page.evaluate("[window.ran, document.images.length]") == [None, 0]
    assert watched.errors == []
