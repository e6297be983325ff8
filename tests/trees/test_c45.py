"""C4.5 against Weka's J48 on ten sets and three settings, all numbers from the oracle files."""

from __future__ import annotations

import csv
import gzip
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compromis.estimators.c45 import C45Classifier
from compromis.trees.c45 import Column, Examples, Rules, fit_tree, shares, tree_text
from compromis.trees.c45.tree import threshold_text
from tests.arff_reader import examples_of, read_arff

DATA = os.environ.get("COMPROMIS_DATA")
needs_data = pytest.mark.skipif(DATA is None, reason="COMPROMIS_DATA is not set")

SMALL_SETS = ("breast-cancer", "contact-lenses", "iris", "labor", "vote", "weather.nominal", "weather.numeric")
NUMERIC = {
    "autos": "normalized-losses wheel-base length width height curb-weight engine-size bore stroke compression-ratio "
    "horsepower peak-rpm city-mpg highway-mpg price",
    "hypothyroid": "age TSH T3 TT4 T4U FTI TBG",
}
SETTINGS = {
    "default (-C 0.25 -M 2)": Rules(),
    "unpruned (-U)": Rules(pruned=False),
    "no subtree raising (-S)": Rules(subtree_raising=False),
}


def oracle(name: str) -> dict[str, Any]:
    text = Path(str(DATA), "..", "oracles", "weka", f"j48-{name}.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


@cache
def load(name: str) -> tuple[Examples, tuple[str, ...]]:
    if name in SMALL_SETS:
        return examples_of(*read_arff(Path(str(DATA), "..", "oracles", "weka", f"{name}.arff")))
    with gzip.open(Path(str(DATA), f"{name}.csv.gz"), "rt", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    numeric = NUMERIC[name].split() if name in NUMERIC else header[:-1]
    attributes = [
        Column(column) if column in numeric else Column(column, tuple(sorted({row[i] for row in rows} - {""})))
        for i, column in enumerate(header)
    ]
    return examples_of(attributes, [[value or "?" for value in row] for row in rows], [1.0] * len(rows))


def confusion(examples: Examples, predicted: np.ndarray) -> list[list[float]]:
    counts = np.zeros((examples.n_classes, examples.n_classes))
    np.add.at(counts, (examples.classes, predicted), 1)
    return counts.tolist()


@needs_data
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", [*SMALL_SETS, "autos", "hypothyroid", "satimage"])
def test_j48_oracle(name: str, setting: str) -> None:
    examples, labels = load(name)
    expected = oracle(name)[setting]
    tree = fit_tree(examples, SETTINGS[setting])
    assert (tree.n_leaves, tree.size) == (expected["leaves"], expected["size"])
    text = tree_text(tree, examples.table.columns, labels)
    lines, _, ending = text.partition("\n\nNumber of Leaves")
    assert lines.split() == expected["tree"].split()
    assert ending.split() == [":", str(expected["leaves"]), "Size", "of", "the", "tree", ":", str(expected["size"])]
    assert confusion(examples, shares(tree, examples.table).argmax(axis=1)) == expected["training"]["confusion"]


@needs_data
def test_j48_mean_absolute_error() -> None:
    examples, _ = load("labor")
    found = shares(fit_tree(examples, Rules()), examples.table)
    truth = np.eye(2)[examples.classes]
    assert round(float(np.abs(found - truth).mean()), 3) == oracle("labor")["default (-C 0.25 -M 2)"]["training"]["mae"]


@needs_data
@pytest.mark.parametrize("container", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("name", ["autos", "vote"])
def test_estimator_on_frames_gives_the_oracles_tree(name: str, container: str) -> None:
    examples, labels = load(name)
    assert list(labels) == sorted(labels)
    frame = as_frame(examples, pytest.importorskip(container), container)
    y = np.array(labels)[examples.classes]
    for setting, rules in SETTINGS.items():
        model = C45Classifier(pruned=rules.pruned, subtree_raising=rules.subtree_raising).fit(frame, y)
        expected = oracle(name)[setting]
        assert model.export_text().partition("\n\nNumber")[0].split() == expected["tree"].split()
        assert (model.n_leaves_, model.size_) == (expected["leaves"], expected["size"])
        predicted = np.searchsorted(model.classes_, model.predict(frame))
        assert confusion(examples, predicted) == expected["training"]["confusion"]


def as_frame(examples: Examples, library: Any, container: str) -> Any:
    numeric, nominal = iter(examples.table.numeric), iter(examples.table.nominal)
    columns: dict[str, Any] = {}
    for attribute in examples.table.columns:
        if attribute.categories is None:
            columns[attribute.name] = next(numeric)
            continue
        values = [None if code < 0 else attribute.categories[code] for code in next(nominal)]
        if container == "pandas":
            columns[attribute.name] = library.Categorical(values, categories=list(attribute.categories))
        elif container == "polars":
            columns[attribute.name] = library.Series(values, dtype=library.Enum(list(attribute.categories)))
        else:
            columns[attribute.name] = values
    return library.table(columns) if container == "pyarrow" else library.DataFrame(columns)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *[(75.0, "75"), (2.5, "2.5"), (-0.0000004, "0"), (0.1234565, "0.123457"), (-1.25, "-1.25"), (1e-6, "0.000001")],
        *[
            (9.2e12, "9200000000000"),
            (9469497565919.727, "9.469497565919727E12"),
            (-1.1e22, "-1.1E22"),
            (1e16, "1.0E16"),
        ],
    ],
)
def test_threshold_has_at_most_six_decimals(value: float, text: str) -> None:
    assert threshold_text(value) == text
