"""compromis tune: search weights for votes, with progress on the terminal; Ctrl-C keeps the best result so far."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import click

from compromis.cli import options
from compromis.cli.inputs import (
    is_many,
    need_rows,
    need_truth,
    opened,
    opened_scan,
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
    from compromis.frames import FrameSearch

INTERRUPTED = 130
"""The exit code of programs that Ctrl-C ended."""


class Searching:
    """Shows the progress of searches on standard error where that is a terminal; Ctrl-C stops them.

    Attributes
    ----------
    interrupted : bool
        Whether Ctrl-C was pressed.
    """

    def __init__(self) -> None:
        self.interrupted = False

    @contextmanager
    def show(self) -> Iterator[Callable[[float, float], bool]]:
        """Yield the callback of a search: it takes the share done and the best loss, and returns whether to stop."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        columns = (
            TextColumn("searching weights"),
            BarColumn(),
            TextColumn("loss {task.fields[loss]}"),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task("search", total=1.0, loss="?")

            def report(done: float, loss: float) -> bool:
                bar.update(task, completed=done, loss=f"{loss:.4f}")
                return self.interrupted

            with self._noting_interrupts():
                yield report

    @contextmanager
    def _noting_interrupts(self) -> Iterator[None]:
        """Note the first Ctrl-C; the second ends the program as ever."""
        if threading.current_thread() is not threading.main_thread():  # only there signals arrive
            yield
            return
        before = signal.getsignal(signal.SIGINT)

        def note(*_: Any) -> None:
            self.interrupted = True
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


def say_interrupted() -> NoReturn:
    """Say on standard error that Ctrl-C ended a search, and end the program."""
    click.echo("stopped by Ctrl-C: these are the best weights found so far, and nothing was written", err=True)
    raise click.exceptions.Exit(INTERRUPTED)


@click.command("tune")
@click.argument("file")
@click.option("--truth", metavar="COL", help="The column of true classes.")
@options.proba()
@options.answers
@options.label
@options.amount
@options.by
@options.sample
@options.preferences
@click.option("--method", default="auto", show_default=True, metavar="NAME", help="auto, exact, sweep or annealing.")
@click.option(
    "--smoothing",
    type=float,
    show_default="0, with --answers half an answer",
    help="Votes added to every class; with --answers a share of the answers of a row.",
)
@click.option(
    "--prevalence",
    multiple=True,
    metavar="LABEL=SHARE",
    help="The class shares where decisions will be taken, if they differ from those of FILE; repeat for each.",
)
@click.option("--seconds", type=float, help="The time the search may take.")
@options.review
@options.seed
@click.option("--drop-missing", is_flag=True, help="Leave out rows whose true class is missing.")
@options.engine
@options.output("FILE.json", "Where to write the weights; with --evidence also what is known of them.")
@click.option(
    "--evidence", metavar="FILE.json", help="Where to write the votes that were searched, for 'compromis record'."
)
@options.as_json
def command(
    file: str,
    preferences: options.PreferenceChoice,
    answers: options.AnswerChoice,
    label: tuple[str, ...],
    method: str,
    smoothing: float | None,
    prevalence: tuple[str, ...],
    seconds: float | None,
    review: cp.Review | None,
    seed: int,
    by: str | None,
    sample: str | None,
    output: str | None,
    evidence: str | None,
    as_json: bool,
    **columns: Any,
) -> None:
    """Find the weights with which the votes in FILE serve your preferences best.

    \b
      compromis tune votes.csv --truth actual --proba p_ --prioritise fraud \\
        --output weights.json

    The votes must be honest: of a model that did not see the rows (out-of-bag, out-of-fold, or held out). With --answers they are
    answers in words, of a language model or of people: how they were read stands on standard error, and the weights are steadied and
    judged as those of 'compromis fit'. FILE may also hold
    vote patterns that 'compromis count' or 'compromis merge' wrote: they need no columns.

    With --sample FILE holds the labels that 'compromis labels plan' asked for.

    Ctrl-C during the search prints the best weights found so far, writes nothing, and exits with 130; while an engine
    reads the data there are none yet, and it just ends.
    """  # noqa: D301 (click reads the backspace)
    import compromis as cp

    searching = Searching()
    settings: dict[str, Any] = {"method": method, "max_seconds": seconds, "random_state": seed}
    settings["smoothing"] = ("auto" if answers else 0.0) if smoothing is None else smoothing
    votes = _read_known(file, answers, label, by=by, seconds=seconds, sample=sample, **columns)
    if votes is None and (columns["engine"] or is_many(file)):
        need_rows(review=review)
    shares = options.read_pairs(prevalence, "--prevalence", () if votes is None else votes.classes)
    settings["preferences"] = preferences.required(classes=() if votes is None else votes.classes)
    _refuse_together(file, by, evidence, shares, columns["engine"])
    if votes is None and _by_engine(file, shares, **columns):
        found = _search_files(file, settings | {"reporter": searching.show}, **columns)
        search: Any = found.search
        shown: Any = found
    else:
        if by is not None:
            votes, settings["by"] = _read_groups(file, by, **columns)
        votes = _read_votes(file, **columns) if votes is None else votes
        votes = votes if shares is None else votes.with_prevalence(shares)
        search, shown = _searched(votes, searching, settings | {"review": review}, answers=bool(answers))
        if evidence is not None and not searching.interrupted:
            cp.evidence.write(votes, evidence)
    if output is not None and not searching.interrupted:
        (search.decision if evidence is None else search).to_json(output)
    show(search if as_json else shown, as_json=as_json)
    if searching.interrupted:
        say_interrupted()
    if output is not None:
        click.echo(f"\nweights written to {output}", err=as_json)


def _refuse_together(file: str, by: str | None, evidence: str | None, shares: Any, engine: options.Engine) -> None:
    """Refuse options that do not go together."""
    many = bool(engine) or is_many(file)
    if by is not None and (many or shares is not None):
        raise click.UsageError("--by needs the rows in memory as they are; leave out --engine and --prevalence")
    if evidence is not None and (many or by is not None):
        raise click.UsageError("--evidence is of rows in memory without groups; leave out --by and --engine")


def _searched(
    votes: cp.Votes, searching: Searching, settings: dict[str, Any], *, answers: bool
) -> tuple[cp.WeightSearch, Any]:
    """Return the weights for votes, and the result that is shown; those of answers are steadied, and judged by other rows."""
    import compromis as cp

    if answers:
        tuned = cp.estimators.tune_votes(votes, **{name: settings[name] for name in settings if name != "max_seconds"})
        return tuned.chosen, tuned
    with searching.show() as progress:
        search = cp.search_weights(votes, progress=progress, **settings)
    return search, search


def _by_engine(
    file: str,
    shares: dict[str, float] | None,
    *,
    truth: str | None,
    proba: tuple[str, ...],
    engine: options.Engine,
    amount: str | None,
    **_: Any,
) -> bool:
    """Return whether an engine searches the file; refuse options that are missing or need the rows in memory."""
    for option, given in (("'--truth'", truth), ("'--proba' or '--answers'", proba)):
        if not given:
            raise click.UsageError(f"Missing option {option}.")
    if engine:
        need_rows(prevalence=shares)
    many = bool(engine) or is_many(file)
    if many:
        need_rows(amount=amount)
    return shares is None and many


def _read_known(
    file: str,
    answers: options.AnswerChoice,
    label: tuple[str, ...],
    *,
    by: str | None,
    seconds: float | None,
    sample: str | None,
    **columns: Any,
) -> cp.Votes | None:
    """Return the votes that are not those of every row: answers, a planned sample's, and what 'count' wrote; else None."""
    import compromis as cp

    if sample is not None:
        others = {name: given for name, given in columns.items() if name not in ("truth", "proba")}
        takes = "--sample says what each row stands for, and takes the votes and labels of all its rows"
        refuse_others(takes, {"answers": bool(answers), "label": label, "by": by, **others})
        if not columns["proba"]:
            raise click.UsageError("Missing option '--proba'.")
        return read_sample(file, sample, need_truth(columns["truth"]), None, columns["proba"]).votes()
    if answers:
        return read_answers(file, answers, label, by=by, seconds=seconds, **columns)
    if label:
        raise click.UsageError("--label names classes for --answers; columns of --proba name their own")
    return read_evidence(file, cp.Votes, by=by, **columns)


def _search_files(file: str, settings: dict[str, Any], *, engine: options.Engine, **columns: Any) -> FrameSearch:
    """Search files of any size; Ctrl-C during a search keeps what it found, during a pass over the data it ends the program."""
    with opened_scan(file, engine) as scan:
        found, dropped = scan.search_weights(**columns, **settings)
    say_dropped(dropped)
    return found


def _read_votes(file: str, *, engine: options.Engine, amount: str | None, **columns: Any) -> cp.Votes:
    if amount is not None:
        return _read_groups(file, None, amount=amount, **columns)[0]
    with opened(file, engine) as scan:
        votes, dropped = scan.votes(**columns)
    say_dropped(dropped)
    return votes


def _read_groups(
    file: str,
    by: str | None,
    *,
    truth: str,
    proba: tuple[str, ...],
    drop_missing: bool,
    amount: str | None,
    **_: Any,
) -> tuple[cp.Votes, Any]:
    """Return the votes row by row where there are groups, and the group of each row."""
    import compromis as cp

    table, class_of = read_rows(file, [truth, by], [amount], proba=proba, drop=drop_missing)
    classes, merge = sorted(class_of.values()), "auto" if by is None else False
    amounts = None if amount is None else table.numbers(amount)
    scores = table.scores(class_of, classes)
    votes = cp.Votes.from_proba(table[truth].array(), scores, labels=classes, amount=amounts, merge=merge)
    return votes, None if by is None else table[by].array()
