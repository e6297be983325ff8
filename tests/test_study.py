"""The study's committed results are complete, its page says what they say, and a fresh run gives them again."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import rankdata

from reproductions.data import listed
from reproductions.sheets import read
from reproductions.study.tables import METRICS, WAYS, WAYS_FOR_TWO

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "reproductions" / "study" / "results"
TWO_CLASSES = {
    "phoneme", "magic", "car-good", "kr-vs-k-zero-one_vs_draw", "poker-8_vs_6", "ecoli3", "new-thyroid1", "haberman",
}  # fmt: skip


@pytest.fixture(scope="module")
def lines():
    return {file.stem: read(file) for file in RESULTS.glob("*.csv")}


def loss(lines, name, rival, metric):
    return np.mean([float(one["loss"]) for one in lines[name] if (one["rival"], one["metric"]) == (rival, metric)])


def test_every_rival_ran_on_every_set_under_every_metric(lines):
    assert set(lines) == {one.name for one in listed().values() if one.folder == "study"}
    rivals = {one["rival"] for one in lines["haberman"]}
    assert set(WAYS_FOR_TWO) <= rivals
    for name, rows in lines.items():
        ran = rivals if name in TWO_CLASSES else rivals - {"threshold tuner"}
        found = [(one["repetition"], one["rival"], one["metric"]) for one in rows]
        assert sorted(found) == sorted(product("012", ran, METRICS))


def test_the_plane_s_loss_of_two_classes_follows_from_the_rates(lines):
    """By the paper's formula: 0.9 of recall and 0.1 of precision for the class that matters, halves for the other."""
    for name in TWO_CLASSES:
        for one in lines[name]:
            if one["metric"] != "kulczynski" or not one["precision"]:
                continue
            size, recall, precision, predicted = (
                float(one[key]) for key in ("rarest rows", "recall", "precision", "predicted")
            )
            if not recall or predicted > 0.99:
                continue  # no rows can be worked out, or none are left for the other class
            rows = size * recall / (precision * predicted)
            right = size * recall
            others, predicted_others = rows - size, rows * (1 - predicted)
            right_others = predicted_others - (size - right)
            term = 1 - 0.5 * right_others / others - 0.5 * right_others / predicted_others
            ours = (10 * (1 - 0.9 * recall - 0.1 * precision) + term) / 11
            assert float(one["loss"]) == pytest.approx(ours, abs=0.004)  # rates have four digits


@pytest.mark.parametrize("metric", METRICS)
def test_ranks_on_the_page(lines, metric):
    """Mean ranks by scipy, losses by numpy."""
    page = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
    table = re.search(r"<!-- block study_all -->\n\n(.*?)\n\n", page, re.DOTALL)[1].splitlines()
    column = 2 + METRICS.index(metric)
    losses = np.array([[loss(lines, name, rival, metric) for rival in WAYS] for name in lines])
    ranks = rankdata(losses, axis=1).mean(axis=0)
    for rival, rank, mean in zip(WAYS, ranks, losses.mean(axis=0), strict=True):
        cell = next(row.split("|")[column].strip() for row in table[2:] if row.split("|")[1].strip() == rival)
        shown = [float(part) for part in re.findall(r"[\d.]+", cell)]
        assert shown == pytest.approx([rank, mean], abs=6e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["new-thyroid1", "haberman", "led7digit"])
def test_a_fresh_run_gives_the_committed_lines(data, monkeypatch, tmp_path, lines, name):
    """But for processor time, to the last digit that is written."""
    monkeypatch.setenv("COMPROMIS_DATA", str(data))
    from reproductions.study import write_data_set

    write_data_set(name, tmp_path)
    fresh = read(tmp_path / f"{name}.csv")
    assert [{**one, "seconds": ""} for one in fresh] == [{**one, "seconds": ""} for one in lines[name]]
