"""The evaluation as JSON of a versioned schema."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import msgspec

from compromis.files import write_whole
from compromis.preferences import Preferences
from compromis.reporting.evaluation import Evaluation
from compromis.reporting.version import running_version
from compromis.uncertainty.interval import Interval
from compromis.uncertainty.intervals import ReportIntervals

SCHEMA = "compromis/evaluation"
VERSION = 1
"""Raised when a field changes its meaning or goes; new fields leave it alone."""


def to_json(evaluation: Evaluation, path: str | os.PathLike[str] | None) -> str:
    """Return the JSON text; undefined numbers are null, labels keep their type."""
    return write_json(evaluation.document(), path)


def write_json(document: dict[str, Any], path: str | os.PathLike[str] | None) -> str:
    """Return the document as JSON text; with `path`, write it there too, whole or not at all."""
    text = msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
    if path is not None:
        write_whole(path, text + "\n")
    return text


def evaluation_document(evaluation: Evaluation) -> dict[str, Any]:
    """Return the numbers of an evaluation as plain values."""
    counts, verdict, screening = evaluation.counts, evaluation.verdict, evaluation.screening
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "compromis": running_version(),
        "classes": list(counts.classes),
        "counts": {"rows": counts.rows, "matrix": counts.matrix.tolist()},
        "priors": {"given": evaluation.priors_given, "shares": evaluation.priors.tolist()},
        "summary": plain(asdict(evaluation.summary)),
        "per_class": [plain(asdict(one)) for one in evaluation.per_class.values()],
        "preferences": None if evaluation.preferences is None else _preferences(evaluation.preferences),
        "verdict": None if verdict is None else plain(asdict(verdict)),
        "screening": screening,
        "intervals": None if evaluation.intervals is None else _intervals(evaluation.intervals),
    }


def _intervals(intervals: ReportIntervals) -> dict[str, Any]:
    return {
        "confidence": intervals.confidence,
        "draws": intervals.draws,
        "summary": _bounds(intervals.summary),
        "per_class": [{"label": label, **_bounds(one)} for label, one in intervals.per_class.items()],
    }


def _bounds(intervals: Mapping[str, Interval]) -> dict[str, Any]:
    return {name: plain([one.low, one.high]) for name, one in intervals.items()}


def _preferences(preferences: Preferences) -> dict[str, Any]:
    return {
        "metric": preferences.metric.name,
        "default": asdict(preferences.default),
        "class": [{"label": label, **asdict(one)} for label, one in preferences.by_class.items()],
    }


def plain(value: Any) -> Any:
    """JSON has no NaN: undefined numbers become null."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and math.isnan(value) else value
