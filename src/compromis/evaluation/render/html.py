"""The evaluation as HTML for notebooks, by templates shared with the report; everything from the user passes through autoescape."""

from __future__ import annotations

import math
from dataclasses import fields
from functools import cache
from typing import Any

import jinja2

from compromis._arrays import make_frame
from compromis._text import shown_label
from compromis.evaluation.evaluate import ClassSummary, Evaluation
from compromis.evaluation.render.text import bounds
from compromis.reports.panel.widget import panel_assets


def to_fragment(evaluation: Evaluation) -> str:
    """Return a small self-contained piece of HTML, without scripts."""
    counts = evaluation.counts
    return (
        environment()
        .get_template("fragment.html")
        .render(
            evaluation=evaluation,
            matrix=counts.matrix.tolist(),
            support=counts.support.tolist(),
            style=panel_assets()[1],
        )
    )


@cache
def environment() -> jinja2.Environment:
    """Return the templates with their filters."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("compromis.evaluation.render"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["rate"] = lambda value: "?" if math.isnan(value) else f"{value:.3f}"
    made.filters["percent"] = lambda value: "?" if math.isnan(value) else f"{100 * value:.1f}"
    made.filters["number"] = lambda value: "?" if value is None or math.isnan(value) else f"{value:.5g}"
    made.filters["count"] = lambda value: f"{value:,.0f}" if value == round(value) else f"{value:,.2f}"
    made.filters["label"] = shown_label
    made.filters["bounds"] = bounds
    made.filters["width"] = lambda value: "0" if math.isnan(value) else f"{100 * value:.1f}"
    made.filters["shade"] = shade
    made.filters["sentence"] = lambda text: text[:1].upper() + text[1:]
    return made


def shade(cell: Any, total: Any) -> int:
    """Return how dark a cell is, from 0 to 10, by its share of the row."""
    return 0 if cell <= 0 else max(1, min(10, math.ceil(10 * cell / total)))


def to_frame(evaluation: Evaluation, backend: str | None) -> Any:
    """Return one row per class, one column per number."""
    rows = evaluation.per_class.values()
    return make_frame(
        {field.name: [getattr(row, field.name) for row in rows] for field in fields(ClassSummary)}, backend
    )
