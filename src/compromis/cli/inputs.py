"""The evidence of a file, by the engine that reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from compromis.cli.options import label_texts, opened, score_columns
from compromis.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from compromis.evidence import Counts
    from compromis.weights.decision import Decision


def gather(
    file: str,
    *,
    truth: str,
    engine: str | None,
    cluster: str | None,
    prediction: str | None = None,
    votes: tuple[str, ...] = (),
    score: str | None = None,
    pos_label: str | None = None,
    bins: int | None = None,
    within: tuple[float, float] | None = None,
    weight: str | None = None,
    drop_missing: bool = False,
    labels: tuple[str, ...] = (),
) -> tuple[Any, int]:
    """Return Counts, Votes or OperatingPoints, and the rows left out because a class is missing."""
    chosen: dict[str, str] = {}

    def numbers(names: list[str]) -> list[str]:
        if votes:
            chosen.update(score_columns(votes, names, [truth, prediction, weight]))
        return [*chosen, *(name for name in (score, weight) if name is not None)]

    with opened(file, engine, cluster, numbers) as scan:
        if prediction is not None:
            return count_classes(scan.frame, truth, prediction, weight, labels, drop_missing)
        frame, dropped = without_missing(scan.frame, truth, drop_missing)
        if votes:
            from compromis.frames.votes import patterns_of_frame

            found: Any = patterns_of_frame(
                frame, truth=truth, proba=by_class(chosen), weight=weight, bins=bins, spell=label_texts
            )
        else:
            from compromis.evidence.points import OperatingPoints

            assert score is not None
            found = OperatingPoints.from_frame(
                frame, truth=truth, score=score, pos_label=typed(frame, truth, pos_label), weight=weight,
                bins="auto" if bins is None else bins, within=within,
            )  # fmt: skip
        return found, dropped


def gather_scores(
    file: str,
    truth: str,
    scores: tuple[str, ...],
    pos_label: str,
    weight: str | None,
    drop_missing: bool,
    engine: str | None,
    cluster: str | None,
) -> tuple[dict[str, Any], int]:
    """Return the operating points of each score, and the rows left out; binned ones are said to be."""
    import click

    found = {
        score: gather(
            file, truth=truth, score=score, pos_label=pos_label, weight=weight, drop_missing=drop_missing, engine=engine,
            cluster=cluster,
        )
        for score in scores
    }  # fmt: skip
    for score, (points, _) in found.items():
        if points.binned:
            click.echo(f"{score}: counted in {len(points) - 1:,} bins; cuts are exact at their edges", err=True)
    return {score: points for score, (points, _) in found.items()}, max(dropped for _, dropped in found.values())


def count_classes(
    frame: Any, truth: str, prediction: str, weight: str | None, labels: tuple[str, ...], drop_missing: bool
) -> tuple[Any, int]:
    """Return the counts of two columns of classes as text, and the rows left out."""
    from compromis.frames.counts import count_text_frame

    counts, dropped = count_text_frame(
        frame, truth=truth, prediction=prediction, weight=weight, labels=labels or None, spell=label_texts
    )
    if dropped and not drop_missing:
        raise InputError(
            f"{dropped:,} {'row lacks its' if dropped == 1 else 'rows lack their'} true or predicted class; fill them in, "
            f"or leave those rows out with --drop-missing"
        )
    return counts, dropped


def by_class(chosen: dict[str, str]) -> dict[str, str]:
    """Return the columns of votes in the order of their classes, as for small files."""
    return dict(sorted(chosen.items(), key=lambda item: item[1]))


def without_missing(frame: Any, truth: str, drop_missing: bool) -> tuple[Any, int]:
    """Return the frame without rows that lack their true class, and their number, where that was asked for."""
    from compromis.frames.query import Frame

    if not drop_missing:
        return frame, 0
    Frame.open(frame, {"truth": truth})  # the column must be there
    from compromis.frames.query import drop_rows

    return drop_rows(frame, truth)


def typed(frame: Any, truth: str, pos_label: str | None) -> Any:
    """Return a label given as text in the type of its column."""
    from compromis.frames.query import Frame

    kind = Frame.open(frame, {"truth": truth}).types["truth"]
    try:
        if kind.is_integer():
            return int(pos_label or "")
        if kind.is_float():
            return float(pos_label or "")
    except ValueError:
        return pos_label
    return {"true": True, "false": False}.get(pos_label or "", pos_label) if str(kind) == "Boolean" else pos_label


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
    from compromis.evidence import Counts
    from compromis.frames import tables as columns
    from compromis.frames.reading import read_scored
    from compromis.weights.decision import Decision

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
