"""Every kernel against its plain twin, and the cache against damage."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from compromis.evidence._kernels.counting import count_pairs, weigh_pairs
from compromis.evidence._kernels.ranking import count_cuts
from tests import naive


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 1000])
def test_count_pairs(rng, rows):
    truth, decision = rng.integers(0, 5, (2, rows))
    table = np.zeros((2, 5, 5), dtype=np.int64)
    assert count_pairs(truth + 3, decision + 3, 3, 7, table) == rows
    assert table.sum(axis=0).tolist() == naive.count_pairs(truth, decision, 5)


@pytest.mark.parametrize("place", [0, 1, 4, 5])
@pytest.mark.parametrize("bad", [-1, 5, 2**62])
def test_counting_stops_before_a_label_outside_the_table(place, bad):
    for column in range(2):
        columns = np.zeros((2, 6), dtype=np.int64)
        columns[column, place] = bad
        assert count_pairs(columns[0], columns[1], 0, 4, np.zeros((2, 5, 5), dtype=np.int64)) == place
        assert weigh_pairs(columns[0], columns[1], np.ones(6), 0, 4, np.zeros((2, 5, 5))) == place


def test_counting_does_not_wrap_around():
    low = 2**63 - 10
    truth = np.array([low, -(2**63)])
    assert count_pairs(truth, truth, low, 2**63 - 1, np.zeros((2, 16, 16), dtype=np.int64)) == 1


def test_weigh_pairs(rng):
    truth, decision = rng.integers(0, 4, (2, 300))
    weight = rng.integers(0, 8, 300) / 4  # sums of quarters are exact
    table = np.zeros((2, 4, 4))
    assert weigh_pairs(truth, decision, weight, 0, 3, table) == 300
    weights, squares = naive.weigh_pairs(truth, decision, weight, 4)
    assert table[0].tolist() == weights
    assert table[1].tolist() == squares


@pytest.mark.parametrize("values", [2, 5, 1000])
def test_count_cuts(rng, values):
    for _ in range(50):
        positive, negative = (np.sort(rng.integers(0, values, size).astype(float)) for size in rng.integers(0, 30, 2))
        threshold, above = np.empty(60), np.zeros((2, 60), dtype=np.int64)
        cuts = count_cuts(positive, negative, threshold, above)
        found = list(zip(threshold[:cuts].tolist(), *above[:, :cuts].tolist(), strict=True))
        assert found == naive.count_cuts(positive.tolist(), negative.tolist())


PROGRAM = """
import numpy as np
from compromis.evidence._kernels.counting import count_pairs
table = np.zeros((2, 2, 2), dtype=np.int64)
print(count_pairs(np.array([0, 1, 1]), np.array([0, 1, 0]), 0, 1, table), table.sum(axis=0).tolist())
"""


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="there is no cache without compilation")
def test_the_cache_is_private_and_survives_damage(tmp_path):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)

    def run():
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert run() == "3 [[1, 0], [1, 1]]"
    folder = next((tmp_path / "compromis" / "kernels").iterdir())
    assert folder.stat().st_mode & 0o077 == 0
    files = [path for path in folder.rglob("*") if path.suffix in {".nbi", ".nbc"}]
    assert files
    for damage in (b"", b"\x80\x04garbage"):
        for path in files:
            path.write_bytes(path.read_bytes()[: len(path.read_bytes()) // 2] if damage == b"" else damage)
        assert run() == "3 [[1, 0], [1, 1]]"
    Path(folder).chmod(0o777)  # anyone could plant a pickle here: it must not be read
    for path in files:
        path.unlink(missing_ok=True)
    assert run() == "3 [[1, 0], [1, 1]]"
    assert not list(folder.rglob("*.nbi"))
