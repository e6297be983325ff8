"""The evaluation as HTML for notebooks. Everything from the user passes through autoescape."""

from __future__ import annotations

import math
from functools import cache

import jinja2

from compromis.reporting.evaluation import Evaluation


def to_fragment(evaluation: Evaluation) -> str:
    """Return a small self-contained piece of HTML, without scripts."""
    return (
        _environment()
        .get_template("fragment.html")
        .render(evaluation=evaluation, matrix=evaluation.counts.matrix.tolist())
    )


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("compromis.reporting"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["rate"] = lambda value: "?" if math.isnan(value) else f"{value:.3f}"
    environment.filters["percent"] = lambda value: "?" if math.isnan(value) else f"{100 * value:.1f}"
    environment.filters["count"] = lambda value: f"{value:,.0f}" if value == round(value) else f"{value:,.2f}"
    return environment
