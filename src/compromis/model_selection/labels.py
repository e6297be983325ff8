"""What to label next: rows drawn by strata, so that few labels say most about what matters."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from compromis._files import Head, decode_document, file_bytes
from compromis._results import Result
from compromis._text import Table, class_name, count, joined
from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts, ratio
from compromis.evidence.population import STEPS, FrameSource, Population, open_population
from compromis.evidence.readers import read_class_weights, read_whole
from compromis.evidence.scores import as_dense, check_scores, column_labels, read_scores
from compromis.evidence.strata import Sample, Strata
from compromis.evidence.votes import Votes
from compromis.labels import encode, encode_classes, read_classes, read_labels
from compromis.model_selection.allocation import Drawing, predicted_of, share_out
from compromis.preferences import Preferences, read_preferences
from compromis.uncertainty.report_intervals import FEW_LABELS, few_labels
from compromis.weights.predictor import best_and_second

MOST = 2**63
SCHEMA = "compromis/label-plan"


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelPlan(Sample, Result):
    """Rows to label, drawn at random within strata; made by `plan_labels` before any label is seen.

    It is a `compromis.evidence.Sample`: pass it as ``sample=`` with the labels of its rows, in its order.
    """

    rows: Any
    """The positions of the rows to label in the data, rising; of a data frame their `row_id`."""
    population: Population
    """The rows by prediction, margin and opinion."""
    stratum_of: Ints
    """The stratum of each cell of the population."""
    drawn: Ints
    """The rows drawn in each stratum, earlier phases included."""
    guess: Floats
    """Of shape (strata, K): what the plan took the classes' shares to be in each stratum; it decides how many are drawn, and no estimate
    depends on it."""
    seed: int
    """What the random numbers follow from."""
    worth: float
    """So many labels drawn without strata would be as good for what matters, if the guess is right."""
    phase: int = 1
    """1, or which time the same rows are planned."""
    looked: bool = False
    """Whether the labels of an earlier phase changed how many are drawn; False too where that would not have paid."""
    left_out: int = 0
    """Rows without any vote, which have no prediction."""
    frame: Any = None
    """Where the rows came in a data frame: the rows drawn, with all their columns, stratum and probability."""

    schema = SCHEMA

    @property
    def probability(self) -> Floats:
        """The chance that each row had to be drawn, earlier phases included."""
        return ratio(self.drawn, self.strata.sizes)[self.stratum]

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes."""
        return self.population.classes

    @property
    def predicted(self) -> Ints:
        """The position of the class that is predicted in each stratum."""
        return predicted_of(self.population, self.stratum_of)

    @cached_property
    def expected(self) -> Counts:
        """The labels that the plan expects, earlier phases included, as counts."""
        tables = np.zeros((len(self.strata), len(self.classes), len(self.classes)))
        tables[np.arange(len(tables)), :, self.predicted] = self.drawn[:, np.newaxis] * self.guess
        return Counts.from_tables(self.strata, tables, self.classes)

    @property
    def summary(self) -> dict[str, float]:
        """The labels, the rows they speak for, the strata, and how many labels without strata would be as good."""
        return {
            "labels": len(self.stratum),
            "rows": self.population.rows,
            "strata": len(self.strata),
            "worth": self.worth,
        }

    def continued_among(self, population: Population) -> Drawing:
        """Return what was drawn, for the next phase; refuse a population that is not the plan's."""
        self.population.check_same(population)
        return Drawing(self.strata, self.stratum_of, self.drawn, self.guess, self.worth, self.looked)

    def sentences(self) -> list[str]:
        """Return what to label, what that is worth, and of which classes too few labels are expected."""
        size, total = len(self.stratum), int(self.drawn.sum())
        said = [f"label {count(size)} of {count(self.population.rows)} rows, in {len(self.strata)} strata"]
        if self.phase > 1:
            changed = (
                "shared out anew by what the labels so far say"
                if self.looked
                else "drawn as before: looking would not pay"
            )
            said[0] = f"{said[0]}, {count(total)} with the phases before; {changed}"
        said.append(
            f"for what matters these labels are worth about {count(round(self.worth))} drawn without strata, if votes and judge are as "
            f"good as they seem"
        )
        few = few_labels(self.expected)
        if few:
            named = joined([class_name(label) for label, _ in few])
            said.append(
                f"fewer than {FEW_LABELS} labelled rows are expected of {named}, too few for narrow intervals of their recall"
            )
        if self.left_out:
            said.append(f"{count(self.left_out)} rows without any vote are left out: nothing predicts them")
        return said

    def columns(self) -> dict[str, Any]:
        """Return the rows to label with their stratum and the chance that each had, column by column."""
        return {
            "row": np.asarray(self.rows).tolist(),
            "stratum": self.stratum.tolist(),
            "probability": self.probability.tolist(),
        }

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
        name, data = os.fspath(path), file_bytes(path)
        told = {"again": "plan again", "refusal": "is no plan of labels"}
        part = decode_document(data, name, _PlanFile, schema=SCHEMA, **told)
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
            np.array(part, dtype=np.int64)
            for part in (self.sizes, self.drawn, self.stratum, self.stratum_of, self.cell_sizes)
        )
        table, guess = np.array(self.cells, dtype=np.int64), np.array(self.guess, dtype=np.float64)
        whole = (
            sizes.shape == drawn.shape == (strata,)
            and stratum_of.shape == (cells,)
            and table.shape == (cells, 3)
            and guess.shape == (strata, size)
            and len(self.row) == len(stratum) == len({*self.row})
            and len({*self.names}) == strata
            and size > 0
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
    bounds = (
        (cells[:, 0], 0, classes),
        (cells[:, 1], -1, classes),
        (cells[:, 2], -1, STEPS),
        (stratum_of, 0, strata),
        (stratum, 0, strata),
    )
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
    phase = None if after is None else after.continued_among(population)
    drawing = share_out(
        population, _read_budget(budget, population), wanted.on(population.classes), phase, counts, seed
    )
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
    rows = read_whole(budget, "budget", 1, also="how many rows to label, ")
    if rows > population.rows:
        raise InputError(f"budget is {rows:,}, but there are only {population.rows:,} rows with a prediction", "budget")
    return rows


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
            "counts are those of all rows drawn so far: count the labels of each plan with sample=, and add the counts up",
            "counts",
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
        if matrix is None and pos_label is not None and np.asarray(given).dtype.kind == "f":
            matrix = given  # the scores of one class: labels are no fractions
        if matrix is None:
            if weights is not None:
                raise InputError("weights decide votes; predictions are decided already", "weights")
            return cls._of_predictions(given, judge, labels, known)
        classes = _classes_of(given, labels)
        scores = as_dense(read_scores(matrix, classes, pos_label=pos_label))
        check_scores(scores)
        total = scores.sum(axis=1)
        each = read_class_weights(np.ones(len(classes)) if weights is None else _weights(weights), classes)
        weighted = (scores + getattr(weights, "smoothing", 0.0)) * each
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
        codes, classes = encode_classes(*columns, labels=labels, absent=known)
        opinion = codes[1] if len(codes) > 1 else None
        if silent is not None:
            opinion = _opinion(judge, classes, len(codes[0]), None)
        return cls(*Population.from_codes(classes, codes[0], opinion))

    @classmethod
    def _of_votes(
        cls, classes: tuple[Label, ...], scores: Floats, total: Floats, weighted: Floats, opinion: Ints | None
    ) -> ArrayRows:
        rivals = max(2 - len(classes), 0)  # a class alone has one without votes
        predicted, best, second = best_and_second(np.pad(weighted, [(0, 0), (0, rivals)]))
        margin = (best - second) / (best + second)
        codes = predicted.astype(np.int64)
        return cls(*Population.from_codes(classes, codes, opinion, margin, scores / total[:, np.newaxis]))

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
            raise InputError(
                "these Votes hold patterns of equal rows, so no row of them can be drawn; pass the votes of each row"
            )
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


def _weights(weights: Any) -> Any:
    """Return weights, those of a decision by class."""
    if not hasattr(weights, "classes"):
        return weights
    return dict(zip(weights.classes, np.asarray(weights.weights).tolist(), strict=True))


def _opinion(judge: Any, classes: Sequence[Label], rows: int, pos_label: Any) -> Ints:
    """Return the class that a judge names for each row, -1 where it is silent."""
    matrix = _matrix(judge)
    if matrix is None:
        (opinion,), _ = encode(read_labels(judge, "judge"), labels=classes)
        if len(opinion) != rows:
            raise InputError(
                f"judge has {len(opinion):,} rows, there are {rows:,} predictions; they must describe the same rows",
                "judge",
            )
        return opinion
    scores = as_dense(read_scores(matrix, classes, rows, name="judge", pos_label=pos_label))
    check_scores(scores, "judge")
    return np.where(scores.any(axis=1), scores.argmax(axis=1), -1)
