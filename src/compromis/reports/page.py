"""The page of a report: one file with its own script, style and evidence, which a strict policy lets do nothing else."""

from __future__ import annotations

import base64
import hashlib
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from markupsafe import Markup

from compromis.errors import InputError
from compromis.evaluation.render.html import environment
from compromis.evaluation.render.text import worth_showing
from compromis.evidence.counts import Counts
from compromis.evidence.votes import Votes
from compromis.measures import rates
from compromis.reports.panel import panel_assets, panel_document
from compromis.reports.pictures import ClassCuts, SweepPicture, curve_pictures, sweep_picture, vote_pictures
from compromis.reports.result import Report, can_be_tuned, weights_change
from compromis.weights.decision import Decision

MOST_PICTURES = 40
"""Classes with pictures of their own; of more, the important and the frequent ones."""
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
_HERE = Path(__file__).parent
_UNSAFE = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def render_page(report: Report) -> str:
    """Return the page of a report as HTML."""
    script, style = _assets()
    evaluation = report.evaluation
    panel, refused = _panel(report)
    content = {"matrix": evaluation.counts.matrix.tolist(), "panel": panel}
    return (
        environment()
        .get_template("report.html")
        .render(
            report=report,
            evaluation=evaluation,
            matrix=evaluation.counts.matrix.tolist(),
            support=evaluation.counts.support.tolist(),
            policy=_policy(script, style),
            script=Markup(script),  # noqa: S704  our own file
            style=Markup(style),  # noqa: S704
            content=embedded(content),
            refused=refused,
            pictures=_pictures(report),
            changes=None if report.votes is None else weights_change(report),
            baselines=worth_showing(evaluation.verdict) if evaluation.verdict else [],
            versions=versions(),
            fingerprint=fingerprint(evaluation.counts, report.votes),
            preferences=report.preferences.describe().split("\n"),
        )
    )


def embedded(content: Any) -> Markup:
    """Return plain values as JSON that can stand inside a script element: nothing in it ends the element or a line."""
    return Markup(msgspec.json.encode(content).decode().translate(_UNSAFE))  # noqa: S704  escaped just here


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
    try:
        document = panel_document(
            report.votes,
            report.preferences,
            report.weights,
            smoothing=report.smoothing,
            before=report.evaluation.counts,
        )
    except InputError as error:
        return None, str(error)
    return document, None


def _pictures(report: Report) -> dict[str, Any] | None:
    if report.votes is None or report.weights is None:
        return None
    votes = report.votes
    arrays = report.preferences.on(votes.classes)
    order = np.lexsort([-np.asarray(votes.support, dtype=np.float64), -arrays.importance])
    places = sorted(order[:MOST_PICTURES].tolist())
    counts = votes.counts(report.weights, smoothing=report.smoothing)
    named = {
        "precision": rates.precision(counts),
        "recall": rates.recall(counts),
        "false_positive_rate": rates.false_positive_rate(counts),
    }
    cuts = ClassCuts(votes, report.weights, report.smoothing)
    return {
        "votes": list(vote_pictures(votes, places)),
        "curves": list(curve_pictures(cuts, named, (arrays.metric, arrays.recall_weight), votes.classes, places)),
        "sweep": _sweep(report, order.tolist()),
        "left_out": len(votes.classes) - len(places),
        "metric": arrays.metric.name,
    }


def _sweep(report: Report, order: list[int]) -> SweepPicture | None:
    """Return the sweep of the most important class that occurs; None where there is nothing to trade."""
    assert report.votes is not None
    assert report.weights is not None
    present = report.votes.support > 0
    if not can_be_tuned(report.preferences, report.votes):
        return None
    chosen = next(k for k in order if present[k])
    decision = Decision(report.votes.classes, report.weights, report.smoothing)
    return sweep_picture(report.votes, report.preferences, decision, chosen)


def versions() -> dict[str, str]:
    """Return the versions of Python and of what the numbers rest on."""
    known = {"compromis": sys.modules["compromis"].__version__, "python": platform.python_version()}
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
