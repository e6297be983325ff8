"""The evaluation as JSON of a versioned schema."""

from __future__ import annotations

import math
import os
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import msgspec

from compromis.files import write_whole
from compromis.preferences import Preferences
from compromis.reporting.evaluation import Evaluation

SCHEMA = "compromis/evaluation"
VERSION = 1
"""Raised when a field changes its meaning or goes; new fields leave it alone."""


def to_json(evaluation: Evaluation, path: str | os.PathLike[str] | None) -> str:
    """Return the JSON text; undefined numbers are null, labels keep their type."""
    text = msgspec.json.format(msgspec.json.encode(_document(evaluation)), indent=2).decode()
    if path is not None:
        write_whole(path, text + "\n")
    return text


def _document(evaluation: Evaluation) -> dict[str, Any]:
    counts, verdict, screening = evaluation.counts, evaluation.verdict, evaluation.screening
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "compromis": version("compromis"),
        "classes": list(counts.classes),
        "counts": {"rows": counts.rows, "matrix": counts.matrix.tolist()},
        "priors": {"given": evaluation.priors_given, "shares": evaluation.priors.tolist()},
        "summary": _plain(asdict(evaluation.summary)),
        "per_class": [_plain(asdict(one)) for one in evaluation.per_class.values()],
        "preferences": None if evaluation.preferences is None else _preferences(evaluation.preferences),
        "verdict": None if verdict is None else _plain(asdict(verdict)),
        "screening": screening,
    }


def _preferences(preferences: Preferences) -> dict[str, Any]:
    return {
        "index": preferences.index.name,
        "default": asdict(preferences.default),
        "class": [{"label": label, **asdict(one)} for label, one in preferences.by_class.items()],
    }


def _plain(value: Any) -> Any:
    """JSON has no NaN: undefined numbers become null."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and math.isnan(value) else value
