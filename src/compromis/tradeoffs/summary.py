"""The trade-offs that scores offer, in words: intervals of recall weights with their cuts, comparison and areas."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import msgspec
from numpy.typing import ArrayLike

from compromis._text import shown_label
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.metrics import Metric
from compromis.tradeoffs.comparison import Comparison, check_algorithms, compare_curves, meeting
from compromis.tradeoffs.curve import TradeoffCurve
from compromis.tradeoffs.space import domain_of_application

SCHEMA = "compromis/tradeoff"
VERSION = 1
"""Raised when a field changes its meaning or goes; new fields leave it alone."""


@dataclass(frozen=True, slots=True, eq=False)
class TradeoffReport:
    """What models offer for one positive class over all recall weights; ``str()`` is the text.

    Attributes
    ----------
    comparison : Comparison
        The optimal trade-off curves and who is best where; of points that meet the minima, where there are any.
    min_precision, min_recall : float or None
        The least precision and recall accepted.
    left_out : dict
        The models without a point that meets the minima, and why.
    """

    comparison: Comparison
    min_precision: float | None
    min_recall: float | None
    left_out: dict[str, str]

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_scores: Mapping[str, ArrayLike],
        *,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        **options: Any,
    ) -> TradeoffReport:
        """Return the report of scores by name; the options are those of `from_points`.

        Examples
        --------
        >>> from compromis.tradeoffs.summary import TradeoffReport
        >>> scores = {"a": [0.9, 0.8, 0.6, 0.4, 0.3, 0.1]}
        >>> print(TradeoffReport.from_predictions([1, 0, 1, 1, 0, 0], scores, metric="f"))
        metric f for 1: 3 of 6 rows are positive (50.0 %)
        <BLANKLINE>
        a (area 0.8796, better than deciding everything positive for recall weights from 0 to 1)
        recall weight         cut               precision  recall
        0.0000 to 0.1429   score >= 0.9         1.0000  0.3333
        0.1429 to 1.0000   score >= 0.4         0.7500  1.0000
        """
        points = {
            name: OperatingPoints.from_predictions(y_true, score, pos_label=pos_label, sample_weight=sample_weight)
            for name, score in y_scores.items()
        }
        return cls.from_points(points, **options)

    @classmethod
    def from_points(
        cls,
        points: Mapping[str, OperatingPoints],
        *,
        metric: str | Metric = "kulczynski",
        min_precision: float | None = None,
        min_recall: float | None = None,
    ) -> TradeoffReport:
        """Return the report of operating points by name; models that cannot meet the minima are left out with the reason."""
        check_algorithms(points, "TradeoffReport")
        feasible, left_out = {}, {}
        for name, one in points.items():
            try:
                feasible[name] = meeting(one, min_precision=min_precision, min_recall=min_recall)
            except InputError as error:
                if not one.positives:
                    raise
                left_out[name] = str(error)
        if not feasible:
            raise InputError("; ".join(f"{name}: {reason}" for name, reason in left_out.items()))
        return cls(compare_curves(feasible, metric), min_precision, min_recall, left_out)

    @property
    def _points(self) -> OperatingPoints:
        return next(iter(self.comparison.curves.values())).points

    def domain(self, name: str) -> tuple[tuple[float, float], ...]:
        """Return the recall weights for which the model is better than deciding everything positive."""
        return domain_of_application(self.comparison.curves[name].points, self.comparison.metric)

    def to_json(self) -> str:
        """Return the report as JSON of a versioned schema; undefined numbers are null."""
        points = self._points
        document = {
            "schema": SCHEMA,
            "version": VERSION,
            "metric": self.comparison.metric.name,
            "pos_label": points.pos_label,
            "positives": points.positives,
            "negatives": points.negatives,
            "min_precision": self.min_precision,
            "min_recall": self.min_recall,
            "models": [self._model(name, curve) for name, curve in self.comparison.curves.items()],
            "left_out": self.left_out,
            "best": [asdict(part) for part in self.comparison.intervals],
            "verdict": self.comparison.verdict,
        }
        return msgspec.json.format(msgspec.json.encode(_plain(document)), indent=2).decode()

    def _model(self, name: str, curve: TradeoffCurve) -> dict[str, Any]:
        intervals = [asdict(part) for part in curve.intervals]
        return {"name": name, "area": curve.area(), "domain": self.domain(name), "intervals": intervals}

    def __str__(self) -> str:
        points = self._points
        total = points.positives + points.negatives
        share = f"{points.positives:,} of {total:,} rows are positive ({100 * points.prevalence:.1f} %)"
        lines = [f"metric {self.comparison.metric.name} for {shown_label(points.pos_label)}: {share}"]
        lines += [self._minima()] if self._minima() else []
        for name, curve in self.comparison.curves.items():
            table = str(curve).splitlines()[1:]
            lines += ["", f"{shown_label(name)} (area {curve.area():.4f}, {self._domain_in_words(name)})", *table]
        lines += [f"\n{shown_label(name)} is left out: {reason}" for name, reason in self.left_out.items()]
        if len(self.comparison.curves) > 1:
            lines += ["", str(self.comparison)]
        return "\n".join(lines)

    def _minima(self) -> str:
        least = {"precision": self.min_precision, "recall": self.min_recall}
        given = [f"{name} at least {minimum:g}" for name, minimum in least.items() if minimum]
        return f"only cuts with {' and '.join(given)}" if given else ""

    def _domain_in_words(self, name: str) -> str:
        spans = " and ".join(f"from {low:.3g} to {high:.3g}" for low, high in self.domain(name))
        what = "better than deciding everything positive"
        return f"{what} for recall weights {spans}" if spans else f"nowhere {what}"


def _plain(value: Any) -> Any:
    """JSON has no NaN and no infinity: they become null."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
