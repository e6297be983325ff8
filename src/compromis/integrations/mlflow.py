"""An evaluation in the records of MLflow: numbers as metrics, the report as artefacts."""

from __future__ import annotations

import math
import re
from dataclasses import asdict

from compromis.errors import InputError, MissingExtra
from compromis.evaluation.evaluate import Evaluation
from compromis.measures.rates import NUMBERS

_HELD = [
    "compromis.estimators.c45.C45Classifier",
    "compromis.estimators.pragma_forest.PragmaForestClassifier",
    "compromis.estimators.pragma_tree.PragmaTreeClassifier",
    "compromis.estimators.tuned_decision.TunedDecisionClassifier",
    "compromis.estimators.tuning.Tuned",
    "compromis.estimators.tuning.TuningOptions",
    "compromis.evidence.counts.Counts",
    "compromis.evidence.votes.Votes",
    "compromis.measures.baselines.Baseline",
    "compromis.measures.by_group.ByGroup",
    "compromis.measures.pragma.GivenUp",
    "compromis.measures.pragma.MissedConstraint",
    "compromis.measures.pragma.OwnAnswer",
    "compromis.preferences.Preference",
    "compromis.preferences.PreferenceArrays",
    "compromis.preferences.Preferences",
    "compromis.trees.binning.Binning",
    "compromis.trees.c45.tree.Tree",
    "compromis.trees.columns.Column",
    "compromis.trees.store.Trees",
    "compromis.uncertainty.intervals.Interval",
    "compromis.uncertainty.verdict.Cause",
    "compromis.uncertainty.verdict.Verdict",
    "compromis.weights.guarantee.Guarantee",
    "compromis.weights.guarantee.Guaranteed",
    "compromis.weights.guarantee.Price",
    "compromis.weights.search.WeightSearch",
    "compromis.weights.stability.Stability",
]


def skops_trusted_types() -> list[str]:
    """Return the types that our fitted estimators hold, to be named when skops or MLflow writes or reads them: data, no code.

    Examples
    --------
    >>> import compromis as cp
    >>> import skops.io
    >>> tree = cp.PragmaTreeClassifier().fit([[0.0], [1.0]], ["a", "b"])
    >>> skops.io.loads(skops.io.dumps(tree), trusted=cp.integrations.skops_trusted_types()).predict([[2.0]]).tolist()
    ['b']
    """
    return list(_HELD)


_CLASS_METRICS = ("recall", "precision", "f_measure", "roc_area", "share_predicted", "support", "loss")


def log_to_mlflow(evaluation: Evaluation, *, prefix: str = "", report: bool = True) -> dict[str, float]:
    """Log an evaluation to the active run of MLflow (or a new one) and return the metrics logged.

    Parameters
    ----------
    evaluation : Evaluation
        What was evaluated.
    prefix : str
        Stands before each name, for example ``"test/"``.
    report : bool
        Whether the evaluation is logged as artefacts too: HTML, Markdown and JSON in the folder ``compromis``.

    Notes
    -----
    Metrics of a class are called ``class/measure``; marks that MLflow does not allow in a name become ``_``, and a number keeps two
    classes apart that would be called alike. Undefined numbers are left out. The verdict is logged as the tag ``compromis.verdict``.

    Examples
    --------
    >>> import compromis as cp
    >>> result = cp.evaluate(["bad", "good"], ["bad", "bad"])
    >>> metrics = cp.integrations.log_to_mlflow(result)  # doctest: +SKIP
    >>> metrics["bad/recall"]  # doctest: +SKIP
    1.0
    """
    if not isinstance(evaluation, Evaluation):
        raise InputError(f"evaluation is a compromis.Evaluation, got {type(evaluation).__name__}", "evaluation")
    try:
        import mlflow
    except ImportError as error:
        raise MissingExtra("MLflow is not installed; install it with: pip install mlflow-skinny") from error
    metrics = _metrics(evaluation, _allowed(prefix))
    mlflow.log_metrics(metrics)
    if evaluation.verdict is not None:
        mlflow.set_tag("compromis.verdict", str(evaluation.verdict)[:5000])
    if report:
        texts = {"html": evaluation.to_html(), "md": evaluation.to_markdown(), "json": evaluation.to_json()}
        for ending, text in texts.items():
            mlflow.log_text(text, f"{_allowed(prefix)}compromis/evaluation.{ending}")
    return metrics


def _metrics(evaluation: Evaluation, prefix: str) -> dict[str, float]:
    """Return the numbers of an evaluation under names that MLflow allows."""
    summary = asdict(evaluation.summary)
    numbers = {name: summary[name] for name in NUMBERS if name in summary}
    numbers |= {f"macro_{name}": summary["macro"][name] for name in ("recall", "precision", "f_measure")}
    for name, row in zip(_class_names(evaluation), evaluation.per_class.values(), strict=True):
        numbers |= {f"{name}/{measure}": getattr(row, measure) for measure in _CLASS_METRICS}
    return {
        prefix + name: float(value) for name, value in numbers.items() if value is not None and not math.isnan(value)
    }


def _class_names(evaluation: Evaluation) -> list[str]:
    names = [_allowed(str(label)).replace("/", "_")[:150] or "_" for label in evaluation.per_class]
    taken = {*NUMBERS}
    for index, name in enumerate(names):
        while name in taken:
            name = f"{name}_{index}"
        names[index] = name
        taken.add(name)
    return names


def _allowed(text: str) -> str:
    return re.sub(r"[^\w\-./ :]|\.\.", "_", text, flags=re.ASCII)
