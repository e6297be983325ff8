"""The version of the library that made a report."""

from __future__ import annotations

import hashlib
import math
import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec
import numpy as np

from compromis._files import write_whole
from compromis.evaluation.cross_validation import CrossEvaluation
from compromis.evaluation.evaluate import Evaluation
from compromis.evidence import Counts
from compromis.evidence.votes import Votes
from compromis.measures.verdict import Verdict
from compromis.preferences import Preferences
from compromis.uncertainty.intervals import Interval
from compromis.uncertainty.report_intervals import ReportIntervals


def running_version() -> str:
    """Return the version that is running, whether it was installed or not."""
    package = sys.modules["compromis"]  # it stands above the layers, so it is not imported here
    running: str = package.__version__
    return running


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
        "verdict": None if verdict is None else plain(_verdict(verdict)),
        "screening": screening,
        "intervals": None if evaluation.intervals is None else _intervals(evaluation.intervals),
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {"informative": verdict.informative, "sentence": verdict.sentence, **asdict(verdict)}


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


def folds_document(evaluation: CrossEvaluation) -> dict[str, Any]:
    """Return folds, averages, times and optimism as plain values."""
    averages = {
        name: plain(
            {
                "mean": one.mean.value,
                "low": one.mean.low,
                "high": one.mean.high,
                "deviation": one.deviation,
                "folds": one.folds,
            }
        )
        for name, one in evaluation.averages.items()
    }
    folds = [
        {
            "train_rows": train,
            "test_rows": test,
            "fit_seconds": fit,
            "predict_seconds": predict,
            "matrix": fold.counts.matrix.tolist(),
            "loss": plain(fold.summary.loss),
            "accuracy": plain(fold.summary.accuracy),
        }
        for fold, train, test, fit, predict in zip(
            evaluation.folds,
            evaluation.train_rows,
            evaluation.test_rows,
            evaluation.fit_seconds,
            evaluation.predict_seconds,
            strict=True,
        )
    ]
    return {
        "confidence": evaluation.level,
        "averages": averages,
        "folds": folds,
        "untested": evaluation.untested,
        "repeats": evaluation.repeats,
        "optimism": plain(evaluation.optimism),
    }


PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def versions() -> dict[str, str]:
    """Return the versions of Python and of what the numbers rest on."""
    found = {"compromis": running_version(), "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


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
