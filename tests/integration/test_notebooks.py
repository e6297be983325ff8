"""Objects in notebooks: written by nbconvert, and in a running JupyterLab, seen by Chromium."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.browser.conftest import CHROMIUMS, FLAGS

pytestmark = pytest.mark.integration

CODE = """
import numpy as np, compromis as cp
rng = np.random.default_rng(0)
y = np.array(["healthy", "ill"])[(rng.random(300) < 0.3).astype(int)]
p = np.clip(0.3 + 0.4 * (y == "ill") + 0.2 * rng.normal(size=300), 0.01, 0.99)
preferences = cp.Preferences({"ill": cp.Preference(10, 0.1, 0.9, min_recall=0.5)})
result = cp.evaluate(y, y_proba=np.column_stack([1 - p, p]), preferences=preferences, confidence=0.9)
"""
SHOWN = ["result", "preferences", "result.counts", "result.intervals", "cp.check(result)", "cp.panel(result)"]


@pytest.fixture
def notebook(tmp_path):
    """A notebook of these objects that has not run."""
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cells = [{**cell, "id": f"c{k}", "source": text} for k, text in enumerate([CODE, *SHOWN])]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    path = tmp_path / "book.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}))
    return path


@pytest.fixture
def page():
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = os.environ.get("COMPROMIS_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if not found:
        pytest.skip("there is no Chromium on this machine")
    with driver.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=found, args=FLAGS)
        yield browser.new_page(viewport={"width": 1300, "height": 900})
        browser.close()


OVERLAPPING = """() => Array.from(document.querySelectorAll(".cp-page td.cp-barred")).filter((cell) => {
    const bar = cell.querySelector("svg").getBoundingClientRect(), box = cell.getBoundingClientRect();
    const text = document.createRange();
    text.selectNodeContents(cell.lastChild.nodeType === 3 ? cell.lastChild : cell.childNodes[1]);
    const figures = text.getBoundingClientRect();
    return figures.right > box.right + 1 || (figures.left < bar.right - 1 && Math.abs(figures.top - bar.top) < 12);
}).length"""


def test_nbconvert_keeps_every_object_readable(notebook, page):
    pytest.importorskip("nbconvert", reason="nbconvert is not installed")
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--execute", str(notebook)]
    command += ["--ExecutePreprocessor.store_widget_state=False"]  # a page without a kernel, as on GitHub
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=240, env={**os.environ, "PYTHONWARNINGS": ""}
    )
    assert done.returncode == 0, done.stderr
    page.goto(notebook.with_suffix(".html").as_uri())
    assert page.locator(".cp-fragment").count() == len(SHOWN)
    assert page.evaluate(OVERLAPPING) == 0
    assert "need a running notebook" in page.inner_text("body")  # the panel's table stands for it
    assert page.locator(".cp-headline", has_text="Finds").count() >= 1


def test_jupyterlab_shows_tables_and_a_panel_that_tunes(notebook, page):
    pytest.importorskip("jupyterlab", reason="jupyterlab is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--no-browser", "--allow-root", f"--port={port}", "--IdentityProvider.token=", "--ServerApp.password="]
    command = [sys.executable, "-m", "jupyterlab", *options, "--ServerApp.disable_check_xsrf=True"]
    environment = {**os.environ, "PYTHONWARNINGS": "", "JUPYTER_CONFIG_DIR": str(notebook.parent / "config")}
    with Path(notebook.parent / "log").open("w") as log:
        lab = subprocess.Popen(command, cwd=notebook.parent, stdout=log, stderr=log, env=environment)
        try:
            _wait_for(f"http://127.0.0.1:{port}/api")
            page.goto(f"http://127.0.0.1:{port}/lab/tree/book.ipynb", timeout=90_000)
            page.locator(".jp-Notebook .jp-Cell").first.click(timeout=90_000)
            page.get_by_role("menuitem", name="Run", exact=True).click()
            page.get_by_text("Run All Cells", exact=True).click()
            page.locator(".cp-panel .cp-headline").wait_for(timeout=90_000)
            assert page.locator(".jp-OutputArea .cp-fragment").count() == len(SHOWN) - 1
            assert page.evaluate(OVERLAPPING) == 0
            table = page.locator(".cp-results .cp-scroll").first
            assert table.evaluate("(one) => one.scrollWidth <= one.clientWidth + 1")
            before = page.inner_text(".cp-panel .cp-headline")
            assert before.startswith("Finds")
            page.get_by_role("button", name="Tune on these rows").click()
            page.locator(".cp-warning").wait_for()
        finally:
            lab.terminate()
            lab.wait(20)


def _wait_for(address: str, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    raise AssertionError(f"nothing answers at {address}")
