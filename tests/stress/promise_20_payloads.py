"""20. Two hundred payloads as class, column and file names in report and studio, in a real browser: nothing runs, nothing goes out."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tests.stress.outcome import NotRun, Outcome, Progress, silent

TITLE = "payloads as names in report and studio, in a browser"
QUICK = 0.02
RUN = "window.ran=1"
SHAPES = (
    "<script>{run}</script>", "</script><script>{run}</script>", "<img src=x onerror={run}>", '"><img src=x onerror="{run}">', "'><svg onload={run}>",
    "<svg/onload={run}>", "<iframe srcdoc='<script>parent.{run}</script>'>", "<iframe src=javascript:{run}>", "<a href=javascript:{run}>x</a>",
    "<body onload={run}>", "<details open ontoggle={run}>", "<input autofocus onfocus={run}>", "<math><mi xlink:href=javascript:{run}>", "<style>@import 'http://evil.example/{n}';</style>",
    "<link rel=stylesheet href=http://evil.example/{n}>", "<meta http-equiv=refresh content='0;url=http://evil.example/{n}'>", "<object data=http://evil.example/{n}>",
    "<base href=http://evil.example/{n}>", "<form action=http://evil.example/{n}><button>", "{{{{constructor.constructor('{run}')()}}}}", "${{{run}}}", "#{{{run}}}", "<%= {run} %>",
    "`${{{run}}}`", "'+({run})+'", '"+({run})+"', "\\u003cscript\\u003e{run}", "</style><script>{run}</script>", "</title><script>{run}</script>", "</textarea><script>{run}</script>",
    "--><script>{run}</script>", "]]><script>{run}</script>", "<!--<script>{run}", "<noscript><p title='</noscript><img src=x onerror={run}>'>", "\u2028{run}\u2029", "\u202e{run}",
    "javascript:{run}", "data:text/html,<script>{run}</script>", "<img src=http://evil.example/{n}.png>", "<video><source onerror={run}>",
)  # fmt: skip
FORMS = ("{}", "x{}y", " {} ", "{}\n", "{}\u200b")
"""Each shape in several surroundings: 200 payloads."""


def payloads() -> list[str]:
    """Return the two hundred names, each different from all others."""
    made = [form.format(shape.format(run=RUN, n=n)) for n, (shape, form) in enumerate(itertools.product(SHAPES, FORMS))]
    return list(dict.fromkeys(made))


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Open pages whose names are payloads, eight at a time, and look whether one ran, or asked for anything outside."""
    names = payloads()
    groups = [names[start::25] for start in range(25)]
    groups = groups[: max(1, round(25 * scale))]
    with ThreadPoolExecutor(1) as own:  # playwright may be running in this thread already, for other tests
        return own.submit(_opened, groups, progress).result()


def _opened(groups: list[list[str]], progress: Progress) -> Outcome:
    total = Outcome(0)
    with browser() as running, tempfile.TemporaryDirectory() as folder:
        for done, group in enumerate(groups, start=1):
            total += _report(running, group, Path(folder) / f"{done}") + _studio(
                running, group, Path(folder) / f"{done}"
            )
            progress(done, len(groups))
    return total


@contextmanager
def browser() -> Iterator[Any]:
    """A Chromium of this machine; nothing is downloaded."""
    try:
        from playwright.sync_api import sync_playwright

        from tests.browser.conftest import CHROMIUMS, FLAGS
    except ImportError:
        raise NotRun("playwright is not installed") from None
    found = os.environ.get("COMPROMIS_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if not found:
        raise NotRun("there is no Chromium on this machine; set COMPROMIS_CHROMIUM to its path")
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=found, args=FLAGS)
        yield running
        running.close()


def _report(running: Any, names: list[str], folder: Path) -> Outcome:
    """A report about classes of these names, opened from a file of such a name, each class's knobs opened."""
    import compromis as cp

    folder.mkdir()
    rng = np.random.default_rng(len(names))
    y = np.arange(200) % len(names)
    shares = rng.dirichlet(np.ones(len(names)), 200) + np.eye(len(names))[y]
    labels = np.array(names, dtype=object)
    preferences = cp.Preferences({names[0]: cp.Preference(10, 0.2, 0.9)}, metric="f")
    result = cp.evaluate(
        labels[y].tolist(), y_proba=shares / shares.sum(axis=1, keepdims=True), labels=names, preferences=preferences
    )
    path = folder / _file_name(names[0], ".html")
    path.write_text(cp.report(result, title=names[1], command=names[2]).html, encoding="utf-8")
    return _looked_at(
        running, path.as_uri(), names, "report", lambda url: url.startswith(("file:", "data:", "blob:")), ()
    )


def _studio(running: Any, names: list[str], folder: Path) -> Outcome:
    """The studio, with a file, columns and a model of these names."""
    from tests.studio.conftest import votes_csv
    from tests.studio.running import Running

    (folder / "saved").mkdir()
    path = folder / _file_name(names[0], ".csv")
    votes_csv(path, classes=names, prefix=f"p{names[1]}", truth=f"t{names[2]}", rows=100)
    one = Running([path], folder / "saved")
    try:
        columns = {"truth": f"t{names[2]}", "votes": {f"p{names[1]}{label}": label for label in names}}
        one.ask("/api/models", {"source": "1", "name": names[3].strip()[:80] or "x", "columns": columns})
        tabs = ("Compare", "Save", "Load", "Ask and tune")
        return _looked_at(
            running, one.address, names, "studio", lambda url: url.startswith((one.base, "data:", "blob:")), tabs
        )
    finally:
        one.stop()


def _file_name(name: str, suffix: str) -> str:
    return "".join("∕" if letter in "/\0" else letter for letter in name)[:60] + suffix


def _looked_at(running: Any, address: str, names: list[str], where: str, inside: Any, tabs: tuple[str, ...]) -> Outcome:
    from tests.browser.conftest import Watched

    context = running.new_context(viewport={"width": 1200, "height": 900})
    try:
        watched = Watched(context.new_page())
        page = watched.page
        page.set_default_timeout(60_000)
        page.goto(address)
        page.wait_for_selector(".cp-panel")
        for tab in tabs:
            page.get_by_role("tab", name=tab).click()
            page.wait_for_timeout(150)
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        for element in page.locator("summary, [title]").all()[:12]:
            element.hover(force=True, timeout=2000) if element.is_visible() else None
        page.wait_for_timeout(200)
        return _judged(page, watched, names, where, inside)
    finally:
        context.close()


def _judged(page: Any, watched: Any, names: list[str], where: str, inside: Any) -> Outcome:
    failures = []
    if page.evaluate("window.ran") is not None:
        failures.append("a payload ran")
    outside = [url for url in watched.requests if not inside(url)]
    if outside:
        failures.append(f"asked for {outside[:3]}")
    dialogs = [error for error in watched.errors if "dialog" in error or "Content Security Policy" in error]
    if dialogs:
        failures.append(f"the policy had to step in, or a dialog opened: {dialogs[:2]}")
    made = page.locator(
        "iframe, object, embed, base, bdi script, bdi img, bdi svg, td img, td script, form[action]"
    ).count()
    if made:
        failures.append(f"{made} elements came from names")
    text = page.locator("body").inner_text()
    if where == "report" and not any(name.strip()[:12] in text for name in names):
        failures.append("no name is shown as text: the page does not hold what is tested")
    return Outcome(len(names), tuple(f"{where}: {one}, names {names[:2]}" for one in failures))
