"""compromis count: the evidence of one file, to be merged with others."""

from __future__ import annotations

from typing import Any

import click

from compromis.cli.options import engine_options
from compromis.cli.run import say_dropped


@click.command("count")
@click.argument("file")
@click.option("--truth", required=True, metavar="COL", help="The column of true classes.")
@click.option("--prediction", metavar="COL", help="The column of predicted classes: counts are written.")
@click.option(
    "--proba",
    "votes",
    multiple=True,
    metavar="PREFIX|COL",
    help="Columns of votes: vote patterns are written, to tune weights by.",
)
@click.option("--score", metavar="COL", help="A column of scores: operating points are written, with --pos-label.")
@click.option("--pos-label", metavar="LABEL", help="The class that --score is for.")
@click.option("--bins", type=int, metavar="N", help="Round votes to steps of 1/N, or count scores in N bins.")
@click.option(
    "--within",
    type=float,
    nargs=2,
    metavar="LOW HIGH",
    help="The range of the bins of --score; the same in every part.",
)
@click.option("--weight", metavar="COL", help="A column of row weights.")
@click.option("--min-cell", default=0, show_default=True, metavar="N", help="Keep back cells of fewer rows.")
@click.option("--drop-missing", is_flag=True, help="Leave out rows in which a class is missing.")
@engine_options
@click.option("--output", required=True, metavar="PART.json", help="Where to write the evidence.")
def command(file: str, output: str, min_cell: int, **options: Any) -> None:
    """Count FILE (CSV, TSV, Parquet, a folder, or 'data/*.parquet') and write the evidence, for 'compromis merge'.

    Only counts leave the file; docs/engines.md says what they reveal.
    """
    from compromis.cli.inputs import gather
    from compromis.evidence import write

    asked = [bool(options["prediction"]), bool(options["votes"]), bool(options["score"])]
    if sum(asked) != 1:
        raise click.UsageError("give one of --prediction, --proba and --score")
    if options["score"] and options["pos_label"] is None:
        raise click.UsageError("--score needs --pos-label, the class that it is for")
    evidence, dropped = gather(file, **options)
    written = write(evidence, output, min_cell=min_cell)
    say_dropped(dropped)
    if str(written.suppressed):
        click.echo(str(written.suppressed), err=True)
    click.echo(f"evidence written to {output}")
