"""How much too good a loss looks on the rows on which the decision weights were chosen."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from compromis.errors import OptimismWarning

WORTH_SAYING = 0.01
"""Optimism below this share of the loss's range is not worth a warning."""


def chosen_loss(estimator: Any) -> float:
    """Return the loss on the rows on which a fitted estimator chose its weights; NaN if it chose none.

    Looks at ``search_.loss``, also of the last step of a pipeline and of the best estimator of a search.
    """
    inner = getattr(estimator, "best_estimator_", estimator)
    steps = getattr(inner, "steps", None)
    last = steps[-1][1] if steps else inner
    search = getattr(last, "search_", None)
    loss = getattr(search, "loss", None)
    return math.nan if loss is None else float(loss)


def warn_of_optimism(chosen: Sequence[float], validated: Sequence[float | None]) -> float:
    """Return by how much the loss looks too good where the weights were chosen, and warn where it is worth saying.

    Parameters
    ----------
    chosen : sequence of float
        Each fold's loss on the rows on which its weights were chosen; NaN where none were.
    validated : sequence of float or None
        Each fold's loss on unseen rows; None without preferences.
    """
    pairs = [(before, after) for before, after in zip(chosen, validated, strict=True) if after is not None]
    known = [pair for pair in pairs if not math.isnan(sum(pair))]
    if not known:
        return math.nan
    before, after = (sum(part) / len(known) for part in zip(*known, strict=True))
    gap = float(after - before)
    if gap >= WORTH_SAYING:
        warnings.warn(
            f"the loss on the rows on which the weights were chosen is {before:.4f}, on unseen rows {after:.4f}: "
            f"it looks better by {gap:.4f} than it is; report the cross-validated loss",
            OptimismWarning,
            stacklevel=3,
        )
    return gap
