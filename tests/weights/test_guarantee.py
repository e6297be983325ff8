"""Guarantees: exact bounds against sums of binomial terms, the least weight against every cell, what the other weights may know."""

import warnings
from fractions import Fraction
from math import comb

import numpy as np
import pandas
import pytest
from scipy.optimize import minimize
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

import compromis as cp
from compromis.weights.guarantee import Demand, held_level, misses_allowed, rows_needed
from compromis.weights.guarded import halves, with_guarantee
from compromis.weights.problem import Meter, SearchProblem
from compromis.weights.sweep import Sweep
from tests.stress.promise_28_guarantee import SETTINGS, check_deployment
from tests.stress.promise_28c_least_weight import check_least_weight


def plain_search(problem):
    return Sweep(rounds=3).search(problem, np.random.default_rng(0), Meter(None, None, None)).candidates[0]


def problem_of(y, votes, preferences=None, smoothing=0.0):
    labels = list(range(np.shape(votes)[1]))
    read = cp.Votes.from_proba(y, votes, labels=labels)
    return SearchProblem.read(read, preferences, smoothing=smoothing, max_ratio=None)


def held(problem, demands, search, generator):
    return with_guarantee(problem, demands, search(problem), search, generator)


def exact_cdf(most, rows, chance):
    return sum(comb(rows, i) * chance**i * (1 - chance) ** (rows - i) for i in range(most + 1))


@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(4, 5), Fraction(19, 20)])
@pytest.mark.parametrize("confidence", [Fraction(9, 10), Fraction(99, 100)])
@pytest.mark.parametrize("rows", [0, 1, 5, 29, 60, 150])
def test_the_most_misses_whose_probability_is_small_enough(rows, level, confidence):
    allowed = misses_allowed(rows, float(level), float(confidence))
    risk = 1 - confidence
    assert allowed < 0 or exact_cdf(allowed, rows, 1 - level) <= risk
    assert allowed == rows == 0 or exact_cdf(allowed + 1, rows, 1 - level) > risk


def test_rows_needed_without_a_miss():
    assert [rows_needed(0.0, level, 0.95) for level in (0.9, 0.95, 0.98, 0.99)] == [29, 59, 149, 299]
    assert rows_needed(0.06, 0.95, 0.95) is None


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize(
    ("rows", "wrong", "level"), [(20, 3, 0.8), (7, 1, 0.7), (50, 2, 0.95), (1, 0, 0.9), (4, 0, 0.3)]
)
def test_the_rows_that_are_needed_would_do(rows, wrong, level, confidence):
    needed = rows_needed(wrong / rows, level, confidence, beyond=rows)
    assert needed > rows
    share = Fraction(wrong, rows)
    assert misses_allowed(needed, level, confidence) >= share * needed
    assert rows_needed(0.0, 1 - 1e-12, confidence) > 10**12


def test_what_twenty_rows_hold():
    assert held_level(20, 0, 0.95) == pytest.approx(0.05 ** (1 / 20), abs=1e-12)
    assert held_level(20, 20, 0.95) == 0.0


@pytest.mark.parametrize("seed", range(40))
def test_the_least_weight_of_all_cells(seed):
    check_least_weight(seed)


@pytest.mark.parametrize("rows", [60, 200])
def test_two_classes_follow_the_order_statistic(rows):
    rng = np.random.default_rng(rows)
    y = np.repeat([0, 1], [500, rows])
    share = np.clip(rng.normal(np.where(y == 1, 0.6, 0.3), 0.15), 0.01, 0.99)
    flat = cp.Preferences({1: cp.Preference(1e-9, min_recall=0.9)})  # nothing but the guarantee asks for a recall
    weights, guarantee = held(
        problem_of(y, np.column_stack([1 - share, share]), flat), [Demand(1, "recall", 0.9, 0.95)], plain_search, rng
    )
    threshold = weights[0] / weights.sum()
    scores = np.sort(share[y == 1])
    allowed = max(m for m in range(rows) if exact_cdf(m, rows, Fraction(1, 10)) <= Fraction(1, 20))
    below = share[share < scores[allowed]].max()
    assert below < threshold < scores[allowed]
    assert guarantee.given
    assert guarantee.items[0].wrong == guarantee.items[0].allowed == allowed


def npcs(y, votes, most_wrong):
    """Weights of Neyman-Pearson classification by costs (Tian and Feng, JASA 2025): at the maximum of the dual, which infeasible bounds lack."""
    share, bounded = np.bincount(y) / len(y), np.flatnonzero(most_wrong < 1)

    def at(logs):
        logs = np.minimum(logs, 10.0)
        costs = np.full(len(share), 1 / len(share))
        costs[bounded] += np.exp(logs)
        decided = (votes * costs / share).argmax(axis=1)
        return costs / share, np.array([(decided[y == k] != k).mean() for k in range(len(share))])

    def dual(logs):
        logs = np.minimum(logs, 10.0)
        wrong = at(logs)[1]
        return -wrong.mean() - np.exp(logs) @ (wrong - most_wrong)[bounded]

    start = np.full((len(bounded) + 1, len(bounded)), -1.5) + 2 * np.eye(len(bounded) + 1, len(bounded))
    options = {"maxfev": 80, "initial_simplex": start}
    return at(minimize(dual, start[-1], method="Nelder-Mead", options=options).x)[0]


def three_classes(seed, rows):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1, 2], [rows // 2, rows // 4, rows // 4]))
    votes = np.exp(rng.normal(size=(rows, 3)) + rng.uniform(0.5, 2) * np.eye(3)[y])
    return y, votes / votes.sum(axis=1, keepdims=True), rng.uniform(0.5, 0.85, size=2)


@pytest.mark.filterwarnings("ignore::compromis.GuaranteeWarning")
def test_feasible_where_the_published_algorithm_for_three_classes_is():
    """Its weights at the level asked for and above: on the rows themselves, and found on one half and tested on the other."""
    found = np.zeros(2, dtype=int)
    for seed in range(25):
        y, votes, levels = three_classes(seed, 600)
        asked, half = np.append(1 - levels, 1.0), np.arange(600) < 300
        on_rows = on_halves = False
        for stricter in (1.0, 0.8, 0.6):
            bounds = np.append(stricter * asked[:2], 1.0)
            decided = (votes * npcs(y, votes, bounds)).argmax(axis=1)
            on_rows |= all((decided[y == k] == k).mean() >= levels[k] for k in (0, 1))
            decided = (votes[~half] * npcs(y[half], votes[half], bounds)).argmax(axis=1)
            own = [decided[y[~half] == k] == k for k in (0, 1)]
            on_halves |= all((~one).sum() <= misses_allowed(len(one), levels[k], 0.9) for k, one in enumerate(own))
        minima = {k: cp.Preference(min_recall=levels[k]) for k in (0, 1)}
        assert not on_rows or cp.search_weights(y, votes, preferences=minima, random_state=0).feasible
        sure = {k: cp.Preference(min_recall=levels[k], confidence=0.9) for k in (0, 1)}
        found += on_rows, on_halves
        given = cp.search_weights(y, votes, preferences=sure, random_state=seed).guarantee.given
        assert given or not on_halves
    assert (found >= 5).all()


def test_the_other_weights_do_not_know_the_guarded_rows():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2, 3], [300, 200, 100, 80])
    votes = rng.dirichlet(np.ones(4), size=len(y)) + np.eye(4)[y] * rng.random((len(y), 1))
    demands = [Demand(2, "recall", 0.8, 0.95)]
    first, _ = held(problem_of(y, votes), demands, plain_search, rng)
    votes[y == 2] = rng.dirichlet(np.ones(4), size=100)
    second, _ = held(problem_of(y, votes), demands, plain_search, rng)
    np.testing.assert_allclose(np.delete(first, 2) / first[0], np.delete(second, 2) / second[0], rtol=1e-14)
    assert first[2] / first[0] < second[2] / second[0]


def test_too_few_rows_give_the_most_that_can_be_had():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [200, 20])
    votes = rng.dirichlet([2, 2], size=220)
    _, guarantee = held(problem_of(y, votes), [Demand(1, "recall", 0.95, 0.95)], plain_search, rng)
    item = guarantee.items[0]
    assert not guarantee.given
    assert (item.wrong, item.rows_missing) == (0, 39)
    assert item.level == pytest.approx(0.8609, abs=1e-4)


def test_a_path_holds_several_constraints():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], [2000, 800, 400])
    votes = np.exp(rng.normal(size=(3200, 3)) + 2 * np.eye(3)[y])
    demands = [Demand(2, "recall", 0.6, 0.95), Demand(2, "precision", 0.5, 0.95), Demand(1, "recall", 0.5, 0.9)]
    problem = problem_of(y, votes)
    weights, guarantee = held(problem, demands, plain_search, rng)
    assert guarantee.given
    assert guarantee.method == "path"
    assert all(item.wrong <= item.allowed for item in guarantee.items)
    other = halves(problem, demands, guarantee.half)[1].votes  # the half that did not give the path
    assert other.rows == 1600
    assert guarantee.items[0].rows == other.support[2]
    assert np.isfinite(weights).all()


def test_a_precision_is_tested_on_a_half_that_may_have_other_shares():
    """Halves of each class have the same rows of each: a class that was rare by chance was rare in both, and 80 of 500 were broken."""
    setting = next(one for one in SETTINGS if one.votes == "alike")
    broken = [check_deployment(setting, seed)[f"{setting.name}|broken"] for seed in range(300)]
    assert sum(broken) <= 27  # 5 %, and 3 standard errors


def test_a_path_needs_the_rows_of_both_halves():
    y = np.repeat([0, 1], [40, 40])
    sure = {k: cp.Preference(min_recall=0.9, confidence=0.95) for k in (0, 1)}
    with pytest.warns(cp.GuaranteeWarning, match="label 18 more rows of the class"):
        short = cp.search_weights(y, np.eye(2)[y] + 0.1, preferences=sure, random_state=0)
    assert [item.rows for item in short.guarantee.items] == [20, 20]
    enough = np.repeat([0, 1], [58, 58])
    assert cp.search_weights(enough, np.eye(2)[enough] + 0.1, preferences=sure, random_state=0).guarantee.given


def test_no_row_at_all_is_no_mistake():
    sure = {k: cp.Preference(min_recall=0.9, confidence=0.95) for k in (0, 1)}
    with pytest.warns(cp.GuaranteeWarning):
        search = cp.search_weights([0, 1], np.eye(2), preferences=sure, random_state=0)
    assert {item.rows_missing for item in search.guarantee.items if not item.rows} == {58}


def test_the_level_that_rows_without_a_vote_for_the_class_leave():
    """Their number chose the weight: by Clopper and Pearson alone the level was broken in 33 % of deployments at 80 %."""
    share = np.r_[[0.0, 0.0, 0.3, 0.6, 0.9], np.linspace(0, 1, 300)]
    votes, y = np.column_stack([share, np.ones(305)]), np.repeat([0, 1], [5, 300])
    sure = {0: cp.Preference(0.01, 0.9, 0.1, min_recall=0.99, confidence=0.8)}
    with pytest.warns(cp.GuaranteeWarning, match="with 2 wrong"):
        search = cp.search_weights(y, votes, labels=[0, 1], preferences=sure)
    assert search.guarantee.items[0].level == pytest.approx(held_level(5, 2, 0.9) * held_level(3, 0, 0.9))


def test_rows_without_votes_are_not_covered():
    y, votes = fraud()
    votes[:40] = 0
    with pytest.warns(cp.GuaranteeWarning, match="it leaves out 40 rows without any vote"):
        search = cp.search_weights(y, votes, preferences=SURE, labels=["fraud", "ok"])
    assert search.guarantee.document()["left_out"] == 40
    assert "leaves out 40 rows" in str(search).replace("\n", " ")


def test_sample_weights_are_refused():
    read = cp.Votes.from_proba([0, 0, 1], [[2, 1], [1, 1], [1, 2]], sample_weight=[1.0, 0.5, 2.0])
    problem = SearchProblem.read(read, None, smoothing=0.0, max_ratio=None)
    with pytest.raises(cp.InputError, match="leave sample weights out"):
        held(problem, [Demand(1, "recall", 0.5, 0.9)], plain_search, np.random.default_rng(0))


def fraud(rows=150, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(["fraud", "ok"], [rows, 2000])
    share = 1 / (1 + np.exp(-rng.normal(np.where(y == "fraud", 1.0, -1.5))))
    return y, np.column_stack([share, 1 - share])


SURE = {"fraud": cp.Preference(10, 0.1, 0.9, min_recall=0.95, confidence=0.95)}


def test_a_search_gives_its_guarantee():
    search = cp.search_weights(*fraud(), preferences=SURE, labels=["fraud", "ok"])
    (item,) = search.guarantee.items
    assert (item.rows, item.allowed, item.level) == (150, 2, 0.95)
    assert item.wrong == search.counts.matrix[0, 1] <= 2
    assert "Guarantee: recall of 'fraud' at least 0.95 on new rows" in str(search).replace("\n", " ")
    assert search.guarantee.price[0].recall_after >= 0.98
    assert "=== Price of the guarantee ===" in str(search)  # shown, never hidden
    assert search.document()["guarantee"]["given"] is True


def test_a_tuned_estimator_gives_its_guarantee():
    y, votes = fraud()
    prefit = FrozenEstimator(LogisticRegression().fit(votes[::2, :1], y[::2]))
    model = cp.TunedDecisionClassifier(prefit, preferences=SURE, cv="prefit", random_state=0).fit(
        votes[1::2, :1], y[1::2]
    )
    assert model.guarantee_ is model.tuning_.guarantee
    assert model.guarantee_.items[0].rows == 75
    assert "=== Price of the guarantee ===" in str(model.tuning_)


def test_too_few_rows_warn_and_can_be_an_error():
    y, votes = fraud(rows=30)
    with pytest.warns(cp.GuaranteeWarning, match="label 29 more rows of the class") as caught:
        search = cp.search_weights(y, votes, preferences=SURE, labels=["fraud", "ok"])
    assert [(one.filename, str(one.message)[:21]) for one in caught] == [(__file__, "guarantee not given: ")]
    assert not search.guarantee.given
    assert search.counts.matrix[0, 1] == 0  # the largest level that can be had
    model = cp.PragmaForestClassifier(10, preferences=SURE, random_state=0)
    with pytest.warns(cp.GuaranteeWarning) as caught:
        model.fit(votes, y)
    assert {one.filename for one in caught if one.category is cp.GuaranteeWarning} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error", cp.GuaranteeWarning)
        with pytest.raises(cp.GuaranteeWarning):
            cp.search_weights(y, votes, preferences=SURE, labels=["fraud", "ok"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"confidence": 0.95}, "give one of them"),
        ({"confidence": 0, "min_recall": 0.5}, "both excluded"),
        ({"confidence": 1.0, "min_recall": 0.5}, "below 1"),
        ({"confidence": 0.9, "min_recall": 1.0}, "no number of rows"),
        ({"confidence": 95, "min_recall": 0.5}, "write 0.95"),
    ],
)
def test_a_confidence_that_means_nothing_is_refused(arguments, sentence):
    with pytest.raises(cp.InputError, match=sentence):
        cp.Preference(**arguments)


def test_what_a_guarantee_cannot_stand_beside():
    y, votes = fraud()
    with pytest.raises(cp.InputError, match="leave max_ratio out"):
        cp.search_weights(y, votes, preferences=SURE, labels=["fraud", "ok"], max_ratio=4)
    with pytest.raises(cp.InputError, match="leave sample weights out"):
        cp.search_weights(y, votes, preferences=SURE, labels=["fraud", "ok"], sample_weight=np.arange(1.0, len(y) + 1))
    only = {"absent": cp.Preference(min_recall=0.5, confidence=0.9)}
    with pytest.raises(cp.InputError, match="no row of class 'absent'"):
        cp.search_weights(y, np.column_stack([votes, votes[:, 0]]), preferences=only, labels=["fraud", "ok", "absent"])


def test_a_confidence_survives_its_file(tmp_path):
    preferences = cp.Preferences(SURE)
    preferences.to_toml(tmp_path / "wanted.toml")
    assert "confidence = 0.95" in (tmp_path / "wanted.toml").read_text()
    assert cp.Preferences.from_toml(tmp_path / "wanted.toml") == preferences


def test_other_class_shares_and_groups_are_refused_beside_a_guarantee():
    y, votes = fraud()
    prefit = FrozenEstimator(LogisticRegression().fit(votes[::2, :1], y[::2]))
    model = cp.TunedDecisionClassifier(prefit, preferences=SURE, cv="prefit", random_state=0).fit(votes[:, :1], y)
    with pytest.raises(cp.InputError, match="a guaranteed recall holds for other class shares"):
        model.with_prevalence({"fraud": 0.5, "ok": 0.5})
    grouped = cp.TunedDecisionClassifier(LogisticRegression(), preferences=SURE, random_state=0)
    with pytest.raises(cp.InputError, match="leave groups out, or confidence"):
        grouped.fit(votes, y, groups=np.arange(len(y)) // 2)


def test_a_guarantee_on_rounded_votes_says_so():
    """Decided without rounding, the recall of such weights was up to 0.02 below that of the rounded votes."""
    y, votes = fraud()
    frame = pandas.DataFrame({"y": y, "fraud": votes[:, 0], "ok": votes[:, 1]})
    rounded = cp.Votes.from_frame(frame, truth="y", proba=["fraud", "ok"], bins=20)
    with pytest.warns(cp.GuaranteeWarning, match=r"rounded to multiples of 0\.05: round those of new rows alike"):
        guarantee = cp.search_weights(rounded, preferences=SURE, random_state=0).guarantee
    assert guarantee.document()["step"] == pytest.approx(0.05)
    assert "step" not in cp.search_weights(y, votes, preferences=SURE, labels=["fraud", "ok"]).guarantee.document()


def test_the_text_gives_the_price_of_the_classes_that_it_shows():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(15), 40)
    votes = rng.random((600, 15)) + 2 * np.eye(15)[y]
    sure = {14: cp.Preference(10, min_recall=0.5, confidence=0.9)}
    search = cp.search_weights(y, votes, preferences=sure, method=Sweep(rounds=0), random_state=0)
    shown, price = search.text_tables()
    assert [row[0] for row in price.rows] == [row[0] for row in shown.rows]
    assert len(price.rows) == 12
    assert price.rows[0][0] == "14"
    assert len(search.tables()[1].rows) == 15
