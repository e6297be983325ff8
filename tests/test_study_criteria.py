"""The table of criteria in docs/trees.md follows from the study's losses."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, rankdata, wilcoxon

ROOT = Path(__file__).parents[1]
WEIGHTS = ("0.1", "0.5", "0.9")


@pytest.fixture(scope="module")
def losses():
    with (ROOT / "benchmarks/results/study_criteria.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    found = {}
    for row in rows:
        for column in ("untuned", "tuned"):
            key = (row["metric"], column, row["recall_weight"], row["data"], row["criterion"])
            found.setdefault(key, []).append(float(row[column]))
    assert {len(values) for values in found.values()} == {5}  # seeds
    return {key: np.mean(values) for key, values in found.items()}


def table(losses, metric, column, weight, criteria):
    sets = sorted({key[3] for key in losses})
    assert len(sets) == 21
    return np.array([[losses[metric, column, weight, data, one] for one in criteria] for data in sets])


@pytest.mark.parametrize(("metric", "heading"), [("kulczynski", "plane"), ("f", "f")])
def test_the_table_of_criteria(losses, metric, heading):
    text = (ROOT / "docs/trees.md").read_text()
    block = text.split(f"| {heading} | untuned")[1].split("\n\n")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()[2:]]
    criteria = [line[0].strip("`") for line in lines[:-1]]
    assert criteria[0] == "gini"
    assert len(criteria) == 9
    for place, (column, weight) in enumerate((c, w) for c in ("untuned", "tuned") for w in WEIGHTS):
        values = table(losses, metric, column, weight, criteria)
        ranks = np.mean([rankdata(row) for row in values], axis=0)
        for j, line in enumerate(lines[:-1]):
            rank, loss, star = re.fullmatch(r"([\d.]+) \(([\d.]+)\)(\*?)", line[1 + place]).groups()
            assert abs(float(rank) - ranks[j]) <= 0.005001
            assert abs(float(loss) - values[:, j].mean()) <= 0.0005001
            differences = values[:, j] - values[:, 0]
            sure = j > 0 and wilcoxon(differences).pvalue < 0.05
            assert bool(star) == sure
            assert not sure or np.median(differences) > 0  # the page says that every star is worse than gini
        assert float(lines[-1][1 + place]) == pytest.approx(friedmanchisquare(*values.T).pvalue, rel=0.05)
