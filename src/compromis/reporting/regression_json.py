"""The evaluation of predicted numbers as JSON of a versioned schema."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

import msgspec

from compromis.files import write_whole
from compromis.reporting.regression import RegressionEvaluation
from compromis.reporting.version import running_version

SCHEMA = "compromis/regression"
VERSION = 1
"""Raised when a field changes its meaning or goes; new fields leave it alone."""


def to_json(evaluation: RegressionEvaluation, path: str | os.PathLike[str] | None) -> str:
    """Return the JSON text; undefined numbers are null."""
    text = msgspec.json.format(msgspec.json.encode(_document(evaluation)), indent=2).decode()
    if path is not None:
        write_whole(path, text + "\n")
    return text


def _document(evaluation: RegressionEvaluation) -> dict[str, Any]:
    intervals, (under, over) = evaluation.intervals, evaluation.pinball
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "compromis": running_version(),
        "summary": asdict(evaluation.summary),
        "pinball": {"under_weight": under, "over_weight": over},
        "within": [
            {"tolerance": one.width, "relative": one.relative, "share": share}
            for one, share in zip(evaluation.sums.tolerances, evaluation.within.values(), strict=True)
        ],
        "quantiles": [{"share": share, "absolute_error": error} for share, error in evaluation.quantiles.items()],
        "baselines": [asdict(one) for one in evaluation.baselines.values()],
        "confidence": None if intervals is None else intervals.confidence,
        "measures": [asdict(one) for one in evaluation.measures],
        "verdict": asdict(evaluation.verdict),
        "notes": list(evaluation.notes),
    }
