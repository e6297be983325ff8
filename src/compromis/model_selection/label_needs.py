"""Whether labels are enough: how many more make an interval narrow, or a minimum surely met."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from compromis._results import Result, columns_of
from compromis._text import Table, bounds, count, fixed
from compromis._typing import Floats, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts, ratio
from compromis.labels import plain_label, positions_in
from compromis.measures.rates import Cells, class_rates
from compromis.preferences import Preferences, read_preferences
from compromis.uncertainty.draws import DRAWS
from compromis.uncertainty.intervals import Interval, read_confidence
from compromis.uncertainty.report_intervals import sample_intervals, share_intervals

RATES = ("recall", "precision")
STEP, STEPS = math.sqrt(2), 24
"""Numbers of labels that are tried: each the last times sqrt(2), up to 4,096 times as many."""
_DRAWS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelNeed:
    """A rate of a class, its interval, and how many more labels it takes until the interval is as wanted."""

    label: Label
    rate: str
    value: float
    low: float
    high: float
    goal: str
    """width: the interval is no wider; minimum: the whole interval lies above."""
    asked: float
    more: int | None
    """So many labels more, drawn as before, if rates stay as they are; 0 where these are enough, None where no number would do."""

    def __str__(self) -> str:
        now = f"{self.rate} of {self.label!r} is {fixed(self.value)} ({bounds(Interval(self.value, self.low, self.high))})"
        goal = (
            f"an interval no wider than {self.asked:g}"
            if self.goal == "width"
            else f"being surely {self.asked:g} or more"
        )
        if self.more == 0:
            return f"{now}: enough for {goal}"
        if self.more is None:
            why = (
                "not even a label for every row"
                if self.goal == "width" or self.value > self.asked
                else "no number of labels"
            )
            return f"{now}: {why} would do for {goal}"
        return f"{now}: about {count(self.more)} more labels for {goal}"


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelsNeeded(Result):
    """How many more labels are needed, made by `labels_needed`."""

    items: tuple[LabelNeed, ...]
    """Each rate asked for."""
    confidence: float
    labels: int
    """The labels so far."""

    schema = "compromis/labels-needed"

    @property
    def enough(self) -> bool:
        """Whether these labels do."""
        return all(item.more == 0 for item in self.items)

    @property
    def more(self) -> int | None:
        """The labels that do for every rate; None where no number does for one of them."""
        needed = [item.more for item in self.items]
        return None if None in needed else max((more for more in needed if more is not None), default=0)

    @property
    def summary(self) -> dict[str, float]:
        """The labels so far, and how many more do for every rate; NaN where no number does for one of them."""
        return {"labels": self.labels, "more": math.nan if self.more is None else self.more}

    def sentences(self) -> list[str]:
        """Return whether the labels are enough, then each rate."""
        said = "are enough" if self.enough else "are not enough"
        return [f"{count(self.labels)} labels {said} (confidence {100 * self.confidence:g} %)", *map(str, self.items)]

    def columns(self) -> dict[str, list[Any]]:
        """Return the rates, column by column."""
        return columns_of(self.items, LabelNeed)

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        items = [asdict(item) for item in self.items]
        return {
            **self.heading(),
            "enough": self.enough,
            "more": self.more,
            "labels": self.labels,
            "confidence": self.confidence,
            "items": items,
        }

    def tables(self) -> list[Table]:
        """Return each rate with its interval and what it takes."""
        rows = [
            [str(one.label), one.rate, fixed(one.value), bounds(Interval(one.value, one.low, one.high)), f"{one.goal} {one.asked:g}",
             "?" if one.more is None else count(one.more)]
            for one in self.items
        ]  # fmt: skip
        return [Table("Labels needed", ["Class", "Rate", "Value", "Interval", "Asked", "More labels"], rows)]


def labels_needed(
    counts: Counts,
    *,
    width: float | None = None,
    preferences: Preferences | Mapping[Any, Any] | None = None,
    labels: Any = None,
    confidence: float = 0.95,
) -> LabelsNeeded:
    """Say whether labels are enough, and else how many more: for intervals of a width, and for minima that are surely met.

    Parameters
    ----------
    counts : Counts
        What the labels so far say, of a planned sample or of rows that were drawn with equal chances.
    width : float, optional
        How wide the intervals of recall and precision may be, for example 0.1.
    preferences : Preferences or mapping by class, optional
        Their minima are to be surely met: the lower bound of the interval reaches them.
    labels : sequence, optional
        The classes that matter for `width`; without it those that are more important than others, else all.
    confidence : float
        Of the intervals.

    Notes
    -----
    Further labels are taken to be drawn as those so far, and to say the same: rates estimated from few labels may turn out
    different, so ask again when more are labelled.

    Examples
    --------
    >>> import compromis as cp
    >>> counts = cp.Counts.from_matrix([[18, 2], [9, 271]], ["sick", "well"])
    >>> needed = cp.model_selection.labels_needed(counts, width=0.15, labels=["sick"])
    >>> [(item.rate, item.more > 500) for item in needed.items], needed.enough
    ([('recall', True), ('precision', True)], False)
    """
    level, wanted = read_confidence(confidence), read_preferences(preferences)
    if width is not None and not 0 < width < 1:
        raise InputError(f"width is between 0 and 1, got {width:g}; for ten points write 0.1", "width")
    asked = _asked(counts, width, wanted, labels)
    if not asked:
        raise InputError("width is missing, and so are preferences with a minimum; give one of them", "width")
    if counts.strata is None and counts.squares is not None:
        raise InputError(
            "counts of weighted rows do not say how rows were drawn; count without weights, or with sample=", "counts"
        )
    found = [_intervals(counts, 1.0, level, DRAWS)]  # those of the report
    times = [1.0]
    while len(times) <= STEPS and not all(_reached(found[-1], one) for one in asked):
        times.append(times[-1] * STEP)
        found.append(_intervals(counts, times[-1], level))
    items = tuple(_need(counts, one, times, found) for one in asked)
    return LabelsNeeded(items=items, confidence=level, labels=counts.rows)


_Asked = tuple[int, str, str, float]
"""The position of a class, the rate, width or minimum, and how much."""
_Found = Mapping[str, list[Interval]]


def _asked(counts: Counts, width: float | None, wanted: Preferences | None, labels: Any) -> list[_Asked]:
    arrays = (wanted or Preferences()).on(counts.classes)
    matter = arrays.priority if arrays.priority.any() else arrays.importance > 0
    chosen = np.flatnonzero(matter & (counts.support > 0)).tolist()
    if labels is not None:
        chosen = positions_in([plain_label(label) for label in labels], counts.classes, "labels").tolist()
    asked: list[_Asked] = (
        [] if width is None else [(int(k), rate, "width", float(width)) for k in chosen for rate in RATES]
    )
    return asked + [(k, rate, "minimum", least) for rate, k, least in arrays.minima]


def _intervals(counts: Counts, times: float, confidence: float, draws: int = _DRAWS) -> _Found:
    """Return the intervals that so many times the labels would have, if they said the same."""
    if counts.strata is None or counts.tables is None:
        scaled = replace(counts, matrix=counts.matrix * times)
        return {name.removeprefix("class_"): row for name, row in share_intervals(scaled, confidence).items()}
    tables = counts.tables * _times(counts, times)[:, np.newaxis, np.newaxis]

    def measures(cells: Cells) -> dict[str, Floats]:
        rates = class_rates(cells)
        return {name: rates[name] for name in RATES}

    return sample_intervals(Counts.from_tables(counts.strata, tables, counts.classes), measures, confidence, draws)


def _times(counts: Counts, times: float) -> Floats:
    """Return how many times the labels of each stratum can be had: no more than it has rows."""
    assert counts.strata is not None
    assert counts.tables is not None
    return np.minimum(times, ratio(counts.strata.sizes, counts.tables.sum(axis=(1, 2))))


def _labels(counts: Counts, times: float) -> float:
    if counts.strata is None or counts.tables is None:
        return counts.rows * times
    return float((counts.tables.sum(axis=(1, 2)) * _times(counts, times)).sum())


def _margin(found: _Found, asked: _Asked) -> float:
    """Return by which factor the goal is missed; 1 and less where it is reached."""
    k, rate, goal, level = asked
    interval = found[rate][k]
    if goal == "width":
        return interval.width / level
    return (
        math.inf if math.isnan(interval.low) else (interval.value - interval.low) / max(interval.value - level, 1e-12)
    )


def _reached(found: _Found, asked: _Asked) -> bool:
    return _margin(found, asked) <= 1 or (asked[2] == "minimum" and found[asked[1]][asked[0]].value <= asked[3])


def _need(counts: Counts, asked: _Asked, times: list[float], found: list[_Found]) -> LabelNeed:
    k, rate, goal, level = asked
    now, margins = found[0][rate][k], [_margin(one, asked) for one in found]
    done = next((step for step, margin in enumerate(margins) if margin <= 1), None)
    more = None if done is None else 0
    if done:  # between two steps the margin falls as a power of the labels
        share = math.log(margins[done - 1]) / math.log(margins[done - 1] / margins[done])
        more = _rounded(_labels(counts, times[done - 1] * STEP**share) - counts.rows)
    numbers = {"value": now.value, "low": now.low, "high": now.high}
    return LabelNeed(label=counts.classes[k], rate=rate, **numbers, goal=goal, asked=level, more=more)


def _rounded(number: float) -> int:
    """Return two digits of a number: more would not be true."""
    digits = max(math.floor(math.log10(max(number, 1))) - 1, 0)
    return math.ceil(number / 10**digits) * 10**digits
