"""compromis monitor: the same decision over time, judged by what matters."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from compromis.cli import options
from compromis.cli.inputs import Predicted, Predictions
from compromis.cli.show import show

if TYPE_CHECKING:
    import compromis as cp


@click.command("monitor")
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--truth", metavar="COL", help="The column of true classes; files without it are taken to have no labels."
)
@options.prediction
@options.proba("Columns of calibrated probabilities, decided by --weights; without --weights, by the highest")
@options.weights
@click.option(
    "--reference", metavar="FILE", help="Labelled rows on which the decision was accepted; without it the first FILE."
)
@options.preferences
@click.option("--max-loss", type=float, metavar="LOSS", help="The largest loss that meets the preferences.")
@click.option(
    "--state",
    metavar="FILE.json",
    help="Carry the tests of the minima on: read from FILE, and written there again; it may be missing the first time.",
)
@options.label
@options.confidence_of_states
@options.fail_on
@options.drop_missing
@options.markdown
@options.as_json
def command(
    files: tuple[str, ...],
    truth: str | None,
    reference: str | None,
    preferences: options.PreferenceChoice,
    max_loss: float | None,
    state: str | None,
    label: tuple[str, ...],
    confidence: float,
    fail_on: str,
    markdown: bool,
    as_json: bool,
    **predictions: Any,
) -> None:
    """Judge the same decision in one FILE per period, in the order of time.

    \b
      compromis monitor march.csv april.csv --truth actual \\
        --prediction model --preferences what_matters.toml

    Says for each period what the preferences come to, whether the class shares have moved or the rows themselves, and what to do.
    Without labels the class shares are estimated. Minima are also tested over all labelled rows but those of the reference, with --state
    from run to run: look as often as you like, at most 1 % of streams ever raise a false alarm. The exit code is 1 when the last period
    does not meet the preferences (with --fail-on surely-missed: when the interval of a number lies beyond its bound) or a test has
    raised its alarm, 2 when nothing could be judged.
    """  # noqa: D301 (click reads the backspace)
    import compromis as cp

    columns = Predictions(**predictions)
    wanted = preferences.required()
    if truth is None:
        raise click.UsageError("give --truth, the column of true classes in --reference or in the first FILE")
    if state is not None and reference is None:
        raise click.UsageError("--state carries tests from run to run; give --reference, the same rows in each of them")
    names = _names(files)
    first = columns.read(reference or files[0], truth)
    accepted = first.with_classes(label)
    periods: dict[str, Any] = {}
    for number, (name, file) in enumerate(zip(names, files, strict=True)):
        if number == 0 and reference is None:
            periods[name] = accepted
            continue
        period = columns.read(file, truth, optional=True)
        periods[name] = period.counts if period.counts is not None else _unlabelled(period, accepted)
    settings: dict[str, Any] = {"max_loss": max_loss, "confidence": confidence, "tests": _carried(state)}
    result = cp.monitor(periods, preferences=wanted, reference=accepted, **settings)
    if state is not None:
        if result.tests is None:
            raise click.UsageError("--state carries tests of minima on; set min_recall or min_precision")
        result.tests.to_json(state)
    show(result, as_json=as_json, markdown=markdown)
    last = result.periods[-1]
    if last.retune and columns.proba and not (as_json or markdown):
        click.echo(_tune_command(reference or files[0], truth, columns.proba, result.classes, last.shares))
    if result.tests is not None and result.tests.alarm:
        raise click.exceptions.Exit(1)
    if last.state == "surely missed" if fail_on == "surely-missed" else not result.met:
        raise click.exceptions.Exit(1)


def _carried(state: str | None) -> cp.drift.AnytimeTests | None:
    import compromis as cp

    return cp.drift.AnytimeTests.from_json(state) if state is not None and Path(state).exists() else None


def _unlabelled(period: Predicted, reference: cp.Counts) -> cp.drift.Unlabelled:
    import compromis as cp

    proba = period.proba if period.classes == reference.classes else None
    return cp.drift.Unlabelled.from_predictions(period.labels, reference, y_proba=proba)


def _tune_command(
    file: str, truth: str, proba: tuple[str, ...], classes: Sequence[Any], shares: Sequence[float]
) -> str:
    """Return the command that searches weights for the shares, ready to be copied."""
    words = ["compromis", "tune", file, "--truth", truth]
    words += [word for given in proba for word in ("--proba", given)]
    for label, share in zip(classes, shares, strict=True):
        words += ["--prevalence", f"{label}={share:.4g}"]
    return "for example: " + shlex.join(words) + " --preferences ... --output ..."


def _names(files: tuple[str, ...]) -> list[str]:
    """Return the names of the files without their folders where that tells them apart."""
    if len(set(files)) < len(files):
        raise click.UsageError(
            f"{max(files, key=files.count)!r} is named more than once; name the file of each period once"
        )
    short = [Path(file).name for file in files]
    return short if len(set(short)) == len(short) else list(files)
