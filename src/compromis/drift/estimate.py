"""Estimated class shares, with their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Label
from compromis.errors import shown_label
from compromis.frames import make_frame
from compromis.uncertainty.interval import Interval


@dataclass(frozen=True, slots=True, eq=False)
class PrevalenceEstimate:
    """The class shares of rows without labels, estimated under the assumption that only the shares have changed.

    Attributes
    ----------
    method : str
        ``"em"`` or ``"confusion"``.
    classes : tuple
        The classes.
    intervals : tuple of Interval
        The share of each class with its bounds.
    confidence : float
        The confidence of the bounds.
    rows : int
        The rows it was estimated from.
    plausible : bool
        False where no class shares explain the rows: something else than the shares has changed.

    Examples
    --------
    >>> import compromis as cp
    >>> labelled = cp.Counts.from_matrix([[90, 10], [4, 16]], ["healthy", "sick"])
    >>> found = cp.prevalence_by_confusion(["healthy"] * 62 + ["sick"] * 38, reference=labelled)
    >>> found.shares.round(2).tolist(), found.rows  # 0.1 x 0.6 + 0.8 x 0.4 = 0.38
    ([0.6, 0.4], 100)
    """

    method: str
    classes: tuple[Label, ...]
    intervals: tuple[Interval, ...]
    confidence: float
    rows: int
    plausible: bool = True

    @property
    def shares(self) -> NDArray[np.float64]:
        """The shares, in the order of the classes; they sum to 1."""
        return np.array([one.value for one in self.intervals])

    @property
    def by_class(self) -> Mapping[Label, Interval]:
        """The share of each class with its bounds, by label."""
        return MappingProxyType(dict(zip(self.classes, self.intervals, strict=True)))

    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row per class as a data frame of pandas, polars or pyarrow."""
        names = ("value", "low", "high")
        columns: dict[str, Any] = {"label": list(self.classes)}
        columns |= {name.replace("value", "share"): [getattr(one, name) for one in self.intervals] for name in names}
        return make_frame(columns, backend)

    def __str__(self) -> str:
        how = {"em": "expectation maximisation", "confusion": "inversion of the confusion matrix"}[self.method]
        lines = [f"class shares of {self.rows:,} rows by {how} ({100 * self.confidence:g} % confidence):"]
        lines += [
            f"  {shown_label(label)} {100 * one.value:.2f} % ({100 * one.low:.2f} to {100 * one.high:.2f})"
            for label, one in self.by_class.items()
        ]
        if not self.plausible:
            lines.append(
                "  no class shares explain these rows: more than the shares has changed; label a sample of them"
            )
        return "\n".join(lines)
