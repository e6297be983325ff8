"""A model file of today, for tests that need one beside the rows of a release."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

import compromis as cp
from compromis.estimators.model_file import TableModel, describe_table, encode_table, make_classifier, save_model

ROWS = Path(__file__).parent / "fixtures" / "0.1.0" / "rows.csv"


def logistic_model() -> TableModel:
    """Fit a logistic regression to the rows of `ROWS`."""
    with ROWS.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    texts = {
        name: [value or None for value in values] for name, values in zip(header, zip(*rows, strict=True), strict=True)
    }
    columns = describe_table(texts, header[:-1], "rows.csv")
    classifier = make_classifier("logistic", columns, trees=1, random_state=0, n_jobs=None)
    classifier.fit(encode_table(texts, columns, "rows.csv"), np.array(texts[header[-1]]))
    decision = cp.Decision(tuple(classifier.classes_.tolist()), np.ones(len(classifier.classes_)))
    return TableModel(classifier=classifier, decision=decision, columns=columns, target=header[-1], hard=False)


def write_logistic_model(path: Path) -> Path:
    """Write the model of `logistic_model` to the file, and return its path."""
    save_model(logistic_model(), path)
    return path
