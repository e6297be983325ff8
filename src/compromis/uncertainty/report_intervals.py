"""Intervals of every number of a report: Wilson's for shares of rows, draws of the counts for the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from compromis._results import face
from compromis._text import Table, bounds, joined, rows_named
from compromis._typing import Floats, Label, ReadOnly
from compromis.evidence.counts import Counts, ratio
from compromis.measures.pragma import losses, with_mean_costs
from compromis.measures.rates import (
    NUMBERS,
    SHARES,
    Cells,
    Evidence,
    Number,
    Outcomes,
    class_rates,
    counts_of,
    share_parts,
    summaries,
)
from compromis.preferences import PreferenceArrays
from compromis.uncertainty.draws import (
    CELLS_AT_ONCE,
    DRAWS,
    PRIOR,
    SEED,
    TILTS,
    cell_scale,
    draw_counts,
    draw_sample_counts,
    effective_sizes,
    prior_for,
    sample_prior,
)
from compromis.uncertainty.intervals import Interval, from_draws, read_confidence, wilson_bounds

Intervals = Mapping[str, Interval]
Measures = Callable[[Cells], dict[str, Floats]]
"""From matrices of shape (..., K, K) to numbers by name, each of shape (...) or (..., K)."""


_TOLD = ("recall", "precision", "f_measure", "roc_area", "loss")
"""The numbers of a class that a notebook shows."""


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class ReportIntervals:
    """The intervals of a report, by the names its numbers have there."""

    confidence: float
    """How often such intervals hold the true value."""
    summary: Intervals
    """Those of the whole; the averages are called macro_recall, weighted_precision and so on."""
    per_class: Mapping[Label, Intervals]
    """Those of each class."""
    draws: int
    """The draws behind the intervals that have no formula."""
    too_few: tuple[tuple[Label, int], ...] = ()
    """In a stratified sample, the classes of fewer than 20 labelled rows, with that number: their intervals may hold the truth a
    little more rarely than they say."""

    def document(self) -> dict[str, Any]:
        """Return the bounds as plain values."""

        def bounds(named: Intervals) -> dict[str, list[float]]:
            return {name: [interval.low, interval.high] for name, interval in named.items()}

        return {
            "confidence": self.confidence,
            "draws": self.draws,
            "too_few": [{"label": label, "labelled": rows} for label, rows in self.too_few],
            "summary": bounds(self.summary),
            "per_class": [{"label": label, **bounds(named)} for label, named in self.per_class.items()],
        }

    def doubts(self) -> list[str]:
        """Return a sentence where classes of a stratified sample have so few labels that their intervals say little."""
        if not self.too_few:
            return []
        named = joined([f"{rows_named(label)} {rows}" for label, rows in self.too_few])
        return [
            f"too few labelled rows for sure intervals: {named}; with 20 and more of a class they hold what they say"
        ]

    def __repr__(self) -> str:
        return f"<ReportIntervals of {len(self.summary)} numbers and {len(self.per_class)} classes, {100 * self.confidence:g} % confidence>"

    def _repr_html_(self) -> str:
        titles = {name: number.title or name.replace("_", " ") for name, number in NUMBERS.items()}
        whole = [
            [titles.get(name, name.replace("_", " ")), f"{one.value:.4g}", bounds(one)]
            for name, one in self.summary.items()
        ]
        names = [name for name in _TOLD if all(name in row for row in self.per_class.values())]
        classes = [[str(label), *(bounds(row[name]) for name in names)] for label, row in self.per_class.items()]
        return face(
            [f"Intervals at {100 * self.confidence:g} % confidence"],
            Table("Of each class", ["class", *(name.replace("_", " ") for name in names)], classes),
            Table("Of the whole", ["number", "value", "interval"], whole),
        )


def report_intervals(
    evidence: Evidence,
    *,
    arrays: PreferenceArrays | None = None,
    confidence: float = 0.95,
    roc_areas: Mapping[Label, Interval] | None = None,
    draws: int = DRAWS,
    random_state: int = SEED,
) -> ReportIntervals:
    """Return the intervals of every share (Wilson) and of every other number (draws of the counts).

    `roc_areas` are those of scores; predictions alone have none.
    """
    level, counts = read_confidence(confidence), counts_of(evidence)
    if arrays is not None and arrays.by_amount is not None:
        return _with_amounts(
            counts, arrays, {"confidence": level, "draws": draws, "random_state": random_state}, roc_areas
        )

    def measures(matrix: Cells) -> dict[str, Floats]:
        return _numbers(matrix, arrays)

    observed = measures(counts.matrix)
    if counts.strata is not None:
        return _laid_out(counts, sample_intervals(counts, measures, level, draws, random_state), None, level, draws)
    parts = [measures(matrix) for matrix in draw_counts(evidence, draws, random_state)]
    shares = share_intervals(evidence, level)
    stacks = {name: np.concatenate([part[name] for part in parts]) for name in observed if name not in shares}
    unbounded = () if arrays is None or arrays.cost is None else ("class_loss", "loss", "average_cost")
    drawn = centre(evidence, measures, stacks, unbounded)
    intervals = {
        name: shares[name] if name in shares else from_draws(value, drawn[name], level)
        for name, value in observed.items()
    }
    return _laid_out(counts, intervals, roc_areas, level, draws)


def _laid_out(
    counts: Counts,
    intervals: Mapping[str, list[Interval]],
    roc_areas: Mapping[Label, Interval] | None,
    confidence: float,
    draws: int,
) -> ReportIntervals:
    """Return intervals by the names of `_numbers` as those of the whole and of each class."""
    by_class = {name.removeprefix("class_"): row for name, row in intervals.items() if name.startswith("class_")}
    whole = {name: row[0] for name, row in intervals.items() if not name.startswith("class_")}
    if roc_areas is None:
        del by_class["roc_area"]
    else:
        by_class["roc_area"] = [roc_areas[label] for label in counts.classes]
    per_class = {
        label: ReadOnly({name: row[k] for name, row in by_class.items()}) for k, label in enumerate(counts.classes)
    }
    return ReportIntervals(
        confidence=confidence,
        summary=ReadOnly(whole),
        per_class=ReadOnly(per_class),
        draws=draws,
        too_few=() if counts.strata is None else few_labels(counts),
    )


FEW_LABELS = 20
"""Fewer labelled rows of a class say little of it."""


def few_labels(counts: Counts) -> tuple[tuple[Label, int], ...]:
    """Return the classes of fewer than 20 labelled rows, with that number."""
    rows = counts.labelled.sum(axis=1)
    return tuple((counts.classes[k], int(rows[k])) for k in np.flatnonzero(rows < FEW_LABELS).tolist())


def sample_intervals(
    counts: Counts, measures: Measures, confidence: float, draws: int = DRAWS, random_state: int = SEED
) -> dict[str, list[Interval]]:
    """Return the intervals of every number of a population from a stratified sample of it.

    Each bound is the outermost of two sets of draws, half of them each: one leans towards errors, one towards right predictions; see
    `TILTS`.
    """
    observed = measures(counts.matrix)
    found: list[dict[str, list[Interval]]] = []
    for tilt in TILTS:
        stacks = draw_sample_counts(counts, sample_prior(counts, *tilt), draws // len(TILTS), random_state)
        parts = [measures(matrix) for matrix in stacks]
        drawn = {name: np.concatenate([part[name] for part in parts]) for name in observed}
        found.append({name: from_draws(value, drawn[name], confidence) for name, value in observed.items()})
    return {
        name: [
            Interval(one.value, float(np.fmin(one.low, other.low)), float(np.fmax(one.high, other.high)))
            for one, other in zip(found[0][name], found[1][name], strict=True)
        ]
        for name in observed
    }


def _with_amounts(
    counts: Counts, arrays: PreferenceArrays, options: dict[str, Any], roc_areas: Mapping[Label, Interval] | None
) -> ReportIntervals:
    """Return the intervals where costs depend on amounts: rates count rows, costs count effective rows."""
    rates = report_intervals(counts, **options, roc_areas=roc_areas)
    priced, means = with_mean_costs(counts, arrays)
    costs = report_intervals(priced, arrays=means, **options)
    whole = {name: costs.summary[name] for name in ("loss", "average_cost")}
    per_class = {
        label: ReadOnly({**row, "loss": costs.per_class[label]["loss"]}) for label, row in rates.per_class.items()
    }
    return replace(rates, summary=ReadOnly({**rates.summary, **whole}), per_class=ReadOnly(per_class))


def _numbers(matrix: Cells, arrays: PreferenceArrays | None) -> dict[str, Floats]:
    """Return every number of each matrix; those of classes are named class_..."""
    cells = Outcomes(matrix)
    rates = class_rates(cells)
    named = {f"class_{name}": values for name, values in rates.items()} | summaries(cells, rates)
    if arrays is not None:
        named["class_loss"], shares = losses(cells, arrays)
        named["loss"] = shares.sum(axis=-1)
        if arrays.cost is not None:
            named["average_cost"] = named["loss"]
    return named


def share_intervals(evidence: Evidence, confidence: float) -> dict[str, list[Interval]]:
    """Return Wilson's intervals of every share of rows, by the names of `_numbers`."""
    sizes = effective_sizes(evidence, confidence)
    intervals = {}
    for name, parts in share_parts(counts_of(evidence)).items():
        share = ratio(*parts)
        columns = (share, *wilson_bounds(share, sizes[name], confidence))
        rows = zip(*(column.tolist() for column in columns), strict=True)
        intervals[f"class_{name}" if name in SHARES else name] = [Interval(*row) for row in rows]
    return intervals


MOST_CLASSES = 64
"""Above, the K x K slopes of every measure cost more than they mend, and draws stay where they are."""
STEP = 1e-6


def centre(
    evidence: Evidence, measures: Measures, drawn: dict[str, Floats], unbounded: Sequence[str] = ()
) -> dict[str, Floats]:
    """Return the draws of each measure, moved by what its own pseudo-rows would do instead of those of all classes, and by its bend.

    Notes
    -----
    Each class has its pseudo-rows, so that its recall and precision are covered. In an average over K classes the shifts of all K
    add up, while the spread of an average falls: kappa of six classes was covered in 88 %. By the expansion of Cornish and Fisher the
    shift that makes an interval equal-tailed is proportional to the third cumulant over the second; with slopes g and rows m
    of the cells, PRIOR sum g^3 m / sum g^2 m. For a recall or a precision this is the very shift of its own pseudo-rows.

    A bent measure is on average off by half its curvature times the variance: the observed value from the truth, and the draws from
    the observed value once more. Over many classes this adds up, too: macro F of twenty was covered in 90 %, and 9 of the 10 misses were
    on one side. So the draws are moved back twice by their mean less the measure of their mean.
    """
    counts = counts_of(evidence)
    if len(counts.classes) > MOST_CLASSES:
        return drawn
    scale = cell_scale(evidence)
    smooth = counts.matrix + prior_for(counts) * scale
    observed, start = measures(counts.matrix), measures(smooth)
    rows = (smooth / scale).ravel()
    slopes_of = slopes(measures, smooth, scale, start)
    moved = {}
    for name, draws in drawn.items():
        slope = slopes_of[name]
        own = PRIOR * np.nan_to_num(ratio(rows @ slope**3, rows @ slope**2))
        bent = draws.reshape(len(draws), -1).mean(axis=0) - start[name].ravel()
        shift = own - (start[name] - observed[name]).ravel() - 2 * bent
        number = NUMBERS["average_cost"] if name in unbounded else NUMBERS.get(name, Number(None))
        moved[name] = np.clip(draws + np.nan_to_num(shift).reshape(draws.shape[1:]), number.low, number.high)
    return moved


def slopes(measures: Measures, smooth: Floats, scale: Floats, start: dict[str, Floats]) -> dict[str, Floats]:
    """Return the slope of each measure in the effective rows of each cell, of shape (K * K, numbers)."""
    cells, step = smooth.size, STEP * float((smooth / scale).sum())
    at_once = max(1, CELLS_AT_ONCE // cells)
    parts: list[dict[str, Floats]] = []
    for first in range(0, cells, at_once):
        size = min(at_once, cells - first)
        stack = np.repeat(smooth.reshape(1, cells), size, axis=0)
        stack[np.arange(size), first + np.arange(size)] += step * scale.ravel()[first : first + size]
        parts.append(measures(stack.reshape(size, *smooth.shape)))
    return {
        name: (np.concatenate([part[name].reshape(len(part[name]), -1) for part in parts]) - value.reshape(1, -1))
        / step
        for name, value in start.items()
    }
