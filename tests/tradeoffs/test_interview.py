"""Asking by choices: the questions are real results, the answers tell what the user wants."""

from __future__ import annotations

import numpy as np
import pytest

import compromis as cp
from compromis.measures.headline import ClassRows
from compromis.tradeoffs import Interview
from compromis.tradeoffs.interview import Question


def votes_of(classes=2, rows=600, seed=3):
    generator = np.random.default_rng(seed)
    names = ["well", "ill", "odd", "new"][:classes]
    y = generator.choice(classes, size=rows, p=np.array([12, 3, 2, 1])[:classes] / sum([12, 3, 2, 1][:classes]))
    score = generator.normal(size=(rows, classes)) + 1.2 * np.eye(classes)[y]
    proba = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    return cp.Votes.from_proba([names[k] for k in y], proba, labels=names)


def f_value(outcome, weight):
    """The F measure with a recall weight, written out."""
    found = outcome.found
    return (
        0.0 if found == 0 else 1 / (weight * outcome.of / found + (1 - weight) * (found + outcome.false_alarms) / found)
    )


def answered(interview, weights, importances=None):
    """Answer as someone with these recall weights and importances does, who never slips."""
    while (question := interview.question) is not None:
        if question.topic == "recall weight":
            worth = [f_value(side[0], weights[question.label]) for side in (question.first, question.second)]
        else:
            worth = [
                sum(importances.get(one.label, 1.0) * f_value(one, weights.get(one.label, 0.5)) for one in side)
                for side in (question.first, question.second)
            ]
        interview = interview.answer("first" if worth[0] > worth[1] else "second")
    return interview


@pytest.mark.parametrize("weight", [0.05, 0.3, 0.6, 0.8, 0.95])
def test_who_answers_as_they_mean_is_understood(weight):
    interview = answered(Interview(votes_of(), ["ill"]), {"ill": weight})
    (known,) = interview.known
    assert known.answers == 7
    assert known.value == pytest.approx(weight, abs=0.02)
    assert known.low <= weight <= known.high
    assert interview.preferences().of("ill").recall_weight == pytest.approx(known.value, abs=1e-4)


@pytest.mark.parametrize("metric", ["kulczynski", "fowlkes_mallows", "jaccard"])
def test_every_metric_of_the_family(metric):
    interview, weight = Interview(votes_of(), ["ill"], metric=metric), 0.7
    while (question := interview.question) is not None:
        rates = [
            (one.found / (one.found + one.false_alarms), one.found / one.of)
            for (one,) in (question.first, question.second)
        ]
        first, second = (float(cp.metric_value(*pair, weight, metric=metric)) for pair in rates)
        interview = interview.answer("first" if first > second else "second")
    assert interview.known[0].value == pytest.approx(weight, abs=0.03)
    assert interview.preferences().metric.name == metric


@pytest.mark.parametrize("importance", [0.2, 1.0, 8.0])
def test_importances_follow_by_pairs_of_classes(importance):
    votes = votes_of(3, rows=3000)
    interview = answered(Interview(votes, ["ill"]), {"ill": 0.7}, {"ill": importance})
    known = interview.known[1]
    assert (known.topic, known.label, known.beside) == ("importance", "ill", "well")
    told = interview.preferences()
    assert told.of("ill").importance == pytest.approx(known.value, rel=0.01)
    assert told.of("odd") == cp.Preference()
    true = cp.Preferences({"ill": cp.Preference(importance, recall_weight=0.7)})
    best = cp.search_weights(votes, preferences=true, random_state=0)
    found = cp.search_weights(votes, preferences=told, random_state=0)
    assert cp.evaluate(found.counts, preferences=true).summary.loss <= 1.03 * best.loss


def test_each_result_can_be_reached_by_weights():
    """Brute force: every result asked about is the counts of some weights."""
    votes = votes_of(3, rows=300)
    interview = Interview(votes, ["ill", "odd"])
    ratios = np.unique(
        np.concatenate(
            [votes.votes[:, k] / votes.votes[:, [j for j in range(3) if j != k]].max(axis=1) for k in range(3)]
        )
    )
    grid = np.sqrt(ratios[:-1] * ratios[1:])
    reached = {}
    for k, label in enumerate(votes.classes):
        reached[label] = set()
        for weight in 1 / grid:
            matrix = votes.counts([weight if j == k else 1.0 for j in range(3)]).matrix
            reached[label].add((matrix[k, k], matrix[:, k].sum() - matrix[k, k]))
    asked = 0
    while (question := interview.question) is not None:
        if question.topic == "recall weight":
            for (one,) in (question.first, question.second):
                assert (one.found, one.false_alarms) in reached[one.label]
                asked += 1
        interview = interview.answer("second" if asked % 3 else "first")
    assert asked == 28
    assert len(interview.answers) <= interview.most == 14 + 10


def test_one_can_go_back_and_take_it_up_again():
    start = Interview(votes_of(), ["ill"])
    one = start.answer("second")
    two = one.answer("first")
    assert str(two.back().question) == str(one.question)
    again = Interview(votes_of(), ["ill"], answers=two.answers)
    assert (again.known, again.question) == (two.known, two.question)
    assert start.back().answers == ()


def test_alike_says_that_the_results_are_worth_the_same():
    start = Interview(votes_of(), ["ill"])
    first, second = (side[0] for side in (start.question.first, start.question.second))
    grid = np.linspace(0.01, 0.99, 981)
    equal = grid[np.argmin([abs(f_value(first, l) - f_value(second, l)) for l in grid])]
    known = start.answer("alike").known[0]
    assert known.low < equal < known.high
    assert known.value == pytest.approx(equal, abs=0.03)
    assert known.high - known.low < 0.5


def test_a_slip_is_forgiven():
    """The first answer is wrong, the other six as meant."""
    interview, weight, number = Interview(votes_of(), ["ill"]), 0.9, 0
    while (question := interview.question) is not None:
        worth = [f_value(side[0], weight) for side in (question.first, question.second)]
        meant = worth[0] > worth[1]
        interview = interview.answer("first" if meant != (number == 0) else "second")
        number += 1
    assert interview.known[0].value == pytest.approx(weight, abs=0.12)


def test_one_class_of_two_says_everything():
    wanted = answered(Interview(votes_of(), ["ill"]), {"ill": 0.8}).preferences()
    assert wanted.of("well").importance == 0
    assert [one.topic for one in answered(Interview(votes_of(), ["ill", "well"]), {"ill": 0.8, "well": 0.5}, {}).known][
        -1
    ] == "importance"


def test_the_rarest_class_is_asked_about_without_others():
    assert Interview(votes_of(3)).classes == ("odd",)


def test_renderings():
    interview = Interview(votes_of(), ["ill"]).answer("first")
    assert "Question 2" in str(interview)
    assert interview.document()["answers"] == ["first"]
    assert "recall weight of ill" in interview.to_markdown()
    assert interview.to_frame()["answers"].tolist() == [1]
    assert repr(interview) == "Interview(classes=['ill'], metric='f', answers=['first'])"
    assert "<table" in interview._repr_html_()


def test_names_of_classes_are_told_apart():
    names = [f"customer cancelled after the {which} invoice of the year" for which in ("first", "second")]
    sides = [
        tuple(ClassRows(label=name, of=9, found=found, missed=9 - found, false_alarms=0) for name in names)
        for found in (3, 4)
    ]
    question = Question(topic="importance", label=names[0], beside=names[1], number=1, first=sides[0], second=sides[1])
    assert all("first" in side[0] and "second" in side[1] for side in question.told)
    assert all(line in str(question) for side in question.told for line in side)


def test_what_cannot_be_asked_is_refused():
    votes = votes_of()
    for match, call in {
        "there are no rows of the class 'il'; did you mean 'ill'": lambda: Interview(votes, ["il"]),
        "votes are compromis.Votes, got list": lambda: Interview([[1]]),
        "questions is a whole number of at least 3": lambda: Interview(votes, questions=1),
        "an answer is one of first, second, alike": lambda: Interview(votes).answer("left"),
        "there are 9 answers to 7 questions": lambda: Interview(votes, answers=["first"] * 9).question,
        "choices need rows of at least two classes": lambda: Interview(
            cp.Votes.from_proba(["a", "a"], [[1, 0], [1, 0]], labels=["a", "b"])
        ),
        "every question was answered": lambda: answered(Interview(votes, ["ill"]), {"ill": 0.5}).answer("first"),
        "choices are for 1 to 8 classes, got 0": lambda: Interview(votes, []),
    }.items():
        with pytest.raises(cp.InputError, match=match):
            call()


def test_a_model_that_never_errs_leaves_nothing_to_ask():
    votes = cp.Votes.from_proba(["a", "a", "b", "b"], [[1, 0], [1, 0], [0, 1], [0, 1]])
    interview = Interview(votes, ["a"])
    while interview.question is not None:
        interview = interview.answer("first")
    assert len(interview.answers) <= 1
    assert interview.preferences().on(votes.classes).importance.any()
