"""compromis tradeoff: what the scores in a file offer over all recall weights."""

from __future__ import annotations

import click

from compromis.cli.options import engine_options, wants_engine
from compromis.cli.run import say_dropped


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
    from compromis.tradeoffs.summary import TradeoffReport

    options = {"metric": metric, "min_precision": min_precision, "min_recall": min_recall}
    if wants_engine(file, engine, cluster):
        from compromis.cli.inputs import gather_scores

        points, dropped = gather_scores(file, truth, scores, pos_label, weight, drop_missing, engine, cluster)
        report = TradeoffReport.from_points(points, **options)  # type: ignore[arg-type]
    else:
        from compromis.frames import tables as columns
        from compromis.frames.reading import pick_column, read_table

        wanted = [truth, *scores, *([] if weight is None else [weight])]
        table = read_table(file, lambda names: [pick_column(name, names) for name in wanted])
        table, dropped = columns.drop_missing(table, [truth], drop=drop_missing)
        report = TradeoffReport.from_predictions(
            table.columns[truth],
            {name: columns.numbers(table, name) for name in scores},
            pos_label=pos_label,
            sample_weight=table.weights if weight is None else columns.numbers(table, weight),
            **options,
        )
    if picture is not None:
        from compromis.plots._base import write_picture
        from compromis.plots.tradeoff import TradeoffDisplay

        write_picture(picture, lambda: TradeoffDisplay.from_comparison(report.comparison))
    say_dropped(dropped)
    click.echo(report.to_json() if as_json else str(report))
    if picture is not None:
        click.echo(f"drawn into {picture}", err=True)
