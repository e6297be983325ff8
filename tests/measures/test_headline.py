"""The headline, counted again from rows; what a test of two classes is good for, by hand."""

from __future__ import annotations

import numpy as np
import pytest

import compromis as cp
from compromis.measures.headline import screening


def rows_of(label, truth, predicted):
    """Count by hand: (of, found, missed, false alarms)."""
    pairs = list(zip(truth, predicted, strict=True))
    of = sum(true == label for true, _ in pairs)
    found = sum(true == label == guess for true, guess in pairs)
    alarms = sum(guess == label != true for true, guess in pairs)
    return of, found, of - found, alarms


def told(headline):
    return {one.label: (one.of, one.found, one.missed, one.false_alarms) for one in headline.classes}


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_those_of_a_count_by_hand(seed):
    generator = np.random.default_rng(seed)
    labels = [f"class {k}" for k in range(int(generator.integers(2, 12)))]
    truth, predicted = (generator.choice(labels, 60).tolist() for _ in range(2))
    preferences = {
        label: float(weight) for label, weight in zip(labels, generator.integers(1, 4, len(labels)), strict=True)
    }
    headline = cp.evaluate(truth, predicted, preferences=preferences, labels=labels).headline
    for label, numbers in told(headline).items():
        assert numbers == rows_of(label, truth, predicted)
    assert (headline.rows, headline.right) == (60, sum(map(str.__eq__, truth, predicted)))
    least = min(preferences.values())
    if len(labels) > 2 and headline.matters:
        assert set(told(headline)) == {label for label, weight in preferences.items() if weight > least}


def matrix(size, support):
    cells = np.eye(size, dtype=int) * np.asarray(support)
    return cp.Counts.from_matrix(cells, [f"c{k}" for k in range(size)])


@pytest.mark.parametrize(
    ("support", "preferences", "options", "chosen"),
    [
        ([5, 9], None, {}, ["c0"]),  # the rarer
        ([9, 5], None, {}, ["c1"]),
        ([9, 5], {"c0": 2}, {}, ["c0"]),  # the more important
        ([9, 5], {"c0": 2}, {"pos_label": "c1"}, ["c1"]),
        ([9, 5], {"c0": cp.Preference(min_recall=0.5)}, {}, ["c0"]),  # the one with a constraint
        ([9, 5], {"c0": cp.Preference(max_share=0.5)}, {}, ["c0"]),
        ([9, 5, 3], None, {}, []),
        ([9, 5, 3], {}, {}, []),
        ([9, 5, 3], {"c0": 3, "c1": 7}, {}, ["c1", "c0"]),
        ([9, 5, 3], {"c0": 0.5}, {}, ["c2", "c1"]),  # alike: the rarer first
        ([9, 5, 3], {"c2": 3, "c0": cp.Preference(min_precision=0.2)}, {}, ["c2", "c0"]),
    ],
)
def test_the_classes_that_matter(support, preferences, options, chosen):
    headline = cp.evaluate(matrix(len(support), support), preferences=preferences, **options).headline
    assert [one.label for one in headline.classes if headline.matters] == chosen


@pytest.mark.parametrize(
    ("negative", "positive"),
    [(0, 1), (-1, 1), (False, True), ("0", "1"), ("-1", "1"), ("False", "True"), ("false", "true")],
)
def test_of_two_classes_1_is_positive_where_nothing_else_says_which_matters(negative, positive):
    classes = [negative, positive]
    counts = cp.Counts.from_matrix([[3, 1], [2, 9]], classes)  # the positive class is the more frequent one
    result = cp.evaluate(counts)
    assert [one.label for one in result.headline.classes] == [positive]
    assert f"Taking {positive!r} as" in result.screening
    asked = cp.evaluate(counts, preferences={negative: cp.Preference(min_recall=0.5)})
    assert asked.headline.classes[0].label == negative
    assert cp.evaluate(counts, pos_label=negative).headline.classes[0].label == negative


def test_names_and_other_numbers_have_no_positive_class():
    for classes in (["no", "yes"], [1, 2], ["1", "2"]):
        headline = cp.evaluate(cp.Counts.from_matrix([[3, 1], [2, 9]], classes)).headline
        assert headline.classes[0].label == classes[0]  # the rarer


def test_with_costs_the_class_matters_that_is_dearer_to_miss():
    preferences = cp.Preferences(cost={("c0", "c1"): 100, ("c1", "c0"): 1})
    assert cp.evaluate(matrix(2, [9, 5]), preferences=preferences).headline.classes[0].label == "c0"
    costs = cp.Preferences(cost={("c0", "c1"): 100, ("c1", "c0"): 1, ("c2", "c0"): 1})
    assert [one.label for one in cp.evaluate(matrix(3, [9, 5, 3]), preferences=costs).headline.classes] == ["c0"]


def test_sums_of_weights_and_one_class_and_no_rows():
    weighted = cp.evaluate(["a", "a", "b"], ["a", "b", "b"], sample_weight=[0.5, 0.25, 2]).headline
    assert told(weighted) == {"a": (0.75, 0.5, 0.25, 0)}
    assert str(weighted).startswith("Finds 0.5 of 0.75 a (misses 0.25), no false alarms.")
    assert str(cp.evaluate(["a", "a"], ["a", "a"]).headline) == "2 of 2 rows right (all)."


def test_many_classes_are_added_up():
    cells = np.full((8, 8), 1) + np.eye(8, dtype=int) * 9
    counts = cp.Counts.from_matrix(cells, list("abcdefgh"))
    headline = cp.evaluate(counts, preferences=dict.fromkeys("abcdefg", 5)).headline
    assert str(headline) == (
        "Finds 10 of 17 a (misses 7), 7 false alarms; 10 of 17 b (misses 7), 7 false alarms; 10 of 17 c (misses 7), 7 false alarms; "
        "40 of 68 rows of 4 more classes that matter (misses 28). 80 of 136 rows right (58.8 %)."
    )
    four = cp.evaluate(counts, preferences=dict.fromkeys("abcd", 5)).headline
    assert str(four).startswith("Finds 10 of 17 a (misses 7), 7 false alarms; ")
    assert "; 10 of 17 d (misses 7), 7 false alarms. 80 of 136" in str(four)


def test_tuning_is_offered_where_the_highest_score_predicts_and_only_there():
    generator = np.random.default_rng(0)
    truth = generator.random(400) < 0.1
    score = np.clip(generator.normal(0.15 + 0.3 * truth, 0.15), 0, 1)
    given = {"y_proba": score, "preferences": {True: 10}}
    plain = cp.evaluate(truth, **given).headline
    search = cp.search_weights(truth, score, preferences={True: 10})
    assert plain.tuned is not None
    assert told(plain.tuned)[True] == rows_of(True, truth, cp.Decision([False, True], search.weights).decide(score))
    assert plain.tuned.loss == pytest.approx(search.loss)
    assert "on these rows, which chose the weights" in str(plain)
    assert cp.evaluate(truth, score > 0.2, **given).headline.tuned is None
    assert cp.evaluate(truth, y_proba=score).headline.tuned is None


@pytest.mark.parametrize(
    ("label", "other", "read"),
    [
        ("hypothyroid", "b", "hypothyroid"),
        ("very ill", "b", "very ill"),
        (1, 2, "rows of class 1"),
        (True, False, "rows of class True"),
        ("1", "2", "rows of class 1"),
        ("a; 3 of 4 b", "c", "rows of class 'a; 3 of 4 b'"),
        ("x" * 30 + "y" * 30, "c", "x" * 20 + "…" + "y" * 19),
        ("a\nb", "c", "rows of class 'a\\nb'"),
    ],
)
def test_a_name_reads_as_words_or_as_a_class(label, other, read):
    headline = cp.evaluate([label, other], [label, other], pos_label=label).headline
    assert str(headline).split(" (")[0] == f"Finds 1 of 1 {read}"


def even(metric="kulczynski", **options):
    """Preferences of recall weight 1/2 for two classes that count alike."""
    return cp.Preferences(default=cp.Preference(recall_weight=0.5, **options), metric=metric).on(("a", "b"))


def matrix_of(matrix, classes=("a", "b")):
    return cp.Counts.from_matrix(matrix, list(classes))


def test_screening_at_its_borders():
    """'well' right in 19 of 20, 'sick' in 9 of 10: just good enough for both."""
    just = screening(matrix_of([[9, 1], [1, 19]], ("sick", "well")), None)
    assert just == (
        "Taking 'sick' as the condition looked for: 95.0 % of the predictions 'well' are right, good for screening (good from 95.0 % on); "
        "90.0 % of the predictions 'sick' are right, good for diagnosis (good from 90 % on). Of 1,000 rows 333 are predicted 'sick'."
    )
    less = screening(matrix_of([[8, 1], [1, 18]], ("sick", "well")), None)
    assert "94.7 % of the predictions 'well' are right, poor for screening" in less
    assert "88.9 % of the predictions 'sick' are right, poor for diagnosis" in less


def test_a_negative_decision_halves_the_risk():
    """1 of 32 predicted well are sick; 4 of 64 rows are sick, exactly twice as many, or 4 of 80."""
    assert "good for screening (good from 96.9 % on)" in screening(
        matrix_of([[3, 1], [29, 31]], ("sick", "well")), None
    )
    assert "poor for screening" in screening(matrix_of([[3, 1], [45, 31]], ("sick", "well")), None)


def test_the_condition_looked_for():
    rows = matrix_of([[9, 1], [3, 1]])
    assert screening(rows, None).startswith("Taking 'b'")
    assert screening(rows, even()).startswith("Taking 'b'")
    assert screening(rows, cp.Preferences.prioritise(["a"], metric="kulczynski").on("ab")).startswith("Taking 'a'")
    assert "'a' is never predicted" in screening(matrix_of([[0, 9], [0, 1]]), None)


def test_a_shortened_name_differs_from_those_of_all_other_classes():
    names = [f"customer cancelled after the {which} invoice of the year" for which in ("first", "second")]
    counts = cp.Counts.from_matrix([[8, 1, 1], [0, 9, 1], [0, 0, 80]], [*names, "stays"])
    told = [str(cp.evaluate(counts, preferences={name: 10}).headline) for name in names]
    assert "first" in told[0]
    assert "second" in told[1]
    assert not any(name in text for name, text in zip(names, told, strict=True))


def test_where_tuning_helps_it_is_the_only_advice():
    y = ["ill"] * 30 + ["well"] * 970
    p_ill = [0.4] * 28 + [0.0] * 2 + [0.3] * 40 + [0.0] * 930
    result = cp.evaluate(y, y_proba=[[p, 1 - p] for p in p_ill], preferences=cp.Preferences.prioritise(["ill"]))
    assert (result.verdict.state, result.offer.verdict.state) == ("no better", "better")
    told = result.sentences()
    assert "Verdict: no better than no model" in told
    assert not [one for one in told if "improve the model" in one or "set min_" in one]
