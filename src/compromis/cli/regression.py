"""compromis evaluate --regression: the report of a file of true and predicted numbers."""

from __future__ import annotations

from typing import Any

import click

from compromis.cli import options
from compromis.cli.inputs import kept_rows, opened_file
from compromis.cli.show import show


@click.command("evaluate")
@click.argument("file")
@click.option("--regression", is_flag=True, expose_value=False, help="Evaluate numbers instead of classes.")
@click.option("--truth", required=True, metavar="COL", help="The column of true numbers.")
@click.option("--prediction", required=True, metavar="COL", help="The column of predicted numbers.")
@click.option("--train-file", metavar="FILE", help="Training rows: relative errors are relative to their mean target.")
@click.option("--train-truth", metavar="COL", help="The column of targets in --train-file; without it that of --truth.")
@click.option("--baseline", multiple=True, metavar="COL|NUMBER", help="Predictions without a model to compare with.")
@click.option(
    "--tolerance",
    multiple=True,
    type=float,
    metavar="WIDTH",
    help="A width within which a prediction counts as right.",
)
@click.option(
    "--relative-tolerance",
    multiple=True,
    type=options.share,
    metavar="SHARE",
    help="The same as a share of the true number; default 0.001, 0.01 and 0.1.",
)
@click.option(
    "--quantile",
    "quantiles",
    multiple=True,
    type=options.share,
    metavar="SHARE",
    help="Shares of the rows whose largest absolute error is wanted.",
)
@click.option(
    "--under-weight", type=float, default=0.5, show_default=True, help="What a unit of under-prediction costs."
)
@click.option("--over-weight", type=float, default=0.5, show_default=True, help="What a unit of over-prediction costs.")
@options.weight
@options.confidence
@click.option("--drop-missing", is_flag=True, help="Leave out rows whose true or predicted number is missing.")
@options.as_json
def command(
    file: str,
    truth: str,
    prediction: str,
    train_file: str | None,
    train_truth: str | None,
    baseline: tuple[str, ...],
    weight: str | None,
    drop_missing: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Evaluate the predicted numbers in FILE (CSV, TSV, ARFF or Parquet, also gzip; '-' is standard input)."""
    import compromis as cp

    constants = {name: number for name in baseline if (number := _constant(name)) is not None}
    with opened_file(file) as scan:
        table = scan.read([], [truth, prediction, *(name for name in baseline if name not in constants), weight])
    table = kept_rows(table, [truth, prediction], drop=drop_missing, what="a number")
    trained = train_truth or truth
    result = cp.regression.evaluate(
        table.numbers(truth),
        table.numbers(prediction),
        baseline={name: constants[name] if name in constants else table.numbers(name) for name in baseline} or None,
        sample_weight=table.row_weights(weight),
        y_train=None if train_file is None else cp.frames.read_table(train_file, [trained]).numbers(trained),
        **{name: value for name, value in settings.items() if value is not None and value != ()},
    )
    show(result, as_json=as_json)


def _constant(name: str) -> float | None:
    try:
        return float(name)
    except ValueError:
        return None
