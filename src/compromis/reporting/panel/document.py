"""What the panel needs to know, as one JSON document: classes, preferences, weights and vote patterns; no rows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis._typing import Label
from compromis.errors import InputError, shown_label
from compromis.evidence import Counts
from compromis.evidence.votes import Votes, read_class_weights
from compromis.metrics import METRICS
from compromis.preferences import Preference, Preferences
from compromis.reporting.panel.binning import RUNGS, Binning, binned
from compromis.reporting.panel.packing import least_size, pack_patterns, packed_size

SCHEMA = "compromis/panel"
VERSION = 1
MOST_BYTES = 600_000
MOST_PATTERNS = 25_000


def panel_document(
    patterns: Votes,
    preferences: Preferences | None = None,
    weights: ArrayLike | None = None,
    *,
    smoothing: float = 0.0,
    before: Counts | None = None,
    remote: bool = False,
    most_bytes: int = MOST_BYTES,
) -> dict[str, Any]:
    """Return the document that ``mountPanel`` of the panel's script shows, ready for JSON.

    Parameters
    ----------
    patterns : Votes
        The votes with their true classes.
    preferences : Preferences, optional
        What matters at first; without it every class alike.
    weights : array-like of shape (K,), optional
        The weights at first; equal ones without it.
    smoothing : float
        What is added to every vote.
    before : Counts, optional
        Decisions to compare with; those of equal weights without it.
    remote : bool
        Whether weights are searched outside the page: the page then shows what ``options.retune`` returns, and draws
        curves from the patterns held here, which may be binned.
    most_bytes : int
        The size from which on votes are binned.

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.reporting.panel import panel_document
    >>> patterns = cp.Votes.from_proba(["a", "a", "b"], [[3, 1], [3, 1], [0, 4]])
    >>> document = panel_document(patterns, cp.Preferences.prioritise(["b"]))
    >>> document["rows"], document["evidence"]["patterns"], document["binning"]
    (3, 2, None)
    """
    if not isinstance(patterns, Votes):
        raise InputError(f"patterns are compromis.Votes, got {type(patterns).__name__}; use from_proba")
    preferences = Preferences() if preferences is None else preferences
    if METRICS.get(preferences.metric.name) is not preferences.metric:
        raise InputError(
            f"the metric {preferences.metric.name!r} is your own code, which a page cannot run; choose one of {', '.join(METRICS)}"
        )
    preferences.on(patterns.classes)
    places = len(patterns.classes)
    used = np.ones(places) if weights is None else read_class_weights(weights, places)
    packed, binning = _fitting(patterns, smoothing, most_bytes)
    counts = patterns.counts(np.ones(places), smoothing=smoothing) if before is None else before
    exact = patterns.counts(used, smoothing=smoothing)
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "classes": [_label(label) for label in patterns.classes],
        "preferences": {
            "metric": preferences.metric.name,
            "classes": [_answers(preferences.of(label)) for label in patterns.classes],
        },
        "weights": used.tolist(),
        "smoothing": smoothing,
        "rows": patterns.rows,
        "left_out": patterns.left_out,
        "before": counts.matrix.tolist(),
        "counts": exact.matrix.tolist(),
        "evidence": packed | {"smoothed": binning is not None},
        "binning": None if binning is None else binning.sentence,
        "remote": remote,
    }


def _fitting(patterns: Votes, smoothing: float, most_bytes: int) -> tuple[dict[str, Any], Binning | None]:
    """Return packed patterns that fit into the page: as they are, or binned as finely as fits."""
    kept, binning, rungs = patterns.merge(), None, iter(RUNGS)
    merged = kept
    while True:
        if len(kept) <= MOST_PATTERNS and least_size(kept) <= most_bytes:
            packed = pack_patterns(kept)
            if packed_size(packed) <= most_bytes:
                return packed, binning
        rung = next(rungs, None)
        if rung is None:
            break
        kept, binning = binned(merged, smoothing, *rung)
    raise InputError(
        f"{len(kept):,} patterns of {len(patterns.classes):,} classes do not fit into a page; use the studio, or fewer rows"
    )


def _label(label: Label) -> dict[str, Any]:
    """A label as text to show, and as a literal of TOML, Python and JSON; null where a file cannot hold it."""
    import tomli_w

    writable = isinstance(label, (bool, int, float, str))
    toml = tomli_w.dumps({"label": label})[len("label = ") :].rstrip("\n") if writable else None
    return {
        "text": shown_label(label),
        "python": repr(label),
        "toml": toml,
        "json": json.dumps(label) if writable else None,
    }


def _answers(preference: Preference) -> dict[str, float | None]:
    return {
        "importance": float(preference.importance),
        "precision_at_full_recall": preference.precision_at_full_recall,
        "recall_at_full_precision": preference.recall_at_full_precision,
        "recall_weight": preference.given_recall_weight,
        "min_precision": preference.min_precision,
        "min_recall": preference.min_recall,
    }
