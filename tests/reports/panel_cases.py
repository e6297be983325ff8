"""Problems for the panel's script, with what Python makes of them, and the script that works them out in JavaScript."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

import compromis as cp
from compromis.measures.baselines import naive_baselines
from compromis.measures.headline import headline_of
from compromis.measures.pragma import missed_constraints, pragma, shortfall
from compromis.preferences import JACCARD_WARNING
from compromis.reports import panel_document
from tests.weight_cases import METRICS, costing, small_problem


@dataclass
class Case:
    """A problem: its document for the panel, and Python's answers."""

    patterns: cp.Votes
    preferences: cp.Preferences
    document: dict
    smoothing: float = 0.0

    @property
    def classes(self) -> int:
        return len(self.patterns.classes)

    def value(self, weights) -> tuple[float, float]:
        """Shortfall and loss of weights."""
        counts = self.patterns.counts(weights, smoothing=self.smoothing)
        on = self.preferences.on(self.patterns.classes)
        return shortfall(counts, on), pragma(counts, on).total

    def best(self) -> tuple[float, float]:
        """Shortfall and loss of the weights that Python finds."""
        return self.value(
            cp.search_weights(
                self.patterns, preferences=self.preferences, smoothing=self.smoothing, random_state=0
            ).weights
        )

    def sentence(self) -> str:
        """The document's weights beside the baselines."""
        counts = self.patterns.counts(self.document["weights"], smoothing=self.smoothing)
        arrays = self.preferences.on(self.patterns.classes)
        loss = pragma(counts, arrays).total
        rivals = [one for one in naive_baselines(counts, arrays) if one.allowed]
        beside = "and no such prediction without a model meets your constraints as far"
        if rivals:
            best = min(rivals, key=lambda one: one.loss)
            beside = f"{'below' if loss < best.loss * (1 - 1e-12) else 'not below'} {best.loss:.4f} for {best.name}"
        missed = [
            str(one).partition(" (")[0]  # the panel does not say how many predictions must change
            for one in missed_constraints(counts, arrays)
        ]
        measure = "loss" if arrays.cost is None else "average cost"
        return "; ".join([f"on these rows the {measure} is {loss:.4f}, {beside}", *missed])


def make_case(votes, y, preferences, *, weights=None, labels=None, smoothing=0.0, sample_weight=None) -> Case:
    patterns = cp.Votes.from_proba(y, votes, labels=labels, sample_weight=sample_weight)
    document = panel_document(patterns, preferences, weights, smoothing=smoothing, most_bytes=10**8)
    return Case(patterns, preferences, document, smoothing)


def small_cases(count: int) -> list[Case]:
    """Two and three classes, few rows, many ties, zero votes, minima; weights that tie and weights that do not."""
    cases = []
    for seed in range(count):
        votes, y, preferences = small_problem(seed, floors=seed % 3 == 0, capacities=seed % 4 == 1)
        rng = np.random.default_rng(seed)
        weights = rng.choice([0.5, 1.0, 1.0, 2.0, 3.0, 0.1], votes.shape[1])
        if seed % 6 == 5:
            preferences = costing(rng.integers(-2, 10, (votes.shape[1], votes.shape[1])), preferences)
        smoothing = 0.25 if seed % 5 == 0 else 0.0
        weight = rng.choice([0.5, 1.0, 2.5], len(y)) if seed % 7 == 0 else None
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", JACCARD_WARNING[:30])
            cases.append(
                make_case(
                    votes, y, preferences, weights=weights, labels=range(votes.shape[1]), smoothing=smoothing, sample_weight=weight
                )
            )  # fmt: skip
    return cases


def large_case(
    classes: int, rows: int, seed: int, *, trees: int | None = 50, floors: bool = False, costs: bool = False
) -> Case:
    """Gaussian clouds voted for by trees, or with continuous probabilities; every eleventh vote is a tie by planting."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, rows, p=rng.dirichlet(np.full(classes, 2.0)))
    y[:classes] = range(classes)
    centres = rng.normal(size=(classes, 6))
    points = 0.9 * centres[y] + rng.normal(size=(rows, 6))
    logs = -((points[:, None] - centres) ** 2).sum(axis=2) / 1.5
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    votes = shares if trees is None else np.array([rng.multinomial(trees, share) for share in shares], dtype=float)
    votes[::11, 1] = votes[::11, 0]
    chosen = rng.permutation(classes)[: max(1, classes // 5)]
    bounds = {"min_precision": 0.2, "min_recall": 0.5, "max_share": 0.3} if floors else {}
    by_class = {int(k): cp.Preference(10, 0.1, 0.9, **bounds) for k in chosen}
    preferences = cp.Preferences(by_class, metric=METRICS[seed % 4])
    if costs:
        preferences = costing(rng.integers(0, 20, (classes, classes)) * (1 - np.eye(classes)), preferences)
    weights = rng.choice([0.5, 1.0, 1.0, 2.0], classes)
    return make_case(votes, y, preferences, weights=weights, labels=range(classes))


WORK = """
(documents) => documents.map((page) => {
  const patterns = readPatterns(page);
  const preferences = { metric: page.preferences.metric, cost: page.preferences.cost, classes: page.preferences.classes.map((one, k) => ({ ...page.classes[k], ...one })) };
  const counts = decide(patterns, page.weights);
  const weights = tune(patterns, preferences);
  const state = { preferences, weights, smoothing: page.smoothing };
  return {
    counts, weights, loss: lossParts(counts, preferences).total, sentence: compareWithBaselines(counts, preferences).sentence,
    tuned: decide(patterns, weights), tunedLoss: lossParts(decide(patterns, weights), preferences).total,
    headline: headlineSentences(headlineOf(counts, preferences), preferences),
    toml: toToml(preferences), python: toPython(state), decision: toDecision(state),
  };
})
"""
"""What the script is asked to do with documents, as a JavaScript function."""


def check(case: Case, answer: dict) -> None:
    """Compare what JavaScript found with Python."""
    counts = case.patterns.counts(case.document["weights"], smoothing=case.smoothing)
    assert answer["counts"] == counts.matrix.tolist()
    assert answer["sentence"] == case.sentence()
    told = headline_of(counts, case.preferences.on(case.patterns.classes))
    assert answer["headline"] == [f"{sentence}." for sentence in told.sentences()]
    np.testing.assert_allclose(answer["loss"], case.value(case.document["weights"])[1], rtol=1e-12)
    applied = case.patterns.counts(answer["weights"], smoothing=case.smoothing)
    assert answer["tuned"] == applied.matrix.tolist()
    (short, found), (least, best) = case.value(answer["weights"]), case.best()
    np.testing.assert_allclose(answer["tunedLoss"], found, rtol=1e-12)
    assert short <= 1.005 * least + 1e-9
    assert found <= 1.005 * best + 1e-9 or short < least - 1e-9
