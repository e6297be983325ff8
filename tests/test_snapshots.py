"""What people read by default, one file per surface; ``make snapshots`` writes them anew, ``git diff tests/snapshots`` shows what changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

import compromis as cp

FOLDER = Path(__file__).parent / "snapshots"
TRUTH = ["ill"] * 12 + ["unsure"] * 40 + ["well"] * 148
PREDICTED = (
    ["ill"] * 8 + ["unsure"] * 3 + ["well"]  # truly ill
    + ["ill"] * 4 + ["unsure"] * 30 + ["well"] * 6  # unsure
    + ["ill"] * 10 + ["unsure"] * 18 + ["well"] * 120  # well
)  # fmt: skip
OTHER = ["well" if row % 7 == 0 else label for row, label in enumerate(PREDICTED)]
PREFERENCES = {"ill": cp.Preference(10, 0.1, 0.9, min_recall=0.8), "unsure": 2.0}
VOTES = np.eye(3)[[["ill", "unsure", "well"].index(label) for label in PREDICTED]] * 6 + [1, 1, 2]
TWO = (
    ["ill" if label == "ill" else "well" for label in TRUTH],
    ["ill" if label == "ill" else "well" for label in PREDICTED],
)


def evaluation(**options):
    return cp.evaluate(TRUTH, PREDICTED, preferences=PREFERENCES, **options)


def search(votes=VOTES):
    found = cp.search_weights(TRUTH, votes, preferences=PREFERENCES, labels=["ill", "unsure", "well"], random_state=0)
    return replace(found, seconds=0.01)


def cross_evaluation():
    X = VOTES[:, :2] + np.sin(np.arange(400.0)).reshape(200, 2)
    found = cp.cross_evaluate(GaussianNB(), X, TRUTH, cv=StratifiedKFold(5), preferences=PREFERENCES)
    return replace(found, fit_seconds=(0.01,) * 5, predict_seconds=(0.01,) * 5)


SURFACES = {
    "evaluation.txt": lambda: str(evaluation(confidence=0.95)),
    "evaluation_of_two_classes.txt": lambda: str(cp.evaluate(*TWO)),
    "evaluation_of_no_use.txt": lambda: str(cp.evaluate(TRUTH, ["well"] * 200, preferences=PREFERENCES)),
    "evaluation.md": lambda: evaluation().to_markdown(),
    "weka.txt": lambda: evaluation(y_proba=VOTES).weka(),
    "cross_evaluation.txt": lambda: str(cross_evaluation()),
    "model_comparison.txt": lambda: str(
        cp.compare_models(TRUTH, {"first": PREDICTED, "second": OTHER}, preferences=PREFERENCES)
    ),
    "tradeoff_comparison.txt": lambda: cp.compare_curves(
        {
            name: cp.OperatingPoints.from_predictions(TWO[0], scores, pos_label="ill")
            for name, scores in (("votes", VOTES[:, 0]), ("votes against", -VOTES[:, 2]))
        }
    ).report(),
    "check.txt": lambda: str(cp.check(evaluation(), max_loss=0.5)),
    "search.txt": lambda: str(search()),
    "search_without_votes_for_a_class.txt": lambda: str(search(VOTES * [0, 1, 1])),
    "preferences.txt": lambda: evaluation().preferences.describe(),
    "regression.txt": lambda: str(cp.regression.evaluate([1, 2, 3, 6], [1, 2, 4, 5], confidence=0.95)),
}


@pytest.mark.filterwarnings("ignore::compromis.errors.FewRowsWarning")
@pytest.mark.parametrize("name", SURFACES)
def test_a_surface_reads_as_it_did(name):
    assert SURFACES[name]().rstrip("\n") == (FOLDER / name).read_text("utf-8").rstrip("\n")


if __name__ == "__main__":
    for surface, text in SURFACES.items():
        (FOLDER / surface).write_text(text().rstrip("\n") + "\n", "utf-8")
