"""27. Coins of any rate, rows with weights, amounts and groups too, and models tuned on noise, are seldom called better than no model, and a real gain is found."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import binom, norm
from threadpoolctl import threadpool_limits

import compromis as cp
from compromis.evidence.grouped import GroupedCounts
from compromis.measures.baselines import best_coin, best_constant
from compromis.measures.pragma import losses
from compromis.preferences import PreferenceArrays
from compromis.uncertainty.judgement import Judgement, judge
from tests.stress.cases import METRICS
from tests.stress.counting import count_seeds
from tests.stress.outcome import Outcome, Progress, scaled, silent

TITLE = "the verdict: coins and models of noise are no model, real gains are found"
COINS, UNEQUAL, GAINS, FITS = 10_000, 4_000, 4_000, 1_500
"""The fits are 500 for each model."""
QUICK = 0.005
LARGEST = 0.05
"""The share of coins that may be called better."""
LEAST = 0.85
"""The share of gains that must be called better."""
WRONG = 0.025
"""The share of gains that may be called no better."""
ROWS = 5_000
"""Of the samples in which a gain must be found."""
PAIRS = (
    (0.15, 0.85), (0.85, 0.15), (0.45, 0.55), (0.55, 0.65), (0.7, 0.75), (0.5, 0.75), (0.75, 0.45), (0.25, 0.6), (0.35, 0.92), (0.03, 0.6),
)  # fmt: skip
RATES = ("the best coin", "near the best coin", "at the shares", "any rate", "nearly constant")
FIRST = 27_000_000
"""The first seed: settings that nothing was chosen by."""


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count the verdicts; a cell breaks the promise where chance cannot explain it (1 in 10,000)."""
    coins = count_seeds(check_coin, range(FIRST, FIRST + scaled(COINS, scale)), progress)
    unequal = count_seeds(check_unequal, range(FIRST, FIRST + scaled(UNEQUAL, scale)), progress)
    gains = count_seeds(check_gain, range(FIRST, FIRST + scaled(GAINS, scale)), progress)
    fits = count_seeds(check_fit, range(FIRST, FIRST + scaled(FITS, scale)), progress)
    failures = (*_too_many(coins.notes, "better", LARGEST), *_too_many(gains.notes, "no better", WRONG))
    failures += (
        *_too_many(unequal.notes, "better", LARGEST),
        *_too_few(gains.notes),
        *_too_many(fits.notes, "better", LARGEST),
    )
    parts = (coins, unequal, gains, fits)
    worst = sum((_worst(part.notes, highest=part is not gains) for part in parts), Counter[str]())
    return Outcome(sum(part.cases for part in parts), sum((part.failures for part in parts), ()) + failures, worst)


def check_coin(seed: int) -> dict[str, int]:
    """One sample of a coin: any number of classes, rows, shares, importances and answers."""
    rng = np.random.default_rng(seed)
    classes, rows = int(rng.integers(2, 11)), int(np.exp(rng.uniform(np.log(50), np.log(200_000))))
    metric, pair = METRICS[seed % 4], PAIRS[int(rng.integers(len(PAIRS)))]
    shares = rng.dirichlet(np.full(classes, rng.choice([0.5, 2.0, 20.0])))
    if rng.random() < 0.5:
        shares = _with_rare(shares, float(np.exp(rng.uniform(np.log(0.003), np.log(0.2)))))
    others = [PAIRS[int(rng.integers(len(PAIRS)))] if seed % 2 else pair for _ in range(classes)]
    importance = rng.choice([1.0, 3.0, 7.0, 20.0], classes) if seed % 3 else np.ones(classes)
    arrays = _laid_out(importance, [pair, *others[1:]], metric)
    rate = RATES[int(rng.integers(len(RATES)))]
    coin = _coin(rate, shares, arrays, rng)
    judgement = _judged(rng, rows, np.outer(shares, coin), arrays)
    size = next(limit for limit in (200, 1_000, 5_000, 30_000, 200_000) if rows <= limit)
    cells = ("all", f"metric {metric}", f"{classes} classes", f"to {size:,} rows", f"answers {pair}", f"coin: {rate}")
    return _noted((*cells, f"metric {metric}, to {size:,} rows", f"{metric}, coin: {rate}"), judgement)


def _coin(
    rate: str, shares: NDArray[np.float64], arrays: PreferenceArrays, rng: np.random.Generator
) -> NDArray[np.float64]:
    best, some = best_coin(shares, arrays).probability, rng.dirichlet(np.ones(len(shares)))
    constant = np.eye(len(shares))[int(rng.integers(len(shares)))]
    coin = {
        "the best coin": best,
        "near the best coin": 0.9 * best + 0.1 * some,
        "at the shares": shares,
        "any rate": some,
        "nearly constant": 0.99 * constant + 0.01 * some,
    }[rate]
    coin = np.maximum(coin, 0.0)
    return coin / coin.sum()


KINDS = ("amounts", "weights", "weights by class", "groups", "classes in groups")


def check_unequal(seed: int) -> dict[str, int]:
    """One sample of a coin whose rows have amounts or weights, or come in groups, of which each has one toss (and one class)."""
    rng = np.random.default_rng([seed, 3])
    kind, classes = KINDS[seed % 5], int(rng.integers(2, 6))
    rows = int(np.exp(rng.uniform(np.log(100), np.log(5_000))))
    shares = _with_rare(rng.dirichlet(np.full(classes, 5.0)), float(np.exp(rng.uniform(np.log(0.02), np.log(0.3)))))
    metric = "costs" if kind == "amounts" else ("costs", *METRICS)[int(rng.integers(5))]
    mean = float(np.exp(rng.uniform(0, 3)))
    arrays = _of_costs(classes, mean, rng, by_amount=kind == "amounts")
    if metric != "costs":
        pair = PAIRS[int(rng.integers(len(PAIRS)))]
        arrays = _laid_out(rng.choice([1.0, 3.0, 7.0, 20.0], classes), [pair] * classes, metric)
    best = best_coin(shares, arrays).probability
    if arrays.cost is not None:
        priced = arrays.cost + (0 if arrays.by_amount is None else arrays.by_amount * mean)
        best = best_constant(shares, priced).probability
    some = float(np.exp(rng.uniform(np.log(0.002), 0)))  # how much of the coin is another one
    coin = np.maximum((1 - some) * best + some * rng.dirichlet(np.ones(classes)), 0)
    truth, toss = rng.choice(classes, rows, p=shares), rng.choice(classes, rows, p=coin / coin.sum())
    group = np.sort(rng.integers(0, max(rows // int(rng.choice([2, 5, 20])), 12), rows))
    if "groups" in kind:
        toss = toss[np.searchsorted(group, group)]
        truth = truth[np.searchsorted(group, group)] if kind == "classes in groups" else truth
        evidence: Any = GroupedCounts.from_predictions(truth, toss, groups=group, labels=range(classes))
    else:
        sizes = rng.lognormal(0, rng.choice([0.3, 0.7, 1.0]), rows)
        sizes = rng.choice([0.2, 1.0, 4.0], classes)[truth] if kind == "weights by class" else sizes / sizes.mean()
        given: Any = {"amount": mean * sizes} if kind == "amounts" else {"sample_weight": sizes}
        evidence = cp.Counts.from_predictions(truth, toss, labels=range(classes), **given)
    size, near = (
        next(limit for limit in (300, 1_000, 5_000) if rows <= limit),
        next(b for b in (0.01, 0.1, 1) if some <= b),
    )
    cells = (
        "all unequal",
        kind,
        f"{kind}, by {metric}",
        f"{kind}, to {size:,} rows",
        f"{kind}, {near:g} off the best coin",
    )
    return _noted((*cells, f"unequal, by {metric}, {near:g} off the best coin"), judge(evidence, arrays))


def _of_costs(classes: int, mean: float, rng: np.random.Generator, *, by_amount: bool) -> PreferenceArrays:
    """Lay out costs of which class 0's are the amounts of the rows, or their mean."""
    cost = rng.choice([0.1, 0.3, 1.0, 3.0], (classes, classes)).astype(object)
    cost[0] = "amount" if by_amount else mean
    np.fill_diagonal(cost, 0.0)
    return cp.Preferences(cost=cost.tolist(), labels=range(classes)).on(range(classes))


MODELS = ("logistic regression", "forest", "boosting")


def check_fit(seed: int) -> dict[str, int]:
    """One tuned estimator on columns that tell nothing of the class, judged by cross-fitted weights."""
    rng = np.random.default_rng([seed, 2])
    model, metric = MODELS[seed % 3], METRICS[seed // 3 % 4]
    rows, classes = int(np.exp(rng.uniform(np.log(200), np.log(2_000)))), int(rng.integers(2, 4))
    shares = _with_rare(np.full(classes, 1 / classes), float(np.exp(rng.uniform(np.log(0.03), np.log(0.4)))))
    y = rng.choice(classes, rows, p=shares)
    y[: 5 * classes] = np.tile(np.arange(classes), 5)  # so that every fold has each
    importance, pair = float(rng.choice([1.0, 5.0, 20.0])), PAIRS[int(rng.integers(len(PAIRS)))]
    preferences = cp.Preferences({0: cp.Preference(importance, *pair)}, cp.Preference(1.0, *pair), metric=metric)
    tuned = cp.TunedDecisionClassifier(_model(model, seed), preferences=preferences, random_state=seed)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", cp.NotBetterWarning)
        verdict = tuned.fit(rng.normal(size=(rows, 4)), y).verdict_
    size = next(limit for limit in (500, 1_000, 2_000) if rows <= limit)
    cells = ("all fits", model, f"{model}, metric {metric}", f"tuned, metric {metric}", f"tuned, to {size:,} rows")
    return {f"{cell}|{what}": 1 for cell in cells for what in ("cases", verdict.state)}


def _model(name: str, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    if name == "forest":
        return RandomForestClassifier(15, random_state=seed)
    if name == "boosting":
        return HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=6, random_state=seed)
    return LogisticRegression()


@dataclass(frozen=True, slots=True)
class Demand:
    """Answers, and the gain that must be found in `ROWS` rows from a share of the class on."""

    name: str
    gain: float
    least_share: float


DEMANDS = (Demand("answers of .5 to .8, gain 10 %", 0.1, 0.01), Demand("answers (.1, .9), gain 20 %", 0.2, 0.03))


def check_gain(seed: int) -> dict[str, int]:
    """One sample of a model whose loss in the population is lower than the best coin's by the gain demanded.

    Two classes have scores that are normal, one of them shifted, cut at the threshold that is best in the population; the shift is
    solved for the gain. Or a model of two to five classes knows a share of the rows and tosses the best coin for the others.
    The sample is new to it: `ROWS` rows drawn from the population.
    """
    rng = np.random.default_rng([seed, 1])
    demand, metric, scores = DEMANDS[seed % 2], ("f", "jaccard")[seed // 2 % 2], seed // 4 % 2 == 0
    share = demand.least_share
    if seed // 8 % 3:  # a third of the cases is at the least share itself
        share = float(np.exp(rng.uniform(np.log(demand.least_share), np.log(0.3))))
    classes = 2 if scores else int(rng.integers(2, 6))
    shares = _with_rare(rng.dirichlet(np.full(classes, 5.0)), share)
    pair = tuple(np.round(rng.uniform(0.5, 0.8, 2), 2).tolist()) if seed % 2 == 0 else (0.1, 0.9)
    importance = np.r_[rng.choice([1.0, 3.0, 7.0, 20.0]), np.ones(classes - 1)]
    arrays = _laid_out(importance, [pair] * classes, metric)
    goal = (1 - demand.gain) * float(best_coin(shares, arrays).loss)
    population = _scored(shares, arrays, goal) if scores else _known(shares, arrays, goal)
    judgement = _judged(rng, ROWS, population, arrays)
    size = f"class of {100 * share:.0f} %" if share == demand.least_share else "larger classes"
    kind = "scores" if scores else "rows known"
    lean = "precision first" if pair[0] > pair[1] + 0.1 else "recall first" if pair[1] > pair[0] + 0.1 else "even"
    cells = (demand.name, f"{demand.name}, {metric}, {size}", f"{demand.name}, {metric}, {kind}")
    return _noted((*cells, f"({demand.name}, {size}, {kind}, {lean})"), judgement)


def _scored(shares: NDArray[np.float64], arrays: PreferenceArrays, goal: float) -> NDArray[np.float64]:
    """Return the population of a score with the loss `goal` at its best threshold."""
    threshold = np.linspace(-6, 10, 3201)

    def best(shift: float) -> tuple[float, NDArray[np.float64]]:
        rates = norm.sf(threshold - shift), norm.sf(threshold)
        rows = [[share * rate, share * (1 - rate)] for share, rate in zip(shares, rates, strict=True)]
        tables = np.moveaxis(np.array(rows), -1, 0)
        lost = losses(tables, arrays)[1].sum(axis=-1)
        return float(lost.min()), tables[lost.argmin()]

    return best(brentq(lambda shift: best(shift)[0] - goal, 0.0, 9.0, xtol=1e-4))[1]


def _known(shares: NDArray[np.float64], arrays: PreferenceArrays, goal: float) -> NDArray[np.float64]:
    """Return the population of a model with the loss `goal` that knows some rows and tosses the best coin for the others."""
    blind = np.outer(shares, best_coin(shares, arrays).probability)

    def loss(part: float) -> float:
        table = (1 - part) * blind + part * np.diag(shares)
        return float(losses(table, arrays)[1].sum())

    part = brentq(lambda part: loss(part) - goal, 0.0, 1.0, xtol=1e-6)
    return (1 - part) * blind + part * np.diag(shares)


def _with_rare(shares: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    return np.r_[share, shares[1:] * ((1 - share) / shares[1:].sum())]


def _laid_out(importance: NDArray[np.float64], pairs: list[tuple[float, ...]], metric: str) -> PreferenceArrays:
    by_class = {k: cp.Preference(float(importance[k]), *pairs[k]) for k in range(len(pairs))}
    return cp.Preferences(by_class, metric=metric).on(range(len(pairs)))


def _judged(
    rng: np.random.Generator, rows: int, population: NDArray[np.float64], arrays: PreferenceArrays
) -> Judgement:
    matrix = rng.multinomial(rows, population.ravel() / population.sum()).reshape(population.shape)
    return judge(cp.Counts.from_matrix(matrix, arrays.classes), arrays)


def _noted(cells: tuple[str, ...], judgement: Judgement) -> dict[str, int]:
    return {f"{cell}|{what}": 1 for cell in cells for what in ("cases", judgement.state)}


def _too_many(notes: Counter[str], state: str, allowed: float) -> tuple[str, ...]:
    broken = []
    for cell, cases, count in _cells(notes, state):
        limit = allowed * cases if cell.startswith("all") and cases >= 1_000 else binom.ppf(0.9999, cases, allowed)
        if count > limit:
            broken.append(f"{cell}: {count} of {cases} called {state}")
    return tuple(broken)


def _too_few(notes: Counter[str]) -> tuple[str, ...]:
    """Gains found too seldom; cells in brackets are shown, not judged."""
    return tuple(
        f"{cell}: {count} of {cases} gains found"
        for cell, cases, count in _cells(notes, "better")
        if not cell.startswith("(") and count < (LEAST * cases if cases >= 500 else binom.ppf(1e-4, cases, LEAST))
    )


def _cells(notes: Counter[str], state: str) -> list[tuple[str, int, int]]:
    named = [(note.removesuffix("|cases"), cases) for note, cases in notes.items() if note.endswith("|cases")]
    return [(cell, cases, notes[f"{cell}|{state}"]) for cell, cases in named]


def _worst(notes: Counter[str], *, highest: bool, shown: int = 4) -> Counter[str]:
    """Return all cases and the worst cells of 100 and more, as notes."""
    cells = [one for one in _cells(notes, "better") if one[1] >= 100]
    chosen = sorted(cells, key=lambda one: one[2] / one[1], reverse=highest)[:shown]
    whole = [one for one in cells if one[0].startswith("all")]
    return Counter({f"better, of {cases:,}: {cell}": count for cell, cases, count in (*whole, *chosen)})


def table(scale: float = 1.0) -> str:
    """Return every cell as text: python -c 'from tests.stress.promise_27_verdict import table; print(table())'."""
    lines = []
    for check, full in ((check_coin, COINS), (check_unequal, UNEQUAL), (check_gain, GAINS), (check_fit, FITS)):
        done = count_seeds(check, range(FIRST, FIRST + scaled(full, scale)))
        states = ("better", "not told apart", "no better")
        for cell, cases, _ in sorted(_cells(done.notes, "better")):
            shares = ", ".join(f"{state} {100 * done.notes[f'{cell}|{state}'] / cases:.1f} %" for state in states)
            lines.append(f"{cell} ({cases:,}): {shares}")
        lines += done.failures
    return "\n".join(lines)
