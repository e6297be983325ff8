"""The intervals of every number of a classification report, from its counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats, Label
from compromis.evidence.counts import Counts
from compromis.measures.rates import ratio
from compromis.preferences import PreferenceArrays
from compromis.uncertainty import stacked
from compromis.uncertainty.centring import centre
from compromis.uncertainty.drawing import DRAWS, SEED, Evidence, counts_of, draw_counts
from compromis.uncertainty.interval import Interval, from_draws, read_confidence
from compromis.uncertainty.sizes import effective_sizes, share_parts
from compromis.uncertainty.wilson import wilson_bounds

Intervals = Mapping[str, Interval]


@dataclass(frozen=True, slots=True, eq=False)
class ReportIntervals:
    """The intervals of a report, by the names its numbers have there.

    Attributes
    ----------
    confidence : float
        How often such intervals hold the true value.
    summary : mapping of name to Interval
        Those of the whole; the averages are called macro_recall, weighted_precision and so on.
    per_class : mapping of label to mapping of name to Interval
        Those of each class.
    draws : int
        The draws behind the intervals that have no formula.
    """

    confidence: float
    summary: Intervals
    per_class: Mapping[Label, Intervals]
    draws: int

    def with_roc_areas(self, areas: Mapping[Label, Interval]) -> ReportIntervals:
        """Return the same with other intervals of the areas under the ROC curves: those of scores instead of decisions."""
        per_class = {
            label: MappingProxyType({**intervals, "roc_area": areas[label]})
            for label, intervals in self.per_class.items()
        }
        return ReportIntervals(self.confidence, self.summary, MappingProxyType(per_class), self.draws)


def report_intervals(
    evidence: Evidence,
    *,
    arrays: PreferenceArrays | None = None,
    cost: Floats | None = None,
    confidence: float = 0.95,
    draws: int = DRAWS,
    random_state: int = SEED,
) -> ReportIntervals:
    """Return the intervals of every rate (Wilson) and of every other number (draws on the counts).

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.uncertainty.intervals import report_intervals
    >>> report = report_intervals(cp.Counts.from_matrix([[8, 2], [12, 978]], ["sick", "well"]))
    >>> print(report.per_class["sick"]["recall"])
    0.800 (0.490 to 0.943)
    """
    level, counts = read_confidence(confidence), counts_of(evidence)

    def measures(matrix: NDArray[Any]) -> dict[str, Floats]:
        return _numbers(matrix, counts, arrays, cost)

    observed = measures(counts.matrix[np.newaxis])
    parts = [measures(matrix) for matrix in draw_counts(evidence, draws, random_state)]
    drawn = centre(evidence, measures, {name: np.concatenate([part[name] for part in parts]) for name in observed})
    intervals = {name: from_draws(observed[name], drawn[name], level) for name in observed}
    for name, bounds in _shares(evidence, level).items():
        pairs = zip(observed[name].ravel().tolist(), *(bound.tolist() for bound in bounds), strict=True)
        intervals[name] = [Interval(*numbers) for numbers in pairs]
    per_class = {
        label: MappingProxyType(
            {name.removeprefix("class_"): one[k] for name, one in intervals.items() if name.startswith("class_")}
        )
        for k, label in enumerate(counts.classes)
    }
    whole = {name: one[0] for name, one in intervals.items() if not name.startswith("class_")}
    return ReportIntervals(level, MappingProxyType(whole), MappingProxyType(per_class), draws)


def _numbers(
    matrix: NDArray[np.generic], counts: Counts, arrays: PreferenceArrays | None, cost: Floats | None
) -> dict[str, Floats]:
    """Return every number for each matrix of a stack; those of classes are named class_..."""
    stack = stacked.Stack.of(matrix, counts.support > 0)
    rates = stacked.class_rates(stack)
    named = {f"class_{name}": values for name, values in rates.items()} | stacked.summaries(stack, rates)
    if arrays is not None:
        named["class_loss"] = stacked.class_losses(stack, arrays, rates)
        named["loss"] = stacked.losses(named["class_loss"], arrays)
    if cost is not None:
        named["average_cost"] = stacked.average_costs(stack, cost)
    return named


def _shares(evidence: Evidence, confidence: float) -> dict[str, tuple[Floats, Floats]]:
    """Return Wilson's bounds of every share of rows."""
    parts = share_parts(counts_of(evidence).matrix)
    sizes = effective_sizes(evidence, confidence)
    return {name: wilson_bounds(ratio(above, below), sizes[name], confidence) for name, (above, below) in parts.items()}
