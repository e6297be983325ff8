"""Operating points: doors, rates, dominance, addition, bad input."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_curve, roc_curve
from sklearn.svm import LinearSVC

from compromis import evidence
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from tests import naive_tradeoffs as naive

SIX = ([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])


def counts_of(points: OperatingPoints) -> list[tuple[float, float, float]]:
    return list(
        zip(points.threshold.tolist(), points.true_positives.tolist(), points.false_positives.tolist(), strict=True)
    )


class NearestCentroidOnly:
    """A classifier that decides without a score."""

    classes_ = np.array([0, 1])


rows = st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=1, max_size=40)


class TestFromPredictions:
    @given(rows)
    @settings(max_examples=200, deadline=None)
    def test_cuts_are_those_of_counting(self, rows: list[tuple[bool, int]]) -> None:
        flags, scores = [flag for flag, _ in rows], [score / 4 for _, score in rows]
        assert counts_of(OperatingPoints.from_predictions(flags, scores, pos_label=True)) == naive.cuts(flags, scores)

    def test_twenty_rows_of_the_course(self) -> None:
        classes = "+++-+--+---+--------"
        scores = [round(1 - 0.05 * i, 2) for i in range(20)]
        points = OperatingPoints.from_predictions(list(classes), scores, pos_label="+")
        printed_fpr = [0.000, 0.000, 0.000, 0.071, 0.071, 0.143, 0.214, 0.214, 0.286, 0.357, 0.429, 0.429]
        printed_fpr += [0.500, 0.571, 0.643, 0.714, 0.786, 0.857, 0.929, 1.000]
        printed_tpr = [0.167, 0.333, 0.500, 0.500, 0.667, 0.667, 0.667, 0.833, 0.833, 0.833, 0.833] + [1.0] * 9
        assert (points.positives, points.negatives) == (6, 14)
        assert points.threshold[1:].tolist() == scores
        assert points.fpr[1:].round(3).tolist() == printed_fpr
        assert points.tpr[1:].round(3).tolist() == printed_tpr
        matrices = {1: (1, 5, 0, 14), 0.95: (2, 4, 0, 14), 0.9: (3, 3, 0, 14), 0.85: (3, 3, 1, 13), 0.05: (6, 0, 14, 0)}
        for threshold, matrix in matrices.items():
            at = points.threshold.tolist().index(threshold)
            cells = (points.true_positives, points.false_negatives, points.false_positives, points.true_negatives)
            assert tuple(cell[at] for cell in cells) == matrix

    def test_six_rows_of_the_course(self) -> None:
        points = OperatingPoints.from_predictions(*SIX, pos_label=1)
        assert points.tpr.tolist() == [0, 1 / 3, 1 / 3, 2 / 3, 1, 1, 1]
        assert points.fpr.tolist() == [0, 0, 1 / 3, 1 / 3, 1 / 3, 2 / 3, 1]
        assert points.specificity.tolist() == pytest.approx([1, 1, 2 / 3, 2 / 3, 2 / 3, 1 / 3, 0])
        assert math.isnan(points.precision[0])
        assert points.precision[1:].tolist() == [1, 1 / 2, 2 / 3, 3 / 4, 3 / 5, 3 / 6]
        assert points.recall.tolist() == points.tpr.tolist()
        assert points.group_size.tolist() == [0, 1, 2, 3, 4, 5, 6]
        assert points.threshold.tolist() == [math.inf, 0.9, 0.8, 0.6, 0.4, 0.3, 0.1]

    @pytest.mark.parametrize(
        "seed", [pytest.param(range(60), id="60"), pytest.param(range(1000), id="1000", marks=pytest.mark.stress)]
    )
    def test_scikit_learn_has_the_same_points(self, seed: range) -> None:
        for each in seed:
            rng = np.random.default_rng(each)
            size = int(rng.integers(2, 200))
            y = rng.integers(0, 2, size)
            y[:2] = 0, 1
            score = rng.integers(0, int(rng.integers(2, 30)), size) / 7
            weight = rng.integers(0, 4, size).astype(float) if each % 2 else None
            if weight is not None:
                weight[:2] = 1
            points = OperatingPoints.from_predictions(y, score, sample_weight=weight)
            fpr, tpr, threshold = roc_curve(y, score, drop_intermediate=False, sample_weight=weight)
            ours = set(zip(points.fpr.tolist(), points.tpr.tolist(), points.threshold.tolist(), strict=True))
            assert ours == set(zip(fpr.tolist(), tpr.tolist(), threshold.tolist(), strict=True))
            precision, recall, threshold = precision_recall_curve(y, score, sample_weight=weight)
            theirs = np.array(sorted(zip(threshold, precision[:-1], recall[:-1], strict=True)))
            mine = np.array(sorted(zip(points.threshold, points.precision, points.recall, strict=True))[:-1])
            np.testing.assert_allclose(mine, theirs, rtol=1e-14)

    @pytest.mark.parametrize("labels", [[0, 1], [-1, 1], [False, True], [0.0, 1.0]])
    def test_positive_is_plain_for_usual_labels(self, labels: list[float]) -> None:
        y = np.array(labels)[SIX[0]]
        points = OperatingPoints.from_predictions(y, SIX[1])
        assert points.true_positives.tolist() == [0, 1, 1, 2, 3, 3, 3]
        assert points.pos_label == 1

    @pytest.mark.parametrize("kind", [np.int8, np.uint64, "U3", object, "category", "float"])
    def test_every_kind_of_labels_gives_the_same_cuts(self, kind: object) -> None:
        import pandas as pd

        expected = OperatingPoints.from_predictions(*SIX)
        y = np.array(SIX[0])
        if kind == "category":
            labels, positive = pd.Series(np.where(y, "yes", "no"), dtype="category"), "yes"
        elif kind in ("U3", object):
            labels, positive = np.where(y, "yes", "no").astype(kind), "yes"
        else:
            labels, positive = y.astype(kind), 1
        points = OperatingPoints.from_predictions(labels, SIX[1], pos_label=positive)
        assert counts_of(points) == counts_of(expected)
        assert points.pos_label == positive

    def test_labels_that_are_objects(self) -> None:
        from datetime import date

        days = np.array([date(2020, 1, 1), date(2021, 1, 1)], dtype=object)
        points = OperatingPoints.from_predictions(days[SIX[0]], SIX[1], pos_label=days[1])
        assert counts_of(points) == counts_of(OperatingPoints.from_predictions(*SIX))

    def test_weights_are_repetitions(self) -> None:
        rng = np.random.default_rng(5)
        y, score, weight = rng.integers(0, 2, 60), rng.integers(0, 9, 60), rng.integers(1, 4, 60)
        weighted = OperatingPoints.from_predictions(y, score, sample_weight=weight)
        repeated = OperatingPoints.from_predictions(np.repeat(y, weight), np.repeat(score, weight))
        assert counts_of(weighted) == counts_of(repeated)

    def test_float_types_keep_their_distinct_scores(self) -> None:
        near = np.nextafter(np.float32(0.5), np.float32(1))
        points = OperatingPoints.from_predictions([0, 1, 0], np.array([0.5, near, 0.25], dtype=np.float32))
        assert points.threshold.tolist() == [math.inf, float(near), 0.5, 0.25]

    def test_read_only_strided_and_listed_scores(self) -> None:
        scores = np.repeat(np.array(SIX[1]), 2)[::2]
        scores.flags.writeable = False
        assert counts_of(OperatingPoints.from_predictions(SIX[0], scores)) == counts_of(
            OperatingPoints.from_predictions(*SIX)
        )

    def test_repr_shows_the_positive_class(self) -> None:
        assert "pos_label='spam'" in repr(OperatingPoints.from_predictions(["spam", "ham"], [1, 0], pos_label="spam"))


class TestOneClassOnly:
    def test_no_positives(self) -> None:
        points = OperatingPoints.from_predictions([0, 0, 0], [1, 2, 3])
        assert np.isnan(points.tpr).all()
        assert points.fpr.tolist() == [0, 1 / 3, 2 / 3, 1]
        assert points.precision[1:].tolist() == [0, 0, 0]
        assert "no rows of the positive class 1" in points.reason
        assert not points.dominating.any()

    def test_no_negatives(self) -> None:
        points = OperatingPoints.from_predictions([1, 1], [1, 2])
        assert points.tpr.tolist() == [0, 0.5, 1]
        assert np.isnan(points.fpr).all()
        assert "all rows are of the positive class 1" in points.reason

    def test_constant_scores(self) -> None:
        points = OperatingPoints.from_predictions([1, 0, 0, 1], [0.5] * 4)
        assert counts_of(points) == [(math.inf, 0, 0), (0.5, 2, 2)]


class TestGroups:
    def test_sets_masks_and_lists_agree(self) -> None:
        target, found = {1, 2, 3}, {"small": {1, 2}, "large": {1, 2, 3, 4, 5, 6}}
        by_set = OperatingPoints.from_groups(target, found, 10)
        mask = {name: np.isin(np.arange(10), list(group)).reshape(2, 5) for name, group in found.items()}
        by_mask = OperatingPoints.from_groups(np.isin(np.arange(10), [1, 2, 3]), mask, 10)
        by_list = OperatingPoints.from_groups([1, 2, 3, 3], [np.array([1, 2]), [6, 5, 4, 3, 2, 1]], 10)
        for points in (by_set, by_mask, by_list):
            assert points.true_positives.tolist() == [2, 3]
            assert points.false_positives.tolist() == [0, 3]
            assert (points.positives, points.negatives) == (3, 7)
            assert points.precision.tolist() == [1, 0.5]
            assert points.recall.tolist() == [2 / 3, 1]
            assert points.specificity.tolist() == [1, 4 / 7]
        assert by_set.names == ("small", "large")
        assert by_list.names == (0, 1)

    def test_ids_of_any_kind(self) -> None:
        points = OperatingPoints.from_groups({"a", "b"}, [{"a", "x"}], 100)
        assert (points.precision[0], points.recall[0], points.negatives) == (0.5, 0.5, 98)

    @pytest.mark.parametrize(
        ("target", "groups", "size", "words"),
        [
            ({1}, {"g": set()}, 5, "group 'g' is empty"),
            (set(), [{1}], 5, "the target is empty"),
            ({1}, [], 5, "no groups"),
            ({1}, [{7}], 5, "outside the universe of 5"),
            ({1}, [{-1}], 5, "outside the universe"),
            ({"a"}, [{"b", "c"}], 2, "3 distinct elements"),
            (np.ones(4, dtype=bool), [{1}], 5, "4 flags"),
            ({1}, [{1}], 0, "universe_size"),
            ({1}, [{1}], 2.5, "universe_size"),
            ("abc", [{1}], 5, "must be a set or sequence"),
            ({1}, 3, 5, "groups must be"),
        ],
    )
    def test_bad_groups(self, target: object, groups: object, size: int, words: str) -> None:
        with pytest.raises(InputError, match=words) as caught:
            OperatingPoints.from_groups(target, groups, size)  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)


class TestEstimators:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(90, 3))
    y = np.array(["a", "b", "c"])[(X[:, 0] + rng.normal(size=90) > 0).astype(int) + (X[:, 1] > 0.5)]

    def test_probabilities_of_the_class_asked_for(self) -> None:
        model = LogisticRegression().fit(self.X, self.y)
        points = OperatingPoints.from_estimator(model, self.X, self.y, pos_label="b")
        expected = OperatingPoints.from_predictions(self.y, model.predict_proba(self.X)[:, 1], pos_label="b")
        assert counts_of(points) == counts_of(expected)

    @pytest.mark.parametrize("positive", [0, 1])
    def test_decision_function_points_at_the_class_asked_for(self, positive: int) -> None:
        y = (self.y == "c").astype(int)
        model = LinearSVC().fit(self.X, y)
        points = OperatingPoints.from_estimator(model, self.X, y, pos_label=positive)
        sign = 1 if positive else -1
        expected = OperatingPoints.from_predictions(y, sign * model.decision_function(self.X), pos_label=positive)
        assert counts_of(points) == counts_of(expected)

    def test_usual_labels_need_no_pos_label(self) -> None:
        y = (self.y == "c").astype(int)
        model = LogisticRegression().fit(self.X, y)
        assert OperatingPoints.from_estimator(model, self.X, y).pos_label == 1
        with pytest.raises(InputError, match="neither predict_proba nor"):
            OperatingPoints.from_estimator(NearestCentroidOnly(), self.X, y)

    def test_refusals(self) -> None:
        model = LogisticRegression().fit(self.X, self.y)
        with pytest.raises(InputError, match="pass pos_label, one of 'a', 'b', 'c'"):
            OperatingPoints.from_estimator(model, self.X, self.y)
        with pytest.raises(InputError, match="but the classes are"):
            OperatingPoints.from_estimator(model, self.X, self.y, pos_label="z")
        with pytest.raises(InputError, match="fitted"):
            OperatingPoints.from_estimator(DummyClassifier(), self.X, self.y, pos_label="a")

    def test_one_vs_rest(self) -> None:
        shares = LogisticRegression().fit(self.X, self.y).predict_proba(self.X)
        by_class = OperatingPoints.one_vs_rest(self.y, shares)
        assert list(by_class) == ["a", "b", "c"]
        for place, label in enumerate(by_class):
            expected = OperatingPoints.from_predictions(self.y, shares[:, place], pos_label=label)
            assert counts_of(by_class[label]) == counts_of(expected)
        with_absent = OperatingPoints.one_vs_rest(
            self.y, np.column_stack([shares, shares[:, 0]]), labels=["a", "b", "c", "d"]
        )
        assert with_absent["d"].positives == 0

    def test_one_vs_rest_refuses(self) -> None:
        with pytest.raises(InputError, match="empty"):
            OperatingPoints.one_vs_rest([], np.ones((0, 2)))
        with pytest.raises(InputError, match="y_proba has 2 columns, but there are 3 classes"):
            OperatingPoints.one_vs_rest(self.y, np.ones((90, 2)))
        with pytest.raises(InputError, match="labels misses 'c', which y_true has"):
            OperatingPoints.one_vs_rest(self.y, np.ones((90, 2)), labels=["a", "b"])
        with pytest.raises(InputError, match="finite"):
            OperatingPoints.one_vs_rest(self.y, np.full((90, 3), np.nan))


class TestDominating:
    @given(rows)
    @settings(max_examples=200, deadline=None)
    def test_cuts(self, rows: list[tuple[bool, int]]) -> None:
        points = OperatingPoints.from_predictions([f for f, _ in rows], [s for _, s in rows], pos_label=True)
        expected = naive.dominating(list(zip(points.precision.tolist(), points.recall.tolist(), strict=True)))
        assert points.dominating.tolist() == expected

    @given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30))
    @settings(max_examples=200, deadline=None)
    def test_any_order_and_twins(self, pairs: list[tuple[int, int]]) -> None:
        hits, alarms = (np.array(column) for column in zip(*pairs, strict=True))
        points = OperatingPoints(
            threshold=np.full(len(hits), np.nan),
            true_positives=hits,
            false_positives=alarms,
            positives=5,
            negatives=9,
            pos_label="x",
            names=tuple(range(len(hits))),
        )
        expected = naive.dominating(list(zip(points.precision.tolist(), points.recall.tolist(), strict=True)))
        assert points.dominating.tolist() == expected

    def test_empty_bins_are_twins(self) -> None:
        bins = OperatingPoints.from_bins([3, 2, 1, 0], [2, 0, 1, 0], [0, 0, 1, 5], pos_label="x")
        assert bins.dominating.tolist() == [False, True, True, True, False]


class TestAdding:
    @given(rows, rows)
    @settings(max_examples=100, deadline=None)
    def test_as_if_counted_together(self, first: list[tuple[bool, int]], second: list[tuple[bool, int]]) -> None:
        parts = [
            OperatingPoints.from_predictions([f for f, _ in p], [s for _, s in p], pos_label=True)
            for p in (first, second)
        ]
        both = [*first, *second]
        together = OperatingPoints.from_predictions([f for f, _ in both], [s for _, s in both], pos_label=True)
        added = parts[0] + parts[1]
        assert counts_of(added) == counts_of(together)
        assert (added.positives, added.negatives) == (together.positives, together.negatives)

    def test_squares_of_weights(self, tmp_path: Path) -> None:
        weighted, plain = (
            OperatingPoints.from_predictions([1, 0, 1, 0], [4, 3, 2, 1], sample_weight=given)
            for given in ([3, 0.5, 2, 1], None)
        )
        assert weighted.squares == (13, 1.25)
        assert plain.squares is None
        assert (weighted + plain).squares == (15, 3.25)  # an unweighted row weighs 1
        evidence.write(weighted, tmp_path / "points.json")
        assert evidence.read(tmp_path / "points.json").evidence.squares == weighted.squares

    def test_bins(self) -> None:
        bins = OperatingPoints.from_bins([0.5, 0.0], [3, 1], [1, 4], pos_label="x")
        assert counts_of(bins) == [(math.inf, 0, 0), (0.5, 3, 1), (0.0, 4, 5)]
        assert counts_of(bins + bins) == [(math.inf, 0, 0), (0.5, 6, 2), (0.0, 8, 10)]
        with pytest.raises(InputError, match="same edges"):
            bins + OperatingPoints.from_bins([0.4, 0.0], [3, 1], [1, 4], pos_label="x")

    def test_groups_of_the_same_names(self) -> None:
        group = OperatingPoints.from_groups({1, 2}, {"g": {2, 3}}, 5)
        added = group + group
        assert (added.true_positives[0], added.positives, added.negatives) == (2, 4, 6)
        with pytest.raises(InputError, match="same names"):
            group + OperatingPoints.from_groups({1, 2}, {"h": {2, 3}}, 5)

    def test_refuses_other_classes_and_things(self) -> None:
        points = OperatingPoints.from_predictions(*SIX)
        with pytest.raises(InputError, match="do not add up"):
            points + OperatingPoints.from_predictions(*SIX, pos_label=0)
        with pytest.raises(TypeError):
            points + 1  # type: ignore[operator]

    @pytest.mark.parametrize(
        ("edges", "positives", "negatives", "words"),
        [([0.0, 0.5], [1, 1], [1, 1], "fall"), ([0.5], [1, 1], [1, 1], "per bin"), ([0.5], [-1], [1], "at least 0")],
    )
    def test_bad_bins(self, edges: list[float], positives: list[int], negatives: list[int], words: str) -> None:
        with pytest.raises(InputError, match=words):
            OperatingPoints.from_bins(edges, positives, negatives, pos_label=1)


@pytest.mark.parametrize(
    ("y", "score", "options", "words"),
    [
        ([0, 1], [0.1, math.nan], {}, "finite, got nan in row 1"),
        ([0, 1], [0.1, math.inf], {}, "finite, got inf"),
        ([0, 1], [0.1], {}, "one number per row"),
        ([0, 1], ["a", "b"], {}, "one number per row"),
        ([], [], {}, "empty"),
        (["a", "b"], [0, 1], {}, "pass pos_label, one of 'a', 'b'"),
        ([1, 2], [0, 1], {}, "pass pos_label, one of 1, 2"),
        (["spam", "ham"], [0, 1], {"pos_label": "spom"}, "did you mean 'spam'"),
        ([0, 1], [0, 1], {"pos_label": "1"}, "pos_label is '1'"),
        ([0, 1], [2**60, 2**60 + 1], {}, "cannot tell apart"),
        ([0, 1], [0, 1], {"sample_weight": [0, 0]}, "zero for every row"),
    ],
)
def test_bad_predictions(y: list[object], score: list[object], options: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        OperatingPoints.from_predictions(y, score, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
