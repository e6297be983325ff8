"""Results as HTML for notebooks, by templates shared with the report; everything from the user passes through autoescape."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from compromis._text import bounds, capitalised, count, fixed, shown_label


def render(template: str, result: Any) -> str:
    """Return a small self-contained piece of HTML, without scripts."""
    return environment().get_template(template).render(result=result, style=shared_style())


@cache
def shared_style() -> str:
    """Return the CSS that fragments, report and panel share."""
    return (Path(__file__).parent / "style.css").read_text("utf-8")


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
    made.filters |= {
        "rate": fixed,
        "percent": lambda value: fixed(100 * value, 1),
        "count": count,
        "label": shown_label,
        "bounds": bounds,
        "width": lambda value: "0" if math.isnan(value) else f"{100 * value:.1f}",
        "shade": _shade,
        "sentence": capitalised,
    }
    return made


def _shade(cell: float, total: float) -> int:
    """Return how dark a cell is, from 0 to 10, by its share of the row."""
    return 0 if cell <= 0 else max(1, min(10, math.ceil(10 * cell / total)))
