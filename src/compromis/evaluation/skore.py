"""The measures of a wish as metrics of skore's reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compromis.errors import InputError
from compromis.evaluation.evaluate import evaluate
from compromis.preferences import Preferences

Metric = Callable[[Any, Any, Any], Any]


def add_to_skore(report: Any, preferences: Preferences) -> list[str]:
    """Add the loss, and loss, recall and precision of each class, to a report of skore; return the names of the metrics.

    Parameters
    ----------
    report : skore.EstimatorReport, CrossValidationReport or ComparisonReport
        Whose ``metrics.summarize()`` shows them from now on.
    preferences : Preferences
        What matters.
    """
    if not hasattr(getattr(report, "metrics", None), "add"):
        raise InputError(
            f"report is a report of skore with metrics.add (skore 0.13 or newer), got {type(report).__name__}"
        )
    metrics = skore_metrics(preferences)
    for name, metric in metrics.items():
        report.metrics.add(metric, name=name, greater_is_better="loss" not in name)
    return list(metrics)


def skore_metrics(preferences: Preferences) -> dict[str, Metric]:
    """Return the metrics by name: functions of (estimator, X, y), a number or a number for each class.

    Examples
    --------
    >>> import compromis as cp
    >>> from sklearn.dummy import DummyClassifier
    >>> constant = DummyClassifier(strategy="constant", constant="bad").fit([[0], [1]], ["bad", "good"])
    >>> metrics = cp.skore_metrics(cp.Preferences.prioritise(["bad"]))
    >>> metrics["pragma_recall"](constant, [[0], [1]], ["bad", "good"])
    {'bad': 1.0, 'good': 0.0}
    """
    if not isinstance(preferences, Preferences):
        raise InputError(f"preferences must be a compromis.Preferences, got {type(preferences).__name__}")

    def loss(estimator: Any, X: Any, y: Any) -> float:
        return float(_evaluated(estimator, X, y, preferences).verdict.loss)

    def by_class(measure: str) -> Metric:
        def metric(estimator: Any, X: Any, y: Any) -> dict[Any, float]:
            each = _evaluated(estimator, X, y, preferences).per_class
            return {label: float(getattr(one, measure)) for label, one in each.items()}

        return metric

    return {
        "pragma_loss": loss,
        **{f"pragma_{name}": by_class(name) for name in ("recall", "precision")},
        "pragma_class_loss": by_class("loss"),
    }


def _evaluated(estimator: Any, X: Any, y: Any, preferences: Preferences) -> Any:
    return evaluate(y, estimator.predict(X), preferences=preferences, labels=list(estimator.classes_))
