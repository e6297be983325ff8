"""The studio's pictures in the documentation, taken from the real thing in Chromium: python docs/pictures/studio_screenshots.py."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def start(folder: str) -> tuple[subprocess.Popen[str], str]:
    """Start the command as a user does, and return it with the address that it prints."""
    command = [sys.executable, "-m", "compromis", "studio", "--demo", "--no-browser", "--output", folder]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 (our own command)
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http\S+", line):
            return process, found[0]
    raise SystemExit("the studio did not start")


def photograph(page: Page, address: str) -> None:
    """Walk through the four steps and take a picture of each."""
    page.goto(address)
    page.wait_for_selector(".cp-panel", timeout=60_000)
    page.wait_for_function("() => document.querySelector('.cp-verdict')?.textContent.includes('the loss is')")
    page.wait_for_timeout(1500)
    page.screenshot(path=HERE / "studio_tune.png")
    page.get_by_role("tab", name="Compare").click()
    page.get_by_role("button", name="Tune the").click()
    page.wait_for_function(
        "() => /\\d/.test(document.querySelector('.numbers tbody td:last-child')?.textContent)", timeout=120_000
    )
    page.wait_for_timeout(500)
    page.screenshot(path=HERE / "studio_compare.png")
    page.get_by_role("tab", name="Load").click()
    page.wait_for_timeout(300)
    page.screenshot(path=HERE / "studio_load.png")


def main() -> None:
    """Take every picture."""
    chromium = os.environ.get("COMPROMIS_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        process, address = start(folder)
        try:
            browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
            photograph(browser.new_page(viewport={"width": 1280, "height": 860}), address)
            dark = browser.new_page(viewport={"width": 1280, "height": 860}, color_scheme="dark")
            dark.goto(address)
            dark.wait_for_selector(".cp-panel")
            dark.wait_for_timeout(1000)
            dark.screenshot(path=HERE / "studio_dark.png")
            browser.close()
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
