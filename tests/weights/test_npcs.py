"""Three classes beside Neyman-Pearson multi-class classification (Tian and Feng, JASA 2025), written from its description.

It minimises a weighted sum of the classes' error rates R_k while R_k <= alpha_k for some classes, by duality: for multipliers lambda >= 0
the classifier argmax_k (w_k + lambda_k) / pi_k x P(k | x) minimises the Lagrangian, whose value G(lambda) is concave; its maximum over
lambda, on rows with their empirical error rates, gives the classifier.
"""

from itertools import product

import numpy as np
import pytest

import compromis as cp


def by_duality(votes, y, most):
    """The classifier of the largest G; `most` maps classes to their largest error rates. Return its error rates and G."""
    shares = np.bincount(y, minlength=3) / len(y)
    grid = np.concatenate([[0.0], np.geomspace(0.01, 100, 25)])
    best = None
    for values in product(grid, repeat=len(most)):
        multiplier = np.zeros(3)
        multiplier[list(most)] = values
        predicted = (votes * (1 + multiplier) / shares).argmax(axis=1)
        rates = np.array([(predicted[y == k] != k).mean() for k in range(3)])
        value = ((1 + multiplier) * rates).sum() - sum(multiplier[k] * alpha for k, alpha in most.items())
        if best is None or value > best[0]:
            best = value, rates
    return best[1], best[0]


@pytest.mark.parametrize("guarded", [(0,), (0, 1)])
def test_feasible_wherever_duality_finds_it_feasible(guarded):
    feasible = 0
    for seed in range(25):
        rng = np.random.default_rng([seed, len(guarded)])
        y = rng.choice(3, size=120, p=[0.2, 0.3, 0.5])
        y[:3] = 0, 1, 2
        score = rng.normal(size=(120, 3)) + rng.uniform(0.5, 2.5) * np.eye(3)[y]
        votes = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
        most = {k: float(rng.uniform(0.05, 0.4)) for k in guarded}
        rates, _ = by_duality(votes, y, most)
        preferences = {k: cp.Preference(min_recall=1 - alpha) for k, alpha in most.items()}
        found = cp.search_weights(y, votes, preferences=preferences, labels=[0, 1, 2], random_state=0)
        if all(rates[k] <= alpha for k, alpha in most.items()):
            feasible += 1
            assert found.feasible
        if found.feasible:
            recalls = found.counts.matrix.diagonal() / found.counts.support
            assert all(recalls[k] >= 1 - alpha - 1e-12 for k, alpha in most.items())
    assert feasible > 5


def test_a_guarantee_is_given_wherever_its_level_is_feasible_on_the_rows():
    """One guarded class: the level that the allowed misses stand for can always be reached, as its weight may grow."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1, 2], [60, 100, 140])
        votes = np.exp(rng.normal(size=(300, 3)) + 1.5 * np.eye(3)[y])
        wanted = {0: cp.Preference(min_recall=0.9, confidence=0.95)}
        found = cp.search_weights(y, votes, preferences=wanted, labels=[0, 1, 2], random_state=0)
        rates, _ = by_duality(votes / votes.sum(axis=1, keepdims=True), y, {0: found.guarantee.items[0].allowed / 60})
        assert found.guarantee.given or rates[0] > found.guarantee.items[0].allowed / 60
        assert found.guarantee.given
