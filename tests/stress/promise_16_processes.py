"""16. Fork after use, concurrent threads, loky and nested joblib: the right results, no abort, no hang."""

from __future__ import annotations

from tests.stress.counting import described
from tests.stress.outcome import Outcome, Progress, scaled, silent
from tests.stress.programs import output

TITLE = "fork after use, threads, loky, nested joblib"
QUICK = 0.01
TIMES = 5

SETTING = """
import sys, warnings
warnings.simplefilter("ignore")
import numpy as np
import compromis as cp
from compromis.measures.ranking import roc_area
tasks = int(sys.argv[1])
def task(seed):
    rng = np.random.default_rng(seed)
    truth, decision = rng.integers(0, 3, (2, 2000))
    score = rng.random(2000)
    counts = cp.Counts.from_predictions(truth, decision).matrix.tolist()
    area = roc_area(cp.OperatingPoints.from_predictions(truth == 0, score))
    votes = rng.integers(1, 6, (40, 3))
    loss = cp.search_weights(truth[:40], votes, labels=range(3), random_state=0).loss
    return counts, area, loss
def forest(seed, jobs=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 4)); y = (X[:, 0] + 0.3 * rng.normal(size=200) > 0).astype(int)
    return cp.PragmaForestClassifier(8, n_jobs=jobs, random_state=seed).fit(X, y).predict_proba(X).tobytes()
"""
PROGRAMS = {
    "fork after use": """
import multiprocessing
expected = [task(seed) for seed in range(tasks)]; forest(0, 2)
with multiprocessing.get_context("fork").Pool(2) as pool:
    found = pool.map(task, range(tasks))
    trees = pool.map(forest, [0, 1])
assert found == expected
assert trees == [forest(0), forest(1)]
print(tasks + 2)
""",
    "concurrent threads": """
from concurrent.futures import ThreadPoolExecutor
expected = [task(seed) for seed in range(tasks)]
trees = [forest(seed) for seed in range(2)]
with ThreadPoolExecutor(8) as pool:
    found = list(pool.map(task, range(tasks)))
    grown = list(pool.map(lambda seed: forest(seed % 2, 2), range(4)))
assert found == expected
assert grown == trees * 2
print(tasks + 4)
""",
    "threads on a cold start": """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    found = list(pool.map(task, range(tasks)))
assert found == [task(seed) for seed in range(tasks)]
print(tasks)
""",
    "loky": """
from joblib import Parallel, delayed
expected = [task(seed) for seed in range(tasks)]
assert Parallel(n_jobs=2)(delayed(task)(seed) for seed in range(tasks)) == expected
assert Parallel(n_jobs=2)(delayed(forest)(seed) for seed in range(2)) == [forest(seed) for seed in range(2)]
print(tasks + 2)
""",
    "nested joblib": """
from sklearn.model_selection import GridSearchCV
from sklearn.ensemble import RandomForestClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(150, 4)); y = (X[:, 0] + 0.3 * rng.normal(size=150) > 0).astype(int)
def searched(jobs, inner):
    grid = {"max_depth": [1, 3]}
    one = GridSearchCV(cp.PragmaForestClassifier(6, n_jobs=inner, random_state=0), grid, cv=2, n_jobs=jobs).fit(X, y)
    tuned = cp.TunedDecisionClassifier(RandomForestClassifier(6, n_jobs=inner, random_state=0), cv=2, n_jobs=jobs, random_state=0)
    result = cp.cross_evaluate(tuned, X, y, cv=2, n_jobs=jobs)
    return one.cv_results_["mean_test_score"].tolist(), result.counts.matrix.tolist()
expected = searched(1, 1)
for jobs, inner in ((2, 2), (2, 1), (1, 2)):
    assert searched(jobs, inner) == expected, (jobs, inner)
print(4)
""",
}


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count tasks whose results are compared, and programs that abort, hang or give something else."""
    names = list(PROGRAMS) if scale >= 0.05 else ["fork after use"]
    times, total = scaled(TIMES, scale), Outcome(0)
    for done in range(times):
        for name in names:
            try:
                total += Outcome(int(output(SETTING + PROGRAMS[name], str(40 if scale >= 0.05 else 4), seconds=900)))
            except AssertionError as error:
                total += Outcome(1, (described(error, name),))
        progress(done + 1, times)
    return total
