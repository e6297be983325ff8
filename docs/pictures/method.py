"""Draw the pictures of docs/method.md and docs/choose_metric.md: python docs/pictures/method.py."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

import compromis as cp

HERE = Path(__file__).parent
DARK, RED, GREY = "#1d3f58", "#b23a48", "0.55"
STYLES = {
    "kulczynski": ("-", DARK),
    "f": ("--", RED),
    "fowlkes_mallows": (":", "0.25"),
    "jaccard": ("-.", "#6a8f3c"),
}


def square(ax: Axes, title: str) -> None:
    """Prepare axes for recall and precision."""
    ax.set(xlim=(0, 1.02), ylim=(0, 1.02), xlabel="recall", ylabel="precision")
    ax.set_aspect("equal")
    ax.set_title(title, loc="left", fontsize=10, color="0.2")
    ax.spines[["top", "right"]].set_visible(False)


def line_through_answers(metric: str, x: float, y: float) -> tuple[np.ndarray, np.ndarray]:
    """Return recall and precision on the line of all results worth as much as the two answers."""
    preference = cp.Preference(precision_at_full_recall=x, recall_at_full_precision=y)
    weight = preference.recall_weight_for(metric)
    value = float(cp.metric_value(x, 1.0, weight, metric=metric))
    recall, precision = np.meshgrid(np.linspace(0.002, 1, 700), np.linspace(0.002, 1, 700))
    surface = cp.metric_value(precision, recall, weight, metric=metric)
    path = plt.figure().add_subplot().contour(recall, precision, surface, levels=[value]).get_paths()[0]
    plt.close()
    return path.vertices[:, 0], path.vertices[:, 1]


def two_questions() -> None:
    """The two answers as two points that are worth the same, and another preference beside it."""
    figure, panels = plt.subplots(1, 2, figsize=(9, 4.9), layout="constrained")
    settings = [
        (panels[0], 0.1, 0.9, "A cancer: misses are worse"),
        (panels[1], 0.9, 0.4, "Blocking an account: false alarms are worse"),
    ]
    for ax, x, y, title in settings:
        square(ax, title)
        recall, precision = line_through_answers("f", x, y)
        ax.fill_between(*_sorted(recall, precision), 1.0, color="0.93", step=None)
        ax.plot(recall, precision, "--", color=DARK)
        ax.plot([1, y], [x, 1], "o", color=DARK, markersize=8, clip_on=False)
        left = x < y
        ax.annotate(
            f"question 1: no case missed;\nprecision {x:.2f} will do",
            (1, x), (0.40 if left else 0.50, 0.24 if left else 0.62),
            arrowprops={"arrowstyle": "-", "color": GREY}, fontsize=9,
        )  # fmt: skip
        ax.annotate(
            f"question 2: no false alarm;\nrecall {y:.2f} will do",
            (y, 1), (0.32 if left else 0.08, 0.80 if left else 0.72),
            arrowprops={"arrowstyle": "-", "color": GREY}, fontsize=9,
        )  # fmt: skip
        ax.text(0.04, 0.05, "worth less", color=GREY, fontsize=9)
    panels[0].text(0.955, 0.6, "worth more", color=GREY, fontsize=9, rotation=90, va="center", ha="center")
    panels[1].text(0.72, 0.955, "worth more", color=GREY, fontsize=9, ha="center", va="center")
    save(figure, "two_questions")


def _sorted(recall: np.ndarray, precision: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(recall)
    return recall[order], precision[order]


def why_not_accuracy() -> None:
    """Accuracy of a classifier of a rare class against what it finds."""
    figure, ax = plt.subplots(figsize=(6.8, 3.9), layout="constrained")
    prevalence = np.linspace(0.001, 0.5, 400)
    ax.plot(100 * prevalence, 1 - prevalence, color=RED, label="finds nothing: always 'healthy'")
    ax.plot(
        100 * prevalence, 0.9 * prevalence + 0.95 * (1 - prevalence), "--", color=DARK,
        label="finds 90 % of the cases, 5 % false alarms",
    )  # fmt: skip
    ax.axvspan(0, 100 * 0.05 / 0.95, color="0.94")
    ax.text(0.35, 0.62, "here, finding nothing\nis the more accurate", fontsize=9, color="0.35")
    ax.set(xscale="log", xlim=(0.1, 50), ylim=(0.5, 1.005), xlabel="share of cases (%)", ylabel="accuracy")
    ax.set_xticks([0.1, 1, 5, 10, 50], ["0.1", "1", "5", "10", "50"])
    ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 0.0))
    ax.spines[["top", "right"]].set_visible(False)
    save(figure, "why_not_accuracy")


def why_not_f1() -> None:
    """Two models of the same F1 which nobody would exchange."""
    figure, ax = plt.subplots(figsize=(5.2, 5.1), layout="constrained")
    square(ax, "All of one F1, 0.6; the dashed line is one preference (0.10, 0.90)")
    recall = np.linspace(0.43, 1, 200)
    ax.plot(recall, 0.6 * recall / (2 * recall - 0.6), color=GREY)
    r, p = line_through_answers("f", 0.1, 0.9)
    ax.plot(r, p, "--", color=DARK)
    for recall_, name, shift in (
        (0.45, "misses 55 of 100 cases", (0.02, 0.02)),
        (0.95, "misses 5 of 100 cases", (-0.53, -0.10)),
    ):
        precision = 0.6 * recall_ / (2 * recall_ - 0.6)
        ax.plot(recall_, precision, "o", color=RED, markersize=9)
        ax.annotate(name, (recall_, precision), (recall_ + shift[0], precision + shift[1]), fontsize=9.5)
    save(figure, "why_not_f1")


def family() -> None:
    """The four metrics through the same two answers, and their values over the recall weight for one result."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.7), layout="constrained")
    square(left, "Worth the same as the two answers (0.3, 0.6)")
    for metric, (line, colour) in STYLES.items():
        name = "jaccard (the line of f)" if metric == "jaccard" else metric
        left.plot(*line_through_answers(metric, 0.3, 0.6), line, color=colour, label=name)
    left.plot([1, 0.6], [0.3, 1], "o", color="0.1", markersize=7, clip_on=False)
    left.legend(frameon=False, loc="lower left")
    weight = np.linspace(0, 1, 301)
    for metric, (line, colour) in STYLES.items():
        right.plot(weight, cp.metric_value(0.9, 0.5, weight, metric=metric), line, color=colour)
    right.set(xlim=(0, 1), ylim=(0.4, 0.95), xlabel="recall weight l", ylabel="value of (precision 0.9, recall 0.5)")
    right.set_title("One result, from precision alone to recall alone", loc="left", fontsize=10, color="0.2")
    right.spines[["top", "right"]].set_visible(False)
    save(figure, "family")


def giving_up() -> None:
    """The loss over the share of rows predicted positive: a plane that ends at its lowest, and a metric that does not."""
    rng = np.random.default_rng(1)
    rows, cases = 40_000, 400
    y = np.arange(rows) < cases
    score = rng.normal(np.where(y, 1.6, 0.0))
    points = cp.OperatingPoints.from_predictions(y, score)
    predicted = np.cumsum(np.ones(len(points.recall))) / rows
    figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for metric in ("kulczynski", "f"):
        weight = cp.Preference(precision_at_full_recall=0.1, recall_at_full_precision=0.9).recall_weight_for(metric)
        rest = cp.Preference(precision_at_full_recall=0.8, recall_at_full_precision=0.8).recall_weight_for(metric)
        case = 1 - cp.metric_value(points.precision, points.recall, weight, metric=metric)
        negatives = rows - cases
        false_alarms, misses = points.fpr * negatives, (1 - points.recall) * cases
        others = 1 - cp.metric_value(
            (negatives - false_alarms) / np.maximum(negatives - false_alarms + misses, 1),
            1 - points.fpr,
            rest,
            metric=metric,
        )
        loss = (10 * case + others) / 11
        line, colour = STYLES[metric]
        ax.plot(100 * predicted, loss, line, color=colour, label=metric)
        best = int(np.nanargmin(loss))
        ax.plot(100 * predicted[best], loss[best], "o", color=colour, markersize=8, clip_on=False)
        p, r = points.precision[best], points.recall[best]
        said = f"{metric}: best with {100 * predicted[best]:.0f} % flagged,\nprecision {p:.3f}, recall {r:.2f}"
        ax.text(100 * predicted[best], loss[best] + 0.09, said, fontsize=9, color="0.3", ha="center", va="center")
    ax.set(xlim=(0, 100.5), ylim=(0, 1), xlabel="rows predicted 'case' (%)", ylabel="PRAGMA loss")
    ax.legend(frameon=False, loc="upper center")
    ax.spines[["top", "right"]].set_visible(False)
    save(figure, "giving_up")


def save(figure: plt.Figure, name: str) -> None:
    """Write a figure beside this file."""
    figure.savefig(HERE / f"{name}.png", dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    mpl.use("Agg")
    two_questions()
    why_not_accuracy()
    why_not_f1()
    family()
    giving_up()
