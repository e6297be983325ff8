"""compromis count: the evidence of one file, to be merged with others."""

from __future__ import annotations

from typing import Any

import click

from compromis.cli import options
from compromis.cli.inputs import opened, read_sample, refuse_others, say_dropped


@click.command("count")
@click.argument("file")
@options.truth
@click.option("--prediction", metavar="COL", help="The column of predicted classes: counts are written.")
@options.proba("Columns of votes, of which vote patterns are written, to tune weights by")
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
@options.sample
@options.weight
@options.min_cell
@click.option("--drop-missing", is_flag=True, help="Leave out rows in which a class is missing.")
@options.engine
@options.output("PART.json", "Where to write the evidence.", required=True)
def command(
    file: str,
    prediction: str | None,
    proba: tuple[str, ...],
    score: str | None,
    pos_label: str | None,
    bins: int | None,
    within: tuple[float, float] | None,
    min_cell: int,
    sample: str | None,
    engine: options.Engine,
    output: str,
    **columns: Any,
) -> None:
    """Count FILE (CSV, TSV, ARFF, Parquet, a folder, 'data/*.parquet' or '-') and write the evidence, for 'compromis merge'.

    \b
      compromis count monday.csv --truth actual --prediction model \\
        --output monday.json

    Only counts leave the file; docs/engines.md says what they reveal.
    """  # noqa: D301 (click reads the backspace)
    import compromis as cp

    if sum([bool(prediction), bool(proba), bool(score)]) != 1:
        raise click.UsageError("give one of --prediction, --proba and --score")
    if score and pos_label is None:
        raise click.UsageError("--score needs --pos-label, the class that it is for")
    evidence: Any
    if sample is not None:
        others = {name: columns[name] for name in ("weight", "drop_missing")}
        takes = "--sample takes the labels of all its rows, as predictions or votes"
        refuse_others(takes, {"score": score, "bins": bins, "engine": engine, **others})
        rows = read_sample(file, sample, columns["truth"], prediction, proba)
        written = cp.evidence.write(rows.counts() if prediction else rows.votes(), output, min_cell=min_cell)
        click.echo(f"evidence written to {output}", err=True)
        return
    with opened(file, engine) as scan:
        if prediction:
            evidence, dropped = scan.counts(prediction=prediction, **columns)
        elif proba:
            evidence, dropped = scan.votes(proba=proba, bins=bins, **columns)
        else:
            points, dropped = scan.points(
                scores=[str(score)], pos_label=str(pos_label), bins=bins, within=within, **columns
            )
            evidence = points[str(score)]
    written = cp.evidence.write(evidence, output, min_cell=min_cell)
    say_dropped(dropped)
    if str(written.suppressed):
        click.echo(str(written.suppressed), err=True)
    click.echo(f"evidence written to {output}", err=True)
