"""Studios and tables for the tests."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import compromis as cp
from compromis.studio.serving import warm_up
from compromis.studio.storage import Places
from compromis.studio.workspace import Workspace
from tests.studio.running import Running


def votes_csv(path, classes=("good", "bad", "ugly"), rows=300, prefix="p_", truth="truth", seed=0):
    """Write a table of true classes and votes of ten members, and return its path."""
    rng = np.random.default_rng(seed)
    y = rng.integers(len(classes), size=rows)
    y[: len(classes)] = range(len(classes))
    shares = np.full((rows, len(classes)), 1.0)
    shares[np.arange(rows), y] += 1.0
    votes = rng.multinomial(10, shares / shares.sum(axis=1, keepdims=True))
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([truth, *(prefix + label for label in classes)])
        writer.writerows([classes[k], *row] for k, row in zip(y.tolist(), votes.tolist(), strict=True))
    return path


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """Compile the kernels that a studio uses before the clock of any page or job runs; on a new machine that takes a minute."""
    places = Places([], tmp_path_factory.mktemp("compiled"))
    warm_up(Workspace(places))
    patterns = cp.Votes.from_proba(["a", "b", "a"], [[1.0, 2.0], [3.0, 1.0], [2.0, 2.0]], labels=["a", "b"])
    cp.search_weights(patterns, method=cp.weights.Sweep(rounds=0, start=(1.0, 2.0)), random_state=0)
    cp.compare_curves({"one": patterns.points(["a"])["a"]}, "f")
    cp.report(patterns, weights=[1.0, 1.0], confidence=0.95)


@pytest.fixture
def studio(tmp_path, compiled):
    """A function that starts studios; all are stopped at the end."""
    running = []

    def start(*pointed, **options):
        (tmp_path / "saved").mkdir(exist_ok=True)
        running.append(Running(pointed, tmp_path / "saved", **options))
        return running[-1]

    yield start
    for one in running:
        if one._thread.is_alive():
            one.stop()


@pytest.fixture
def votes(tmp_path):
    """A table of 300 rows and three classes."""
    return votes_csv(tmp_path / "votes.csv")
