"""36. Minima in each group: with a confidence they hold in the smallest group too, and the price is told."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from functools import cache, partial
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import compromis as cp
from reproductions.data import load
from tests.stress.counting import count_seeds
from tests.stress.outcome import NotRun, Outcome, Progress, scaled, silent

TITLE = "the smallest group recall meets its minimum in at least 90 % of splits of three public sets"
SPLITS, QUICK = 1_000, 0.005
FIRST = 36_000_000
FEW = 20
"""Up to so many splits, one small set will do."""
SETS = {
    "phoneme": ("1", "a1", 0.9),
    "contraceptive": ("2", "a1", 0.5),
    "satimage": ("4", "p1_b1", 0.6),
}
"""The class with a minimum, the column whose thirds are the groups, and the minimum."""
CONFIDENCE = 0.95
GROUPS = 3


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count the splits in which the recall of some group is below the minimum."""
    if "COMPROMIS_DATA" not in os.environ:
        raise NotRun("COMPROMIS_DATA is not set")
    total, number = Outcome(0), scaled(SPLITS, scale)
    sets = list(SETS) if number >= FEW else ["contraceptive"]
    for done, name in enumerate(sets, start=1):
        part = count_seeds(partial(check_split, name), range(FIRST, FIRST + number))
        notes = part.notes
        told = (
            f"{name}: below it with a confidence {notes['guaranteed, below']} of {number}, without {notes['met here, below']}, "
            f"without by {notes['without by, below']}; mean precision {_mean(notes, 'guaranteed', number)}, "
            f"{_mean(notes, 'met here', number)}, {_mean(notes, 'without by', number)}"
        )
        missed = (told,) if notes["guaranteed, below"] > 0.1 * number + 1 * (number < 100) else ()
        total += Outcome(part.cases, (*part.failures, *missed), Counter({told: 1}))
        progress(done, len(sets))
    return total


def _mean(notes: Counter[str], kind: str, number: int) -> str:
    return f"{notes[f'{kind}, precision in 10,000'] / 10_000 / number:.3f}"


def check_split(name: str, seed: int) -> dict[str, int]:
    """Search weights on half of the honest votes of a set, and look at the recall of each group in the other half."""
    votes, y, group, label = _honest_votes(name)
    rng = np.random.default_rng([seed, list(SETS).index(name)])
    order, half = rng.permutation(len(y)), len(y) // 2
    first, rest = order[:half], order[half:]
    notes: dict[str, int] = {}
    for kind, given in {
        "guaranteed": {"confidence": CONFIDENCE, "by": group[first]},
        "met here": {"by": group[first]},
        "without by": {},
    }.items():
        confidence, by = given.get("confidence"), given.get("by")
        preferences = {label: cp.Preference(2, min_recall=SETS[name][2], confidence=confidence)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search = cp.search_weights(
                y[first],
                votes[first],
                preferences=preferences,
                by=by,
                method="sweep",
                random_state=0,
                labels=_labels(name),
            )
        predicted = search.decision.decide(votes[rest]) == label
        own = y[rest] == label
        recalls = [predicted[own & (group[rest] == g)].mean() for g in range(GROUPS)]
        notes[f"{kind}, below"] = int(min(recalls) < SETS[name][2])
        notes[f"{kind}, precision in 10,000"] = round(10_000 * float((own & predicted).sum() / max(predicted.sum(), 1)))
    return notes


def _labels(name: str) -> list[str]:
    return [str(label) for label in np.unique(_honest_votes(name)[1])]


@cache
def _honest_votes(name: str) -> tuple[Any, Any, Any, str]:
    """Return out-of-bag votes of a forest, labels, the thirds of a column, and the class that has a minimum."""
    frame, y = load(name)
    label, column, _ = SETS[name]
    forest = RandomForestClassifier(200, oob_score=True, min_samples_leaf=3, random_state=0).fit(frame.to_numpy(), y)
    values = frame[column].to_numpy()
    cuts = np.quantile(values[y == label], [1 / 3, 2 / 3])
    return forest.oob_decision_function_, y, np.digitize(values, cuts), label
