"""compromis report: one HTML page about the decisions or votes in a file."""

from __future__ import annotations

import shlex
from typing import Any

import click

from compromis._text import shown
from compromis.cli.options import preference_options, read_preferences
from compromis.cli.run import say_dropped


class _Remembering(click.Command):
    """Keeps the arguments as they were written, for the report to show."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> click.Context:
        written = shlex.join(["compromis", "report", *args])
        context = super().make_context(info_name, args, parent, **extra)
        context.meta["written"] = written
        return context


@click.command("report", cls=_Remembering)
@click.argument("file")
@click.option("--truth", required=True, metavar="COL", help="The column of true classes.")
@click.option(
    "--prediction",
    metavar="COL",
    help="The column of predicted classes; without it, the weights or the highest score decide.",
)
@click.option(
    "--proba",
    "scores",
    multiple=True,
    metavar="PREFIX|COL",
    help="Columns of votes or probabilities: a prefix before the class names, or columns named as the classes; the page then has knobs.",
)
@preference_options
@click.option(
    "--weights",
    "weights_file",
    metavar="FILE.json",
    help="Weights that 'compromis tune' wrote; without it they are searched.",
)
@click.option("--weight", metavar="COL", help="A column of row weights.")
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, metavar="SHARE", help="The confidence of intervals."
)
@click.option("--title", metavar="TEXT", help="What stands on top.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same weights.")
@click.option("--drop-missing", is_flag=True, help="Leave out rows whose true or predicted class is missing.")
@click.option(
    "--output", default="report.html", show_default=True, metavar="FILE.html", help="Where to write the page."
)
@click.pass_context
def command(
    context: click.Context,
    file: str,
    truth: str,
    prediction: str | None,
    scores: tuple[str, ...],
    preferences_file: str | None,
    prioritise: tuple[str, ...],
    metric: str | None,
    weights_file: str | None,
    weight: str | None,
    confidence: float,
    title: str | None,
    seed: int,
    drop_missing: bool,
    output: str,
) -> None:
    """Write a report about the decisions in FILE (CSV, TSV, ARFF or Parquet, also gzip; '-' is standard input).

    The page needs neither a server nor the network, and holds counts and vote patterns, no rows.
    """
    import compromis as cp
    from compromis.frames import tables as columns
    from compromis.frames.reading import read_scored

    if prediction is None and not scores:
        raise click.UsageError("give --prediction, --proba, or both")
    preferences = read_preferences(preferences_file, prioritise, metric)
    table, class_of = read_scored(file, [truth, prediction, weight], scores)
    table, dropped = columns.drop_missing(table, [name for name in (truth, prediction) if name], drop=drop_missing)
    classes = sorted(class_of.values()) or None
    y_true: Any = table.columns[truth]
    y_pred: Any = None if prediction is None else table.columns[prediction]
    y_proba = None if classes is None else columns.score_matrix(table, class_of, classes)
    sample_weight = table.weights if weight is None else columns.numbers(table, weight)
    decision = None if weights_file is None else cp.Decision.from_json(weights_file)
    if decision is not None and tuple(classes or ()) != decision.classes:
        raise cp.InputError(
            f"the weights are for {shown(decision.classes)}, the scores for {shown(classes or ())}; "
            f"give scores of the same classes"
        )
    if decision is not None and y_pred is None:
        y_pred = decision.decide(y_proba)
    made = cp.report(
        cp.evaluate(
            y_true,
            y_pred,
            y_proba=y_proba,
            labels=classes,
            preferences=preferences,
            sample_weight=sample_weight,
            confidence=confidence,
        ),
        output,
        votes=None
        if y_proba is None
        else cp.Votes.from_proba(y_true, y_proba, labels=classes, sample_weight=sample_weight),
        weights=None if decision is None else decision.weights,
        smoothing=0.0 if decision is None else decision.smoothing,
        title=title or f"{table.source}: {truth}",
        command=context.meta["written"],
        random_state=seed,
    )
    say_dropped(dropped)
    if made.evaluation.verdict is not None:
        click.echo(f"Verdict: {made.evaluation.verdict}.")
    click.echo(f"report written to {output}")
