"""compromis compare: which of several columns of decisions is better, by how much, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from compromis.cli.options import preference_options, read_preferences
from compromis.cli.run import say_dropped

if TYPE_CHECKING:
    from compromis.frames.tables import Table


@click.command("compare")
@click.argument("file")
@click.option("--truth", required=True, metavar="COL", help="The column of true classes.")
@click.option(
    "--prediction",
    "decisions",
    multiple=True,
    required=True,
    metavar="COL",
    help="A column of predicted classes; repeat for each model.",
)
@preference_options
@click.option(
    "--measure", metavar="NAME", help="What decides: loss, accuracy, kappa, balanced_accuracy, macro_f_measure, ..."
)
@click.option("--confidence", default=0.95, show_default=True, metavar="SHARE", help="The confidence of the intervals.")
@click.option("--weight", metavar="COL", help="A column of row weights.")
@click.option("--drop-missing", is_flag=True, help="Leave out rows in which a class is missing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(
    file: str,
    truth: str,
    decisions: tuple[str, ...],
    preferences_file: str | None,
    prioritise: tuple[str, ...],
    metric: str | None,
    measure: str | None,
    confidence: float,
    weight: str | None,
    drop_missing: bool,
    as_json: bool,
) -> None:
    """Compare models whose decisions are columns of FILE (CSV, TSV, ARFF or Parquet, also gzip; '-' is standard input).

    Labels are read as text, exactly as written: NA, null and 01 stay what they are; an empty field is missing.
    """
    from compromis.evaluation.comparison import compare_models
    from compromis.frames import tables as columns

    preferences = read_preferences(preferences_file, prioritise, metric)
    table, dropped = columns.drop_missing(_read(file, truth, decisions, weight), [truth, *decisions], drop=drop_missing)
    result = compare_models(
        table.columns[truth],
        {name: table.columns[name] for name in decisions},
        preferences=preferences,
        measure=measure,
        sample_weight=table.weights if weight is None else columns.numbers(table, weight),
        confidence=confidence,
    )
    say_dropped(dropped)
    click.echo(result.to_json() if as_json else str(result), nl=as_json)


def _read(file: str, truth: str, decisions: tuple[str, ...], weight: str | None) -> Table:
    from compromis.frames.reading import pick_column, read_table

    wanted = [truth, *decisions] if weight is None else [truth, *decisions, weight]
    return read_table(file, lambda names: [pick_column(name, names) for name in wanted])
