"""What commands read: files, evidence that 'count' wrote, and predictions."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    import compromis as cp
    from compromis.cli.options import AnswerChoice, Engine
    from compromis.frames import FileScan, Scan, Table

KINDS = {"Counts": "counts", "Votes": "vote patterns", "OperatingPoints": "operating points"}
READERS = {"Counts": "evaluate", "Votes": "tune", "OperatingPoints": "tradeoff"}
"""The command that takes each kind of evidence."""
AMOUNT = "amount"
"""Stands among costs for the amount of the row."""

Evidence = TypeVar("Evidence")


def listed(labels: Iterable[object], most: int = 8) -> str:
    """Return labels as a list for a message, and how many more there are."""
    texts = [repr(label) for label in labels]
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def say_dropped(rows: int, what: str = "a class") -> None:
    """Say on standard error how many rows were left out."""
    if rows:
        click.echo(f"left out {rows:,} {'row' if rows == 1 else 'rows'} without {what}", err=True)


def read_evidence(file: str, kind: type[Evidence], **columns: Any) -> Evidence | None:
    """Return the evidence in a file that 'count' or 'merge' wrote; None for a table. `columns` are options for tables only."""
    import compromis as cp

    path, source = Path(file), "standard input" if file == "-" else file
    pipe = (file == "-" and sys.stdin is not None) or (path.exists() and not path.is_file() and not path.is_dir())
    # a pipe is read once: it holds evidence where no column is named
    if not (path.is_file() or (pipe and "truth" in columns and columns["truth"] is None)):
        return None
    with nullcontext(sys.stdin.buffer) if file == "-" else path.open("rb") as stream:
        start = stream.read(64)
        if not _JSON.match(start):
            return None
        read = cp.evidence.EvidenceFile.from_stream(stream, source, begun=start)
    name = type(read.evidence).__name__
    if not isinstance(read.evidence, kind):
        raise click.UsageError(f"{source} holds {KINDS[name]}, which 'compromis {READERS[name]}' takes")
    refuse_others(f"{source} holds {KINDS[name]}, not columns", columns)
    if str(read.suppressed):
        click.echo(str(read.suppressed), err=True)
    return read.evidence


_JSON = re.compile(rb'\s*\{\s*"')
"""No table and no model begins so."""


def is_json(file: str) -> bool:
    """Return whether a file begins as JSON does."""
    if not Path(file).is_file():
        return False
    with Path(file).open("rb") as stream:
        return _JSON.match(stream.read(64)) is not None


def refuse_others(why: str, options: Mapping[str, Any]) -> None:
    """Raise if one of the options was given."""
    given = [f"--{option.replace('_', '-')}" for option, value in options.items() if value]
    if given:
        raise click.UsageError(f"{why}; leave out {', '.join(given)}")


def need_truth(truth: str | None) -> str:
    """Return the option --truth, which evidence and records do without; raise if it is missing."""
    if truth is None:
        raise click.UsageError("Missing option '--truth', the column of true classes.")
    return truth


def need_rows(**options: Any) -> None:
    """Raise if one of the options was given, where an engine counts the rows."""
    given = next((name for name, value in options.items() if value is not None), None)
    if given is not None:
        raise click.UsageError(f"--{given.replace('_', '-')} needs the rows in memory; leave out --engine")


def is_many(file: str) -> bool:
    """Return whether a folder or a pattern is meant: many files, which an engine counts."""
    path = Path(file)
    return path.is_dir() or (not path.exists() and any(letter in file for letter in "*?["))


@contextmanager
def opened_file(file: str) -> Iterator[FileScan]:
    """Open one file to be read once, and say how it is read where that is not as usual."""
    import compromis as cp

    with cp.frames.FileScan(file) as scan:
        if scan.remark:
            click.echo(scan.remark, err=True)
        yield scan


def opened(file: str, engine: Engine) -> AbstractContextManager[FileScan | Scan]:
    """Open a file, or files in an engine."""
    return opened_scan(file, engine) if engine or is_many(file) else opened_file(file)


@contextmanager
def opened_scan(file: str, engine: Engine) -> Iterator[Scan]:
    """Open files in an engine: show its progress where it tells it, and refuse what changed while it was read."""
    import compromis as cp

    scan = cp.frames.open_scan(file, engine=engine.name, cluster=engine.cluster)
    with _progress(scan):
        yield scan
    scan.files.check_unchanged()


def read_rows(
    file: str,
    texts: Sequence[str | None],
    numbers: Sequence[str | None] = (),
    *,
    proba: Sequence[str] = (),
    drop: bool,
) -> tuple[Table, dict[str, str]]:
    """Return the rows of a file that have a value in every column of `texts`, and the class of each column of scores."""
    with opened_file(file) as scan:
        class_of = scan.pick_scores(proba, [*texts, *numbers])
        return kept_rows(scan.read(texts, [*numbers, *class_of]), texts, drop=drop), class_of


def kept_rows(table: Table, columns: Sequence[str | None], *, drop: bool, what: str = "a class") -> Table:
    """Return the rows that have a value in every column; say how many are left out if they may be, else refuse them."""
    import compromis as cp

    kept, dropped = table.without_missing(columns, drop=drop)
    say_dropped(dropped, what)
    if not len(kept):
        raise cp.InputError(f"{table.source} has no rows{f' with {what}' if dropped else ''}; there is nothing to read")
    return kept


ROW = "row"
"""The column that 'labels plan' writes: the positions of rows in its file, counted from 0, as in the plan."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SampledRows:
    """Labelled rows in the order of the plan by which they were drawn."""

    sample: cp.model_selection.LabelPlan
    truth: Any
    predicted: Any
    proba: NDArray[np.float64] | None
    classes: tuple[str, ...] | None

    def counts(self) -> cp.Counts:
        """Return the counts that the labels estimate for all rows of the plan's file."""
        import compromis as cp

        return cp.Counts.from_predictions(self.truth, self.predicted, labels=self.labels, sample=self.sample)

    def votes(self) -> cp.Votes:
        """Return the votes with the strata of their rows."""
        import compromis as cp

        return cp.Votes.from_proba(self.truth, self.proba, labels=self.labels, sample=self.sample)

    @property
    def labels(self) -> list[str]:
        """The classes of the plan, then those that it did not know."""
        if self.proba is not None:
            return list(self.classes or ())
        known = [str(label) for label in self.sample.classes]
        return [*known, *sorted({*self.truth.tolist(), *self.predicted.tolist()} - {*known})]


def read_sample(file: str, plan: str, truth: str, prediction: str | None, proba: Sequence[str]) -> SampledRows:
    """Read the labels of a plan's rows: matched by the column of row numbers where there is one, else in the order of the plan."""
    import compromis as cp

    sample = cp.model_selection.LabelPlan.from_json(plan)
    with opened_file(file) as scan:
        class_of = scan.pick_scores(proba, [truth, prediction, ROW])
        numbered = ROW in scan.names
        table = scan.read([truth, prediction, ROW if numbered else None], class_of)
    if numbered:
        numbers = [str(text).removesuffix(".0") for text in table[ROW].tolist()]
        wanted, place = [str(row) for row in sample.rows.tolist()], {row: k for k, row in enumerate(numbers)}
        lacking = [row for row in wanted if row not in place]
        if lacking:
            raise cp.InputError(
                f"{file} lacks {len(lacking):,} of the {len(sample.rows):,} rows of {plan}, row {lacking[0]} first; label them all"
            )
        twice = {row for k, row in enumerate(numbers) if place[row] != k} & {*wanted}
        if twice:
            raise cp.InputError(f"{file} has row {min(twice)} of {plan} more than once; keep one label of each row")
        table = table.take([place[row] for row in wanted])
    elif len(table) != len(sample.rows):
        raise cp.InputError(
            f"{file} has {len(table):,} rows and no column {ROW!r}, {plan} has {len(sample.rows):,}; keep the column of numbers"
        )
    table = kept_rows(table, [truth, prediction], drop=False)
    classes = tuple(sorted(class_of.values())) or None
    scores = None if classes is None else table.scores(class_of, classes)
    predicted = None if prediction is None else table[prediction].array()
    return SampledRows(sample=sample, truth=table[truth].array(), predicted=predicted, proba=scores, classes=classes)


def _progress(scan: Scan) -> Any:
    """Return what shows progress on a terminal: Dask tells its own, of others the time alone is known; Spark draws a bar itself."""
    if scan.engine == "dask" and sys.stderr.isatty():
        from dask.diagnostics import ProgressBar

        return ProgressBar(out=sys.stderr)
    return telling(f"reading {scan.files.size / 1e6:,.0f} MB with {scan.engine}")


def telling(what: str) -> Any:
    """Return what says on a terminal what is being done, until it is done; for steps that may take more than two seconds."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console
    from rich.text import Text

    return Console(stderr=True).status(Text(what))  # a file's name is no markup


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Predictions:
    """The columns and options that say what was predicted for the rows of files."""

    prediction: str | None
    proba: tuple[str, ...]
    weights: str | None
    drop_missing: bool
    record: str | None = None
    """A record whose decision stands in place of weights."""
    by: str | None = None
    """The column of groups, each of which is judged."""

    def __post_init__(self) -> None:
        """Refuse options that leave open what is predicted, or say it twice."""
        if (self.prediction is None) == (not self.proba):
            raise click.UsageError("give either --prediction, or --proba with --weights")
        if self.weights is not None and not self.proba:
            raise click.UsageError("--weights decide columns of votes; give --proba")

    def read(self, file: str, truth: str | None, *, optional: bool = False) -> Predicted:
        """Read a file's predictions, or make them of its votes; without `truth`, which may be `optional`, there are no counts."""
        with opened_file(file) as scan:
            truth = None if optional and truth not in scan.names else truth
            if truth is not None and self.prediction is not None and self.by is None:
                counts, dropped = scan.counts(truth=truth, prediction=self.prediction, drop_missing=self.drop_missing)
                say_dropped(dropped)
                return Predicted(counts=counts)
            texts = [truth, self.prediction, self.by]
            class_of = scan.pick_scores(self.proba, texts)
            table = scan.read(texts, class_of)
        table = kept_rows(table, texts, drop=self.drop_missing)
        true, labels, by = (None if name is None else table[name].array() for name in texts)
        if labels is None:
            made = self._decide(table, class_of, truth)
            return made if by is None else replace(made, truth=true, by=by, weight=table.weights)
        return Predicted(labels=labels, truth=true, by=by, weight=table.weights)

    def _decide(self, table: Table, class_of: dict[str, str], truth: str | None) -> Predicted:
        import compromis as cp

        if self.record is not None:
            rule = as_written(cp.evaluation.Record.parts(self.record)[0], self.record)
        elif self.weights is not None:
            rule = as_written(cp.Decision.from_json(self.weights), self.weights)
        else:
            rule = cp.Decision(sorted(class_of.values()), [1.0] * len(class_of))  # type: ignore[arg-type]
        classes = tuple(map(str, rule.classes))
        matrix = table.scores(class_of, classes)
        labels = rule.decide(matrix).tolist()
        counts = None
        if truth is not None:
            known = [*classes, *sorted({*table[truth].labels} - {*classes})]
            counts = cp.Counts.from_predictions(table[truth].array(), labels, labels=known, sample_weight=table.weights)
        return Predicted(labels=labels, counts=counts, proba=matrix, classes=classes)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Predicted:
    """The predictions of one file: counts where true classes are known; probabilities where there are columns of them."""

    counts: cp.Counts | None = None
    labels: Any = None
    proba: NDArray[np.float64] | None = None
    classes: tuple[str, ...] | None = None
    truth: Any = None
    """With groups, the true class of each row; counts hold no rows."""
    by: Any = None
    weight: Any = None

    def evaluate(self, labels: Sequence[str], **settings: Any) -> cp.Evaluation:
        """Return the evaluation, of each group too where there are groups, with classes that the rows may lack."""
        import compromis as cp

        if self.by is None:
            return cp.evaluate(self.with_classes(labels), **settings)
        known = self.classes or ()
        others = {*self.truth.tolist(), *self.labels, *labels} - {*known}
        rows = {"by": self.by, "sample_weight": self.weight}
        return cp.evaluate(self.truth, self.labels, labels=[*known, *sorted(others)], **rows, **settings)

    def with_classes(self, labels: Sequence[str]) -> cp.Counts:
        """Return the counts, with classes that the rows may lack."""
        assert self.counts is not None
        return self.counts.arranged_as((*self.counts.classes, *sorted({*labels} - {*self.counts.classes})))


def as_written(rule: cp.Decision, file: str) -> cp.Decision:
    """Return a decision with its classes as text, which is what labels of files are."""
    import compromis as cp

    classes = tuple(map(str, rule.classes))
    if len(set(classes)) < len(classes):
        raise cp.InputError(f"two classes of {file} are written alike; rename one")
    return cp.Decision(classes, rule.weights, smoothing=rule.smoothing, review=rule.review)


def read_costs(file: str) -> dict[str, dict[str, float | str]]:
    """Return costs by true and predicted class: the first column names the true classes, the header the predicted ones.

    A cell is a number, or ``amount`` for the amount of the row.
    """
    import compromis as cp

    table = cp.frames.read_table(file, lambda names: names)
    first, *predicted = table.columns
    true = [str(label) for label in table[first].tolist()]
    if sorted(true) != sorted(predicted):
        raise cp.InputError(
            f"{file} must name the same classes down its first column, {listed(true)}, and along its header, {listed(predicted)}"
        )
    columns = {label: _costs(table, label) for label in predicted}
    return {label: {other: columns[other][row] for other in predicted} for row, label in enumerate(true)}


def _costs(table: Table, label: str) -> list[float | str]:
    texts = table[label].tolist()
    fixed = iter(table.take([row for row, text in enumerate(texts) if text != AMOUNT]).numbers(label).tolist())
    return [AMOUNT if text == AMOUNT else next(fixed) for text in texts]


def read_mapping(file: str) -> dict[str, str | None]:
    """Return the class that each text means: two columns, the texts and the classes, None where there is none."""
    import compromis as cp

    table = cp.frames.read_table(file, lambda names: names)
    if len(table.columns) != 2:
        raise cp.InputError(
            f"{file} must have two columns, texts and the classes they mean, got {listed(table.columns)}"
        )
    texts, classes = (table[name].tolist() for name in table.columns)
    return {text: label for text, label in zip(texts, classes, strict=True) if text is not None}


def read_answers(
    file: str, answers: AnswerChoice, labels: Iterable[str], *, truth: str | None, drop_missing: bool, **others: Any
) -> cp.Votes:
    """Return columns of answers as votes; the classes are those of the column `truth`, and `labels`; other options are refused."""
    truth = need_truth(truth)
    refuse_others("--answers are the votes", others)
    with opened_file(file) as scan:
        names = scan.pick_scores(answers.columns, [truth])
        table = kept_rows(scan.read([truth, *names]), [truth], drop=drop_missing)
    return answers.votes(table, names, sorted({*table[truth].tolist(), *labels}), truth)
