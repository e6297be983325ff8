"""compromis merge: the evidence of many files together, and what it says."""

from __future__ import annotations

from typing import Any

import click

from compromis.cli.options import preference_options, read_preferences
from compromis.cli.run import report_without_advice


@click.command("merge")
@click.argument("parts", nargs=-1, required=True)
@preference_options
@click.option(
    "--min-cell", default=0, show_default=True, metavar="N", help="Keep back cells of fewer rows of the whole."
)
@click.option("--output", metavar="ALL.json", help="Where to write the merged evidence.")
@click.option("--weights", metavar="FILE.json", help="Where to write the weights found, for vote patterns.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(
    parts: tuple[str, ...],
    preferences_file: str | None,
    prioritise: tuple[str, ...],
    metric: str | None,
    min_cell: int,
    output: str | None,
    weights: str | None,
    as_json: bool,
) -> None:
    """Add up the evidence in PARTS, which 'compromis count' wrote, and report on it.

    Counts become the report of 'evaluate', vote patterns (with --preferences or --prioritise) the weights of 'tune',
    operating points the intervals of 'tradeoff'.
    """
    from compromis.evidence.files import EvidenceFile, merge, read, suppress, write_file

    preferences = read_preferences(preferences_file, prioritise, metric)
    merged = merge(read(part) for part in parts)
    evidence, kept_back = suppress(merged.evidence, min_cell)
    whole = EvidenceFile(evidence, merged.suppressed + kept_back)
    text = _report(whole.evidence, preferences, weights, as_json)
    if output is not None:
        write_file(whole, output)
    if str(whole.suppressed):
        click.echo(str(whole.suppressed), err=True)
    click.echo(text)
    if output is not None:
        click.echo(f"evidence of {len(parts)} files written to {output}", err=True)


def _report(evidence: Any, preferences: Any, weights: str | None, as_json: bool) -> str:
    from compromis.evidence.counts import Counts
    from compromis.evidence.votes import Votes

    if isinstance(evidence, Counts):
        from compromis.evaluation.evaluate import evaluate

        result = evaluate(evidence, preferences=preferences)
        return result.to_json() if as_json else report_without_advice(str(result))
    if isinstance(evidence, Votes):
        return _weights(evidence, preferences, weights)
    from compromis.cli.tradeoff import tradeoff_text
    from compromis.tradeoffs.comparison import compare_curves

    metric = "kulczynski" if preferences is None else preferences.metric
    return tradeoff_text(compare_curves({"score": evidence}, metric), as_json)


def _weights(patterns: Any, preferences: Any, weights: str | None) -> str:
    from compromis.weights import search_weights

    if preferences is None:
        return f"{patterns.rows:,} rows in {len(patterns):,} vote patterns; give --preferences or --prioritise to tune weights"
    found = search_weights(patterns, preferences=preferences)
    if weights is not None:
        found.decision.to_json(weights)
    return found.summary()
