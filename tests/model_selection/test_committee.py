"""Committees: what each member gains the others, on rows that did not choose the weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import compromis as cp
from compromis.model_selection import evaluate_members

LABELS = ["bug", "feature", "outage"]
PREFERENCES = cp.Preferences.prioritise(["outage"])


def panel(rows, right, seed=0):
    """True classes, and the answers of members that know so large a part of them and guess the others."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(LABELS, rows, p=[0.5, 0.35, 0.15])
    says = {
        f"member {place}": np.where(rng.random(rows) < share, truth, rng.choice(LABELS, rows))
        for place, share in enumerate(right)
    }
    return truth, says


def test_the_one_that_knows_is_needed_and_the_coin_is_not():
    truth, says = panel(600, [0.9, 0.3, 0.0])
    committee = evaluate_members(truth, says, preferences=PREFERENCES, costs=dict.fromkeys(says, 2))
    assert "member 0" in committee.in_state("better with")
    assert "member 2" not in committee.in_state("better with")
    first, *others = committee.members
    assert first.alone < min(one.alone for one in others)
    assert first.without > committee.loss + 0.1
    assert committee.verdict.state == "better"
    assert committee.summary == {"rows": 600, "loss": committee.loss, "cost": 6.0}


def test_a_coin_is_seldom_called_needed():
    called = sum(
        "member 2"
        in evaluate_members(*panel(150, [0.6, 0.6, 0.0], seed), preferences=PREFERENCES).in_state("better with")
        for seed in range(25)
    )
    assert called <= 4  # 0.6 expected; the binomial has 0.03 % beyond


def test_without_a_member_is_the_committee_of_the_others():
    truth, says = panel(200, [0.7, 0.5, 0.4, 0.6])
    committee = evaluate_members(truth, says, preferences=PREFERENCES, random_state=3)
    for member in committee.members:
        others = {name: answers for name, answers in says.items() if name != member.name}
        smaller = evaluate_members(truth, others, preferences=PREFERENCES, random_state=3)
        assert member.without == smaller.loss
        assert member.gain.value == pytest.approx(smaller.loss - committee.loss)


def test_of_two_that_always_agree_neither_is_needed():
    truth, says = panel(300, [0.8])
    committee = evaluate_members(
        truth, {"one": says["member 0"], "other": says["member 0"]}, preferences=PREFERENCES, smoothing=0
    )
    assert [(one.gain.value, one.state) for one in committee.members] == [(0.0, "not told apart")] * 2
    assert {one.alone for one in committee.members} == {committee.loss}


def test_the_loss_is_that_of_predictions_by_weights_of_the_other_parts():
    """Two members with one vote each of two classes: only ties are open, and they go one way by the majority of the other parts."""
    truth = np.repeat(["bug", "feature"], [60, 40])
    agree, split = np.array(["bug", "feature"] * 50), np.array(["bug"] * 50 + ["feature"] * 50)
    committee = evaluate_members(truth, {"a": agree, "b": split}, labels=["bug", "feature"], smoothing=0)
    assert committee.counts.total == 100
    ways = []
    for tied in ("bug", "feature"):
        predicted = np.where(agree == split, agree, tied)
        ways.append(cp.Counts.from_predictions(truth, predicted).matrix)
    assert committee.counts.matrix.tolist() in [way.tolist() for way in ways]


def test_probabilities_frames_and_rows_without_answers():
    truth, says = panel(200, [0.8, 0.6])
    shares = np.stack([says["member 0"] == label for label in LABELS], axis=1).astype(float)
    in_words = evaluate_members(truth, says, preferences=PREFERENCES)
    mixed = evaluate_members(
        truth, {"proba": shares, "words": pd.Series(says["member 1"])}, preferences=PREFERENCES, labels=LABELS
    )
    framed = evaluate_members(truth, pd.DataFrame(says), preferences=PREFERENCES)
    assert in_words.loss == mixed.loss == framed.loss
    silent = says | {"silent": [None] * 200}
    assert [one.gain.value for one in evaluate_members(truth, silent, preferences=PREFERENCES).members][2] == 0.0


def test_every_rendering_has_every_member():
    truth, says = panel(200, [0.8, 0.6])
    committee = evaluate_members(truth, says, preferences=PREFERENCES, costs={"member 0": 3, "member 1": 1})
    assert committee.to_frame("pandas").cost.tolist() == [3, 1]
    for text in (str(committee), committee.to_markdown(), committee._repr_html_(), committee.to_json()):
        assert "member 0" in text.replace("&#32;", " ")
        assert "member 1" in text


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"members": {"one": ["bug"] * 6}}, "members"),
        ({"members": ["bug"] * 6}, "members"),
        ({"members": {"one": ["bug"] * 6, "two": ["bug"] * 5}}, "members"),
        ({"members": {"one": np.ones((6, 3)), "two": ["bug"] * 6}}, "members['one']"),
        ({"members": {"one": -np.ones((6, 2)), "two": ["bug"] * 6}}, "members['one']"),
        ({"members": dict.fromkeys("ab", ["bug"] * 6), "costs": {"a": 1}}, "costs"),
        ({"members": dict.fromkeys("ab", ["bug"] * 6), "costs": {"a": 1, "b": -1}}, "costs"),
    ],
)
def test_what_cannot_be_judged_is_one_sentence(arguments, parameter):
    with pytest.raises(cp.InputError) as caught:
        evaluate_members(["bug"] * 3 + ["feature"] * 3, **arguments)
    assert caught.value.parameter == parameter


def test_probabilities_of_categories_in_an_order_of_their_own_need_labels():
    truth = pd.Categorical(["mild", "severe", "none"] * 4, categories=["none", "mild", "severe"], ordered=True)
    says = {"one": np.eye(3)[[1, 2, 0] * 4], "two": np.eye(3)[[0, 2, 1] * 4]}
    with pytest.raises(cp.InputError, match=r"members\['one'\] has columns without names: are they in the order"):
        evaluate_members(truth, says)
    right, wrong = evaluate_members(truth, says, labels=["none", "mild", "severe"]).members
    assert right.alone == 0 < wrong.alone
