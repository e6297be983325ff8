"""The report of files of any size: decisions only, counted by an engine."""

from __future__ import annotations

from typing import Any

import click

from compromis.cli.engine_options import opened, score_columns
from compromis.cli.gather import by_class, count_classes, gather

_PREDICTED = "compromis decision"


def evaluate_large(
    file: str,
    truth: str,
    prediction: str | None,
    scores: tuple[str, ...],
    weight: str | None,
    labels: tuple[str, ...],
    drop_missing: bool,
    engine: str | None,
    cluster: str | None,
    preferences: Any,
    confidence: float | None,
) -> tuple[Any, int]:
    """Return the evaluation of the counts, and the rows left out."""
    from compromis.evaluation.evaluate import evaluate_counts

    if scores:
        click.echo("probability errors and areas need the rows in memory; the report is of the decisions", err=True)
    if prediction is not None:
        counts, dropped = gather(
            file, truth=truth, prediction=prediction, weight=weight, labels=labels, drop_missing=drop_missing, engine=engine,
            cluster=cluster,
        )  # fmt: skip
    else:
        counts, dropped = _count_scores(file, truth, scores, weight, drop_missing, engine, cluster)
    return evaluate_counts(counts, preferences=preferences, confidence=confidence), dropped


def _count_scores(
    file: str,
    truth: str,
    scores: tuple[str, ...],
    weight: str | None,
    drop_missing: bool,
    engine: str | None,
    cluster: str | None,
) -> tuple[Any, int]:
    """Count the classes of the highest scores."""
    from compromis.engines.deciding import decide

    chosen: dict[str, str] = {}

    def numbers(names: list[str]) -> list[str]:
        chosen.update(score_columns(scores, names, [truth, weight]))
        return [*chosen, *([] if weight is None else [weight])]

    with opened(file, engine, cluster, numbers) as scan:
        frame = decide(scan.frame, proba=by_class(chosen), name=_PREDICTED)
        classes = tuple(by_class(chosen).values())
        return count_classes(frame, truth, _PREDICTED, weight, classes, drop_missing)
