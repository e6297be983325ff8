"""Draw the picture of README and home page from what `compromis demo` computes: python docs/pictures/headline.py."""

from __future__ import annotations

from pathlib import Path

from sklearn.ensemble import RandomForestClassifier

import compromis as cp
from compromis.cli.demo import PEOPLE, SEED, visitors

HERE = Path(__file__).parent
COLUMNS, STEP, LINE = 23, 18, 27
"""People in a row, and the pixels from one to the next."""
LEGEND = "Every figure is a stroke, found or missed; every dot a false alarm. Made data: compromis demo"
THEMES = {
    "headline.svg": {"ink": "#1b2a36", "faint": "#5c6b77", "found": "#1d5c8a", "missed": "#c2410c", "alarm": "#8a97a3"},
    "headline-dark.svg": {
        "ink": "#e6edf3",
        "faint": "#9fb0bd",
        "found": "#7cc0f0",
        "missed": "#ff9d5c",
        "alarm": "#7d8b97",
    },
}


def numbers() -> list[cp.Evaluation]:
    """Return what the forest of the demo does to people it has not seen, before and after."""
    (train, states), (new, truth) = visitors(SEED), visitors(SEED + 1)
    preferences = cp.Preferences({"stroke": cp.Preference(10, 0.2, 0.8), "infection": 3})
    forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=SEED)
    tuned = cp.TunedDecisionClassifier(forest, preferences=preferences, random_state=SEED).fit(train, states)
    return [cp.evaluate(truth, model.predict(new), preferences=preferences) for model in (tuned.estimator_, tuned)]


def person(x: float, y: float, colour: str, *, filled: bool) -> str:
    """Return a small figure: filled where found, an outline where missed."""
    paint = f'fill="{colour}" stroke="{colour}"' if filled else f'fill="none" stroke="{colour}"'
    head = f'<circle cx="{x + 6}" cy="{y + 4}" r="3.4"/>'
    return f'<g {paint} stroke-width="1.3">{head}<path d="M{x + 1.5} {y + 20}v-6a4.5 4.5 0 0 1 9 0v6z"/></g>'


def panel(x: float, title: str, result: cp.Evaluation, colours: dict[str, str]) -> list[str]:
    """Return one side of the picture."""
    stroke = result.headline.classes[0]
    parts = [
        f'<text x="{x}" y="66" class="title">{title}</text>',
        f'<text x="{x}" y="98" class="number" fill="{colours["found"]}">finds {stroke.found} of {stroke.of} strokes</text>',
        f'<text x="{x}" y="121" class="note"><tspan fill="{colours["missed"]}">misses {stroke.missed}</tspan>',
        f'<tspan dx="16">{stroke.false_alarms} false alarms</tspan></text>',
    ]
    for k in range(int(stroke.of)):
        row, column = divmod(k, COLUMNS)
        found = k < stroke.found
        parts.append(person(x + column * STEP, 136 + row * LINE, colours["found" if found else "missed"], filled=found))
    top = 136 + -(-int(stroke.of) // COLUMNS) * LINE + 14
    for k in range(int(stroke.false_alarms)):
        row, column = divmod(k, 2 * COLUMNS)
        parts.append(
            f'<circle cx="{x + 4 + column * STEP / 2}" cy="{top + row * 10}" r="3" fill="{colours["alarm"]}"/>'
        )
    return parts


def picture(before: cp.Evaluation, after: cp.Evaluation, colours: dict[str, str]) -> str:
    """Return the whole as SVG."""
    width, height = 900, 362
    said = "Before: finds {} of {} strokes, {} false alarms. After: finds {}, {} false alarms.".format(
        *(getattr(before.headline.classes[0], name) for name in ("found", "of", "false_alarms")),
        *(getattr(after.headline.classes[0], name) for name in ("found", "false_alarms")),
    )
    style = (
        "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}"
        f".head{{font-size:20px;font-weight:600;fill:{colours['ink']}}}.title{{font-size:15px;fill:{colours['faint']}}}"
        f".number{{font-size:25px;font-weight:700}}.note{{font-size:15px;fill:{colours['faint']}}}"
        "@media (max-width:500px){.head{font-size:23px}.number{font-size:30px}.title,.note{font-size:22px}.legend{font-size:17px}}"
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{said}">',
        f"<style>{style}</style>",
        f'<text x="10" y="30" class="head">One forest, {PEOPLE:,} people it has never seen, two ways to decide</text>',
        *panel(10, "as it comes", before, colours),
        *panel(470, "tuned: a stroke counts ten times", after, colours),
        f'<text x="10" y="{height - 14}" class="note legend">{LEGEND}</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Draw it for light and dark pages."""
    before, after = numbers()
    for name, colours in THEMES.items():
        (HERE / name).write_text(picture(before, after, colours), "utf-8")


if __name__ == "__main__":
    main()
