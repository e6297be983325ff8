"""The report that the home page embeds, made from the demo's data at each build."""

from __future__ import annotations

from pathlib import Path

from sklearn.ensemble import RandomForestClassifier

import compromis as cp
from compromis.cli.demo import SEED, visitors

ROWS = 3000


def write(path: Path) -> None:
    """Write the page."""
    (train, states), (new, truth) = visitors(SEED), visitors(SEED + 1)
    forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=SEED).fit(train, states)
    preferences = cp.Preferences({"stroke": cp.Preference(10, 0.2, 0.8), "infection": 3})
    shares = forest.predict_proba(new[:ROWS]).round(2)
    result = cp.evaluate(truth[:ROWS], y_proba=shares, labels=forest.classes_, preferences=preferences, confidence=0.95)
    path.parent.mkdir(parents=True, exist_ok=True)
    cp.report(result, path, title="Visitors of an emergency desk (made data)")
