"""The data of the demo: a made-up screening, judged by two models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from compromis.frames import Table
from compromis.studio.forms import ClassForm, PreferencesForm

CLASSES = "healthy", "benign", "malignant"
SHARES = 0.86, 0.10, 0.04
PREFERENCES = PreferencesForm("f", (ClassForm("malignant", 10.0, 0.3, 0.95), ClassForm("benign", 3.0, 0.5, 0.9)))
"""A missed cancer costs more than a false alarm."""
ROWS = 4000
TREES = 20


def write_demo(folder: Path) -> Path:
    """Write the table of the demo and return its path: the true class, and the votes of two models that did not see the rows.

    The forest casts 20 votes for each row; the boosting gives probabilities and ranks the benign ones better.
    """
    generator = np.random.default_rng(2024)
    truth = generator.choice(len(CLASSES), size=ROWS, p=SHARES)
    forest = generator.multinomial(TREES, _probabilities(truth, generator, (2.2, 0.9, 1.3)))
    boosting = _probabilities(truth, generator, (2.0, 1.5, 0.8))
    columns: dict[str, list[str | None]] = {"diagnosis": [CLASSES[k] for k in truth.tolist()]}
    columns |= {f"forest_{label}": forest[:, k].astype(str).tolist() for k, label in enumerate(CLASSES)}
    columns |= {f"boosting_{label}": boosting[:, k].round(3).astype(str).tolist() for k, label in enumerate(CLASSES)}
    path = folder / "screening.csv"
    Table("demo", columns).to_csv(path)
    return path


def _probabilities(
    truth: NDArray[np.int64], generator: np.random.Generator, skill: tuple[float, ...]
) -> NDArray[np.float64]:
    """Return distributions that lean to the true class as far as `skill` says, and to the common classes."""
    lean = np.log(np.array(SHARES)) + generator.normal(0.0, 1.0, size=(len(truth), len(SHARES)))
    lean[np.arange(len(truth)), truth] += 1.0 + np.array(skill)[truth]
    shares = np.exp(lean - lean.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return np.asarray(shares, dtype=np.float64)
