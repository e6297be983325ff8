"""compromis evaluate --regression: the report of a file of true and predicted numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from compromis.cli.run import report_in_options

if TYPE_CHECKING:
    from compromis.frames.tables import Table


@click.command("evaluate")
@click.argument("file")
@click.option("--regression", is_flag=True, expose_value=False, help="Evaluate numbers instead of classes.")
@click.option("--truth", required=True, metavar="COL", help="The column of true numbers.")
@click.option("--prediction", required=True, metavar="COL", help="The column of predicted numbers.")
@click.option("--train-file", metavar="FILE", help="Training rows: relative errors are relative to their mean target.")
@click.option("--train-truth", metavar="COL", help="The column of targets in --train-file; without it that of --truth.")
@click.option(
    "--baseline", "baselines", multiple=True, metavar="COL|NUMBER", help="Predictions without a model to compare with."
)
@click.option(
    "--tolerance",
    "tolerances",
    multiple=True,
    type=float,
    metavar="WIDTH",
    help="A width within which a prediction counts as right.",
)
@click.option(
    "--relative-tolerance",
    "relative",
    multiple=True,
    type=float,
    metavar="SHARE",
    help="The same as a share of the true number; default 0.001, 0.01 and 0.1.",
)
@click.option(
    "--quantile",
    "quantiles",
    multiple=True,
    type=float,
    metavar="SHARE",
    help="Shares of the rows whose largest absolute error is wanted.",
)
@click.option(
    "--under-weight", type=float, default=0.5, show_default=True, help="What a unit of under-prediction costs."
)
@click.option("--over-weight", type=float, default=0.5, show_default=True, help="What a unit of over-prediction costs.")
@click.option("--weight", metavar="COL", help="A column of row weights.")
@click.option("--confidence", type=float, metavar="LEVEL", help="Add intervals, for example 0.95.")
@click.option("--drop-missing", is_flag=True, help="Leave out rows whose true or predicted number is missing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(
    file: str,
    truth: str,
    prediction: str,
    train_file: str | None,
    train_truth: str | None,
    baselines: tuple[str, ...],
    weight: str | None,
    drop_missing: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Evaluate the predicted numbers in FILE (CSV, TSV, ARFF or Parquet, also gzip; '-' is standard input)."""
    from compromis.frames import tables as columns
    from compromis.regression.evaluation import evaluate

    constants = {name: number for name in baselines if (number := _constant(name)) is not None}
    table = _read(file, [truth, prediction, *(name for name in baselines if name not in constants)], weight)
    table, dropped = columns.drop_missing(table, [truth, prediction], drop=drop_missing)
    result = evaluate(
        columns.numbers(table, truth),
        columns.numbers(table, prediction),
        baseline={name: constants[name] if name in constants else columns.numbers(table, name) for name in baselines}
        or None,
        sample_weight=table.weights if weight is None else columns.numbers(table, weight),
        y_train=None if train_file is None else _training(train_file, train_truth or truth),
        **_given(options),
    )
    if dropped:
        click.echo(f"left out {dropped:,} rows without a number", err=True)
    click.echo(result.to_json() if as_json else report_in_options(str(result)), nl=as_json)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the library's keywords for the options given; those not given keep the library's defaults."""
    names = {"tolerances": "tolerance", "relative": "relative_tolerance"}
    return {names.get(name, name): value for name, value in options.items() if value is not None and value != ()}


def _constant(name: str) -> float | None:
    try:
        return float(name)
    except ValueError:
        return None


def _training(file: str, column: str) -> Any:
    from compromis.frames import tables as columns

    return columns.numbers(_read(file, [column], None), column)


def _read(file: str, names: list[str], weight: str | None) -> Table:
    from compromis.frames.reading import pick_column, read_table

    wanted = names if weight is None else [*names, weight]
    return read_table(file, lambda found: [pick_column(name, found) for name in wanted])
