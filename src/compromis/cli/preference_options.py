"""The options that say what matters, the same in every command."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import click

if TYPE_CHECKING:
    from compromis.preferences import Preferences

Command = TypeVar("Command", bound=Callable[..., Any])


def preference_options(command: Command) -> Command:
    """Add --preferences, --prioritise and --metric to a command."""
    options = (
        click.option(
            "--preferences", "preferences_file", metavar="FILE.toml", help="What matters; see 'compromis preferences'."
        ),
        click.option(
            "--prioritise",
            multiple=True,
            metavar="LABEL",
            help="Classes that matter most: importance 10, answers 0.1 and 0.9.",
        ),
        click.option("--metric", default=None, metavar="NAME", help="kulczynski, f, fowlkes_mallows or jaccard."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@overload
def read_preferences(
    preferences_file: str | None, prioritise: tuple[str, ...], metric: str | None, *, required: Literal[True]
) -> Preferences: ...


@overload
def read_preferences(
    preferences_file: str | None, prioritise: tuple[str, ...], metric: str | None, *, required: Literal[False] = ...
) -> Preferences | None: ...


def read_preferences(
    preferences_file: str | None, prioritise: tuple[str, ...], metric: str | None, *, required: bool = False
) -> Preferences | None:
    """Return the preferences that the options ask for; None if they ask for none."""
    from compromis.preferences import Preferences

    if preferences_file and prioritise:
        raise click.UsageError("give --preferences or --prioritise, not both")
    if not (preferences_file or prioritise or metric):
        if required:
            raise click.UsageError("say what matters: give --preferences FILE.toml or --prioritise LABEL")
        return None
    preferences = Preferences.from_toml(preferences_file) if preferences_file else Preferences.prioritise(prioritise)
    return preferences if metric is None else preferences.with_metric(metric)
