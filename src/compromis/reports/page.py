"""A report and its page: pictures as SVG, the panel's document, and the template."""

from __future__ import annotations

import base64
import hashlib
import html
import os
import platform
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import msgspec
import numpy as np
from markupsafe import Markup

from compromis._files import write_whole
from compromis._results import environment, running_version
from compromis._text import short_names
from compromis._typing import Floats, Label
from compromis.errors import InputError
from compromis.evaluation.evaluate import Evaluation
from compromis.evidence.counts import Counts
from compromis.evidence.vote_distribution import VoteDistribution
from compromis.evidence.votes import Votes
from compromis.measures.rates import largest_confusions
from compromis.preferences import Preferences
from compromis.reports.panel.document import panel_document
from compromis.reports.panel.widget import panel_assets
from compromis.tradeoffs import TradeoffCurve
from compromis.weights import WeightSearch, WeightSweep
from compromis.weights.review import Reviewed

WIDTH, HEIGHT = 150.0, 100.0
"""The size of a plane in its own units."""
_GRID = np.linspace(0.0, 1.0, 41)


@dataclass(frozen=True, eq=False, kw_only=True)
class Report:
    """An evaluation with its votes and weights as one HTML page; made by `compromis.report`.

    Examples
    --------
    >>> import compromis as cp
    >>> page = cp.report(cp.evaluate(["bad", "good", "good"], ["bad", "bad", "good"]), title="Three parts")
    >>> "Three parts" in page.html
    True
    """

    evaluation: Evaluation
    title: str
    decision: str = ""
    command: str | None = None
    seed: int = 0
    votes: Votes | None = None
    """The votes, equal patterns merged: with them the page has curves, distributions and sliders."""
    weights: Floats | None = None
    """The weights of the decision, equal ones where none were given: what the curves are drawn around."""
    smoothing: float = 0.0
    weighed: bool = True
    """Whether they are what predicted: else the predictions were given without weights."""
    search: WeightSearch | None = None
    """What tuning on these rows would find, where the highest score predicts."""
    tuned: Evaluation | None = None
    """What those weights reach on these rows."""
    distributions: tuple[VoteDistribution, ...] = ()
    """How the votes for each class are distributed; of at most 40 classes, the important and frequent ones."""
    curves: tuple[TradeoffCurve, ...] = ()
    """The same classes as their weight grows and the other weights stay."""
    sweep: WeightSweep | None = None
    """What the weight of the most important class does."""
    reviewed: Reviewed | None = None
    """What a person looks at, where the decision has a review, and what that is worth."""

    @cached_property
    def html(self) -> str:
        """The page."""
        return _render(self)

    def save(self, path: str | os.PathLike[str] | None) -> str:
        """Return the page; with `path`, write it there too."""
        if path is not None:
            write_whole(path, self.html)
        return self.html

    @property
    def preferences(self) -> Preferences:
        """The preferences of the evaluation; every class alike where it has none."""
        return self.evaluation.preferences or Preferences()

    def __str__(self) -> str:
        return str(self.evaluation)

    def _repr_html_(self) -> str:
        page, told = html.escape(self.html, quote=True), html.escape(str(self.evaluation.headline))
        return (
            f"<p>{told}</p>"  # all that is left where pages inside pages are not shown, as on GitHub
            f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" title="Report" '
            f'width="100%" height="760" frameborder="0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<Report {self.title!r} of {self.evaluation!r}>"


class Line(NamedTuple):
    """A path with its CSS classes, what its height is called, and how many rows its full height is (0: a share)."""

    kind: str
    path: str
    name: str = ""
    rows: float = 0.0


class Plane(NamedTuple):
    """Paths in the unit square, each with its CSS classes, and a marked point (None: undefined)."""

    paths: tuple[Line, ...]
    across: str
    point: tuple[float, float] | None = None
    chance: bool = False
    """Whether the diagonal is drawn."""
    ticks: tuple[str, str] = ("0", "1")
    """What stands at both ends of the axis."""


class Picture(NamedTuple):
    """The planes of one class, by their names."""

    label: Label
    planes: dict[str, Plane]
    note: str = ""


def _vote_picture(distribution: VoteDistribution) -> Picture:
    """Return how the votes for a class are distributed over its own rows and over all others."""
    k = distribution.classes.index(distribution.label)
    own, unvoted = distribution.rows[:, k], distribution.unvoted[k]
    others = distribution.rows.sum(axis=1) - own
    support = own.sum() + unvoted
    note = f"{100 * unvoted / support:.1f} % without a vote" if unvoted > 0.0005 * support else ""
    lines = (
        Line("cp-area cp-precision", _bars(others), "other rows", float(others.max())),
        Line("cp-area cp-recall", _bars(own), "rows of the class", float(own.max())),
    )
    plane = Plane(lines, "share of votes")
    return Picture(distribution.label, {"votes": plane}, note)


def _curve_picture(curve: TradeoffCurve, report: Report) -> Picture:
    """Return the trade-off, precision-recall and ROC curves of a class, with the point of the decision judged."""
    points, metric, label = curve.points, curve.metric, curve.points.pos_label
    now = report.evaluation.per_class[label]
    weight = report.preferences.of(label).recall_weight_for(metric)
    precision, recall = np.nan_to_num([now.precision, now.recall])
    fpr, tpr = (np.concatenate([[0.0], np.nan_to_num(rate), [1.0]]) for rate in (points.fpr, points.tpr))
    own, best = "cp-line cp-own-line", "cp-line cp-best-line"
    tradeoff = (
        Line(own, _path(_GRID, metric.value(precision, recall, _GRID)), "this result"),
        Line(best, _path(_GRID, np.nan_to_num(curve.value(_GRID))), "best value"),
    )
    pr = (Line(best, _path(points.recall, points.precision), "precision"),)
    value = float(metric.value(precision, recall, weight))
    return Picture(
        label,
        {
            "trade-off": Plane(tradeoff, "recall weight", _point(weight, value)),
            "precision-recall": Plane(pr, "recall", _point(now.recall, now.precision)),
            "ROC": Plane(
                (Line(best, _path(fpr, tpr), "recall"),),
                "false positive rate",
                _point(now.false_positive_rate, now.recall),
                chance=True,
            ),
        },
    )


def _sweep_picture(sweep: WeightSweep) -> Picture:
    """Return recall, precision and loss as the weight of a class grows; the point marks the loss of the given weights."""
    k = sweep.classes.index(sweep.label)
    x = np.linspace(0.0, 1.0, len(sweep.ratio))
    values = {"recall": sweep.recall[:, k], "precision": sweep.precision[:, k], "loss": sweep.loss}
    lines = tuple(Line(f"cp-line cp-{name}-line", _path(x, y), name) for name, y in values.items())
    point = _point(0.5, float(sweep.loss[len(x) // 2]))
    return Picture(sweep.label, {"sweep": Plane(lines, "weight", point, ticks=("÷100", "×100"))})


def _path(x: Floats, y: Floats) -> str:
    """Return the path through points of the unit square; undefined points and those of one pixel but the first are left out."""
    known = ~np.isnan(x + y)
    left, top = x[known] * WIDTH, (1 - y[known]) * HEIGHT
    cells = np.column_stack([np.rint(left), np.rint(top)])
    kept = np.ones(len(left), dtype=bool)
    kept[1:-1] = (cells[1:-1] != cells[:-2]).any(axis=1)
    corners = (f"{right:.1f},{down:.1f}" for right, down in zip(left[kept], top[kept], strict=True))
    return "M" + "L".join(corners) if kept.any() else ""


def _bars(rows: Floats) -> str:
    """Return the outline of bars, scaled to the highest."""
    if rows.max() <= 0:
        return ""
    edges = np.linspace(0.0, WIDTH, len(rows) + 1)
    tops = HEIGHT * (1 - rows / rows.max())
    corners = [
        f"L{left:.1f},{top:.1f}L{right:.1f},{top:.1f}"
        for left, right, top in zip(edges[:-1], edges[1:], tops, strict=True)
    ]
    return f"M0,{HEIGHT:g}" + "".join(corners) + f"L{WIDTH:g},{HEIGHT:g}Z"


def _point(x: float, y: float) -> tuple[float, float] | None:
    return None if np.isnan(x) or np.isnan(y) else (round(x * WIDTH, 1), round((1 - y) * HEIGHT, 1))


PACKAGES = ("numpy", "scipy", "scikit-learn")
_HERE = Path(__file__).parent
_UNSAFE = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def _render(report: Report) -> str:
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
        baselines=verdict.shown_baselines() if verdict else [],
        short=dict(zip(evaluation.counts.classes, short_names(evaluation.counts.classes), strict=True)),
        missed=lambda counts, k: (counts.support[k] - counts.matrix[k, k]).item(),
        alarms=lambda counts, k: (counts.predicted[k] - counts.matrix[k, k]).item(),
        confusions=_largest_confusions(evaluation.counts),
        preferences=report.preferences.describe().split("\n"),
        refused=refused,
        distributions=[_vote_picture(distribution) for distribution in report.distributions],
        curves=[_curve_picture(curve, report) for curve in report.curves],
        sweep=None if report.sweep is None else _sweep_picture(report.sweep),
        versions=_versions(),
        fingerprint=_fingerprint(evaluation.counts, report.votes),
        policy=_policy(script, style),
        script=Markup(script),  # noqa: S704  our own file
        style=Markup(style),  # noqa: S704
        content=embedded({"matrix": matrix, "panel": panel}),
    )


MOST_CONFUSIONS, WIDE = 15, 12
"""Confusions told one by one, where there are more classes than this."""


def _largest_confusions(counts: Counts) -> list[tuple[Label, Label, float, float]]:
    """Return true class, predicted class, rows and the share of the true class; none where the matrix is small enough to be read."""
    labels, wrong = counts.classes, counts.matrix
    if len(labels) <= WIDE:
        return []
    return [
        (labels[t], labels[p], float(wrong[t, p]), float(wrong[t, p] / counts.support[t]))
        for t, p in largest_confusions(counts, MOST_CONFUSIONS)
    ]


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
    if report.votes is None or report.weights is None:
        return (
            None,
            "no votes or probabilities were given (y_proba=, or --proba on the command line), so there is nothing to weigh",
        )
    before = report.evaluation.counts
    try:
        return panel_document(
            report.votes,
            report.preferences,
            report.weights if report.weighed or len(np.unique(report.weights)) > 1 else None,
            smoothing=report.smoothing,
            before=before,
            positive=report.evaluation.pos_label,
            follows=False,
        ), None
    except InputError as error:
        return None, str(error)


def _versions() -> dict[str, str]:
    """Return the versions of Python and of what the numbers rest on."""
    known = {"compromis": running_version(), "python": platform.python_version()}
    for name in PACKAGES:
        try:
            known[name] = version(name)
        except PackageNotFoundError:
            continue
    return known


def _fingerprint(counts: Counts, votes: Votes | None) -> str:
    """Return a hash of the evidence, the same for the same rows in any order."""
    digest = hashlib.sha256(repr(counts.classes).encode())
    digest.update(np.ascontiguousarray(counts.matrix).tobytes())
    if votes is not None:
        dense = votes.dense()
        order = np.lexsort([*dense.T, votes.truth])
        for part in (dense[order], votes.truth[order], votes.multiplicity[order]):
            digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:16]
