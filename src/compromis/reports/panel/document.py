"""The document that the panel's script shows: votes, preferences and weights as JSON of bounded size."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._text import LONG_NAME, rows_named, short_names, shown_label
from compromis._typing import Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.evidence.readers import read_class_weights
from compromis.evidence.scores import is_csr
from compromis.evidence.votes import Votes
from compromis.metrics import METRICS
from compromis.preferences import Preference, Preferences

SCHEMA = "compromis/panel"
VERSION = 1
MOST_BYTES = 2_000_000
MOST_PATTERNS = 60_000
RUNGS = (
    (1.01, 1e-4), (1.03, 1e-3), (1.03, 1e-2), (1.05, 3e-2), (1.05, 0.1), (1.1, 0.1),
    (1.1, 0.2), (1.2, 0.2), (1.35, 0.2), (1.5, 0.2), (2.0, 0.2), (3.0, 0.2), (10.0, 0.3),
)  # fmt: skip
"""Ratio of neighbouring values, and the share of a row's largest vote below which a vote is dropped; from fine to coarse.

On the five-class set of 100,000 rows, coarse ratios moved the tuned loss more than a floor of 0.2; a floor of 0.3 lost up to a fifth."""
_TABLE = 65_536
"""Distinct votes up to which they are packed as positions in a table."""


def panel_document(
    votes: Votes,
    preferences: Preferences | None = None,
    weights: ArrayLike | None = None,
    *,
    smoothing: float = 0.0,
    before: Counts | None = None,
    positive: Label | None = None,
    follows: bool = True,
    remote: bool = False,
    most_bytes: int = MOST_BYTES,
    most_patterns: int | None = None,
) -> dict[str, Any]:
    """Return the document that ``mountPanel`` of the panel's script shows, ready for JSON.

    Parameters
    ----------
    votes : Votes
        The votes with their true classes.
    preferences : Preferences, optional
        The preferences at first; without them every class alike.
    weights : array-like of shape (K,), optional
        The weights at first; equal ones without it.
    smoothing : float
        What is added to every vote.
    before : Counts, optional
        The result to compare with; that of equal weights without it.
    positive : label, optional
        Of two classes, the condition looked for; without it the more important one, else the rarer one.
    follows : bool
        Whether weights are searched from the start for whatever the sliders say. Else the panel shows the result to compare with,
        judged by what the sliders say, until its reader asks for weights tuned on these rows.
    remote : bool
        Whether weights are searched outside the page: the page then shows what ``options.retune`` returns, and draws
        curves from the patterns held here, which may be binned.
    most_bytes, most_patterns : int
        The size from which on votes are binned.

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.reports import panel_document
    >>> votes = cp.Votes.from_proba(["a", "a", "b"], [[3, 1], [3, 1], [0, 4]])
    >>> document = panel_document(votes, cp.Preferences.prioritise(["b"]))
    >>> document["rows"], document["evidence"]["patterns"], document["binning"]
    (3, 2, None)
    """
    if not isinstance(votes, Votes):
        raise InputError(f"votes are compromis.Votes, got {type(votes).__name__}; use from_proba")
    preferences = Preferences() if preferences is None else preferences
    if not preferences.metric.built_in:
        raise InputError(
            f"the metric {preferences.metric.name!r} is your own code, which a page cannot run; choose one of {', '.join(METRICS)}"
        )
    preferences.on(votes.classes)  # raises where preferences and classes do not fit
    equal = np.ones(len(votes.classes))
    used = equal if weights is None else read_class_weights(weights, votes.classes)
    packed, binning = _fit(votes, smoothing, most_bytes, MOST_PATTERNS if most_patterns is None else most_patterns)
    reached = votes.counts(used, smoothing=smoothing)
    given = votes.counts(equal, smoothing=smoothing) if before is None else before
    weighed = bool(np.array_equal(given.matrix, reached.matrix))
    short, heads, long = (short_names(votes.classes, width) for width in (28, 16, LONG_NAME))
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "classes": [
            _label(label) | {"short": short[k], "head": heads[k], "rows": rows_named(label, long[k])}
            for k, label in enumerate(votes.classes)
        ],
        "positive": None if positive is None else votes.classes.index(positive),
        "follows": follows,
        "weighed": weighed,
        "starts": "given" if weighed or weights is None else "hand",
        "preferences": preferences_document(preferences, votes.classes),
        "weights": used.tolist(),
        "smoothing": smoothing,
        "rows": votes.rows,
        "left_out": votes.left_out,
        "before": given.matrix.tolist(),
        "counts": reached.matrix.tolist(),
        "evidence": packed | {"smoothed": binning is not None},
        "binning": None if binning is None else str(binning),
        "remote": remote,
    }


def preferences_document(preferences: Preferences, classes: tuple[Label, ...]) -> dict[str, Any]:
    """Return preferences as the panel keeps them: the metric's name, the costs, and the answers of every class.

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.reports import preferences_document
    >>> preferences_document(cp.Preferences.prioritise(["b"]), ("a", "b"))["classes"][1]["importance"]
    10.0
    """
    if preferences.costs_amounts:
        raise InputError(
            "the panel holds no amounts of rows, which these costs depend on; give preferences without 'amount'",
            "preferences",
        )
    cost = preferences.on(classes, strict=False).cost
    each = [_answers(preferences.of(label)) for label in classes]
    if cost is not None:  # nobody was asked for answers
        each = [{**answers, "precision_at_full_recall": None, "recall_at_full_precision": None} for answers in each]
    return {"metric": preferences.metric.name, "cost": None if cost is None else cost.tolist(), "classes": each}


def _answers(preference: Preference) -> dict[str, float | None]:
    """Return a preference as numbers, beta as the recall weight that it means."""
    precision, recall = preference.answers or (None, None)
    return {
        "importance": float(preference.importance),
        "precision_at_full_recall": precision,
        "recall_at_full_precision": recall,
        "recall_weight": preference.recall_weight_for("f") if preference.answers is None else None,
        "min_precision": preference.min_precision,
        "min_recall": preference.min_recall,
        "max_share": preference.max_share,
        "confidence": preference.confidence,
    }


def _label(label: Label) -> dict[str, Any]:
    """Return a label as text to show, and as a literal of TOML, Python and JSON; None where a file cannot hold it."""
    import tomli_w

    writable = isinstance(label, (bool, int, float, str))
    return {
        "text": shown_label(label),
        "python": repr(label),
        "toml": tomli_w.dumps({"label": label})[len("label = ") :].rstrip("\n") if writable else None,
        "json": json.dumps(label) if writable else None,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Binning:
    """How votes were rounded: by ratios, because weights act on ratios."""

    ratio: float
    """Neighbouring values differ by this factor, so a vote is off by at most its square root."""
    floor: float
    """Votes below this share of the row's largest are dropped."""
    changed: float
    """The rows (or weights) that are predicted otherwise with equal weights."""
    rows: float
    """All rows (or weights)."""

    def __str__(self) -> str:
        return (
            f"votes are rounded to within {100 * (self.ratio**0.5 - 1):.2g} % of their ratio to the row's largest, those below "
            f"{100 * self.floor:g} % of it are dropped; with equal weights that changes {self.changed:,.6g} of {self.rows:,.6g} predictions"
        )


def binned(votes: Votes, smoothing: float, ratio: float, floor: float) -> tuple[Votes, Binning]:
    """Return patterns with rounded votes, equal ones merged; smoothing is part of the rounded votes."""
    dense = votes.dense() + smoothing
    largest = dense.max(axis=1, keepdims=True)
    share = np.divide(dense, largest, out=np.zeros_like(dense), where=largest > 0)
    with np.errstate(divide="ignore"):
        level = np.rint(np.log(share) / np.log(ratio))
    rounded = np.where(share >= floor, ratio**level, 0.0)
    kept = replace(votes, votes=rounded, merged=False, width=0.0)
    moved = dense.argmax(axis=1) != rounded.argmax(axis=1)
    sizes = votes.multiplicity
    return kept.merge(), Binning(ratio=ratio, floor=floor, changed=float(sizes[moved].sum()), rows=float(sizes.sum()))


def _fit(votes: Votes, smoothing: float, most_bytes: int, most_patterns: int) -> tuple[dict[str, Any], Binning | None]:
    """Return packed patterns that fit into the page: as they are, or binned as finely as fits."""
    merged = votes.merge()
    kept, binning = merged, None
    for rung in (None, *RUNGS):
        if rung is not None:
            kept, binning = binned(merged, smoothing, *rung)
        if len(kept) <= most_patterns and _least_size(kept) <= most_bytes:
            packed = _pack_votes(kept)
            if _size(packed) <= most_bytes:
                return packed, binning
    raise InputError(
        f"{len(kept):,} patterns of {len(votes.classes):,} classes do not fit into a page; use the studio, or fewer rows"
    )


def _pack_votes(votes: Votes) -> dict[str, Any]:
    """Return votes as packed arrays: the classes with votes, one bit each, and the votes above 0 in that order."""
    voted, value = _entries(votes)
    packed = {
        "patterns": len(votes),
        "truth": _pack(votes.truth),
        "multiplicity": _pack(votes.multiplicity),
        "voted": _pack(np.packbits(voted, axis=1, bitorder="little").ravel()),
    }
    table, code = np.unique(value, return_inverse=True)
    if len(table) <= min(_TABLE, max(256, len(value) // 4)):
        return packed | {"values": table.tolist(), "code": _pack(code)}
    return packed | {"values": None, "code": _pack(value)}


def _entries(votes: Votes) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return which classes each pattern has votes for, and the votes above 0 in the order of rows and classes."""
    if not is_csr(votes.votes):
        voted = votes.votes > 0
        return voted, votes.votes[voted].astype(np.float64)
    voted = np.zeros(votes.votes.shape, dtype=bool)
    voted[np.repeat(np.arange(len(votes)), np.diff(votes.votes.indptr)), votes.votes.indices] = True
    return voted, votes.votes.data.astype(np.float64)


def _pack(values: NDArray[Any]) -> dict[str, str]:
    """Return numbers of at least 0 as text: the smallest type that holds them exactly, little-endian, in base64."""
    kind = "f64"
    if values.dtype.kind in "iu" or bool((values == np.floor(values)).all()):
        most = values.max(initial=0)
        kind = next((f"u{bits}" for bits in (8, 16, 32) if most < 1 << bits), "f64")
    raw = values.astype(np.dtype(kind[0] + str(int(kind[1:]) // 8)).newbyteorder("<")).tobytes()
    return {"type": kind, "data": base64.b64encode(raw).decode("ascii")}


def _least_size(votes: Votes) -> int:
    """Return how many bytes packed patterns take at least, without packing them."""
    entries = votes.votes.nnz if is_csr(votes.votes) else int(np.count_nonzero(votes.votes))
    return 4 * (entries + len(votes) * (2 + -(-len(votes.classes) // 8))) // 3


def _size(packed: dict[str, Any]) -> int:
    """Return about how many bytes packed patterns take in a page."""
    texts = sum(len(part["data"]) for part in packed.values() if isinstance(part, dict))
    return texts + 18 * len(packed["values"] or ())
