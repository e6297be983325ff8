"""Stratified samples: intervals against Beta quantiles and against rows drawn with equal chances, the verdict, comparisons."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import beta, binom, chisquare

import compromis as cp
from compromis.evidence.strata import Strata
from compromis.uncertainty.draws import TILTS
from compromis.uncertainty.judgement import judge
from compromis.uncertainty.paired_tests import compare_paired

PREFERENCES = cp.Preferences({1: cp.Preference(10, 0.3, 0.8)})


def sampled(tables, sizes, classes=(0, 1)):
    """Counts of a sample: for each stratum its table."""
    strata = cp.evidence.Sample.from_strata(
        list("abcdefgh"[: len(sizes)]), sizes=dict(zip("abcdefgh", sizes, strict=False))
    ).strata
    return cp.Counts.from_tables(strata, np.array(tables), classes)


def test_a_precision_in_one_stratum_has_betas_quantiles():
    counts = sampled([[[57, 0], [3, 0]], [[0, 12], [0, 28]]], [10**8, 10**7])
    interval = cp.evaluate(counts, confidence=0.95).intervals.per_class[1]["precision"]
    ends = [beta.ppf([0.025, 0.975], 28 + right, 12 + wrong) for wrong, right in TILTS]
    assert interval.low == pytest.approx(min(end[0] for end in ends), abs=0.02)  # 1,000 draws
    assert interval.high == pytest.approx(max(end[1] for end in ends), abs=0.02)
    assert interval.value == pytest.approx(0.7)


def test_one_stratum_of_equal_chances_is_an_ordinary_sample():
    table = np.array([[880, 20], [30, 70]])
    sample, plain = sampled([table], [10**7]), cp.Counts.from_matrix(table, [0, 1])
    for name in ("recall", "precision"):
        one, other = (cp.evaluate(counts, confidence=0.95).intervals.per_class[1][name] for counts in (sample, plain))
        assert one.value == pytest.approx(other.value)
        assert one.width == pytest.approx(other.width, rel=0.1)


def test_a_recall_rests_on_the_stratum_where_a_row_weighs_most():
    """Nothing is missed among 100 of 20,000 quiet rows: the lower bound still knows that something may be."""
    counts = sampled([[[100, 0], [0, 0]], [[0, 20], [0, 80]]], [20_000, 400])
    interval = cp.evaluate(counts, confidence=0.95).intervals.per_class[1]["recall"]
    assert interval.value == 1
    assert interval.high == 1
    assert interval.low < 0.5
    more = sampled([[[5000, 0], [0, 0]], [[0, 20], [0, 80]]], [20_000, 400])
    assert cp.evaluate(more, confidence=0.95).intervals.per_class[1]["recall"].low > 0.95


def test_the_verdict_knows_a_model_from_a_coin():
    rng, arrays, better = np.random.default_rng(4), PREFERENCES.on((0, 1)), [0, 0]
    for _ in range(40):
        truth = (rng.random(4000) < 0.1).astype(int)
        coin, model = (rng.random(4000) < 0.1).astype(int), np.where(rng.random(4000) < 0.95, truth, 1 - truth)
        for number, predicted in enumerate((coin, model)):
            plan = cp.model_selection.plan_labels(predicted, budget=300, preferences=PREFERENCES, random_state=1)
            counts = cp.Counts.from_predictions(truth[plan.rows], predicted[plan.rows], labels=[0, 1], sample=plan)
            better[number] += judge(counts, arrays).state == "better"
    assert better[0] <= 4
    assert better[1] >= 36


def test_costs_are_judged_too():
    counts = sampled([[[197, 0], [3, 0]], [[0, 20], [0, 80]]], [2_000, 400])
    verdict = cp.evaluate(counts, preferences=cp.Preferences(cost=[[0, 1], [5, 0]], labels=[0, 1])).verdict
    assert verdict.loss == pytest.approx((30 * 5 + 80) / 2400)
    assert verdict.state == "better"


def test_labelled_rows_are_what_is_called_few():
    counts = sampled([[[95, 0], [5, 0]], [[0, 2], [0, 8]]], [20_000, 4_000])
    result = cp.evaluate(counts, preferences=PREFERENCES, confidence=0.95)
    assert result.intervals.too_few == ((1, 13),)
    assert result.verdict.few_predictions == ((1, 10.0),)
    assert "too few labelled rows" in result.full()


def test_differences_of_two_models_hold_the_truth():
    rng, held, sizes = np.random.default_rng(6), 0, {"flagged": 600, "quiet": 9_400}
    shares = {
        "flagged": [0.3, 0.2, 0.3, 0.2],
        "quiet": [0.90, 0.06, 0.03, 0.01],
    }  # of truth x whether the second model agrees
    true = recall_difference(shares, sizes)
    for _ in range(200):
        rows = []
        for name, drawn in (("flagged", 80), ("quiet", 200)):
            cell = rng.choice(4, drawn, p=shares[name])
            first = np.full(drawn, int(name == "flagged"))
            rows.append((np.full(drawn, name), cell // 2, first, np.where(cell % 2, 1 - first, first)))
        names, truth, first, second = (np.concatenate(part) for part in zip(*rows, strict=True))
        sample = cp.evidence.Sample.from_strata(names, sizes=sizes)
        paired = cp.PairedCounts.from_predictions(truth, first, second, labels=[0, 1], sample=sample)
        found = compare_paired(paired, measure="balanced_accuracy", draws=400)
        held += true in found.difference.difference
        assert np.isnan(found.mcnemar.mid_p)
    assert 180 <= held <= 199


def recall_difference(shares, sizes):
    cells = np.zeros((2, 2, 2))
    for name, first in (("flagged", 1), ("quiet", 0)):
        for cell, share in enumerate(shares[name]):
            cells[cell // 2, first, 1 - first if cell % 2 else first] += sizes[name] * share
    recalls = [[cells[k].take(k, axis=axis).sum() / cells[k].sum() for k in (0, 1)] for axis in (0, 1)]
    return float(np.mean(recalls[0]) - np.mean(recalls[1]))


def test_weights_are_searched_for_the_population():
    """The search on a sample finds what the search on its rows, each repeated as often as it stands for, finds."""
    rng = np.random.default_rng(8)
    truth, names = rng.integers(0, 2, 120), np.repeat(["flagged", "quiet"], 60)
    votes = np.clip(rng.normal(0.4 + 0.2 * truth, 0.2), 0.01, 0.99)
    matrix = np.column_stack([1 - votes, votes])
    sample = cp.evidence.Sample.from_strata(names, sizes={"flagged": 120, "quiet": 600})
    found = cp.search_weights(truth, matrix, preferences=PREFERENCES, labels=[0, 1], sample=sample)
    times = np.where(names == "flagged", 2, 10)
    repeated = cp.search_weights(
        np.repeat(truth, times), np.repeat(matrix, times, axis=0), preferences=PREFERENCES, labels=[0, 1]
    )
    assert found.loss == pytest.approx(repeated.loss, rel=1e-9)
    np.testing.assert_allclose(found.weights, repeated.weights)
    assert found.counts.strata is not None


def test_random_rows_are_a_random_sample_of_the_population():
    """Every pair of rows of the population is among them as often, whatever the strata and how many of each were labelled."""
    rng = np.random.default_rng(3)
    strata, sizes, labelled = np.repeat([0, 1, 2], [9, 4, 2]), (9, 4, 2), (4, 3, 2)
    together = np.zeros((15, 15))
    for number in range(6_000):  # other names, other rows
        names = np.array([f"{letter}{number}" for letter in "abc"])
        rows = np.concatenate([rng.permutation(np.flatnonzero(strata == k))[:n] for k, n in enumerate(labelled)])
        sample = cp.evidence.Sample.from_strata(names[strata[rows]], sizes=dict(zip(names, sizes, strict=True)))
        votes = cp.Votes.from_proba(
            rows % 2, np.column_stack([rows + 1.0, np.ones(len(rows))]), labels=[0, 1], sample=sample
        )
        random = votes.random_rows(0.0005)
        taken = rows[random.multiplicity > 0]
        assert (random.rows, random.strata) == (3, None)  # four rows would be four of the second stratum in 1 of 1,365
        together[np.ix_(taken, taken)] += 1
    single, pairs = np.diag(together), together[np.triu_indices(15, 1)]
    assert chisquare(single).statistic < 40  # 14 degrees of freedom
    assert chisquare(pairs).statistic < 160  # 104


def test_a_population_that_is_labelled_whole_is_its_own_random_sample():
    sample = cp.evidence.Sample.from_strata([*"abbbcc"], sizes={"a": 1, "b": 3, "c": 2})
    votes = cp.Votes.from_proba([0, 1] * 3, np.arange(1, 7) / 7, sample=sample)
    assert votes.random_rows(0.001).multiplicity.tolist() == [1] * 6


def planned(rng, labels=400):
    """Votes of a class of 10 % and a sample in which the rows predicted as it were drawn eight times as often."""
    truth = (rng.random(12_000) < 0.1).astype(np.int64)
    share = 1 / (1 + np.exp(-rng.normal(3.0 * truth - 1.5)))
    flagged = share > 0.5
    rows = np.concatenate([rng.choice(np.flatnonzero(flagged == kind), labels // 2, replace=False) for kind in (0, 1)])
    names = np.array(["quiet", "flagged"])[flagged.astype(int)]
    sizes = {"quiet": int((~flagged).sum()), "flagged": int(flagged.sum())}
    return truth[rows], share[rows], cp.evidence.Sample.from_strata(names[rows], sizes=sizes)


def test_a_guarantee_rests_on_the_random_rows_of_a_sample(tmp_path):
    truth, share, sample = planned(np.random.default_rng(5))
    preferences = cp.Preferences({1: cp.Preference(0.1, 0.9, 0.1, min_recall=0.7, confidence=0.9)})
    votes = cp.Votes.from_proba(truth, share, pos_label=1, sample=sample)
    search = cp.search_weights(votes, preferences=preferences, random_state=0)
    guarantee = search.guarantee
    drawn = guarantee.drawn
    assert (guarantee.given, drawn.of) == (True, 400)
    assert 200 < drawn.rows < 260  # as many as ask the quiet stratum for its 200 labels, and seldom for more
    taken = votes.random_rows(0.002).multiplicity  # two hundredths of the risk
    own, flagged = taken[truth == 1], search.decision.decide(np.column_stack([1 - share, share])) == 1
    item = guarantee.items[0]
    assert (item.rows, item.wrong) == (own.sum(), own[~flagged[truth == 1]].sum())
    assert binom.cdf(item.allowed, item.rows, 0.3) <= 0.098 < binom.cdf(item.allowed + 1, item.rows, 0.3)
    assert (
        f"{drawn.rows} of the 400 labels: those that are a random sample of the population" in guarantee.sentences()[1]
    )
    for seed in range(5):  # nobody can choose among random rows
        assert cp.search_weights(votes, preferences=preferences, random_state=seed).guarantee.items == guarantee.items
    cp.evidence.write(votes, tmp_path / "evidence.json")
    record = search.decision.record(votes, preferences=preferences, search=search)
    record.to_json(tmp_path / "record.json")
    verified = cp.evaluation.Record.verify(tmp_path / "record.json", tmp_path / "evidence.json")
    assert verified.guarantee.items == guarantee.items
    assert str(drawn) in verified.limits()
    document = json.loads((tmp_path / "record.json").read_text())
    document["guarantee"]["drawn"]["rows"] += 1
    (tmp_path / "record.json").write_text(json.dumps(document))
    with pytest.raises(cp.InputError, match=r"record\.json"):
        cp.evaluation.Record.verify(tmp_path / "record.json", tmp_path / "evidence.json")


@pytest.mark.parametrize("asked", [{"min_recall": 0.7}, {"min_recall": 0.7, "min_precision": 0.2}])
def test_a_stratum_without_labels_gives_no_guarantee(asked):
    truth, share, sample = planned(np.random.default_rng(5))
    strata = Strata(names=("flagged", "quiet", "unknown"), sizes=np.append(sample.strata.sizes, 5_000))
    wanted = {1: cp.Preference(10, 0.1, 0.9, confidence=0.9, **asked)}
    with pytest.warns(cp.GuaranteeWarning, match="not given"):
        search = cp.search_weights(
            truth,
            share,
            pos_label=1,
            preferences=wanted,
            sample=cp.evidence.Sample(strata=strata, stratum=sample.stratum),
        )
    assert search.guarantee.drawn.rows == 0
    assert {item.level for item in search.guarantee.items} == {0.0}
