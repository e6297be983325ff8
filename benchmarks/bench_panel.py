"""How quickly the panel answers in the browser, and how quickly a report is written.

A slider's `input` event is dispatched; the page is updated when decisions, matrix, bars, verdict and curves are in the
document and laid out. The time to the painted frame, with a real key press, stands beside it.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import compromis as cp
from benchmarks.lines import Lines, at_most, waiting
from compromis.reports import panel_assets, panel_document
from compromis.reports.page import embedded

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
MOVES, WARM = 40, 5

SYNTHETIC = """async (moves) => {
  const knob = document.querySelectorAll("input[type=range]")[1];
  const times = [];
  for (let move = 0; move < moves + 5; move++) {
    knob.value = 10 + ((move * 7) % 60);
    const begin = performance.now();
    knob.dispatchEvent(new Event("input", { bubbles: true }));
    document.querySelector(".cp-results").getBoundingClientRect();
    times.push(performance.now() - begin);
    await new Promise((next) => setTimeout(next, 30));
  }
  return times.slice(5);
}"""
LISTEN = """() => {
  globalThis.painted = [];
  const knob = document.querySelectorAll("input[type=range]")[1];
  knob.focus();
  knob.addEventListener("input", (event) => {
    const begin = event.timeStamp;
    requestAnimationFrame(() => { const port = new MessageChannel(); port.port1.onmessage = () => painted.push(performance.now() - begin); port.port2.postMessage(0); });
  });
}"""


def votes_of(rows: int, classes: int, seed: int = 0) -> cp.Votes:
    """Continuous probabilities: every row is a pattern of its own."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    logs = 1.5 * np.eye(classes)[y] + rng.normal(size=(rows, classes))
    shares = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    return cp.Votes.from_proba(y, shares)


def page_of(patterns: cp.Votes) -> str:
    preferences = cp.Preferences.prioritise([0], metric="f")
    weights = cp.search_weights(patterns, preferences=preferences, method="sweep", random_state=0).weights
    document = panel_document(patterns, preferences, weights, most_bytes=10**8)
    script, style = panel_assets()
    return (
        f'<!doctype html><meta charset="utf-8"><style>{style}</style><div id="root"></div>'
        f'<script type="application/json" id="content">{embedded(document)}</script><script type="module">{script}\n'
        'globalThis.panel = mountPanel(document.getElementById("root"), JSON.parse(document.getElementById("content").textContent));</script>'
    )


def measure(lines: Lines, browser, rows: int, classes: int, target: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "panel.html"
        path.write_text(page_of(votes_of(rows, classes)), encoding="utf-8")
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto(path.as_uri())
        thread = page.context.new_cdp_session(page)
        thread.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.evaluate(SYNTHETIC, 0)
        times, busy = [], []
        for _ in range(3):
            begin = _thread_seconds(thread)
            times += page.evaluate(SYNTHETIC, MOVES)
            busy.append((_thread_seconds(thread) - begin) * 1000 / (MOVES + WARM))
        page.evaluate(LISTEN)
        for _ in range(25):
            page.keyboard.press("ArrowRight")
            page.wait_for_timeout(40)
        painted = page.evaluate("painted")
        page.keyboard.press("ArrowLeft")
        settled = page.evaluate(
            "(async () => { const begin = performance.now(); await panel.settled(); return performance.now() - begin; })()"
        )
        page.close()
    lines.add(
        f"slider to updated page, {rows:,} patterns x {classes} classes, median",
        statistics.median(times),
        at_most(target),
        f"90 % within {np.quantile(times, 0.9):.1f} ms; {min(busy):.1f} ms of the main thread's processor time; key to "
        f"painted frame {statistics.median(painted):.1f} ms; full search {settled:.0f} ms later",
        unit="ms",
        missed_because=waiting(min(busy), at_most(target)),
    )


def first_paint(lines: Lines, browser) -> None:
    """A report of about 2 MB, every vote of it exact: when the browser shows something, from the address on."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        cp.report(votes_of(30_000, 5), path, preferences=cp.Preferences.prioritise([0]))
        times, busy = [], []
        for _ in range(7):
            page = browser.new_page(viewport={"width": 1200, "height": 900})
            thread = page.context.new_cdp_session(page)
            thread.send("Performance.enable", {"timeDomain": "threadTicks"})
            page.goto(path.as_uri())
            page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
            times.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1000)
            busy.append(_thread_seconds(thread))
            page.close()
        size = path.stat().st_size / 1e6
    beside = f"{size:.1f} MB; {min(busy):.2f} s of the main thread's processor time until it is loaded"
    because = waiting(min(busy), at_most(1.5))
    lines.add(
        "first paint of a report, median",
        statistics.median(times),
        at_most(1.5),
        beside,
        unit="s",
        missed_because=because,
    )


def _thread_seconds(session) -> float:
    """The processor time of the page's main thread in tasks: what does not depend on the load of the machine."""
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return metrics["TaskDuration"]


def measure_report(lines: Lines) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 26, 20_000)
    chances = 0.5 * rng.dirichlet(np.full(26, 0.3), 20_000) + 0.5 * np.eye(26)[y]
    votes = np.array([rng.multinomial(100, chance) for chance in chances]) / 100
    names = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))[y]
    preferences = cp.Preferences.prioritise(list("AEIOU"), metric="f")
    result = cp.evaluate(names, y_proba=votes, preferences=preferences, confidence=0.95)
    with tempfile.TemporaryDirectory() as folder:
        times, busy = [], []
        for _ in range(3):
            begin, spent = time.perf_counter(), time.process_time()
            cp.report(result, Path(folder) / "report.html")
            times.append(time.perf_counter() - begin)
            busy.append(time.process_time() - spent)
        size = (Path(folder) / "report.html").stat().st_size
    beside = f"then {min(times[1:]):.2f} s; processor time {busy[0]:.2f} and {min(busy[1:]):.2f} s"
    what, because = "report of 20,000 rows and 26 classes, the first", waiting(busy[0], at_most(3))
    lines.add(what, times[0], at_most(3), beside, unit="s", missed_because=because)
    lines.add("its size", size / 1000, at_most(2_200), unit="kB")


def main() -> None:
    chromium = os.environ.get("COMPROMIS_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with Lines("panel") as lines:
        if chromium is None or find_spec("playwright") is None:
            for beginning in ("slider", "first paint"):
                lines.leave_out(beginning, "this needs Chromium and Playwright")
        else:
            in_browser(lines, chromium)
        measure_report(lines)


def in_browser(lines: Lines, chromium: str) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        measure(lines, browser, 3_000, 5, 16)
        measure(lines, browser, 20_000, 5, 50)
        first_paint(lines, browser)
        browser.close()


if __name__ == "__main__":
    main()
