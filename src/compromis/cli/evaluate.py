"""compromis evaluate: the report of a file of true and decided classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from compromis.engines.table import Table
    from compromis.preferences import Preferences


@click.command("evaluate")
@click.argument("file")
@click.option("--truth", required=True, metavar="COL", help="The column of true classes.")
@click.option(
    "--decision", metavar="COL", help="The column of decided classes; without it, the class of the highest score."
)
@click.option(
    "--scores",
    multiple=True,
    metavar="PREFIX|COL",
    help="Columns of class scores: a prefix before the class names (p_ for p_good, p_bad), or columns named as the classes.",
)
@click.option(
    "--preferences", "preferences_file", metavar="FILE.toml", help="What matters; see 'compromis preferences'."
)
@click.option(
    "--prioritise", multiple=True, metavar="LABEL", help="Classes that matter most: importance 10, answers 0.1 and 0.9."
)
@click.option("--index", default=None, metavar="NAME", help="kulczynski, f, fowlkes_mallows or jaccard.")
@click.option(
    "--label", "labels", multiple=True, metavar="LABEL", help="The classes in the order wanted; repeat for each."
)
@click.option("--weight", metavar="COL", help="A column of row weights.")
@click.option("--drop-missing", is_flag=True, help="Leave out rows whose true or decided class is missing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(
    file: str,
    truth: str,
    decision: str | None,
    scores: tuple[str, ...],
    preferences_file: str | None,
    prioritise: tuple[str, ...],
    index: str | None,
    labels: tuple[str, ...],
    weight: str | None,
    drop_missing: bool,
    as_json: bool,
) -> None:
    """Evaluate the decisions in FILE (CSV, TSV, ARFF or Parquet, also gzip; '-' is standard input).

    Labels are read as text, exactly as written: NA, null and 01 stay what they are; an empty field is missing.
    """
    from compromis.engines import columns
    from compromis.evaluation.evaluate import evaluate

    if decision is None and not scores:
        raise click.UsageError("give --decision, --scores, or both")
    wish = read_wish(preferences_file, prioritise, index)
    table = _read(file, truth, decision, scores, weight)
    labelled = [truth] if decision is None else [truth, decision]
    table, dropped = columns.drop_missing(table, labelled, drop=drop_missing)
    score_of = columns.choose_scores(scores, list(table.columns)) if scores else {}
    classes = labels or (sorted(score_of.values()) if score_of else None)
    result = evaluate(
        table.columns[truth],
        None if decision is None else table.columns[decision],
        y_proba=columns.score_matrix(table, score_of, classes) if classes and score_of else None,
        preferences=wish,
        labels=classes,
        sample_weight=table.weights if weight is None else columns.numbers(table, weight),
    )
    if dropped:
        click.echo(f"left out {dropped:,} rows without a class", err=True)
    click.echo(result.to_json() if as_json else str(result), nl=as_json)


def read_wish(preferences_file: str | None, prioritise: tuple[str, ...], index: str | None) -> Preferences | None:
    """Return the preferences that the options ask for."""
    from compromis.preferences import Preferences

    if preferences_file and prioritise:
        raise click.UsageError("give --preferences or --prioritise, not both")
    wish = None
    if preferences_file:
        wish = Preferences.from_toml(preferences_file)
    elif prioritise or index:
        wish = Preferences.prioritise(prioritise)
    return wish.with_index(index) if wish is not None and index is not None else wish


def _read(file: str, truth: str, decision: str | None, scores: tuple[str, ...], weight: str | None) -> Table:
    from compromis.engines.columns import choose_scores
    from compromis.engines.reading import pick_column, read_table

    def choose(names: list[str]) -> list[str]:
        named = [pick_column(name, names) for name in (truth, decision, weight) if name is not None]
        return named + list(choose_scores(scores, [name for name in names if name not in named])) if scores else named

    return read_table(file, choose)
