"""Class shares that move: estimates against textbook formulas, coverage by simulation, weights for new shares, the monitor."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy.optimize import brentq, minimize, minimize_scalar

import compromis as cp


def saerens(p, priors, steps=20_000):
    """The paper's own two lines, repeated until nothing moves."""
    shares = np.array(priors, dtype=float)
    for _ in range(steps):
        posterior = p * shares / priors
        posterior /= posterior.sum(axis=1, keepdims=True)
        shares, before = posterior.mean(axis=0), shares
        if np.abs(shares - before).max() < 1e-13:
            break
    return shares


def screened(rng, rows, share, prior, apart=2.0):
    """Who is sick, and the probability of it calibrated to the share `prior`; the likelihood ratio is known exactly."""
    sick = rng.random(rows) < share
    odds = np.exp(apart * (rng.normal(apart * sick) - apart / 2)) * prior / (1 - prior)
    return sick.astype(int), odds / (1 + odds)


class TestEm:
    def test_the_papers_iteration_and_another_optimiser(self, rng):
        priors = np.array([0.5, 0.3, 0.2])
        for _ in range(5):
            p = rng.dirichlet([0.4, 0.3, 0.5], 300)
            found = cp.drift.prevalence_by_em(p, priors=priors).shares
            assert np.allclose(found, saerens(p, priors), atol=1e-6)

            def loss(logits, p=p):
                shares = np.exp(np.append(logits, 0))
                return -np.log(p / priors @ (shares / shares.sum())).sum()

            best = minimize(
                loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 9999}
            )
            shares = np.exp(np.append(best.x, 0))
            assert np.allclose(found, shares / shares.sum(), atol=1e-4)

    def test_standard_errors_are_those_of_the_curvature(self, rng):
        _, p = screened(rng, 3000, 0.2, 0.05)
        found = cp.drift.prevalence_by_em(p, priors=[0.95, 0.05]).by_class[1]
        density = np.column_stack([(1 - p) / 0.95, p / 0.05])
        height = lambda t: np.log((1 - t) * density[:, 0] + t * density[:, 1]).sum()  # noqa: E731
        h, t = 1e-4, found.value
        error = 1 / sqrt(-(height(t + h) - 2 * height(t) + height(t - h)) / h**2)
        logit = np.log(t / (1 - t)) + np.array([-1, 1]) * 1.959964 * error / (t * (1 - t))
        assert np.allclose([found.low, found.high], 1 / (1 + np.exp(-logit)), rtol=1e-3)

    def test_a_class_that_is_gone(self, rng):
        """Rows twice as unlikely to be sick as healthy people are, so that the likelihood falls from a share of 0 on."""
        _, p = screened(rng, 2000, 0.0, 0.3)
        p = p / (2 - p)
        assert (p / 0.3 / ((1 - p) / 0.7)).mean() < 1
        found = cp.drift.prevalence_by_em(p, priors=[0.7, 0.3]).by_class[1]
        assert found.low == 0
        assert 0 <= found.value < 1e-6

        def fallen(t):  # by half the square of 1.96 below the top, which is at 0
            return np.log((1 - t) * (1 - p) / 0.7 + t * p / 0.3).sum() - np.log((1 - p) / 0.7).sum() + 1.959964**2 / 2

        assert found.high == pytest.approx(brentq(fallen, 1e-6, 0.5), rel=1e-3)

    def test_a_rare_class_is_not_a_third_of_all(self):
        """Found by review: 0.15 % with an interval of 0.0004 to 36.8 %, where the likelihood says 0 to 1.6 %."""
        _, p = screened(np.random.default_rng(10), 500, 0.005, 0.05, apart=2.5)
        found = cp.drift.prevalence_by_em(p, priors=[0.95, 0.05]).by_class[1]
        assert (found.low, found.high) == (0, pytest.approx(0.016, abs=0.001))

    def test_a_class_that_is_gone_may_be_gone(self, rng):
        """A share of 0 lies in the interval of every estimate that the rows allow to be 0; on the scale of logits in 71 %."""
        held = 0
        for _ in range(100):
            _, p = screened(rng, 500, 0.0, 0.05, apart=2.5)
            held += 0 in cp.drift.prevalence_by_em(p, priors=[0.95, 0.05]).by_class[1]
        assert held >= 93

    def test_the_bounds_of_a_rare_class_among_three_leave_the_others_free(self, rng):
        """The largest likelihood with the rare share at its bound, by another optimiser, is half the square of 1.96 below the top."""
        priors, centre = np.array([0.6, 0.3, 0.1]), np.array([[0, 0], [2, 0], [1, 1.6]])
        y = rng.choice(3, 400, p=[0.6, 0.38, 0.02])
        p = np.exp(-0.5 * ((rng.normal(size=(400, 2)) + centre[y])[:, np.newaxis] - centre) ** 2).prod(axis=2) * priors
        density = p / p.sum(axis=1, keepdims=True) / priors
        found = cp.drift.prevalence_by_em(density * priors, priors=priors)
        top = np.log(density @ found.shares).sum()

        def best_at(share):
            others = lambda part: -np.log(density @ [part * (1 - share), (1 - part) * (1 - share), share]).sum()  # noqa: E731
            return -minimize_scalar(others, bounds=(0, 1), method="bounded", options={"xatol": 1e-10}).fun

        interval = found.intervals[2]
        for bound in {interval.low, interval.high} - {0.0}:
            assert best_at(bound) == pytest.approx(top - 1.959964**2 / 2, abs=2e-3)

    def test_a_share_can_come_back_from_an_extrapolation_that_would_end_it(self):
        """Found by a property test: the leap set the first share to 0, from which no step leads away."""
        votes, old = np.array([[0, 1, 1]] * 3 + [[1, 0, 1], [2, 0, 1]]), np.array([1, 3, 2]) / 6
        density = votes / votes.sum(axis=1, keepdims=True) / old
        found = cp.drift.prevalence_by_em(votes, priors=old).shares
        grid = np.arange(1, 1000) / 1000
        rivals = np.column_stack([grid, np.zeros(999), 1 - grid])  # the second share is 0 at the top
        heights = np.log(density @ rivals.T).sum(axis=0)
        assert found == pytest.approx(rivals[heights.argmax()], abs=2e-3)
        assert np.log(density @ found).sum() >= heights.max()

    def test_rows_without_votes_and_frames(self):
        polars = pytest.importorskip("polars", reason="polars is not installed")
        frame = polars.DataFrame({"b": [0.1, 0.9, 0.0], "a": [0.9, 0.1, 0.0]})
        found = cp.drift.prevalence_by_em(frame, priors={"a": 0.5, "b": 0.5})
        assert found.rows == 2
        assert found.shares == pytest.approx([0.5, 0.5], abs=1e-6)
        assert "by expectation maximisation (95 % confidence)" in str(found)
        assert found.to_frame("polars").columns == ["label", "share", "low", "high"]

    @pytest.mark.parametrize(
        ("votes", "options", "said"),
        [
            ([[0.5, np.nan]], {"priors": [0.5, 0.5]}, "y_proba must be finite, got nan in row 0, column 1"),
            ([[0.5, -1]], {"priors": [0.5, 0.5]}, "must not be negative"),
            ([[0.5, 0.5]], {"priors": [1.0, 0.0]}, "the prior share of 1 is 0"),
            ([[0.0, 0.0]], {"priors": [0.5, 0.5]}, "no row with votes"),
            ([[0.5, 0.5]], {"priors": {"a": 1}, "labels": ["a", "b"]}, "priors misses 'b'"),
            ([[0.5, 0.5]], {"priors": ["x", "y"]}, "priors must be numbers, one share per class"),
            ([[0.5, 0.5]], {"priors": [0.5, 0.5], "confidence": 95}, "for 95 % write 0.95"),
        ],
    )
    def test_mistakes(self, votes, options, said):
        with pytest.raises(cp.InputError, match=said):
            cp.drift.prevalence_by_em(votes, **options)


class TestConfusion:
    def test_rogan_and_gladen(self):
        """Two classes: the formula of 1978 and its variance, every rate from a finite sample."""
        reference = cp.Counts.from_matrix([[9500, 500], [200, 1800]], ["no", "yes"])
        sensitivity, specificity, q, rows = 0.9, 0.95, 0.135, 20_000
        found = cp.drift.prevalence_by_confusion(["yes"] * 2700 + ["no"] * 17_300, reference=reference).by_class["yes"]
        share = (q + specificity - 1) / (sensitivity + specificity - 1)
        variance = q * (1 - q) / rows + share**2 * sensitivity * (1 - sensitivity) / 2000
        variance += (1 - share) ** 2 * specificity * (1 - specificity) / 10_000
        error = sqrt(variance) / (sensitivity + specificity - 1)
        assert found.value == pytest.approx(share, rel=1e-12)
        assert found.high - found.value == pytest.approx(1.959964 * error, rel=2e-3)

    def test_weights_of_labelled_rows_are_no_rows(self, rng):
        """Rogan and Gladen's variance with Kish's numbers of rows, whatever the unit of the weights."""
        truth = rng.random(400) < 0.4
        predicted, weight = truth ^ (rng.random(400) < 0.15), rng.lognormal(size=400)
        new = [True] * 70 + [False] * 130
        for unit in (1e-3, 1.0, 1e3):
            reference = cp.Counts.from_predictions(truth, predicted, sample_weight=unit * weight)
            found = cp.drift.prevalence_by_confusion(new, reference=reference).by_class[True]
            rows = [weight[part].sum() ** 2 / (weight[part] ** 2).sum() for part in (truth, ~truth)]
            sensitivity, specificity = (
                np.average(predicted[part] == truth[part], weights=weight[part]) for part in (truth, ~truth)
            )
            first, second = (  # with half a row right and half a row wrong more, as a rate of 0 is not known to be 0
                (rate * size + 0.5) / (size + 1) for rate, size in zip((sensitivity, specificity), rows, strict=True)
            )
            variance = 0.35 * 0.65 / 200 + found.value**2 * first * (1 - first) / rows[0]
            variance += (1 - found.value) ** 2 * second * (1 - second) / rows[1]
            error = sqrt(variance) / (sensitivity + specificity - 1)
            assert found.high - found.value == pytest.approx(1.959964 * error, rel=2e-3)

    def test_more_alarms_missing_than_false_ones_explain(self):
        reference = cp.Counts.from_matrix([[900, 100], [10, 90]], ["no", "yes"])
        found = cp.drift.prevalence_by_confusion(["no"] * 1000, reference=reference)
        assert found.shares.tolist() == [1.0, 0.0]
        assert not found.plausible
        assert "more than the shares has changed" in str(found)

    def test_a_class_without_labelled_rows_has_no_share(self):
        reference = cp.Counts.from_matrix([[90, 10, 0], [10, 90, 0], [0, 0, 0]], ["a", "b", "c"])
        assert cp.drift.prevalence_by_confusion(["a", "b"] * 50, reference=reference).shares.tolist() == pytest.approx(
            [0.5, 0.5, 0]
        )

    def test_mistakes(self):
        blind = cp.Counts.from_matrix([[50, 50], [50, 50]], ["a", "b"])
        with pytest.raises(cp.InputError, match="do not tell the classes apart"):
            cp.drift.prevalence_by_confusion(["a"], reference=blind)
        with pytest.raises(cp.InputError, match="labels misses 'x'"):
            cp.drift.prevalence_by_confusion(["x"], reference=blind)
        with pytest.raises(cp.InputError, match="got list"):
            cp.drift.prevalence_by_confusion(["a"], reference=[[1]])


def coverage(rng, trials, share, rows, prior=0.05, apart=2.0):
    """How often the intervals of both methods hold the true share."""
    held = np.zeros(2)
    for _ in range(trials):
        _, p = screened(rng, rows, share, prior, apart)
        sick, told = screened(rng, 4000, prior, prior, apart)
        cut = prior  # predicted where the likelihood ratio is above 1
        reference = cp.Counts.from_predictions(sick, (told > cut).astype(int), labels=[0, 1])
        by_em = cp.drift.prevalence_by_em(p, priors=[1 - prior, prior])
        by_confusion = cp.drift.prevalence_by_confusion((p > cut).astype(int), reference=reference)
        held += [share in by_em.by_class[1], share in by_confusion.by_class[1]]
    return held / trials


def test_intervals_hold_what_they_promise(rng):
    assert (coverage(rng, 200, 0.2, 1000) > 0.905).all()  # 95 % less three standard errors of 200 trials


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.005, 0.02, 0.05, 0.2, 0.5])
@pytest.mark.parametrize("rows", [500, 5000])
def test_intervals_hold_what_they_promise_everywhere(rng, share, rows):
    assert (coverage(rng, 1000, share, rows) > 0.89).all()


class TestNewShares:
    def test_counts_and_patterns_weigh_alike(self):
        votes, y = [[3, 1], [2, 2], [0, 4], [1, 3]], ["a", "a", "a", "b"]
        patterns = cp.Votes.from_proba(y, votes)
        moved = patterns.with_prevalence({"a": 0.2, "b": 0.8}).counts([1.0, 1.0])
        assert moved.matrix == pytest.approx(patterns.counts([1.0, 1.0]).with_prevalence([0.2, 0.8]).matrix)
        assert moved.support / moved.support.sum() == pytest.approx([0.2, 0.8])
        assert moved.matrix.sum() == pytest.approx(4)

    @pytest.mark.parametrize(("before", "after"), [(0.005, 0.2), (0.2, 0.005), (0.05, 0.2)])
    @pytest.mark.parametrize("metric", ["f", "kulczynski"])
    def test_weights_for_true_new_shares_do_as_well_as_new_labels(self, before, after, metric):
        """Pure prior shift: at most 5 % more loss than weights tuned on as many new labels, on rows of neither."""
        rng = np.random.default_rng(7)
        preferences = cp.Preferences(
            {1: cp.Preference(5, precision_at_full_recall=0.3, recall_at_full_precision=0.8)}, metric=metric
        )
        old_y, old_p = screened(rng, 40_000, before, before)
        new_y, new_p = screened(rng, 40_000, after, before)
        test_y, test_p = screened(rng, 200_000, after, before)
        patterns = cp.Votes.from_proba(old_y, old_p)
        moved = cp.search_weights(patterns.with_prevalence([1 - after, after]), preferences=preferences, random_state=0)
        again = cp.search_weights(new_y, new_p, preferences=preferences, random_state=0)
        stale = cp.search_weights(patterns, preferences=preferences, random_state=0)
        lost = [
            cp.evaluate(test_y, search.decision.decide(test_p), preferences=preferences).summary.loss
            for search in (moved, again, stale)
        ]
        assert lost[0] <= 1.05 * lost[1]
        if metric == "f":  # by the plane, weights matter little here
            assert lost[2] > 1.1 * lost[1]  # something had to be done

    def test_three_classes_of_a_forest(self):
        from sklearn.ensemble import RandomForestClassifier

        rng = np.random.default_rng(0)
        middle = np.array([[0, 0, 0], [1.5, 0, 1], [0, 1.7, -1]])

        def draw(rows, shares):
            y = rng.choice(3, rows, p=shares)
            return middle[y] + rng.normal(size=(rows, 3)), y

        old, new = [0.945, 0.05, 0.005], [0.7, 0.1, 0.2]
        X, y = draw(20_000, old)
        preferences = cp.Preferences(
            {2: cp.Preference(5, precision_at_full_recall=0.3, recall_at_full_precision=0.8)}, metric="f"
        )
        tuned = cp.TunedDecisionClassifier(
            RandomForestClassifier(100, min_samples_leaf=5, random_state=0),
            votes="proba",
            preferences=preferences,
            resamples=0,
            random_state=0,
        ).fit(X, y)
        moved = tuned.with_prevalence(new)
        labelled_X, labelled_y = draw(20_000, new)
        again = cp.search_weights(labelled_y, tuned.predict_proba(labelled_X), preferences=preferences, random_state=0)
        test_X, test_y = draw(50_000, new)
        proba = tuned.predict_proba(test_X)
        assert moved.predict(test_X[:1000]).tolist() == moved.decision_.decide(proba[:1000]).tolist()
        loss = lambda decision: cp.pragma_loss(test_y, decision.decide(proba), preferences=preferences)  # noqa: E731
        assert loss(moved.decision_) <= 1.05 * loss(again.decision)

    def test_where_the_assumption_fails(self):
        """The sick look different in the new place: no shares repair that, new labels do; the monitor tells the two apart."""
        rng = np.random.default_rng(3)
        preferences = cp.Preferences(
            {1: cp.Preference(5, precision_at_full_recall=0.3, recall_at_full_precision=0.8, min_recall=0.6)},
            metric="f",
        )
        old_y, old_p = screened(rng, 40_000, 0.05, 0.05, apart=3.0)
        decision = cp.search_weights(old_y, old_p, preferences=preferences, random_state=0).decision
        mild_y = (rng.random(40_000) < 0.2).astype(int)
        odds = np.exp(3.0 * (rng.normal(1.0 * mild_y) - 1.5)) * 0.05 / 0.95  # a milder form, the same model
        reference = cp.Counts.from_predictions(old_y, decision.decide(old_p))
        now = cp.Counts.from_predictions(mild_y, decision.decide(odds / (1 + odds)))
        found = cp.monitor({"now": now}, preferences=preferences, reference=reference)
        assert not found.met
        assert found.periods[0].loss > 1.5 * found.periods[0].loss_expected
        assert "the rows of 1 are predicted differently" in found.periods[0].advice
        estimate = cp.drift.prevalence_by_em(odds / (1 + odds), priors=[0.95, 0.05])
        assert estimate.by_class[1].high < 0.15  # far from the truth of 0.2, and sure of it


@pytest.mark.parametrize("votes", [[[6, 9, 7], [0, 0, 9]], [[0, 7, 9], [6, 2, 7]]])
def test_bounds_of_shares_widen_with_the_confidence_where_rows_are_few(votes):
    """Two rows say next to nothing; how their bounds are found must not depend on the confidence."""
    shares = np.array(votes) / np.sum(votes, axis=1, keepdims=True)
    priors = {"a": 0.2, "b": 0.3, "c": 0.5}
    narrow, wide = (cp.drift.prevalence_by_em(shares, priors=priors, confidence=level) for level in (0.9, 0.95))
    for inner, outer in zip(narrow.intervals, wide.intervals, strict=True):
        assert outer.low <= inner.low + 1e-9
        assert inner.high <= outer.high + 1e-9
