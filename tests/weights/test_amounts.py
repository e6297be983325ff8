"""Costs that depend on the amount of each row: searches against brute force, and what carries amounts."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import compromis as cp
from compromis.errors import InputError
from compromis.measures.pragma import pragma
from compromis.uncertainty.report_intervals import report_intervals
from compromis.weights import Annealing, search_weights
from tests import naive_weights as naive
from tests.weight_cases import costing, small_problem

FRAUD = cp.Preferences(cost={("fraud", "ok"): "amount", ("ok", "fraud"): 5})


def check(seed: int) -> None:
    """The exact search reaches the best of all reachable decisions, with amounts, gains and capacities."""
    rng = np.random.default_rng(seed)
    votes, y, bounds = small_problem(seed, capacities=seed % 3 == 1)
    classes = votes.shape[1]
    amount = rng.choice([0.0, 0.5, 1.0, 7.0, 30.25], len(y)) + (np.arange(len(y)) == 0)
    cells = rng.integers(-2, 6, (classes, classes)).astype(object)
    cells[0, 1] = cells[classes - 1, rng.integers(classes)] = "amount"
    preferences = costing(cells, bounds)
    given = {"preferences": preferences, "labels": range(classes), "amount": amount}
    arrays = preferences.on(range(classes))
    voted = np.flatnonzero(votes.sum(axis=1) > 0)
    values = []
    for decision in naive.reachable(votes):
        cost = sum(
            arrays.cost[y[i], k] + arrays.by_amount[y[i], k] * amount[i] for i, k in zip(voted, decision, strict=True)
        )
        over = np.bincount(decision, minlength=classes) / len(voted) - arrays.max_share
        values.append((round(over[over > 1e-12].sum(), 12), cost / len(voted)))
    best = min(values)
    search = search_weights(y, votes, method="exact", random_state=0, **given)
    assert search.optimal
    assert search.feasible == (best[0] == 0)
    assert search.loss == pytest.approx(pragma(search.counts, arrays).total)
    assert search.loss <= best[1] + 1e-9 or best[0] > 0
    for method in ("sweep", Annealing(300)):
        other = search_weights(y, votes, method=method, random_state=0, **given)
        assert other.loss >= search.loss - 1e-9 or not other.feasible


@pytest.mark.parametrize("seed", range(60))
def test_amounts_against_brute_force(seed):
    check(seed)


@pytest.mark.parametrize("seed", range(20))
def test_two_classes_against_every_threshold(seed):
    """The best of all thresholds on a probability, each written out row by row."""
    rng = np.random.default_rng(seed)
    score, y = rng.uniform(0.02, 0.98, 300).round(rng.integers(2, 9)), np.where(rng.random(300) < 0.2, "fraud", "ok")
    amount = rng.lognormal(3, 1.5, 300)
    search = search_weights(
        y, np.column_stack([score, 1 - score]), preferences=FRAUD, labels=["fraud", "ok"], amount=amount
    )
    flagged = score >= np.array([*np.unique(score), 2.0])[:, np.newaxis]
    costs = np.where(y == "fraud", np.where(flagged, 0.0, amount), np.where(flagged, 5.0, 0.0)).mean(axis=1)
    assert search.optimal
    assert search.loss == pytest.approx(costs.min(), rel=1e-12)


def test_an_amount_that_is_refused_is_called_so():
    with pytest.raises(cp.InputError, match=r"^amount is too large to add up") as caught:
        search_weights([0, 1], [[1, 2], [2, 1]], preferences=costing([[0, "amount"], [1, 0]]), amount=[1e300, 1])
    assert caught.value.parameter == "amount"


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_an_amount_of_one_is_a_cost_of_one(classes):
    rng = np.random.default_rng(classes)
    votes, y = rng.integers(0, 6, (200, classes)) + 0.25, rng.integers(0, classes, 200)
    fixed = np.ones((classes, classes)) - np.eye(classes)
    varying = np.where(np.arange(classes)[:, np.newaxis] == 0, "amount", fixed.astype(object))
    varying[0, 0] = 0
    for merge in (True, False):
        patterns = cp.Votes.from_proba(y, votes, amount=np.ones(200), merge=merge)
        one = search_weights(patterns, preferences=costing(varying), random_state=0)
        other = search_weights(cp.Votes.from_proba(y, votes, merge=merge), preferences=costing(fixed), random_state=0)
        np.testing.assert_array_equal(one.counts.matrix, other.counts.matrix)
        assert one.loss == pytest.approx(other.loss)
        assert one.optimal == other.optimal


def rows(seed=0, size=4000):
    """Transactions: fraud is larger, and a score that sees a part of it."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(size) < 0.05, "fraud", "ok")
    amount = rng.lognormal(np.where(y == "fraud", 4.0, 3.0), 1.0)
    X = np.column_stack([(y == "fraud") * 1.5 + rng.normal(size=size), np.log(amount)])
    return X, y, amount


def test_an_evaluation_by_amounts_adds_up():
    """Row by row, for labels, for probabilities and weights; missing large amounts costs more than missing small ones."""
    X, y, amount = rows()
    predicted = np.where(X[:, 0] > 1.2, "fraud", "ok")
    paid = np.where(
        (y == "fraud") & (predicted == "ok"), amount, np.where((y == "ok") & (predicted == "fraud"), 5.0, 0.0)
    )
    result = cp.evaluate(y, predicted, preferences=FRAUD, amount=amount, confidence=0.95)
    assert result.summary.total_cost == pytest.approx(paid.sum())
    assert result.summary.loss == pytest.approx(paid.mean())
    assert result.per_class["fraud"].loss == pytest.approx(paid[y == "fraud"].mean())
    assert result.intervals.summary["loss"].low < paid.mean() < result.intervals.summary["loss"].high
    assert {"accuracy", "average_cost"} <= set(result.intervals.summary)
    constant = {one.label: one.loss for one in result.verdict.baselines if one.label}
    assert constant["ok"] == pytest.approx(amount[y == "fraud"].sum() / len(y))
    assert constant["fraud"] == pytest.approx(5 * (y == "ok").mean())
    assert result.verdict.state == "better"
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = cp.evaluate(y, predicted, preferences=FRAUD, amount=amount, sample_weight=weight)
    assert weighted.summary.loss == pytest.approx(np.average(paid, weights=weight))
    shares = np.column_stack([predicted == "fraud", predicted == "ok"]).astype(float)
    by_shares = cp.evaluate(y, y_proba=shares, labels=["fraud", "ok"], preferences=FRAUD, amount=amount)
    assert by_shares.summary.loss == pytest.approx(paid.mean())
    assert "Average cost beside" in by_shares.to_html()


def test_a_better_result_on_large_amounts_is_seen():
    """The same counts, but one misses the small frauds and one the large ones."""
    _, y, amount = rows()
    frauds = np.flatnonzero(y == "fraud")
    small = frauds[np.argsort(amount[frauds])][: len(frauds) // 2]
    large = np.setdiff1d(frauds, small)
    results = []
    for missed in (small, large):
        predicted = y.copy()
        predicted[missed] = "ok"
        results.append(cp.evaluate(y, predicted, preferences=FRAUD, amount=amount))
    good, poor = results
    assert good.summary.loss < poor.summary.loss / 3
    assert good.verdict.baseline.loss == pytest.approx(poor.verdict.baseline.loss)


def test_intervals_count_effective_rows_of_unequal_amounts():
    """Of 200 samples of lognormal amounts 92 % held the mean cost; counting rows, as if amounts were equal, 74 %."""
    truth, held = np.exp(3.5) * 0.3 * 0.5, 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y = np.where(rng.random(2000) < 0.3, "fraud", "ok")
        predicted = np.where((y == "fraud") & (rng.random(2000) < 0.5), "fraud", "ok")
        counts = cp.Counts.from_predictions(y, predicted, amount=rng.lognormal(3, 1.0, 2000))
        interval = report_intervals(counts, arrays=FRAUD.on(counts.classes), draws=300).summary["loss"]
        held += interval.low <= truth <= interval.high
    assert held >= 34


def test_a_fit_by_amounts():
    X, y, amount = rows()
    tuned = cp.TunedDecisionClassifier(LogisticRegression(), preferences=FRAUD, random_state=0).fit(X, y, amount=amount)
    assert tuned.verdict_.state == "better"
    assert tuned.loss_ < amount[y == "fraud"].sum() / len(y)
    new_X, new_y, new_amount = rows(seed=1)
    equal = cp.evaluate(new_y, tuned.estimator_.predict(new_X), preferences=FRAUD, amount=new_amount)
    after = cp.evaluate(new_y, tuned.predict(new_X), preferences=FRAUD, amount=new_amount)
    assert after.summary.loss < equal.summary.loss
    forest = cp.PragmaForestClassifier(20, preferences=FRAUD, random_state=0).fit(X, y, amount=amount)
    assert forest.loss_ < amount[y == "fraud"].sum() / len(y)


def test_a_guarantee_beside_amounts():
    """Halves and classes alone keep the amounts of their rows."""
    rng = np.random.default_rng(0)
    y = rng.choice(3, 1500, p=[0.2, 0.4, 0.4])
    votes = rng.dirichlet(np.ones(3), 1500) + np.eye(3)[y]
    costs = costing(np.array([[0, "amount", "amount"], [2, 0, 1], [2, 1, 0]], dtype=object))
    for bound in ({"min_recall": 0.8}, {"min_recall": 0.8, "min_precision": 0.3}):
        preferences = cp.Preferences({0: {**bound, "confidence": 0.9}}, cost=costs.cost, labels=costs.labels)
        search = search_weights(y, votes, preferences=preferences, amount=rng.lognormal(1, 1, 1500), random_state=0)
        assert search.loss == pytest.approx(pragma(search.counts, preferences.on(range(3))).total)


def test_evidence_with_amounts_adds_up_and_is_kept(tmp_path):
    X, y, amount = rows()
    predicted = np.where(X[:, 0] > 1.2, "fraud", "ok")
    votes = np.column_stack([np.clip(np.rint(X[:, 0] + 3), 0, 9), np.full(len(y), 4.0)])
    half = slice(0, 2000), slice(2000, None)
    for whole, parts in (
        (
            cp.Counts.from_predictions(y, predicted, amount=amount),
            [cp.Counts.from_predictions(y[part], predicted[part], amount=amount[part]) for part in half],
        ),
        (
            cp.Votes.from_proba(y, votes, amount=amount, merge=True),
            [cp.Votes.from_proba(y[part], votes[part], amount=amount[part], merge=True) for part in half],
        ),
    ):
        cp.evidence.write(parts[0] + parts[1], tmp_path / "evidence.json")
        again = cp.evidence.read(tmp_path / "evidence.json").evidence
        one, other = (item if isinstance(item, cp.Counts) else item.counts([1.0, 1.0]) for item in (whole, again))
        np.testing.assert_allclose(one.amounts, other.amounts)
        np.testing.assert_allclose(one.amount_squares, other.amount_squares)
        assert cp.evaluate(again, preferences=FRAUD).summary.loss == pytest.approx(
            cp.evaluate(whole, preferences=FRAUD).summary.loss
        )
        with pytest.raises(InputError, match=r"with amounts .*without do not add up"):
            whole + (
                cp.Counts.from_predictions(y, predicted)
                if isinstance(whole, cp.Counts)
                else cp.Votes.from_proba(y, votes)
            )
    document = json.loads((tmp_path / "evidence.json").read_text())
    document["evidence"]["amount_squares"] = None
    (tmp_path / "spoiled.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match="amounts and the sums of their squares belong together"):
        cp.evidence.read(tmp_path / "spoiled.json")


def test_frames_count_and_search_amounts():
    X, y, amount = rows()
    score = np.clip(np.rint(X[:, 0] + 3), 0, 9).astype(int)
    frame = pd.DataFrame({"t": y, "d": np.where(X[:, 0] > 1.2, "fraud", "ok"), "fraud": score, "ok": 4, "a": amount})
    counts = cp.Counts.from_frame(frame, truth="t", prediction="d", amount="a")
    memory = cp.Counts.from_predictions(y, frame["d"], amount=amount)
    np.testing.assert_allclose(counts.amounts, memory.amounts)
    np.testing.assert_allclose(counts.amount_squares, memory.amount_squares)
    assert cp.frames.evaluate(
        frame, truth="t", prediction="d", amount="a", preferences=FRAUD
    ).summary.loss == pytest.approx(cp.evaluate(memory, preferences=FRAUD).summary.loss)
    found = cp.frames.search_weights(frame, truth="t", proba=["fraud", "ok"], amount="a", preferences=FRAUD)
    here = search_weights(y, frame[["fraud", "ok"]], preferences=FRAUD, amount=amount, random_state=0)
    assert found.search.loss == pytest.approx(here.loss)
    np.testing.assert_array_equal(found.search.counts.matrix, here.counts.matrix)
    own = pd.DataFrame({"t": y, "fraud": X[:, 0] - X[:, 0].min() + 0.1, "ok": 4.0, "a": amount})
    bigger = pd.concat([own] * 6, ignore_index=True)
    bigger["fraud"] += np.linspace(0, 1e-3, len(bigger))
    assert len(bigger) > 20_000
    with pytest.raises(InputError, match="a search in passes carries no amounts"):
        cp.frames.search_weights(bigger, truth="t", proba=["fraud", "ok"], amount="a", preferences=FRAUD)
    with pytest.raises(InputError, match="amount and weight do not go together in a data frame"):
        cp.Counts.from_frame(frame, truth="t", prediction="d", amount="a", weight="ok")


def test_a_new_prevalence_keeps_the_mean_amounts():
    _, y, amount = rows()
    votes = np.column_stack([np.arange(len(y)) % 7 + 1, np.full(len(y), 3)])
    rarer = cp.Votes.from_proba(y, votes, amount=amount).with_prevalence({"fraud": 0.01, "ok": 0.99})
    mean = amount[y == "fraud"].mean()
    assert rarer.amount[rarer.truth == 0].sum() / rarer.multiplicity[rarer.truth == 0].sum() == pytest.approx(mean)
    counts = cp.Counts.from_predictions(y, y, amount=amount).with_prevalence({"fraud": 0.01, "ok": 0.99})
    assert counts.amounts[0, 0] / counts.matrix[0, 0] == pytest.approx(mean)


SHORT, PLAIN = ["fraud", "ok", "ok"], cp.Preferences(cost={("fraud", "ok"): 1, ("ok", "fraud"): 1})
PROBA = [[0.5, 0.5], [0.2, 0.8], [0.7, 0.3]]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: cp.evaluate(SHORT, SHORT, preferences=FRAUD),
            "amount is missing: a decision costs",
        ),
        (
            lambda: search_weights(SHORT, PROBA, preferences=FRAUD),
            "amount is missing: a decision costs",
        ),
        (
            lambda: cp.evaluate(SHORT, SHORT, preferences=PLAIN, amount=[1, 2, 3]),
            "amount is given, but no decision costs it",
        ),
        (lambda: cp.evaluate(SHORT, SHORT, amount=[1, 2, 3]), "amount is given, but no decision costs it"),
        (lambda: search_weights(SHORT, PROBA, preferences=PLAIN, amount=[1, 2, 3]), "amount is given, but no decision"),
        (
            lambda: cp.evaluate(SHORT, SHORT, preferences=FRAUD, amount=[1, np.nan, 3]),
            "amount must be finite and at least 0",
        ),
        (
            lambda: cp.evaluate(SHORT, SHORT, preferences=FRAUD, amount=[1, -2, 3]),
            "amount must be .*at least 0, got -2 in row 1",
        ),
        (
            lambda: cp.evaluate(SHORT, SHORT, preferences=FRAUD, amount=[1, 2]),
            r"amount has shape \(2,\), but there are 3 rows",
        ),
        (
            lambda: cp.evaluate(SHORT, SHORT, preferences=FRAUD, amount=[1, 2, 3], groups=[1, 1, 2]),
            "amount and groups do not go together",
        ),
        (
            lambda: cp.TunedDecisionClassifier(LogisticRegression(), preferences=PLAIN).fit(
                [[0], [1], [2]], SHORT, amount=[1, 2, 3]
            ),
            "amount is given, but no decision costs it",
        ),
        (
            lambda: cp.weights.weight_sweep(
                cp.Votes.from_proba(SHORT, PROBA, amount=[1, 2, 3]), label="ok", preferences=FRAUD
            ),
            "a weight sweep counts rows",
        ),
        (
            lambda: cp.compare_models(SHORT, {"a": SHORT, "b": SHORT}, preferences=FRAUD),
            "compare_models knows no amounts",
        ),
        (
            lambda: cp.panel(cp.Votes.from_proba(SHORT, PROBA, amount=[1, 2, 3]), preferences=FRAUD),
            "the panel holds no amounts",
        ),
        (lambda: cp.Preferences(cost={("a", "b"): "amounts"}), "or 'amount' for the amount of the row"),
    ],
)
def test_amounts_that_do_not_fit(call, said):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(InputError, match=said) as caught:
            call()
    assert "\n" not in str(caught.value)


def test_amounts_in_words_and_in_a_file(tmp_path):
    assert "'fraud' predicted as 'ok' costs the amount of the row" in FRAUD.describe()
    assert FRAUD.cost == ((0.0, "amount"), (5.0, 0.0))
    assert cp.Preferences(cost=[[0, "amount"], [5, 0]], labels=["fraud", "ok"]) == FRAUD
    assert eval(repr(FRAUD), {"Preferences": cp.Preferences, "Preference": cp.Preference}) == FRAUD
    FRAUD.to_toml(tmp_path / "fraud.toml")
    assert cp.Preferences.from_toml(tmp_path / "fraud.toml") == FRAUD
    assert "matrix" in (tmp_path / "fraud.toml").read_text()


def test_cross_validation_and_scores_by_amount():
    """Row by row: the pooled cost, the score of an estimator and of a scorer, and what a grid search picks by them."""
    X, y, amount = rows()
    labels = sorted(set(y))

    def paid(predicted):
        return np.where(
            (y == "fraud") & (predicted == "ok"), amount, np.where((y == "ok") & (predicted == "fraud"), 5.0, 0.0)
        )

    folds = list(StratifiedKFold(3).split(X, y))
    tuned = cp.TunedDecisionClassifier(LogisticRegression(), preferences=FRAUD, random_state=0)
    result = cp.cross_evaluate(tuned, X, y, preferences=FRAUD, cv=folds, amount=amount)
    predicted = np.empty(len(y), dtype=y.dtype)
    for train, test in folds:
        predicted[test] = clone(tuned).fit(X[train], y[train], amount=amount[train]).predict(X[test])
    assert result.summary.loss == pytest.approx(paid(predicted).mean())
    fitted = tuned.fit(X, y, amount=amount)
    score = 1 - paid(fitted.predict(X)).mean()
    assert fitted.score(X, y, amount=amount) == pytest.approx(score)
    assert cp.pragma_loss(y, fitted.predict(X), preferences=FRAUD, labels=labels, amount=amount) == pytest.approx(
        1 - score
    )
    with config_context(enable_metadata_routing=True):
        asked = clone(tuned).set_fit_request(amount=True).set_score_request(amount=True)
        grid = GridSearchCV(asked, {"estimator__C": [1e-6, 1.0]}, cv=folds).fit(X, y, amount=amount)
        scorer = cp.pragma_scorer(FRAUD).set_score_request(amount=True)
        assert scorer(fitted, X, y, amount=amount) == pytest.approx(score)
        by_scorer = GridSearchCV(asked, {"estimator__C": [1e-6, 1.0]}, cv=folds, scoring=scorer).fit(
            X, y, amount=amount
        )
    assert grid.best_score_ == by_scorer.best_score_ == grid.cv_results_["mean_test_score"].max()
    assert np.isfinite(grid.cv_results_["mean_test_score"]).all()
    means = [1 - paid(predicted)[test].mean() for _, test in folds]
    assert grid.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(means))


@pytest.mark.parametrize("given", [{}, {"amount": np.ones(3)}])
def test_amounts_are_looked_at_before_anything_is_fitted(given):
    class Never(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            raise AssertionError("fitted")

    X, y, _ = rows()
    tuned = cp.TunedDecisionClassifier(Never(), preferences=FRAUD)
    with pytest.raises(cp.InputError, match="amount") as raised:
        tuned.fit(X, y, **given)
    assert raised.value.parameter == "amount"
    with pytest.raises(cp.InputError, match="amount"):
        cp.cross_evaluate(tuned, X, y, preferences=FRAUD, **given)
