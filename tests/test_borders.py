"""Where words and verdicts change, and what they say there: all numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import compromis as cp
from compromis.frames.bounds import loss_bounds
from compromis.measures import rates
from compromis.measures import rates as agreement
from compromis.measures.pragma import read_cost
from compromis.measures.probability import read_priors
from compromis.measures.verdict import judge, naive_baselines, positive_position, screening_sentence, shortfall


def even(metric="kulczynski", **options):
    """Preferences of recall weight 1/2 for two classes that count alike."""
    return cp.Preferences(default=cp.Preference(recall_weight=0.5, **options), metric=metric).on(("a", "b"))


def counts_of(matrix, classes=("a", "b")):
    return cp.Counts.from_matrix(matrix, list(classes))


# --- the verdict ---


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
    important = cp.Preferences({"b": cp.Preference(9, recall_weight=0.5)}, default=cp.Preference(recall_weight=0.5))
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
    preferences = cp.Preferences(default=cp.Preference(recall_weight=0.5)).on(("a", "b", "c"))
    always = naive_baselines(counts_of([[3, 0, 0], [0, 1, 0], [0, 0, 0]], "abc"), preferences)
    # c does not occur: deciding it is worth nothing; a: (1/8 + 1) / 2, b: (1 + 3/8) / 2, at random (1/4 + 3/4) / 2
    assert [one.loss for one in always] == [0.5625, 0.6875, 1.0, 0.5]
    assert [one.shortfall for one in always] == [0, 0, 0, 0]


# --- averages ---


def test_averages_by_hand():
    counts = counts_of([[2, 2, 0], [0, 1, 0], [0, 0, 0]], "abc")
    assert agreement.macro_average(np.array([0.5, 1.0, 7.0]), counts) == 0.75  # c does not occur
    assert agreement.weighted_average(np.array([0.5, 1.0, 7.0]), counts) == pytest.approx((4 * 0.5 + 1) / 5)
    assert agreement.macro_average(np.array([np.nan, 1.0, 7.0]), counts) == 1.0
    assert agreement.macro_average(np.array([np.nan, 1.0, 7.0]), counts, undefined=0.0) == 0.5
    assert agreement.g_mean(counts) == pytest.approx(math.sqrt(0.5))
    assert math.isnan(agreement.g_mean(counts_of([[0, 0], [0, 0]])))
    assert rates.share_predicted(counts).tolist() == [0.4, 0.6, 0.0]


def test_weights_of_three_classes_are_added_cell_by_cell():
    """The same rates as of the counts that the weights are multiples of, whose sums are exact."""
    matrix = np.array([[5, 1, 2], [3, 7, 11], [13, 17, 23]])
    whole = counts_of(matrix, "abc")
    for scale in (0.5, 2.0**-30, 2.0**30):
        weighted = cp.Counts(matrix * scale, ("a", "b", "c"), 82)
        for mine, exact in zip(rates.outside(weighted), rates.outside(whole), strict=True):
            np.testing.assert_array_equal(mine, exact * scale)
        assert agreement.kappa(weighted) == agreement.kappa(whole)
        assert agreement.matthews(weighted) == agreement.matthews(whole)


def test_kappa_of_weights_with_all_their_digits():
    """Odd last bits: on a whole scale no bit may be lost."""
    from fractions import Fraction

    from tests import oracle

    matrix = np.array([[1 + 2.0**-52, 3.0], [0.0, 7 + 2.0**-50]])
    exact = [[Fraction(cell) for cell in row] for row in matrix.tolist()]
    assert agreement.kappa(cp.Counts(matrix, ("a", "b"), 11)) == float(oracle.kappa(exact))


# --- screening ---


def test_screening_at_its_borders():
    """'well' right in 19 of 20, 'sick' in 9 of 10: just good enough for both."""
    just = screening_sentence(counts_of([[9, 1], [1, 19]], ("sick", "well")), None)
    assert just == (
        "Taking 'sick' as the condition looked for: a decision for 'well' is right in 95.0 %, so it is good for screening; "
        "a decision for 'sick' is right in 90.0 %, so it is good for diagnosis."
    )
    less = screening_sentence(counts_of([[8, 1], [1, 18]], ("sick", "well")), None)
    assert "94.7 %, so it is poor for screening" in less
    assert "88.9 %, so it is poor for diagnosis" in less


def test_a_negative_decision_halves_the_risk():
    """1 of 32 predicted well are sick; 4 of 64 rows are sick, exactly twice as many, or 4 of 80."""
    assert "good for screening" in screening_sentence(counts_of([[3, 1], [29, 31]], ("sick", "well")), None)
    assert "poor for screening" in screening_sentence(counts_of([[3, 1], [45, 31]], ("sick", "well")), None)


def test_the_condition_looked_for():
    rows = counts_of([[9, 1], [3, 1]])
    assert positive_position(rows, None) == 1
    assert positive_position(rows, even()) == 1
    assert positive_position(rows, cp.Preferences.prioritise(["a"]).on("ab")) == 0
    assert "'a' is never predicted" in screening_sentence(counts_of([[0, 9], [0, 1]]), None)


# --- losses between bounds ---


def test_loss_bounds_by_hand():
    """By Kulczynski at 1/2. a: 2 of 3 predicted to 3 of 3, and 2 to 3 of 4 rows; b: 1 of 3 predicted to 2 of 2, and 1 to 2 of 2 rows."""
    sure, possible = np.array([[2, 0], [0, 1]]), np.array([[3, 2], [1, 2]])
    bounds = cp.evidence.CountBounds(low=sure, high=possible, support=np.array([4, 2]), classes=("a", "b"))
    low, high = loss_bounds(bounds, even())
    assert low == pytest.approx(((1 - (1 + 3 / 4) / 2) + 0) / 2)
    assert high == pytest.approx(((1 - (2 / 3 + 2 / 4) / 2) + (1 - (1 / 3 + 1 / 2) / 2)) / 2)
    never = cp.evidence.CountBounds(
        low=np.array([[2, 0], [0, 0]]), high=np.array([[2, 2], [0, 2]]), support=np.array([4, 2]), classes=("a", "b")
    )
    assert loss_bounds(never, even())[1] == pytest.approx((1 / 4 + 1) / 2)  # b may never be predicted, which counts 1


# --- priors ---


def test_priors_at_their_borders():
    assert read_priors([0.0, 1.0], "ab").tolist() == [0.0, 1.0]
    assert read_priors({"b": 0.25, "a": 0.75}, "ab").tolist() == [0.75, 0.25]
    assert read_priors([0.5, 0.5 + 9e-7], "ab").sum() == pytest.approx(1 + 9e-7)
    for wrong in ([0.5, 0.5 + 2e-6], [0.5, 0.5 - 2e-6], [-0.25, 1.25], [np.nan, 1.0], [0.2, 0.3, 0.5]):
        with pytest.raises(cp.InputError, match="priors"):
            read_priors(wrong, "ab")


# --- regression beside predictions without a model ---


def test_predictions_are_judged_in_numbers():
    """Targets 0 and 4; predictions off by 1: 50 % below the 2 of the mean."""
    good = cp.regression.evaluate([0, 4], [1, 3], y_train=[0, 4]).verdict
    assert good.informative
    assert good.sentence.startswith("informative: the root mean squared error 1 is 50 % below the 2 of ")
    assert "absolute" not in good.sentence
    level = cp.regression.evaluate([0, 4], [2, 2], y_train=[0, 4]).verdict
    assert level.sentence.startswith("uninformative: the root mean squared error 2 is no smaller than the 2 of ")
    worse = cp.regression.evaluate([0, 4], [4, 0], y_train=[0, 4]).verdict
    assert worse.sentence.startswith("uninformative: the root mean squared error 4 is larger than the 2 of ")
    mixed = cp.regression.evaluate([0, 0, 6], [2.5, 2.5, 3.5], baseline={"low": [1, 1, 1]}, y_train=[1, 1, 1]).verdict
    # squared: 6.25 x 3 = 18.75 against 1 + 1 + 25 = 27; absolute: 7.5 against 7
    assert mixed.informative
    assert "; but its mean absolute error is not below the 2.333 of the baseline" in mixed.sentence


@pytest.mark.parametrize("weights", [(-1.0, 1.0), (1.0, -1.0), (0.0, 0.0), (math.nan, 1.0), (1.0, math.inf)])
def test_weights_of_errors(weights):
    with pytest.raises(cp.InputError, match="under_weight and over_weight are numbers of at least 0, not both 0"):
        cp.regression.evaluate([1, 2], [1, 2], under_weight=weights[0], over_weight=weights[1])
    assert cp.regression.evaluate([1, 2], [0, 3], under_weight=0, over_weight=2).summary.pinball_error == 1.0


# --- one more row, one more fold ---


def test_a_class_of_one_row_asks_for_its_minimum():
    preferences = cp.Preferences({"a": cp.Preference(recall_weight=0.5, min_precision=0.5)}).on("ab")
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
        {"a": cp.Preference(recall_weight=0.5, min_recall=1.0)}, default=cp.Preference(recall_weight=0.5)
    ).on("ab")
    verdict = judge(counts_of([[3, 1], [0, 4]]), preferences)
    assert not verdict.informative
    assert "met better by always deciding 'a' (loss 0.6250, this result 0.1125)" in verdict.sentence
    assert verdict.sentence.endswith("; but the recall of 'a' is 0.750, below your minimum of 1")


def test_one_class_of_two_occurs():
    only = judge(counts_of([[4, 0], [0, 0]]), even())
    assert only.sentence.endswith("; there is only one class in these rows")
    assert shortfall(counts_of([[0, 1], [0, 3]]), even(min_recall=0.5)) == 0.5  # of a single row


def test_costs_by_name_only_where_both_sides_are_named():
    named = pd.DataFrame([[0.0, 1.0], [2.0, 0.0]], index=["b", "a"], columns=["b", "a"])
    assert read_cost(named, ("a", "b")).tolist() == [[0.0, 2.0], [1.0, 0.0]]
    half = pd.DataFrame([[0.0, 1.0], [2.0, 0.0]], index=["x", "y"], columns=["b", "a"])
    assert read_cost(half, ("a", "b")).tolist() == [[0.0, 1.0], [2.0, 0.0]]  # as it stands
    other = pd.DataFrame([[0.0, 1.0], [2.0, 0.0]], index=["b", "a"], columns=["x", "y"])
    assert read_cost(other, ("a", "b")).tolist() == [[0.0, 1.0], [2.0, 0.0]]


def test_the_share_saved_by_a_regression():
    """Errors of 1/2 against 2: 75 % below."""
    verdict = cp.regression.evaluate([0, 4], [0.5, 3.5], y_train=[0, 4]).verdict
    assert "error 0.5 is 75 % below the 2 of " in verdict.sentence


def test_the_largest_and_the_smallest_error():
    result = cp.regression.evaluate([0, 0, 0, 0], [1, 2, 3, 4], quantiles=[0.25, 0.5, 1.0])
    assert list(result.quantiles.values()) == [1.5, 2.5, 4.0]


def test_undefined_precision_between_bounds():
    """b is never predicted, surely: its loss is 1 at best and at worst."""
    never = cp.evidence.CountBounds(
        low=np.array([[2, 0], [2, 0]]), high=np.array([[2, 0], [2, 0]]), support=np.array([2, 2]), classes=("a", "b")
    )
    expected = ((1 - (0.5 + 1) / 2) + 1) / 2
    assert loss_bounds(never, even()) == pytest.approx((expected, expected))


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


def test_correlation_by_hand():
    """Deviations -1, 0, 1 and -7/3, -1/3, 8/3: 5 / sqrt(2 x 114 / 9)."""
    assert cp.regression.evaluate([1, 2, 3], [2, 4, 7]).summary.correlation == pytest.approx(5 / math.sqrt(2 * 114 / 9))
    assert math.isnan(cp.regression.evaluate([1, 2, 3, 5, 8, 13, 21], [0.1] * 7).summary.correlation)
    rng = np.random.default_rng(0)
    for _ in range(50):  # rounding leads beyond 1 now and then
        y = rng.normal(size=7)
        assert 1 - 1e-12 < cp.regression.evaluate(y, 3 * y + 1).summary.correlation <= 1.0
        assert -1.0 <= cp.regression.evaluate(y, 1 - 3 * y).summary.correlation < -1 + 1e-12


def test_wekas_priors():
    assert cp.model_selection.training_priors(["good"] * 11 + ["bad"] * 6, labels=["good", "bad"]) == {
        "good": 12 / 19,
        "bad": 7 / 19,
    }


def test_rows_without_weight_have_no_error():
    result = cp.regression.evaluate([0, 0, 0], [1, 2, 9], sample_weight=[1, 1, 0], quantiles=[0.5, 1.0])
    assert list(result.quantiles.values()) == [1.5, 2.0]


def test_correlation_about_any_origin():
    from compromis.regression.errors import correlation

    sums = cp.regression.evaluate([1, 2, 3], [2, 4, 7]).sums
    for origin in ((0.0, 0.0), (5.0, -3.0)):
        assert float(correlation(sums.about(origin))) == pytest.approx(5 / math.sqrt(2 * 114 / 9))
    flat = cp.regression.evaluate([1, 2, 4], [0.1, 0.1, 0.1]).sums
    assert math.isnan(correlation(flat.about((0.0, 7.0))))


def test_absent_classes_do_not_count_between_bounds():
    sure = np.array([[2, 0], [0, 0]])
    absent = cp.evidence.CountBounds(low=sure, high=sure, support=np.array([2, 0]), classes=("a", "b"))
    assert loss_bounds(absent, even()) == (0.0, 0.0)


def test_the_best_baseline_misses_a_minimum_too():
    """A tenth of the rows, and of those predicted, are a: precision 1/10 at random, and here; but b and c are found."""
    preferences = cp.Preferences({"a": cp.Preference(min_precision=0.9)}, metric="f").on("abc")
    verdict = judge(counts_of([[1, 9, 0], [5, 40, 0], [4, 0, 41]], "abc"), preferences)
    assert verdict.informative
    assert "for random decisions at the classes' shares, which misses a minimum too, the best" in verdict.sentence
    assert verdict.sentence.endswith("; but the precision of 'a' is 0.100, below your minimum of 0.9")


def test_costs_of_some_classes_are_no_costs():
    some = pd.DataFrame([[0, 1], [2, 0]], index=["a", "b"], columns=["a", "b"])
    with pytest.raises(cp.InputError, match=r"a cost matrix for 3 classes has shape \(3, 3\), got \(2, 2\)"):
        read_cost(some, "abc")
