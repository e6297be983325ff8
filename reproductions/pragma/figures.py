"""Figures 1 to 4 of the PRAGMA paper, with the numbers behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import compromis as cp
from reproductions.pragma.experiments import EXPERIMENTS, TREES, Outcome
from reproductions.sheets import write

# Figure 1: two models, and three preferences; the paper does not say which answers its cases II and III stand for.
MODELS = {"A": (0.3, 0.8), "B": (0.8, 0.3)}  # recall, precision
CASES = {"I, alike": (0.8, 0.8), "II, recall preferred": (0.1, 0.9), "III, precision preferred": (0.9, 0.1)}
BETTER = {"I, alike": "equal", "II, recall preferred": "B", "III, precision preferred": "A"}  # as the caption says


def save(figure: Any, file: Path) -> None:
    figure.savefig(file, dpi=110, bbox_inches="tight")
    plt.close(figure)


def figure_1(folder: Path) -> None:
    """The plane of each setting, with A and B on it."""
    settings = {case: cp.Preference(1, *answers) for case, answers in CASES.items()}
    display = cp.plots.PreferenceDisplay.from_preferences(
        cp.Preferences(settings, metric="kulczynski"), labels=list(settings)
    )
    rows = []
    for panel, (case, preferences) in zip(display.ax_, settings.items(), strict=True):
        values = {}
        for name, (recall, precision) in MODELS.items():
            values[name] = round(
                1
                - float(
                    cp.metric_value(precision, recall, preferences.recall_weight_for("kulczynski"), metric="kulczynski")
                ),
                12,
            )
            panel.plot(recall, precision, "o", color="black", markersize=7)
            panel.annotate(f"{name}: f = {values[name]:.2f}", (recall, precision), (6, 6), textcoords="offset points")
        better = "equal" if values["A"] == values["B"] else min(values, key=values.__getitem__)
        rows.append((case, *CASES[case], values["A"], values["B"], BETTER[case], better))
    save(display.figure_, folder / "figure_1.png")
    write(folder / "figure_1.csv", ("case", "x", "y", "f of A", "f of B", "paper better", "ours better"), rows)


def figure_2(letter: Outcome, mammography: Outcome, folder: Path) -> None:
    """Votes for S of the rows that have any, and for the minority of the rows that have two or more."""
    for part, outcome, label, least in (("a", letter, "S", 1), ("b", mammography, "1", 2)):
        kept = outcome.votes[:, outcome.classes.index(label)] * TREES > least - 0.5
        display = cp.plots.VoteDisplay.from_proba(
            outcome.truth[kept], outcome.votes[kept], label=label, labels=list(outcome.classes)
        ).plot()
        display.ax_.set_xlim(left=(least - 0.45) / TREES)
        display.ax_.set_title(f"{outcome.data}: rows with {least} or more of {TREES} votes for {label}", loc="left")
        save(display.figure_, folder / f"figure_2{part}.png")
        votes = (outcome.votes[kept, outcome.classes.index(label)] * TREES).round().astype(int)
        truth = outcome.truth[kept]
        rows = [
            (count, *(int((truth[votes == count] == name).sum()) for name in outcome.classes))
            for count in range(least, TREES + 1)
        ]
        write(folder / f"figure_2{part}.csv", (f"votes for {label}", *outcome.classes), rows)


def figure_3(letter: Outcome, folder: Path) -> None:
    """Recall and precision of every letter before and after tuning."""
    preferences = EXPERIMENTS["letter"].preferences
    display = cp.plots.ClassBalanceDisplay.from_counts(
        letter.counts["forest"], letter.counts["default"], preferences=preferences
    )
    save(display.figure_, folder / "figure_3.png")
    frame = display.to_frame("pandas")
    write(folder / "figure_3.csv", list(frame.columns), frame.itertuples(index=False))


def figure_4(outcome: Outcome, folder: Path, name: str) -> None:
    """Recall, precision, errors and PRAGMA as the weight of the minority grows."""
    experiment = EXPERIMENTS[outcome.data]
    sweep = cp.weights.weight_sweep(
        outcome.truth, outcome.votes,
        label=experiment.priority[0], labels=list(outcome.classes), preferences=experiment.preferences,
    )  # fmt: skip
    display = cp.plots.WeightSweepDisplay.from_sweep(sweep)
    caption = f"{outcome.data}: votes of {TREES} trees for the rows of ten test folds"
    display.figure_.text(0.01, -0.03, caption, fontsize=9, color="0.2")
    save(display.figure_, folder / f"{name}.png")
    frame = display.to_frame("pandas")
    write(folder / f"{name}.csv", list(frame.columns), frame.itertuples(index=False))


def draw_all(first: dict[str, Outcome], folder: Path) -> None:
    """Draw all figures from the cross-validations of the first seed."""
    folder.mkdir(parents=True, exist_ok=True)
    figure_1(folder)
    figure_2(first["letter"], first["mammography"], folder)
    figure_3(first["letter"], folder)
    figure_4(first["mammography"], folder, "figure_4")
    figure_4(first["satimage"], folder, "figure_4_satimage")
