"""What to label next: rows drawn by strata, so that few labels say most about what matters."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec
import numpy as np

from compromis._files import VERSION, Head, check_version
from compromis._results import Result, Table
from compromis._text import count, joined, rows_named
from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts, ratio
from compromis.evidence.population import STEPS, FrameSource, Population, open_population
from compromis.evidence.readers import read_class_weights
from compromis.evidence.scores import as_dense, check_scores, column_labels, read_scores
from compromis.evidence.strata import Sample, Strata
from compromis.evidence.votes import Votes
from compromis.labels import encode, encode_classes, read_classes, read_labels, sorted_labels
from compromis.measures.pragma import losses
from compromis.measures.rates import Cells, Outcomes, class_rates
from compromis.preferences import PreferenceArrays, Preferences, read_preferences
from compromis.uncertainty.intervals import Interval
from compromis.uncertainty.report_intervals import FEW_LABELS, MOST_CLASSES, few_labels, sample_intervals, slopes

WRONG = 0.2
"""The share of each class that is taken to be missed, and wrongly predicted, where nothing says more."""
UNSURE = 0.2
"""How much this counts beside what votes say: no stratum is taken to be without errors."""
TRUST = 0.9
"""How often a judge is taken to be right."""
EACH = 12
"""Labels of a stratum on average: fewer strata use less of what is known, more leave too few labels in each."""
LEAST = 2
"""Labels of a stratum at least."""
PROPORTIONAL = 0.5
"""The part of the labels that is drawn in proportion to the rows: guesses may be wrong, and a judge useless."""
PAYS = 0.9
"""Planning again pays where it makes the expected variance smaller than by this factor; else labels are drawn as before."""
REMEMBERED = 10.0
"""So many labels of a stratum count as much as the guess made before."""
MOST = 2**63
SCHEMA = "compromis/label-plan"
_DRAWS = 500


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelPlan(Sample, Result):
    """Rows to label, drawn at random within strata; made by `plan_labels` before any label is seen.

    It is a `compromis.evidence.Sample`: pass it as ``sample=`` with the labels of its rows, in its order.

    Attributes
    ----------
    rows : ndarray
        The positions of the rows to label in the data, rising; of a data frame their `row_id`.
    stratum : ndarray of int64
        The position of each row's stratum.
    probability : ndarray
        The chance that each row had to be drawn, earlier phases included.
    population : Population
        The rows by prediction, margin and opinion.
    stratum_of : ndarray of int64
        The stratum of each cell of the population.
    drawn : ndarray of int64
        The rows drawn in each stratum, earlier phases included.
    guess : ndarray of shape (strata, K)
        What the plan took the classes' shares to be in each stratum; it decides how many are drawn, and no estimate depends on it.
    seed : int
        What the random numbers follow from.
    worth : float
        So many labels drawn without strata would be as good for what matters, if the guess is right.
    phase : int
        1, or which time the same rows are planned.
    looked : bool
        Whether the labels of an earlier phase changed how many are drawn; False too where that would not have paid.
    left_out : int
        Rows without any vote, which have no prediction.
    frame : data frame, optional
        Where the rows came in a data frame: the rows drawn, with all their columns, stratum and probability.
    """

    rows: Any
    population: Population
    stratum_of: Ints
    drawn: Ints
    guess: Floats
    seed: int
    worth: float
    phase: int = 1
    looked: bool = False
    left_out: int = 0
    frame: Any = None

    schema = SCHEMA

    @property
    def probability(self) -> Floats:
        """The chance that each row had to be drawn, earlier phases included."""
        return ratio(self.drawn, self.strata.sizes)[self.stratum]

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes."""
        return self.population.classes

    @cached_property
    def expected(self) -> Counts:
        """The labels that the plan expects, earlier phases included, as counts."""
        tables = np.zeros((len(self.strata), len(self.classes), len(self.classes)))
        tables[np.arange(len(tables)), :, self._predicted] = self.drawn[:, np.newaxis] * self.guess
        return Counts.from_tables(self.strata, tables, self.classes)  # type: ignore[arg-type]

    @cached_property
    def expected_intervals(self) -> Mapping[Label, Interval]:
        """The interval of each class's recall that the plan expects at a confidence of 95 %."""
        found = sample_intervals(self.expected, lambda cells: {"recall": class_rates(cells)["recall"]}, 0.95, _DRAWS)
        return dict(zip(self.classes, found["recall"], strict=True))

    @property
    def summary(self) -> dict[str, float]:
        """The labels, the rows they speak for, the strata, and how many labels without strata would be as good."""
        return {"labels": len(self.stratum), "rows": self.population.rows, "strata": len(self.strata), "worth": self.worth}

    @property
    def _predicted(self) -> Ints:
        """The predicted class of each stratum."""
        predicted = np.zeros(len(self.strata), dtype=np.int64)
        predicted[self.stratum_of] = self.population.cells[:, 0]
        return predicted

    def sentences(self) -> list[str]:
        """Return what to label, what that is worth, and of which classes too few labels are expected."""
        size, total = len(self.stratum), int(self.drawn.sum())
        said = [f"label {count(size)} of {count(self.population.rows)} rows, in {len(self.strata)} strata"]
        if self.phase > 1:
            changed = "shared out anew by what the labels so far say" if self.looked else "drawn as before: looking would not pay"
            said[0] = f"{said[0]}, {count(total)} with the phases before; {changed}"
        said.append(
            f"for what matters they are worth about {count(round(self.worth))} labels drawn without strata, if votes and judge are as good "
            f"as they seem"
        )
        few = few_labels(self.expected)
        if few:
            named = joined([f"{rows_named(label)} {rows}" for label, rows in few])
            said.append(f"fewer than {FEW_LABELS} labelled rows are expected of some classes ({named}), too few for sure intervals of their recall")
        if self.left_out:
            said.append(f"{count(self.left_out)} rows without any vote are left out: nothing predicts them")
        return said

    def columns(self) -> dict[str, Any]:
        """Return the rows to label with their stratum and the chance that each had, column by column."""
        return {"row": np.asarray(self.rows).tolist(), "stratum": self.stratum.tolist(), "probability": self.probability.tolist()}

    def tables(self) -> list[Table]:
        """Return the strata: what is predicted, what the judge says, margins, rows, labels, and what a label stands for."""
        fresh = np.bincount(self.stratum, minlength=len(self.strata))
        rows = []
        for h, (size, drawn) in enumerate(zip(self.strata.sizes.tolist(), self.drawn.tolist(), strict=True)):
            cells = self.population.cells[self.stratum_of == h]
            label = self.classes[int(cells[0, 0])]
            cells_text = [str(label), _opinions(cells, self.classes), _margins(cells)]
            rows.append([*cells_text, f"{size:,}", f"{fresh[h]:,}", f"{size / max(drawn, 1):.4g}"])
        header = ["Predicted", "Judge", "Margin", "Rows", "To label", "A label stands for"]
        return [Table("Strata", header, rows)]

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, which `from_json` reads."""
        population = self.population
        return {
            **self.heading(),
            "classes": list(self.classes),
            **self.columns(),
            "names": list(self.strata.names),
            "sizes": self.strata.sizes.tolist(),
            "drawn": self.drawn.tolist(),
            "guess": self.guess.tolist(),
            "cells": [*map(list, population.cells.tolist())],
            "cell_sizes": population.sizes.tolist(),
            "stratum_of": self.stratum_of.tolist(),
            "seed": self.seed,
            "worth": self.worth,
            "phase": self.phase,
            "looked": self.looked,
            "left_out": self.left_out,
        }

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> Self:
        """Read a plan that `to_json` wrote; anything else is refused."""
        name, data = os.fspath(path), Path(path).read_bytes()
        try:
            check_version(data, name, SCHEMA, "plan again")
            part = msgspec.json.decode(data, type=_PlanFile)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"{name} is no plan of labels: {error}") from error
        try:
            return cls(**part.fields())
        except (ValueError, OverflowError) as error:  # InputError is one
            raise InputError(f"{name} does not hold together: {error}") from error


class _PlanFile(Head, kw_only=True, forbid_unknown_fields=True):
    compromis: str
    classes: list[bool | int | float | str]
    row: list[int | str]
    stratum: list[int]
    probability: list[float]
    names: list[str]
    sizes: list[int]
    drawn: list[int]
    guess: list[list[float]]
    cells: list[list[int]]
    cell_sizes: list[int]
    stratum_of: list[int]
    seed: int
    worth: float
    phase: int
    looked: bool
    left_out: int

    def fields(self) -> dict[str, Any]:
        """Return the fields of a plan, checked."""
        strata, size, cells = len(self.names), len(self.classes), len(self.cell_sizes)
        sizes, drawn, stratum, stratum_of, cell_sizes = (
            np.array(part, dtype=np.int64) for part in (self.sizes, self.drawn, self.stratum, self.stratum_of, self.cell_sizes)
        )
        table, guess = np.array(self.cells, dtype=np.int64), np.array(self.guess, dtype=np.float64)
        whole = (
            sizes.shape == drawn.shape == (strata,)
            and stratum_of.shape == (cells,)
            and table.shape == (cells, 3)
            and guess.shape == (strata, size)
            and len(self.row) == len(stratum) == len({*self.row})
            and len({*self.names}) == strata
            and 0 < size
            and len({*self.classes}) == size
        )
        if not whole or not cells or not _within(table, stratum, stratum_of, (size, strata)):
            raise InputError("its parts differ in size, or refer to what is not there")
        fresh = np.bincount(stratum, minlength=strata)
        together = np.bincount(stratum_of, weights=cell_sizes, minlength=strata)
        if (cell_sizes < 1).any() or (together != sizes).any() or (fresh > drawn).any() or (drawn > sizes).any():
            raise InputError("the rows of its strata do not add up")
        if not ((guess >= 0) & (guess <= 1)).all() or self.seed < 0:
            raise InputError("its guesses are no shares, or its seed is negative")
        return {
            "strata": Strata(names=tuple(self.names), sizes=sizes),
            "stratum": stratum,
            "rows": np.array(self.row),
            "population": Population(classes=tuple(self.classes), cells=table, sizes=cell_sizes),
            "stratum_of": stratum_of,
            "drawn": drawn,
            "guess": guess,
            **{name: getattr(self, name) for name in ("seed", "worth", "phase", "looked", "left_out")},
        }


def _within(cells: Ints, stratum: Ints, stratum_of: Ints, sizes: tuple[int, int]) -> bool:
    classes, strata = sizes
    bounds = ((cells[:, 0], 0, classes), (cells[:, 1], -1, classes), (cells[:, 2], -1, STEPS), (stratum_of, 0, strata), (stratum, 0, strata))
    return all(bool(((part >= low) & (part < high)).all()) for part, low, high in bounds)


def _opinions(cells: Ints, classes: Sequence[Label]) -> str:
    if (cells[:, 1] < 0).any():
        return "-"
    if (cells[:, 1] == cells[:, 0]).all():
        return "agrees"
    return "says " + joined([str(classes[k]) for k in np.unique(cells[:, 1]).tolist()], 3)


def _margins(cells: Ints) -> str:
    steps = cells[:, 2]
    return "-" if (steps < 0).any() else f"{steps.min() / STEPS:.2g} to {(steps.max() + 1) / STEPS:.2g}"


def plan_labels(
    votes_or_predictions: Any,
    *,
    budget: int,
    preferences: Preferences | Mapping[Any, Any] | None = None,
    judge: Any = None,
    weights: Any = None,
    labels: Sequence[Any] | None = None,
    pos_label: Any = None,
    prediction: str | None = None,
    proba: Sequence[str] | Mapping[str, Any] | None = None,
    row_id: str | None = None,
    after: LabelPlan | None = None,
    counts: Counts | None = None,
    random_state: int | np.random.Generator | None = None,
) -> LabelPlan:
    """Choose which rows to label, before any label is seen, so that few labels say most about what matters.

    Parameters
    ----------
    votes_or_predictions : labels, array or frame of shape (n, K), Votes, or data frame
        The predicted class of each row; or its probabilities or votes, which tell margins too. A data frame of any engine, with
        `prediction` or `proba`, is sampled in its engine, and the rows drawn come back.
    budget : int
        How many rows to label.
    preferences : Preferences or mapping by class, optional
        What matters: labels go where they make the intervals of the loss, and of rates with a minimum, narrowest.
    judge : labels, array of shape (n, K) or Votes, optional
        What a cheap judge says of each row: another model, a language model, an old rule. It may be useless, and silent (a row of
        zeros). Of a data frame, the column of its classes.
    weights : array-like or Decision, optional
        The weights that decide votes; without them all are equal.
    labels : sequence, optional
        The classes, in the order of the columns of votes. Without it: those of the columns' names, or of predictions and judge.
    pos_label : label, optional
        The class of one column of probabilities alone.
    prediction, proba : str, and list or mapping of columns
        Of a data frame: the column of predicted classes, or those of votes, as in `Votes.from_frame`.
    row_id : str, optional
        Of a data frame: a column of whole numbers of at least 0, different in each row, by which labels are joined. Needed where
        the frame's engine keeps no order of rows.
    after : LabelPlan, optional
        An earlier plan of the same rows, all labelled now: other rows of its strata are drawn.
    counts : Counts, optional
        What the labels of `after` said, those of all phases added up: they share out the new labels where that pays.
    random_state : int or Generator, optional
        The seed; it is kept in the plan.

    Returns
    -------
    LabelPlan
        ``.rows``, ``.probability``, ``.stratum``; ``str()`` is the table of strata. Pass it as ``sample=`` to `evaluate`,
        `compare_models`, `search_weights`, `Counts.from_predictions` and `Votes.from_proba`, with the labels of its rows.

    Notes
    -----
    Strata are made of prediction, the judge's opinion and margin. Half of the labels are drawn in proportion to the rows, half in
    proportion to rows times the deviation, as guessed, of what a label adds to what matters (Neyman 1934).

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> fraud = rng.random(20_000) < 0.02
    >>> proba = 1 / (1 + np.exp(7 - 3 * rng.normal(2.0 * fraud)))
    >>> wanted = {True: cp.Preference(10, 0.1, 0.9)}
    >>> plan = cp.model_selection.plan_labels(proba > 0.3, budget=200, preferences=wanted, judge=proba > 0.1, random_state=0)
    >>> result = cp.evaluate(fraud[plan.rows], proba[plan.rows] > 0.3, sample=plan, preferences=wanted, confidence=0.95)
    >>> len(plan.rows), round(result.summary.total)
    (200, 20000)
    """
    wanted = read_preferences(preferences) or Preferences()
    _check_phases(after, counts)
    given = {"weights": weights, "labels": labels, "pos_label": pos_label}
    source: ArrayRows | FrameSource
    if prediction is None and proba is None:
        source = ArrayRows.read(votes_or_predictions, judge, known=tuple(wanted.by_class), **given)
    else:
        source = open_population(
            votes_or_predictions, prediction=prediction, proba=proba, judge=judge, row_id=row_id,
            known=tuple(wanted.by_class), **given,
        )  # fmt: skip
    population = source.population
    seed = int(np.random.default_rng(random_state).integers(MOST)) if after is None else after.seed
    drawing = _drawing(population, _read_budget(budget, population), wanted.on(population.classes), after, counts, seed)
    before = np.zeros_like(drawing.drawn) if after is None else after.drawn
    rows, stratum, frame = source.take(drawing.stratum_of, before, drawing.drawn, seed)
    return LabelPlan(
        rows=rows,
        stratum=stratum,
        frame=frame,
        left_out=source.left_out,
        population=population,
        seed=seed,
        phase=1 if after is None else after.phase + 1,
        **drawing._asdict(),
    )


def _read_budget(budget: Any, population: Population) -> int:
    if isinstance(budget, bool) or not isinstance(budget, (int, np.integer)) or budget < 1:
        raise InputError(f"budget is how many rows to label, a whole number of at least 1, got {budget!r}", "budget")
    if budget > population.rows:
        raise InputError(f"budget is {budget:,}, but there are only {population.rows:,} rows with a prediction", "budget")
    return int(budget)


def _check_phases(after: Any, counts: Any) -> None:
    if after is not None and not isinstance(after, LabelPlan):
        raise InputError(f"after is an earlier plan of labels, got {type(after).__name__}", "after")
    if counts is None:
        return
    if after is None:
        raise InputError("counts are what the labels of an earlier plan said; give that plan as after", "counts")
    drawn = None if not isinstance(counts, Counts) or counts.tables is None else counts.tables.sum(axis=(1, 2))
    names = None if drawn is None or counts.strata is None else counts.strata.names
    if drawn is None or names != after.strata.names or (drawn != after.drawn).any():
        raise InputError(
            "counts are those of all rows drawn so far: count the labels of each plan with sample=, and add the counts up", "counts"
        )


@dataclass(frozen=True, slots=True, eq=False)
class ArrayRows:
    """Rows in memory: their population, the cell of each, and where they stand in the data."""

    population: Population
    cell: Ints
    position: Ints | None = None
    left_out: int = 0

    @classmethod
    def read(
        cls, given: Any, judge: Any, *, weights: Any, labels: Any, pos_label: Any, known: tuple[Label, ...]
    ) -> ArrayRows:
        """Read predictions or votes, and what a judge says."""
        matrix = _matrix(given)
        if matrix is None:
            if weights is not None:
                raise InputError("weights decide votes; predictions are decided already", "weights")
            return cls._of_predictions(given, judge, labels, known)
        classes = _classes_of(given, labels)
        scores = as_dense(read_scores(matrix, classes, pos_label=pos_label))
        check_scores(scores)
        total = scores.sum(axis=1)
        weighted = scores * read_class_weights(np.ones(len(classes)) if weights is None else _weights(weights, classes), classes)
        opinion = None if judge is None else _opinion(judge, classes, len(total), pos_label)
        if total.all():
            return cls._of_votes(classes, scores, total, weighted, opinion)
        voted = np.flatnonzero(total > 0)
        if not len(voted):
            raise InputError("no row has a vote for any class; there is nothing to label")
        parts = (scores[voted], total[voted], weighted[voted], None if opinion is None else opinion[voted])
        made = cls._of_votes(classes, *parts)
        return replace(made, position=voted, left_out=len(total) - len(voted))

    @classmethod
    def _of_predictions(cls, given: Any, judge: Any, labels: Any, known: tuple[Label, ...]) -> ArrayRows:
        columns = [read_labels(given, "votes_or_predictions")]
        silent = _matrix(judge)
        if judge is not None and silent is None:
            columns.append(read_labels(judge, "judge"))
        codes, classes = encode_classes(*columns, labels=labels)
        if labels is None and not {*known} <= {*classes}:
            codes, classes = encode_classes(*columns, labels=sorted_labels([*{*classes, *known}]))
        opinion = codes[1] if len(codes) > 1 else None
        if silent is not None:
            opinion = _opinion(judge, classes, len(codes[0]), None)
        return cls(*Population.from_codes(classes, codes[0], opinion))

    @classmethod
    def _of_votes(
        cls, classes: tuple[Label, ...], scores: Floats, total: Floats, weighted: Floats, opinion: Ints | None
    ) -> ArrayRows:
        predicted, margin = _decided(weighted)
        return cls(*Population.from_codes(classes, predicted, opinion, margin, scores / total[:, np.newaxis]))

    def take(self, stratum_of: Ints, before: Ints, drawn: Ints, seed: int) -> tuple[Ints, Ints, None]:
        """Return the rows that stand after the first `before` of each stratum in a random order, up to the first `drawn`."""
        stratum, order = stratum_of[self.cell], np.random.default_rng(seed).random(len(self.cell))
        parts = []
        for h, (first, last) in enumerate(zip(before.tolist(), drawn.tolist(), strict=True)):
            own = np.flatnonzero(stratum == h)
            near = own if last >= len(own) else own[np.argpartition(order[own], last)[: last + 1]]
            parts.append(near[np.argsort(order[near], kind="stable")][first:last])
        rows = np.sort(np.concatenate(parts))
        return rows if self.position is None else self.position[rows], stratum[rows], None


def _matrix(given: Any) -> Any:
    """Return votes, None for a column of labels."""
    if isinstance(given, Votes):
        if given.merged:
            raise InputError("these Votes hold patterns of equal rows, so no row of them can be drawn; pass the votes of each row")
        return given.votes
    shape: tuple[int, ...] = getattr(given, "shape", ())
    if len(shape) == 2:
        return given
    return np.asarray(given) if isinstance(given, (list, tuple)) and len(given) and np.ndim(given[0]) == 1 else None


def _classes_of(given: Any, labels: Any) -> tuple[Label, ...]:
    if isinstance(given, Votes):
        return given.classes
    found = column_labels(given) if labels is None else read_classes(labels, "labels")
    if found is None:
        raise InputError("labels is missing: votes in an array do not say which class each column is", "labels")
    return found


def _weights(weights: Any, classes: Sequence[Label]) -> Any:
    """Return the weights, those of a decision in the order of the classes."""
    if not hasattr(weights, "classes"):
        return weights
    return dict(zip(weights.classes, np.asarray(weights.weights).tolist(), strict=True))


def _opinion(judge: Any, classes: Sequence[Label], rows: int, pos_label: Any) -> Ints:
    """Return the class that a judge names for each row, -1 where it is silent."""
    matrix = _matrix(judge)
    if matrix is None:
        (opinion,), _ = encode(read_labels(judge, "judge"), labels=classes)
        if len(opinion) != rows:
            raise InputError(f"judge has {len(opinion):,} rows, there are {rows:,} predictions; they must describe the same rows", "judge")
        return opinion
    scores = as_dense(read_scores(matrix, classes, rows, name="judge", pos_label=pos_label))
    check_scores(scores, "judge")
    return np.where(scores.any(axis=1), scores.argmax(axis=1), -1)


def _decided(weighted: Floats) -> tuple[Ints, Floats]:
    """Return the class of each row's largest weighted vote, and its margin over the second."""
    each = np.arange(len(weighted))
    predicted = weighted.argmax(axis=1)
    best = weighted[each, predicted]
    rest = weighted.copy()
    rest[each, predicted] = 0.0
    second = rest.max(axis=1)
    return predicted, (best - second) / (best + second)


class _Drawing(NamedTuple):
    """How many rows are drawn of which strata."""

    strata: Strata
    stratum_of: Ints
    drawn: Ints
    guess: Floats
    worth: float
    looked: bool


def _drawing(
    population: Population,
    budget: int,
    arrays: PreferenceArrays,
    after: LabelPlan | None,
    counts: Counts | None,
    seed: int,
) -> _Drawing:
    """Make strata, or take those of the plan before, and share the labels out."""
    cell_guess = _guess(population)
    slope = _slopes_of(_matrix_of(cell_guess, population.sizes, population.cells[:, 0]), arrays)
    if after is None:
        deviation = _deviation(cell_guess, slope[:, :, population.cells[:, 0]])
        stratum_of = _strata(population, deviation, budget)
        sizes = np.bincount(stratum_of, weights=population.sizes).astype(np.int64)
        strata = Strata(names=_names(population, stratum_of, seed), sizes=sizes)
        before = np.zeros_like(sizes)
    else:
        after.population.check_same(population)
        stratum_of, strata, before, sizes = after.stratum_of, after.strata, after.drawn, after.strata.sizes
        budget = _read_rest(budget, sizes - before)
    predicted = np.zeros(len(strata), dtype=np.int64)
    predicted[stratum_of] = population.cells[:, 0]
    guess = _mean_guess(cell_guess, population.sizes, stratum_of) if after is None else after.guess
    drawn = _shared(sizes, _deviation(guess, slope[:, :, predicted]), before, budget)
    looked = False
    if counts is not None and counts.tables is not None:
        guess = _learned(guess, counts.tables.sum(axis=2), before)
        slope = _slopes_of(_matrix_of(guess, sizes, predicted), arrays)
        deviation = _deviation(guess, slope[:, :, predicted])
        anew = _shared(sizes, deviation, before, budget)
        looked = _variance(sizes, deviation, anew) < PAYS * _variance(sizes, deviation, drawn)
        drawn = anew if looked else drawn
    deviation = _deviation(guess, slope[:, :, predicted])
    whole = _matrix_of(guess, sizes, predicted)
    of_one = float(_of_one((whole / whole.sum()), slope).sum()) * float(sizes.sum()) ** 2
    worth = of_one / max(_variance(sizes, deviation, drawn), np.finfo(float).tiny)
    return _Drawing(strata, stratum_of, drawn, guess, min(worth, float(sizes.sum())), looked)


def _read_rest(budget: int, rest: Ints) -> int:
    if budget > rest.sum():
        raise InputError(f"budget is {budget:,}, but only {rest.sum():,} rows are not drawn yet", "budget")
    return budget


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
    guess /= np.maximum(guess.sum(axis=1, keepdims=True), 1.0) * 1.0
    guess[np.arange(len(predicted)), predicted] = 1 - guess.sum(axis=1)
    if population.shares is not None:
        guess = UNSURE * guess + (1 - UNSURE) * population.shares
    says = np.where(np.arange(size) == opinion[:, np.newaxis], TRUST, (1 - TRUST) / max(size - 1, 1))
    guess = np.where((opinion >= 0)[:, np.newaxis], guess * says, guess)
    shares: Floats = guess / guess.sum(axis=1, keepdims=True)
    return shares


def _mean_guess(guess: Floats, sizes: Ints, stratum_of: Ints) -> Floats:
    sums = np.zeros((int(stratum_of.max()) + 1, guess.shape[1]))
    np.add.at(sums, stratum_of, guess * sizes[:, np.newaxis])
    return sums / sums.sum(axis=1, keepdims=True)


def _learned(guess: Floats, labelled: Ints, drawn: Ints) -> Floats:
    """Return the guess after labels were seen, of which `REMEMBERED` count as much as the guess."""
    return (labelled + REMEMBERED * guess) / (drawn + REMEMBERED)[:, np.newaxis]


def _matrix_of(guess: Floats, sizes: Ints, predicted: Ints) -> Floats:
    """Return the counts that a guess leads to."""
    matrix = np.zeros((guess.shape[1], guess.shape[1]))
    np.add.at(matrix.T, predicted, guess * sizes[:, np.newaxis])
    return matrix


def _slopes_of(matrix: Floats, arrays: PreferenceArrays) -> Floats:
    """Return what a row in each cell adds to what matters, of shape (targets, K, K): the loss, and each rate with a minimum.

    Targets are scaled so that each has the same variance in a sample without strata.
    """
    if arrays.by_amount is not None:
        raise InputError("labels are planned for costs that do not depend on amounts; give each decision a fixed cost", "preferences")
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
    """Return the stratum of each cell: by prediction, whether the judge agrees, and the deviation, cut where labels would be shared evenly."""
    predicted, opinion = population.cells[:, 0], population.cells[:, 1]
    pays = budget // LEAST
    group = predicted * 3 + np.where(opinion < 0, 2, opinion == predicted)
    if len(np.unique(group)) > pays:  # too few labels for both
        group = predicted
    if len(np.unique(group)) > pays:
        raise InputError(
            f"budget is {budget}, too few for {len(np.unique(group))} predicted classes; label {LEAST} rows of each at least", "budget"
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
    """Return how many rows of each stratum are drawn, those `before` included: no fewer than these, two at least, all at most."""
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
