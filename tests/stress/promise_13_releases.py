"""13. The files of every release load, and decide, predict and say the same."""

from __future__ import annotations

import csv
import io
import json
import math
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from click.testing import CliRunner

import compromis as cp
from compromis.cli import main
from compromis.estimators.model_file import is_later
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
        if folder.name == NEVER_PUBLISHED:
            total += counted(f"{folder.name} refused", lambda folder=folder: check_refused(folder))
            continue
        for model in sorted(folder.glob("*.model")):
            if later := written_by_later(model):
                total += Outcome(
                    0, notes=Counter({f"models of scikit-learn {later} are not tried with {sklearn.__version__}": 1})
                )
                continue
            total += counted(f"{folder.name}/{model.name}", lambda model=model: check_model(model))
        for name, same in EVIDENCE.items():
            total += counted(f"{folder.name}/{name}", lambda folder=folder, name=name, same=same: same(folder, name))
        for check in (check_preferences, check_decision, check_evaluation):
            total += counted(f"{folder.name} {check.__name__}", lambda check=check, folder=folder: check(folder))
    return total


def check_refused(folder: Path) -> int:
    """Every file of the release that was never published is refused in one sentence."""
    readers = {
        **dict.fromkeys(EVIDENCE, cp.evidence.read),
        **dict.fromkeys((model.name for model in folder.glob("*.model")), cp.estimators.load_model),
        "preferences.toml": cp.Preferences.from_toml,
        "decision.json": cp.Decision.from_json,
    }
    for name, read in readers.items():
        with pytest.raises(cp.InputError, match=f"compromis {NEVER_PUBLISHED}"):
            read(folder / name)
    return len(readers)


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


def written_by_later(model: Path) -> str:
    """Return the scikit-learn that wrote a model if it is later than ours: scikit-learn promises nothing of such objects."""
    with zipfile.ZipFile(model) as outer, zipfile.ZipFile(io.BytesIO(outer.read("classifier.skops"))) as inner:
        schema = json.loads(inner.read("schema.json"))
    written = json.loads(schema["content"]["content"]["_sklearn_version"]["content"])
    return str(written) if is_later(written) else ""


def check_model(model: Path) -> int:
    """The command line predicts what it predicted when the model was written."""
    result = CliRunner().invoke(main, ["predict", str(model), str(model.parent / "rows.csv")], catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    found, expected = result.stdout.splitlines(), model.with_suffix(".csv").read_text(encoding="utf-8").splitlines()
    assert len(found) == len(expected)
    differ = [line for line, (one, other) in enumerate(zip(found, expected, strict=True)) if one != other]
    assert not differ, f"{len(differ)} rows are decided otherwise, the first in line {differ[0]}"
    return len(found) - 1


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
