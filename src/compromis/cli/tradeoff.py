"""compromis tradeoff: what the scores in a file offer over all recall weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from compromis.cli.options import engine_options, wants_engine
from compromis.cli.run import say_dropped

if TYPE_CHECKING:
    from compromis.tradeoffs.comparison import Comparison


@click.command("tradeoff")
@click.argument("file")
@click.option("--truth", required=True, metavar="COL", help="The column of true classes.")
@click.option("--pos-label", required=True, metavar="LABEL", help="The class that the scores are for.")
@click.option(
    "--score",
    "scores",
    multiple=True,
    required=True,
    metavar="COL",
    help="A column of scores, higher for the positive class; repeat to compare.",
)
@click.option(
    "--metric",
    default="kulczynski",
    show_default=True,
    metavar="NAME",
    help="kulczynski, f, fowlkes_mallows or jaccard.",
)
@click.option("--min-precision", type=float, metavar="SHARE", help="The least precision to accept.")
@click.option("--min-recall", type=float, metavar="SHARE", help="The least recall to accept.")
@click.option("--weight", metavar="COL", help="A column of row weights.")
@click.option("--drop-missing", is_flag=True, help="Leave out rows whose true class is missing.")
@engine_options
@click.option("--plot", "picture", metavar="FILE.svg", help="Draw the curves into a file (svg, png or pdf).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(
    file: str,
    truth: str,
    pos_label: str,
    scores: tuple[str, ...],
    metric: str,
    min_precision: float | None,
    min_recall: float | None,
    weight: str | None,
    drop_missing: bool,
    engine: str | None,
    cluster: str | None,
    picture: str | None,
    as_json: bool,
) -> None:
    """Say for which recall weights which cut of the scores in FILE is best, and compare several scores.

    Recall weight 0 is precision alone, 1 recall alone.
    """
    from compromis.tradeoffs.comparison import compare_curves

    if wants_engine(file, engine, cluster):
        from compromis.cli.inputs import gather_scores

        points, dropped = gather_scores(file, truth, scores, pos_label, weight, drop_missing, engine, cluster)
    else:
        from compromis.evidence.points import OperatingPoints
        from compromis.frames import tables as columns
        from compromis.frames.reading import pick_column, read_table

        wanted = [truth, *scores, *([] if weight is None else [weight])]
        table = read_table(file, lambda names: [pick_column(name, names) for name in wanted])
        table, dropped = columns.drop_missing(table, [truth], drop=drop_missing)
        points = {
            name: OperatingPoints.from_predictions(
                table.columns[truth],
                columns.numbers(table, name),
                pos_label=pos_label,
                sample_weight=table.weights if weight is None else columns.numbers(table, weight),
            )
            for name in scores
        }
    comparison = compare_curves(points, metric, min_precision=min_precision, min_recall=min_recall)
    text = tradeoff_text(comparison, as_json)
    if picture is not None:
        from compromis.plots.tradeoff import TradeoffDisplay

        TradeoffDisplay(comparison).save(picture)
    say_dropped(dropped)
    click.echo(text)
    if picture is not None:
        click.echo(f"drawn into {picture}", err=True)


def tradeoff_text(comparison: Comparison, as_json: bool) -> str:
    """Return the text or JSON of a comparison; raise where no model has a curve."""
    from compromis.errors import InputError

    verdict = comparison.verdict
    if not verdict.winners:
        raise InputError("; ".join(f"{name}: {reason}" for name, reason in verdict.undefined.items()))
    return comparison.to_json() if as_json else comparison.report()
