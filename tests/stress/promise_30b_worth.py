"""30b. Planned labels are worth several times as many random ones, and with a useless judge hardly fewer."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import product

import numpy as np

from compromis.evidence.population import Population
from compromis.model_selection.allocation import predicted_of, share_out
from compromis.uncertainty.intervals import wilson_bounds
from tests.stress.counting import count_seeds
from tests.stress.outcome import Outcome, Progress, scaled, silent
from tests.stress.promise_30_labels import PREFERENCES, ROWS, Setting, cells_of, check_sample

TITLE = "300 planned labels tell of the recall of a 2 % class what 1,200 random ones do, their intervals what 700 do"
SAMPLES = 1_000
QUICK = 0.01
FIRST = 30_500_000
SHARE, LABELS = 0.02, 300
ERROR, WIDTH, USELESS = 1_200, 700, 0.95
"""What is promised: in squared error and in width, on average over settings; and the least with a useless judge, of 300."""
SETTINGS = tuple(
    Setting(SHARE, (recall, 0.5), judge, (LABELS,), 1.0)
    for recall, judge in product((0.5, 0.65, 0.8, 0.9, 0.95), ((0.5, 0.5), (0.7, 0.7), (0.85, 0.9), (0.95, 0.97)))
)

BLIND = tuple(Setting(SHARE, (recall, 0.5), (0.5, 0.5), (LABELS,), 0.0) for recall in (0.5, 0.8, 0.95))
"""A useless judge, and no votes either."""


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Compare the squared errors and widths of planned labels with those of random ones."""
    number, total, worth = scaled(SAMPLES, scale), Outcome(0), []
    for done, setting in enumerate(SETTINGS):
        part = count_seeds(partial(measured, setting), range(FIRST, FIRST + number))
        total += Outcome(part.cases, part.failures)
        worth.append(equivalents(setting, part.notes, number))
        progress((done + 1) * number, len(SETTINGS) * number)
    error, width = np.mean(worth, axis=0)
    useless = min(by_formula(setting) for setting in (*SETTINGS, *BLIND) if setting.judge == (0.5, 0.5))
    notes = {
        "random labels, squared error": round(error),
        "random labels, width": round(width),
        "with a useless judge": round(useless),
    }
    few = 1.0 if number >= 500 else 0.5  # a few samples do not tell more
    wrong = [
        f"{what}: {found:.0f} random labels, {asked:.0f} promised"
        for what, found, asked in (
            ("error", error, ERROR),
            ("width", width, WIDTH),
            ("useless judge", useless, USELESS * LABELS),
        )
        if found < asked * few
    ]
    return Outcome(total.cases, (*total.failures, *wrong), Counter(notes))


def measured(setting: Setting, seed: int) -> dict[str, int]:
    """Return squared error and width in millionths, which add up exactly."""
    found = check_sample(setting, seed)
    return {"error": found.get("squared error", 0), "width": found.get("width", 10**6)}


def equivalents(setting: Setting, notes: Counter[str], number: int) -> tuple[float, float]:
    """Return how many random labels have the same squared error, and the same mean width of the interval."""
    recall, rows = setting.rates[0], np.geomspace(50, 50_000, 400)
    error, width = notes["error"] / number / 1e6, notes["width"] / number / 1e6
    low, high = wilson_bounds(np.full(len(rows), recall), rows * SHARE, 0.95)
    return recall * (1 - recall) / SHARE / error, float(np.interp(-width, -(high - low), rows))


def by_formula(setting: Setting) -> float:
    """Return how many random labels have the variance that the design has by its formula: no chance is in it.

    sum_h N_h^2 / n_h p_h (1 - p_h) a_h^2, with a the slope of the recall in a row of the class.
    """
    found, mass, means = cells_of(setting)
    rows = mass * ROWS
    sizes = np.maximum(np.rint(rows.sum(axis=1)), 1).astype(np.int64)
    population = Population(classes=(0, 1), cells=found, sizes=sizes, shares=means if setting.temper else None)
    drawing = share_out(population, LABELS, PREFERENCES, None, None, 1)
    sick, every = (np.bincount(drawing.stratum_of, weights=part) for part in (rows[:, 1], rows.sum(axis=1)))
    share, recall = sick / every, setting.rates[0]
    slope = np.where(predicted_of(population, drawing.stratum_of) == 1, 1 - recall, -recall) / sick.sum()
    variance = (drawing.strata.sizes.astype(float) ** 2 / drawing.drawn * share * (1 - share) * slope**2).sum()
    return float(recall * (1 - recall) / SHARE / variance)
