"""One Chromium for all browser tests of a session; they are skipped, with the reason, where there is none."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def browser():
    """A running Chromium of the machine; nothing is downloaded."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = os.environ.get("COMPROMIS_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if not found:
        pytest.skip("there is no Chromium on this machine; set COMPROMIS_CHROMIUM to its path")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=found, args=FLAGS)
        yield running
        running.close()


class Watched:
    """A page whose requests, console errors and uncaught errors are written down."""

    def __init__(self, page):
        self.page = page
        self.requests: list[str] = []
        self.errors: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("dialog", lambda dialog: (self.errors.append("dialog: " + dialog.message), dialog.dismiss()))


@pytest.fixture
def watched(browser):
    """A new page of its own, without network; its requests and errors are written down."""
    context = browser.new_context(offline=True, viewport={"width": 1200, "height": 900}, accept_downloads=True)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    yield Watched(context.new_page())
    context.close()


@pytest.fixture
def opened(watched, tmp_path):
    """Open a page from a file: returns the watched page."""

    def open_file(text: str, name: str = "page.html"):
        path = Path(tmp_path) / name
        path.write_text(text, encoding="utf-8")
        watched.page.goto(path.as_uri())
        return watched

    return open_file


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, which looks for what keeps people from reading or using a page."""
    package = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    return (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture
def violations(axe):
    """Return what axe-core finds in a page, a line each: rule and the first element."""

    def find(page) -> list[str]:
        page.evaluate(axe)
        found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
        return [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found]

    return find


CLIPPED = """() => {
    const hidden = (one) => { const style = getComputedStyle(one); return style.overflowX !== "visible" || style.overflowY !== "visible"; };
    const scrolls = (one) => ["auto", "scroll"].includes(getComputedStyle(one).overflowX) || ["auto", "scroll"].includes(getComputedStyle(one).overflowY);
    const found = [];
    for (const one of document.querySelectorAll("body *")) {
        if (!one.checkVisibility() || one.closest("svg, textarea, select, .cp-skip, [hidden]")) continue;
        const text = Array.from(one.childNodes).some((node) => node.nodeType === 3 && node.textContent.trim());
        if (!text) continue;
        const range = document.createRange();
        range.selectNodeContents(one);
        const box = range.getBoundingClientRect();
        for (let at = one; at && at !== document.body; at = at.parentElement) {
            if (!hidden(at)) continue;
            if (scrolls(at)) break;
            const frame = at.getBoundingClientRect();
            if (box.right > frame.right + 1 || box.left < frame.left - 1 || box.bottom > frame.bottom + 1 || box.top < frame.top - 1) found.push(one.textContent.trim().slice(0, 60));
        }
        const scroller = one.closest(".cp-scroll, .cp-classes, [data-scrolls]");
        if (!scroller && (box.right > document.documentElement.clientWidth + 1 || box.left < -1)) found.push("beyond the window: " + one.textContent.trim().slice(0, 60));
    }
    return [...new Set(found)].slice(0, 10);
}"""
"""Texts that are cut by a box that does not scroll, or that lie beyond the window."""
