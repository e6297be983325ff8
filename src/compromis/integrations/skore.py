"""The measures of preferences as metrics of skore's reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from compromis.errors import InputError
from compromis.evaluation.evaluate import Evaluation, evaluate
from compromis.evaluation.scoring import required_preferences
from compromis.preferences import Preferences

Metric = Callable[[Any, Any, Any], Any]


def add_to_skore(report: Any, preferences: Preferences | Mapping[Any, Any]) -> list[str]:
    """Add what matters to a report of skore, and return the names of the metrics; see `skore_metrics`.

    Parameters
    ----------
    report : skore.EstimatorReport, CrossValidationReport or ComparisonReport
        Whose ``metrics.summarize()`` shows them from now on.
    preferences : Preferences or mapping by class
        What matters.

    Examples
    --------
    A stand-in for ``skore.EstimatorReport(...)``, so that the example needs no skore:

    >>> from types import SimpleNamespace
    >>> import compromis as cp
    >>> report = SimpleNamespace(metrics=SimpleNamespace(add=lambda metric, **options: None))
    >>> cp.integrations.add_to_skore(report, cp.Preferences())
    ['pragma_loss', 'pragma_shortfall', 'pragma_class_loss']
    """
    if not hasattr(getattr(report, "metrics", None), "add"):
        raise InputError(
            f"report is a report of skore with metrics.add (skore 0.13 or newer), got {type(report).__name__}"
        )
    metrics = skore_metrics(preferences)
    for name, metric in metrics.items():
        report.metrics.add(metric, name=name, greater_is_better=False, position="last")
    return list(metrics)


def skore_metrics(preferences: Preferences | Mapping[Any, Any]) -> dict[str, Metric]:
    """Return by name: the loss, what is missing from the minima, and the loss of each class; functions of (estimator, X, y).

    skore has recall and precision of each class itself. It shows the numbers of a metric by class under their keys alone, so
    that these name the metric too.

    Examples
    --------
    >>> import compromis as cp
    >>> from sklearn.dummy import DummyClassifier
    >>> constant = DummyClassifier(strategy="constant", constant="bad").fit([[0], [1]], ["bad", "good"])
    >>> metrics = cp.integrations.skore_metrics(cp.Preferences({"bad": cp.Preference(min_precision=0.6)}, metric="kulczynski"))
    >>> round(metrics["pragma_shortfall"](constant, [[0], [1]], ["bad", "good"]), 3)
    0.1
    >>> metrics["pragma_class_loss"](constant, [[0], [1]], ["bad", "good"])
    {'pragma_loss_bad': 0.25, 'pragma_loss_good': 1.0}
    """
    wanted = required_preferences(preferences)

    def evaluated(estimator: Any, X: Any, y: Any) -> Evaluation:
        return evaluate(y, estimator.predict(X), preferences=wanted, labels=list(estimator.classes_))

    def loss(estimator: Any, X: Any, y: Any) -> float | None:
        return evaluated(estimator, X, y).summary.loss

    def shortfall(estimator: Any, X: Any, y: Any) -> float:
        verdict = evaluated(estimator, X, y).verdict
        assert verdict is not None
        return float(sum(missed.distance for missed in verdict.constraints))

    def by_class(estimator: Any, X: Any, y: Any) -> dict[str, float]:
        per_class = evaluated(estimator, X, y).per_class
        return {f"pragma_loss_{label}": row.loss for label, row in per_class.items()}

    return {"pragma_loss": loss, "pragma_shortfall": shortfall, "pragma_class_loss": by_class}
