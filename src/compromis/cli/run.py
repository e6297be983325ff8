"""Sentences that several commands say."""

from __future__ import annotations

import os
import re
import warnings
from importlib import import_module
from typing import Any, NoReturn

import click

from compromis.errors import CompromisError

INTERRUPTED = 130
"""The exit code of programs that Ctrl-C ended."""


def say_dropped(rows: int) -> None:
    """Say on standard error how many rows were left out."""
    if rows:
        click.echo(f"left out {rows:,} {'row' if rows == 1 else 'rows'} without a class", err=True)


def say_interrupted() -> NoReturn:
    """Say on standard error that Ctrl-C ended a search, and end the program."""
    click.echo("stopped by Ctrl-C: these are the best weights found so far, and nothing was written", err=True)
    raise click.exceptions.Exit(INTERRUPTED)


_WORDS = (
    (r"pass (?:priors|y_train)= for", "give --train-file for"),
    (r"for labels use compromis\.model_selection\.training_priors\(y_train\)", "for labels give --train-file"),
    (r"\bpriors (misses|has|are)\b", r"--priors \1"),
    (r"pass preferences= or choose another measure", "give --preferences or choose another --measure"),
    (r"pass labels= and a column of votes for each", "give a column of votes for each"),
    (r"and labels= if a class does not occur(?: in y)?", "and --label for each class if one does not occur"),
    (r"or pass labels= if every prediction is wrong", "or give --label for each class if every prediction is wrong"),
    (r"\blabels misses\b", "--label misses"),
    (r"; add (it|them) to labels", r"; give \1 with --label too"),
    (r"neither in the data nor in labels", "neither in the data nor given with --label"),
    (r"\bgive reference=", "give --reference"),
    (r"use other weights, or prevalence_by_em", "use other --weights"),
    (r"\bor use metric f\b", "or use --metric f"),
    (r"pass them as y_proba, or decide first with predict", "give their columns with --proba"),
    (r"\by_true\b", "the column of --truth"),
    (r"\by_pred\b", "the column of --prediction"),
    (r"\by_proba\b", "the columns of --proba"),
    (r"\bsample_weight\b", "the column of --weight"),
)
_NOTES = _WORDS[:1]


def in_options(sentence: str) -> str:
    """Return an error or a warning in the words of the command line."""
    return _replaced(sentence, _WORDS)


def report_in_options(report: str) -> str:
    """Return a report in the words of the command line: only its fixed notes are touched, never what the data brings."""
    return _replaced(report, _NOTES)


def report_without_advice(report: str) -> str:
    """Return the report of evidence files, whose training rows nobody can give any more."""
    return re.sub(r"; pass priors= for those of the training rows\)", ")", report)


def _replaced(text: str, words: tuple[tuple[str, str], ...]) -> str:
    for pattern, option in words:
        text = re.sub(pattern, option, text)
    return text


COMMANDS = {
    "evaluate": "Judge the decisions in a file by what matters to you.",
    "compare": "Compare models whose decisions are columns of a file.",
    "preferences": "Ask what matters to you, and write the answers as TOML.",
    "tune": "Find the weights with which votes serve your preferences.",
    "tradeoff": "Say which cut, or which model, is best for which recall weight.",
    "check": "Check decisions against your minima, for scripts.",
    "monitor": "Judge the same decision period by period.",
    "fit": "Fit a classifier, and tune its decision to your preferences.",
    "predict": "Decide rows with a model that 'fit' wrote.",
    "report": "Write a report as one HTML page.",
    "studio": "All of it in the browser.",
    "count": "Count a file into evidence that can be merged.",
    "merge": "Add up evidence that 'count' wrote.",
    "demo": "Show what compromis does, on data that scikit-learn brings.",
}
"""What each command does; it lives in a module of its name, which imports nothing heavy before it runs and is not loaded for --help."""


class _Failure(click.ClickException):
    exit_code = 2


class _Commands(click.Group):
    """Loads a command when it is asked for; an error of the user's becomes one sentence and exit code 2."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"compromis.cli.{cmd_name}").command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            advice = f"did you mean {near[0]!r}?" if near else f"the commands are {', '.join(COMMANDS)}."
            raise click.UsageError(f"there is no command {args[0]!r}; {advice}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("once")
                warnings.showwarning = _show_warning
                return super().invoke(ctx)
        except (CompromisError, OSError) as error:
            if os.environ.get("COMPROMIS_DEBUG"):
                raise
            raise _Failure(_sentence(error)) from error
        except MemoryError as error:
            raise _Failure("this does not fit into memory; use fewer rows or classes") from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="compromis")
def main() -> None:
    """Evaluate, tune and compare classifiers by what matters to you.

    Errors are one sentence; set COMPROMIS_DEBUG=1 for the traceback.
    """


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"Warning: {in_options(str(message))}", err=True)


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and not isinstance(error, CompromisError):
        return _one_line(f"{error.filename or 'the file'}: {error.strerror}")
    return _one_line(in_options(str(error)))


def _one_line(text: str) -> str:
    """Return the text without control characters: a file's name may hold a line end, or orders to the terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
