"""The headline: what happens to the rows of the classes that matter most, said first everywhere; and what a test is good for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from compromis._text import LONG_NAME, class_name, count, joined, per_thousand, rows_named, short_names
from compromis._typing import Floats, Label
from compromis.evidence.counts import Counts
from compromis.labels import positive_by_convention
from compromis.measures.pragma import pragma, with_mean_costs
from compromis.measures.rates import Confusion, negative_predictive_value, outcomes, precision
from compromis.preferences import PreferenceArrays

MOST_TOLD = 3
"""Classes that the sentence names one by one; one more has a name too, which is no longer than saying that there is one."""
TUNED = "Tuned to your preferences"
SAME_ROWS = "on these rows, which chose the weights"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassRows:
    """What happens to the rows of one class; sums of weights where rows have some."""

    label: Label
    of: float
    """The rows that truly are of the class."""
    found: float
    missed: float
    false_alarms: float
    """Rows of other classes that are predicted as this one."""

    def in_words(self, name: str | None = None) -> str:
        """Return the numbers in words, the class by a shortened name where one is given."""
        found = f"{count(self.found)} of {count(self.of)} {rows_named(self.label, name)}"
        return f"{found} (misses {_none(self.missed)}), {_alarms(self)}"

    def __str__(self) -> str:
        return self.in_words()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Headline:
    """A result in rows; ``str()`` is its sentences.

    Examples
    --------
    >>> import compromis as cp
    >>> counts = cp.Counts.from_matrix([[129, 22], [16, 2996]], ["hypothyroid", "healthy"])
    >>> headline = cp.evaluate(counts, preferences={"hypothyroid": 10}).headline
    >>> headline.classes[0].found, headline.classes[0].of, headline.classes[0].missed, headline.classes[0].false_alarms
    (129, 151, 22, 16)
    >>> print(headline)
    Finds 129 of 151 hypothyroid (misses 22), 16 false alarms. 3,125 of 3,163 rows right (98.8 %).
    """

    classes: tuple[ClassRows, ...]
    """The classes that matter most, the most important first; where none does, all of them, those with most missed rows first."""
    matters: bool
    """Whether `classes` matter more than the others."""
    rows: float
    right: float
    loss: float | None = None
    """The loss of the result, or its average cost; None without preferences."""
    measure: str = "loss"
    state: str | None = None
    """The state of the verdict, where there is one."""
    labels: tuple[Label, ...] = ()
    """All classes of the result: a shortened name differs from the names of all of them."""
    tuned: Headline | None = None
    """What weights tuned to the preferences would do on these very rows, where that was searched."""

    def sentences(self) -> list[str]:
        """Return what is found and missed, how many rows are right, and what tuning would change."""
        if not self.rows:
            return ["There are no rows"]
        share = f"{100 * self.right / self.rows:.1f} %" if self.right < self.rows else "all"
        right = f"{count(self.right)} of {count(self.rows)} rows right ({share})"
        first = (
            [f"Finds {self._found_by_class()}", right] if self.matters else ["; ".join([right, *self._most_missed()])]
        )
        return first if self.tuned is None else [*first, f"{TUNED}: {self.tuned.offered()} ({SAME_ROWS})"]

    def offered(self) -> str:
        """Return what is missed, and the false alarms."""
        if not self.matters:
            return f"{count(self.right)} of {count(self.rows)} rows right"
        phrases = [f"{class_name(row.label, name)} {_missed(row)}" for row, name in self._named]
        if len(self.classes) == 1:
            return _missed(self.classes[0])
        rest = self._rest
        if rest is not None:
            phrases.append(f"the others that matter {_missed(rest)}")
        return "; ".join(phrases)

    def _found_by_class(self) -> str:
        phrases = [row.in_words(name) for row, name in self._named]
        rest = self._rest
        if rest is not None:
            more = f"rows of {len(self.classes) - self._most} more classes that matter"
            phrases.append(f"{count(rest.found)} of {count(rest.of)} {more} (misses {_none(rest.missed)})")
        return "; ".join(phrases)

    def _most_missed(self) -> list[str]:
        missed = [
            f"{count(row.missed)} of {count(row.of)} {rows_named(row.label, name)}"
            for row, name in self._named
            if row.missed
        ]
        more = sum(row.missed > 0 for row in self.classes[self._most :])
        missed += [f"{more} more"] if more else []
        return [f"most missed: {joined(missed)}"] if missed else []

    @property
    def _most(self) -> int:
        return MOST_TOLD + (len(self.classes) == MOST_TOLD + 1)

    @property
    def _named(self) -> list[tuple[ClassRows, str]]:
        named = self.classes[: self._most]
        labels = self.labels or [row.label for row in named]
        names = dict(zip(labels, short_names(labels, LONG_NAME), strict=True))
        return [(row, names[row.label]) for row in named]

    @property
    def _rest(self) -> ClassRows | None:
        """The classes beyond those named one by one, added up."""
        rest = self.classes[self._most :]
        sums = {name: sum(getattr(row, name) for row in rest) for name in ("of", "found", "missed", "false_alarms")}
        return ClassRows(label=None, **sums) if rest else None

    def __str__(self) -> str:
        return " ".join(f"{sentence}." for sentence in self.sentences())

    def __repr__(self) -> str:
        return f"<Headline: {self}>"

    def document(self) -> dict[str, Any]:
        """Return the numbers and the sentences as plain values."""
        numbers = {name: getattr(self, name) for name in ("matters", "rows", "right", "loss", "measure", "state")}
        return {
            "sentences": self.sentences(),
            "classes": [asdict(row) for row in self.classes],
            **numbers,
            "tuned": None if self.tuned is None else replace(self.tuned, tuned=None).document(),
        }


def headline_of(
    counts: Counts,
    arrays: PreferenceArrays | None = None,
    *,
    pos_label: Label | None = None,
    state: str | None = None,
    tuned: Counts | None = None,
) -> Headline:
    """Return the headline of counts under preferences; `tuned` are those of weights that these very rows chose.

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.measures.headline import headline_of
    >>> print(headline_of(cp.Counts.from_matrix([[8, 3, 1], [4, 30, 6], [10, 18, 120]], ["ill", "unsure", "well"])))
    158 of 200 rows right (79.0 %); most missed: 28 of 148 well, 10 of 40 unsure and 4 of 12 ill.
    """
    chosen = classes_that_matter(counts, arrays, pos_label)
    shown = chosen or np.argsort(-outcomes(counts).misses, kind="stable").tolist()
    loss = None if arrays is None or not counts.total else pragma(counts, arrays).total
    return Headline(
        classes=class_rows(counts, counts.classes, shown),
        matters=bool(chosen),
        rows=counts.total,
        right=counts.matrix.trace().item(),
        loss=loss,
        measure="loss" if arrays is None or arrays.cost is None else "average cost",
        state=state,
        labels=counts.classes,
        tuned=None if tuned is None else headline_of(tuned, arrays, pos_label=pos_label),
    )


def class_rows(counts: Confusion, classes: Sequence[Label], chosen: Sequence[int]) -> tuple[ClassRows, ...]:
    """Return what happens to the rows of the chosen classes."""
    cells = outcomes(counts)
    parts = {"of": cells.support, "found": cells.hits, "missed": cells.misses, "false_alarms": cells.alarms}
    return tuple(ClassRows(label=classes[k], **{name: part[k].item() for name, part in parts.items()}) for k in chosen)


def classes_that_matter(counts: Counts, arrays: PreferenceArrays | None, pos_label: Label | None = None) -> list[int]:
    """Return the positions of the classes that matter most, the most important first; none where all matter alike.

    Of two classes one always does: `pos_label`, else the more important one, else the one with constraints, else 1 beside 0 or -1
    and True beside False, also where they were read as text, else the rarer one. Of more: those more important than the least
    important (with costs: dearer to get wrong), and those with constraints.

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.measures.headline import classes_that_matter
    >>> counts = cp.Counts.from_matrix([[5, 1, 0], [1, 8, 0], [2, 0, 9]], ["a", "b", "c"])
    >>> classes_that_matter(counts, cp.Preferences({"b": cp.Preference(min_recall=0.9), "c": 10}).on(counts.classes))
    [2, 1]
    """
    size = len(counts.classes)
    if pos_label is not None:
        return [counts.classes.index(pos_label)]
    if size < 2:
        return []
    worth, asked = np.ones(size), np.zeros(size, dtype=bool)
    if arrays is not None:
        worth = _worth(counts, arrays)
        asked = arrays.has_minimum | (arrays.max_share < 1)
    matters = (worth > worth.min()) | asked
    negative = np.array([label != _positive(counts.classes) for label in counts.classes])
    order: Sequence[int] = np.lexsort([counts.support, negative, ~asked, -worth]).tolist()
    if size == 2:
        return list(order[:1])
    return [] if matters.all() and (worth == worth[0]).all() else [k for k in order if matters[k]]


GOOD_NEGATIVE = 0.95
"""A negative prediction that is right this often excludes the condition."""
GOOD_POSITIVE = 0.90
"""A positive prediction that is right this often establishes it."""


def screening(counts: Counts, arrays: PreferenceArrays | None, pos_label: Label | None = None) -> str:
    """Return what a test of two classes is good for, by the course: screening, diagnosis, both or neither.

    The condition looked for is the one of `classes_that_matter`. A negative prediction must also halve the risk at least: where the
    condition is rare, 'no' is nearly always right, even at random.
    """
    (k,) = classes_that_matter(counts, arrays, pos_label)
    positive, negative = counts.classes[k], counts.classes[1 - k]
    npv, ppv = float(negative_predictive_value(counts)[k]), float(precision(counts)[k])
    share = float(counts.support[k]) / counts.total
    screens = npv >= GOOD_NEGATIVE and 1 - npv <= share / 2
    least = max(GOOD_NEGATIVE, 1 - share / 2)
    alerts = 1000 * float(counts.predicted[k]) / counts.total
    return (
        f"Taking {positive!r} as the condition looked for: "
        f"{_right_in(negative, npv)}, {'good' if screens else 'poor'} for screening (good from {100 * least:.1f} % on); "
        f"{_right_in(positive, ppv)}, {'good' if ppv >= GOOD_POSITIVE else 'poor'} for diagnosis (good from {100 * GOOD_POSITIVE:g} % on). "
        f"Of 1,000 rows {per_thousand(alerts)} are predicted {positive!r}."
    )


def _right_in(label: Label, value: float) -> str:
    if math.isnan(value):
        return f"{label!r} is never predicted"
    return f"{100 * value:.1f} % of the predictions {label!r} are right"


def _positive(classes: Sequence[Label]) -> Label | None:
    """Return the class that is positive by convention; a table of text holds '1' and 'True' for what Python has as 1 and True."""
    values = [_AS_TEXT.get(label, label) if isinstance(label, str) else label for label in classes]
    known = positive_by_convention(values)
    return None if known is None else classes[values.index(known)]


_AS_TEXT: dict[str, Label] = {"-1": -1, "0": 0, "1": 1, "False": False, "True": True, "false": False, "true": True}


def _worth(counts: Counts, arrays: PreferenceArrays) -> Floats:
    """Return the importance of each class; with costs what its dearest error costs."""
    if arrays.cost is None:
        return arrays.importance
    _, priced = with_mean_costs(counts, arrays)
    return np.asarray((arrays.cost if priced.cost is None else priced.cost).max(axis=1))


def _missed(row: ClassRows) -> str:
    missed = f"all {count(row.of)}" if row.missed == row.of > 1 else _none(row.missed)
    return f"misses {missed}, {_alarms(row)}"


def _alarms(row: ClassRows) -> str:
    return f"{_none(row.false_alarms, 'no')} false alarm{'s' * (row.false_alarms != 1)}"


def _none(value: float, word: str = "none") -> str:
    return count(value) if value else word
