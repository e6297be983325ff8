"""Where words and verdicts change, and what they say there: all numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import compromis as cp
from compromis.frames.bounds import loss_bounds
from compromis.model_selection.curves import ComplexityCurve, FoldLosses, LearningCurve


def even(metric="kulczynski", **options):
    """Preferences of recall weight 1/2 for two classes that count alike."""
    return cp.Preferences(default=cp.Preference(recall_weight=0.5, **options), metric=metric).on(("a", "b"))


def counts_of(matrix, classes=("a", "b")):
    return cp.Counts.from_matrix(matrix, list(classes))


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


# --- does a model generalise? ---


def folds(train, validation, naive, ratio=0.25):
    return FoldLosses(
        np.array(train, dtype=float), np.array(validation, dtype=float), np.array(naive, dtype=float), ratio
    )


def test_the_standard_error_of_nadeau_and_bengio():
    """Deviations -1, 0, 1: their standard deviation is 1, times the root of 1/3 + 1/2."""
    error = folds([[1, 2, 3]], [[4, 4, 4]], [1, 1, 4], 0.5)
    assert error.standard_error(error.train).tolist() == pytest.approx([math.sqrt(1 / 3 + 1 / 2)])
    assert error.standard_error(error.validation).tolist() == [0.0]
    assert (error.train_mean.tolist(), error.validation_mean.tolist(), error.naive_mean) == ([2.0], [4.0], 2.0)


def learning(train, validation, naive=1.0, sizes=(50, 100), **options):
    losses = folds([[one, one] for one in train], [[one, one] for one in validation], [naive, naive])
    return LearningCurve(sizes, losses, "loss", **options)


def test_the_words_at_their_borders():
    assert learning([0.25, 0.25], [0.5, 0.5]).verdict.word == "good"  # just half of the loss on new rows
    assert learning([0.25, 0.2], [0.5, 0.5]).verdict.word == "overfits"
    assert learning([0.5, 0.5], [0.9, 0.9]).verdict.word == "good"  # just half of the loss without a model
    assert learning([0.5, 0.51], [0.9, 0.9]).verdict.word == "underfits"
    assert learning([0.5, 0.5], [1.0, 1.0]).verdict.word == "uninformative"
    assert learning([0.0, 0.0], [0.02, 0.02]).verdict.word == "good"  # a gap of 2 % of the loss without a model is none
    assert learning([0.0, 0.0], [0.03, 0.03]).verdict.word == "overfits"
    assert learning([0.3, 0.3], [0.4, 0.4], target=0.3).verdict.word == "good"


def test_what_more_rows_would_bring():
    curve = learning([0.1, 0.1, 0.1], [0.9, 0.3, 0.15], sizes=(20, 50, 100))
    assert curve.verdict.more_data
    assert curve.verdict.sentence == (
        "good: the loss is 0.1 on the training rows and 0.15 on new rows, 1 without a model; "
        "more data would help: from 50 to 100 rows it fell by 0.15 on new rows"
    )
    rose = learning([0.1, 0.1], [0.15, 0.17]).verdict
    assert not rose.more_data
    assert rose.sentence.endswith("more data would hardly help: from 50 to 100 rows it rose by 0.02 on new rows")
    assert not learning([0.0, 0.0], [0.02, 0.0]).verdict.more_data  # just 2 % of the loss without a model
    assert learning([0.1, 0.1], [0.18, 0.15]).verdict.more_data
    unsure = LearningCurve((50, 100), folds([[0.1, 0.1]] * 2, [[0.5, 0.1], [0.1, 0.1]], [1, 1]), "loss")
    # saved 0.4 and 0: 0.2 on average, with a standard error of 0.2828 sqrt(1/2 + 1/4) = 0.245
    assert not unsure.verdict.more_data


def complexity(train, validation, naive=(1.0, 1.0), values=(1, 2, 3)):
    return ComplexityCurve("tree__depth", values, folds(train, validation, naive), "loss")


def test_the_verdict_on_each_value():
    curve = complexity([[0.5, 0.5], [0.3, 0.3], [0.1, 0.1]], [[0.6, 0.6], [0.4, 0.4], [0.5, 0.5]])
    assert [fit.word for fit in curve.fits] == ["underfits", "good", "overfits"]
    assert (curve.best, curve.recommended, curve.axis, curve.positions) == (1, 2, "depth", (1, 2, 3))
    assert curve.verdict == "depth: 1 underfits; 2 good; 3 overfits"
    assert curve.fits[0].sentence == (
        "underfits: the loss is 0.5 on the training rows and 0.6 on new rows, both worse than 0.3 and 0.4 for depth 2"
    )
    assert curve.fits[2].sentence == (
        "overfits: the loss is 0.1 on the training rows and 0.5 on new rows, against 0.3 and 0.4 for depth 2"
    )
    columns = curve.columns()
    assert list(columns) == [
        "depth", "training_loss", "validation_loss", "training_standard_error", "validation_standard_error", "fit",
    ]  # fmt: skip
    assert columns["validation_loss"] == pytest.approx([0.6, 0.4, 0.5])


def test_the_last_value_and_equal_training_losses():
    last = complexity([[0.5, 0.5], [0.5, 0.5]], [[0.6, 0.6], [0.4, 0.4]], values=(0.5, 10.0))
    assert last.fits[0].word == "overfits"  # it does no worse on the rows it saw
    assert last.verdict == "depth: 0.5 overfits; 10 good; the best value is the last one, so try beyond it"
    alone = complexity([[0.5, 0.5]], [[0.6, 0.6]], values=(7,))
    assert alone.verdict == "depth: 7 good"
    useless = complexity([[0.5, 0.5]], [[1.0, 1.0]], values=(7,))
    assert useless.fits[0].sentence == (
        "uninformative: the loss is 0.5 on the training rows and 1 on new rows, no better than 1 without a model"
    )
    assert useless.recommended == 7


def test_good_is_within_one_standard_error_and_two_of_the_difference():
    """The best has validation losses 0.3 and 0.5: standard error sqrt(0.02) sqrt(1/2 + 1/4) = 0.1225."""

    def word(more):
        curve = complexity([[0.2, 0.2]] * 2, [[0.3, 0.5], more], values=(1, 2))
        return curve.fits[1].word

    assert word([0.41, 0.61]) == "overfits"  # the same difference on both folds: its standard error is 0
    assert word([0.32, 0.70]) == "good"  # 0.11 more, the difference varies by 0.1273 sqrt(3/4) = 0.110
    assert word([0.32, 0.74]) == "overfits"  # 0.13 more
    assert word([0.45, 0.55]) == "good"  # 0.10 more, the difference varies by 0.0707 sqrt(3/4) = 0.0612, doubled 0.1225
    assert word([0.47, 0.57]) == "good"  # 0.12 more
    assert word([0.48, 0.58]) == "overfits"  # 0.13 more


# --- one more row, one more fold ---


def test_three_sizes_of_which_only_the_last_counts():
    """Training losses 0.4, 0.3, 0.1 and 0.5, 0.9, 0.15 on new rows: the last pair is good, any other is not."""
    curve = learning([0.4, 0.3, 0.1], [0.5, 0.9, 0.15], sizes=(20, 50, 100))
    assert curve.verdict.word == "good"
    assert curve.verdict.sentence.startswith("good: the loss is 0.1 on the training rows and 0.15 on new rows")
    assert curve.positions == (20, 50, 100)
    assert (
        learning([0.0, 0.0, 0.0], [0.9, 0.9, 0.01], sizes=(20, 50, 100)).verdict.word == "good"
    )  # a gap of 1 % is none
    assert learning([0.0, 0.0, 0.0], [0.0, 0.0, 0.5], sizes=(20, 50, 100)).verdict.word == "overfits"


def test_worse_than_no_model():
    assert learning([0.45, 0.45], [0.8, 0.8], naive=0.75).verdict.word == "underfits"
    assert learning([0.3, 0.3], [0.5, 0.5], naive=0.4, target=0.3).verdict.word == "uninformative"
    wild = LearningCurve((50, 100), folds([[0, 0]] * 2, [[0, 4], [0, 4]], [1, 1]), "loss")
    # 2 more than on the training rows, with a standard error of 2.83 sqrt(3/4) = 2.45, but no better than no model
    assert wild.verdict.word == "overfits"


def test_savings_are_shares_of_the_loss_without_a_model():
    assert learning([1.0, 1.0], [1.235, 1.2], naive=4.0).verdict.more_data is False  # 0.035 of 4 is below 2 %
    assert learning([0.1, 0.1], [0.13, 0.11], naive=0.5).verdict.more_data  # 0.02 of 0.5 is 4 %


def test_two_standard_errors_of_the_difference():
    """0.09 and 0.05 more: 0.07 on average, twice its standard error is 2 x 0.0283 sqrt(3/4) = 0.049."""
    curve = complexity([[0.2, 0.2]] * 2, [[0.3, 0.5], [0.39, 0.55]], values=(1, 2))
    assert curve.fits[1].word == "overfits"


def test_undefined_precision_between_bounds():
    """b is never predicted, surely: its loss is 1 at best and at worst."""
    never = cp.evidence.CountBounds(
        low=np.array([[2, 0], [2, 0]]), high=np.array([[2, 0], [2, 0]]), support=np.array([2, 2]), classes=("a", "b")
    )
    expected = ((1 - (0.5 + 1) / 2) + 1) / 2
    assert loss_bounds(never, even()) == pytest.approx((expected, expected))


def test_a_value_better_on_one_fold_and_worse_on_the_other():
    """-0.05 and 0.25 more: 0.1 on average, within one standard error of the best (0.1225)."""
    curve = complexity([[0.2, 0.2]] * 2, [[0.3, 0.5], [0.25, 0.75]], values=(1, 2))
    assert curve.fits[1].word == "good"
    assert complexity([[0.5, 0.5]], [[1.2, 1.2]], values=(7,)).fits[0].word == "uninformative"


def test_half_of_the_rows_is_the_nearest_size():
    curve = learning([0.1] * 4, [0.9, 0.3, 0.16, 0.15], sizes=(20, 50, 90, 100))
    assert "from 50 to 100 rows it fell by 0.15" in curve.verdict.sentence


def test_wekas_priors():
    assert cp.model_selection.training_priors(["good"] * 11 + ["bad"] * 6, labels=["good", "bad"]) == {
        "good": 12 / 19,
        "bad": 7 / 19,
    }


def test_gaps_of_the_last_size_in_shares_of_the_loss_without_a_model():
    assert learning([0.0, 0.5, 0.0], [0.9, 0.9, 0.5], sizes=(20, 50, 100)).verdict.word == "overfits"
    assert learning([0.0, 0.0], [0.05, 0.05], naive=4.0).verdict.word == "good"  # 0.05 is below 2 % of 4


def test_absent_classes_do_not_count_between_bounds():
    sure = np.array([[2, 0], [0, 0]])
    absent = cp.evidence.CountBounds(low=sure, high=sure, support=np.array([2, 0]), classes=("a", "b"))
    assert loss_bounds(absent, even()) == (0.0, 0.0)
