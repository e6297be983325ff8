"""Where the verdict changes, and what it says there: all numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import compromis as cp
from compromis.measures.pragma import shortfall
from compromis.measures.verdict import judge, naive_baselines, screening


def even(metric="kulczynski", **options):
    """Preferences of recall weight 1/2 for two classes that count alike."""
    return cp.Preferences(default=cp.Preference(recall_weight=0.5, **options), metric=metric).on(("a", "b"))


def counts_of(matrix, classes=("a", "b")):
    return cp.Counts.from_matrix(matrix, list(classes))


def test_an_informative_result_is_praised_in_numbers():
    """Precision and recall 3/4: loss 1/4. Random decisions: 1/2. Always a: (1/4 + 1) / 2."""
    verdict = judge(counts_of([[3, 1], [1, 3]]), even())
    assert verdict.sentence == (
        "informative: loss 0.2500 (50 % lower) against 0.5000 for random decisions at the classes' shares, "
        "the best decision without a model"
    )
    assert [one.loss for one in verdict.baselines] == [0.625, 0.625, 0.5]
    assert [one.label for one in verdict.baselines] == ["a", "b", None]
    assert (verdict.loss, verdict.shortfalls) == (0.25, ())


def test_a_perfect_result_and_a_loss_of_nothing():
    verdict = judge(counts_of([[4, 0], [0, 4]]), even())
    assert verdict.sentence.startswith("informative: loss 0.0000 against 0.5000 for random")


def test_a_result_as_good_as_a_constant_decision():
    """Three of four rows are b: always deciding b has f_a = 1, f_b = 1 - (3/4 + 1) / 2; random decisions 1/2 are better."""
    constant = judge(counts_of([[0, 1], [0, 3]]), even())
    assert constant.loss == pytest.approx((1 + 1 / 8) / 2)
    assert constant.sentence == (
        "uninformative: your preferences are met better by random decisions at the classes' shares "
        "(loss 0.5000, this result 0.5625); improve the model, or review the preferences"
    )
    important = cp.Preferences(
        {"b": cp.Preference(9, recall_weight=0.5)}, default=cp.Preference(recall_weight=0.5), metric="kulczynski"
    )
    same = judge(counts_of([[0, 1], [0, 3]]), important.on(("a", "b")))  # (1 + 9/8) / 10 against (3/4 + 9/4) / 10
    assert same.sentence == (
        "uninformative: your preferences are met as well by always deciding 'b' (loss 0.2125, this result 0.2125); improve the "
        "model, or set min_precision for 'b' above 0.750, what always deciding it reaches, or use metric f, which does not "
        "reward giving up"
    )
    worse = judge(counts_of([[0, 1], [3, 0]]), important.on(("a", "b")))
    assert "your preferences are met better by always deciding 'b' (loss 0.2125, this result 1.0000)" in worse.sentence
    by_f = judge(
        counts_of([[0, 1], [0, 3]]),
        cp.Preferences({"b": cp.Preference(9, recall_weight=0.5)}, metric="f").on("ab"),
    )
    assert by_f.sentence.endswith("above 0.750, what always deciding it reaches")


def test_the_cure_names_the_larger_of_share_and_minimum():
    preferences = cp.Preferences({"b": cp.Preference(9, recall_weight=0.5, min_precision=0.5)}, metric="f").on("ab")
    assert "set min_precision for 'b' above 0.750" in judge(counts_of([[0, 1], [0, 3]]), preferences).sentence
    preferences = cp.Preferences({"b": cp.Preference(9, recall_weight=0.5, min_precision=0.8)}, metric="f").on("ab")
    missed = judge(counts_of([[0, 1], [0, 3]]), preferences)
    assert missed.sentence.endswith("; but the precision of 'b' is 0.750, below your minimum of 0.8")
    (short,) = missed.shortfalls
    assert (short.label, short.rate, short.value, short.minimum) == ("b", "precision", 0.75, 0.8)


def test_a_rate_that_does_not_exist_misses_its_whole_minimum():
    verdict = judge(counts_of([[2, 0], [2, 0]]), even(min_precision=0.5, min_recall=0.25))
    assert [(one.label, one.rate, one.value) for one in verdict.shortfalls] == [
        ("b", "precision", 0.0),
        ("b", "recall", 0.0),
    ]
    assert ", and the recall of 'b' is 0.000, below your minimum of 0.25" in verdict.sentence
    assert shortfall(counts_of([[2, 0], [2, 0]]), even(min_precision=0.5, min_recall=0.25)) == 0.75
    # always a: b misses 1/2 + 1/4; random decisions: precision and recall 1/2, nothing is missed
    assert [one.shortfall for one in verdict.baselines] == [0.75, 0.75, 0.0]


def test_costs_are_compared_with_costs():
    cost = np.array([[0.0, 1.0], [8.0, 0.0]])
    verdict = judge(counts_of([[3, 1], [0, 4]]), even(), cost)
    # one error of cost 1 in 8 rows; always a 8 x 4 / 8, always b 4 / 8, at random (8 x 2 + 2) / 8
    assert [one.loss for one in verdict.baselines] == [4.0, 0.5, 2.25]
    assert verdict.sentence == (
        "informative: average cost 0.1250 (75 % lower) against 0.5000 for always deciding 'b', the best decision without a model"
    )
    poor = judge(counts_of([[0, 4], [0, 4]]), even(), cost)
    assert poor.sentence == (
        "uninformative: your preferences are met as well by always deciding 'b' (average cost 0.5000, this result 0.5000); "
        "improve the model, or review the preferences"
    )
    assert not poor.informative


def test_baselines_of_absent_classes_and_without_importance():
    preferences = cp.Preferences(default=cp.Preference(recall_weight=0.5), metric="kulczynski").on(("a", "b", "c"))
    always = naive_baselines(counts_of([[3, 0, 0], [0, 1, 0], [0, 0, 0]], "abc"), preferences)
    # c does not occur: deciding it is worth nothing; a: (1/8 + 1) / 2, b: (1 + 3/8) / 2, at random (1/4 + 3/4) / 2
    assert [one.loss for one in always] == [0.5625, 0.6875, 1.0, 0.5]
    assert [one.shortfall for one in always] == [0, 0, 0, 0]


def test_screening_at_its_borders():
    """'well' right in 19 of 20, 'sick' in 9 of 10: just good enough for both."""
    just = str(screening(counts_of([[9, 1], [1, 19]], ("sick", "well")), None))
    assert just == (
        "Taking 'sick' as the condition looked for: a decision for 'well' is right in 95.0 %, so it is good for screening; "
        "a decision for 'sick' is right in 90.0 %, so it is good for diagnosis."
    )
    less = str(screening(counts_of([[8, 1], [1, 18]], ("sick", "well")), None))
    assert "94.7 %, so it is poor for screening" in less
    assert "88.9 %, so it is poor for diagnosis" in less


def test_a_negative_decision_halves_the_risk():
    """1 of 32 predicted well are sick; 4 of 64 rows are sick, exactly twice as many, or 4 of 80."""
    assert "good for screening" in str(screening(counts_of([[3, 1], [29, 31]], ("sick", "well")), None))
    assert "poor for screening" in str(screening(counts_of([[3, 1], [45, 31]], ("sick", "well")), None))


def test_the_condition_looked_for():
    rows = counts_of([[9, 1], [3, 1]])
    assert screening(rows, None).positive == "b"
    assert screening(rows, even()).positive == "b"
    assert screening(rows, cp.Preferences.prioritise(["a"], metric="kulczynski").on("ab")).positive == "a"
    assert "'a' is never predicted" in str(screening(counts_of([[0, 9], [0, 1]]), None))


def test_a_class_of_one_row_asks_for_its_minimum():
    preferences = cp.Preferences({"a": cp.Preference(recall_weight=0.5, min_precision=0.5)}, metric="kulczynski").on(
        "ab"
    )
    always_a = naive_baselines(counts_of([[1, 0], [0, 3]]), preferences)[0]
    assert always_a.shortfall == 0.25  # its share is 1/4


def test_an_equal_cost_with_a_minimum_met():
    """Every decision costs the same, but only the result meets the minima: informative, and no gain is named."""
    preferences = even(min_recall=0.6)
    for cost in (np.zeros((2, 2)), np.ones((2, 2))):
        verdict = judge(counts_of([[2, 0], [0, 2]]), preferences, cost)
        assert verdict.informative
        assert "% lower" not in verdict.sentence
        assert verdict.sentence.startswith("informative: it meets your minima, which no decision without a model does")
        assert verdict.baselines[2].shortfall == pytest.approx(0.2)


def test_a_lower_loss_does_not_make_up_for_a_missed_minimum():
    """Always deciding a finds all of a; the result has the loss (1/8 + 1/10) / 2, but misses a quarter of a."""
    preferences = cp.Preferences(
        {"a": cp.Preference(recall_weight=0.5, min_recall=1.0)},
        default=cp.Preference(recall_weight=0.5),
        metric="kulczynski",
    ).on("ab")
    verdict = judge(counts_of([[3, 1], [0, 4]]), preferences)
    assert not verdict.informative
    assert "met better by always deciding 'a' (loss 0.6250, this result 0.1125)" in verdict.sentence
    assert verdict.sentence.endswith("; but the recall of 'a' is 0.750, below your minimum of 1")


def test_one_class_of_two_occurs():
    only = judge(counts_of([[4, 0], [0, 0]]), even())
    assert only.sentence.endswith("; there is only one class in these rows")
    assert shortfall(counts_of([[0, 1], [0, 3]]), even(min_recall=0.5)) == 0.5  # of a single row


def test_verdicts_cannot_be_changed():
    verdict = judge(counts_of([[3, 1], [1, 3]]), even(min_recall=0.9))
    regression = cp.regression.evaluate([0, 4], [1, 3], y_train=[0, 4]).verdict
    for value, name in (
        (verdict, "informative"),
        (verdict.shortfalls[0], "value"),
        (verdict.baselines[0], "loss"),
        (regression, "sentence"),
    ):
        with pytest.raises(AttributeError):
            setattr(value, name, 0)
        assert str(verdict) == verdict.sentence


def test_the_best_baseline_misses_a_minimum_too():
    """A tenth of the rows, and of those predicted, are a: precision 1/10 at random, and here; but b and c are found."""
    preferences = cp.Preferences({"a": cp.Preference(min_precision=0.9)}, metric="f").on("abc")
    verdict = judge(counts_of([[1, 9, 0], [5, 40, 0], [4, 0, 41]], "abc"), preferences)
    assert verdict.informative
    assert "for random decisions at the classes' shares, which misses a minimum too, the best" in verdict.sentence
    assert verdict.sentence.endswith("; but the precision of 'a' is 0.100, below your minimum of 0.9")
