"""compromis check: a gate for continuous integration, closed when a minimum is missed."""

from __future__ import annotations

import click

from compromis.cli.run import say_dropped


@click.command("check")
@click.argument("file")
@click.option(
    "--preferences", "preferences_file", required=True, metavar="FILE.toml", help="What matters, with minima."
)
@click.option("--truth", required=True, metavar="COL", help="The column of true classes.")
@click.option("--prediction", metavar="COL", help="The column of predicted classes.")
@click.option(
    "--proba",
    "votes",
    multiple=True,
    metavar="PREFIX|COL",
    help="Columns of votes or probabilities, decided by --weights; without --weights, by the highest.",
)
@click.option("--weights", metavar="FILE.json", help="The weights that 'compromis tune --output' wrote.")
@click.option("--max-loss", type=float, metavar="LOSS", help="The largest loss to accept.")
@click.option("--drop-missing", is_flag=True, help="Leave out rows whose true or predicted class is missing.")
@click.option("--markdown", is_flag=True, help="Print GitHub-flavoured Markdown, for a job summary or a pull request.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(
    file: str,
    preferences_file: str,
    truth: str,
    prediction: str | None,
    votes: tuple[str, ...],
    weights: str | None,
    max_loss: float | None,
    drop_missing: bool,
    markdown: bool,
    as_json: bool,
) -> None:
    """Check the decisions in FILE against the minima of your preferences (CSV, TSV, ARFF or Parquet; '-' is standard input).

    The exit code is 0 when every minimum is met, 1 when one is missed, and 2 when the check could not be made.
    """
    from compromis.cli.inputs import check_options, read_predicted
    from compromis.evaluation.checks import check
    from compromis.evaluation.evaluate import evaluate
    from compromis.preferences import Preferences

    check_options(prediction, votes, weights)
    preferences = Preferences.from_toml(preferences_file)
    predicted = read_predicted(file, truth, prediction, votes, weights, drop=drop_missing)
    assert predicted.counts is not None
    result = evaluate(predicted.counts, preferences=preferences)
    found = check(result, max_loss=max_loss)
    say_dropped(predicted.dropped)
    if as_json:
        click.echo(found.to_json())
    elif markdown:
        click.echo(found.to_markdown(), nl=False)
    else:
        click.echo(found)
    if not found.passed:
        raise click.exceptions.Exit(1)
