"""compromis demo: the main job on made data of people, in a few seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from compromis.cli.show import has_colour

if TYPE_CHECKING:
    import numpy as np

    from compromis import Evaluation

PEOPLE, SEED = 6000, 0
MEANS = {
    "harmless": (135, 36.8, 1.0, 50, 75),
    "infection": (130, 38.2, 1.2, 55, 92),
    "stroke": (165, 36.9, 2.6, 68, 82),
}
"""Blood pressure, temperature, trouble to speak, age, pulse."""
SPREADS = (18, 0.5, 1.0, 16, 12)
SHARES = (0.90, 0.08, 0.02)

BEFORE = """\
MADE DATA, no real person: {rows:,} visitors of an emergency desk, five
measurements each. Two in a hundred have a stroke, eight an infection. A missed
stroke is worse than a false alarm, and that is what you say:

    import compromis as cp
    preferences = {{"stroke": cp.Preference(10, 0.2, 0.8), "infection": 3}}
    tuned = cp.TunedDecisionClassifier(forest, preferences=preferences)
    tuned.fit(X, y)

A stroke counts ten times. If none were missed, two right alarms in ten would do
(0.2); if no alarm were in vain, eight strokes found in ten (0.8).
"""
AFTER = """\

Type next:
    compromis studio --demo          preferences with knobs, in your browser
    compromis evaluate FILE --truth COL --prediction COL --prioritise LABEL
    compromis tune FILE --truth COL --proba PREFIX --prioritise LABEL
    compromis fit TABLE --target COL --prioritise LABEL
"""


@click.command("demo")
def command() -> None:
    """Show in people what tuning to preferences does, on made data with three classes."""
    from sklearn.ensemble import RandomForestClassifier

    import compromis as cp

    click.echo(BEFORE.format(rows=2 * PEOPLE))
    (train, states), (new, truth) = visitors(SEED), visitors(SEED + 1)
    preferences = cp.Preferences({"stroke": cp.Preference(10, 0.2, 0.8), "infection": 3})
    forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=SEED)
    tuned = cp.TunedDecisionClassifier(forest, preferences=preferences, random_state=SEED).fit(train, states)
    models = {"the forest alone": tuned.estimator_, "the same, tuned": tuned}
    results = {name: cp.evaluate(truth, model.predict(new), preferences=preferences) for name, model in models.items()}
    click.echo(f"On {PEOPLE:,} other visitors, whom the forest has never seen:\n\n{_table(results)}\n")
    click.echo(_sentence(*results.values()))
    click.echo(AFTER, nl=False)


def visitors(seed: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return made measurements and states."""
    import numpy as np

    generator = np.random.default_rng(seed)
    state = generator.choice(len(SHARES), PEOPLE, p=SHARES)
    means = np.array(list(MEANS.values()), dtype=np.float64)
    return generator.normal(means[state], SPREADS).round(1), np.array(list(MEANS))[state]


def _table(results: dict[str, Evaluation]) -> str:
    lines = [f"{'':18}{'strokes found':>16}{'missed':>9}{'false alarms':>15}{'infections found':>19}"]
    for name, result in results.items():
        stroke, infection = result.headline.classes
        lines.append(
            f"{name:18}{f'{stroke.found} of {stroke.of}':>16}{stroke.missed:>9}{stroke.false_alarms:>15}"
            f"{f'{infection.found} of {infection.of}':>19}"
        )
    return "\n".join(lines)


def _sentence(plain: Evaluation, tuned: Evaluation) -> str:
    """Return what tuning gained, in people, and the verdict."""
    before, after = plain.headline.classes[0], tuned.headline.classes[0]
    more, alarms = after.found - before.found, after.false_alarms - before.false_alarms
    gain = f"{more:g} more strokes found, for {alarms:g} more false alarms."
    assert tuned.verdict is not None
    verdict = f"Loss {plain.summary.loss:.3f} before, {tuned.summary.loss:.3f} after; {tuned.verdict.word}."
    return f"{click.style(gain, bold=True) if has_colour() else gain}\n{verdict}"
