"""Answers in words as votes: what is read, what is counted, and that nothing is guessed, lost or run."""

from __future__ import annotations

import itertools
import json
import math
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import compromis as cp
from tests.hostile_answers import hostile_answers

CLASSES = ["billing", "Bug report", "C", "C#"]


def one(text, classes=CLASSES, **options):
    """The class that a text names among votes for others; None if it names none."""
    votes = cp.Votes.from_answers([[text], [classes[0]]], labels=classes, **options).votes[0]
    return classes[int(votes.argmax())] if votes.any() else None


@pytest.mark.parametrize("label", ["billing", "Bug report", "C", "C#"])
@pytest.mark.parametrize(
    "around",
    ["{}", " {}\n", "{}.", '"{}"', "'{}'.", "**{}**", "`{}`", "({})", "\u201c{}\u201d!", "\ufeff{}\u200b", "[{}],"],
)
@pytest.mark.parametrize("case", [str, str.upper, str.lower, str.title])
def test_a_class_is_read_in_any_case_and_in_quotes(label, around, case):
    assert one(around.format(case(label))) == label


@pytest.mark.parametrize(
    "text",
    [
        "billings",
        "bill",
        "billing or bug report",
        "class: billing",
        "bug  report",
        "bug-report",
        "c++",
        "not C",
        "-C",
        "<C>",
        "=C",
        "Bug",
    ],
)
def test_what_comes_near_names_no_class(text):
    assert one(text) is None


def test_texts_that_fit_two_classes_name_none():
    assert one("yes", ["Yes", "YES"]) is None
    assert one("YES", ["Yes", "YES"]) == "YES"
    assert one("a!", ["a", "A."]) is None
    assert [one(text, ["a", "A."]) for text in ("a", "A", "a.", "A.")] == ["a", "a", "A.", "A."]


def test_numbers_are_labels_by_value_and_signs_are_not_marks():
    classes = [0, 1, -1]
    found = [one(answer, classes) for answer in (1, 1.0, "1", True, np.int64(-1), "-1", "(1)", "1.", "1.0", "+1")]
    assert found == [1, 1, 1, 1, -1, -1, 1, 1, None, None]


def test_composed_and_decomposed_letters_are_alike():
    assert one("re\u0301clamation", ["r\u00e9clamation", "autre"]) == "r\u00e9clamation"


def test_answers_are_counted_whatever_holds_them():
    columns = {"small": ["Billing", None, "maybe C?"], "large": ["C", "C#", " "]}
    rows = [["Billing", "C"], [None, "C#"], ["maybe C?", " "]]
    expected = [[0.5, 0, 0.5, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    holders = [columns, pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]
    for place, answers in enumerate([*holders, rows, np.array(rows, dtype=object), pd.Series(rows), pl.Series(rows)]):
        votes = cp.Votes.from_answers(answers, labels=CLASSES)
        assert votes.votes.tolist() == expected
        assert (votes.rows, votes.left_out, votes.truth.tolist()) == (2, 1, [-1, -1, -1])
        assert votes.answers.summary == {
            "rows": 3, "answers": 6, "read": 3, "refused": 2, "unread": 1, "unanswered": 1,
        }  # fmt: skip
        assert votes.answers.texts == {"maybe C?": 1}
        assert votes.answers.members == (("small", "large") if place < len(holders) else (1, 2))
    assert votes.answers.to_frame("pandas").refused.tolist() == [1, 1]


def test_rows_may_be_ragged_and_one_text_is_one_answer():
    votes = cp.Votes.from_answers([["C", "C", "billing"], "C#", [], None], labels=CLASSES)
    assert (3 * votes.votes).tolist() == [[1, 0, 2, 0], [0, 0, 0, 3], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert votes.answers.summary["answers"] == 5
    assert votes.answers.read.tolist() == [2, 1, 1]


def test_a_table_says_what_texts_mean():
    table = {"money": "billing", "I cannot help": None, "c": "C#"}
    votes = cp.Votes.from_answers([["Money!", "i cannot help.", "c", "billing", "?"]], labels=CLASSES, mapping=table)
    assert (3 * votes.votes).tolist() == [[2, 0, 0, 1]]
    assert votes.answers.summary == {
        "rows": 1, "answers": 5, "read": 3, "refused": 1, "unread": 1, "unanswered": 0,
    }  # fmt: skip


def test_a_function_is_asked_once_for_each_text_and_its_text_is_read():
    asked = []

    def after_colon(text):
        asked.append(text)
        return None if text == "sorry" else text.rpartition(":")[2]

    answers = [["class: C.", "sorry"], ["class: C.", "C# it is"], [None, ""]]
    votes = cp.Votes.from_answers(answers, labels=CLASSES, mapping=after_colon)
    assert asked == ["class: C.", "sorry", "C# it is"]
    assert votes.votes.tolist() == [[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    assert votes.answers.summary["refused"] == 3
    assert votes.answers.texts == {"C# it is": 1}


def test_log_probabilities_become_shares():
    shares = np.array([[0.2, 0.3, 0.5, 0.0], [0.25, 0.25, 0.25, 0.25], [0.0, 0.0, 0.0, 0.0]])
    with np.errstate(divide="ignore"):
        logs = np.log(shares) - 700  # not normalised, and below what exp holds
    expected = [[0.2, 0.3, 0.5, 0.0], [0.25] * 4, [0.0] * 4]
    votes = cp.Votes.from_answers(logs, labels=CLASSES, log_proba=True)
    assert votes.votes == pytest.approx(np.array(expected))
    assert votes.answers.summary["unread"] == 1
    twice = cp.Votes.from_answers(np.stack([logs, logs], axis=1), labels=CLASSES, log_proba=True)
    assert twice.votes == pytest.approx(np.array(expected))
    top = {" Billing": math.log(0.5), "billing": math.log(0.1), "C": math.log(0.2), "the": math.log(0.2)}
    named = cp.Votes.from_answers([[top, None], [{"the": 0.0}]], labels=CLASSES, log_proba=True)
    assert named.votes == pytest.approx(np.array([[0.75, 0, 0.25, 0], [0, 0, 0, 0]]))
    assert named.answers.texts == {"the": 2}
    assert named.answers.summary["refused"] == named.answers.summary["unread"] == 1


def test_rows_without_an_answer_are_left_out_or_even():
    answers, truth = [["C"], [None], ["billing"]], ["C", "C", "billing"]
    left = cp.Votes.from_answers(answers, labels=CLASSES, y_true=truth)
    assert (left.rows, left.left_out, int(left.counts([1, 1, 1, 1]).total)) == (2, 1, 2)
    even = cp.Votes.from_answers(answers, labels=CLASSES, y_true=truth, unanswered="even")
    assert (even.rows, even.left_out) == (3, 0)
    assert even.counts([1, 1, 2, 1]).matrix[2].tolist() == [0, 0, 2, 0]  # the largest weight decides them
    assert even.answers.unanswered == 1


def test_from_answers_is_from_proba_of_the_counts_of_votes():
    rng = np.random.default_rng(0)
    answers = rng.choice([*CLASSES, None, "?"], (300, 5))
    truth = rng.choice(CLASSES, 300)
    votes = cp.Votes.from_answers(answers, labels=CLASSES, y_true=truth, sample_weight=np.arange(300.0))
    expected = np.array([[list(row).count(label) for label in CLASSES] for row in answers])
    same = cp.Votes.from_proba(truth, expected, labels=CLASSES, sample_weight=np.arange(300.0))
    assert votes.counts([1, 2.1, 3.3, 4.7]).matrix.tolist() == same.counts([1, 2.1, 3.3, 4.7]).matrix.tolist()
    assert votes.answers.summary["read"] == expected.sum()


def test_counts_of_answers_add_up():
    first = cp.Votes.from_answers({"a": ["C", "?"], "b": [None, "?"]}, labels=CLASSES, y_true=["C", "C"])
    second = cp.Votes.from_answers({"b": ["!?"], "c": ["C#"]}, labels=CLASSES, y_true=["C#"])
    both = (first + second).answers
    assert both.members == ("a", "b", "c")
    assert (both.read.tolist(), both.refused.tolist(), both.unread.tolist()) == ([1, 0, 1], [0, 1, 0], [1, 2, 0])
    assert (both.rows, both.unanswered, dict(both.texts)) == (3, 1, {"?": 2, "!?": 1})


def test_votes_without_true_classes_count_nothing():
    votes = cp.Votes.from_answers([["C"], ["billing"]], labels=CLASSES)
    assert cp.Decision(CLASSES, [1, 1, 1, 1]).decide(votes.votes).tolist() == ["C", "billing"]
    uses = [
        lambda: votes.counts([1, 1, 1, 1]),
        lambda: votes.support,
        votes.points,
        lambda: cp.search_weights(votes),
        lambda: cp.evaluate(votes),
        lambda: cp.evidence.write(votes, "votes.json"),
    ]
    for use in uses:
        with pytest.raises(cp.InputError, match="no true classes"):
            use()


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"answers": [["C", ["C"]]]}, "answers"),
        ({"answers": [["C"]], "mapping": {"x": "c"}}, "mapping"),
        ({"answers": [["C"]], "mapping": 3}, "mapping"),
        ({"answers": [["C"]], "mapping": lambda text: text[9]}, "mapping"),
        ({"answers": []}, "answers"),
        ({"answers": "C"}, "answers"),
        ({"answers": [["?"]]}, "answers"),
        ({"answers": {"a": ["C"], "b": ["C", "C"]}}, "answers"),
        ({"answers": [["C"]], "y_true": ["C", "C"]}, "y_true"),
        ({"answers": [["C"]], "y_true": ["D"]}, "labels"),
        ({"answers": [["C"]], "sample_weight": [1]}, "y_true"),
        ({"answers": [["C"]], "unanswered": "first"}, "unanswered"),
        ({"answers": [[0.1, math.nan, 0, 0]], "log_proba": True}, "answers"),
        ({"answers": [[0.1, 0.2]], "log_proba": True}, "answers"),
        ({"answers": [["C"]], "log_proba": True}, "answers"),
        ({"answers": [{"A": 10**400}], "log_proba": True}, "answers"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(arguments, parameter):
    with pytest.raises(cp.InputError) as caught:
        cp.Votes.from_answers(labels=CLASSES, **arguments)
    assert caught.value.parameter == parameter
    assert "\n" not in str(caught.value)


def test_a_thousand_hostile_answers_are_all_counted(tmp_path):
    texts = hostile_answers(1000)
    assert len(set(texts)) == 1000
    begun = time.process_time()
    votes = cp.Votes.from_answers([*([text] for text in texts), ["C"]], labels=CLASSES)
    assert time.process_time() - begun < 10
    read = votes.answers
    blank = 3
    assert (int(read.read.sum()), int(read.refused.sum()), int(read.unread.sum())) == (1, blank, 1000 - blank)
    assert sum(read.texts.values()) == 1000 - blank
    shown = [str(read), read.to_markdown(), read._repr_html_(), *read.sentences()]
    assert all(mark.isprintable() or mark == "\n" for text in shown for mark in text)
    assert all("\n" not in sentence for sentence in read.sentences())
    assert max(map(len, read.sentences())) < 2000
    assert "<script" not in read._repr_html_() + read.to_markdown()
    told = json.loads(read.to_json(tmp_path / "read.json"))
    assert sum(text["times"] for text in told["texts"]) == 1000 - blank
    for text in itertools.islice(texts, 0, None, 25):
        with pytest.raises(cp.InputError) as caught:
            cp.Votes.from_answers([[text]], labels=CLASSES)
        assert str(caught.value).isprintable()


def test_a_million_combining_marks_take_no_time():
    text = "C" + "\u0301\u0327" * 500_000
    begun = time.process_time()
    assert one(text) is None
    assert time.process_time() - begun < 2


def test_marks_piled_on_a_letter_cost_little():
    long = "a" + "\u0301\u0323" * 100_000  # composing takes the square of them: 20 s
    votes = cp.Votes.from_answers([long, long + ".", "Bug"], labels=["bug", long])
    assert votes.answers.read.tolist() == [3]
