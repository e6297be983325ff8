"""compromis report: one HTML page about the predictions or votes in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from compromis.cli import options
from compromis.cli.inputs import listed, read_rows, telling

if TYPE_CHECKING:
    import compromis as cp


@click.command("report")
@click.argument("file")
@options.truth
@click.option(
    "--prediction",
    metavar="COL",
    help="The column of predicted classes; without it, the weights or the highest score decide.",
)
@options.proba("Columns of votes or probabilities, with which the page has knobs")
@options.preferences
@click.option(
    "--weights", metavar="FILE.json", help="Weights that 'compromis tune' wrote; without it the highest score decides."
)
@options.weight
@options.confidence_of_intervals
@click.option("--title", metavar="TEXT", help="What stands on top.")
@options.seed
@options.drop_missing
@options.output("FILE.html", "Where to write the page.", default="report.html", show_default=True)
@click.pass_context
def command(
    context: click.Context,
    file: str,
    truth: str,
    prediction: str | None,
    proba: tuple[str, ...],
    preferences: options.PreferenceChoice,
    weights: str | None,
    weight: str | None,
    confidence: float,
    title: str | None,
    seed: int,
    drop_missing: bool,
    output: str,
) -> None:
    """Write a report about the predictions in FILE (CSV, TSV, ARFF or Parquet, also gzip; '-' is standard input).

    \b
      compromis report votes.csv --truth actual --proba p_ \\
        --prioritise fraud --output report.html

    The page needs neither a server nor the network, and holds counts and vote patterns, no rows.
    """  # noqa: D301 (click reads the backspace)
    import compromis as cp

    if prediction is None and not proba:
        raise click.UsageError("give --prediction, --proba, or both")
    wanted = preferences.read()
    rule = None if weights is None else cp.Decision.from_json(weights)
    with telling(f"reading {file}"):
        table, class_of = read_rows(file, [truth, prediction], [weight], proba=proba, drop=drop_missing)
    classes = sorted(class_of.values()) or None
    scores = None if classes is None else table.scores(class_of, classes)
    if rule is not None and tuple(classes or ()) != rule.classes:
        raise cp.InputError(
            f"the weights are for {listed(rule.classes)}, the scores for {listed(classes or ())}; give scores of the same classes"
        )
    predicted = rule.decide(scores) if rule is not None and prediction is None else None
    true, rows = table[truth].array(), dict[str, Any](labels=classes, sample_weight=table.row_weights(weight))
    with telling(f"evaluating {len(table):,} rows and drawing the page"):
        result = cp.evaluate(
            true,
            predicted if prediction is None else table[prediction].array(),
            y_proba=scores,
            preferences=wanted,
            confidence=confidence,
            **rows,
        )
        cp.report(
            result,
            output,
            votes=None if scores is None else cp.Votes.from_proba(true, scores, **rows),
            weights=None if rule is None else rule.weights,
            smoothing=0.0 if rule is None else rule.smoothing,
            review=None if rule is None else rule.review,
            title=title or f"{_subject(result, truth)} in {Path(table.source).name}",
            command=context.meta["written"],
            decision=_decision(prediction, weights, class_of),
            random_state=seed,
        )
    click.echo(str(result.headline))
    if result.verdict is not None:
        click.echo(f"Verdict: {result.verdict.word}.")
    click.echo(f"report written to {output}")


def _subject(result: cp.Evaluation, truth: str) -> str:
    """Return what the page is about: the class that matters most, else the column of classes."""
    told = result.headline
    return str(told.classes[0].label) if told.matters and len(told.classes) == 1 else truth


def _decision(prediction: str | None, weights: str | None, class_of: dict[str, Any]) -> str:
    """Return which decision the page judges, by the names of columns and files."""
    if prediction is not None:
        return f"column '{prediction}'"
    first, *_, last = class_of
    columns = listed(class_of) if len(class_of) <= 4 else f"the {len(class_of)} columns from '{first}' to '{last}'"
    return f"the highest of {columns}" if weights is None else f"the weights of '{weights}' on {columns}"
