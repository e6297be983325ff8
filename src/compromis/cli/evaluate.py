"""compromis evaluate: the report of predicted classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from compromis.cli import options
from compromis.cli.inputs import (
    is_many,
    need_rows,
    need_truth,
    opened,
    read_answers,
    read_evidence,
    read_rows,
    read_sample,
    refuse_others,
    say_dropped,
)
from compromis.cli.show import show

if TYPE_CHECKING:
    import compromis as cp
    from compromis.frames import Table


@click.command("evaluate")
@click.argument("file")
@click.option("--truth", metavar="COL", help="The column of true classes.")
@click.option(
    "--prediction", metavar="COL", help="The column of predicted classes; without it, the class of the highest score."
)
@options.proba("Columns of class scores")
@options.answers
@options.preferences
@click.option("--label", multiple=True, metavar="LABEL", help="The classes in the order wanted; repeat for each.")
@options.weight
@options.amount
@click.option(
    "--needs-review",
    metavar="COL",
    help="A column of true and false, as 'compromis predict' writes it: rows that a person looks at count as right.",
)
@click.option("--group", metavar="COL", help="A column of keys: rows of one group belong together; for --confidence.")
@options.by
@options.sample
@options.confidence
@options.drop_missing
@click.option(
    "--priors", multiple=True, metavar="LABEL=SHARE", help="The classes' shares in the training rows; repeat for each."
)
@click.option(
    "--train-file", metavar="FILE", help="Training rows, in place of --priors: relative errors are relative to them."
)
@click.option("--train-truth", metavar="COL", help="The column of classes in --train-file; without it that of --truth.")
@click.option(
    "--regression",
    is_flag=True,
    expose_value=False,
    help="Evaluate numbers; see 'compromis evaluate --regression --help'.",
)
@click.option("--full", is_flag=True, help="Print everything: Weka's report, all intervals, the preferences in full.")
@options.markdown
@options.engine
@options.as_json
def command(
    file: str,
    preferences: options.PreferenceChoice,
    answers: options.AnswerChoice,
    confidence: float | None,
    priors: tuple[str, ...],
    train_file: str | None,
    train_truth: str | None,
    full: bool,
    markdown: bool,
    as_json: bool,
    **columns: Any,
) -> None:
    """Evaluate the predictions in FILE (CSV, TSV, ARFF or Parquet, also gzip; '-' is standard input).

    \b
      compromis evaluate results.csv --truth actual --prediction model \\
        --prioritise fraud
      compromis evaluate votes.csv --truth actual --proba p_ \\
        --preferences what_matters.toml

    It prints what is found and missed, the verdict, and the classes; --full prints Weka's tables and every interval.

    Labels are read as text, exactly as written: NA, null and 01 stay what they are; an empty field is missing. FILE may also
    hold counts that 'compromis count' or 'compromis merge' wrote: they need no columns.
    """  # noqa: D301 (click reads the backspace)
    import compromis as cp

    if full and (as_json or markdown):
        raise click.UsageError("--full is text, and JSON has everything anyway; leave one of them out")
    beside = _Beside(
        preferences=preferences,
        confidence=confidence,
        priors=priors,
        train_file=train_file,
        train_truth=train_truth or columns["truth"],
    )
    if answers:
        known: Any = read_answers(file, answers, columns.pop("label"), **columns)
    else:
        known = read_evidence(file, cp.Counts, **columns)
    result = _evaluate(file, beside, **columns) if known is None else beside.judge(known)
    if full:
        click.echo(result.full(), nl=False)
    else:
        show(result, as_json=as_json, markdown=markdown)
    if result.preferences is None and not as_json:
        click.echo(
            "\nNo verdict without preferences: say what matters with --prioritise LABEL or --preferences FILE.toml.",
            err=True,
        )


def _evaluate(
    file: str,
    beside: _Beside,
    *,
    truth: str | None,
    engine: options.Engine,
    label: tuple[str, ...],
    **columns: Any,
) -> cp.Evaluation:
    """Evaluate the counts of a file; its rows where probability errors, areas or groups are wanted, unless an engine counts it."""
    by_engine, group, by = bool(engine) or is_many(file), columns.pop("group"), columns.pop("by")
    sample = columns.pop("sample")
    truth = need_truth(truth)
    if columns["prediction"] is None and not columns["proba"]:
        raise click.UsageError("give --prediction, --proba or both, or --answers")
    if sample is not None:
        others = {**columns, "engine": by_engine, "group": group, "by": by, "label": label}
        return _evaluate_sample(file, sample, beside, truth, **others)
    keys = {"group": group, "by": by, "amount": columns.pop("amount"), "needs_review": columns.pop("needs_review")}
    if by_engine:
        need_rows(**keys)
    elif columns["proba"] or any(column is not None for column in keys.values()):
        return _evaluate_rows(file, beside, truth=truth, label=label, **keys, **columns)
    if columns["proba"]:
        click.echo("probability errors and areas need the rows in memory; the report is of the predictions", err=True)
    with opened(file, engine) as scan:
        proba = {"proba": columns.pop("proba")}
        counts, dropped = scan.counts(
            truth=truth, labels=label or beside.preferences.labels or None, **columns, **(proba if by_engine else {})
        )
    say_dropped(dropped)
    return beside.judge(counts)


def _evaluate_sample(
    file: str,
    sample: str,
    beside: _Beside,
    truth: str,
    *,
    prediction: str | None,
    proba: tuple[str, ...],
    **others: Any,
) -> cp.Evaluation:
    import compromis as cp

    refuse_others("--sample says what each row stands for, and takes the labels of all its rows", others)
    rows = read_sample(file, sample, truth, prediction, proba)
    return cp.evaluate(
        rows.truth,
        rows.predicted,
        y_proba=rows.proba,
        labels=rows.labels,
        sample=rows.sample,
        **beside.settings(rows.labels),
    )


def _evaluate_rows(
    file: str,
    beside: _Beside,
    *,
    truth: str,
    prediction: str | None,
    proba: tuple[str, ...],
    label: tuple[str, ...],
    weight: str | None,
    group: str | None,
    by: str | None,
    needs_review: str | None,
    amount: str | None,
    drop_missing: bool,
) -> cp.Evaluation:
    import compromis as cp

    texts = [truth, prediction, group, by, needs_review]
    table, class_of = read_rows(file, texts, [weight, amount], proba=proba, drop=drop_missing)
    classes = label or sorted(class_of.values()) or beside.preferences.labels or None
    true, predicted, groups, sites = (None if name is None else table[name].array() for name in texts[:4])
    scores = table.scores(class_of, classes) if classes and class_of else None
    flags = None if needs_review is None else _truth_values(table, needs_review)
    weights, amounts = table.row_weights(weight), None if amount is None else table.numbers(amount)
    del table  # the rows are held once
    return cp.evaluate(
        true,
        predicted,
        y_proba=scores,
        labels=classes,
        sample_weight=weights,
        amount=amounts,
        groups=groups,
        by=sites,
        needs_review=flags,
        **beside.settings(classes),
    )


def _truth_values(table: Table, column: str) -> list[bool]:
    """Return a column of true and false, however they are capitalised."""
    import compromis as cp

    texts = [str(text).lower() for text in table[column].tolist()]
    other = next((text for text in texts if text not in ("true", "false")), None)
    if other is not None:
        raise cp.InputError(f"column {column!r} holds true or false for each row, got {other!r}", "needs_review")
    return [text == "true" for text in texts]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beside:
    """What judges the predictions, beside the predictions themselves."""

    preferences: options.PreferenceChoice
    confidence: float | None
    priors: tuple[str, ...]
    train_file: str | None
    train_truth: str | None

    def judge(self, evidence: cp.Counts | cp.Votes) -> cp.Evaluation:
        """Return the evaluation of counts, or of votes by equal weights."""
        import compromis as cp

        return cp.evaluate(evidence, **self.settings(evidence.classes))

    def settings(self, classes: Sequence[Any] | None) -> dict[str, Any]:
        """Return arguments of `evaluate`, in the order of the classes."""
        return {
            "preferences": self.preferences.read(classes=classes or ()),
            "priors": self._priors(classes),
            "confidence": self.confidence,
        }

    def _priors(self, classes: Sequence[Any] | None) -> dict[Any, float] | None:
        """Return the class shares of the training rows, where options tell them."""
        import compromis as cp

        if self.priors and self.train_file:
            raise click.UsageError("give --priors or --train-file, not both")
        if self.train_file is None:
            return options.read_pairs(self.priors, "--priors", classes or ())
        if self.train_truth is None:
            raise click.UsageError("give --train-truth, the column of classes in --train-file")
        column = cp.frames.read_table(self.train_file, [self.train_truth])[self.train_truth]
        return cp.model_selection.training_priors(column.take(~column.missing).array(), labels=classes)
