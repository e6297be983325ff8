"""12. One hash whatever the number of threads; the random tests of the suite green on other seeds.

Tests that draw nothing are the same for every seed, so the second half runs those that draw: they use the fixture `rng`, which
mixes COMPROMIS_SEED into its seed, or Hypothesis, which is given the seed.
"""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from unittest.mock import patch

from tests.stress.counting import WORKERS, described
from tests.stress.outcome import Outcome, Progress, scaled, silent
from tests.stress.programs import output
from tests.stress.suite import run_suite

TITLE = "one hash on 1, 2, 3, 8 threads; random tests on 4 seeds"
QUICK = 0.01
SEEDS = 4
THREADS = (1, 2, 3, 8)

PROGRAM = """
import hashlib, sys, warnings
import numpy as np
import compromis as cp
from sklearn.ensemble import RandomForestClassifier
warnings.simplefilter("ignore")
jobs, rows = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
X = rng.normal(size=(rows, 6)); X[::7, 2] = np.nan; X[:, 3] = rng.integers(0, 4, rows)
y = (X[:, 0] + X[:, 1] + 0.4 * rng.normal(size=rows) > 0.8).astype(int) + (X[:, 3] == 2)
digest = hashlib.sha256()
def add(*arrays):
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
forest = cp.PragmaForestClassifier(20, n_jobs=jobs, random_state=0).fit(X, y)
trees = forest.trees_
add(trees.nodes, trees.figures, trees.subsets, trees.leaf_shares, forest.oob_votes_, forest.predict_proba(X), forest.weights_)
tree = cp.PragmaTreeClassifier(random_state=0).fit(X, y)
add(tree.predict_proba(X))
add(cp.C45Classifier().fit(np.nan_to_num(X), y).predict_proba(np.nan_to_num(X)))
preferences = cp.Preferences({1: cp.Preference(10, 0.1, 0.9)}, metric="f")
tuned = cp.TunedDecisionClassifier(RandomForestClassifier(20, random_state=0), preferences=preferences, n_jobs=jobs, random_state=0)
tuned.fit(np.nan_to_num(X), y)
add(tuned.weights_, tuned.predict(np.nan_to_num(X)))
shares = rng.dirichlet(np.ones(3), 40_000)
truth = rng.integers(0, 3, 40_000)
digest.update(cp.evaluate(truth, y_proba=shares, preferences=preferences, confidence=0.9).to_json().encode())
add(cp.search_weights(truth[:3000], shares[:3000], preferences=preferences, method="sweep", random_state=0).weights)
print(digest.hexdigest())
"""


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count programs with another hash, and random tests that fail on some seed."""
    total = check_threads(1500, THREADS, in_a_process) if scale >= 0.1 else check_threads(150, (1, 3), in_this_process)
    seeds = scaled(SEEDS, scale, least=0) if scale >= 0.1 else 0
    with ThreadPoolExecutor(
        WORKERS
    ) as pool:  # a seed per process: spread over workers, each would collect the tests again
        for done, outcome in enumerate(pool.map(random_tests, range(1, seeds + 1)), start=1):
            total += outcome
            progress(done, seeds)
    return total


def random_tests(seed: int) -> Outcome:
    """Run the tests that draw random numbers, on another seed."""
    keep = ("-p", "tests.stress.drawing_tests", f"--hypothesis-seed={seed}", "tests")
    return run_suite(*keep, what=f"COMPROMIS_SEED={seed}", workers=1, COMPROMIS_SEED=str(seed))


def in_a_process(threads: int, rows: int) -> str:
    """Return the program's hash; the number of threads is that of the linear algebra below too."""
    limits = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), str(threads))
    return output(PROGRAM, str(threads), str(rows), **limits)


def in_this_process(threads: int, rows: int) -> str:
    """Return the same, without starting anything."""
    printed = io.StringIO()
    with warnings.catch_warnings(), redirect_stdout(printed), patch.object(sys, "argv", ["", str(threads), str(rows)]):
        exec(PROGRAM, {})
    return printed.getvalue().strip()


def check_threads(rows: int, threads: tuple[int, ...], told: Callable[[int, int], str]) -> Outcome:
    """The same program with each number of threads."""
    hashes, failures = {}, []
    for count in threads:
        try:
            hashes[count] = told(count, rows)
        except AssertionError as error:
            failures.append(described(error, f"{count} threads"))
    if len(set(hashes.values())) > 1:
        failures.append(f"hashes by number of threads: { {count: one[:8] for count, one in hashes.items()} }")
    return Outcome(len(threads), tuple(failures))
