"""compromis preferences: asks what matters, directly or by choices between results, and writes the answers."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from compromis.cli import options
from compromis.cli.inputs import opened_file, read_evidence, say_dropped

if TYPE_CHECKING:
    import compromis as cp

MOST_CLASSES = 50
"""Nobody chooses among more."""
BACK, STOP = "back", "stop"
CHOICES = {"1": "first", "2": "second", "=": "alike"}
WIDTH = 40
"""Letters of the bar that shows what is known."""


@click.command("preferences")
@click.argument("file", required=False)
@click.option("--truth", metavar="COL", help="The column of FILE that holds the classes.")
@options.proba("Ask by choices between results that these votes or probabilities can reach")
@click.option(
    "--label", multiple=True, metavar="LABEL", help="A class that matters; repeat for each. Without it you are asked."
)
@options.metric
@options.drop_missing
@options.output("FILE.toml", "Where to write the answers.", default="preferences.toml", show_default=True)
@click.option("--force", is_flag=True, help="Overwrite the output file.")
def command(
    file: str | None,
    truth: str | None,
    proba: tuple[str, ...],
    label: tuple[str, ...],
    metric: str,
    drop_missing: bool,
    output: str,
    force: bool,
) -> None:
    """Ask what matters, and write the answers as TOML.

    Directly: which classes matter, and for each of them two questions. With --proba by choices: which of these two results
    of your model would you rather have? The classes come from the column --truth of FILE, or from --label.

    Shares may be written as 0.95, 95% or 95; F2 stands for 'recall counts twice as much'. 'back' goes one question back.
    """
    import compromis as cp

    cp.metrics.get_metric(metric)  # an unknown metric is refused before the questions
    if Path(output).exists() and not force:
        raise cp.InputError(f"{output} exists already; write elsewhere with --output, or overwrite it with --force")
    if not Path(output).absolute().parent.is_dir():
        raise cp.InputError(
            f"there is no folder {Path(output).parent}; make it first, or write elsewhere with --output"
        )
    votes, rows = _read(file, truth, proba, label, drop_missing)
    try:
        classes = options.typed(label, [*rows]) if label else _ask_classes(rows)
        preferences = _ask_directly(classes, metric) if votes is None else _ask_choices(votes, classes, metric)
    except click.Abort:
        if sys.stdin.isatty():  # Ctrl-C, not the end of a file
            raise
        raise cp.InputError(
            "standard input ended before every question was answered; give one answer per line"
        ) from None
    preferences.to_toml(output)
    click.echo(
        f"{preferences.describe()}\n\nwritten to {output}; use it with: compromis evaluate ... --preferences {output}"
    )


def _read(
    file: str | None, truth: str | None, proba: tuple[str, ...], label: tuple[str, ...], drop_missing: bool
) -> tuple[cp.Votes | None, dict[Any, float]]:
    """Return the votes to choose among, if there are any, and the rows of each class."""
    import compromis as cp

    if file == "-":
        raise cp.InputError(
            "standard input is where your answers come from; name a file, or give the classes with --label"
        )
    if file is None and label and not proba:
        return None, dict.fromkeys(label, 0.0)
    if file is not None and (votes := read_evidence(file, cp.Votes, truth=truth, proba=proba)) is not None:
        return votes, _rows_by_class(votes)
    if file is None or truth is None:
        raise click.UsageError("give FILE and --truth COL, or --label for each class")
    if not proba:
        return None, _count_classes(file, truth, chosen=bool(label))
    with opened_file(file) as scan:
        votes, dropped = scan.votes(truth=truth, proba=proba, drop_missing=drop_missing)
    say_dropped(dropped)
    return votes, _rows_by_class(votes)


def _rows_by_class(votes: cp.Votes) -> dict[Any, float]:
    return dict(zip(votes.classes, votes.support.tolist(), strict=True))


def _count_classes(file: str, truth: str, *, chosen: bool) -> dict[str, float]:
    import compromis as cp

    column = cp.frames.read_table(file, [truth])[truth]
    counts: dict[str, float] = dict.fromkeys(column.labels, 0.0)
    for code in column.codes.tolist():
        if code >= 0:
            counts[column.labels[code]] += 1
    if not counts:
        raise cp.InputError(f"column {truth!r} of {file} holds no classes")
    if len(counts) > MOST_CLASSES and not chosen:
        raise cp.InputError(
            f"column {truth!r} of {file} has {len(counts)} classes; name those that matter with --label"
        )
    return counts


def _ask_classes(rows: dict[Any, float]) -> list[Any]:
    """Ask which classes matter; the rarest stand first."""
    ordered = sorted(rows, key=lambda label: (rows[label], str(label)))
    click.echo("Which classes matter most? (their numbers or names, separated by commas; Enter: the rarest)\n")
    for number, label in enumerate(ordered, start=1):
        click.echo(f"  {number}  {label!r} ({rows[label]:,.6g} row{'s' * (rows[label] != 1)})")
    chosen: list[Any] = click.prompt("Classes", default=str(ordered[0]), value_proc=partial(_classes_in, ordered))
    click.echo()
    return chosen


def _classes_in(ordered: Sequence[Any], answer: str) -> list[Any]:
    names = {str(label): label for label in ordered}
    if answer in names:  # a name may hold a comma
        return [names[answer]]
    chosen = []
    for part in filter(None, (one.strip() for one in answer.split(","))):
        if part not in names and not (part.isdecimal() and 1 <= int(part) <= len(ordered)):
            raise click.BadParameter(f"{part!r} is neither a class nor a number from 1 to {len(ordered)}")
        chosen.append(names[part] if part in names else ordered[int(part) - 1])
    return list(dict.fromkeys(chosen)) or [ordered[0]]


@dataclass(frozen=True)
class _Step:
    """One question for one class: the argument of a preference that its answer is."""

    argument: str
    text: str
    default: str
    read: Callable[[str], Any]


@dataclass
class _Answers:
    """The answers so far, the last of which can be taken back."""

    given: list[tuple[Any, str, Any]] = field(default_factory=list)

    def of(self, label: Any) -> dict[str, Any]:
        return {argument: value for own, argument, value in self.given if own == label and value is not None}

    def next(self, steps: list[tuple[Any, _Step]]) -> tuple[Any, _Step] | None:
        """Return the first question without an answer; a beta stands for both answers."""
        told = {(label, argument) for label, argument, _ in self.given}
        told |= {(label, "recall_at_full_precision") for label, argument, _ in self.given if argument == "beta"}
        told |= {(label, "precision_at_full_recall") for label, argument, _ in self.given if argument == "beta"}
        return next(((label, step) for label, step in steps if (label, step.argument) not in told), None)


def _ask_directly(classes: Sequence[Any], metric: str) -> cp.Preferences:
    """Ask for a constraint, the two answers and the importance of each class."""
    import compromis as cp

    click.echo("Enter accepts the value in brackets; 'back' goes one question back.")
    answers, shown = _Answers(), None
    while True:
        # on the plane preferences can be met by giving up, unless there is a minimum: what one accepts for a recall of 1 is the natural one
        plane = cp.metrics.get_metric(metric) is cp.metrics.KULCZYNSKI
        steps = [(label, step) for label in classes for step in _steps(answers.of(label), bounded=plane)]
        asked = answers.next(steps)
        if asked is None:
            return cp.Preferences({label: cp.Preference(**answers.of(label)) for label in classes}, metric=metric)
        label, step = asked
        if label != shown:
            click.echo(f"\nClass {str(label)!r}")
            shown = label
        value = click.prompt(f"  {step.text}", default=step.default, value_proc=partial(_or_back, step.read))
        if value == BACK:
            answers.given[-1:] = []
        elif isinstance(value, _Beta):
            if cp.metrics.get_metric(metric) is not cp.metrics.F:
                click.echo(f"Error: F{value.beta:g} is for metric f, the metric is {metric}; answer the two questions")
            else:
                answers.given.append((label, "beta", value.beta))
        else:
            answers.given.append((label, step.argument, value))


def _steps(given: dict[str, Any], *, bounded: bool) -> list[_Step]:
    """Return the questions for a class, the easiest first."""
    natural = f"{given.get('precision_at_full_recall', 0):g}" if bounded else "none"
    return [
        _Step("min_recall", "What share of them must be found at least?", "none", _bound),
        _Step(
            "precision_at_full_recall",
            "If all of them were found: what share of the alarms must be right?",
            "0.8",
            _share_or_beta,
        ),
        _Step("recall_at_full_precision", "If no alarm were false: what share of them must be found?", "0.8", _share),
        _Step("min_precision", "What share of the alarms must be right at least?", natural, _bound),
        _Step("importance", "How important is it, beside 1 for an ordinary class?", "1", _importance),
    ]


def _or_back(read: Callable[[str], Any], answer: str) -> Any:
    return BACK if answer.strip().lower() in (BACK, "b") else read(answer.strip())


@dataclass(frozen=True)
class _Beta:
    beta: float


def _share_or_beta(answer: str) -> float | _Beta:
    named = re.fullmatch(r"[Ff]_?(\d+(?:\.\d+)?)", answer)
    return _Beta(float(named[1])) if named else _share(answer)


def _share(answer: str) -> float:
    number = _fraction(answer)
    if not 0 <= number < 1:
        raise click.BadParameter(f"this is a share of at least 0 and below 1, got {answer}")
    return number


def _bound(answer: str) -> float | None:
    if answer.lower() in ("none", ""):
        return None
    number = _fraction(answer)
    if not 0 <= number <= 1:
        raise click.BadParameter(f"this is a share from 0 to 1, or 'none', got {answer}")
    return number or None


def _fraction(answer: str) -> float:
    """Return a share written as 0.95, 95% or 95."""
    number = _number(answer.removesuffix("%").strip())
    if answer.endswith("%") or 1 < number <= 100:
        return number / 100
    return number


def _importance(answer: str) -> float:
    number = _number(answer)
    if not 0 <= number < float("inf"):
        raise click.BadParameter(f"importance is a number of at least 0, got {answer}")
    return number


def _number(answer: str) -> float:
    try:
        return float(answer)
    except ValueError:
        raise click.BadParameter(f"this is a number, written like 0.1 or 10%, got {answer!r}") from None


def _ask_choices(votes: cp.Votes, classes: Sequence[Any], metric: str) -> cp.Preferences:
    """Ask which of two results one would rather have, until nothing is left to ask."""
    import compromis as cp

    interview = cp.tradeoffs.Interview(votes, classes, metric=metric)
    click.echo(
        f"At most {interview.most} choices. Answer 1 or 2, = if they are alike, 'back', or 'stop' when you have said enough."
    )
    while (question := interview.question) is not None:
        click.echo(f"\n{question}")
        answer = click.prompt("  1, 2 or =", value_proc=_choice)
        if answer == STOP:
            break
        interview = interview.back() if answer == BACK else interview.answer(answer)
        if interview.known:
            click.echo(_bar(interview.known[-1]))
    if not interview.known:
        raise cp.InputError("nothing was answered, so there is nothing to write; answer at least one question")
    click.echo()
    preferences = interview.preferences()
    search = cp.search_weights(votes, preferences=preferences, random_state=0)
    told = str(cp.evaluate(search.counts, preferences=preferences).headline)
    click.echo(f"Tuned to your choices: {told[:1].lower()}{told[1:]}\n")
    return preferences


def _choice(answer: str) -> str:
    given = answer.strip().lower()
    if given in CHOICES:
        return CHOICES[given]
    for word in (BACK, STOP):
        if given and word.startswith(given):
            return word
    raise click.BadParameter(f"answer 1 or 2, = if they are alike, 'back' or 'stop', got {answer!r}")


def _bar(known: cp.tradeoffs.Known) -> str:
    """Return what is known as a bar: = where the number may lie, | where most likely."""
    low, middle, high = (round(share * (WIDTH - 1)) for share in known.shares)
    marks = ["|" if at == middle else "=" if low <= at <= high else "." for at in range(WIDTH)]
    return f"  {known.name}: [{''.join(marks)}] {known.value:.2g} ({known.low:.2g} to {known.high:.2g})"
