"""How often the intervals hold the truth: the grid of issue 6, printed cell by cell.

Rows are drawn independently from a population (so the number of rows of the rare class varies, as it does in life);
scores are binormal, and a cut at 0 gives the stated sensitivity and specificity. Usage: interval_coverage.py [data sets] [seed] [fixed];
with `fixed` the number of rare rows is the same in every data set, where a share of five rows has six values and no
interval of fixed ends can cover near 95 % everywhere. interval_coverage.py classes [data sets] [seed] prints 2 to 20 classes instead,
plain, with sample weights and in groups: the table of docs/uncertainty.md. What was chosen was chosen on other settings, the last two apart.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

import compromis as cp
from compromis.evidence.counts import Counts
from compromis.evidence.grouped import GroupedCounts
from compromis.evidence.points import OperatingPoints
from compromis.measures.pragma import losses
from compromis.measures.rates import Outcomes, counts_of, precision, share_parts
from compromis.uncertainty.area_intervals import roc_area_interval
from compromis.uncertainty.draws import draw_counts, effective_sizes
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


@dataclass(frozen=True, slots=True)
class Classes:
    """A population of several classes, each recognised with one accuracy, and how rows are drawn from it."""

    classes: int
    rows: int
    ratio: float
    """The share of each class over that of the one before."""
    accuracy: float
    spread: float = 0.0
    """The standard deviation of the logarithms of sample weights."""
    group: int = 1
    """The rows of a group."""
    alike: float = 0.0
    """The correlation of being right within a group."""
    labelled: float = 1.0
    """The share of the rows predicted as the most frequent class that are labelled, each for so many more."""

    @property
    def population(self) -> np.ndarray:
        """The probabilities of the cells."""
        cells = np.full((self.classes, self.classes), (1 - self.accuracy) / (self.classes - 1))
        np.fill_diagonal(cells, self.accuracy)
        shares = self.ratio ** np.arange(self.classes)
        return cells * (shares / shares.sum())[:, np.newaxis]

    def draw(self, rng: np.random.Generator) -> Counts | GroupedCounts:
        """Draw a data set."""
        truth = rng.choice(self.classes, self.rows, p=self.population.sum(axis=1))
        group = np.arange(self.rows) // self.group
        right = np.full(group[-1] + 1, self.accuracy)
        if self.alike:
            some = (1 - self.alike) / self.alike
            right = rng.beta(self.accuracy * some, (1 - self.accuracy) * some, len(right))
        wrong = rng.random(self.rows) >= right[group]
        predicted = np.where(wrong, (truth + rng.integers(1, self.classes, self.rows)) % self.classes, truth)
        weight = np.exp(self.spread * rng.normal(size=self.rows)) if self.spread else None
        if self.labelled < 1:
            kept = (predicted > 0) | (rng.random(self.rows) < self.labelled)
            truth, predicted = truth[kept], predicted[kept]
            weight = np.where(predicted > 0, 1.0, 1 / self.labelled)
        counts = Counts.from_positions(truth, predicted, range(self.classes), weight)
        if self.group == 1:
            return counts
        return GroupedCounts.from_positions(truth, predicted, group, counts, weight)


_SIZES = ((2, 300, 1 / 9, 0.85), (3, 500, 0.6, 0.7), (5, 500, 0.7, 0.75), (10, 800, 0.8, 0.85), (20, 1000, 0.9, 0.75))
SEVERAL = (
    *(Classes(*size) for size in _SIZES),
    *(Classes(*size, spread=0.7) for size in _SIZES),
    *(Classes(*size, group=5, alike=0.2) for size in _SIZES),
    Classes(2, 600, 0.25, 0.85, group=40),
    Classes(3, 600, 0.6, 0.7, group=20, alike=0.1),
    Classes(2, 800, 1 / 19, 0.85, spread=1.0),
    Classes(2, 4000, 1 / 19, 0.85, labelled=0.125),
)
DRAWN = ("f", "kulczynski", "macro F", "kappa")
SHARES_OF_ROWS = ("accuracy", "recall", "precision")


def numbers_of(setting: Classes) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    """Return what gives the numbers of matrices: PRAGMA with the rarest class preferred, and two averages."""
    labels = range(setting.classes)
    rarest = [cp.Preferences.prioritise([setting.classes - 1], metric=metric).on(labels) for metric in DRAWN[:2]]
    arrays = dict(zip(DRAWN, [*rarest, cp.Preferences(metric="f").on(labels)], strict=False))

    def numbers(matrix: np.ndarray) -> dict[str, np.ndarray]:
        cells = Outcomes(np.asarray(matrix, dtype=np.float64))
        total = cells.total[..., 0]
        right, chance = cells.hits.sum(axis=-1) / total, (cells.support * cells.predicted).sum(axis=-1) / total**2
        return {name: _losses(cells, one) for name, one in arrays.items()} | {"kappa": (right - chance) / (1 - chance)}

    return numbers


def coverage_of_classes(setting: Classes, data_sets: int, rng: np.random.Generator) -> dict[str, float]:
    """Return the share of data sets whose 95 % interval holds the population's value, by number."""
    numbers = numbers_of(setting)
    truth = numbers(setting.population)
    hits, tries = dict.fromkeys((*SHARES_OF_ROWS, *DRAWN), 0), 0
    for _ in range(data_sets):
        evidence = setting.draw(rng)
        counts = counts_of(evidence)
        if not counts.support.all():  # a class that does not occur is left out of averages
            continue
        tries += 1
        drawn = numbers(np.concatenate(list(draw_counts(evidence, DRAWS, int(rng.integers(2**32))))))
        observed, moved = numbers(counts.matrix), centre(evidence, numbers, drawn)
        for name in DRAWN:
            hits[name] += truth[name] in from_draws(observed[name], moved[name], 0.95)[0]
        sizes, parts, known = effective_sizes(evidence, 0.95), share_parts(counts), share_parts(setting.population)
        for name in SHARES_OF_ROWS:
            part, whole = (float(np.ravel(one)[-1]) for one in parts[name])
            low, high = wilson_bounds(part / whole if whole else np.nan, float(np.ravel(sizes[name])[-1]), 0.95)
            true = float(np.ravel(known[name][0])[-1] / np.ravel(known[name][1])[-1])
            hits[name] += not whole or bool(low <= true <= high)
    return {name: count / tries for name, count in hits.items()}


def several_classes(data_sets: int = 400, seed: int = 0) -> int:
    """Print the table of several classes."""
    rng, outside = np.random.default_rng(seed), 0
    print(
        "classes  rows  ratio  accuracy  weights  group  labelled"
        + "".join(f"{name:>12}" for name in (*SHARES_OF_ROWS, *DRAWN))
    )
    for one in SEVERAL:
        found = coverage_of_classes(one, data_sets, rng)
        marks = "".join(f"{value:11.3f}{' ' if LOW <= value <= HIGH else '*'}" for value in found.values())
        outside += sum(not LOW <= value <= HIGH for value in found.values())
        head = f"{one.classes:7d} {one.rows:5d} {one.ratio:6.2f} {one.accuracy:9.2f} {one.spread:8.1f}"
        print(f"{head} {one.group:3d}/{one.alike:.1f} {one.labelled:9.3f}{marks}", flush=True)
    print(f"outside {LOW:.0%}-{HIGH:.0%}: {outside} of {len(SEVERAL) * len((*SHARES_OF_ROWS, *DRAWN))}")
    return 0


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
    if sys.argv[1:2] == ["classes"]:
        sys.exit(several_classes(*map(int, sys.argv[2:])))
    sys.exit(main(*sys.argv[1:]))
