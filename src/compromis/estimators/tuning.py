"""Estimators with preferences say them in words below scikit-learn's diagram."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np
from sklearn.utils import estimator_html_repr

from compromis._text import shown_label
from compromis._typing import Floats
from compromis.estimators.fitting import whole
from compromis.evidence import Counts
from compromis.evidence.votes import Votes
from compromis.measures.pragma import pragma
from compromis.measures.verdict import Verdict, judge
from compromis.preferences import PreferenceArrays, Preferences
from compromis.trees.store import Wording
from compromis.weights import Sweep, WeightSearch, search_weights

_STYLE = "margin: .4em 0 0; padding: .3em .8em; border-left: .3em solid #1f6f9f; font: 13px/1.5 system-ui, sans-serif;"


class PreferencesReprMixin:
    """A mixin, to stand before BaseEstimator: ``_html_repr`` is what scikit-learn shows in notebooks."""

    preferences: Any

    def _html_repr(self) -> str:
        diagram: str = estimator_html_repr(self)
        if not isinstance(self.preferences, Preferences):
            return diagram
        lines = "<br>".join(escape(shown_label(line)) for line in self.preferences.describe().split("\n"))
        return f'{diagram}<div class="compromis-preferences" style="{_STYLE}"><strong>What matters</strong><br>{lines}</div>'


def wording_of(estimator: Any) -> Wording:
    """Names as the estimator has them."""
    names = [column.name for column in estimator.columns_]
    categories = [column.categories for column in estimator.columns_]
    return Wording(names, categories, estimator.classes_.tolist(), estimator.binning_)


def depth_shown(max_depth: int | None, unlimited: int) -> int:
    """How deep to show a tree."""
    return unlimited if max_depth is None else whole("max_depth", max_depth, 0)


AUTO_RESAMPLES, AUTO_RESAMPLES_MANY = 20, 6
"""For up to three classes, and for more, where a search takes longer; see docs/tuning.md for the comparison."""


@dataclass(frozen=True, slots=True, eq=False)
class Stability:
    """How much the chosen weights depend on the rows at hand.

    Attributes
    ----------
    weights : ndarray of shape (resamples, K)
        The weights that a search finds on each bootstrap resample of the evidence.
    losses : ndarray of shape (resamples,)
        What those weights lose on the whole evidence.
    """

    weights: Floats
    losses: Floats

    @property
    def ratio(self) -> Floats:
        """For each class, how many times its weight the 95 % point of the resamples is above the 5 % point; 1 is steady."""
        low, high = np.quantile(np.log(self.weights), [0.05, 0.95], axis=0)
        spread: Floats = np.exp(high - low)
        return spread

    def __str__(self) -> str:
        low, high = np.quantile(self.losses, [0.05, 0.95])
        return (
            f"over {len(self.losses)} resamples the loss lies between {low:.4f} and {high:.4f}; "
            f"the weights vary by factors up to {self.ratio.max():.3g}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Tuned:
    """The weights that an estimator decides with, and what they are worth on the evidence.

    Attributes
    ----------
    weights : ndarray of shape (K,)
        One weight per class, geometric mean 1.
    counts : Counts
        What they decide on the evidence.
    verdict : Verdict
        Their loss, and whether it is worth anything.
    search : WeightSearch
        The search on the whole evidence, whose weights may be others.
    stability : Stability or None
        The spread over resamples, where there were any.
    """

    weights: Floats
    counts: Counts
    verdict: Verdict
    search: WeightSearch
    stability: Stability | None

    def summary(self) -> str:
        """Return in sentences what was found, and what it is worth."""
        if self.stability is None or self.weights is self.search.weights:
            return self.search.summary()
        known = f"{'proven to be the lowest' if self.search.optimal else 'the lowest found'} on these votes"
        if self.verdict.loss > self.search.loss:
            known = f"{self.search.loss:.4f} is {known}, and would promise too much"
        weights = zip(self.search.classes, self.weights, strict=True)
        lines = [
            f"loss {self.verdict.loss:.4f}, with weights averaged over {len(self.stability.losses)} resamples ({known})",
            "weights: " + ", ".join(f"{shown_label(label)} {weight:.4g}" for label, weight in weights),
        ]
        lines += [f"note: {self.search.message}"] if self.search.message else []
        return "\n".join([*lines, f"Verdict: {self.verdict}."])


class ShowsTuning:
    """A mixin for estimators that tune their decision: the parts of `tuning_`, each None where no search ran."""

    tuning_: Tuned | None
    """Weights, counts, verdict, search and stability together; ``tuning_.summary()`` says in sentences what was found."""

    @property
    def search_(self) -> WeightSearch | None:
        """The search on all honest votes; with resamples its weights are not those predicted with, and its loss promises too much."""
        return None if self.tuning_ is None else self.tuning_.search

    @property
    def verdict_(self) -> Verdict | None:
        """What ``weights_`` are worth on the honest votes."""
        return None if self.tuning_ is None else self.tuning_.verdict

    @property
    def loss_(self) -> float | None:
        """The PRAGMA loss of ``weights_`` on the honest votes."""
        return None if self.tuning_ is None else self.tuning_.verdict.loss

    @property
    def stability_(self) -> Stability | None:
        """The spread of weights and loss over resamples."""
        return None if self.tuning_ is None else self.tuning_.stability


@dataclass(frozen=True, slots=True)
class TuningOptions:
    """How weights are searched."""

    method: str | Sweep = "auto"
    smoothing: float = 0.0
    resamples: int = 0
    max_ratio: float | None = None


def auto_resamples(classes: int) -> int:
    """Return how many resamples the weights are averaged over where nobody says."""
    return AUTO_RESAMPLES if classes <= 3 else AUTO_RESAMPLES_MANY


def tune(patterns: Votes, preferences: Preferences, options: TuningOptions, generator: np.random.Generator) -> Tuned:
    """Return the weights to decide with, what they are worth, the search on the whole evidence and the stability.

    With resamples the weights are the geometric mean of what the resamples find: steadier for rare classes. Where that is worse than
    equal weights on the evidence, the search on the whole evidence stands.
    """
    seed = int(generator.integers(2**31))
    search = _search(patterns, preferences, options, seed)
    if options.resamples == 0:
        return Tuned(search.weights, search.counts, search.verdict, search, None)
    arrays = preferences.on(patterns.classes)
    quick = replace(options, method=_quick_method(options.method, len(patterns.classes)))
    found = [
        _search(resampled(patterns, generator), preferences, quick, seed).weights for _ in range(options.resamples)
    ]
    losses = [_loss(patterns, weights, arrays, options.smoothing) for weights in found]
    mean = np.exp(np.log(found).mean(axis=0))
    equal = np.ones(len(patterns.classes))
    steady = _loss(patterns, mean, arrays, options.smoothing) <= _loss(patterns, equal, arrays, options.smoothing)
    stability = Stability(np.array(found), np.array(losses))
    if not (steady and search.feasible):
        return Tuned(search.weights, search.counts, search.verdict, search, stability)
    counts = patterns.counts(mean, smoothing=options.smoothing)
    return Tuned(mean, counts, judge(counts, arrays), search, stability)


def _quick_method(method: str | Sweep, classes: int) -> str | Sweep:
    """A mean over resamples needs no resample searched to the end: descents from the starts, without perturbations."""
    return Sweep(rounds=0) if method == "auto" and classes > 3 else method


def resampled(patterns: Votes, generator: np.random.Generator) -> Votes:
    """Return a bootstrap resample of the rows, drawn within each true class so that no rare class disappears."""
    multiplicity = patterns.multiplicity.copy()
    for k in range(len(patterns.classes)):
        own = np.flatnonzero((patterns.truth == k) & (patterns.multiplicity > 0))
        if own.size == 0:
            continue
        weight = patterns.multiplicity[own]
        if multiplicity.dtype.kind == "i":
            multiplicity[own] = generator.multinomial(weight.sum(), weight / weight.sum())
        else:  # weighted rows: each row is drawn so many times, with its weight
            multiplicity[own] = weight * generator.multinomial(own.size, np.full(own.size, 1 / own.size))
    return replace(patterns, multiplicity=multiplicity)


def _search(patterns: Votes, preferences: Preferences, options: TuningOptions, seed: int) -> WeightSearch:
    return search_weights(
        patterns,
        preferences=preferences,
        method=options.method,
        smoothing=options.smoothing,
        max_ratio=options.max_ratio,
        random_state=seed,
    )


def _loss(patterns: Votes, weights: Floats, arrays: PreferenceArrays, smoothing: float) -> float:
    return pragma(patterns.counts(weights, smoothing=smoothing), arrays).total
