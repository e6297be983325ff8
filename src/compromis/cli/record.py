"""compromis record: what a decision rests on and what holds, on one page; and the same computed again by anybody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from compromis.cli import options
from compromis.cli.inputs import read_evidence
from compromis.cli.show import show


@click.command("record")
@click.argument("evidence")
@click.option(
    "--verify", metavar="RECORD.json", help="Compute every number of a record again from EVIDENCE, and write nothing."
)
@options.weights
@click.option("--preferences", metavar="FILE.toml", help="What mattered; with the minima and their confidence.")
@click.option("--title", default="Decision", show_default=True, metavar="TEXT", help="What the decision is called.")
@click.option("--collected", metavar="TEXT", help="When and where the rows were collected.")
@click.option("--valid-until", metavar="DATE", help="After it 'compromis check' fails, for example 2027-06-30.")
@click.option("--new-rows", is_flag=True, help="EVIDENCE did not choose the weights.")
@options.output("RECORD.json", "Where to write the record; a page to sign is written beside it, as RECORD.html.")
def command(
    evidence: str,
    verify: str | None,
    weights: str | None,
    preferences: str | None,
    output: str | None,
    new_rows: bool,
    **facts: Any,
) -> None:
    """Record the decision that was searched on EVIDENCE: preferences, rows, method, verdict, guarantee, price, limits and software.

    \b
      compromis record evidence.json --weights weights.json \\
        --preferences what_matters.toml --output record.json
      compromis record evidence.json --verify record.json

    EVIDENCE is what 'compromis tune --evidence' wrote, --weights what 'tune --output' wrote. Whoever has EVIDENCE and the record
    computes every number again with --verify: exit code 0 where all follow, 2 where anything was changed.
    """  # noqa: D301 (click reads the backspace)
    import compromis as cp

    if verify is not None:
        verified = cp.evaluation.Record.verify(verify, evidence)
        click.echo(f"verified: every number of {verify} follows from {evidence} ({verified.evidence.rows:,} rows)")
        click.echo(
            "title, dates, method, software, whose votes, the halves and the weights without a guarantee, and whether the rows chose the "
            "weights are the word of who recorded it"
        )
        written = msgspec.json.decode(Path(verify).read_bytes())["compromis"]
        if written != verified.heading()["compromis"]:
            click.echo(f"its verdict and limits are in the words of compromis {written!r:.60}, which were not compared")
        return
    if weights is None or preferences is None or output is None:
        raise click.UsageError("give --weights, --preferences and --output, or --verify RECORD.json")
    votes = read_evidence(evidence, cp.Votes)
    if votes is None:
        raise click.UsageError(f"{evidence} is no evidence file; write one with 'compromis tune --evidence'")
    if cp.evidence.read(evidence).suppressed.cells:
        raise click.UsageError(
            f"{evidence} keeps cells back; a record is of all rows, write them with 'compromis tune --evidence'"
        )
    decision = cp.Decision.from_json(weights)
    stated = msgspec.json.decode(Path(weights).read_bytes())
    search = stated if "counts" in stated and not new_rows else None  # a decision alone tells nothing of a search
    wanted, rows = cp.Preferences.from_toml(preferences), "new" if new_rows else "own"
    record = decision.record(votes, preferences=wanted, search=search, rows=rows, **facts)
    page = str(Path(output).with_suffix(".html"))
    record.to_html(page)
    record.to_json(output)
    show(record)
    click.echo(f"\nrecord written to {output}, a page to sign to {page}")
