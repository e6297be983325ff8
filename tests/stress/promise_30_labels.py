"""30. Intervals from a planned sample of labels hold the truth as often as they say, in one phase and in two."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import norm

import compromis as cp
from compromis.evidence.population import STEPS, Population
from compromis.measures.rates import class_rates
from compromis.model_selection.allocation import Drawing, predicted_of, share_out
from compromis.uncertainty.report_intervals import sample_intervals
from tests.stress.counting import count_seeds
from tests.stress.outcome import Outcome, Progress, scaled, silent

TITLE = "95 % intervals of recall from planned labels hold 92 to 98 % of truths"
SAMPLES = 1_000
"""For each setting."""
QUICK = 0.002
FIRST = 30_000_000
ENOUGH = 20
"""Expected labelled rows of the class from which 92 to 98 % is promised; 90 % and more below."""
ROWS = 30_000
DRAWS = 2_000
CHANCE = 2.75
"""Standard errors that chance may add in one of 96 settings."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A rare class, how well a model and a judge find it, and how many labels are drawn."""

    share: float
    rates: tuple[float, float]
    """Recall and precision of the model."""
    judge: tuple[float, float] | None
    """How often the judge is right on rows of the class, and on the others."""
    budgets: tuple[int, ...]
    """The labels of each phase; the second is shared out by what the first says."""
    temper: float
    """By which the model's log-odds are multiplied: 1 is calibrated; 0 where only its predictions are known."""


SETTINGS = tuple(
    Setting(share, rates, judge, budgets, temper)
    for number, (share, rates, judge, budgets) in enumerate(
        product(
            (0.01, 0.03, 0.08, 0.25),
            ((0.55, 0.6), (0.75, 0.4), (0.9, 0.25)),
            (None, (0.5, 0.5), (0.75, 0.8), (0.9, 0.95)),
            ((250,), (200, 400)),
        )
    )
    for temper in ((1.0, 1.7, 0.6, 0.0, 1.0)[number % 5],)
)
PREFERENCES = cp.Preferences({1: cp.Preference(10, 0.1, 0.9)}).on((0, 1))


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count how often the interval of the recall holds the true recall."""
    total, number = Outcome(0), scaled(SAMPLES, scale)
    seeds = range(FIRST, FIRST + number)
    for done, setting in enumerate(SETTINGS):
        part = count_seeds(partial(check_sample, setting), seeds)
        held = Counter({"intervals that hold the truth": part.notes["holds"]})
        total += Outcome(part.cases, (*part.failures, *_wrong(setting, part.notes, number)), held)
        progress((done + 1) * number, len(SETTINGS) * number)
    return total


@cache
def cells_of(setting: Setting) -> tuple[Any, Any, Any]:
    """Return the cells of the population, the probability of each cell and class, and the mean scores."""
    recall, precision = setting.rates
    alarms = setting.share * recall * (1 - precision) / precision / (1 - setting.share)
    cut = norm.isf(alarms)
    gap = cut + norm.ppf(recall)
    edges = np.linspace(-6.0, gap + 7.0, 20_001)
    middle = (edges[1:] + edges[:-1]) / 2
    of_class = np.stack([np.diff(norm.cdf(edges)), np.diff(norm.cdf(edges - gap))], axis=1)
    prior = np.log(setting.share / (1 - setting.share))
    score, at = (expit(setting.temper * (gap * place - gap * gap / 2 + prior)) for place in (middle, cut))
    margin = np.abs(2 * score * (1 - at) / (score * (1 - at) + (1 - score) * at) - 1)
    step = np.minimum(margin * STEPS, STEPS - 1).astype(int)
    step = step if setting.temper else np.full_like(step, -1)
    weight = of_class * [1 - setting.share, setting.share]
    table = []
    for predicted, opinion, one in product((0, 1), (-1,) if setting.judge is None else (0, 1), range(-1, STEPS)):
        inside = ((middle > cut) == predicted) & (step == one)
        says = _says(setting.judge, opinion)
        if inside.any():
            mass = weight[inside].sum(axis=0)
            mean = float((score[inside] * weight[inside].sum(axis=1)).sum() / max(mass.sum(), 1e-300))
            table.append(((predicted, opinion, one), mass * says, (1 - mean, mean)))
    found, mass, means = (np.array(part) for part in zip(*table, strict=True))
    return found, mass / mass.sum(), means


def _says(judge: tuple[float, float] | None, opinion: int) -> Any:
    if judge is None:
        return np.ones(2)
    right, spared = judge
    return np.array([1 - spared, right]) if opinion else np.array([spared, 1 - right])


def check_sample(setting: Setting, seed: int) -> dict[str, int]:
    """Draw a population, plan labels, see them, plan again where there is a second phase, and look whether the interval holds."""
    rng = np.random.default_rng([seed, round(1e4 * setting.share), round(1e4 * setting.rates[0])])
    found, mass, means = cells_of(setting)
    rows = rng.multinomial(ROWS, mass.ravel()).reshape(mass.shape)
    there = rows.sum(axis=1) > 0
    shares = means[there] if setting.temper else None
    population = Population(classes=(0, 1), cells=found[there], sizes=rows[there].sum(axis=1), shares=shares)
    drawing: Drawing | None = None
    counts = None
    for budget in setting.budgets:
        before = drawing
        drawing = share_out(population, budget, PREFERENCES, before, counts, seed)
        fresh = drawing.drawn - (0 if before is None else before.drawn)
        counts = _labelled(rng, population, rows[there], drawing, fresh, counts)
    assert counts is not None
    interval = sample_intervals(counts, lambda cells: {"recall": class_rates(cells)["recall"]}, 0.95, DRAWS, seed)[
        "recall"
    ][1]
    labelled = int(counts.labelled[1].sum())
    if np.isnan(interval.value):  # no labelled row of the class: nothing is said
        return {"holds": 1}
    error = (interval.value - setting.rates[0]) ** 2
    return {
        "holds": int(setting.rates[0] in interval),
        "labelled": labelled,
        "squared error": round(1e6 * error),
        "width": round(1e6 * interval.width),
    }


def _labelled(
    rng: np.random.Generator, population: Population, rows: Any, drawing: Drawing, fresh: Any, before: cp.Counts | None
) -> cp.Counts:
    """Draw fresh rows of each stratum among those not seen yet, and add their labels."""
    size, predicted = len(drawing.strata), predicted_of(population, drawing.stratum_of)
    sick = np.bincount(drawing.stratum_of, weights=rows[:, 1], minlength=size).astype(np.int64)
    rest = drawing.strata.sizes - sick
    each = np.arange(size)
    if before is not None and before.tables is not None:
        sick, rest = sick - before.tables[each, 1, predicted], rest - before.tables[each, 0, predicted]
    seen = rng.hypergeometric(sick, rest, fresh)
    tables = np.zeros((size, 2, 2), dtype=np.int64)
    tables[each, 1, predicted], tables[each, 0, predicted] = seen, fresh - seen
    counts = cp.Counts.from_tables(drawing.strata, tables, (0, 1))
    return counts if before is None else before + counts


def _wrong(setting: Setting, notes: Counter[str], number: int) -> list[str]:
    held, labelled = notes["holds"] / number, notes["labelled"] / number
    low, high = (0.92, 0.98) if labelled >= ENOUGH else (0.9, 1.0)
    error = CHANCE * np.sqrt(0.95 * 0.05 / number) if number < 5_000 else 0.0
    if low - error <= held <= high + error:
        return []
    return [f"{setting}: {held:.4f} of {number} intervals hold, with {labelled:.1f} labelled rows of the class"]
