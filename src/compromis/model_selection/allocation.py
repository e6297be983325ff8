"""Strata of a population, and how many labels each gets: half by its rows, half by what its labels are guessed to tell."""

from __future__ import annotations

import hashlib
import math
from typing import NamedTuple

import numpy as np

from compromis._typing import Floats, Ints
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.evidence.population import Population
from compromis.evidence.strata import Strata
from compromis.measures.pragma import losses
from compromis.measures.rates import Cells, Outcomes, class_rates
from compromis.preferences import PreferenceArrays
from compromis.uncertainty.report_intervals import MOST_CLASSES, slopes

WRONG = 0.2
"""The share of each class that is taken to be missed, and wrongly predicted, where nothing says more."""
UNSURE = 0.2
"""How much this counts beside what votes say: no stratum is taken to be without errors."""
TRUST = 0.9
"""How often a judge is taken to be right at most; one that agrees with predictions no more than by chance is not believed at all."""
EACH = 12
"""Labels of a stratum on average: fewer strata use less of what is known, more leave too few labels in each."""
LEAST = 5
"""Labels of a stratum at least: a guess that nothing is wrong there may be wrong."""
PROPORTIONAL = 0.5
"""The part of the labels that is drawn in proportion to the rows: guesses may be wrong, and a judge useless."""
PAYS = 0.9
"""Planning again pays where it makes the expected variance smaller than by this factor; else labels are drawn as before."""
REMEMBERED = 10.0
"""So many labels of a stratum count as much as the guess made before."""


class Drawing(NamedTuple):
    """How many rows are drawn of which strata."""

    strata: Strata
    stratum_of: Ints
    drawn: Ints
    guess: Floats
    worth: float
    looked: bool


def share_out(
    population: Population,
    budget: int,
    arrays: PreferenceArrays,
    before: Drawing | None,
    counts: Counts | None,
    seed: int,
) -> Drawing:
    """Make strata, or take those of the phase before, and share the labels out."""
    phase = _first_phase(population, budget, arrays, seed) if before is None else before
    sizes, predicted = phase.strata.sizes, predicted_of(population, phase.stratum_of)
    rest = int((sizes - phase.drawn).sum())
    if budget > rest:
        raise InputError(f"budget is {budget:,}, but only {rest:,} rows are not drawn yet", "budget")
    guess, looked = phase.guess, False
    deviation, of_one = _spread(guess, sizes, predicted, arrays)
    drawn = _shared(sizes, deviation, phase.drawn, budget)
    if counts is not None and counts.tables is not None:
        guess = (counts.tables.sum(axis=2) + REMEMBERED * guess) / (phase.drawn + REMEMBERED)[:, np.newaxis]
        deviation, of_one = _spread(guess, sizes, predicted, arrays)
        anew = _shared(sizes, deviation, phase.drawn, budget)
        looked = _variance(sizes, deviation, anew) < PAYS * _variance(sizes, deviation, drawn)
        drawn = anew if looked else drawn
    worth = of_one * float(sizes.sum()) ** 2 / max(_variance(sizes, deviation, drawn), np.finfo(float).tiny)
    return Drawing(phase.strata, phase.stratum_of, drawn, guess, min(worth, float(sizes.sum())), looked)


def _first_phase(population: Population, budget: int, arrays: PreferenceArrays, seed: int) -> Drawing:
    """Return strata of which nothing is drawn yet."""
    predicted, guess = population.cells[:, 0], _guess(population)
    deviation, _ = _spread(guess, population.sizes, predicted, arrays)
    stratum_of = _strata(population, deviation, budget)
    sizes = np.bincount(stratum_of, weights=population.sizes).astype(np.int64)
    strata = Strata(names=_names(population, stratum_of, seed), sizes=sizes)
    return Drawing(
        strata, stratum_of, np.zeros_like(sizes), _mean_guess(guess, population.sizes, stratum_of), 0.0, False
    )


def predicted_of(population: Population, stratum_of: Ints) -> Ints:
    """Return the predicted class of each stratum."""
    predicted = np.zeros(int(stratum_of.max()) + 1, dtype=np.int64)
    predicted[stratum_of] = population.cells[:, 0]
    return predicted


def _spread(guess: Floats, sizes: Ints, predicted: Ints, arrays: PreferenceArrays) -> tuple[Floats, float]:
    """Return the deviation of what a row of each part adds to what matters, and the variance of one random row of all."""
    matrix = np.zeros((guess.shape[1], guess.shape[1]))
    np.add.at(matrix.T, predicted, guess * sizes[:, np.newaxis])
    slope = _slopes_of(matrix, arrays)
    return _deviation(guess, slope[:, :, predicted]), float(_of_one(matrix / matrix.sum(), slope).sum())


def _names(population: Population, stratum_of: Ints, seed: int) -> tuple[str, ...]:
    """Return names of the strata that no other population, plan or seed has."""
    parts = (population.cells, population.sizes, stratum_of, np.array([seed], dtype=np.int64))
    mark = hashlib.sha256(b"|".join(np.ascontiguousarray(part, np.int64).tobytes() for part in parts)).hexdigest()[:12]
    return tuple(f"{mark}-{h:03d}" for h in range(int(stratum_of.max()) + 1))


def _guess(population: Population) -> Floats:
    """Return the classes' shares in each cell as predictions, votes and the judge suggest them, of shape (C, K)."""
    size, total = len(population.classes), float(population.rows)
    predicted, opinion = population.cells[:, 0], population.cells[:, 1]
    often = np.bincount(predicted, weights=population.sizes, minlength=size)
    often = np.maximum(often, 1.0)
    guess = np.repeat((WRONG * often / np.maximum(total - often, 1.0))[np.newaxis], len(predicted), axis=0)
    guess[np.arange(len(predicted)), predicted] = 0.0
    guess /= np.maximum(guess.sum(axis=1, keepdims=True), 1.0)
    guess[np.arange(len(predicted)), predicted] = 1 - guess.sum(axis=1)
    if population.shares is not None:
        guess = UNSURE * guess + (1 - UNSURE) * population.shares
    trust = _trust(population)
    says = np.where(np.arange(size) == opinion[:, np.newaxis], trust, (1 - trust) / max(size - 1, 1))
    guess = np.where((opinion >= 0)[:, np.newaxis], guess * says, guess)
    shares: Floats = guess / guess.sum(axis=1, keepdims=True)
    return shares


def _trust(population: Population) -> float:
    """Return how often the judge is taken to be right: more, the more it agrees with predictions beyond chance (Cohen's kappa)."""
    size = len(population.classes)
    predicted, opinion = population.cells[:, 0], population.cells[:, 1]
    named = opinion >= 0
    table = np.zeros((size, size))
    np.add.at(table, (opinion[named], predicted[named]), population.sizes[named])
    if not table.any():
        return 1 / size
    table /= table.sum()
    chance = float(table.sum(axis=1) @ table.sum(axis=0))
    kappa = (float(table.trace()) - chance) / (1 - chance) if chance < 1 else 0.0
    return 1 / size + (TRUST - 1 / size) * min(1.0, 2 * math.sqrt(max(kappa, 0.0)))


def _mean_guess(guess: Floats, sizes: Ints, stratum_of: Ints) -> Floats:
    sums = np.zeros((int(stratum_of.max()) + 1, guess.shape[1]))
    np.add.at(sums, stratum_of, guess * sizes[:, np.newaxis])
    return sums / sums.sum(axis=1, keepdims=True)


def _slopes_of(matrix: Floats, arrays: PreferenceArrays) -> Floats:
    """Return what a row in each cell adds to what matters, of shape (targets, K, K): the loss, and each rate with a minimum.

    Targets are scaled so that each has the same variance in a sample without strata.
    """
    if arrays.by_amount is not None:
        raise InputError(
            "labels are planned for costs that do not depend on amounts; give each decision a fixed cost", "preferences"
        )
    asked = {"recall": np.flatnonzero(arrays.min_recall > 0), "precision": np.flatnonzero(arrays.min_precision > 0)}
    smooth = matrix + 0.5
    if len(arrays.classes) > MOST_CLASSES:
        found = np.diag(arrays.importance / smooth.sum(axis=1))[np.newaxis]
    else:

        def measures(cells: Cells) -> dict[str, Floats]:
            rates = class_rates(Outcomes(cells))
            named = {name: rates[name][..., chosen] for name, chosen in asked.items() if len(chosen)}
            return {"loss": losses(cells, arrays)[1].sum(axis=-1), **named}

        each = slopes(measures, smooth, np.ones_like(smooth), measures(smooth)).values()
        found = np.nan_to_num(np.concatenate(list(each), axis=1)).T.reshape(-1, *matrix.shape)
    variance = _of_one(smooth / smooth.sum(), found)
    scaled: Floats = found / np.sqrt(np.where(variance > 0, variance, 1.0))[:, np.newaxis, np.newaxis]
    return scaled


def _of_one(share: Floats, slope: Floats) -> Floats:
    """Return the variance of what one random row adds to each target."""
    mean = (share * slope).sum(axis=(1, 2))
    variance: Floats = np.maximum((share * slope**2).sum(axis=(1, 2)) - mean**2, 0.0)
    return variance


def _deviation(guess: Floats, slope: Floats) -> Floats:
    """Return the deviation of what a row adds, over all targets; `slope` has shape (targets, K, parts)."""
    mean = (guess.T * slope).sum(axis=1)
    variance = np.maximum((guess.T * slope**2).sum(axis=1) - mean**2, 0.0)
    return np.sqrt(variance.sum(axis=0))


def _variance(sizes: Ints, deviation: Floats, drawn: Ints) -> float:
    return float((sizes.astype(np.float64) ** 2 * deviation**2 / np.maximum(drawn, 1)).sum())


def _strata(population: Population, deviation: Floats, budget: int) -> Ints:
    """Return the stratum of each cell: by prediction, whether the judge agrees, and deviation, cut into even shares of labels."""
    predicted, opinion = population.cells[:, 0], population.cells[:, 1]
    pays = budget // LEAST
    group = predicted * 3 + np.where(opinion < 0, 2, opinion == predicted)
    if len(np.unique(group)) > pays:  # too few labels for both
        group = predicted
    if len(np.unique(group)) > pays:
        raise InputError(
            f"budget is {budget}, too few for {len(np.unique(group))} predicted classes; label {LEAST} rows of each at least",
            "budget",
        )
    share = _mixed(population.sizes, deviation)
    most = max(len(np.unique(group)), budget // EACH)
    stratum_of, strata = np.zeros(len(group), dtype=np.int64), 0
    for one in np.unique(group).tolist():
        own = np.flatnonzero(group == one)
        own = own[np.argsort(deviation[own], kind="stable")]
        upto = np.cumsum(share[own])
        parts = min(max(1, round(upto[-1] * most)), max(1, pays // len(np.unique(group))))
        part = np.minimum((upto - share[own] / 2) / upto[-1] * parts, parts - 1).astype(np.int64)
        stratum_of[own] = strata + np.unique(part, return_inverse=True)[1]
        strata = int(stratum_of[own].max()) + 1
    return stratum_of


def _mixed(sizes: Ints, deviation: Floats) -> Floats:
    """Return the share of the labels that each part should have: half by its rows, half by rows times deviation."""
    rows, by_deviation = sizes / sizes.sum(), sizes * deviation
    if not by_deviation.any():
        return rows
    shares: Floats = PROPORTIONAL * rows + (1 - PROPORTIONAL) * by_deviation / by_deviation.sum()
    return shares


def _shared(sizes: Ints, deviation: Floats, before: Ints, budget: int) -> Ints:
    """Return how many rows of each stratum are drawn, those `before` included: no fewer than these, `LEAST` at least, all at most."""
    total = int(before.sum()) + budget
    least, share = np.maximum(before, np.minimum(LEAST, sizes)), _mixed(sizes, deviation)
    low, high = 0.0, float((sizes / np.maximum(share, 1e-300)).max())
    for _ in range(100):  # the level at which the clipped parts sum to the total
        level = (low + high) / 2
        low, high = (level, high) if np.clip(level * share, least, sizes).sum() < total else (low, level)
    wanted = np.clip(low * share, least, sizes)
    drawn = np.maximum(np.floor(wanted + 1e-9).astype(np.int64), least)
    for h in np.argsort(drawn - wanted, kind="stable").tolist() * 2:
        if drawn.sum() < total and drawn[h] < sizes[h]:
            drawn[h] += 1
    return drawn
