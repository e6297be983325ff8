"""How long the studio takes to start, and a re-tune from the browser and back: letter's 26 classes, votes of forests of 20 and 100 trees.

It needs COMPROMIS_DATA, Chromium and Playwright, and says so where one is missing. A
round trip is what the page's `retune` takes: the preferences goes to the server; weights and counts come back, from the full search if it
needs no longer than 0.12 s, else first from a descent that starts at the weights before. The full search's weights follow, and its loss is
what the first one is compared with. Machines are shared: look at the ratio to the search alone, measured in the same minute.
"""

from __future__ import annotations

import asyncio
import csv
import gzip
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.lines import Lines, at_most, waiting

TARGET = 300.0
TURNS = 15
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
VOWELS = "AEIOUY"

_MEASURE = """async ([address, token, settings]) => {
  const found = { first: [], full: [], near: [], best: [] };
  const ask = async (path, body) => (await fetch(path, {
    method: body ? "POST" : "GET", body: body && JSON.stringify(body),
    headers: { "x-compromis-token": token, ...(body ? { "content-type": "application/json" } : {}) },
  })).json();
  for (const preferences of settings) {
    const begin = performance.now();
    let job = await ask(address, { preferences });
    let first = null;
    for (;;) {
      if (first === null && job.result) {
        first = performance.now() - begin;
        found.first.push(first);
        found.near.push(job.result.loss);
      }
      if (job.state !== "running" && job.state !== "waiting") break;
      job = await ask(`/api/jobs/${job.id}?seen=${job.version}`);
    }
    found.full.push(performance.now() - begin);
    found.best.push(job.result.loss);
  }
  return found;
}"""
_SLIDE = """async (value) => {
  const slider = [...document.querySelectorAll("details.cp-class")].find((one) => one.textContent.startsWith("A")).querySelector("input[type=range]");
  const place = document.querySelector(".cp-loss");
  const before = place.textContent;
  const begin = performance.now();
  slider.value = value;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  await new Promise((done) => {
    // the preferences alone changes numbers in the next frame; the answer of the server comes 30 ms later at the earliest
    const watch = new MutationObserver(() => performance.now() - begin > 40 && (watch.disconnect(), done()));
    watch.observe(document.querySelector(".cp-table"), { subtree: true, childList: true, characterData: true });
    setTimeout(() => (watch.disconnect(), done()), 3000);
  });
  return [performance.now() - begin, before, place.textContent];
}"""


def write_votes(folder: Path, trees: int) -> Path:
    """Write the out-of-bag votes of a forest on the letters, and return the table's path."""
    from sklearn.ensemble import RandomForestClassifier

    with gzip.open(Path(os.environ["COMPROMIS_DATA"]) / "letter.csv.gz", "rt") as file:
        rows = [text.rstrip("\n").split(",") for text in file][1:]
    X, y = np.array([row[:-1] for row in rows], dtype=np.float32), np.array([row[-1] for row in rows])
    forest = RandomForestClassifier(trees, max_features=4, n_jobs=1, random_state=0).fit(X, y)
    votes = np.zeros((len(X), 26), dtype=np.int64)
    for tree, sample in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        unseen = np.ones(len(X), dtype=bool)
        unseen[sample] = False
        np.add.at(votes, (np.flatnonzero(unseen), tree.predict(X[unseen]).astype(int)), 1)
    path = folder / f"letter{trees}.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["letter", *(f"v_{label}" for label in forest.classes_)])
        writer.writerows([label, *row] for label, row in zip(y.tolist(), votes.tolist(), strict=True))
    return path


def settings() -> list[dict]:
    """Return preferences as a hand on a slider makes them: vowels matter, one answer moves."""
    return [
        {
            "metric": "kulczynski",
            "classes": [
                {
                    "label": letter,
                    "importance": 10.0,
                    "precision_at_full_recall": 0.1 + 0.02 * turn,
                    "recall_at_full_precision": 0.9,
                }
                for letter in VOWELS
            ],
        }
        for turn in range(TURNS)
    ]


def serve(folder: Path, paths: list[Path]):
    """Start a studio in a thread; return it with its address, token and how to stop it."""
    from compromis.studio.guard import Secrets
    from compromis.studio.serving import listen, make_server, warm_up
    from compromis.studio.storage import Places
    from compromis.studio.workspace import Workspace

    workspace, keys, sock = Workspace(Places(paths, folder)), Secrets(), listen()
    started = threading.Event()
    server = make_server(workspace, keys, sock, started=lambda _: started.set())
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[sock])))
    thread.start()
    started.wait()
    warm_up(workspace)

    def stop() -> None:
        server.should_exit = True
        thread.join()

    return workspace, keys, f"http://127.0.0.1:{sock.getsockname()[1]}", stop


def load(workspace, source: str, trees: int):
    from compromis.studio.loading import Columns
    from compromis.studio.workspace import Recipe

    labels = [chr(65 + k) for k in range(26)]
    columns = Columns("letter", {f"v_{label}": label for label in labels})
    begin = time.perf_counter()
    shown = workspace.load(Recipe(source, f"forest {trees}", columns), lambda *_: None)
    return shown, time.perf_counter() - begin


def measure(lines: Lines, browser, folder: Path, trees: int) -> None:
    from compromis.preferences import Preference, Preferences
    from compromis.weights import search_weights

    path = write_votes(folder, trees)
    workspace, keys, base, stop = serve(folder, [path])
    try:
        shown, loading = load(workspace, "1", trees)
        page = browser.new_page()
        page.goto(f"{base}/?token={keys.token}")
        page.wait_for_selector(".cp-panel")
        found = page.evaluate(_MEASURE, [f"/api/models/{shown['id']}/tune", keys.token, settings()])
        model, alone, full = workspace.model(shown["id"]), [], []
        for turn in range(TURNS):
            preferences = Preferences(
                {letter: Preference(10, 0.1 + 0.02 * turn, 0.9) for letter in VOWELS}, metric="kulczynski"
            )
            begin = time.perf_counter()
            full.append(search_weights(model.votes, preferences=preferences, random_state=0).loss)
            alone.append(1000 * (time.perf_counter() - begin))
        slides = [page.evaluate(_SLIDE, str(8 + turn)) for turn in range(8)]
        page.close()
    finally:
        stop()
    slides = [one[0] for one in slides if one[1] != one[2]]
    name = f"letter, 26 classes, {trees} trees"
    print(f"{name}: {shown['patterns']:,} patterns, loaded in {loading:.2f} s, remote: {model.document['remote']}")
    report(lines, name, found, full, alone, slides)


def report(lines: Lines, name: str, found: dict, full: list[float], alone: list[float], slides: list[float]) -> None:
    """The answers in the browser, with losses beside those of the full search in Python."""

    def answer(what: str, times: list[float], beside: str = "") -> None:
        middle, longest = statistics.median(times), f"longest of {len(times)} {max(times):.0f} ms"
        lines.add(f"{name}: {what}, median", middle, at_most(TARGET), longest + beside, unit="ms")

    near = [one / best for one, best in zip(found["near"], full, strict=True)]
    alone_time = statistics.median(alone)
    ratio = statistics.median(found["first"]) / alone_time
    answer(
        "first answer, from the browser and back",
        found["first"],
        f"; the full search alone in Python {alone_time:.0f} ms: {ratio:.2f} of it",
    )
    answer("the full search's answer", found["full"])
    answer("slider to new numbers on the page", slides)
    what = f"{name}: loss of the first answer / that of the full search, largest of {TURNS}"
    lines.add(what, max(near), beside=f"median {statistics.median(near):.5f}")
    best = max(a / b for a, b in zip(found["best"], full, strict=True))
    lines.add(f"{name}: loss of the full search's answer / the same in Python, largest of {TURNS}", best, at_most(1))


START = [sys.executable, "-m", "compromis", "studio", "--demo", "--no-browser"]


def starting(lines: Lines) -> None:
    """From the command to the page's first answer; a process of its own each time."""
    times, busy = [], []
    for _ in range(5):
        begin = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            running = subprocess.Popen(
                START, stdout=subprocess.PIPE, text=True, cwd=folder, env={**os.environ, "PYTHONUNBUFFERED": "1"}
            )
            address = next(found[0] for found in map(re.compile(r"http://\S+").search, running.stdout) if found)
            with urllib.request.urlopen(address, timeout=20) as answer:
                answer.read()
            times.append(time.perf_counter() - begin)
            running.send_signal(signal.SIGINT)
            _, _, used = os.wait4(running.pid, 0)
            busy.append(used.ru_utime + used.ru_stime)
    beside = f"{min(busy):.2f} s of processor time, its end included"
    because = waiting(min(busy), at_most(1.5))
    lines.add("start of the studio, from the command to the page, best of 5", min(times), at_most(1.5), beside, unit="s", missed_because=because)  # fmt: skip


def main() -> None:
    chromium = os.environ.get("COMPROMIS_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with Lines("studio") as lines:
        starting(lines)
        if not os.environ.get("COMPROMIS_DATA") or chromium is None or find_spec("playwright") is None:
            lines.leave_out("letter", "this needs COMPROMIS_DATA, Chromium and Playwright")
        else:
            in_browser(lines, chromium)


def in_browser(lines: Lines, chromium: str) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        for trees in (20, 100):
            measure(lines, browser, Path(folder), trees)
        browser.close()


if __name__ == "__main__":
    main()
