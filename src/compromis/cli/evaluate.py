"""The report of files of any size: decisions only, counted by an engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from compromis.cli.inputs import by_class, count_classes, gather
from compromis.cli.options import (
    engine_options,
    opened,
    preference_options,
    read_cost_file,
    read_pairs,
    read_preferences,
    score_columns,
    wants_engine,
)
from compromis.cli.run import report_in_options, say_dropped

if TYPE_CHECKING:
    from compromis.evaluation.evaluate import Evaluation

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
    from compromis.evaluation.evaluate import evaluate

    if scores:
        click.echo("probability errors and areas need the rows in memory; the report is of the decisions", err=True)
    if prediction is not None:
        counts, dropped = gather(
            file, truth=truth, prediction=prediction, weight=weight, labels=labels, drop_missing=drop_missing, engine=engine,
            cluster=cluster,
        )  # fmt: skip
    else:
        counts, dropped = _count_scores(file, truth, scores, weight, drop_missing, engine, cluster)
    return evaluate(counts, preferences=preferences, confidence=confidence), dropped


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
    from compromis.frames.deciding import decide

    chosen: dict[str, str] = {}

    def numbers(names: list[str]) -> list[str]:
        chosen.update(score_columns(scores, names, [truth, weight]))
        return [*chosen, *([] if weight is None else [weight])]

    with opened(file, engine, cluster, numbers) as scan:
        frame = decide(scan.frame, proba=by_class(chosen), name=_PREDICTED)
        classes = tuple(by_class(chosen).values())
        return count_classes(frame, truth, _PREDICTED, weight, classes, drop_missing)


class _ClassesOrNumbers(click.Command):
    """With --regression, the command of the same name for numbers, which has options of its own."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> click.Context:
        from compromis.cli import regression

        chosen = regression.command.make_context if "--regression" in args else super().make_context
        return chosen(info_name, args, parent, **extra)


@click.command("evaluate", cls=_ClassesOrNumbers)
@click.argument("file")
@click.option(
    "--regression",
    is_flag=True,
    expose_value=False,
    help="Evaluate numbers; see 'compromis evaluate --regression --help'.",
)
@click.option("--truth", required=True, metavar="COL", help="The column of true classes.")
@click.option(
    "--prediction", metavar="COL", help="The column of predicted classes; without it, the class of the highest score."
)
@click.option(
    "--proba",
    "scores",
    multiple=True,
    metavar="PREFIX|COL",
    help="Columns of class scores: a prefix before the class names (p_ for p_good, p_bad), or columns named as the classes.",
)
@preference_options
@click.option(
    "--label", "labels", multiple=True, metavar="LABEL", help="The classes in the order wanted; repeat for each."
)
@click.option("--weight", metavar="COL", help="A column of row weights.")
@click.option("--group", metavar="COL", help="A column of keys: rows of one group belong together; for --confidence.")
@click.option("--confidence", type=float, metavar="SHARE", help="Add confidence intervals, for example 0.95.")
@click.option("--drop-missing", is_flag=True, help="Leave out rows whose true or predicted class is missing.")
@click.option(
    "--cost",
    metavar="FILE",
    help="A table of what decisions cost: true classes down the first column, predicted ones along the header.",
)
@click.option(
    "--priors", multiple=True, metavar="LABEL=SHARE", help="The classes' shares in the training rows; repeat for each."
)
@click.option(
    "--train-file", metavar="FILE", help="Training rows, in place of --priors: relative errors are relative to them."
)
@click.option("--train-truth", metavar="COL", help="The column of classes in --train-file; without it that of --truth.")
@click.option("--markdown", is_flag=True, help="Print GitHub-flavoured Markdown, for a pull request.")
@engine_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(
    file: str,
    truth: str,
    prediction: str | None,
    scores: tuple[str, ...],
    preferences_file: str | None,
    prioritise: tuple[str, ...],
    metric: str | None,
    labels: tuple[str, ...],
    weight: str | None,
    group: str | None,
    confidence: float | None,
    drop_missing: bool,
    cost: str | None,
    priors: tuple[str, ...],
    train_file: str | None,
    train_truth: str | None,
    markdown: bool,
    engine: str | None,
    cluster: str | None,
    as_json: bool,
) -> None:
    """Evaluate the decisions in FILE (CSV, TSV, ARFF or Parquet, also gzip; '-' is standard input).

    Labels are read as text, exactly as written: NA, null and 01 stay what they are; an empty field is missing.
    """
    from compromis.evaluation.evaluate import evaluate
    from compromis.frames import tables as columns
    from compromis.frames.reading import read_scored

    if prediction is None and not scores:
        raise click.UsageError("give --prediction, --proba, or both")
    preferences = read_preferences(preferences_file, prioritise, metric)
    costed, costs = ([], None) if cost is None else read_cost_file(cost)
    if wants_engine(file, engine, cluster) and (engine is not None or group is None):
        if group is not None:
            raise click.UsageError("--group needs the rows in memory; leave out --engine")
        result, dropped = evaluate_large(
            file, truth, prediction, scores, weight, labels, drop_missing, engine, cluster, preferences, confidence
        )
        say_dropped(dropped)
        known = [str(label) for label in result.counts.classes]
        shares = _priors(priors, train_file, train_truth or truth, known)
        _print(
            _completed(result, shares, None if costs is None else _arranged(costs, costed, known)), as_json, markdown
        )
        return
    table, class_of = read_scored(file, [truth, prediction, weight, group], scores)
    labelled = [name for name in (truth, prediction, group) if name is not None]
    table, dropped = columns.drop_missing(table, labelled, drop=drop_missing)
    classes = labels or sorted(class_of.values()) or sorted(costed) or None
    result = evaluate(
        table.columns[truth],
        None if prediction is None else table.columns[prediction],
        y_proba=columns.score_matrix(table, class_of, classes) if classes and class_of else None,
        preferences=preferences,
        labels=classes,
        priors=_priors(priors, train_file, train_truth or truth, classes),
        cost=None if costs is None else _arranged(costs, costed, classes or costed),
        sample_weight=table.weights if weight is None else columns.numbers(table, weight),
        confidence=confidence,
        groups=None if group is None else table.columns[group],
    )
    say_dropped(dropped)
    _print(result, as_json, markdown)


def _print(result: Evaluation, as_json: bool, markdown: bool) -> None:
    if as_json:
        click.echo(result.to_json())
    else:
        click.echo(result.to_markdown() if markdown else report_in_options(str(result)), nl=False)


def _completed(result: Evaluation, priors: dict[Any, float] | None, costs: list[list[float]] | None) -> Evaluation:
    """Add priors and costs to an evaluation whose rows stayed in their engine."""
    from compromis.measures.pragma import read_cost
    from compromis.measures.probability import read_priors

    classes = result.counts.classes
    if priors is not None:
        result = replace(result, priors=read_priors(priors, classes), priors_given=True)
    return result if costs is None else replace(result, cost=read_cost(costs, classes))


def _priors(
    given: tuple[str, ...], train_file: str | None, column: str, classes: Sequence[str] | None
) -> dict[Any, float] | None:
    from compromis.frames.reading import pick_column, read_table
    from compromis.model_selection import training_priors

    if given and train_file:
        raise click.UsageError("give --priors or --train-file, not both")
    if train_file is None:
        return read_pairs(given, "--priors")
    table = read_table(train_file, lambda names: [pick_column(column, names)])
    return training_priors([label for label in table.columns[column] if label is not None], labels=classes)


def _arranged(costs: list[list[float]], costed: list[str], classes: Sequence[str]) -> list[list[float]]:
    """Put the costs into the order of the classes."""
    from compromis._text import shown
    from compromis.errors import InputError

    if sorted(classes) != sorted(costed):
        raise InputError(
            f"the classes of --cost are {shown(costed)}, those of the data {shown(classes)}; give every cost"
        )
    places = [costed.index(label) for label in classes]
    return [[costs[row][column] for column in places] for row in places]
