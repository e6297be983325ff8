"""check: conditions as data, and their renderings."""

from __future__ import annotations

import pytest

import compromis as cp

TRUTH, PREDICTED = ["bad"] * 4 + ["good"] * 6, ["bad"] * 3 + ["good"] * 6 + ["bad"]
PREFERENCES = cp.Preferences({"bad": cp.Preference(10, min_precision=0.7, min_recall=0.9)})


@pytest.fixture
def checked():
    return cp.check(cp.evaluate(TRUTH, PREDICTED, preferences=PREFERENCES), max_loss=0.5)


def test_conditions_are_data(checked):
    found = [(one.rate, one.label, one.reached, one.bound, one.passed) for one in checked.conditions]
    assert found[:2] == [("precision", "bad", 0.75, 0.7, True), ("recall", "bad", 0.75, 0.9, False)]
    assert found[2] == ("loss", None, checked.summary.loss, 0.5, True)
    assert not checked.passed
    assert checked.verdict is checked.evaluation.verdict


def test_text(checked):
    lines = str(checked).splitlines()
    assert lines[:2] == ["Check failed: 1 of 3 conditions is missed.", "Finds 3 of 4 bad (misses 1), 1 false alarm."]
    (recall,) = [line.split("  ") for line in lines if line.startswith("recall of 'bad'")]
    assert [cell.strip() for cell in recall if cell] == [
        "recall of 'bad'", "0.7500", ">= 0.9", "MISSED", "0.301 to 0.954", "not told apart",
    ]  # fmt: skip


def test_states_by_intervals():
    """10 of 14 are below 0.8 on paper; of 1,400 rows as many are below it surely."""
    preferences = cp.Preferences({"bad": cp.Preference(10, min_recall=0.8, max_share=0.02)})
    states = {}
    for times in (1, 100):
        counts = cp.Counts.from_matrix([[950 * times, 2 * times], [4 * times, 10 * times]], ["good", "bad"])
        for confidence in (0.95, 0.5):
            found = cp.check(cp.evaluate(counts, preferences=preferences), confidence=confidence)
            states[times, confidence] = [str(one.state) for one in found.conditions]
            strict = cp.check(found.evaluation, confidence=confidence, fail_on="surely-missed")
            assert (found.passed, strict.passed) == (False, states[times, confidence][0] != "surely missed")
    assert states[1, 0.95] == ["not told apart", "not told apart"]
    assert states[100, 0.95] == ["surely missed", "surely met"]
    assert "passed" in str(
        cp.check(
            cp.evaluate(cp.Counts.from_matrix([[950, 2], [4, 10]], ["good", "bad"]), preferences=preferences),
            fail_on="surely-missed",
        )
    )
    with pytest.raises(cp.InputError, match="fail_on is 'missed' or 'surely-missed', got 'never'"):
        cp.check(found.evaluation, fail_on="never")


def test_the_intervals_of_an_evaluation_count_groups():
    truth, predicted = ["bad"] * 40 + ["good"] * 60, ["bad"] * 36 + ["good"] * 64
    preferences = cp.Preferences({"bad": cp.Preference(10, min_recall=0.8)})
    rows, groups = (
        cp.check(cp.evaluate(truth, predicted, preferences=preferences, confidence=0.95, groups=keys)).conditions[0]
        for keys in (None, [k // 20 for k in range(100)])
    )
    assert groups.high - groups.low > 1.5 * (rows.high - rows.low)


def test_a_class_that_does_not_occur_asks_for_nothing():
    result = cp.evaluate(["good"] * 2, ["good"] * 2, labels=["bad", "good"], preferences=PREFERENCES)
    with pytest.raises(cp.InputError, match="the preferences set no constraint for a class of these rows"):
        cp.check(result)
    assert [one.name for one in cp.check(result, max_loss=1).conditions] == ["loss"]


def test_a_capacity_is_checked():
    preferences = cp.Preferences({"bad": cp.Preference(10, max_share=0.3)})
    result = cp.evaluate(TRUTH, PREDICTED, preferences=preferences)
    (condition,) = cp.check(result).conditions
    assert (condition.rate, condition.label, condition.bound, condition.passed) == (
        "share predicted",
        "bad",
        0.3,
        False,
    )
    assert condition.reached == 0.4
    assert condition.asked == "at most 0.3"
    assert condition.name == "share predicted 'bad'"  # a table has 24 letters for it, enough for a label of six
    assert cp.check(cp.evaluate(TRUTH, ["good"] * 10, preferences=preferences)).passed


def test_a_check_needs_preferences():
    with pytest.raises(cp.InputError, match="a check needs preferences"):
        cp.check(cp.evaluate(TRUTH, PREDICTED))
