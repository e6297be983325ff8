"""What both tuned estimators share: the search for weights, what it found, and what it changed for each class."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state, estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from compromis._text import shown_label
from compromis._typing import Floats
from compromis.errors import InputError, UninformativeWarning
from compromis.evidence.counts import Counts
from compromis.evidence.votes import Votes, decide_votes
from compromis.measures.pragma import pragma
from compromis.measures.rates import precision, recall, weighted_average
from compromis.measures.verdict import Verdict, judge
from compromis.preferences import Preferences, read_preferences
from compromis.weights.decision import Decision
from compromis.weights.search import WeightSearch, search_weights
from compromis.weights.sweep import Sweep

if TYPE_CHECKING:
    from compromis.estimators.tuned_decision import TunedDecisionClassifier


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """Decisions for the same rows before and after tuning; ``str()`` is the table.

    Attributes
    ----------
    before, after : Counts
        What equal weights predict, and what the tuned ones do.
    preferences : Preferences
        What matters.

    Examples
    --------
    >>> import compromis as cp
    >>> before = cp.Counts.from_matrix([[90, 10], [5, 5]], ["good", "bad"])
    >>> after = cp.Counts.from_matrix([[80, 20], [1, 9]], ["good", "bad"])
    >>> change = cp.estimators.Change(before, after, cp.Preferences.prioritise(["bad"]))
    >>> change.rows()[1][0], change.rows()[1][1], change.rows()[1][3]  # the recall of the class that matters
    ('bad', 0.5, 0.9)
    """

    before: Counts
    after: Counts
    preferences: Preferences

    @classmethod
    def by_tuning(cls, tuned: TunedDecisionClassifier, preferences: Preferences) -> Change:
        """Return what the weights of a fitted classifier changed on the honest votes they were searched on."""
        assert tuned.patterns_ is not None
        assert tuned.tuning_ is not None
        return cls(tuned.patterns_.counts(np.ones(len(tuned.classes_))), tuned.tuning_.counts, preferences)

    @property
    def priority(self) -> NDArray[np.bool_]:
        """Which classes matter most: those more important than the least important."""
        importance = np.array([self.preferences.of(label).importance for label in self.after.classes])
        return np.asarray(importance > importance.min())

    def rows(self) -> list[tuple[str, float, float, float, float]]:
        """Return name, recall and precision before, recall and precision after: of each class, and of means weighted by class sizes."""
        rates = [rate(counts) for counts in (self.before, self.after) for rate in (recall, precision)]
        each = [(shown_label(label), *(float(rate[k]) for rate in rates)) for k, label in enumerate(self.after.classes)]
        means = [("mean of all", np.ones(len(each), dtype=bool))]
        if self.priority.any():
            means = [("mean of those that matter", self.priority), ("mean of the others", ~self.priority), *means]
        return [*each, *((name, *(self._mean(rate, chosen) for rate in rates)) for name, chosen in means)]  # type: ignore[list-item]

    def __str__(self) -> str:
        rows = self.rows()
        width = max(5, *(len(name) for name, *_ in rows))
        lines = [
            f"{'':{width}}        before               after               change",
            f"{'class':{width}}   recall precision    recall precision    recall precision",
        ]
        marks = [" *" if chosen else "" for chosen in self.priority] + [""] * len(rows)
        for row, mark in zip(rows, marks, strict=False):
            if row[0].startswith("mean of") and not lines[-1].startswith("mean of"):
                lines.append("")
            lines.append(_line(row, width) + mark)
        if self.priority.any():
            lines.append("\n* matters most; means are weighted by class sizes; figures in per cent")
        return "\n".join(lines) + "\n"

    def _mean(self, rate: NDArray[np.float64], chosen: NDArray[np.bool_]) -> float:
        return weighted_average(np.where(chosen, rate, np.nan), self.after)


def _line(row: tuple[str, float, float, float, float], width: int) -> str:
    name, recall_before, precision_before, recall_after, precision_after = row
    cells = [
        *(_percent(value) for value in (recall_before, precision_before, recall_after, precision_after)),
        _points(recall_after - recall_before),
        _points(precision_after - precision_before),
    ]
    return f"{name:{width}} {cells[0]:>8}{cells[1]:>10}{cells[2]:>10}{cells[3]:>10}{cells[4]:>10}{cells[5]:>10}"


def _percent(value: float) -> str:
    return "?" if np.isnan(value) else f"{100 * value:.1f}"


def _points(value: float) -> str:
    return "?" if np.isnan(value) else f"{100 * value:+.1f}"


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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
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
    stability: Stability | None = None

    def summary(self) -> str:
        """Return weights, loss and verdict in sentences."""
        if self.stability is None or self.weights is self.search.weights:
            return str(self.search)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningOptions:
    """How weights are searched."""

    method: str | Sweep = "auto"
    smoothing: float = 0.0
    resamples: int | str = "auto"
    max_ratio: float | None = None

    def resamples_for(self, classes: int) -> int:
        """Return over how many resamples the weights are averaged."""
        if self.resamples == "auto":
            return AUTO_RESAMPLES if classes <= 3 else AUTO_RESAMPLES_MANY
        if isinstance(self.resamples, str) or self.resamples < 0:
            raise InputError(f"resamples is 'auto' or a number of at least 0, got {self.resamples!r}")
        return self.resamples

    def for_resamples(self, classes: int) -> TuningOptions:
        """Return options for one resample: a mean needs none searched to the end, so descents from the starts, without perturbations."""
        return replace(self, method=Sweep(rounds=0)) if self.method == "auto" and classes > 3 else self


def tune(patterns: Votes, preferences: Preferences, options: TuningOptions, generator: np.random.Generator) -> Tuned:
    """Return the weights to decide with, what they are worth, the search on the whole evidence and the stability.

    With resamples the weights are the geometric mean of what the resamples find: steadier for rare classes. Where that is worse than
    equal weights on the evidence, the search on the whole evidence stands.
    """
    classes = len(patterns.classes)
    resamples = options.resamples_for(classes)
    seed = int(generator.integers(2**31))
    search = _search(patterns, preferences, options, seed)
    tuned = Tuned(weights=search.weights, counts=search.counts, verdict=search.verdict, search=search)
    if resamples == 0:
        return tuned
    arrays = preferences.on(patterns.classes)

    def loss(weights: Floats) -> float:
        return pragma(patterns.counts(weights, smoothing=options.smoothing), arrays).total

    quick = options.for_resamples(classes)
    weights = np.array(
        [_search(resampled(patterns, generator), preferences, quick, seed).weights for _ in range(resamples)]
    )
    tuned = replace(tuned, stability=Stability(weights, np.array([loss(row) for row in weights])))
    mean = np.exp(np.log(weights).mean(axis=0))
    if not (search.feasible and loss(mean) <= loss(np.ones(classes))):
        return tuned
    counts = patterns.counts(mean, smoothing=options.smoothing)
    return replace(tuned, weights=mean, counts=counts, verdict=judge(counts, arrays))


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


class TuningMixin:
    """What estimators with a tuned decision share: the decision and the parts of `tuning_`, each None where no search ran."""

    preferences: Any
    random_state: Any
    classes_: NDArray[Any]

    weights_: Floats
    smoothing_: float
    tuning_: Tuned | None
    patterns_: Votes | None

    def vote_shares(self, X: Any) -> Floats:
        """Return the share of the votes for each class, before weighting."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the largest weight x votes for each row; ties go to the first class."""
        shares = self.vote_shares(X)
        predicted: NDArray[Any] = self.classes_[decide_votes(shares, self.weights_, self.smoothing_)]
        return predicted

    def weighted_votes(self, X: Any) -> Floats:
        """Return weight x votes of each class, scaled to sum to 1 in each row: what the decision is taken from."""
        weighted = (self.vote_shares(X) + self.smoothing_) * self.weights_
        scaled: Floats = weighted / weighted.sum(axis=1, keepdims=True)
        return scaled

    def with_prevalence(self, new_shares: Mapping[Any, float] | Sequence[float]) -> Self:
        """Return a copy whose weights suit a population with other class shares.

        Searches again on the same honest votes, rows of class k weighing new share / old share. That is right when only
        the shares have changed (prior shift), and the rows of each class still look the same.

        Parameters
        ----------
        new_shares : mapping by class, or sequence in the order of ``classes_``
            Shares of the classes where the decisions will be taken.
        """
        check_is_fitted(self, "weights_")
        if self.patterns_ is None:
            raise InputError(
                "weights that were not searched have no evidence to search again; fit without weights= or tune=False"
            )
        twin = copy.copy(self)
        generator = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        twin._set_weights(self.patterns_.with_prevalence(new_shares), generator)  # noqa: SLF001 (a copy of this object)
        return twin

    @property
    def decision_(self) -> Decision:
        """The decision that can be carried elsewhere: JSON, SQL, ONNX; it takes `vote_shares`."""
        check_is_fitted(self, "weights_")
        return Decision(tuple(self.classes_.tolist()), self.weights_, smoothing=self.smoothing_)

    def to_onnx(self, X: Any, *, path: str | os.PathLike[str] | None = None) -> Any:
        """Return an ONNX model of the fitted classifier with its tuned decision; see `Decision.to_onnx`."""
        check_is_fitted(self, "weights_")
        return self.decision_.to_onnx(self._voter(), X, path=path)

    @property
    def search_(self) -> WeightSearch | None:
        """The search on all honest votes; with resamples its weights are not those predicted with, and its loss is too optimistic."""
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

    def _voter(self) -> Any:
        """Return a fitted classifier whose ``predict_proba`` is `vote_shares`."""
        return self

    def _options(self) -> TuningOptions:
        """Return how weights are searched."""
        return TuningOptions()

    def _tune(self, y: ArrayLike, votes: Floats, sample_weight: Any, generator: np.random.Generator) -> None:
        """Search the weights on honest votes, and warn if what they decide is worth nothing."""
        patterns = Votes.from_proba(y, votes, labels=self.classes_.tolist(), sample_weight=sample_weight)
        verdict = self._set_weights(patterns, generator).verdict
        if not verdict.informative:
            warnings.warn(str(verdict), UninformativeWarning, stacklevel=3)

    def _set_weights(self, patterns: Votes, generator: np.random.Generator) -> Tuned:
        preferences = read_preferences(self.preferences) or Preferences()
        tuned = tune(patterns, preferences, self._options(), generator)
        self.tuning_, self.weights_, self.patterns_ = tuned, tuned.weights, patterns
        return tuned


_STYLE = "margin: .4em 0 0; padding: .3em .8em; border-left: .3em solid #1f6f9f; font: 13px/1.5 system-ui, sans-serif;"


class PreferencesReprMixin:
    """A mixin, to stand before BaseEstimator: preferences in words below scikit-learn's diagram in notebooks."""

    preferences: Any

    def _html_repr(self) -> str:
        diagram: str = estimator_html_repr(self)
        try:
            preferences = read_preferences(self.preferences)
        except InputError:  # fit says what is wrong with them
            preferences = None
        if preferences is None:
            return diagram
        lines = "<br>".join(escape(shown_label(line)) for line in preferences.describe().split("\n"))
        return f'{diagram}<div class="compromis-preferences" style="{_STYLE}"><strong>What matters</strong><br>{lines}</div>'
