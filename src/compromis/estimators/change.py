"""What tuning changed for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from compromis._text import shown_label
from compromis._typing import Flags, Floats
from compromis.evidence.counts import Counts
from compromis.measures.rates import precision, recall, weighted_average
from compromis.preferences import Preferences

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
    def priority(self) -> Flags:
        """Which classes matter most."""
        return self.preferences.on(self.after.classes, strict=False).priority

    def rows(self) -> list[tuple[str, float, float, float, float]]:
        """Return name, recall and precision before, recall and precision after: of each class, and of means weighted by class sizes."""
        rates = [rate(counts) for counts in (self.before, self.after) for rate in (recall, precision)]
        each = [(shown_label(label), *(float(rate[k]) for rate in rates)) for k, label in enumerate(self.after.classes)]
        means, priority = [("mean of all", np.ones(len(each), dtype=bool))], self.priority
        if priority.any():
            means = [("mean of those that matter", priority), ("mean of the others", ~priority), *means]
        return [*each, *((name, *(self._mean(rate, chosen) for rate in rates)) for name, chosen in means)]  # type: ignore[list-item]

    def __str__(self) -> str:
        rows, priority = self.rows(), self.priority
        width = max(5, *(len(name) for name, *_ in rows))
        lines = [
            f"{'':{width}}        before               after               change",
            f"{'class':{width}}   recall precision    recall precision    recall precision",
        ]
        for number, (name, *rates) in enumerate(rows):
            if number == len(priority):
                lines.append("")
            changes = [after - before for before, after in zip(rates[:2], rates[2:], strict=True)]
            cells = [*(_percent(rate) for rate in rates), *(_percent(change, "+") for change in changes)]
            mark = " *" if number < len(priority) and priority[number] else ""
            lines.append(f"{name:{width}} {cells[0]:>8}" + "".join(f"{cell:>10}" for cell in cells[1:]) + mark)
        if priority.any():
            lines.append("\n* matters most; means are weighted by class sizes; figures in per cent")
        return "\n".join(lines) + "\n"

    def _mean(self, rate: Floats, chosen: Flags) -> float:
        return weighted_average(np.where(chosen, rate, np.nan), self.after)


def _percent(share: float, sign: str = "") -> str:
    return "?" if np.isnan(share) else f"{100 * share:{sign}.1f}"
