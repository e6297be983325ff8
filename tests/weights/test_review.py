"""Review: the cap by exact probabilities, the rows it sends, and what it leaves untouched."""

from __future__ import annotations

import json
import pickle
import warnings
from fractions import Fraction
from math import comb

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import compromis as cp
from compromis.weights import predictor
from compromis.weights.review import as_right
from tests.hostile_votes import LABELS, RATIO, WEIGHTS, calls_at_the_ratio, plainly, plainly_reviewed

ROWS = 20_000


def day_over(reviewed, rows, at_most, per):
    """The probability of more than `at_most` of `per` new rows above the honest row after the `reviewed` nearest, by counting orders.

    All orders of honest and new rows are equally likely: among the first reviewed + at_most + 1 rows at most `reviewed` are honest.
    """
    first = reviewed + at_most + 1
    ways = sum(comb(rows, m) * comb(per, first - m) for m in range(reviewed + 1))
    return Fraction(ways, comb(rows + per, first))


class TestTheCap:
    @pytest.mark.parametrize(("rows", "at_most", "per"), [(50, 5, 20), (200, 10, 100), (300, 30, 1000), (20, 3, 400)])
    @pytest.mark.parametrize("confidence", [0.8, 0.99])
    def test_of_a_number_a_day_is_the_largest_that_holds(self, rows, at_most, per, confidence):
        allowed = cp.Review(at_most=at_most, per=per, confidence=confidence).rows_allowed(rows)
        risk = 1 - Fraction(confidence)
        assert allowed == -1 or day_over(allowed, rows, at_most, per) <= risk
        assert day_over(allowed + 1, rows, at_most, per) > risk

    def test_of_the_design(self):
        """0.66 % of 5,000 rows bound the review that keeps 1 % of 20,000: 32 are sent, the 33rd is the bound."""
        assert cp.Review(at_most=200, per=20_000).rows_allowed(5_000) + 1 == round(0.0066 * 5_000)

    @pytest.mark.parametrize(("rows", "share"), [(99, 0.1), (100, 0.1), (1000, 0.01), (49, 0.02), (48, 0.02)])
    def test_of_a_share_holds_on_the_average(self, rows, share):
        """The share above the next row is (reviewed + 1) / (rows + 1) on the average over deployments."""
        allowed = cp.Review(max_share=share).rows_allowed(rows)
        exact = Fraction(str(share))
        assert Fraction(allowed + 1, rows + 1) <= exact < Fraction(allowed + 2, rows + 1)

    @pytest.mark.parametrize("rows", [30, 300, 3000])
    def test_of_a_share_holds_in_most_deployments(self, rows):
        """The share above the next row is below s with the probability that a binomial number of rows above s exceeds the reviewed ones."""
        allowed = cp.Review(max_share=0.1, confidence=0.95).rows_allowed(rows)
        few = [sum(comb(rows, m) * Fraction(1, 10) ** m * Fraction(9, 10) ** (rows - m) for m in range(most + 1))
               for most in (allowed, allowed + 1)]  # fmt: skip
        assert few[0] <= 1 - Fraction(0.95) < few[1]

    def test_rows_needed_are_the_least(self):
        for review in (
            cp.Review(max_share=0.01),
            cp.Review(at_most=5, per=1000),
            cp.Review(max_share=0.2, confidence=0.9),
        ):
            needed = review.rows_needed()
            assert review.rows_allowed(needed) == 1
            assert review.rows_allowed(needed - 1) < 1


class TestBadInput:
    @pytest.mark.parametrize(
        ("given", "parameter", "words"),
        [
            ({}, "max_share", "needs a cap or a cost"),
            ({"max_share": 0.1, "at_most": 3, "per": 9}, "max_share", "two ways to give one cap"),
            ({"at_most": 3}, "at_most", "needs per"),
            ({"per": 3}, "per", "needs at_most"),
            ({"at_most": 9, "per": 9}, "at_most", "below per"),
            ({"at_most": 0, "per": 9}, "at_most", "at least 1"),
            ({"at_most": 1.5, "per": 9}, "at_most", "whole number"),
            ({"max_share": 0}, "max_share", "between 0 and 1"),
            ({"max_share": 1}, "max_share", "between 0 and 1"),
            ({"max_share": 200}, "max_share", "at_most=200, per=20_000"),
            ({"max_share": 0.1, "confidence": 99}, "confidence", "write 0.99"),
            ({"cost": 1, "confidence": 0.9}, "confidence", "that of a cap"),
            ({"cost": 0}, "cost", "above 0"),
        ],
    )  # fmt: skip
    def test_is_a_sentence(self, given, parameter, words):
        with pytest.raises(cp.InputError, match=words) as raised:
            cp.Review(**given)
        assert raised.value.parameter == parameter

    def test_anything_else_is_no_review(self):
        for search in (
            lambda: cp.search_weights(["a", "b"], np.eye(2), review=0.01),
            lambda: cp.TunedDecisionClassifier(LogisticRegression(), review={"max_share": 0.1}).fit(np.eye(4), [0, 1, 0, 1]),
            lambda: cp.PragmaForestClassifier(3, review=0.1).fit(np.eye(4), [0, 1, 0, 1]),
        ):  # fmt: skip
            with pytest.raises(cp.InputError, match=r"write compromis\.Review") as raised:
                search()
            assert raised.value.parameter == "review"

    @pytest.mark.parametrize("ratio", [0.99, np.inf, np.nan, True, "1.5"])
    def test_a_ratio_is_at_least_1(self, ratio):
        with pytest.raises(cp.InputError, match="at least 1, got"):
            cp.Decision(("a", "b"), [1, 1], review=ratio)

    def test_votes_that_are_not_searched_plan_nothing(self):
        cap, (X, y) = cp.Review(max_share=0.1), data()
        for idle in (
            cp.TunedDecisionClassifier(LogisticRegression(), weights=[1, 2], review=cap),
            cp.PragmaForestClassifier(3, tune=False, review=cap),
        ):
            with pytest.raises(cp.InputError, match="a review is planned on the honest votes"):
                idle.fit(X, y)

    @pytest.mark.parametrize("cap", [cp.Review(at_most=5, per=100), cp.Review(max_share=0.1, confidence=0.9)])
    def test_a_sure_cap_counts_rows(self, cap):
        X, y = data()
        with pytest.raises(cp.InputError, match="drawn one by one"):
            cp.search_weights(y, shares_of(X), review=cap, sample_weight=np.full(len(y), 2.0))
        tuned = cp.TunedDecisionClassifier(LogisticRegression(), review=cap, resamples=0, random_state=0)
        with pytest.raises(cp.InputError, match="leave groups out"):
            tuned.fit(X, y, groups=np.arange(len(y)) % 50)
        with pytest.raises(cp.InputError, match="with_prevalence weighs them"):
            tuned.fit(X, y).with_prevalence([0.5, 0.5])

    def test_too_few_rows_are_told(self):
        X, y = data()
        with pytest.warns(cp.FewRowsWarning, match="too few to plan a review of at most 1 of 1,000,000 rows"):
            found = cp.search_weights(y, shares_of(X), review=cp.Review(at_most=1, per=1_000_000))
        assert found.review.ratio is None
        assert found.decision.review is None
        assert found.review.share == 0


def data(rows=600, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(rows) < 0.2).astype(int)
    return rng.normal(size=(rows, 2)) + 1.3 * y[:, np.newaxis], y


def shares_of(X):
    share = 1 / (1 + np.exp(1.5 - X.sum(axis=1)))
    return np.column_stack([1 - share, share])


class TestThePlan:
    @pytest.mark.parametrize("seed", range(25))
    def test_sends_the_nearest_calls_and_no_more_than_allowed(self, seed):
        """Against the plainest way: sort all ratios, tied ones go together, as many as are allowed."""
        rng = np.random.default_rng(seed)
        size = int(rng.integers(2, 6))
        votes = rng.multinomial(int(rng.integers(3, 30)), np.full(size, 1 / size), 80).astype(float)
        votes[rng.random(80) < 0.05] = 0
        smoothing = float(rng.choice([0.0, 0.3]))
        y = np.r_[np.arange(size), rng.integers(0, size, 80 - size)]
        cap = cp.Review(max_share=float(rng.choice([0.05, 0.2, 0.5])))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search = cp.search_weights(y, votes, review=cap, labels=range(size), smoothing=smoothing, random_state=0)
        scores = np.sort((votes + smoothing) * search.weights, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(scores[:, -1] == 0, 0.0, scores[:, -1] / scores[:, -2])
        limit = np.sort(ratio)[cap.rows_allowed(80)]
        expected = (ratio < limit * (1 - 1e-9)) & np.isfinite(ratio)
        _, flags = search.decision.decide(votes, return_review=True)
        assert flags.tolist() == expected.tolist()
        assert flags.sum() <= cap.rows_allowed(80)
        assert search.review.share == pytest.approx(flags.mean())

    def test_ties_never_exceed_the_cap(self):
        votes = np.repeat([[2.0, 1.0], [1.0, 1.0], [5.0, 0.0]], [10, 30, 60], axis=0)
        found = cp.search_weights([0, 1] * 50, votes, review=cp.Review(max_share=0.2), max_ratio=1)
        assert found.review.share == 0  # thirty rows are equally near, and twenty may go
        found = cp.search_weights([0, 1] * 50, votes, review=cp.Review(max_share=0.5), max_ratio=1)
        assert found.review.share == 0.4

    def test_rows_without_votes_are_the_nearest(self):
        votes = np.array([[2.0, 1.0], [1.0, 1.9], [0.0, 0.0], [9, 1], [1, 9]] * 20)
        found = cp.search_weights([0, 1, 0, 0, 1] * 20, votes, review=cp.Review(max_share=0.3))
        _, flags = found.decision.decide(votes[:5], return_review=True)
        assert flags.tolist() == [False, False, True, False, False]
        assert found.review.unvoted == 20
        assert found.review.share == pytest.approx(0.2)

    def test_the_numbers_are_those_of_the_rows(self):
        X, y = data()
        matters = {1: cp.Preference(10, 0.1, 0.9)}
        search = cp.search_weights(y, shares_of(X), preferences=matters, review=cp.Review(max_share=0.1))
        found, (labels, flags) = search.review, search.decision.decide(shares_of(X), return_review=True)
        with_person = np.where(flags, y, labels)
        for counts, predicted in ((found.before, labels), (found.counts, with_person)):
            assert counts.matrix.tolist() == cp.Counts.from_predictions(y, predicted).matrix.tolist()
        assert found.asked.support.tolist() == np.bincount(y[flags], minlength=2).tolist()
        assert found.loss == pytest.approx(cp.pragma_loss(y, with_person, preferences=matters))
        same = cp.evaluate(y, labels, needs_review=flags, preferences=matters)
        assert same.counts.matrix.tolist() == found.counts.matrix.tolist()
        columns = found.columns()
        assert columns["recall"][1] == pytest.approx((with_person[y == 1] == 1).mean())
        assert columns["precision"][1] == pytest.approx((y[with_person == 1] == 1).mean())
        assert columns["precision_before"][1] == pytest.approx((y[labels == 1] == 1).mean())

    def test_amounts_and_weights_are_those_of_the_rows(self):
        X, y = data()
        amount = np.random.default_rng(1).lognormal(size=len(y))
        cost = cp.Preferences(cost={(0, 1): 1.0, (1, 0): "amount"})
        found = cp.search_weights(y, shares_of(X), preferences=cost, amount=amount, review=cp.Review(max_share=0.2))
        labels, flags = found.decision.decide(shares_of(X), return_review=True)
        left = ~flags & (labels != y)
        assert found.review.loss == pytest.approx((left * np.where(y == 1, amount, 1.0)).mean())
        weight = np.random.default_rng(2).integers(1, 4, len(y)).astype(float)
        found = cp.search_weights(y, shares_of(X), sample_weight=weight, review=cp.Review(max_share=0.2))
        _, flags = found.decision.decide(shares_of(X), return_review=True)
        assert 0.15 < weight[flags].sum() / weight.sum() <= 0.2

    def test_a_cost_of_asking_stops_where_it_pays_no_longer(self):
        X, y = data(2000)
        matters = {1: cp.Preference(10, 0.3, 0.6)}
        plans = [
            cp.search_weights(y, shares_of(X), preferences=matters, review=cp.Review(cost=cost))
            for cost in (0.01, 0.3, 50.0)
        ]
        shares = [plan.review.share for plan in plans]
        assert shares[0] > shares[1] > shares[2] == 0
        best = min(
            cp.search_weights(y, shares_of(X), preferences=matters, review=cp.Review(max_share=share)).review.loss + 0.3 * share
            for share in np.linspace(0.01, 0.6, 60)
        )  # fmt: skip
        assert plans[1].review.loss + 0.3 * shares[1] <= best + 2e-3
        capped = cp.search_weights(y, shares_of(X), preferences=matters, review=cp.Review(cost=0.01, max_share=0.05))
        assert 0 < capped.review.share <= 0.05

    def test_what_the_constraints_need_is_told(self):
        X, y = data(2000)
        asked = {1: cp.Preference(min_recall=0.9, min_precision=0.8)}
        low = cp.search_weights(y, shares_of(X), preferences=asked, review=cp.Review(max_share=0.05)).review
        assert 0.05 < low.share_needed < 0.9
        assert "it takes a review of" in str(low)
        enough = cp.search_weights(
            y, shares_of(X), preferences=asked, review=cp.Review(max_share=low.share_needed + 0.002)
        )
        assert enough.review.share_needed is None
        columns = enough.review.columns()
        assert columns["recall"][1] >= 0.9
        assert columns["precision"][1] >= 0.8


class TestGuarantee:
    @pytest.mark.parametrize("asked", [{"min_recall": 0.8}, {"min_recall": 0.5, "min_precision": 0.4}])
    def test_weights_come_first_and_no_rate_falls_by_a_review(self, asked):
        X, y = data(2000)
        matters = {1: cp.Preference(10, confidence=0.9, **asked)}
        plain = cp.search_weights(y, shares_of(X), preferences=matters, random_state=0)
        found = cp.search_weights(y, shares_of(X), preferences=matters, random_state=0, review=cp.Review(max_share=0.1))
        assert found.weights.tolist() == plain.weights.tolist()
        assert found.guarantee.items == plain.guarantee.items
        assert found.guarantee.given
        columns = found.review.columns()
        for rate in ("recall", "precision"):
            assert (np.array(columns[rate]) >= np.array(columns[f"{rate}_before"])).all()
        misses = found.review.counts.support[1] - found.review.counts.matrix[1, 1]
        assert misses <= plain.counts.support[1] - plain.counts.matrix[1, 1]

    def test_counts_of_a_person_are_right(self):
        counts = cp.Counts.from_matrix([[5, 1, 2], [0, 4, 3], [1, 1, 1]], ["a", "b", "c"])
        assert as_right(counts).matrix.tolist() == np.diag([8, 7, 3]).tolist()


@pytest.fixture(scope="module")
def votes():
    return calls_at_the_ratio(ROWS)


@pytest.fixture(scope="module", params=[0.0, 0.025], ids=["bare", "smoothed"])
def expected(request, votes):
    labels = np.array(LABELS)[plainly(votes, WEIGHTS, request.param)]
    decision = cp.Decision(LABELS, WEIGHTS, smoothing=request.param, review=RATIO)
    return decision, labels, plainly_reviewed(votes, WEIGHTS, RATIO, request.param)


class TestTheSameRowsEverywhere:
    def test_the_calls_are_hostile(self, votes):
        scores = np.sort(votes * WEIGHTS, axis=1)
        near = np.abs(scores[:, -1] / np.where(scores[:, -2] > 0, scores[:, -2] * RATIO, 1) - 1) < 1e-15
        assert near.sum() > 2_000

    @pytest.mark.parametrize("sparse", [False, True])
    def test_decide_and_json(self, expected, votes, sparse, tmp_path):
        decision, labels, flags = expected
        decision.to_json(tmp_path / "d.json")
        again = cp.Decision.from_json(tmp_path / "d.json")
        given = scipy.sparse.csr_array(votes) if sparse else votes
        results = [one.decide(given, return_review=True) for one in (decision, again)]
        results += [] if sparse else [predictor.decide(predictor.load(tmp_path / "d.json"), votes, return_review=True)]
        for found, review in results:
            assert found.tolist() == labels.tolist()
            assert review.tolist() == flags
        assert again.decide(given).tolist() == labels.tolist()

    @pytest.mark.parametrize("classes", [2, 3, predictor.FEW, predictor.FEW + 1])
    def test_few_and_many_classes_are_decided_alike(self, classes):
        weights = np.exp(np.random.default_rng(0).normal(size=classes))
        votes = calls_at_the_ratio(5_000, weights)
        labels, flags = cp.Decision(tuple(range(classes)), weights, review=RATIO).decide(votes, return_review=True)
        assert labels.tolist() == plainly(votes, weights)
        assert flags.tolist() == plainly_reviewed(votes, weights)

    def test_a_decision_without_review_sends_nobody(self):
        labels, flags = cp.Decision(("a", "b"), [1, 1]).decide([[1, 1], [0, 0]], return_review=True)
        assert labels.tolist() == ["a", "a"]
        assert not flags.any()

    def test_a_class_called_review_is_a_class(self):
        labels, flags = cp.Decision(("needs_review", "ok"), [1, 1], review=1.5).decide(
            [[3, 1], [1, 1.1]], return_review=True
        )
        assert labels.tolist() == ["needs_review", "ok"]
        assert flags.tolist() == [False, True]


class TestEstimators:
    def test_hold_search_and_carry_it(self):
        X, y = data()
        cap = cp.Review(max_share=0.1)
        assert len({cap, cp.Review(max_share=0.1)}) == 1
        for estimator in (
            cp.TunedDecisionClassifier(LogisticRegression(), review=cap, random_state=0),
            cp.TunedDecisionClassifier(RandomForestClassifier(20, random_state=0), review=cap, random_state=0),
            cp.PragmaForestClassifier(20, review=cap, random_state=0),
        ):
            fitted = pickle.loads(pickle.dumps(clone(estimator).fit(X, y)))
            assert fitted.review == cap
            labels, flags = fitted.predict(X, return_review=True)
            assert labels.tolist() == fitted.predict(X).tolist()
            again = fitted.decision_.decide(fitted.vote_shares(X), return_review=True)
            assert again[1].tolist() == flags.tolist()
            assert fitted.decision_.review == fitted.review_.ratio
            assert fitted.review_.share <= 0.1
            assert "to review" in str(fitted.tuning_).lower()

    def test_rows_that_every_tree_saw_are_no_rows_without_votes(self):
        X, y = data(60)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            forest = cp.PragmaForestClassifier(3, review=cp.Review(max_share=0.4), random_state=0).fit(X, y)
        assert forest.search_.left_out > 0
        assert forest.review_.unvoted == 0

    def test_without_review_nobody_looks(self):
        X, y = data()
        fitted = cp.TunedDecisionClassifier(LogisticRegression(), random_state=0).fit(X, y)
        assert fitted.review_ is None
        assert not fitted.predict(X, return_review=True)[1].any()

    def test_other_shares_plan_again(self):
        X, y = data()
        fitted = cp.TunedDecisionClassifier(LogisticRegression(), review=cp.Review(max_share=0.1), random_state=0).fit(
            X, y
        )
        assert fitted.with_prevalence([0.5, 0.5]).review_.share <= 0.1


class TestTheResult:
    def test_is_a_result(self):
        X, y = data()
        search = cp.search_weights(y, shares_of(X), review=cp.Review(max_share=0.1))
        found = search.review
        assert len(found.to_frame("pyarrow")) == 2
        document = json.loads(search.to_json())
        assert document["review"] == found.ratio
        assert document["reviewed"]["review"] == {"max_share": 0.1}
        assert cp.Decision.from_json(search.to_json()).review == found.ratio
        assert "| Reviewed |" in found.to_markdown()
        assert "with review" in found._repr_html_()
        assert "=== Review ===" in str(search)

    def test_of_new_rows(self):
        X, y = data()
        search = cp.search_weights(y, shares_of(X), review=cp.Review(max_share=0.1))
        X_new, y_new = data(seed=1)
        found = search.decision.review_on(y_new, shares_of(X_new))
        _, flags = search.decision.decide(shares_of(X_new), return_review=True)
        assert found.share == pytest.approx(flags.mean())
        assert found.allowed is None
        same = search.decision.review_on(cp.Votes.from_proba(y_new, shares_of(X_new)))
        assert same.counts.matrix.tolist() == found.counts.matrix.tolist()

    def test_evaluate_refuses_what_is_no_truth_value(self):
        for flags, words in (([0, 1], "int64"), ([True], "1 rows")):
            with pytest.raises(cp.InputError, match=words) as raised:
                cp.evaluate(["a", "b"], ["a", "a"], needs_review=flags)
            assert raised.value.parameter == "needs_review"
        right = cp.evaluate(["a", "b"], ["a", "a"], needs_review=[False, True])
        assert right.summary.accuracy == 1


def test_a_record_holds_the_review(tmp_path):
    X, y = data(2000)
    votes, matters = cp.Votes.from_proba(y, shares_of(X)), {1: cp.Preference(5, min_recall=0.8, confidence=0.9)}
    search = cp.search_weights(votes, preferences=matters, review=cp.Review(max_share=0.05), random_state=0)
    search.decision.record(votes, preferences=matters, search=search).to_json(tmp_path / "r.json")
    cp.evidence.write(votes, tmp_path / "e.json")
    again = cp.evaluation.Record.verify(tmp_path / "r.json", tmp_path / "e.json")
    assert again.decision.review == search.decision.review


@pytest.mark.parametrize(
    ("estimator", "cv", "review", "said"),
    [
        (RandomForestClassifier(30, random_state=0), "auto", cp.Review(at_most=9, per=90), "fewer trees"),
        (GaussianNB(), 3, cp.Review(max_share=0.1, confidence=0.9), "other fits"),
        (GaussianNB(), 3, cp.Review(max_share=0.1), None),
        (GaussianNB(), "prefit", cp.Review(at_most=9, per=90), None),
    ],
)
def test_a_cap_on_votes_of_other_fits_is_called_measured(estimator, cv, review, said):
    """No order statistic speaks of models that were fitted on other rows."""
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    fitted = estimator.fit(X[::2], y[::2]) if cv == "prefit" else estimator
    tuned = cp.TunedDecisionClassifier(fitted, cv=cv, review=review, random_state=0).fit(X[1::2], y[1::2])
    text = " ".join(str(tuned.review_).split())
    assert ("The confidence is measured, not proven" in text) == (said is not None)
    assert (said or "") in text
