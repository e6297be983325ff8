"""The page of a report: one file with its own script, style and evidence, under a strict content security policy."""

from __future__ import annotations

import base64
import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import jinja2
import msgspec
import numpy as np
from markupsafe import Markup

from compromis.errors import InputError
from compromis.evaluation.render.html import environment
from compromis.evaluation.render.json import running_version
from compromis.evaluation.render.text import worth_showing
from compromis.evidence.counts import Counts
from compromis.evidence.votes import Votes
from compromis.reports.panel.document import panel_document
from compromis.reports.panel.widget import panel_assets
from compromis.reports.pictures import curve_pictures, sweep_picture, vote_pictures
from compromis.reports.result import Report

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
_HERE = Path(__file__).parent
_UNSAFE = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def render_page(report: Report) -> str:
    """Return the page of a report as HTML."""
    script, style = _assets()
    evaluation, verdict = report.evaluation, report.evaluation.verdict
    matrix = evaluation.counts.matrix.tolist()
    panel, refused = _panel(report)
    return _template().render(
        report=report,
        evaluation=evaluation,
        matrix=matrix,
        support=evaluation.counts.support.tolist(),
        baselines=worth_showing(verdict) if verdict else [],
        preferences=report.preferences.describe().split("\n"),
        refused=refused,
        distributions=list(vote_pictures(report)),
        curves=list(curve_pictures(report)),
        sweep=None if report.sweep is None else sweep_picture(report.sweep),
        versions=versions(),
        fingerprint=fingerprint(evaluation.counts, report.votes),
        policy=_policy(script, style),
        script=Markup(script),  # noqa: S704  our own file
        style=Markup(style),  # noqa: S704
        content=embedded({"matrix": matrix, "panel": panel}),
    )


def embedded(content: Any) -> Markup:
    """Return plain values as JSON for a script element: nothing in it ends the element or a line."""
    return Markup(msgspec.json.encode(content).decode().translate(_UNSAFE))  # noqa: S704  escaped just here


@cache
def _template() -> jinja2.Template:
    return environment().from_string((_HERE / "report.html").read_text("utf-8"))


def _assets() -> tuple[str, str]:
    script, style = panel_assets()
    start = (_HERE / "panel" / "js" / "report.js").read_text("utf-8")
    return script + start, style + (_HERE / "report.css").read_text("utf-8")


def _policy(script: str, style: str) -> str:
    def source(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    return (
        f"default-src 'none'; script-src {source(script)}; style-src {source(style)}; "
        "base-uri 'none'; form-action 'none'; img-src data:"
    )


def _panel(report: Report) -> tuple[dict[str, Any] | None, str | None]:
    """Return the panel's document, or why there is none."""
    if report.votes is None:
        return None, "no votes or probabilities were given (y_proba=), so there is nothing to weigh"
    before = report.evaluation.counts
    try:
        return panel_document(
            report.votes, report.preferences, report.weights, smoothing=report.smoothing, before=before
        ), None
    except InputError as error:
        return None, str(error)


def versions() -> dict[str, str]:
    """Return the versions of Python and of what the numbers rest on."""
    known = {"compromis": running_version(), "python": platform.python_version()}
    for name in PACKAGES:
        try:
            known[name] = version(name)
        except PackageNotFoundError:
            continue
    return known


def fingerprint(counts: Counts, patterns: Votes | None) -> str:
    """Return a hash of the evidence, the same for the same rows in any order."""
    digest = hashlib.sha256(repr(counts.classes).encode())
    digest.update(np.ascontiguousarray(counts.matrix).tobytes())
    if patterns is not None:
        votes = patterns.dense()
        order = np.lexsort([*votes.T, patterns.truth])
        for part in (votes[order], patterns.truth[order], patterns.multiplicity[order]):
            digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:16]
