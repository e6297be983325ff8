"""Photograph the report for README and docs, from the real thing: python docs/pictures/screenshots.py [folder]."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from sklearn.datasets import load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

import compromis as cp

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def wine() -> cp.reports.Report:
    """Three wines told apart by three measurements: there is something to trade."""
    data = load_wine()
    names = [("Barolo", "Grignolino", "Barbera")[k] for k in data.target]
    shares = cross_val_predict(
        RandomForestClassifier(50, max_depth=2, random_state=0), data.data[:, :3], names, cv=5, method="predict_proba"
    )
    preferences = cp.Preferences({"Barbera": cp.Preference(10, 0.50, 0.95, min_precision=0.50)}, metric="f")
    result = cp.evaluate(names, y_proba=shares, labels=sorted(set(names)), preferences=preferences, confidence=0.95)
    return cp.report(result, title="Wine: votes of a forest that has not seen the rows")


def digits() -> cp.reports.Report:
    """Ten digits by a forest of shallow trees."""
    data = load_digits()
    names = data.target.astype(str)
    shares = cross_val_predict(
        RandomForestClassifier(50, max_depth=4, random_state=0), data.data, names, cv=5, method="predict_proba"
    )
    preferences = cp.Preferences.prioritise(["3", "8"], metric="f")
    result = cp.evaluate(names, y_proba=shares, labels=sorted(set(names)), preferences=preferences, confidence=0.95)
    return cp.report(result, title="Digits: 3 and 8 matter most")


def photograph(browser: Any, report: cp.reports.Report, scheme: str, part: str | None, path: Path) -> None:
    """Take the top of the page, or one part of it with some room around, in light or dark."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "report.html"
        report.save(file)
        page = browser.new_page(viewport={"width": 1200, "height": 1000}, color_scheme=scheme)
        page.goto(file.as_uri())
        box = page.locator(part).bounding_box() if part else None
        if box is None:
            page.screenshot(path=path)
        else:
            clip = {"x": 0, "y": box["y"], "width": 1200, "height": box["height"] + 16}
            page.screenshot(path=path, full_page=True, clip=clip)
        page.close()


def main() -> None:
    """Take every picture."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    chromium = os.environ.get("COMPROMIS_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        three, ten = wine(), digits()
        photograph(browser, three, "light", None, folder / "report.png")
        photograph(browser, three, "light", "#knobs", folder / "knobs.png")
        photograph(browser, ten, "dark", "#knobs", folder / "knobs-dark.png")
        photograph(browser, ten, "dark", "#curves", folder / "curves-dark.png")
        browser.close()


if __name__ == "__main__":
    main()
