"""Options that several commands share: each has one name and one meaning."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from compromis.cli.inputs import read_costs, read_mapping
from compromis.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import compromis as cp
    from compromis.frames import Table

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def share(given: str | float) -> float:
    """Return a share written as 0.95 or 95%; the library says what is wrong with any other number."""
    text = str(given).strip()
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        raise click.BadParameter(f"this is a number, written like 0.95 or 95%, got {given!r}") from None
    return number / 100 if text.endswith("%") else number


truth = click.option("--truth", required=True, metavar="COL", help="The column of true classes.")
prediction = click.option("--prediction", metavar="COL", help="The column of predicted classes.")
weight = click.option("--weight", metavar="COL", help="A column of row weights.")
amount = click.option(
    "--amount",
    metavar="COL",
    help="A column of amounts of the rows, where decisions cost 'amount'; see --cost, or [cost] in --preferences.",
)
by = click.option(
    "--by", metavar="COL", help="A column of groups (hospital, sex): minima must hold in each; shows the rates of each."
)
confidence = click.option(
    "--confidence", type=share, metavar="SHARE", help="Add confidence intervals, for example 0.95."
)
_USUAL: dict[str, Any] = {"type": share, "default": 0.95, "show_default": True, "metavar": "SHARE"}
confidence_of_states = click.option("--confidence", **_USUAL, help="That of what is surely met or missed.")
confidence_of_intervals = click.option("--confidence", **_USUAL, help="The confidence of the intervals.")
fail_on = click.option(
    "--fail-on",
    type=click.Choice(["missed", "surely-missed"]),
    default="missed",
    show_default=True,
    help="Fail where a number misses its bound, or only where its whole interval does.",
)
label = click.option("--label", multiple=True, metavar="LABEL", help="A class that the rows may lack; repeat for each.")
drop_missing = click.option(
    "--drop-missing", is_flag=True, help="Leave out rows whose true or predicted class is missing."
)
seed = click.option("--seed", default=0, show_default=True, help="The same seed gives the same result.")
markdown = click.option(
    "--markdown", is_flag=True, help="Print GitHub-flavoured Markdown, for a job summary or a pull request."
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
_METRICS = "f, kulczynski (the paper's plane), fowlkes_mallows or jaccard."
metric = click.option("--metric", default="f", show_default=True, metavar="NAME", help=_METRICS)
weights = click.option("--weights", metavar="FILE.json", help="The weights that 'compromis tune --output' wrote.")
sample = click.option(
    "--sample",
    metavar="FILE.json",
    help="The plan by which 'compromis labels plan' drew the rows: the result is about all rows of its file.",
)
min_cell = click.option("--min-cell", default=0, show_default=True, metavar="N", help="Keep back cells of fewer rows.")


class _Output(click.Option):
    """Where to write; a file that the command reads is refused before anything is read."""

    def handle_parse_result(self, ctx: click.Context, opts: Any, args: list[str]) -> tuple[Any, list[str]]:
        output, args = super().handle_parse_result(ctx, opts, args)
        named = [
            opts.get(str(one.name))
            for one in ctx.command.params
            if one is not self and (isinstance(one, click.Argument) or "FILE" in str(one.metavar))
        ]
        names = [name for given in named for name in (given if isinstance(given, (list, tuple)) else [given])]
        if (
            isinstance(output, str)
            and Path(output).is_file()
            and any(_stands_for(name, Path(output)) for name in names)
        ):
            raise InputError(f"{output} is read by this command; write elsewhere with --output")
        return output, args


def output(metavar: str, what: str, **settings: Any) -> Decorator:
    """Return the option --output."""
    return click.option("--output", cls=_Output, metavar=metavar, help=what, **settings)


def _stands_for(name: Any, output: Path) -> bool:
    """Return whether a file, a folder or a pattern means the file too."""
    if not isinstance(name, str):
        return False
    if name == "-":  # standard input, which may be that file
        try:
            return os.path.samestat(os.fstat(0), output.stat())
        except OSError:  # closed
            return False
    if Path(name).is_dir():
        return Path(name).resolve() in output.resolve().parents
    paths = [name] if Path(name).exists() else glob(name, recursive=True)  # noqa: PTH207 patterns may be absolute
    return any(output.samefile(path) for path in paths)


def review(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --review to a command, which gets it as a `compromis.Review`."""

    def chosen(_: click.Context, __: click.Parameter, given: str | None) -> cp.Review | None:
        import compromis as cp

        return None if given is None else cp.Review(**_review_numbers(given))

    return click.option(
        "--review",
        metavar="CAP",
        callback=chosen,
        help="How much a person may look at: at_most=200,per=20000 (rows a day), or max_share=0.01; with confidence=0.95, and cost= of "
        "asking about a row, if wanted.",
    )(command)


def _review_numbers(given: str) -> dict[str, Any]:
    """Return the arguments of a review, written as NAME=NUMBER with commas between."""
    numbers: dict[str, Any] = {}
    for pair in given.split(","):
        name, _, text = (part.strip() for part in pair.partition("="))
        try:
            if name not in ("max_share", "at_most", "per", "confidence", "cost") or name in numbers:
                raise ValueError
            numbers[name] = int(text) if name in ("at_most", "per") else float(text)
        except ValueError:
            raise click.BadParameter(
                f"write at_most=200,per=20000 or max_share=0.01, got {given!r}", param_hint="--review"
            ) from None
    return numbers


def proba(what: str = "Columns of votes or probabilities", **settings: Any) -> Decorator:
    """Return the option --proba."""
    how = "a prefix before the class names (p_ for p_good, p_bad), or columns named as the classes"
    return click.option("--proba", multiple=True, metavar="PREFIX|COL", help=f"{what}: {how}.", **settings)


@dataclass(frozen=True)
class PreferenceChoice:
    """What the options --preferences, --prioritise, --metric and --cost ask for."""

    file: str | None
    prioritise: tuple[str, ...]
    metric: str | None
    cost: str | None

    def required(self, *, classes: Sequence[Any] = ()) -> cp.Preferences:
        """Return what `read` does; raise if there is nothing."""
        preferences = self.read(classes=classes)
        if preferences is None:
            raise click.UsageError("say what matters: give --preferences FILE.toml or --prioritise LABEL")
        return preferences

    def read(self, *, classes: Sequence[Any] = ()) -> cp.Preferences | None:
        """Return the preferences, None if there are none; labels are typed like the classes that are written alike."""
        import compromis as cp

        if self.file and self.prioritise:
            raise click.UsageError("give --preferences or --prioritise, not both")
        if not (self.file or self.prioritise or self.metric or self.cost):
            return None
        labels = typed(self.prioritise, classes)
        preferences = cp.Preferences.from_toml(self.file) if self.file else cp.Preferences.prioritise(labels)
        preferences = preferences if self.metric is None else preferences.with_metric(self.metric)
        if self.cost is None:
            return preferences
        if preferences.cost is not None:
            raise click.UsageError(f"{self.file} has costs already; leave out --cost, or its [cost]")
        costs = {(true, predicted): value for true, row in self._costs.items() for predicted, value in row.items()}
        pairs = {tuple(typed(pair, classes)): value for pair, value in costs.items()}
        return cp.Preferences(preferences.by_class, preferences.default, preferences.metric, cost=pairs)

    @property
    def labels(self) -> list[str]:
        """The classes that --cost names."""
        return sorted(self._costs)

    @cached_property
    def _costs(self) -> dict[str, dict[str, float | str]]:
        return {} if self.cost is None else read_costs(self.cost)


def preferences(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --preferences, --prioritise, --metric and --cost to a command, which gets them as one `preferences`."""

    def chosen(context: click.Context, _: Any, file: str | None) -> PreferenceChoice:
        return PreferenceChoice(file, *(context.params.pop(name) for name in ("prioritise", "metric", "cost")))

    return _decorated(
        command,
        click.option(
            "--preferences", metavar="FILE.toml", callback=chosen, help="What matters; see 'compromis preferences'."
        ),
        click.option(
            "--prioritise",
            "--prioritize",
            "prioritise",
            multiple=True,
            metavar="LABEL",
            is_eager=True,  # read first: they become a part of what --preferences gives
            help="Classes that matter most: importance 10, answers 0.1 and 0.9.",
        ),
        click.option("--metric", metavar="NAME", is_eager=True, help=_METRICS),
        click.option(
            "--cost",
            metavar="FILE",
            is_eager=True,
            help="A table of what decisions cost, in place of importances: true classes down the first column, predicted ones along "
            "the header; a cell may be 'amount', that of the row (--amount).",
        ),
    )


@dataclass(frozen=True, slots=True)
class AnswerChoice:
    """What the options --answers, --mapping and --unanswered ask for."""

    columns: tuple[str, ...]
    mapping: str | None
    unanswered: str

    def __bool__(self) -> bool:
        return bool(self.columns)

    def votes(self, table: Table, names: Iterable[str], labels: Sequence[Any], truth: str | None = None) -> cp.Votes:
        """Return the answers in the columns `names` as votes, and say how they were read."""
        import compromis as cp

        votes = cp.Votes.from_answers(
            {name: table[name].tolist() for name in names},
            labels=labels,
            y_true=None if truth is None else table[truth].tolist(),
            mapping=None if self.mapping is None else read_mapping(self.mapping),
            unanswered=self.unanswered,
        )
        assert votes.answers is not None
        for sentence in votes.answers.sentences():
            click.echo(sentence, err=True)
        return votes


def answers(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --answers, --mapping and --unanswered to a command, which gets them as one `answers`."""

    def chosen(context: click.Context, _: Any, columns: tuple[str, ...]) -> AnswerChoice:
        mapping, unanswered = (context.params.pop(name) for name in ("mapping", "unanswered"))
        if mapping is not None and not columns:
            raise click.UsageError("--mapping says what answers mean; give --answers, their columns")
        return AnswerChoice(columns, mapping, unanswered)

    return _decorated(
        command,
        click.option(
            "--answers",
            multiple=True,
            metavar="PREFIX|COL",
            callback=chosen,
            help="Columns of answers in words, each a vote: samples, prompts or models that name a class.",
        ),
        click.option(
            "--mapping",
            metavar="FILE",
            is_eager=True,
            help="A table of texts and the classes they mean, for --answers; a text without a class is a refusal.",
        ),
        click.option(
            "--unanswered",
            type=click.Choice(["left out", "even"]),
            default="left out",
            show_default=True,
            is_eager=True,
            help="Rows without an answer that names a class: left out, or a vote for each class.",
        ),
    )


@dataclass(frozen=True, slots=True)
class Engine:
    """What the options --engine and --cluster ask for."""

    name: str | None
    cluster: str | None

    def __bool__(self) -> bool:
        return self.name is not None


def engine(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --engine and --cluster to a command, which gets them as one `engine`."""

    def chosen(context: click.Context, _: Any, name: str | None) -> Engine:
        cluster = context.params.pop("cluster")
        if cluster is not None and name is None:
            raise click.UsageError("--cluster needs --engine dask or --engine spark")
        return Engine(name, cluster)

    return _decorated(
        command,
        click.option(
            "--engine",
            metavar="NAME",
            callback=chosen,
            help="polars, duckdb, dask or spark: count FILE (also a folder or 'data/*.parquet') in an engine; folders and patterns "
            "are anyway.",
        ),
        click.option(
            "--cluster",
            metavar="ADDRESS",
            is_eager=True,
            help="The address of a Dask or Spark cluster, such as tcp://host:8786.",
        ),
    )


def _decorated(command: Callable[..., Any], *options: Decorator) -> Callable[..., Any]:
    return reduce(lambda made, option: option(made), reversed(options), command)


def read_pairs(given: tuple[str, ...], option: str, classes: Sequence[Any]) -> dict[Any, float] | None:
    """Return numbers by label from texts of the form LABEL=NUMBER, None if there are none; a label may hold '=' itself."""
    pairs: dict[Any, float] = {}
    for pair in given:
        label, mark, number = pair.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            mark = ""
        if not mark:
            raise click.BadParameter(f"write LABEL=SHARE, for example bad=0.05, got {pair!r}", param_hint=option)
        if label in pairs:
            raise click.BadParameter(f"the class {label!r} is given twice", param_hint=option)
        pairs[label] = value
    return dict(zip(typed(pairs, classes), pairs.values(), strict=True)) or None


def typed(labels: Iterable[str], classes: Sequence[Any]) -> list[Any]:
    """Return labels of the command line, which are text, as the classes of the data that are written so."""
    known = {str(label): label for label in classes}
    return [known.get(label, label) for label in labels]
