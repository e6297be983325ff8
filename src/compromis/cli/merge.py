"""compromis merge: the evidence of many files together."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from compromis.cli import options
from compromis.cli.show import text_of

if TYPE_CHECKING:
    import compromis as cp


@click.command("merge")
@click.argument("parts", nargs=-1, required=True)
@options.preferences
@options.min_cell
@options.output("ALL.json", "Where to write the merged evidence.")
@options.as_json
def command(
    parts: tuple[str, ...], preferences: options.PreferenceChoice, min_cell: int, output: str | None, as_json: bool
) -> None:
    """Add up the evidence in PARTS, which 'compromis count' wrote, and report on the whole.

    \b
      compromis merge monday.json tuesday.json --prioritise fraud

    The report is what 'evaluate' says of counts, 'tune' of vote patterns, and 'tradeoff' of operating points; those commands
    read the merged file too.
    """  # noqa: D301 (click reads the backspace)
    import compromis as cp

    whole = cp.evidence.merge([cp.evidence.read(part) for part in parts]).suppress(min_cell)
    text = _report(whole.evidence, preferences, as_json)
    if output is not None:
        whole.write(output)
    if str(whole.suppressed):
        click.echo(str(whole.suppressed), err=True)
    click.echo(text)
    if output is not None:
        click.echo(f"evidence of {len(parts)} files written to {output}", err=True)


def _report(evidence: Any, choice: options.PreferenceChoice, as_json: bool) -> str:
    import compromis as cp

    wanted = choice.read(classes=getattr(evidence, "classes", ()))
    if isinstance(evidence, cp.Counts):
        result = cp.evaluate(evidence, preferences=wanted)
        return text_of(result, as_json=as_json)
    if isinstance(evidence, cp.Votes):
        if wanted is None:
            return _size(evidence, as_json)
        found = cp.search_weights(evidence, preferences=wanted, random_state=0)
        return text_of(found, as_json=as_json)
    from compromis.cli.tradeoff import comparison_text

    metric = "f" if wanted is None else wanted.metric
    return comparison_text(cp.compare_curves({"score": evidence}, metric), as_json)


def _size(votes: cp.Votes, as_json: bool) -> str:
    if as_json:
        return json.dumps({"rows": votes.rows, "patterns": len(votes)})
    return f"{votes.rows:,} rows in {len(votes):,} vote patterns; give --preferences or --prioritise to tune weights"
