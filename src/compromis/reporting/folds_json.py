"""The folds of a cross-validation as plain values for JSON."""

from __future__ import annotations

from typing import Any

from compromis.reporting.cross_evaluation import CrossEvaluation
from compromis.reporting.json import plain


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
