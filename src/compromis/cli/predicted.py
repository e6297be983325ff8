"""Decisions of a file, true classes beside them where there are some: what check and monitor judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from compromis.deployment.decision import Decision
    from compromis.evidence import Counts


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """The decisions of one file: counts where true classes are known; probabilities where there are columns of them."""

    labels: list[Any]
    counts: Counts | None
    votes: NDArray[np.float64] | None
    classes: tuple[str, ...] | None
    dropped: int


def check_options(prediction: str | None, votes: tuple[str, ...], weights: str | None) -> None:
    """Refuse options that leave open what is predicted, or say it twice."""
    if (prediction is None) == (not votes):
        raise click.UsageError("give --prediction, or --proba with --weights")
    if weights is not None and not votes:
        raise click.UsageError("--weights decide columns of votes; give --proba")


def read_predicted(
    file: str, truth: str | None, prediction: str | None, votes: tuple[str, ...], weights: str | None, *, drop: bool
) -> Predicted:
    """Read a file's decisions, or take them from its votes; without `truth` there are no counts."""
    from compromis.deployment.decision import Decision
    from compromis.engines import columns
    from compromis.engines.reading import read_scored
    from compromis.evidence import Counts

    table, class_of = read_scored(file, [truth, prediction], votes)
    named = [name for name in (truth, prediction) if name is not None]
    table, dropped = columns.drop_missing(table, named, drop=drop)
    matrix, classes = None, None
    if prediction is None:
        classes = tuple(sorted(class_of.values()))
        rule = Decision(classes, [1.0] * len(classes)) if weights is None else Decision.from_json(weights)  # type: ignore[arg-type]
        classes = _text_classes(rule, weights)
        matrix = columns.score_matrix(table, class_of, classes)
        labels = Decision(classes, rule.weights, rule.smoothing).decide(matrix).tolist()
    else:
        labels = table.columns[prediction]
    if truth is None:
        return Predicted(labels, None, matrix, classes, dropped)
    true = table.columns[truth]
    known = None if classes is None else [*classes, *sorted({str(one) for one in true} - set(classes))]
    counts = Counts.from_predictions(true, labels, labels=known, sample_weight=table.weights)
    return Predicted(labels, counts, matrix, classes, dropped)


def _text_classes(rule: Decision, source: str | None) -> tuple[str, ...]:
    """Labels of files are text; so are those of the weights, as they are written."""
    from compromis.errors import InputError

    texts = tuple(str(label) for label in rule.classes)
    if len(set(texts)) < len(texts):
        raise InputError(f"two classes of {source} are written alike; rename one")
    return texts
