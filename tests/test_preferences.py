"""Preferences: immutable, equal by value, exact through TOML, and plain in words."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import fbeta_score

import compromis as cp

share = st.floats(0, 1, exclude_max=True)
floor = st.none() | st.floats(0, 1)
answered = st.builds(
    cp.Preference,
    st.floats(0, 1e6),
    st.none() | share,
    st.none() | share,
    min_precision=floor,
    min_recall=floor,
    max_share=st.none() | st.floats(1e-9, 1),
)
weighed = st.builds(
    cp.Preference, st.floats(0, 1e6), recall_weight=st.floats(0, 1), min_precision=floor, min_recall=floor
)
bounded = st.builds(cp.Preference, min_precision=floor, max_share=st.none() | st.floats(1e-9, 1))
text = st.text(st.characters(exclude_categories=["Cs"]))
label = text | st.integers(-(2**63), 2**63 - 1) | st.booleans() | st.floats(allow_nan=False)
preferences = st.builds(
    cp.Preferences,
    st.dictionaries(label, answered | weighed, max_size=5),
    answered | weighed,
    st.sampled_from(list(cp.metrics.METRICS)),
)


numbers = st.floats(-1e100, 1e100)
costs = st.lists(label, min_size=2, max_size=4, unique_by=lambda one: (type(one), str(one))).flatmap(
    lambda labels: st.builds(
        lambda cost, bound: cp.Preferences({labels[0]: bound}, cost=cost, labels=labels),
        st.lists(
            st.lists(numbers, min_size=len(labels), max_size=len(labels)), min_size=len(labels), max_size=len(labels)
        ),
        bounded,
    )
)
preferences = preferences | costs.filter(lambda one: len(set(one.labels)) == len(one.labels))


@given(preferences)
def test_toml_round_trip(tmp_path_factory, preferences):
    path = tmp_path_factory.mktemp("toml") / "preferences.toml"
    preferences.to_toml(path)
    again = cp.Preferences.from_toml(path)
    assert again == preferences
    assert hash(again) == hash(preferences)
    assert {(type(one), one) for one in again.by_class} == {(type(one), one) for one in preferences.by_class}
    assert (again.cost, again.labels) == (preferences.cost, preferences.labels)


def test_typed_labels_stay_different(tmp_path):
    preferences = cp.Preferences({1: cp.Preference(2), "1": cp.Preference(3)})
    preferences.to_toml(tmp_path / "preferences.toml")
    again = cp.Preferences.from_toml(tmp_path / "preferences.toml")
    assert (again.of(1).importance, again.of("1").importance) == (2, 3)
    assert cp.Preferences({1: cp.Preference(2)}) != cp.Preferences({True: cp.Preference(2)})


@given(preferences)
def test_copies_are_equal(preferences):
    for twin in (
        pickle.loads(pickle.dumps(preferences)),
        copy.deepcopy(preferences),
        eval(
            repr(preferences),
            {**vars(cp), "Preference": cp.Preference, "Preferences": cp.Preferences, "inf": float("inf")},
        ),
    ):
        assert twin == preferences
        assert repr(twin) == repr(preferences)


def test_an_estimator_can_hold_it():
    class Holder(BaseEstimator):
        def __init__(self, preferences=None):
            self.preferences = preferences

    preferences = cp.Preferences.prioritise(["a"])
    assert clone(Holder(preferences)).preferences == preferences


def test_it_is_immutable():
    preferences = cp.Preferences.prioritise(["a"])
    with pytest.raises(TypeError):
        preferences.by_class["b"] = cp.Preference()
    with pytest.raises(AttributeError):
        preferences.metric = "f"
    with pytest.raises(AttributeError):
        preferences.by_class["a"].importance = 3


def test_prioritise_is_the_papers_setting():
    preferences = cp.Preferences.prioritise(["A", "E"])
    assert (preferences.of("A").importance, preferences.of("A").answers) == (10, (0.1, 0.9))
    assert (preferences.of("B").importance, preferences.of("B").answers) == (1, (0.8, 0.8))
    assert preferences.of("B").precision_at_full_recall is None  # nobody gave that answer
    assert cp.Preferences.prioritise("A") == cp.Preferences.prioritise(["A"])
    assert cp.Preferences.prioritise(["A"], "jaccard") == cp.Preferences.prioritise(["A"], metric="jaccard")
    assert cp.Preferences.prioritise(5) == cp.Preferences.prioritise([5])
    assert cp.Preference(precision_at_full_recall=np.float32(0.5)).precision_at_full_recall == 0.5


def test_numpy_labels_are_the_plain_ones():
    preferences = cp.Preferences({np.int64(3): cp.Preference(2), np.str_("a"): cp.Preference(3)})
    assert [type(one) for one in preferences.by_class] == [int, str]
    assert preferences.of(np.int32(3)).importance == 2


def test_describe():
    text = cp.Preferences({"cancer": cp.Preference(10, 0.10, 0.90, min_precision=0.05)}).describe()
    assert "for a recall of 1 you accept a precision of 10 %" in text
    assert "for a precision of 1 you accept a recall of 90 %" in text
    assert "precision never below 5 %" in text
    assert "recall weighs 70 %" in cp.Preference(recall_weight=0.7).describe()


def test_layout_for_classes():
    preferences = cp.Preferences({"b": cp.Preference(10, 0.1, 0.9, min_recall=0.5)}, metric="kulczynski").on(["a", "b"])
    assert preferences.importance.tolist() == [1, 10]
    assert preferences.recall_weight.tolist() == pytest.approx([0.5, 0.9])
    assert preferences.min_recall.tolist() == [0, 0.5]


def test_a_capacity_is_laid_out_and_told():
    preferences = cp.Preferences({"b": cp.Preference(max_share=0.02)})
    assert preferences.on(["a", "b"]).max_share.tolist() == [1, 0.02]
    assert [preferences.on(classes, strict=False).constrained for classes in (["a", "b"], ["a"])] == [True, False]
    assert "at most 2 % of all rows predicted as it" in preferences.describe()


def test_capacities_that_leave_rows_without_a_class():
    with pytest.raises(
        cp.InputError, match=r"add up to 50 %, but every row is predicted as one of them; leave at least one"
    ):
        cp.Preferences({"a": cp.Preference(max_share=0.3), "b": cp.Preference(max_share=0.2)}).on(["a", "b"])
    cp.Preferences(default=cp.Preference(max_share=1 / 3)).on(["a", "b", "c"])


@pytest.mark.parametrize("cost", [1e308, -1e308])
def test_numbers_whose_sums_overflow_are_refused_by_name(cost):
    """A perfect prediction was called no better than no model, below numpy's warnings of an overflow."""
    with pytest.raises(cp.InputError, match=r"costs are at most 1e\+100, got -?1e\+308; scale them"):
        cp.Preferences(cost=[[0, cost], [1, 0]], labels=["a", "b"])
    wanted = cp.Preferences(cost={("a", "b"): "amount"})
    with pytest.raises(cp.InputError, match=r"^amount is too large to add up"):
        cp.evaluate(["a", "b"], ["a", "b"], preferences=wanted, amount=[1, abs(cost)])


def test_a_cost_of_a_class_written_in_two_ways_is_refused():
    preferences = cp.Preferences(cost={("Fraud", "ok"): 100, ("ok", "fraud"): 5})  # a missed fraud would cost nothing
    with pytest.raises(cp.InputError, match="a cost names 'Fraud', but the class is 'fraud'"):
        cp.evaluate(["fraud", "ok"], ["ok", "ok"], preferences=preferences)
    assert (
        cp.evaluate(["ok", "ok"], ["ok", "ok"], preferences=cp.Preferences(cost={("theft", "ok"): 9})).summary.loss == 0
    )


def test_costs_by_matrix_mapping_and_frame_are_equal():
    by_matrix = cp.Preferences(cost=[[0, 5], [200, 0]], labels=["ok", "fraud"])
    by_name = cp.Preferences(cost={("fraud", "ok"): 200, ("ok", "fraud"): 5})
    frame = pd.DataFrame([[0, 200], [5, 0]], index=["fraud", "ok"], columns=["fraud", "ok"])
    assert by_matrix == by_name == cp.Preferences(cost=frame) == cp.Preferences(cost=frame, labels=["ok", "fraud"])
    assert hash(by_matrix) == hash(by_name)
    assert by_matrix.cost == ((0, 5), (200, 0))
    assert cp.Preferences(cost=frame, labels=["ok", "fraud"]).cost == by_matrix.cost
    assert by_name != cp.Preferences(cost={("fraud", "ok"): 200, ("ok", "fraud"): 6})
    assert by_name.on(["ok", "fraud"]).cost.tolist() == [[0, 5], [200, 0]]
    assert (
        by_name.describe()
        == "average cost of a row\n'fraud' predicted as 'ok' costs 200\n'ok' predicted as 'fraud' costs 5"
    )
    unnamed = pd.DataFrame([[0, 5], [200, 0]])  # rows and columns are numbers, the labels are given
    assert cp.Preferences(cost=unnamed, labels=["ok", "fraud"]) == by_matrix


def test_costs_hold_for_the_classes_at_hand():
    """More costs than classes are no mistake, a class without costs is one: it would cost nothing in silence."""
    costs = cp.Preferences({"b": {"min_recall": 0.5}}, cost=1 - np.eye(3), labels="abc")
    assert costs.on(["c", "b"]).cost.tolist() == [[0, 1], [1, 0]]
    with pytest.raises(cp.InputError, match=r"no cost names the class 'd': .* the costs are of 'a', 'b', 'c'"):
        costs.on(["b", "d"], strict=False)
    with pytest.raises(cp.InputError, match=r"preference for 'a' \(str\)|there is a preference for 1 "):
        cp.Preferences(cost=1 - np.eye(2), labels=[1, 2]).on(["1", "2"])


def test_jaccard_warns_when_recall_weights_differ():
    with pytest.warns(UserWarning, match="losses of classes with different recall weights are not comparable"):
        cp.Preferences.prioritise(["a"], metric="jaccard").on(["a", "b"])
    cp.Preferences(metric="jaccard").on(["a", "b"])  # alike: no warning


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: cp.Preference(precision_at_full_recall=10),
            "precision_at_full_recall is a share between 0 and 1, got 10; for 10 % write 0.1",
        ),
        (lambda: cp.Preference(recall_at_full_precision=90.0), "for 90 % write 0.9"),
        (lambda: cp.Preference(max_share=2), "max_share is a share between 0 and 1, got 2; for 2 % write 0.02"),
        (lambda: cp.Preference(max_share=0, min_recall=0.5), "max_share is 0, so the class is never predicted"),
        (lambda: cp.Preference(recall_at_full_precision=1.0), "recall_at_full_precision must be below 1"),
        (
            lambda: cp.Preference(precision_at_full_recall=-0.1),
            "precision_at_full_recall is a share between 0 and 1, got -0.1",
        ),
        (
            lambda: cp.Preference(precision_at_full_recall=float("nan")),
            "precision_at_full_recall is a share between 0 and 1, got nan",
        ),
        (
            lambda: cp.Preference(precision_at_full_recall="0.1"),
            "precision_at_full_recall is a share between 0 and 1, got '0.1'",
        ),
        (lambda: cp.Preferences(cost=[[0, 1], [1, 0]]), "a cost matrix needs labels="),
        (lambda: cp.Preferences(labels="ab"), "labels name the classes of a cost matrix"),
        (lambda: cp.Preferences(cost=[[1, 2]], labels="ab"), r"for 2 classes has shape \(2, 2\), got \(1, 2\)"),
        (lambda: cp.Preferences(cost=[["x"]], labels="ab"), "a cost matrix holds 2 x 2 numbers"),
        (lambda: cp.Preferences(cost=[[0, np.inf], [1, 0]], labels="ab"), "costs must be finite"),
        (lambda: cp.Preferences(cost=[[0]], labels="a"), "at least two different classes, got 'a'"),
        (lambda: cp.Preferences(cost={"ab": 1}), r"pairs \(true class, predicted class\) to numbers, got 'ab'"),
        (lambda: cp.Preferences(cost={("a", "b"): 1}, labels="ac"), "cost names 'b', labels do not"),
        (
            lambda: cp.Preferences({"a": 10}, cost={("a", "b"): 1}),
            "take no importance .that of 'a'.; leave it out, or cost",
        ),
        (
            lambda: cp.Preferences(default=cp.Preference(beta=2), cost={("a", "b"): 1}),
            "take no beta .that of 'default'.",
        ),
        (lambda: cp.Preferences(cost={("a", "b"): 1}, metric="jaccard"), "costs need no metric, got 'jaccard'"),
        (lambda: cp.Preferences(cost={("a", "b"): 1}).with_metric("kulczynski"), "costs need no metric"),
        (
            lambda: cp.Preferences(cost=pd.DataFrame([[0, 1], [2, 0]], index=["a", "b"], columns=["a", "c"])),
            "same classes as its",
        ),
        (lambda: cp.Preference(importance=-1), "importance is a finite number of at least 0, got -1"),
        (lambda: cp.Preference(importance=float("nan")), "importance is a finite number of at least 0, got nan"),
        (
            lambda: cp.Preference(min_precision=30),
            "min_precision is a share between 0 and 1, got 30; for 30 % write 0.3",
        ),
        (lambda: cp.Preference(recall_weight=1.2), "recall_weight is a share between 0 and 1, got 1.2"),
        (lambda: cp.Preference(1, 0.1, recall_weight=0.3), "give either the two answers or recall_weight, not both"),
        (lambda: cp.Preference(1, None, 0.1, beta=2), "give either the two answers or beta, not both"),
        (lambda: cp.Preference(beta=2, recall_weight=0.5), "give either beta or recall_weight, not both"),
        (lambda: cp.Preference(beta=-1), "beta is a finite number of at least 0, got -1"),
        (lambda: cp.Preferences({"a": {"beta": 2}}, metric="kulczynski"), "beta is for metric 'f'"),
        (lambda: cp.Preferences({"a": {"importnce": 2}}), "'importnce', .* did you mean 'importance'"),
        (lambda: cp.Preference(importance="10"), "importance is a finite number of at least 0, got '10'"),
        (lambda: cp.Preference(importance=None), "importance is a finite number of at least 0, got None"),
        (lambda: cp.Preferences(["a"]), "by_class maps labels to preferences, got list"),
        (lambda: cp.Preferences(metric=["f"]), r"there is no metric \['f'\]"),
        (lambda: cp.Preferences({"a": "10"}), "a preference is a compromis.Preference, got str for 'a'"),
        (lambda: cp.Preferences({"a": True}), "a preference is a compromis.Preference, got bool for 'a'"),
        (lambda: cp.Preferences(metric="G1"), "there is no metric 'G1'"),
        (
            lambda: cp.Preferences({"x": cp.Preference()}).on(["a", "b"]),
            "preference for 'x', which is neither in the data nor in labels",
        ),
        (
            lambda: cp.Preferences({"1": cp.Preference()}).on([1, 2]),
            r"preference for '1' \(str\), but the class is 1 \(int\)",
        ),
        (lambda: cp.Preferences(default=cp.Preference(0)).on(["a", "b"]), "the importances of all 2 classes are 0"),
    ],
)
def test_bad_input(make, said):
    with pytest.raises(cp.InputError, match=said):
        make()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("metric = 'f", "is not a preferences file"),
        ("index = 'f'", "written for compromis 0.1.0"),
        ("metric = 'g'", "there is no metric 'g'"),
        ("metric = 1", "metric must be text, got a number$"),
        ("metrc = 'f'", "the head of the file has 'metrc', which means nothing here; did you mean 'metric'\\?$"),
        (
            "[[classes]]\nlabel = 'a'",
            "the head of the file has 'classes', which means nothing here; did you mean 'class'\\?$",
        ),
        (
            "[class]\nlabel = 'a'",
            r"each class is a table of its own under \[\[class\]\], with two brackets, got a table$",
        ),
        ("importance = 2", r"the head of the file has 'importance', which belongs in \[default\] or \[\[class\]\]$"),
        ("[default]\nlabel = 'a'", r"\[default\] has 'label', which belongs in \[\[class\]\]$"),
        (
            "[[class]]\nlabel = 'a'\nmetric = 'f'",
            r"\[\[class\]\] number 1 has 'metric', which belongs in the head of the file$",
        ),
        ("[default]\nimportance = 1" + "0" * 5000, "Exceeds the limit"),
        ("default = 2", r"\[default\] must be a table, got a number$"),
        (
            "[default]\nmin_recal = 1",
            r"\[default\] has 'min_recal', which means nothing here; did you mean 'min_recall'\?$",
        ),
        ("[[class]]\nimportance = 3.0", r"\[\[class\]\] number 1 lacks its label$"),
        (
            "[[class]]\nlabel = 'a'\nprecision_at_full_recal = 0.1",
            r"number 1 has 'precision_at_full_recal', .* mean 'precision_at_full_recall'\?$",
        ),
        (
            "[[class]]\nlabel = 'a'\n[[class]]\nlabel = 'b'\nimportance = 'much'",
            r"importance of \[\[class\]\] number 2 must be a number, got text$",
        ),
        ("[[class]]\nlabel = 'a'\nmin_recall = true", "must be a number, got true or false$"),
        (
            "[[class]]\nlabel = ['a']",
            r"label of \[\[class\]\] number 1 must be true or false or a number or text, got a list$",
        ),
        ("[[class]]\nlabel = 'a'\nprecision_at_full_recall = 10", "for 10 % write 0.1"),
        ("[cost]\nlabels = ['a', 'b']", r"\[cost\] lacks its matrix$"),
        (
            "[cost]\nlabels = ['a', 'b']\nmatrix = [[0, 'x'], [1, 0]]",
            "or 'amount' for the amount of the row; found something else$",
        ),
        ("[cost]\nlabels = ['a', 'b']\nmatrix = [[0, 1]]", r"has shape \(2, 2\), got \(1, 2\)"),
        ("[default]\nimportance = 2\n[cost]\nlabels = [1, 2]\nmatrix = [[0, 1], [1, 0]]", "take no importance"),
        ("[[class]]\nlabel = 'a'\n[[class]]\nlabel = 'a'", "'a' stands there twice"),
        ("[[class]]\nlabel = 1979-05-27", "label"),
    ],
)
def test_bad_files(tmp_path, content, said):
    path = tmp_path / "preferences.toml"
    path.write_text(content)
    with pytest.raises(cp.InputError, match=said) as error:
        cp.Preferences.from_toml(path)
    assert "preferences.toml is not a preferences file" in str(error.value)


def test_numbers_and_mappings_stand_for_preferences():
    spelled = cp.Preferences({"a": cp.Preference(10), "b": cp.Preference(2, min_recall=0.9)})
    assert cp.Preferences({"a": 10, "b": {"importance": 2, "min_recall": 0.9}}) == spelled


@pytest.mark.parametrize(("beta", "weight"), [(0, 0.0), (1, 0.5), (2, 0.8), (0.5, 0.2)])
def test_beta_is_that_of_the_f_measure(beta, weight):
    preference = cp.Preference(beta=beta)
    assert preference.recall_weight_for("f") == pytest.approx(weight, abs=1e-15)
    assert preference.answers is None
    truth, predicted = [1] * 10 + [0] * 10, [1] * 6 + [0] * 4 + [1] * 3 + [0] * 7
    loss = cp.pragma_loss(truth, predicted, preferences=cp.Preferences({1: preference, 0: 0}, metric="f"))
    assert 1 - loss == pytest.approx(fbeta_score(truth, predicted, beta=beta), abs=1e-12)


def test_answers_not_given_count_as_eighty_per_cent():
    assert cp.Preference().answers == (0.8, 0.8)
    assert cp.Preference(1, 0.1).answers == (0.1, 0.8)
    assert cp.Preference().precision_at_full_recall is None
    assert cp.Preference().recall_weight_for("f") == cp.Preference(1, 0.8, 0.8).recall_weight_for("f")


def test_what_a_file_cannot_hold(tmp_path):
    own = cp.Preferences(metric=cp.Metric("own", lambda p, r, weight: p * r))
    with pytest.raises(cp.InputError, match="your own code, which a file cannot hold"):
        own.to_toml(tmp_path / "preferences.toml")
    with pytest.raises(cp.InputError, match="labels that are text, numbers or true/false"):
        cp.Preferences({("a", 1): cp.Preference()}).to_toml(tmp_path / "preferences.toml")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "text",
    [
        ".".join("a" * 2000) + " = 1",
        "[" + " . ".join(['"a"'] * 2000) + "]",
        'x = {y = """ """"", ' + ".".join(["'a'"] * 2000) + " = 1}",
        "#'''\n" + ".".join("a" * 2000) + " = 1",
    ],
)
def test_a_key_of_many_names_costs_nothing(text):
    with pytest.raises(cp.InputError, match="joins more than 16 names by dots"):
        cp.Preferences.from_toml_text(text)


@pytest.mark.parametrize("quote", ['"', "'", '"""', "'''"])
def test_a_label_may_hold_many_dots(quote):
    label = ".a" * 40
    text = f"[[class]]\nlabel = {quote}{label}{quote}\nimportance = 3.5  # {label}"
    assert cp.Preferences.from_toml_text(text).of(label).importance == 3.5


def test_only_answers_that_were_given_are_said_to_be_accepted():
    """What nobody answered is no statement of theirs; a class without importance adds nothing to the loss."""
    assert cp.Preference().describe() == "importance 1; recall and precision count alike."
    assert "accept a precision of 30 %" in cp.Preference(precision_at_full_recall=0.3).describe()
    assert cp.Preference(0.0).describe() == "importance 0."
    assert cp.Preference(0.0, min_recall=0.5).describe() == "importance 0; recall never below 50 %."
