"""Names of a fitted estimator's columns and classes, for text and diagrams."""

from __future__ import annotations

from typing import Any

from compromis.estimators.growing import whole
from compromis.trees.text import Wording


def wording_of(estimator: Any) -> Wording:
    """Names as the estimator has them."""
    names = [column.name for column in estimator.columns_]
    categories = [column.categories for column in estimator.columns_]
    return Wording(names, categories, estimator.classes_.tolist(), estimator.binning_)


def depth_shown(max_depth: int | None, unlimited: int) -> int:
    """How deep to show a tree."""
    return unlimited if max_depth is None else whole("max_depth", max_depth, 0)
