"""13. The files of every release load, and decide, predict and say the same."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import compromis as cp
from compromis.cli import main
from tests.stress.counting import described
from tests.stress.outcome import NotRun, Outcome, Progress, silent
from tests.stress.release_evidence import EVIDENCE

TITLE = "files of every release load and say the same"
QUICK = 1.0
NEVER_PUBLISHED = "0.1.0"
RELEASES = Path(__file__).parents[1] / "fixtures"


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count what a file of some release says otherwise today; rows predicted and numbers are the cases."""
    releases = sorted(path for path in RELEASES.iterdir() if path.is_dir() and path.name[0].isdigit())
    if not releases:
        raise NotRun("there are no files of a release in tests/fixtures")
    total = Outcome(0)
    for folder in releases:
        for model in sorted(folder.glob("*.model")):
            total += counted(f"{folder.name}/{model.name}", lambda model=model: check_model(model))
        for name, same in EVIDENCE.items():
            check = refused if folder.name == NEVER_PUBLISHED else same
            total += counted(f"{folder.name}/{name}", lambda check=check, folder=folder, name=name: check(folder, name))
        for check in (check_preferences, check_decision, check_evaluation):
            total += counted(f"{folder.name} {check.__name__}", lambda check=check, folder=folder: check(folder))
    return total


def refused(folder: Path, name: str) -> int:
    """A file of the release that was never published is refused in one sentence."""
    with pytest.raises(cp.InputError, match=f"was written by compromis {NEVER_PUBLISHED}, which was never published"):
        cp.evidence.read(folder / name)
    return 1


def counted(case: str, check: Callable[[], int]) -> Outcome:
    """Run a check that returns its number of comparisons."""
    try:
        return Outcome(check())
    except Exception as error:
        return Outcome(1, (described(error, case),))


def rows(path: Path) -> list[list[str]]:
    """Return the rows of a CSV file, its header first."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def check_model(model: Path) -> int:
    """A model of 0.1.0, which was never published, is refused in one sentence."""
    result = CliRunner().invoke(main, ["predict", str(model), str(model.parent / "rows.csv")], catch_exceptions=False)
    expected = (
        f"Error: {model} was written by compromis {NEVER_PUBLISHED}, which was never published; fit the model again\n"
    )
    assert (result.exit_code, result.stderr) == (2, expected), result.stderr
    return 1


def check_preferences(folder: Path) -> int:
    """The preferences of write_release.py, as written there, read from the file; recall weights under every metric."""
    preferences = cp.Preferences.from_toml(folder / "preferences.toml")
    assert preferences.metric.name == "f"
    assert preferences.of("ill") == cp.Preference(10, 0.1, 0.9, min_precision=0.2)
    assert preferences.of("unsure") == cp.Preference(2.5, recall_weight=0.625)
    assert preferences.of("anything else") == cp.Preference(1, 0.8, 0.7)
    expected = json.loads((folder / "recall_weights.json").read_text(encoding="utf-8"))
    for label, weights in expected.items():
        found = [preferences.of(label).recall_weight_for(metric) for metric in cp.metrics.METRICS]
        assert np.allclose(found, weights, rtol=1e-14, atol=0), f"recall weights of {label}"
    return 4 + sum(map(len, expected.values()))


def check_decision(folder: Path) -> int:
    """The decision decides its votes as it did."""
    header, *table = rows(folder / "votes.csv")
    decision = cp.Decision.from_json(folder / "decision.json")
    assert list(decision.classes) == header[:-1]
    found = decision.decide(np.array([row[:-1] for row in table], dtype=float))
    assert found.tolist() == [row[-1] for row in table], "votes are predicted otherwise"
    return len(table)


def check_evaluation(folder: Path) -> int:
    """The counts in the file have the numbers in the file; new fields may have come, none may have gone; sentences may be worded anew."""
    written = json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))
    counts = cp.Counts.from_matrix(written["counts"]["matrix"], written["classes"])
    preferences = cp.Preferences.from_toml(folder / "preferences.toml")
    today = json.loads(cp.evaluate(counts, preferences=preferences, confidence=0.9).to_json())
    assert today["version"] >= written.pop("version")
    written.pop("compromis")
    assert written["verdict"].pop("sentence")
    assert today["verdict"]["sentence"]
    return alike(today, written, "evaluation")


def alike(found: Any, expected: Any, what: str) -> int:
    """Return the number of values that are the same; fail at the first that is not."""
    if isinstance(expected, dict):
        return sum(alike(found[name], one, f"{what}.{name}") for name, one in expected.items())
    if isinstance(expected, list):
        assert len(found) == len(expected), what
        return sum(
            alike(one, other, f"{what}[{k}]") for k, (one, other) in enumerate(zip(found, expected, strict=True))
        )
    number = isinstance(expected, float) and isinstance(found, (int, float))
    assert found == expected or (number and math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-15)), (
        f"{what} is {found!r}, was {expected!r}"
    )
    return 1
