"""The home page of the documentation as `make docs` built it, at three widths, light and dark, by keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import CLIPPED
from tests.browser.test_report_reading import WIDTHS

HOME = Path(__file__).parents[2] / "docs" / "_build" / "html" / "index.html"
pytestmark = pytest.mark.skipif(not HOME.exists(), reason="make docs has not built the pages")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_home_page_at_each_width(watched, violations, scheme):
    page = watched.page
    page.emulate_media(color_scheme=scheme)
    for width, height in WIDTHS:
        page.set_viewport_size({"width": width, "height": height})
        page.goto(HOME.as_uri())
        for seen in (".lead", f".hero.only-{scheme}"):
            box = page.locator(seen).bounding_box()
            assert box["y"] + box["height"] < height, (width, seen)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), width
        assert page.evaluate(CLIPPED) == [], width
        assert violations(page) == [], width


def test_every_link_and_button_of_the_home_page_has_a_name(watched):
    watched.page.goto(HOME.as_uri())
    nameless = watched.page.evaluate(
        "Array.from(document.querySelectorAll('a[href], button, input')).filter((one) => one.checkVisibility() && !(one.getAttribute('aria-label') || one.labels?.length || one.textContent.trim() || one.title || one.querySelector('img[alt]'))).map((one) => one.outerHTML)"
    )
    assert nameless == []
