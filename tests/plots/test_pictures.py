"""Pictures with the names that people have: no text is cut, none lies on another, and colours stay apart for the colour-blind."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

import compromis as cp

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

from compromis.plots import _base  # noqa: E402

PLAIN = ["healthy", "ill", "unsure"]
LONG = ["a_long_class_name_of_the_first_kind_of_thing", "a_long_class_name_of_the_second_kind_of_thing", "x" * 165]
SCRIPTS = ["日本語のクラス名", "🦊 fox", "müller & söhne"]
NAMES = {"plain": PLAIN, "long": LONG, "scripts": SCRIPTS}


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def data(labels):
    rng = np.random.default_rng(0)
    y = rng.choice(3, 300, p=[0.6, 0.3, 0.1])
    votes = rng.multinomial(10, [0.4, 0.3, 0.3], 300) + 6 * np.eye(3, dtype=int)[y]
    return np.array(labels, dtype=object)[y].tolist(), votes / votes.sum(axis=1, keepdims=True)


def models(labels, many):
    rng = np.random.default_rng(1)
    truth, _ = data(labels)
    own = np.array([label == labels[1] for label in truth])
    names = (
        [f"model with a rather long name, number {k} of all ten models" for k in range(10)]
        if many
        else ["forest", "logistic"]
    )
    return {
        name: cp.OperatingPoints.from_predictions(
            truth, np.round((0.5 + 0.2 * k) * own + rng.normal(size=300), 1), pos_label=labels[1]
        )
        for k, name in enumerate(names)
    }


def displays(labels, many):
    truth, shares = data(labels)
    votes = cp.Votes.from_proba(truth, shares, labels=labels)
    preferences = cp.Preferences({labels[1]: cp.Preference(10, 0.1, 0.9, min_recall=0.4, min_precision=0.2)})
    before, after = votes.counts([1, 1, 1]), votes.counts([1, 3, 5])
    points = models(labels, many)
    plots = cp.plots
    rng = np.random.default_rng(2)
    yield plots.PreferenceDisplay.from_preferences(preferences)
    yield plots.ClassBalanceDisplay.from_counts(before, after, preferences=preferences)
    yield plots.ClassBalanceDisplay.from_counts(cp.Counts.from_matrix([[5, 0], [3, 0]], labels[:2]))
    yield plots.WeightSweepDisplay.from_proba(votes, label=labels[1], preferences=preferences)
    yield plots.VoteDisplay.from_votes(votes, label=labels[1])
    yield plots.TradeoffDisplay.from_points(points, preferences=preferences)
    yield plots.TradeoffDisplay.from_points(points[next(iter(points))])
    yield plots.PrecisionRecallSpaceDisplay.from_points(points, metric="kulczynski")
    yield plots.RocHullDisplay.from_points(points)
    ranks = {name: rng.normal(k / 3, 1, 12) for k, name in enumerate(points)}
    yield plots.CriticalDifferenceDisplay(cp.uncertainty.compare_over_data_sets(ranks)).plot()
    yield plots.PredictedAgainstTrueDisplay.from_predictions(*rng.normal(size=(2, 40)))
    yield plots.ResidualDisplay.from_predictions(*rng.normal(size=(2, 40)))
    yield from learning(truth, labels, preferences)


def learning(truth, labels, preferences):
    """Curves over sizes, and over the values of a parameter, which have long names too."""
    X, model = np.random.default_rng(3).normal(size=(len(truth), 2)), DecisionTreeClassifier(random_state=0)
    y = np.array(truth, dtype=str)
    drawn = cp.plots.PreferenceLearningCurveDisplay.from_estimator
    yield drawn(model, X, y, preferences=preferences, cv=2)
    yield drawn(model, X, y, preferences=preferences, cv=2, parameter="max_depth", values=[1, 3, None])
    yield drawn(DummyClassifier(strategy="constant"), X, y, parameter="constant", values=labels[:2], cv=2)


def overlap(one, other):
    """The share of the smaller box that lies in the other."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    smaller = min(one.width * one.height, other.width * other.height)
    return max(width, 0) * max(height, 0) / smaller


@pytest.mark.parametrize(("names", "many"), [("plain", True), ("long", False), ("scripts", False)])
@pytest.mark.filterwarnings("error:Glyph")
def test_no_text_is_cut_and_none_lies_on_another(names, many):
    drawn = set()
    for display in displays(NAMES[names], many):
        name, figure = type(display).__name__, display.figure_
        texts = _base.texts_of(figure)
        assert texts
        for text, box in texts:
            inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= figure.bbox.x1 + 1 and box.y1 <= figure.bbox.y1 + 1
            assert inside, (name, text.get_text())
        on = [
            (a.get_text(), b.get_text())
            for (a, one), (b, other) in itertools.combinations(texts, 2)
            if overlap(one, other) > 0.1
        ]
        assert not on, name
        legends = [box for ax in figure.axes if (box := ax.get_legend())] + figure.legends
        told = [[text.get_text() for text in legend.get_texts()] for legend in legends]
        assert all(len(set(one)) == len(one) for one in told), (name, told)
        drawn.add(name)
    assert drawn == set(cp.plots.__all__)


def test_titles_are_short_and_captions_say_the_sentence():
    points = models(PLAIN, many=False)
    display = cp.plots.TradeoffDisplay.from_points(points)
    assert display.ax_.get_title(loc="left") == ""
    assert display.caption == str(cp.compare_curves(points).verdict)
    assert f"<figcaption>{display.caption}" in display._repr_html_().replace("&#x27;", "'")
    assert "dropped" in cp.plots.RocHullDisplay.from_points(points).caption


def test_a_mark_at_ones_own_recall_weight():
    points = models(PLAIN, many=False)
    display = cp.plots.TradeoffDisplay.from_points(points, preferences={"ill": cp.Preference(10, 0.1, 0.9)})
    weight = 0.81 / 0.82  # y (1 - x) / (y (1 - x) + x (1 - y)) for f
    lines = [line for line in display.ax_.lines if line.get_label().startswith("your recall weight")]
    assert [line.get_xdata()[0] for line in lines] == pytest.approx([weight])
    marks = [
        line
        for line in display.ax_.lines
        if len(line.get_xdata()) == 1 and line.get_xdata()[0] == display.recall_weight
    ]
    heights = [float(cp.TradeoffCurve(each).value(weight)) for each in points.values()]
    assert [line.get_ydata()[0] for line in marks] == pytest.approx(heights)


def test_ten_models_have_numbers_in_the_band():
    display = cp.plots.TradeoffDisplay.from_points(models(PLAIN, many=True))
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend[9].startswith("10: model with")
    assert "9…" in legend[9]


BLINDNESS = {
    "none": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
"""Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB."""


def lab(colour, kind):
    """A colour as someone sees it, in CIE L*a*b*, D65."""
    share = np.array(matplotlib.colors.to_rgb(colour))
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.asarray(BLINDNESS[kind]) @ linear, 0, 1)
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    x, y, z = np.cbrt(np.maximum(np.array(to_xyz) @ seen / [0.95047, 1, 1.08883], 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def style_colours(name):
    """The colours of rows found, missed and falsely predicted, light and dark."""
    import re

    from compromis._results import shared_style

    return re.findall(rf"--{name}: (#\w+)", shared_style())[:2]


@pytest.mark.parametrize("kind", BLINDNESS)
def test_colours_stay_apart(kind):
    palettes = [_base.COLOURS, *zip(*(style_colours(name) for name in ("recall", "missed", "alarms")), strict=True)]
    assert len(palettes) == 3
    for colours in palettes:
        for one, other in itertools.combinations(colours, 2):
            assert np.linalg.norm(lab(one, kind) - lab(other, kind)) > 25, (one, other)
