"""compromis tradeoff: what the scores in a file offer over all recall weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from compromis.cli import options
from compromis.cli.inputs import opened, read_evidence, say_dropped
from compromis.cli.show import line_width

if TYPE_CHECKING:
    import compromis as cp


@click.command("tradeoff")
@click.argument("file")
@click.option("--truth", metavar="COL", help="The column of true classes.")
@click.option("--pos-label", metavar="LABEL", help="The class that the scores are for.")
@click.option(
    "--score",
    multiple=True,
    metavar="COL",
    help="A column of scores, higher for the positive class; repeat to compare.",
)
@options.metric
@click.option("--min-precision", type=options.share, metavar="SHARE", help="The least precision to accept.")
@click.option("--min-recall", type=options.share, metavar="SHARE", help="The least recall to accept.")
@options.weight
@click.option("--drop-missing", is_flag=True, help="Leave out rows whose true class is missing.")
@options.engine
@click.option("--plot", metavar="FILE.svg", help="Draw the curves into a file (svg, png or pdf).")
@options.as_json
def command(
    file: str,
    metric: str,
    min_precision: float | None,
    min_recall: float | None,
    plot: str | None,
    as_json: bool,
    **columns: Any,
) -> None:
    """Say which threshold on the scores in FILE is best for which recall weights, and compare several scores.

    \b
      compromis tradeoff scores.csv --truth actual --pos-label fraud \\
        --score forest --score logistic --plot tradeoff.svg

    Recall weight 0 is precision alone, 1 recall alone. FILE may also hold operating points that 'compromis count' or 'compromis
    merge' wrote: they need no columns.
    """  # noqa: D301 (click reads the backspace)
    import compromis as cp

    counted = read_evidence(file, cp.OperatingPoints, **columns)
    points = _read_points(file, **columns) if counted is None else {"score": counted}
    comparison = cp.compare_curves(points, metric, min_precision=min_precision, min_recall=min_recall)
    text = comparison_text(comparison, as_json)
    if plot is not None:
        cp.plots.TradeoffDisplay(comparison).save(plot)
    click.echo(text)
    if plot is not None:
        click.echo(f"drawn into {plot}", err=True)


def comparison_text(comparison: cp.tradeoffs.Comparison, as_json: bool) -> str:
    """Return the text or JSON of a comparison; refuse one in which no model has a curve."""
    import compromis as cp

    verdict = comparison.verdict
    if not verdict.winners:
        raise cp.InputError("; ".join(f"{name}: {reason}" for name, reason in verdict.undefined.items()))
    return comparison.to_json() if as_json else comparison.report(width=line_width())


def _read_points(
    file: str, *, engine: options.Engine, score: tuple[str, ...], **columns: Any
) -> dict[str, cp.OperatingPoints]:
    """Return the operating points of each score, and say what was left out or binned."""
    for option, given in (("--truth", columns["truth"]), ("--pos-label", columns["pos_label"]), ("--score", score)):
        if not given:
            raise click.UsageError(f"Missing option '{option}'.")
    with opened(file, engine) as scan:
        points, dropped = scan.points(scores=score, **columns)
    for name, counted in points.items():
        if counted.binned:
            click.echo(f"{name}: counted in {len(counted) - 1:,} bins; thresholds are exact at their edges", err=True)
    say_dropped(dropped)
    return points
