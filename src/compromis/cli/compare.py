"""compromis compare: which of several columns of predictions is better, by how much, and how sure that is."""

from __future__ import annotations

import click

from compromis.cli import options
from compromis.cli.inputs import read_rows
from compromis.cli.show import show


@click.command("compare")
@click.argument("file")
@options.truth
@click.option(
    "--prediction",
    multiple=True,
    required=True,
    metavar="COL",
    help="A column of predicted classes; repeat for each model.",
)
@options.preferences
@click.option(
    "--measure",
    metavar="NAME",
    help="What models are ranked by: loss, accuracy, kappa, balanced_accuracy, macro_f_measure, ...",
)
@options.confidence_of_intervals
@options.weight
@options.drop_missing
@options.as_json
def command(
    file: str,
    truth: str,
    prediction: tuple[str, ...],
    preferences: options.PreferenceChoice,
    measure: str | None,
    confidence: float,
    weight: str | None,
    drop_missing: bool,
    as_json: bool,
) -> None:
    """Compare models whose predictions are columns of FILE (CSV, TSV, ARFF or Parquet, also gzip; '-' is standard input).

    \b
      compromis compare results.csv --truth actual --prediction forest \\
        --prediction logistic --prioritise fraud

    Labels are read as text, exactly as written: NA, null and 01 stay what they are; an empty field is missing.
    """  # noqa: D301 (click reads the backspace)
    import compromis as cp

    wanted = preferences.read()
    table, _ = read_rows(file, [truth, *prediction], [weight], drop=drop_missing)
    result = cp.compare_models(
        table[truth].array(),
        {name: table[name].array() for name in prediction},
        preferences=wanted,
        measure=measure,
        sample_weight=table.row_weights(weight),
        confidence=confidence,
    )
    show(result, as_json=as_json)
