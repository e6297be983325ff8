"""Search weights for votes: the one entry for every method, and its result."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis._results import Result
from compromis._text import Finding, Table, count, fixed, shown, uncapitalised, unknown_name
from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.evidence.readers import read_whole
from compromis.evidence.strata import Sample
from compromis.evidence.votes import Votes
from compromis.labels import check_row_order, encode, read_labels
from compromis.measures.baselines import Baseline, naive_baselines
from compromis.measures.by_group import ByGroup, group_table, missed_by_group, rows_of
from compromis.measures.headline import Headline, headline_of
from compromis.measures.pragma import missed_constraints
from compromis.measures.rates import outcomes, precision, recall
from compromis.preferences import PreferenceArrays, Preferences, refuse_idle_amount
from compromis.uncertainty.verdict import Verdict, verdict_on
from compromis.weights.annealing import Annealing
from compromis.weights.decision import SCHEMA, Decision, more_important, threshold_sentence
from compromis.weights.exact import Exact
from compromis.weights.guarantee import Guarantee, demands_of, warn_if_not_given
from compromis.weights.guarded import held_in_each, with_guarantee
from compromis.weights.problem import Found, Meter, Progress, SearchProblem, Value, normalised, precedes
from compromis.weights.review import Review, Reviewed, check_review, plan_review
from compromis.weights.stability import Stability, is_kept, resampled, spread, warn_of_few_rows
from compromis.weights.sweep import Sweep


@dataclass(frozen=True, eq=False, kw_only=True)
class WeightSearch(Result):
    """The weights found, and everything that is needed to judge them.

    `decision` is its rule alone, to carry elsewhere; `to_json` writes the rule with its numbers, and `Decision.from_json` reads
    that too. An estimator keeps the search in ``tuning_``, as the weights it decides by may be an average over resamples.

    Examples
    --------
    >>> import compromis as cp
    >>> votes = [[9, 1], [8, 2], [7, 3], [6, 4], [6, 4], [2, 8]]  # ten trees, two classes
    >>> truth = ["sound", "sound", "sound", "faulty", "faulty", "faulty"]
    >>> search = cp.search_weights(truth, votes, labels=["sound", "faulty"])
    >>> search.optimal, search.feasible, search.loss
    (True, True, 0.0)
    >>> bool(search.weights[1] > search.weights[0])  # faulty parts got fewer votes than they need
    True
    """

    weights: Floats
    """Of shape (K,): one weight per class, geometric mean 1; the decision is the class with the largest weight x (votes + smoothing)."""
    loss: float
    """The PRAGMA loss on the rows searched; the average cost of a row where the preferences are costs."""
    counts: Counts
    before: Counts
    """What the weights decide on those rows, and what equal weights do."""
    classes: tuple[Label, ...]
    """The labels of the weights."""
    method: str
    """How they were found: "exact", "sweep" or "annealing"."""
    optimal: bool
    """Whether it is proven that no weights do better on these rows; weights that differ by less than rounding count as one."""
    feasible: bool
    """Whether every constraint is met."""
    evaluations: int
    """How many weightings were tried."""
    seconds: float
    """How long it took."""
    history: Floats
    """Of shape (steps, 2): evaluations, and the best loss after them; for annealing the loss after every step."""
    left_out: int
    """Rows without any vote."""
    never_voted: tuple[Label, ...]
    """The classes without a vote in any row, which no weights can decide for; empty with smoothing."""
    smoothing: float
    """What is added to every vote."""
    arrays: PreferenceArrays
    stability: Stability | None = None
    """The spread over resamples, where there were any."""
    single: WeightSearch | None = None
    """Where the weights are an average over resamples: the search on the rows themselves."""
    guarantee: Guarantee | None = None
    """What holds on new rows, where a confidence was asked for."""
    by: dict[Label, Counts] | None = None
    """What the weights decide in each group, where the minima were to hold in each."""
    review: Reviewed | None = None
    """Which rows a person looks at, where a review was asked for, and what that is worth."""

    schema = SCHEMA

    @property
    def summary(self) -> dict[str, float]:
        """Loss, rows searched and left out, weightings tried and seconds."""
        return {
            "loss": self.loss,
            "rows": self.counts.rows,
            "left_out": self.left_out,
            "evaluations": self.evaluations,
            "seconds": self.seconds,
        }

    @cached_property
    def verdict(self) -> Verdict:
        """Whether the result is better than no model; it judges the rows that chose the weights, and says so."""
        return verdict_on(self.counts, self.arrays, rows="own")

    @property
    def baselines(self) -> tuple[Baseline, ...]:
        """What each constant prediction and random ones reach on the same rows."""
        return naive_baselines(self.counts, self.arrays)

    @property
    def decision(self) -> Decision:
        """The weights as a decision that can be carried elsewhere."""
        positive = more_important(self.classes, self.arrays.importance)
        ratio = None if self.review is None else self.review.ratio
        return Decision(self.classes, self.weights, smoothing=self.smoothing, pos_label=positive, review=ratio)

    def columns(self) -> dict[str, list[Any]]:
        """Return the weight and the numbers of each class, column by column."""
        return columns_under(self.weights, self.counts)

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes: the decision's fields and its numbers; no seconds, so that equal searches write the same."""
        return {
            **self.decision.document(),
            **self.heading(),
            "method": self.method,
            "optimal": self.optimal,
            "feasible": self.feasible,
            "loss": self.loss,
            "measure": self.verdict.measure,
            "headline": self.headline.document(),
            "counts": {"rows": self.counts.rows, "matrix": self.counts.matrix.tolist()},
            "before": self.before.matrix.tolist(),
            "evaluations": self.evaluations,
            "left_out": self.left_out,
            "never_voted": list(self.never_voted),
            **({} if self.guarantee is None else {"guarantee": self.guarantee.document()}),
            **({} if self.by is None else {"by": rows_of(self.by, self.arrays)}),
            **({} if self.review is None else {"reviewed": self.review.document()}),
            "verdict": {"state": self.verdict.state, "sentence": str(self.verdict)},
        }

    @cached_property
    def headline(self) -> Headline:
        """What the weights do to the rows that chose them."""
        return headline_of(self.counts, self.arrays, state=self.verdict.state)

    def sentences(self) -> list[str]:
        """Return what is found with the weights and without, the verdict, what the user should know, and the search in small print."""
        effort = f"({self.evaluations:,} weightings in {self.seconds:.2f} s)"
        last = f"search: {self.known} {effort}"
        return self.sentences_beside(self.headline, self.verdict, last)

    def sentences_beside(self, headline: Headline, verdict: Verdict, last: str) -> list[str]:
        """Return the sentences with the headline and the verdict of these rows or of others, and the last one in small print."""
        (tuned, *more), before = headline.sentences(), headline_of(self.before, self.arrays)
        return [
            Finding(f"tuned: {uncapitalised(tuned)}", "headline"),
            *more,
            f"before, with equal weights: {before.offered()}",
            *verdict.findings(),
            *threshold_sentence(self.decision, self.counts, headline.classes),
            *([] if self.guarantee is None else [f"guarantee: {sentence}" for sentence in self.guarantee.sentences()]),
            *([] if self.review is None else self.review.sentences()),
            *(Finding(note, "missed") for note in self._notes()),
            Finding(last, "small"),
        ]

    @property
    def known(self) -> str:
        """What is known of the weights, in words."""
        if self.by is not None and self.guarantee is None and not self.optimal:
            return "the lowest found for minima in each group"
        if self.guarantee is not None:
            return (
                "the lowest found that holds the guarantee"
                if self.guarantee.given
                else "where the guarantee is not given"
            )
        if self.single is None or self.stability is None:
            if not self.feasible:
                return (
                    "proven to miss the constraints least" if self.optimal else "where the constraints are missed least"
                )
            return "proven to be the best on these rows" if self.optimal else f"the best found by {self.method}"
        known = f"{'proven to be the lowest' if self.single.optimal else 'the lowest found'} on these votes"
        if self.loss > self.single.loss:
            known = f"{self.single.loss:.4f} is {known}, and would promise too much"
        return f"with weights averaged over {len(self.stability.losses)} resamples ({known})"

    def tables(self) -> list[Table]:
        """Return the weight and the rows of each class, before and after."""
        return self.tables_of(self.counts)

    def text_tables(self) -> list[Table]:
        """Return the tables of the text."""
        return self.cut(self.tables())

    def cut(self, tables: Sequence[Table]) -> list[Table]:
        """Return the tables, those of many classes with some of them: those that matter, then the most frequent ones."""
        table, *others = tables
        if len(table.rows) <= MOST_ROWS:
            return [table, *others]
        whole = len(table.rows)
        first = [self.classes.index(row.label) for row in self.headline.classes]
        frequent = np.argsort(-self.counts.support, kind="stable").tolist()
        chosen = list(dict.fromkeys([*first, *frequent]))[:MOST_ROWS]
        cut = [
            one._replace(rows=[one.rows[k] for k in chosen]) if len(one.rows) == whole else one
            for one in (table, *others)
        ]
        return [cut[0]._replace(title=f"{MOST_ROWS} of {whole} classes; all: --json"), *cut[1:]]

    def tables_of(self, counts: Counts) -> list[Table]:
        """Return that table with other counts after the search: those of rows that did not choose the weights."""
        header = [
            "Class",
            "Rows",
            "Missed",
            "False alarms",
            "Recall",
            "Precision",
            "Weight",
            "Missed before",
            "False alarms before",
        ]
        before, after = outcomes(self.before), outcomes(counts)
        rates = [recall(counts), precision(counts)]
        rows = [
            [
                str(label),
                *(count(part[k].item()) for part in (after.support, after.misses, after.alarms)),
                *(fixed(rate[k]) for rate in rates),
                f"{weight:.4g}",
                *(count(part[k].item()) for part in (before.misses, before.alarms)),
            ]
            for k, (label, weight) in enumerate(zip(self.classes, self.weights, strict=True))
        ]
        more = [] if self.by is None else [group_table(self.by, self.arrays)]
        for part in (self.guarantee, self.review):
            more += [] if part is None else part.tables()
        return [Table("", header, rows), *more]

    @property
    def message(self) -> str:
        """What the user should know: constraints that are missed, classes that nothing votes for, rows left out; often empty."""
        return ". ".join(self._notes(reached=True))

    def _notes(self, *, reached: bool = False) -> list[str]:
        sentences = [] if self.by is None else [str(missed) for missed in missed_by_group(self.by, self.arrays)]
        if not self.feasible and not sentences:
            none = "no weights meet" if self.optimal else "no weights were found that meet"
            missed = "; ".join(
                f"{missed.rate.replace('_', ' ')} of {missed.label!r} reaches {missed.value:.4g}, its {missed.side} is {missed.bound:.4g}"
                for missed in missed_constraints(self.counts, self.arrays)
            )
            sentences.append(
                f"{none} every constraint; {f'the nearest: {missed}' if reached else 'these come nearest'}"
            )
            sentences += self._contradictions()
        if self.never_voted:
            them = "it" if len(self.never_voted) == 1 else "them"
            sentences.append(
                f"no row has a vote for {shown(self.never_voted)}, so no weights can decide {them}; give probabilities in place of "
                "members' votes, or try smoothing"
            )
        if self.left_out:
            rows = "row without any vote is" if self.left_out == 1 else "rows without any vote are"
            sentences.append(f"{self.left_out:,} {rows} left out")
        return sentences

    def _contradictions(self) -> list[str]:
        """Return a sentence for each capacity that the minimal recall of the same class alone exceeds."""
        least = self.arrays.min_recall * self.counts.support / self.counts.total
        return [
            f"the max_share of {self.classes[k]!r} is {self.arrays.max_share[k]:.4g}, but its min_recall of "
            f"{self.arrays.min_recall[k]:.4g} alone takes {least[k]:.4g} of these rows; raise max_share or lower min_recall"
            for k in np.flatnonzero(least > self.arrays.max_share * (1 + 1e-9)).tolist()
        ]

    def __repr__(self) -> str:
        state = "optimal on these rows" if self.optimal else "best found"
        first = zip(self.classes[:6], self.weights[:6], strict=True)
        weights = ", ".join(f"{label!r}: {weight:.4g}" for label, weight in first)
        more = f", and {len(self.classes) - 6} more" if len(self.classes) > 6 else ""
        return f"WeightSearch({self.method}, {state}, loss {self.loss:.6g}, weights {{{weights}{more}}})"


def columns_under(weights: Floats, counts: Counts) -> dict[str, list[Any]]:
    """Return the weight and the numbers of each class, column by column."""
    return {
        "label": list(counts.classes),
        "weight": weights.tolist(),
        "support": counts.support.tolist(),
        "predicted": counts.predicted.tolist(),
        "recall": recall(counts).tolist(),
        "precision": precision(counts).tolist(),
    }


Method = Exact | Sweep | Annealing
MOST_ROWS = 12
"""The classes that the text shows."""

_NAMES = {"exact": Exact, "sweep": Sweep, "annealing": Annealing}
_EXACT_THREE = 300_000_000
"""Cells after which an exact search among three classes that nobody asked for is given up."""


def search_weights(
    y_true: Any,
    y_proba: Any = None,
    *,
    preferences: Preferences | Mapping[Any, Any] | None = None,
    labels: Sequence[Any] | None = None,
    pos_label: Any = None,
    method: str | Method = "auto",
    smoothing: float = 0.0,
    resamples: int = 0,
    max_ratio: float | None = None,
    max_seconds: float | None = None,
    max_evaluations: int | None = None,
    review: Review | None = None,
    sample_weight: ArrayLike | None = None,
    amount: ArrayLike | None = None,
    by: Any = None,
    sample: Sample | None = None,
    progress: Progress | None = None,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
) -> WeightSearch:
    """Find the weights with which argmax_k weight_k x votes_k meets the preferences best.

    Parameters
    ----------
    y_true : labels, or Votes
        The true class of each row; `Votes` hold both, and `y_proba` is then left out.
    y_proba : array, frame or scipy CSR of shape (n, K)
        Hard votes, probabilities or any scores of at least 0; votes of a model that has not seen the rows.
    preferences : Preferences or mapping by class, optional
        What matters, or what each decision costs; without it every class alike.
    labels : sequence, optional
        The classes in the order of the columns of `y_proba`.
    pos_label : label, optional
        The class of one column alone; needed unless the classes are 0 and 1, -1 and 1, or False and True.
    method : {"auto", "exact", "sweep", "annealing"} or one of their objects
        "exact" goes through every reachable decision of two or three classes, "sweep" searches the weight of one class
        after the other exactly, "annealing" is the PRAGMA paper's method. "auto" is exact for two and three classes and
        sweep for more.
    smoothing : float
        Added to the votes of every class, so that classes without votes can be predicted.
    resamples : int
        Average the log-weights over so many bootstrap resamples of the rows, which is steadier where a class that matters has few
        rows. Where the mean misses a constraint, or is worse than equal weights, the search on the rows themselves is kept.
    max_ratio : float, optional
        The largest ratio of two weights.
    max_seconds : float, optional
        Wall-clock time that the search may take, each resample its part; the result then depends on the machine's speed.
    max_evaluations : int, optional
        Weightings that may be tried; the same limit gives the same result everywhere. Without a limit each method stops by itself.
    review : Review, optional
        How much a person may look at: the search then says which rows go to review, and what that is worth.
    sample_weight : array-like, optional
        A weight of at least 0 per row.
    amount : array-like, optional
        A number of at least 0 per row, where decisions cost the amount of a row; see `Preferences`.
    by : labels, optional
        A group per row (hospital, sex): the minima of the preferences must hold in each group, by the same weights; a guarantee too.
        A capacity is of all rows together.
    sample : Sample, optional
        Of which stratum each row was drawn, as `compromis.model_selection.plan_labels` says it.
    progress : callable, optional
        Called with the fraction done and the best loss so far; if it returns True, the search ends with what it has found.
    random_state : int, Generator or RandomState, optional
        The same seed gives the same result; None draws a fresh one.

    Returns
    -------
    WeightSearch
        Weights with geometric mean 1, loss, counts, verdict, and whether the result is proven to be the best on these rows.

    Notes
    -----
    Constraints of the preferences come first: the sum of what precision, recall and share miss of them is made as small as
    possible, then the loss. Equal weights are always tried, so no search does worse than them. PRAGMA paper, section 3.

    Examples
    --------
    >>> import compromis as cp
    >>> votes = [[9, 1], [7, 3], [6, 4], [6, 4], [2, 8]]
    >>> preferences = cp.Preferences({"bad": cp.Preference(10, precision_at_full_recall=0.1, recall_at_full_precision=0.9)})
    >>> search = cp.search_weights(["good", "good", "bad", "bad", "bad"], votes, preferences=preferences, labels=["good", "bad"])
    >>> search.counts.matrix.tolist(), search.optimal
    ([[2, 0], [0, 3]], True)
    >>> bool(1.5 < search.weights[1] / search.weights[0] < 7 / 3)
    True
    """
    refuse_idle_amount(preferences, amount)
    if review is not None:
        check_review(review)
    check_row_order(y_true, by=by)
    merge: bool | str = "auto" if by is None else False
    votes = read_votes(y_true, y_proba, labels, sample_weight, pos_label, amount, sample, merge=merge)
    groups = None if by is None else ByGroup.read(by, len(votes))
    problem = SearchProblem.read(votes, preferences, smoothing=smoothing, max_ratio=max_ratio, by=groups)
    if sample_weight is not None:
        (truth,), _ = encode(read_labels(y_true, "y_true"))
        warn_of_class_weights(truth, np.asarray(sample_weight, dtype=np.float64), "sample_weight")
    warn_of_few_rows(problem, resamples)
    found = search_problem(
        problem,
        method=method,
        resamples=resamples,
        max_seconds=max_seconds,
        max_evaluations=max_evaluations,
        progress=progress,
        random_state=random_state,
    )
    if found.guarantee is not None:
        warn_if_not_given(found.guarantee)
    return with_review(problem, found, review, unvoted=votes.left_out)


def warn_of_class_weights(truth: Ints, weight: Floats, name: str, *, stacklevel: int = 3) -> None:
    """Warn of weights that say nothing but a row's class: they change the shares of the classes. One row of a class tells nothing."""
    codes, weights = np.unique(truth[weight > 0], return_inverse=True)[1], weight[weight > 0]
    if codes.size == 0 or np.bincount(codes).min() < 2:
        return
    largest, first = np.zeros(int(codes.max()) + 1), np.zeros(int(codes.max()) + 1)
    np.maximum.at(largest, codes, weights)
    first[codes] = weights
    if np.allclose(weights, first[codes], rtol=1e-9, atol=0) and largest.max() > largest.min() * (1 + 1e-9):
        warnings.warn(
            "the weights of the rows in the search are a function of the class alone: it takes the classes to be as frequent as the "
            f"weights make them, so precision on real rows is another. Leave {name} out and say what matters in "
            "the preferences; for a population with other class shares use with_prevalence",
            UserWarning,
            stacklevel=stacklevel,
        )


def with_review(problem: SearchProblem, found: WeightSearch, review: Review | None, *, unvoted: int) -> WeightSearch:
    """Return the search with the review that its weights need, planned on its votes.

    These rows chose the weights, and may plan the review all the same: on simulated deployments the cap held as often as with
    other rows (promise 29).
    """
    if review is None:
        return found
    rule = found.weights, problem.smoothing
    return replace(found, review=plan_review(problem.votes, problem.arrays, *rule, review, unvoted=unvoted))


def can_be_tuned(preferences: Preferences, votes: Votes) -> bool:
    """Return whether at least two classes occur, and one that matters among them."""
    present = votes.support > 0
    return bool(present.sum() > 1 and preferences.on(votes.classes).importance[present].any())


def quick_search(votes: Votes, preferences: Preferences) -> WeightSearch | None:
    """Return what a brief search offers, exact for two classes; None where there is nothing to trade. It warns of nothing."""
    if not can_be_tuned(preferences, votes):
        return None
    problem = SearchProblem.read(votes, preferences, smoothing=0.0, max_ratio=None)
    method = Exact() if len(votes.classes) == 2 else Sweep(passes=1)
    return search_problem(problem, method=method, random_state=0)


def search_problem(problem: SearchProblem, *, random_state: Any = None, **options: Any) -> WeightSearch:
    """Search a problem that is checked already, with its guarantees; the options are those of `search_weights`."""
    generator = _read_generator(random_state)
    groups = 1 if problem.by is None else len(problem.by.names)
    demands = demands_of(problem.arrays, groups) if problem.arrays.confidence.any() else []
    seed = int(generator.integers(2**31)) if demands else generator
    search = _best_weights(problem, random_state=seed, **options)
    if not demands:
        return search if problem.by is None else _in_each_group(problem, search)

    def again(part: SearchProblem) -> Floats:
        return _best_weights(part, random_state=seed, **options).weights

    weights, guarantee = with_guarantee(problem, demands, search.weights, again, generator)
    return _with_weights(problem, replace(search, guarantee=guarantee), weights)


def _in_each_group(problem: SearchProblem, search: WeightSearch) -> WeightSearch:
    """Return the search with weights that hold the minima in each group, its own where these do."""
    weights = held_in_each(problem, search.weights)
    if weights is search.weights:
        return replace(search, by=problem.by_group(weights))
    return _with_weights(problem, search, normalised(weights))


def _with_weights(problem: SearchProblem, search: WeightSearch, weights: Floats) -> WeightSearch:
    """Return the search with weights that hold what it did not ask for."""
    (shortfall, loss), weights, counts = _applied(problem, weights)
    by = None if problem.by is None else problem.by_group(weights)
    feasible = shortfall == 0 and not (by and missed_by_group(by, problem.arrays))
    found = replace(search, weights=weights, loss=loss, counts=counts, optimal=False, feasible=feasible)
    return replace(found, single=None, by=by)


def _best_weights(
    problem: SearchProblem,
    *,
    method: str | Method = "auto",
    resamples: int = 0,
    max_seconds: float | None = None,
    max_evaluations: int | None = None,
    progress: Progress | None = None,
    random_state: Any = None,
) -> WeightSearch:
    chosen = _read_method(method, problem)
    if method == "auto" and problem.classes == 3 and max_seconds is None and max_evaluations is None:
        max_evaluations = _EXACT_THREE
    searches, generator = 1 + read_whole(resamples, "resamples", 0), _read_generator(random_state)
    seconds = max_seconds / searches if searches > 1 and isinstance(max_seconds, Real) else max_seconds
    meter = Meter(seconds, max_evaluations, progress)
    if searches == 1:
        return _search(problem, chosen, meter, generator)
    seed = int(generator.integers(2**31))
    search = _search(problem, chosen, meter, np.random.default_rng(seed))
    # a mean needs no search to the end: with many classes only descents from the starts, without perturbations
    quick = Sweep(rounds=0) if method == "auto" and problem.classes > 3 else chosen

    weights = []
    for _ in range(searches - 1):
        resample = replace(problem, votes=resampled(problem.votes, generator))
        limit = Meter(seconds, max_evaluations, None)
        weights.append(_search(resample, quick, limit, np.random.default_rng(seed)).weights)
    return _averaged(problem, search, *spread(problem, np.array(weights)))


def _search(problem: SearchProblem, method: Method, meter: Meter, generator: np.random.Generator) -> WeightSearch:
    return _finish(problem, method.search(problem, generator, meter), type(method).__name__.lower(), meter)


def _averaged(problem: SearchProblem, search: WeightSearch, mean: Floats, stability: Stability) -> WeightSearch:
    """Return the search with the mean of the resamples' weights, where these may be kept."""
    if not (search.feasible and is_kept(problem, mean)):
        return replace(search, stability=stability)
    (_, loss), weights, counts = _applied(problem, mean)
    average = replace(search, weights=weights, loss=loss, counts=counts, optimal=False, feasible=True)
    return replace(average, stability=stability, single=search)


def read_votes(
    y_true: Any,
    y_proba: Any,
    labels: Sequence[Any] | None,
    sample_weight: ArrayLike | None,
    pos_label: Any = None,
    amount: ArrayLike | None = None,
    sample: Sample | None = None,
    *,
    merge: bool | str = "auto",
) -> Votes:
    """Return the `Votes` given, or those of scores and true classes."""
    if not isinstance(y_true, Votes):
        if y_proba is None:
            raise InputError(
                "y_proba is missing: give the votes of each row, or Votes, which hold the true classes too"
            )
        given = {"labels": labels, "pos_label": pos_label, "sample_weight": sample_weight, "amount": amount}
        return Votes.from_proba(y_true, y_proba, **given, sample=sample, merge=merge)
    if not merge and y_true.merged:
        raise InputError(
            "by is a group for each row, and these Votes have merged equal rows; give y_true and y_proba", "by"
        )
    if any(given is not None for given in (y_proba, labels, sample_weight, pos_label, amount, sample)):
        raise InputError("Votes hold y_proba, labels and sample weights already; pass them to Votes.from_proba")
    return y_true


def _read_method(method: str | Method, problem: SearchProblem) -> Method:
    if isinstance(method, (Exact, Sweep, Annealing)):
        return method
    if method == "auto":
        return Exact() if problem.classes <= 3 else Sweep()
    if not isinstance(method, str) or method not in _NAMES:
        raise InputError(unknown_name("method", method, ["auto", *_NAMES]))
    return _NAMES[method]()


def _read_generator(random_state: Any) -> np.random.Generator:
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return np.random.default_rng(int(random_state))
    raise InputError(
        f"random_state is a whole number of at least 0, a numpy Generator or RandomState, got {random_state!r}"
    )


def _finish(problem: SearchProblem, found: Found, method: str, meter: Meter) -> WeightSearch:
    """Apply the candidates and keep the best of what was applied; equal weights are always among it."""
    candidates = [*map(normalised, found.candidates), np.ones(problem.classes)]
    within = [weights for weights in candidates if weights.max() <= weights.min() * problem.max_ratio * (1 + 1e-12)]
    best, *others = applied = [_applied(problem, weights) for weights in within]
    for other in others:
        best = other if precedes(other[0], best[0]) else best
    (shortfall, loss), weights, counts = best
    promised = problem.kernel_value(found.value)
    kept = shortfall <= promised[0] + 1e-9 and loss <= promised[1] + 1e-9 * max(1.0, abs(promised[1]))
    return WeightSearch(
        weights=weights,
        loss=loss,
        counts=counts,
        before=applied[-1][2],
        classes=problem.votes.classes,
        method=method,
        optimal=found.proven and kept and not problem.sums_lose_rows,
        feasible=shortfall == 0,
        evaluations=meter.evaluations,
        seconds=meter.seconds,
        history=_history(problem, meter),
        left_out=problem.votes.left_out,
        never_voted=_never_voted(problem),
        smoothing=problem.smoothing,
        arrays=problem.arrays,
    )


def _applied(problem: SearchProblem, weights: Floats) -> tuple[Value, Floats, Counts]:
    counts = problem.counts(weights)
    return problem.value(counts), weights, counts


def _history(problem: SearchProblem, meter: Meter) -> Floats:
    history = np.array(meter.history).reshape(-1, 2)
    if meter.trace:
        trace = np.concatenate(meter.trace)
        history = np.column_stack([np.arange(len(trace)) + 1.0, trace])
    history[:, 1] *= problem.cost_scale
    return history


def _never_voted(problem: SearchProblem) -> tuple[Label, ...]:
    if problem.smoothing > 0:
        return ()
    voted = np.asarray((problem.votes.votes > 0).sum(axis=0)).reshape(-1)  # a sum of votes may be beyond floats
    return tuple(label for label, total in zip(problem.votes.classes, voted, strict=True) if total == 0)
