"""The displays: what they draw equals numbers worked out elsewhere, names are shown as they are, mistakes are one sentence."""

from __future__ import annotations

import io
import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn import metrics

import compromis as cp
from compromis.tradeoffs import comparison as comparison_module
from compromis.tradeoffs import curve as curve_module
from compromis.tradeoffs import envelope as tradeoff_envelope

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

DISPLAYS = [name for name in dir(cp.plots) if name.endswith("Display")]
HOSTILE = ["$a$ and $b$", "_hidden", "<i>x</i>", r"back\slash_$"]


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


@pytest.fixture
def scored(rng):
    y = (rng.random(300) < 0.3).astype(int)
    return y, {"good": np.round(y + rng.normal(size=300), 1), "poor": np.round(0.3 * y + rng.normal(size=300), 1)}


@pytest.fixture
def voted(rng):
    y = rng.choice(["a", "b", "c"], 200, p=[0.6, 0.3, 0.1])
    votes = rng.multinomial(10, [0.4, 0.3, 0.3], 200) + 6 * (y[:, None] == np.array(["a", "b", "c"]))
    votes[rng.random(200) < 0.3, 2] = 0
    return votes / votes.sum(axis=1, keepdims=True), y


def drawn_text(figure):
    """The text in the picture, as a reader sees it."""
    stream = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        figure.savefig(stream, format="svg")
    text = re.sub(
        "<!--.*?-->", "", stream.getvalue(), flags=re.DOTALL
    )  # comments hold what was asked for, not what is seen
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def value_of(metric, p, r, l):
    return {"kulczynski": lambda: (1 - l) * p + l * r, "f": lambda: 1 / (l / r + (1 - l) / p)}[metric]()


@pytest.mark.parametrize(("metric", "weight"), [("kulczynski", 0.9), ("f", 0.81 / 0.82)])
def test_preference_lines_have_their_loss(metric, weight):
    # (x, y) = (0.1, 0.9): l = (1-x)/((1-x)+(1-y)) for the plane, y(1-x)/(y(1-x)+x(1-y)) for f
    preferences = cp.Preferences({"bad": cp.Preference(10, 0.1, 0.9)}, metric=metric)
    display = cp.plots.PreferenceDisplay.from_preferences(preferences)
    frame = display.to_frame("pandas")
    assert frame["class"].unique().tolist() == ["bad", "every other class"]
    bad = frame[(frame["class"] == "bad") & (frame.precision > 0) & (frame.recall > 0)]
    assert np.allclose(1 - value_of(metric, bad.precision, bad.recall, weight), bad.loss, atol=1e-9)
    answers = bad[bad.answers]
    ends = answers.sort_values("recall")
    assert np.allclose(ends[["recall", "precision"]].iloc[[0, -1]], [[0.9, 1.0], [1.0, 0.1]], atol=2e-3)
    assert [axes.get_xlabel() for axes in display.ax_] == ["recall", "recall"]


def test_preference_panels_by_preferences():
    plain = cp.plots.PreferenceDisplay.from_preferences({"A": {"recall_weight": 0.9}, "B": 3})
    assert plain.to_frame("pandas")["class"].unique().tolist() == ["A", "B", "every other class"]
    preferences = cp.Preferences.prioritise(["A", "E"], metric="kulczynski")
    display = cp.plots.PreferenceDisplay.from_preferences(preferences, labels=list("ABCDE"))
    assert len(display.ax_) == 2
    assert display.to_frame("pandas")["class"].unique().tolist() == ["A, E", "B, C, D"]
    alone = cp.plots.PreferenceDisplay.from_preferences(cp.Preferences(metric="kulczynski"))
    assert alone.ax_.get_ylabel() == "precision"


def test_space_is_scikit_learns_curve(scored):
    y, scores = scored
    display = cp.plots.PrecisionRecallSpaceDisplay.from_predictions(y, scores, pos_label=1)
    frame = display.to_frame("pandas")
    for name, score in scores.items():
        precision, recall, threshold = metrics.precision_recall_curve(y, score)
        own = frame[(frame.model == name) & np.isfinite(frame.threshold)].sort_values("threshold")
        assert np.allclose(own.threshold, threshold)
        assert np.allclose(own.precision, precision[:-1])
        assert np.allclose(own.recall, recall[:-1])
        at = own[["precision", "recall"]].to_numpy()
        beaten = [bool(((at >= one).all(axis=1) & (at > one).any(axis=1)).any()) for one in at]
        assert own.dominating.tolist() == [not one for one in beaten]
    assert display.ax_.get_xlabel() == "recall of 1"
    assert display.ax_.get_ylabel() == "precision of 1"
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert {"good", "poor", "cannot be reached", "random groups", "maximal group (everything)"} <= set(legend)


@pytest.mark.parametrize("metric", ["kulczynski", "f"])
def test_tradeoff_is_the_best_of_all_cuts(scored, metric):
    y, scores = scored
    display = cp.plots.TradeoffDisplay.from_predictions(y, scores, pos_label=1, metric=metric)
    frame = display.to_frame("pandas")
    for name, score in scores.items():
        cuts = np.unique(score)
        p = np.array([metrics.precision_score(y, score >= cut) for cut in cuts])
        r = np.array([metrics.recall_score(y, score >= cut) for cut in cuts])
        p, r = p[r > 0], r[r > 0]
        own = frame[frame.curve == name]
        best = value_of(metric, p[:, None], r[:, None], own.recall_weight.to_numpy()[None, :]).max(axis=0)
        assert np.allclose(own.value, best)
    share = y.mean()
    weight = frame[frame.curve == "maximal"].recall_weight
    assert np.allclose(frame[frame.curve == "maximal"].value, value_of(metric, share, 1.0, weight))
    assert np.allclose(frame[frame.curve == "random"].value, value_of(metric, share, 0.5, weight))
    assert (frame[frame.curve == "perfect"].value == 1).all()
    assert (frame[frame.curve == "null"].value == 0).all()
    winners = display.intervals("pandas")
    middle = (winners.low + winners.high) / 2
    values = {
        name: np.interp(middle, *frame[frame.curve == name][["recall_weight", "value"]].to_numpy().T) for name in scores
    }
    top = np.max(list(values.values()), axis=0)
    level = [[name for name in values if values[name][k] >= top[k] - 1e-12] for k in range(len(middle))]
    assert winners.best.tolist() == [" = ".join(names) for names in level]
    assert display.ax_.get_xlabel() == "weight of recall (0: precision alone, 1: recall alone)"
    assert display.ax_.get_ylabel() == f"{metric} for 1"


def test_tradeoff_of_one_model_shows_its_thresholds(scored):
    y, scores = scored
    display = cp.plots.TradeoffDisplay.from_predictions(y, scores["good"], pos_label=1, name="good", landmarks=())
    parts = display.intervals("pandas")
    assert parts.low.iloc[0] == 0
    assert parts.high.iloc[-1] == 1
    widest = parts.loc[(parts.high - parts.low).idxmax()]
    assert f"≥ {widest.threshold:.3g}" in [text.get_text() for text in display.ax_.texts]
    assert set(display.to_frame("pandas").curve) == {"good"}
    with pytest.raises(cp.InputError, match="no landmark 'best'; choose among perfect"):
        cp.plots.TradeoffDisplay.from_predictions(y, scores, pos_label=1, landmarks=["best"])


def test_tradeoff_from_a_comparison_of_the_other_pair(scored):
    y, scores = scored
    points = {name: cp.OperatingPoints.from_predictions(y, score) for name, score in scores.items()}
    display = cp.plots.TradeoffDisplay.from_comparison(
        cp.compare_curves(points, pair="specificity-sensitivity", metric="kulczynski")
    )
    assert display.ax_.get_xlabel() == "weight of sensitivity (0: specificity alone, 1: sensitivity alone)"
    frame = display.to_frame("pandas")
    assert set(frame.kind) == {"model"}
    fpr, tpr, _ = metrics.roc_curve(y, scores["good"])
    own = frame[(frame.curve == "good") & (frame.recall_weight == 0.5)]
    assert own.value.item() == pytest.approx(((1 - fpr) / 2 + tpr / 2).max())


def test_roc_hull_is_above_every_curve(scored):
    y, scores = scored
    display = cp.plots.RocHullDisplay.from_predictions(y, scores | {"noise": -scores["good"]}, pos_label=1)
    frame = display.to_frame("pandas")
    hull = frame[frame.kind == "hull"]
    for name, score in scores.items():
        fpr, tpr, _ = metrics.roc_curve(y, score, drop_intermediate=False)
        own = frame[frame.curve == name]
        own = own[own.kind == "model"]
        assert np.allclose(own[["fpr", "tpr"]], np.column_stack([fpr, tpr]))
        assert (tpr <= np.interp(fpr, hull.fpr, hull.tpr) + 1e-12).all()
    corners = set(map(tuple, frame[frame.kind == "model"][["fpr", "tpr"]].to_numpy()))
    assert set(map(tuple, hull[["fpr", "tpr"]].to_numpy())) <= corners
    edges = np.diff(hull.tpr) / np.diff(hull.fpr)
    assert np.allclose(hull.slope_low.to_numpy()[:-1], edges)
    assert (np.diff(edges) < 0).all()
    legend = " ".join(text.get_text() for text in display.ax_.get_legend().get_texts())
    assert f"good, area {metrics.roc_auc_score(y, scores['good']):.3f}" in legend
    assert "noise" in display.caption


def test_votes_are_counted(voted):
    votes, y = voted
    display = cp.plots.VoteDisplay.from_proba(y, votes, label="c", bins=8)
    frame = display.to_frame("pandas")
    for label in "abc":
        rows = [0] * 9
        for share, truth in zip(votes[:, 2], y, strict=True):
            if truth == label and share > 0:
                rows[int(np.floor(share * 8 + 0.5 + 1e-9))] += 1
        assert frame[frame.truth == label].rows.tolist() == rows
    lost = int(((votes[:, 2] == 0) & (y == "c")).sum()), int(((votes[:, 2] == 0) & (y != "c")).sum())
    assert f"{lost[0]} rows of the class itself, {lost[1]} of others" in display.caption
    assert display.ax_.get_xlabel() == "share of the votes for c"


def test_votes_of_patterns_estimators_and_many_classes(rng):
    y = np.array([f"c{k:02}" for k in rng.integers(26, size=400)])
    classes = sorted(set(y))
    votes = rng.dirichlet(np.full(26, 0.3), 400)
    patterns = cp.Votes.from_proba(y, votes)
    display = cp.plots.VoteDisplay.from_votes(patterns, label="c03")
    frame = display.to_frame("pandas")
    assert frame.truth.nunique() == 5
    assert frame.rows.sum() == (votes[:, 3] > 0).sum()

    class Forest:
        classes_ = np.array(classes)

        def predict_proba(self, X):
            return votes

    assert cp.plots.VoteDisplay.from_estimator(Forest(), None, y, label="c03").to_frame("pandas").equals(frame)
    with pytest.raises(cp.InputError, match=r"no class 'c3' .did you mean"):
        cp.plots.VoteDisplay.from_votes(patterns, label="c3")


def test_class_balance_is_scikit_learns(voted):
    votes, y = voted
    patterns = cp.Votes.from_proba(y, votes)
    preferences = cp.Preferences.prioritise(["c"], metric="kulczynski")
    decisions = [np.array(list("abc"))[(votes * w).argmax(axis=1)] for w in ([1, 1, 1], [1, 1, 4])]
    before, after = patterns.counts([1, 1, 1]), patterns.counts([1, 1, 4])
    display = cp.plots.ClassBalanceDisplay.from_counts(before, after, preferences=preferences)
    frame = display.to_frame("pandas")
    order = ["c", "a", "b"]
    assert frame["class"].tolist() == order
    assert frame.matters.tolist() == [True, False, False]
    for when, predicted in zip(("before", "after"), decisions, strict=True):
        assert np.allclose(frame[f"recall_{when}"], metrics.recall_score(y, predicted, labels=order, average=None))
        assert np.allclose(
            frame[f"precision_{when}"], metrics.precision_score(y, predicted, labels=order, average=None)
        )
    assert [axes.get_xlabel() for axes in display.ax_] == ["recall", "precision"]
    assert [text.get_text() for text in display.ax_[0].get_yticklabels()] == order


def test_weight_sweep_is_recomputed(voted):
    votes, y = voted
    ratios = [0.5, 1.0, 3.0]
    display = cp.plots.WeightSweepDisplay.from_proba(
        y, votes, label="c", ratios=ratios, preferences=cp.Preferences.prioritise(["c"], metric="kulczynski")
    )
    frame = display.to_frame("pandas")
    for row, ratio in enumerate(ratios):
        predicted = np.array(list("abc"))[(votes * [1, 1, ratio]).argmax(axis=1)]
        r = metrics.recall_score(y, predicted, labels=list("abc"), average=None)
        p = metrics.precision_score(y, predicted, labels=list("abc"), average=None)
        loss = (10 * (1 - 0.9 * r[2] - 0.1 * p[2]) + sum(1 - (r[k] + p[k]) / 2 for k in (0, 1))) / 12
        assert frame.errors[row] == (predicted != y).sum()
        assert frame.loss[row] == pytest.approx(loss)
        assert np.allclose(frame.loc[row, [f"recall {k}" for k in "abc"]].astype(float), r)
        assert np.allclose(frame.loc[row, [f"precision {k}" for k in "abc"]].astype(float), p)
    labels = [axes.get_ylabel() for axes in display.ax_]
    assert labels == ["recall", "precision", "errors (rows)", "PRAGMA loss"]
    assert display.ax_[3].get_xlabel() == "R: weight of c / weight of the others"


def test_landmarks_of_weighted_rows_are_drawn(rng):
    y, weight = rng.permutation([1] * 20 + [0] * 30), rng.random(50)
    points = {name: cp.OperatingPoints.from_predictions(y, rng.random(50), sample_weight=weight) for name in ("a", "b")}
    display = cp.plots.TradeoffDisplay.from_comparison(cp.compare_curves(points, "f"), landmarks=["maximal"])
    assert set(display.columns()["curve"]) == {"a", "b", "maximal"}
    space = cp.plots.PrecisionRecallSpaceDisplay.from_points(points).plot()
    assert "maximal" in drawn_text(space.figure_)


@pytest.mark.parametrize("landmarks", [(), ("maximal", "random")])
@pytest.mark.parametrize("models", [1, 3, 6])
def test_a_curve_is_evaluated_once_per_model(monkeypatch, rng, models, landmarks):
    y = (rng.random(80) < 0.4).astype(int)
    points = {f"m{k}": cp.OperatingPoints.from_predictions(y, rng.normal(size=80) + k / 3 * y) for k in range(models)}
    comparison = cp.compare_curves(points, "f")
    evaluated, values, envelope = [], cp.TradeoffCurve.value, tradeoff_envelope.upper_envelope
    monkeypatch.setattr(
        cp.TradeoffCurve, "value", lambda self, weight: evaluated.append(np.size(weight)) or values(self, weight)
    )
    display = cp.plots.TradeoffDisplay.from_comparison(comparison, landmarks=landmarks)
    assert len([size for size in evaluated if size > 100]) == models
    built = []
    for module in (curve_module, comparison_module):
        monkeypatch.setattr(module, "upper_envelope", lambda *given: built.append(given) or envelope(*given))
    display.plot()
    display.to_frame()
    display.intervals()
    assert len([size for size in evaluated if size > 100]) == models
    assert built == []


def test_hostile_names_are_shown_as_they_are(rng):
    y = np.repeat(HOSTILE, 10)
    votes = rng.dirichlet(np.ones(4), 40)
    patterns = cp.Votes.from_proba(y, votes, labels=HOSTILE)
    pictures = [
        cp.plots.ClassBalanceDisplay.from_counts(patterns.counts(np.ones(4))),
        cp.plots.VoteDisplay.from_votes(patterns, label=HOSTILE[0]),
        cp.plots.WeightSweepDisplay.from_proba(patterns, label=HOSTILE[0]),
        cp.plots.PrecisionRecallSpaceDisplay.from_points(
            cp.OperatingPoints.one_vs_rest(y, votes, labels=HOSTILE)[HOSTILE[0]], name=HOSTILE[1]
        ),
    ]
    for display in pictures[:3]:
        text = drawn_text(display.figure_)
        assert [name for name in HOSTILE if name not in text] == []
    text = drawn_text(pictures[3].figure_)
    assert HOSTILE[0] in text
    assert HOSTILE[1] in text
    scores = {name: votes[:, k] for k, name in enumerate(HOSTILE)}
    for display in (cp.plots.TradeoffDisplay, cp.plots.RocHullDisplay, cp.plots.PrecisionRecallSpaceDisplay):
        text = drawn_text(display.from_predictions(y == HOSTILE[0], scores).figure_)
        assert [name for name in HOSTILE if name not in text] == []
    preferences = cp.Preferences.prioritise(HOSTILE[:2], metric="kulczynski")
    assert "$a$ and $b$, _hidden" in drawn_text(cp.plots.PreferenceDisplay.from_preferences(preferences).figure_)


def test_axes_given(voted):
    votes, y = voted
    patterns = cp.Votes.from_proba(y, votes)
    figure, axes = pyplot.subplots(2, 2)
    assert cp.plots.WeightSweepDisplay.from_proba(patterns, label="c", ax=axes).figure_ is figure
    with pytest.raises(cp.InputError, match="4 panels, got 2 axes"):
        cp.plots.WeightSweepDisplay.from_proba(patterns, label="c", ax=axes[0])
    figure, axes = pyplot.subplots(2, 2)
    display = cp.plots.VoteDisplay.from_votes(patterns, label="c", ax=axes[0, 0])
    assert display.ax_ is axes[0, 0]
    balance = cp.plots.ClassBalanceDisplay.from_counts(patterns.counts(np.ones(3)), ax=axes[1, 1])
    assert balance.figure_ is figure
    assert len(balance.ax_) == 2
    by_hand = figure.add_axes((0.1, 0.1, 0.2, 0.2))
    with pytest.raises(cp.InputError, match="placed by hand cannot be divided; give 4 axes"):
        cp.plots.WeightSweepDisplay.from_proba(patterns, label="c", ax=by_hand)
    figure.canvas.draw()


def test_one_class_and_nothing_are_one_sentence():
    counts = cp.Counts.from_predictions(["a", "b"], ["a", "a"])
    for display in (cp.plots.TradeoffDisplay, cp.plots.RocHullDisplay, cp.plots.PrecisionRecallSpaceDisplay):
        with pytest.raises(cp.InputError, match="'model' cannot be drawn: there are no rows of the positive class 1"):
            display.from_predictions([0, 0, 0], [0.1, 0.2, 0.3], pos_label=1)
        with pytest.raises(cp.InputError, match="empty"):
            display.from_predictions([], [], pos_label=1)
        with pytest.raises(cp.InputError, match="at least one entry"):
            display.from_points({})
    with pytest.raises(cp.InputError, match="all rows are of the positive class 1"):
        cp.plots.RocHullDisplay.from_predictions([1, 1], [0.1, 0.2], pos_label=1)
    with pytest.raises(cp.InputError, match="y_true is empty"):
        cp.plots.VoteDisplay.from_proba([], np.empty((0, 2)), label="a")
    with pytest.raises(cp.InputError, match=r"takes compromis\.Counts, got list"):
        cp.plots.ClassBalanceDisplay.from_counts([[1, 0], [0, 1]])
    with pytest.raises(cp.InputError, match="pass the same labels= to both"):
        cp.plots.ClassBalanceDisplay.from_counts(counts, cp.Counts.from_predictions(["a", "c"], ["a", "a"]))
    with pytest.raises(cp.InputError, match="got list"):
        cp.plots.PreferenceDisplay.from_preferences([])
    with pytest.raises(cp.InputError, match="sweep comes from weight_sweep, got dict"):
        cp.plots.WeightSweepDisplay.from_sweep({})


def test_no_matplotlib_until_something_is_drawn():
    program = (
        f"import sys, compromis as cp; [getattr(cp.plots, name) for name in {DISPLAYS}]; "
        "c = cp.compare_curves({'m': cp.OperatingPoints.from_predictions([0, 1], [0, 1])}, metric='kulczynski'); cp.plots.TradeoffDisplay(c).to_frame(); "
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_without_matplotlib_the_extra_is_named(monkeypatch, scored):
    y, scores = scored
    display = cp.plots.TradeoffDisplay(
        cp.compare_curves({"m": cp.OperatingPoints.from_predictions(y, scores["good"])}, metric="kulczynski")
    )
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(cp.MissingExtra, match=r"compromis\[plot\]"):
        display.plot()
    with pytest.raises(cp.MissingExtra, match=r"compromis\[plot\]"):
        cp.plots.PreferenceDisplay.from_preferences(cp.Preferences(metric="kulczynski"))


def test_pictures_in_files_and_notebooks(tmp_path, scored):
    y, scores = scored
    comparison = cp.compare_curves({"m": cp.OperatingPoints.from_predictions(y, scores["good"])}, metric="kulczynski")
    display = cp.plots.TradeoffDisplay(comparison)
    assert display._repr_html_() is None
    for name, start in (("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")):
        for copy in ("", "again_"):
            cp.plots.TradeoffDisplay(comparison).save(tmp_path / f"{copy}{name}")
        assert (tmp_path / name).read_bytes().startswith(start)
        assert (tmp_path / name).read_bytes() == (tmp_path / f"again_{name}").read_bytes()
    assert pyplot.get_fignums() == []
    assert '<img alt="TradeoffDisplay" src="data:image/png;base64,' in display.plot()._repr_html_()
    with pytest.raises(cp.InputError, match=r"a picture's name ends in \.svg, \.png, \.pdf, got"):
        display.save(tmp_path / "a.doc")
    with pytest.raises(cp.InputError, match=r"comparison comes from compromis\.compare_curves, got dict"):
        cp.plots.TradeoffDisplay({})
    with pytest.raises(cp.InputError, match=r"hull comes from compromis\.roc_hull, got dict"):
        cp.plots.RocHullDisplay({})
