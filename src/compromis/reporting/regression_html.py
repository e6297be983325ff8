"""The evaluation of predicted numbers as HTML for notebooks. Everything from the user passes through autoescape."""

from __future__ import annotations

import math
from functools import cache

import jinja2

from compromis.reporting.regression import RegressionEvaluation


def to_fragment(evaluation: RegressionEvaluation) -> str:
    """Return a small self-contained piece of HTML, without scripts."""
    return _environment().get_template("regression.html").render(evaluation=evaluation)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("compromis.reporting"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["number"] = lambda value: "?" if value is None or math.isnan(value) else f"{value:.5g}"
    return environment
