"""compromis check: a check for continuous integration, which fails when a minimum is missed."""

from __future__ import annotations

from typing import Any

import click

from compromis.cli import options
from compromis.cli.inputs import Predictions, need_truth
from compromis.cli.show import show


@click.command("check")
@click.argument("file")
@click.option("--preferences", metavar="FILE.toml", help="What matters, with minima.")
@click.option(
    "--record",
    metavar="RECORD.json",
    help="What 'compromis record' wrote, in place of --preferences. FILE is its evidence, or new rows whose --proba it decides.",
)
@click.option("--truth", metavar="COL", help="The column of true classes.")
@options.prediction
@options.proba("Columns of votes or probabilities, decided by --weights; without --weights, by the highest")
@options.weights
@click.option("--max-loss", type=float, metavar="LOSS", help="The largest loss to accept.")
@options.label
@options.by
@options.confidence_of_states
@options.fail_on
@options.drop_missing
@options.markdown
@options.as_json
def command(
    file: str,
    preferences: str | None,
    record: str | None,
    truth: str | None,
    label: tuple[str, ...],
    markdown: bool,
    as_json: bool,
    max_loss: float | None,
    confidence: float,
    fail_on: str,
    **predictions: Any,
) -> None:
    """Check the predictions in FILE against the constraints of your preferences (CSV, TSV, ARFF or Parquet; '-' is standard input).

    \b
      compromis check results.csv --truth actual --prediction model \\
        --preferences what_matters.toml

    With --record and the evidence that it names, every number of the record is computed again: the same decision (with --weights), the
    same evidence, still valid. The exit code is 0 when every minimum is met, 1 when one is missed (with --fail-on surely-missed:
    when the whole interval of a number lies beyond its bound), and 2 when the check could not be made.
    """  # noqa: D301 (click reads the backspace)
    import compromis as cp

    if (preferences is None) == (record is None):
        raise click.UsageError("give either --preferences or --record")
    if record is not None and truth is None:
        _check_record(
            record, file, predictions["weights"], [name for name in ("prediction", "proba", "by") if predictions[name]]
        )
        return
    truth = need_truth(truth)
    if record is not None and predictions["weights"] is not None:
        _check_same(record, predictions["weights"])
    columns = Predictions(**predictions, record=record)
    wanted = cp.Preferences.from_toml(preferences) if preferences else cp.evaluation.Record.parts(str(record))[1]
    predicted = columns.read(file, truth)
    evaluation = predicted.evaluate(label, preferences=wanted, confidence=confidence)
    result = cp.check(evaluation, max_loss=max_loss, fail_on=fail_on)
    show(result, as_json=as_json, markdown=markdown)
    if not result.passed:
        raise click.exceptions.Exit(1)


def _check_record(record: str, evidence: str, weights: str | None, columns: list[str]) -> None:
    """Verify the record by its evidence, and say whether its decision may be used."""
    import compromis as cp

    if columns:
        raise click.UsageError(
            f"give --truth with --{columns[0]} to check new rows, or the evidence of the record alone"
        )
    verified = cp.evaluation.Record.verify(record, evidence)
    if weights is not None:
        _check_same(record, weights)
    failures = verified.failures()
    for failure in failures:
        click.echo(f"MISSED  {failure}")
    same = "same decision, " if weights is not None else ""
    click.echo(
        f"The record {'is verified' if failures else 'holds'}: {same}same evidence, {'but not valid' if failures else 'still valid'}."
    )
    if failures:
        raise click.exceptions.Exit(1)


def _check_same(record: str, weights: str) -> None:
    import compromis as cp

    if cp.evaluation.Record.parts(record)[0].document() != cp.Decision.from_json(weights).document():
        raise click.UsageError(
            f"{weights} holds another decision than {record}; record it, or use the one that was recorded"
        )
