"""Examples that start from scores: ROC and precision-recall by hand, dominance and the hull."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import compromis as cp
from reproductions.taught.line import Line

TWENTY = "+++-+--+---+--------"  # rows of falling score, 1.00 to 0.05
TFP = "0.000 0.000 0.000 0.071 0.071 0.143 0.214 0.214 0.286 0.357 0.429 0.429 0.500 0.571 0.643 0.714 0.786 0.857 0.929 1.000"
TVP = "0.167 0.333 0.500 0.500 0.667 0.667 0.667 0.833 0.833 0.833 0.833 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000"
SIX = ([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])


def twenty() -> cp.OperatingPoints:
    """The cuts of the 20 rows; a row is predicted positive if its score is at least the threshold."""
    scores = [round(1 - 0.05 * place, 2) for place in range(20)]
    return cp.OperatingPoints.from_predictions([int(sign == "+") for sign in TWENTY], scores)


def six() -> cp.OperatingPoints:
    """The cuts of the 6 rows."""
    return cp.OperatingPoints.from_predictions(*SIX)


def of_twenty() -> Iterator[Line]:
    """The construction of the ROC curve, all 20 thresholds, and the five worked out in full."""
    points = twenty()
    at = {round(float(cut), 2): place for place, cut in enumerate(points.threshold) if np.isfinite(cut)}
    for place, (tfp, tvp) in enumerate(zip(TFP.split(), TVP.split(), strict=True)):
        threshold = round(1 - 0.05 * place, 2)
        for name, printed, rates in (("TFP", tfp, points.fpr), ("TVP", tvp, points.tpr)):
            yield Line("004", "ROC of 20 rows", f"{name} at {threshold:.2f}", printed, float(rates[at[threshold]]))
    worked = ((1.0, "0.2", "0"), (0.95, "0.33", "0"), (0.9, "0.5", "0"), (0.85, "0.5", "0.07"), (0.05, "1", "1"))
    for threshold, tvp, tfp in worked:
        note = "1/6 = 0.167, as the next slide has it" if tvp == "0.2" else ""
        yield Line(
            "004", "ROC of 20 rows, worked out", f"TVP at {threshold:g}", tvp, float(points.tpr[at[threshold]]), note
        )
        yield Line("004", "ROC of 20 rows, worked out", f"TFP at {threshold:g}", tfp, float(points.fpr[at[threshold]]))
    note = "74 of 84 pairs in order; the text's 'probability that a positive is classified positive' would be 0.7917"
    yield Line("004", "ROC of 20 rows", "AUC", "", cp.tradeoffs.roc_points(points).area, note)


def of_six() -> Iterator[Line]:
    """ROC and precision-recall of six rows, seven thresholds each; FP/P of the text is FP/N (equal here)."""
    points = six()
    rates = (("TP/P", points.tpr, "0/3 1/3 1/3 2/3 3/3 3/3 3/3"), ("FP/P", points.fpr, "0/3 0/3 1/3 1/3 1/3 2/3 3/3"))
    rates += (("recall", points.recall, "0/3 1/3 1/3 2/3 3/3 3/3 3/3"),)
    for name, values, printed in rates:
        for place, (figure, value) in enumerate(zip(printed.split(), values, strict=True)):
            yield Line("004", "ROC and PR of 6 rows", f"{name} at cut {place}", figure, float(value))
    for place, figure in enumerate(("-", "1/1", "1/2", "2/3", "3/4", "3/5", "3/6")):
        value = float(points.precision[place])
        yield Line(
            "004", "ROC and PR of 6 rows", f"precision at cut {place}", figure, "-" if np.isnan(value) else value
        )
    yield Line("004", "ROC and PR of 6 rows", "AUC", "", cp.tradeoffs.roc_points(points).area)


def corners() -> Iterator[Line]:
    """What both texts say about the corners, the diagonal and the area."""
    points = six()
    ends = [f"({points.fpr[place]:.0f}, {points.tpr[place]:.0f})" for place in (0, -1)]
    yield Line("003", "ROC space", "nothing predicted positive", "(0, 0)", ends[0])
    yield Line("003", "ROC space", "everything predicted positive", "(1, 1)", ends[1])
    truth = [1, 1, 1, 0, 0, 0]
    scores = {"a perfect classifier": ("1", [3, 3, 2, 1, 1, 0]), "a non-informative classifier": ("0.5", [1] * 6)}
    for what, (printed, score) in scores.items():
        note = (
            "a constant score; ties must count one half, 003's 'lower value' would give 0" if printed == "0.5" else ""
        )
        area = cp.tradeoffs.roc_points(cp.OperatingPoints.from_predictions(truth, score)).area
        for source in ("003", "004"):
            yield Line(source, "ROC space", f"AUC of {what}", printed, area, note)


def drawn_models() -> dict[str, cp.OperatingPoints]:
    """Four curves that stand to each other as the slide's do; the slide gives no numbers, so these are ours."""
    steps = {  # positives before each group of 10 negatives, of 100 positives and 100 negatives
        "M1": (12, 14, 12, 12, 11, 10, 9, 8, 6, 6),
        "M2": (25, 22, 19, 14, 10, 4, 3, 2, 1, 0),
        "M3": (45, 17, 8, 6, 5, 5, 4, 4, 3, 3),
        "M4": (32, 20, 14, 8, 7, 6, 5, 4, 2, 2),
    }
    models = {}
    for name, gains in steps.items():
        signs = [sign for gain in gains for sign in [1] * gain + [0] * 10]
        models[name] = cp.OperatingPoints.from_predictions(signs, np.arange(len(signs), 0, -1.0))
    return models


def hull() -> Iterator[Line]:
    """Dominance, and the models on the convex hull: M1 and M4 can go."""
    models = drawn_models()
    found = cp.roc_hull(models)
    below = {name: cp.tradeoffs.dominance(models)[name] for name in models}
    beaten = all("M1" in below[name] for name in ("M2", "M3", "M4"))
    yield Line("004", "convex hull", "models on the hull", "M2, M3", ", ".join(found.models))
    yield Line("004", "convex hull", "models to drop", "M1, M4", ", ".join(found.droppable))
    yield Line("004", "convex hull", "M1 is dominated by every model", "True", str(beaten))
    better = any(
        models["M4"].tpr[models["M4"].fpr == x].max() > models["M3"].tpr[models["M3"].fpr == x].max()
        for x in (0.2, 0.3, 0.4, 0.5)
    )
    yield Line("004", "convex hull", "M4 is above M3 somewhere", "True", str(bool(better)))
    yield Line("004", "dominance", "M3 dominates M1, so no costs make M1 better", "True", str("M1" in below["M3"]))


def lines() -> list[Line]:
    """Every line of this file."""
    return [line for part in (of_twenty, of_six, corners, hull) for line in part()]
