"""compromis check: a check for continuous integration, which fails when a minimum is missed."""

from __future__ import annotations

from typing import Any

import click

from compromis.cli import options
from compromis.cli.inputs import Predictions
from compromis.cli.show import show


@click.command("check")
@click.argument("file")
@click.option("--preferences", required=True, metavar="FILE.toml", help="What matters, with minima.")
@options.truth
@options.prediction
@options.proba("Columns of votes or probabilities, decided by --weights; without --weights, by the highest")
@options.weights
@click.option("--max-loss", type=float, metavar="LOSS", help="The largest loss to accept.")
@options.label
@options.confidence_of_states
@options.fail_on
@options.drop_missing
@options.markdown
@options.as_json
def command(
    file: str,
    preferences: str,
    truth: str,
    label: tuple[str, ...],
    markdown: bool,
    as_json: bool,
    max_loss: float | None,
    confidence: float,
    fail_on: str,
    **predictions: Any,
) -> None:
    """Check the decisions in FILE against the minima of your preferences (CSV, TSV, ARFF or Parquet; '-' is standard input).

    The exit code is 0 when every minimum is met, 1 when one is missed (with --fail-on surely-missed: when the whole interval of a
    number lies beyond its bound), and 2 when the check could not be made.
    """
    import compromis as cp

    columns = Predictions(**predictions)
    wanted = cp.Preferences.from_toml(preferences)
    predicted = columns.read(file, truth)
    evaluation = cp.evaluate(predicted.with_classes(label), preferences=wanted, confidence=confidence)
    result = cp.check(evaluation, max_loss=max_loss, fail_on=fail_on)
    show(result, as_json=as_json, markdown=markdown)
    if not result.passed:
        raise click.exceptions.Exit(1)
