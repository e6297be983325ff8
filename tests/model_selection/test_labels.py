"""plan_labels and labels_needed: what is drawn, from what, how often, and what is said of it."""

from __future__ import annotations

import json
import time
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import compromis as cp
from compromis.model_selection import LabelPlan, labels_needed, plan_labels
from compromis.model_selection.allocation import LEAST

ROWS = 6_000
RNG = np.random.default_rng(25)
TRUTH = np.where(RNG.random(ROWS) < 0.05, "fraud", "ok")
SCORE = 1 / (1 + np.exp(5 - 2.5 * RNG.normal(1.6 * (TRUTH == "fraud"))))
PROBA = pd.DataFrame({"fraud": SCORE, "ok": 1 - SCORE})
PREDICTED = np.where(SCORE > 0.25, "fraud", "ok")
JUDGE = np.where(RNG.random(ROWS) < 0.9, TRUTH, np.where(TRUTH == "ok", "fraud", "ok"))
WANTED = cp.Preferences({"fraud": cp.Preference(10, 0.1, 0.9)})
KINDS = {
    "predictions": (PREDICTED, {}),
    "predictions and judge": (PREDICTED, {"judge": JUDGE}),
    "votes": (PROBA, {"weights": {"fraud": 3, "ok": 1}}),
    "votes and judge": (PROBA, {"weights": {"fraud": 3, "ok": 1}, "judge": JUDGE}),
    "votes of a judge": (PROBA, {"judge": np.column_stack([JUDGE == "fraud", JUDGE == "ok"]).astype(float)}),
    "array": (PROBA.to_numpy(), {"labels": ["fraud", "ok"], "judge": list(JUDGE)}),
}


def plan(kind="votes and judge", budget=240, **options):
    given, more = KINDS[kind]
    return plan_labels(given, budget=budget, preferences=WANTED, **{"random_state": 1, **more, **options})


@pytest.mark.parametrize("kind", KINDS)
def test_a_plan_holds_together(kind):
    made = plan(kind)
    assert len(made.rows) == len(set(made.rows.tolist())) == 240
    assert list(made.rows) == sorted(made.rows)
    assert made.strata.sizes.sum() == ROWS
    drawn = np.bincount(made.stratum, minlength=len(made.strata))
    np.testing.assert_array_equal(drawn, made.drawn)
    np.testing.assert_allclose(made.probability, (drawn / made.strata.sizes)[made.stratum])
    assert (drawn >= np.minimum(LEAST, made.strata.sizes)).all()
    assert made.weight.sum() == pytest.approx(ROWS)
    proportional = made.strata.sizes / ROWS * 240
    assert (drawn >= 0.5 * proportional - 3).all()  # half of the labels follow the rows, whatever was guessed


def test_the_scores_of_one_class_are_votes():
    options = {"budget": 240, "labels": ["fraud", "ok"], "random_state": 1}
    one = plan_labels(SCORE, pos_label="fraud", **options)
    np.testing.assert_array_equal(one.rows, plan_labels(PROBA.to_numpy(), **options).rows)
    named = plan_labels(PREDICTED, pos_label="fraud", **options)
    np.testing.assert_array_equal(named.rows, plan_labels(PREDICTED, **options).rows)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_draws_the_same_rows_and_a_file_keeps_them(kind, tmp_path):
    made = plan(kind)
    np.testing.assert_array_equal(plan(kind).rows, made.rows)
    assert plan(kind, random_state=2).rows.tolist() != made.rows.tolist()
    made.to_json(tmp_path / "plan.json")
    back = LabelPlan.from_json(tmp_path / "plan.json")
    assert str(back) == str(made)
    assert back.to_json() == made.to_json()
    counts = cp.Counts.from_predictions(TRUTH[made.rows], PREDICTED[made.rows], sample=made)
    again = cp.Counts.from_predictions(TRUTH[back.rows], PREDICTED[back.rows], sample=back)
    np.testing.assert_array_equal(counts.matrix, again.matrix)


def test_strata_are_made_of_prediction_opinion_and_margin():
    made = plan()
    votes = PROBA.to_numpy() * [3, 1]
    predicted = np.array(["fraud", "ok"])[votes.argmax(axis=1)]
    margin = np.abs(votes[:, 0] - votes[:, 1]) / votes.sum(axis=1)
    step = np.minimum((margin * 16).astype(int), 15)
    cells = {tuple(cell): h for cell, h in zip(made.population.cells.tolist(), made.stratum_of.tolist(), strict=True)}
    sizes = np.zeros(len(made.strata), dtype=int)
    for row in range(ROWS):
        sizes[cells[int(predicted[row] == "ok"), int(JUDGE[row] == "ok"), step[row]]] += 1
    np.testing.assert_array_equal(sizes, made.strata.sizes)
    for row, stratum in zip(made.rows.tolist(), made.stratum.tolist(), strict=True):
        assert cells[int(predicted[row] == "ok"), int(JUDGE[row] == "ok"), step[row]] == stratum
    for h in range(len(made.strata)):
        own = made.population.cells[made.stratum_of == h]
        assert len({*own[:, 0].tolist()}) == 1
        assert len({*(own[:, 1] == own[:, 0]).tolist()}) == 1


def test_every_row_of_a_stratum_has_the_same_chance():
    small = PREDICTED[:60].copy()
    small[:12] = "fraud"
    often = np.zeros(60)
    for seed in range(200):
        often[plan_labels(small, budget=20, labels=["fraud", "ok"], random_state=seed).rows] += 1
    made = plan_labels(small, budget=20, labels=["fraud", "ok"], random_state=0)
    chance = (made.drawn / made.strata.sizes)[[int(made.classes.index(label)) for label in small]]
    deviation = np.sqrt(200 * chance * (1 - chance))
    assert (np.abs(often - 200 * chance) < 4.5 * np.maximum(deviation, 1)).all()


def test_estimates_are_unbiased_and_close():
    errors = []
    true = float(((TRUTH == "fraud") & (PREDICTED == "fraud")).sum())
    for seed in range(60):
        made = plan("predictions and judge", random_state=seed)
        counts = cp.Counts.from_predictions(TRUTH[made.rows], PREDICTED[made.rows], sample=made)
        errors.append(counts.matrix[0, 0] - true)
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(60)


def phases(counts=True, **options):
    first = plan(**options)
    seen = cp.Counts.from_predictions(TRUTH[first.rows], PREDICTED[first.rows], labels=["fraud", "ok"], sample=first)
    second = plan(**{**options, "budget": 160}, after=first, counts=seen if counts else None)
    return first, seen, second


@pytest.mark.parametrize("counts", [True, False])
def test_the_next_phase_draws_other_rows_of_the_same_strata(counts):
    first, seen, second = phases(counts)
    assert not {*first.rows.tolist()} & {*second.rows.tolist()}
    assert second.strata.names == first.strata.names
    assert second.drawn.sum() == 400
    assert second.phase == 2
    assert counts or not second.looked
    both = seen + cp.Counts.from_predictions(
        TRUTH[second.rows], PREDICTED[second.rows], labels=["fraud", "ok"], sample=second
    )
    assert both.rows == 400
    assert both.total == pytest.approx(ROWS)
    assert cp.evaluate(both, preferences=WANTED, confidence=0.95).summary.rows == 400
    third = plan(budget=100, after=second, counts=both)
    assert not {*first.rows.tolist(), *second.rows.tolist()} & {*third.rows.tolist()}


def test_a_second_phase_that_is_not_looked_at_is_the_first_made_longer():
    first, _, second = phases(counts=False)
    longer = plan(budget=400)
    shares = (
        [part.drawn / part.drawn.sum() for part in (second, longer)]
        if len(first.strata) == len(longer.strata)
        else None
    )
    assert shares is None or np.abs(shares[0] - shares[1]).max() < 0.1
    assert "drawn as before" in second.sentences()[0]


def test_looking_is_said_to_pay_or_not():
    first = plan("predictions")
    calm = cp.Counts.from_tables(first.strata, expected_tables(first), first.classes)
    assert not plan("predictions", budget=100, after=first, counts=calm).looked
    wrong = expected_tables(first)
    flagged = first.predicted == 0
    wrong[flagged] = wrong[flagged][:, ::-1]  # nearly all alarms are false
    assert plan(
        "predictions", budget=100, after=first, counts=cp.Counts.from_tables(first.strata, wrong, first.classes)
    ).looked


def expected_tables(made):
    tables = np.zeros((len(made.strata), 2, 2), dtype=np.int64)
    for h, (drawn, guess, predicted) in enumerate(zip(made.drawn, made.guess, made.predicted, strict=True)):
        tables[h, 0, predicted] = round(drawn * guess[0])
        tables[h, 1, predicted] = drawn - tables[h, 0, predicted]
    return tables


def test_rows_without_votes_are_left_out_and_counted():
    votes = PROBA.to_numpy().copy()
    votes[:50] = 0
    made = plan_labels(votes, budget=100, labels=["fraud", "ok"], random_state=1)
    assert made.left_out == 50
    assert made.rows.min() >= 50
    assert "50 rows without any vote are left out" in made.sentences()[-1]
    assert made.strata.sizes.sum() == ROWS - 50


def test_a_judge_may_be_silent():
    opinion = np.column_stack([JUDGE == "fraud", JUDGE == "ok"]).astype(float)
    opinion[::3] = 0
    made = plan(judge=opinion)
    assert (made.population.cells[:, 1] == -1).any()
    assert len(made.rows) == 240


def test_classes_that_preferences_name_are_known():
    made = plan_labels(["ok"] * 50 + ["spam"] * 10, budget=20, preferences={"fraud": 10}, random_state=0)
    assert made.classes == ("fraud", "ok", "spam")


@pytest.mark.parametrize(
    ("wanted", "more"),
    [
        ({"fraud": cp.Preference(1, min_precision=0.5)}, "fraud"),
        ({"fraud": cp.Preference(10, min_recall=0.9)}, None),
        (cp.Preferences(cost=[[0, 50], [1, 0]], labels=["fraud", "ok"]), None),
        (None, None),
    ],
)
def test_every_kind_of_preferences_can_be_planned_for(wanted, more):
    eager = np.where(SCORE > 0.02, "fraud", "ok")
    made = plan_labels(eager, budget=240, preferences=wanted, judge=JUDGE, random_state=1)
    assert made.drawn.sum() == 240
    if more is not None:  # a minimal precision sends labels to what is predicted so
        plain = plan_labels(
            eager, budget=240, preferences={"fraud": cp.Preference(beta=9)}, judge=JUDGE, random_state=1
        )
        share = [part.drawn[part.predicted == 0].sum() for part in (made, plain)]
        assert share[0] > share[1]


def test_many_classes_have_strata_of_their_own():
    votes = np.random.default_rng(3).dirichlet(np.full(70, 0.05), 20_000)
    made = plan_labels(votes, budget=600, labels=range(70), random_state=0)
    assert made.drawn.sum() == 600
    assert {*made.predicted.tolist()} == {*range(70)}


def test_a_million_rows_are_planned_within_two_seconds():
    score = np.random.default_rng(0).random((1_000_000, 2))
    start = time.process_time()
    plan_labels(score, budget=300, labels=["a", "b"], judge=score[:, ::-1], random_state=0)
    assert time.process_time() - start < 2


BEFORE = plan("predictions")


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda: plan_labels(PREDICTED, budget=0), "budget is how many rows"),
        (lambda: plan_labels(PREDICTED, budget=True), "budget is how many rows"),
        (lambda: plan_labels(PREDICTED, budget=ROWS + 1), "only 6,000 rows"),
        (lambda: plan_labels(PREDICTED, budget=9), "too few for 2 predicted classes; label 5 rows of each"),
        (lambda: plan_labels(PREDICTED, budget=50, judge=JUDGE[:-1]), "must describe the same rows"),
        (lambda: plan_labels(PROBA, budget=50, judge=JUDGE[:-1]), "judge has 5,999 rows"),
        (lambda: plan_labels(PREDICTED, budget=50, weights=[1, 2]), "predictions are decided already"),
        (lambda: plan_labels(PROBA.to_numpy(), budget=50), "labels is missing"),
        (lambda: plan_labels(np.zeros((5, 2)), budget=2, labels="ab"), "no row has a vote"),
        (lambda: plan_labels(-PROBA, budget=50), "must not be negative"),
        (lambda: plan_labels(cp.Votes.from_proba(TRUTH, PROBA.round(1), merge=True), budget=50), "no row of them can be drawn"),
        (lambda: plan_labels(PREDICTED, budget=50, after="plan.json"), "got str"),
        (lambda: plan_labels(PREDICTED, budget=50, counts=cp.Counts.from_predictions([0], [0])), "give that plan as after"),
        (lambda: plan_labels(PREDICTED, budget=50, after=BEFORE, counts=cp.Counts.from_predictions([0], [0])), "count the labels of each plan"),
        (lambda: plan_labels(PREDICTED[1:], budget=50, after=BEFORE), "a plan of other rows"),
        (lambda: plan_labels(PREDICTED, budget=5_900, after=BEFORE), "only 5,760 rows are not drawn"),
        (lambda: plan_labels(PREDICTED, budget=50, preferences=cp.Preferences(cost={("fraud", "ok"): "amount", ("ok", "fraud"): 1})), "do not depend on amounts"),
    ],
)  # fmt: skip
def test_mistakes_are_one_sentence(action, words):
    with pytest.raises(cp.InputError, match=words):
        action()


def test_spoiled_plans_are_refused(tmp_path):
    plan("predictions").to_json(tmp_path / "plan.json")
    good = json.loads((tmp_path / "plan.json").read_text())
    spoiled = [
        {"stratum": [99] * 240}, {"drawn": [1, 1]}, {"sizes": [5, 5]}, {"row": good["row"][:-1]}, {"row": [1] * 240},
        {"seed": -1}, {"guess": [[2, 0], [0, 1]]}, {"cells": [[9, 0, 0], [1, 0, 0]]}, {"cell_sizes": [0, ROWS]}, {"names": ["a", "a"]},
    ]  # fmt: skip
    for change in spoiled:
        (tmp_path / "bad.json").write_text(json.dumps({**good, **change}))
        with pytest.raises(cp.InputError, match="does not hold together"):
            LabelPlan.from_json(tmp_path / "bad.json")
    for text in ("{}", "[1", json.dumps({**good, "more": 1}), json.dumps({**good, "schema": "compromis/evidence"})):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(cp.InputError):
            LabelPlan.from_json(tmp_path / "bad.json")


def test_more_labels_are_needed_the_narrower_the_interval():
    _, seen, _ = phases()
    needed = [labels_needed(seen, width=width, labels=["fraud"]) for width in (0.5, 0.3, 0.2, 0.1)]
    for wide, narrow in pairwise(needed):
        for one, other in zip(wide.items, narrow.items, strict=True):
            assert other.more is None or one.more <= other.more
    assert not needed[-1].enough
    assert labels_needed(seen, width=0.99).enough
    shown = cp.evaluate(seen, confidence=0.95).intervals.per_class["fraud"]
    assert [(one.low, one.high) for one in needed[0].items] == [
        (shown[one.rate].low, shown[one.rate].high) for one in needed[0].items
    ]


def test_as_many_labels_as_are_needed_make_the_interval_as_wide_as_asked():
    counts = cp.Counts.from_matrix([[40, 10], [20, 930]], ["sick", "well"])
    needed = labels_needed(counts, width=0.12, labels=["sick"])
    recall = next(item for item in needed.items if item.rate == "recall")
    more = counts.matrix * ((1000 + recall.more) / 1000)
    from scipy.stats import norm

    size, share, z = more[0].sum(), 0.8, norm.ppf(0.975)  # Wilson's width
    width = 2 * z / (1 + z * z / size) * np.sqrt(share * (1 - share) / size + z * z / 4 / size**2)
    assert width == pytest.approx(0.12, rel=0.02)


def test_a_minimum_that_the_labels_miss_cannot_be_shown():
    counts = cp.Counts.from_matrix([[40, 10], [20, 930]], ["sick", "well"])
    asked = {"sick": cp.Preference(10, min_recall=0.9, min_precision=0.6)}
    recall, precision = labels_needed(counts, preferences=asked).items
    assert recall.more is None
    assert precision.more > 0
    assert "no number of labels" in str(recall)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda counts: labels_needed(counts), "^width is missing, and so are preferences with a minimum"),
        (lambda counts: labels_needed(counts, width=2), "between 0 and 1"),
        (lambda counts: labels_needed(counts, width=0.1, labels=["x"]), "x"),
        (
            lambda counts: labels_needed(cp.Counts.from_predictions([0, 1], [0, 1], sample_weight=[1, 2]), width=0.1),
            "weighted rows",
        ),
    ],
)
def test_labels_needed_says_what_it_takes(action, words):
    with pytest.raises(cp.InputError, match=words):
        action(cp.Counts.from_matrix([[40, 10], [20, 930]], ["sick", "well"]))


@pytest.mark.parametrize("result", [BEFORE, labels_needed(cp.Counts.from_matrix([[9, 1], [2, 88]], [0, 1]), width=0.2)])
def test_results_follow_the_protocol(result):
    assert json.loads(result.to_json())["schema"] == result.schema
    assert len(result.to_frame()) == len(next(iter(result.columns().values())))
    assert result.to_markdown()
    assert result._repr_html_()
    assert result.summary


def test_votes_for_one_class_are_planned():
    plan = cp.model_selection.plan_labels(np.ones((40, 1)), labels=["a"], budget=20, random_state=0)
    assert plan.classes == ("a",)
    assert len(set(plan.rows.tolist())) == 20
