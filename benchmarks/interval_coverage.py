"""How often the intervals hold the truth: the grid of issue 6, printed cell by cell.

Rows are drawn independently from a population (so the number of rows of the rare class varies, as it does in life);
scores are binormal, and a cut at 0 gives the stated sensitivity and specificity. Usage: interval_coverage.py [data sets] [seed] [fixed];
with `fixed` the number of rare rows is the same in every data set, where a share of five rows has six values and no
interval of fixed ends can cover near 95 % everywhere.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

import compromis as cp
from compromis.evidence.points import OperatingPoints
from compromis.measures.pragma import losses
from compromis.measures.rates import precision
from compromis.uncertainty.area_intervals import roc_area_interval
from compromis.uncertainty.draws import draw_counts
from compromis.uncertainty.intervals import from_draws, wilson_bounds
from compromis.uncertainty.report_intervals import centre

RATES = (0.5, 0.7, 0.9, 0.95)
SIZES = (100, 200, 1000)
SHARES = (0.05, 0.2)
MEASURES = ("recall", "precision", "PRAGMA", "AUROC")
LOW, HIGH = 0.93, 0.97
DRAWS = 500


@dataclass(frozen=True, slots=True)
class Setting:
    """One cell of the grid: a population and the number of rows drawn from it."""

    sensitivity: float
    specificity: float
    rows: int
    share: float

    @property
    def population(self) -> np.ndarray:
        """The probabilities of the four cells, the rare class first."""
        rare, rest = self.share, 1 - self.share
        return np.array(
            [
                [rare * self.sensitivity, rare * (1 - self.sensitivity)],
                [rest * (1 - self.specificity), rest * self.specificity],
            ]
        )


def grid() -> Iterator[Setting]:
    """Yield the 96 settings."""
    for cell in itertools.product(RATES, RATES, SIZES, SHARES):
        yield Setting(*cell)


def coverage(setting: Setting, data_sets: int, rng: np.random.Generator, *, fixed: bool = False) -> dict[str, float]:
    """Return the share of data sets whose 95 % interval holds the population's value, by measure."""
    preferences = cp.Preferences.prioritise(["rare"], metric="kulczynski").on(["rare", "rest"])
    truth = _truths(setting, preferences)
    hits = dict.fromkeys(MEASURES, 0)
    tries = dict.fromkeys(MEASURES, 0)
    for _ in range(data_sets):
        rare = round(setting.rows * setting.share) if fixed else int(rng.binomial(setting.rows, setting.share))
        for name, bounds in _intervals(setting, rare, preferences, rng).items():
            tries[name] += 1
            hits[name] += bounds[0] <= truth[name] <= bounds[1]
    return {name: hits[name] / tries[name] for name in MEASURES}


def _truths(setting: Setting, preferences: object) -> dict[str, float]:
    shift = ndtri(setting.sensitivity) + ndtri(setting.specificity)
    return {
        "recall": setting.sensitivity,
        "precision": precision(setting.population)[0],
        "PRAGMA": _losses(setting.population, preferences).item(),
        "AUROC": float(ndtr(shift / np.sqrt(2))),
    }


def _losses(matrix: np.ndarray, preferences: object) -> np.ndarray:
    return losses(matrix, preferences)[1].sum(axis=-1)


def _intervals(
    setting: Setting, rare: int, preferences: object, rng: np.random.Generator
) -> dict[str, tuple[float, float]]:
    """Draw one data set and return the intervals that are defined on it."""
    if rare == 0:  # the rare class does not occur: nothing is said about it
        return {}
    positive = np.arange(setting.rows) < rare
    score = rng.normal(size=setting.rows) - ndtri(setting.specificity)
    score[positive] += ndtri(setting.sensitivity) + ndtri(setting.specificity)
    predicted = score > 0
    hits, alarms = int((predicted & positive).sum()), int((predicted & ~positive).sum())
    counts = cp.Counts.from_matrix([[hits, rare - hits], [alarms, setting.rows - rare - alarms]], ["rare", "rest"])
    found = {"recall": _wilson(hits, rare), "PRAGMA": _pragma(counts, preferences, rng)}
    if hits + alarms:
        found["precision"] = _wilson(hits, hits + alarms)
    area = roc_area_interval(OperatingPoints.from_flags(positive, score, "rare"))
    return {**found, "AUROC": (area.low, area.high)}


def _wilson(successes: int, trials: int) -> tuple[float, float]:
    low, high = wilson_bounds(successes / trials, trials, 0.95)
    return float(low), float(high)


def _pragma(counts: cp.Counts, preferences: object, rng: np.random.Generator) -> tuple[float, float]:
    def loss(matrix: np.ndarray) -> dict[str, np.ndarray]:
        return {"loss": _losses(matrix, preferences)}

    drawn = loss(next(draw_counts(counts, DRAWS, int(rng.integers(2**32)))))
    interval = from_draws(loss(counts.matrix)["loss"], centre(counts, loss, drawn)["loss"], 0.95)[0]
    return interval.low, interval.high


def main(data_sets: int = 2000, seed: int = 0, fixed: str = "") -> int:
    rng = np.random.default_rng(int(seed))
    failing, checked, means = [], 0, dict.fromkeys(MEASURES, 0.0)
    print("sensitivity specificity  rows  rare     " + "".join(f"{name:>11}" for name in MEASURES))
    for setting in grid():
        found = coverage(setting, int(data_sets), rng, fixed=bool(fixed))
        marks = [f"{found[name]:10.4f}{' ' if LOW <= found[name] <= HIGH else '*'}" for name in MEASURES]
        print(
            f"{setting.sensitivity:11.2f} {setting.specificity:11.2f} {setting.rows:5d} {100 * setting.share:4.0f} %   "
            + "".join(marks),
            flush=True,
        )
        for name in MEASURES:
            checked += 1
            means[name] += found[name] / 96
            if not LOW <= found[name] <= HIGH:
                failing.append((name, setting, found[name]))
    print("mean                                     " + "".join(f"{means[name]:10.4f} " for name in MEASURES))
    by_measure = {name: sum(one[0] == name for one in failing) for name in MEASURES}
    print(
        f"\noutside {LOW:.0%}-{HIGH:.0%}: {len(failing)} of {checked} ({100 * len(failing) / checked:.1f} %): {by_measure}"
    )
    return int(len(failing) > 0.1 * checked)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
