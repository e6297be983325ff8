"""compromis tune: weights for the votes in a file."""

from __future__ import annotations

import click

from compromis.cli.engine_options import engine_options, wants_engine
from compromis.cli.preference_options import preference_options, read_preferences
from compromis.cli.saying import say_dropped, say_interrupted
from compromis.cli.shares import read_pairs


@click.command("tune")
@click.argument("file")
@click.option("--truth", required=True, metavar="COL", help="The column of true classes.")
@click.option(
    "--proba",
    "votes",
    multiple=True,
    required=True,
    metavar="PREFIX|COL",
    help="Columns of votes or probabilities: a prefix before the class names, or columns named as the classes.",
)
@preference_options
@click.option("--method", default="auto", show_default=True, metavar="NAME", help="auto, exact, sweep or annealing.")
@click.option("--smoothing", default=0.0, show_default=True, help="Votes added to every class.")
@click.option(
    "--prevalence",
    multiple=True,
    metavar="LABEL=SHARE",
    help="The class shares where decisions will be taken, if they differ from those of FILE; repeat for each.",
)
@click.option("--seconds", type=float, help="The time the search may take.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same weights.")
@click.option("--drop-missing", is_flag=True, help="Leave out rows whose true class is missing.")
@engine_options
@click.option("--output", metavar="FILE.json", help="Where to write the weights.")
def command(
    file: str,
    truth: str,
    votes: tuple[str, ...],
    preferences_file: str | None,
    prioritise: tuple[str, ...],
    metric: str | None,
    method: str,
    smoothing: float,
    prevalence: tuple[str, ...],
    seconds: float | None,
    seed: int,
    drop_missing: bool,
    engine: str | None,
    cluster: str | None,
    output: str | None,
) -> None:
    """Find the weights with which the votes in FILE serve your preferences best.

    The votes must be honest: of a model that did not see the rows (out-of-bag, out-of-fold, or held out).

    Ctrl-C during the search prints the best weights found so far, writes nothing, and exits with 130; while an engine
    reads the data there are none yet, and it just ends.
    """
    from compromis.cli.progress import search_progress
    from compromis.engines import columns
    from compromis.engines.reading import read_scored
    from compromis.evidence.votes import Votes
    from compromis.reporting.change import Change
    from compromis.weights import search_weights

    preferences = read_preferences(preferences_file, prioritise, metric, required=True)
    if wants_engine(file, engine, cluster):
        from compromis.cli.tune_large import tune_large

        settings = {"method": method, "smoothing": smoothing, "budget": seconds, "random_state": seed}
        tune_large(file, truth, votes, drop_missing, engine, cluster, preferences, output, settings)
        return
    table, class_of = read_scored(file, [truth], votes)
    table, dropped = columns.drop_missing(table, [truth], drop=drop_missing)
    classes = sorted(class_of.values())
    matrix = columns.score_matrix(table, class_of, classes)
    patterns = Votes.from_proba(table.columns[truth], matrix, labels=classes, sample_weight=table.weights)
    shares = read_pairs(prevalence, "--prevalence")
    patterns = patterns if shares is None else patterns.with_prevalence(shares)
    with search_progress() as progress:
        found = search_weights(
            patterns,
            preferences=preferences,
            method=method,
            smoothing=smoothing,
            budget=seconds,
            progress=progress,
            random_state=seed,
        )
    if output is not None and not progress.interrupted:
        found.decision.to_json(output)
    change = Change(patterns.counts([1.0] * len(classes)), found.counts, preferences)
    say_dropped(dropped)
    click.echo(change)
    click.echo(found.summary())
    if progress.interrupted:
        say_interrupted()
    if output is not None:
        click.echo(f"weights written to {output}")
