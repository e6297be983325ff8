"""compromis evaluate: the report of a file of true and decided classes."""

from __future__ import annotations

from typing import Any

import click

from compromis.cli.engine_options import engine_options, wants_engine
from compromis.cli.saying import say_dropped
from compromis.cli.wishes import read_wish, wish_options


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
    "--decision", metavar="COL", help="The column of decided classes; without it, the class of the highest score."
)
@click.option(
    "--scores",
    multiple=True,
    metavar="PREFIX|COL",
    help="Columns of class scores: a prefix before the class names (p_ for p_good, p_bad), or columns named as the classes.",
)
@wish_options
@click.option(
    "--label", "labels", multiple=True, metavar="LABEL", help="The classes in the order wanted; repeat for each."
)
@click.option("--weight", metavar="COL", help="A column of row weights.")
@click.option("--group", metavar="COL", help="A column of keys: rows of one group belong together; for --confidence.")
@click.option("--confidence", type=float, metavar="SHARE", help="Add confidence intervals, for example 0.95.")
@click.option("--drop-missing", is_flag=True, help="Leave out rows whose true or decided class is missing.")
@engine_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(
    file: str,
    truth: str,
    decision: str | None,
    scores: tuple[str, ...],
    preferences_file: str | None,
    prioritise: tuple[str, ...],
    index: str | None,
    labels: tuple[str, ...],
    weight: str | None,
    group: str | None,
    confidence: float | None,
    drop_missing: bool,
    engine: str | None,
    cluster: str | None,
    as_json: bool,
) -> None:
    """Evaluate the decisions in FILE (CSV, TSV, ARFF or Parquet, also gzip; '-' is standard input).

    Labels are read as text, exactly as written: NA, null and 01 stay what they are; an empty field is missing.
    """
    from compromis.engines import columns
    from compromis.engines.reading import read_scored
    from compromis.evaluation.evaluate import evaluate

    if decision is None and not scores:
        raise click.UsageError("give --decision, --scores, or both")
    wish = read_wish(preferences_file, prioritise, index)
    if wants_engine(file, engine, cluster) and (engine is not None or group is None):
        from compromis.cli.evaluate_large import evaluate_large

        if group is not None:
            raise click.UsageError("--group needs the rows in memory; leave out --engine")
        result, dropped = evaluate_large(
            file, truth, decision, scores, weight, labels, drop_missing, engine, cluster, wish, confidence
        )
        say_dropped(dropped)
        click.echo(result.to_json() if as_json else str(result), nl=as_json)
        return
    table, class_of = read_scored(file, [truth, decision, weight, group], scores)
    labelled = [name for name in (truth, decision, group) if name is not None]
    table, dropped = columns.drop_missing(table, labelled, drop=drop_missing)
    classes = labels or sorted(class_of.values()) or None
    result = evaluate(
        table.columns[truth],
        None if decision is None else table.columns[decision],
        y_proba=columns.score_matrix(table, class_of, classes) if classes and class_of else None,
        preferences=wish,
        labels=classes,
        sample_weight=table.weights if weight is None else columns.numbers(table, weight),
        confidence=confidence,
        groups=None if group is None else table.columns[group],
    )
    say_dropped(dropped)
    click.echo(result.to_json() if as_json else str(result), nl=as_json)
