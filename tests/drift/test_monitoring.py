"""The monitor over periods: causes, advice, renderings, false alarms."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import compromis as cp
from compromis.drift.monitoring import Cause, change_between

SPRING = cp.Counts.from_matrix([[950, 50], [10, 90]], ["good", "bad"])
PREFERENCES = cp.Preferences({"bad": cp.Preference(10, min_precision=0.5)}, metric="f")


def unlabelled(good, bad, **options):
    return cp.drift.Unlabelled({"good": good, "bad": bad}, **options)


class TestMonitor:
    def test_nothing_changed(self):
        found = cp.monitor({"a": SPRING, "b": SPRING}, preferences=PREFERENCES)
        assert found.met
        assert [period.advice for period in found.periods] == ["", ""]
        assert "Your preferences are met in every period." in str(found)

    def test_only_the_shares(self):
        autumn = cp.Counts.from_matrix([[1900, 100], [2, 18]], ["good", "bad"])
        period = cp.monitor({"spring": SPRING, "autumn": autumn}, preferences=PREFERENCES).periods[1]
        assert period.missed == (
            "the precision of 'bad' is 0.153, below your minimum of 0.5 (82 predictions must change)",
        )
        assert period.change.cause is Cause.SHARES
        assert period.change.classes == ("bad",)
        assert period.change.shares[0] == pytest.approx((100 / 1100, 20 / 2020))
        assert period.retune
        assert period.advice.endswith("search the weights again for these shares")
        assert period.loss_expected == pytest.approx(period.loss, rel=0.05)
        met = cp.monitor({"x": autumn, "y": SPRING}, preferences=cp.Preferences()).periods[1]
        assert (met.change.cause, met.met, met.retune) == (Cause.SHARES, True, False)
        assert met.advice.endswith("may do better")

    def test_only_the_rows(self):
        worse = cp.Counts.from_matrix([[950, 50], [70, 30]], ["good", "bad"])
        period = cp.monitor({"spring": SPRING, "autumn": worse}, preferences=PREFERENCES).periods[1]
        assert (period.change.cause, period.change.classes, period.retune) == (Cause.ROWS, ("bad",), False)
        assert period.advice == (
            "the rows of 'bad' are predicted differently than in the reference, which class shares do not explain: "
            "tune or fit again on new labelled rows"
        )

    def test_by_chance(self):
        few = cp.Counts.from_matrix([[9, 1], [1, 0]], ["good", "bad"])
        period = cp.monitor({"spring": SPRING, "few": few}, preferences=PREFERENCES).periods[1]
        assert (period.met, period.change.cause, period.retune) == (False, Cause.NOTHING, False)
        assert period.advice == "nothing has changed beyond chance: review the preferences, or gather more rows"

    def test_a_largest_loss_and_a_preferences_met_by_giving_up(self):
        period = cp.monitor({"a": SPRING}, preferences=PREFERENCES, max_loss=0.01).periods[0]
        assert period.missed[0].startswith("the loss is 0.")
        constant = cp.Counts.from_matrix([[100, 0], [10, 0]], ["good", "bad"])
        assert (
            cp.monitor({"a": constant}, preferences=cp.Preferences())
            .periods[0]
            .missed[0]
            .startswith("no better than no model")
        )

    def test_a_period_of_one_class_is_judged_by_its_constraints_alone(self):
        """Without a bad row nothing can be better than always 'good', which is no fault of the decision."""
        quiet = cp.Counts.from_matrix([[19, 1], [0, 0]], ["good", "bad"])
        asked = cp.Preferences({"bad": cp.Preference(10, min_recall=0.8, max_share=0.1)})
        period = cp.monitor({"monday": quiet}, preferences=asked, reference=SPRING).periods[0]
        assert (period.met, period.missed, str(period.state)) == (True, (), "not told apart")
        flood = cp.Counts.from_matrix([[10, 10], [0, 0]], ["good", "bad"])
        period = cp.monitor({"monday": flood}, preferences=asked, reference=SPRING).periods[0]
        assert (period.met, str(period.state), period.change.cause) == (False, "surely missed", Cause.ROWS)

    def test_without_labels(self):
        # 1000 rows, 5 % bad: 0.95 x 0.05 + 0.05 x 0.9 = 92.5 alarms
        period = cp.monitor({"now": unlabelled(1815, 185)}, preferences=PREFERENCES, reference=SPRING).periods[0]
        assert period.shares == pytest.approx((0.95, 0.05))
        assert period.precision[1] == pytest.approx(0.05 * 0.9 / 0.0925)
        assert (period.met, period.change.cause, period.retune) == (False, Cause.SHARES, True)
        assert "if only the class shares have changed" in period.advice
        assert period.bounds[1][0] < 0.05 < period.bounds[1][1]

    def test_without_labels_from_what_was_predicted(self):
        """Labels in any container and order, of classes that may be absent, count as they are."""
        predicted = ["bad"] * 185 + ["good"] * 1815
        for given in (predicted, np.array(predicted), pd.Series(predicted, dtype="category")):
            period = cp.monitor({"now": cp.drift.Unlabelled(given)}, preferences=PREFERENCES, reference=SPRING).periods[
                0
            ]
            assert period.shares == pytest.approx((0.95, 0.05))
        quiet = cp.drift.Unlabelled(["good"] * 20)
        assert cp.monitor({"now": quiet}, preferences=PREFERENCES, reference=SPRING).periods[0].rows == 20
        with pytest.raises(cp.InputError, match="period 'now' has the classes 1, 2, which the reference has not"):
            cp.monitor({"now": cp.drift.Unlabelled([1, 2])}, preferences=PREFERENCES, reference=SPRING)

    def test_evaluations_are_periods(self):
        spring, worse = (
            cp.evaluate(counts) for counts in (SPRING, cp.Counts.from_matrix([[950, 50], [70, 30]], ["good", "bad"]))
        )
        by_counts = cp.monitor({"spring": SPRING, "now": worse.counts}, preferences=PREFERENCES)
        assert cp.monitor({"spring": spring, "now": worse}, preferences=PREFERENCES).to_json() == by_counts.to_json()
        given = cp.monitor({"now": worse}, preferences=PREFERENCES, reference=spring)
        assert given.periods[0].change.cause is Cause.ROWS

    def test_what_is_sure(self):
        """14 rows of a class tell little, 1,400 a lot."""
        preferences = cp.Preferences({"bad": cp.Preference(10, min_recall=0.8)})
        states = []
        for times, hits in ((1, 10), (100, 10), (100, 13), (1, 13)):
            counts = cp.Counts.from_matrix(
                [[950 * times, 2 * times], [(14 - hits) * times, hits * times]], ["good", "bad"]
            )
            found = cp.monitor({"month": counts}, preferences=preferences)
            period = found.periods[0]
            (condition,) = period.conditions
            assert condition.low < condition.reached < condition.high
            states.append((period.met, str(period.state)))
        assert states == [
            (False, "not told apart"),
            (False, "surely missed"),
            (True, "surely met"),
            (True, "not told apart"),
        ]
        header = found.tables()[0].header
        assert {"Recall of bad", "Precision of bad"} <= set(header)
        document = json.loads(found.to_json())["periods"][0]
        assert (document["state"], document["conditions"][0]["state"]) == ("not told apart", "not told apart")

    def test_without_labels_and_beyond_any_shares(self):
        period = cp.monitor({"now": unlabelled(2000, 0)}, preferences=PREFERENCES, reference=SPRING).periods[0]
        assert (period.change.cause, period.retune) == (Cause.UNEXPLAINED, False)
        assert "more than the shares has changed" in period.advice

    def test_without_labels_two_estimates_apart(self):
        by_em = cp.drift.prevalence_by_em(
            [[0.9, 0.1]] * 500 + [[0.05, 0.95]] * 500, priors=[0.5, 0.5], labels=["good", "bad"]
        )
        given = unlabelled(1815, 185, by_em=by_em)
        period = cp.monitor({"now": given}, preferences=PREFERENCES, reference=SPRING).periods[0]
        assert (period.change.cause, period.retune) == (Cause.CONFLICTING, False)
        assert "point to different class shares" in period.advice

    def test_renderings_agree(self):
        found = cp.monitor({"a|b": SPRING, "now": unlabelled(1815, 185)}, preferences=PREFERENCES)
        document = json.loads(found.to_json())
        assert [document["periods"][1][name] for name in ("met", "retune", "cause")] == [False, True, "shares"]
        assert document["periods"][1]["missed"] == list(found.periods[1].missed)
        assert document["periods"][0]["rows"] == 1100
        assert "a&#124;b" in found.to_markdown()
        assert "NOT MET" in str(found)
        frame = found.to_frame("pandas")
        assert frame["share"].tolist() == pytest.approx([1000 / 1100, 100 / 1100, 0.95, 0.05])

    def test_many_classes_show_the_liveliest(self):
        before = cp.Counts.from_matrix(np.diag([100] * 7) + 1, list("abcdefg"))
        after = cp.Counts.from_matrix(np.diag([100, 100, 5, 100, 400, 100, 100]) + 1, list("abcdefg"))
        header = cp.monitor({"x": before, "y": after}, preferences=cp.Preferences()).tables()[0].header
        assert "Share of e" in header
        assert sum(name.startswith("Share") for name in header) == 4

    @pytest.mark.parametrize(
        ("periods", "options", "said"),
        [
            ({}, {}, "at least one"),
            ({"a": [[1]]}, {}, "got list"),
            ({"a": SPRING}, {"preferences": None}, "got NoneType"),
            ({"a": unlabelled(1, 2)}, {}, "give reference="),
            ({"a": SPRING, "b": cp.Counts.from_matrix([[1]], ["x"])}, {}, "has the classes 'x'"),
            ({"a": SPRING, "b": unlabelled(0, 0)}, {}, "no new row"),
        ],
    )
    def test_mistakes(self, periods, options, said):
        with pytest.raises(cp.InputError, match=said):
            cp.monitor(periods, **{"preferences": PREFERENCES} | options)


def test_false_alarms_are_rare(rng):
    """Two samples of one population: the tests speak up in about one case of a hundred each."""
    alarms = np.zeros(2)
    for _ in range(300):
        counts = [
            cp.Counts.from_matrix(rng.multinomial(2000, [0.6, 0.1, 0.05, 0.25]).reshape(2, 2), [0, 1]) for _ in range(2)
        ]
        cause = change_between(*counts).cause
        alarms += [cause is Cause.SHARES, cause is Cause.ROWS]
    assert (alarms <= 12).all()


def test_false_alarms_are_rare_where_many_classes_have_few_rows(rng):
    """Twenty classes, 200 rows: with 0.2 rows expected in a cell the tail of chi-squared raises an alarm in 4.4 % of the periods."""
    cells = np.full((20, 20), 0.1 / 19)
    np.fill_diagonal(cells, 0.9)
    cells *= (0.8 ** np.arange(20))[:, np.newaxis]
    cells /= cells.sum()
    before, after = (rng.multinomial(rows, cells.ravel(), 120).reshape(-1, 20, 20) for rows in (1000, 200))
    causes = [
        change_between(*(cp.Counts.from_matrix(part, range(20)) for part in pair)).cause
        for pair in zip(before, after, strict=True)
    ]
    assert sum(cause is not Cause.NOTHING for cause in causes) <= 1


def test_a_planned_sample_is_refused():
    sample = cp.evidence.Sample.from_strata(["x", "x", "y"], sizes={"x": 40, "y": 60})
    counts = cp.Counts.from_predictions(["bad", "good", "good"], ["bad", "good", "bad"], sample=sample)
    with pytest.raises(cp.InputError, match="evaluate the sample of each period"):
        cp.monitor({"a": counts}, preferences=PREFERENCES)


def test_a_class_of_few_rows_that_is_decided_differently_is_found():
    before = cp.Counts.from_matrix([[950, 3, 1], [2, 30, 1], [0, 1, 12]], "abc")
    after = cp.Counts.from_matrix([[190, 1, 0], [0, 6, 0], [0, 5, 1]], "abc")
    change = change_between(before, after)
    assert (change.cause, change.classes) == (Cause.ROWS, ("c",))
    many = cp.Counts.from_matrix(
        np.array([[10**12, 10], [5, 10**9]]), "ab"
    )  # more rows than random tables are drawn of
    assert change_between(many, many).cause is Cause.NOTHING


def test_weighted_counts_say_as_much_as_fewer_rows():
    light = cp.Counts.from_predictions([0, 0, 1, 1] * 50, [0, 1, 1, 1] * 50)
    heavy = cp.Counts.from_predictions([0, 0, 1, 1] * 2, [0, 1, 0, 0] * 2, sample_weight=[1000.0] * 8)
    change = change_between(light, heavy)
    assert (change.cause, change.classes) == (Cause.ROWS, (1,))
    assert change_between(heavy, heavy).cause is Cause.NOTHING


class TestReview:
    """Rows that a person looks at: they count as right, and their share is held beside the cap that was planned."""

    def plan(self):
        rng = np.random.default_rng(0)
        y = (rng.random(3000) < 0.2).astype(int)
        share = 1 / (1 + np.exp(1.5 - rng.normal(size=3000) - 2 * y))
        return y, np.column_stack([1 - share, share])

    def test_a_quiet_day_and_a_day_above_the_cap(self):
        y, votes = self.plan()
        search = cp.search_weights(y, votes, review=cp.Review(max_share=0.1))
        again = search.decision.review_on(y, votes)
        bold = cp.Decision((0, 1), search.weights, review=2 * search.decision.review).review_on(y, votes)
        result = cp.monitor({"quiet": again, "busy": bold}, preferences=cp.Preferences(), reference=search.review)
        quiet, busy = result.periods
        assert quiet.loss == pytest.approx(search.review.loss)
        assert (quiet.review_cap, busy.review_cap) == (None, 0.1)
        assert busy.reviewed == pytest.approx(bold.share)
        (said,) = [one for one in result.sentences() if "above the cap of 10 %" in one]
        assert "busy" in said
        assert result.tables()[0].header.count("To review") == 1
        assert [period["above_review_cap"] for period in result.document()["periods"]] == [False, True]

    def test_without_labels(self):
        y, votes = self.plan()
        search = cp.search_weights(y, votes, review=cp.Review(at_most=100, per=1000))
        labels, flags = search.decision.decide(votes, return_review=True)
        new = cp.drift.Unlabelled(labels, needs_review=flags | (np.arange(3000) < 600))
        result = cp.monitor({"new": new}, preferences=cp.Preferences(), reference=search.review)
        assert result.periods[0].review_cap == 0.1
        assert result.periods[0].reviewed >= 0.2
