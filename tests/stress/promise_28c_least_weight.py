"""28c. The weight of a guarantee is the least that leaves no more rows of the class to others than may be: every cell is tried."""

from __future__ import annotations

import numpy as np

import compromis as cp
from compromis.measures.by_group import ByGroup
from compromis.weights.guarded import least_weight
from compromis.weights.problem import SearchProblem
from tests.stress.counting import count_seeds
from tests.stress.outcome import Outcome, Progress, scaled, silent

TITLE = "the weight of a guarantee is the least one, by brute force; with groups, the least for all of them"
CASES, QUICK = 2_000, 0.02
FIRST = 28_900_000


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count the cases in which another cell holds with a smaller weight."""
    return count_seeds(check_least_weight, range(FIRST, FIRST + scaled(CASES, scale)), progress)


def check_least_weight(seed: int) -> dict[str, int]:
    """Compare with every cell between two flips, on a few rows with many ties, with and without groups."""
    rng = np.random.default_rng(seed)
    classes, rows = int(rng.integers(2, 5)), int(rng.integers(2, 14))
    votes = rng.integers(0, 4, size=(rows, classes)).astype(float)
    votes[votes.sum(axis=1) == 0, 0] = 1
    y = rng.integers(0, classes, size=rows)
    y[:2] = 0, 1
    k, smoothing = int(y[0]), float(rng.choice([0.0, 0.25]))
    weights = rng.uniform(0.5, 2, size=classes)
    group = rng.integers(0, 1 + seed % 3, size=rows)
    names = np.unique(group)
    by = None if seed % 3 == 0 else ByGroup(tuple(names.tolist()), np.searchsorted(names, group))
    read = cp.Votes.from_proba(y, votes, labels=list(range(classes)), merge=False)
    problem = SearchProblem.read(read, None, smoothing=smoothing, max_ratio=None, by=by)
    allowed = rng.integers(0, 3, size=1 if by is None else len(names))

    def missed(weight: float) -> list[int]:
        tried = weights.copy()
        tried[k] = weight
        lost = (((votes + smoothing) * tried).argmax(axis=1) != k) & (y == k)
        return [int(lost.sum())] if by is None else [int(lost[group == name].sum()) for name in names]

    with np.errstate(divide="ignore", invalid="ignore"):
        flips = np.delete((votes + smoothing) * weights, k, axis=1).max(axis=1) / (votes[:, k] + smoothing)
    ends = np.unique(flips[np.isfinite(flips) & (flips > 0)])
    ends = ends[np.append(True, ends[1:] > ends[:-1] * (1 + 1e-9))] if len(ends) else np.ones(1)
    cells = np.concatenate([ends[:1] / 2, np.sqrt(ends[1:] * ends[:-1]), 2 * ends[-1:]])
    fewest = missed(cells[-1])  # misses never grow with the weight
    most = [max(given, least) for given, least in zip(allowed.tolist(), fewest, strict=True)]
    least = next(cell for cell in cells if all(m <= n for m, n in zip(missed(cell), most, strict=True)))
    found = least_weight(problem, k, weights, allowed)
    assert missed(found) == missed(least)
    assert found <= least * (1 + 1e-9) or least == cells[0]
    return {"with groups": int(by is not None)}
