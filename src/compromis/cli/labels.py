"""compromis labels: which rows to label next, and whether labels are enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from compromis.cli import options
from compromis.cli.inputs import ROW, as_written, kept_rows, opened_file, read_evidence, telling
from compromis.cli.show import show

if TYPE_CHECKING:
    import compromis as cp
    from compromis.frames import Table

PREDICTED = "predicted"


@click.group("labels")
def command() -> None:
    """Plan which rows to label, so that few labels say most about what matters; and say whether they are enough."""


@command.command("plan")
@click.argument("file")
@click.option("--budget", type=int, required=True, metavar="N", help="How many rows to label.")
@options.prediction
@options.proba("Columns of votes or probabilities, which predict; their margins help")
@options.weights
@click.option("--judge", metavar="COL", help="A column of classes that a cheap judge names.")
@options.preferences
@click.option(
    "--after", metavar="FILE.json", help="An earlier plan of the same FILE, all labelled now: other rows are drawn."
)
@click.option("--counts", metavar="FILE.json", help="What the labels of --after said, written by 'count --sample'.")
@click.option(
    "--keep", multiple=True, metavar="COL", help="A column of FILE to write beside the rows to label; without it all."
)
@options.output("PLAN.json", "Where to write the plan, for --sample.", required=True)
@click.option("--rows", "to_label", metavar="ROWS.csv", required=True, help="Where to write the rows to label.")
@options.seed
@options.as_json
def plan(
    file: str,
    budget: int,
    preferences: options.PreferenceChoice,
    after: str | None,
    counts: str | None,
    keep: tuple[str, ...],
    output: str,
    to_label: str,
    seed: int,
    as_json: bool,
    **columns: Any,
) -> None:
    """Choose which rows of FILE to label, before any label is seen.

    \b
      compromis labels plan week.csv --prediction model --budget 300 \\
        --prioritise fraud --output plan.json --rows to_label.csv

    Writes the plan, and the rows to label with their columns, to which a column of labels is added. Then 'compromis evaluate
    ROWS.csv --sample PLAN.json --truth COL --prediction COL' says what the labels tell of all rows of FILE.
    """  # noqa: D301 (click reads the backspace)
    import compromis as cp

    earlier = None if after is None else cp.model_selection.LabelPlan.from_json(after)
    seen = None if counts is None else read_evidence(counts, cp.Counts)
    if counts is not None and seen is None:
        raise click.UsageError(f"{counts} holds no counts; write them with 'compromis count --sample'")
    with telling(f"reading {file}"):
        table, given = _read(file, keep=keep, **columns)
    made = cp.model_selection.plan_labels(
        given.pop("votes_or_predictions"),
        budget=budget,
        preferences=preferences.read(classes=given["labels"] or ()),
        after=earlier,
        counts=seen,
        random_state=seed,
        **given,
    )
    cp.frames.to_csv(_columns(table, made, keep, columns["prediction"]), to_label)
    made.to_json(output)
    show(made, as_json=as_json)
    click.echo(f"{len(made.rows):,} rows to label written to {to_label}, the plan to {output}", err=as_json)


def _read(
    file: str,
    *,
    prediction: str | None,
    proba: tuple[str, ...],
    weights: str | None,
    judge: str | None,
    keep: tuple[str, ...],
) -> tuple[Table, dict[str, Any]]:
    """Return the table, and what `plan_labels` takes of it."""
    import compromis as cp

    if (prediction is None) == (not proba):
        raise click.UsageError("give either --prediction or --proba")
    if weights is not None and not proba:
        raise click.UsageError("--weights decide columns of votes; give --proba")
    with opened_file(file) as scan:
        class_of = scan.pick_scores(proba, [prediction, judge])
        kept = [cp.frames.pick_column(name, scan.names) for name in keep] or scan.names
        table = scan.read(dict.fromkeys(name for name in (*kept, prediction, judge, *class_of) if name is not None))
    table = kept_rows(table, [prediction, judge], drop=False)
    given: dict[str, Any] = {"judge": None if judge is None else table[judge].array(), "labels": None}
    if prediction is not None:
        return table, {"votes_or_predictions": table[prediction].array(), **given}
    classes = tuple(sorted(class_of.values()))
    if weights is not None:
        given["weights"] = rule = as_written(cp.Decision.from_json(weights), weights)
        classes = tuple(map(str, rule.classes))
    return table, {**given, "labels": classes, "votes_or_predictions": table.scores(class_of, classes)}


def _columns(
    table: Table, made: cp.model_selection.LabelPlan, keep: tuple[str, ...], prediction: str | None
) -> dict[str, list[Any]]:
    """Return the rows to label: number, stratum, what is predicted, and the columns kept."""
    import compromis as cp

    chosen = table.take(made.rows)
    added: dict[str, list[Any]] = {ROW: made.rows.tolist(), "stratum": made.stratum.tolist()}
    if prediction is None:
        added[PREDICTED] = [made.classes[k] for k in made.predicted[made.stratum].tolist()]
    kept = {name: values for name, values in chosen.texts().items() if not keep or name in (*keep, prediction)}
    taken = sorted({*added} & {*kept})
    if taken:
        raise cp.InputError(f"{table.source} has a column {taken[0]!r} already; rename it, or leave it out with --keep")
    return {**added, **kept}


@command.command("needed", short_help="Say whether labels are enough, else how many more.")
@click.argument("file")
@click.option(
    "--width",
    type=options.share,
    metavar="SHARE",
    help="How wide the intervals of recall and precision may be, for example 0.1.",
)
@options.preferences
@click.option("--label", multiple=True, metavar="LABEL", help="A class that --width is for; repeat for each.")
@options.confidence_of_states
@options.as_json
def needed(
    file: str,
    width: float | None,
    preferences: options.PreferenceChoice,
    label: tuple[str, ...],
    confidence: float,
    as_json: bool,
) -> None:
    """Say whether the labels in FILE, counts that 'compromis count' wrote, are enough, or how many more are needed.

    \b
      compromis labels needed counts.json --width 0.1 --label fraud

    Enough for intervals of --width, and for the minima of --preferences to be surely met. The exit code is 1 where they are not enough.
    """  # noqa: D301 (click reads the backspace)
    import compromis as cp

    counts = read_evidence(file, cp.Counts)
    if counts is None:
        raise click.UsageError(
            f"{file} holds no counts; write them with 'compromis count', with --sample where the labels were planned"
        )
    result = cp.model_selection.labels_needed(
        counts,
        width=width,
        preferences=preferences.read(classes=counts.classes),
        labels=options.typed(label, counts.classes) or None,
        confidence=confidence,
    )
    show(result, as_json=as_json)
    if not result.enough:
        raise click.exceptions.Exit(1)
