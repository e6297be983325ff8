"""Records: what they hold, what a stranger computes again, and what is refused."""

import json

import msgspec
import numpy as np
import pytest

import compromis as cp
from compromis.evaluation.record import fingerprint

CONSTRAINTS = (
    {"min_recall": 0.8, "confidence": 0.95},
    {"min_recall": 0.5, "min_precision": 0.3, "confidence": 0.9},
    {"min_recall": 0.99, "confidence": 0.99},
    {"min_recall": 0.8},
    {},
)


def rows(seed=0, classes=2):
    rng = np.random.default_rng(seed)
    y = rng.choice(["ill", "well", "other"][:classes], size=1200, p=[[0.2, 0.8], [0.2, 0.6, 0.2]][classes - 2])
    names = ["ill", "well", "other"][:classes]
    hot = (y[:, np.newaxis] == names) * 1.5
    votes = np.round(np.exp(rng.normal(size=(1200, classes)) + hot), 2)
    return cp.Votes.from_proba(y, votes, labels=names)


def recorded(tmp_path, constraints, classes=2, **facts):
    votes, preferences = rows(classes=classes), cp.Preferences({"ill": cp.Preference(3, **constraints)})
    search = cp.search_weights(votes, preferences=preferences, random_state=0)
    record = search.decision.record(votes, preferences=preferences, search=search, **facts)
    record.to_json(tmp_path / "record.json")
    cp.evidence.write(votes, tmp_path / "evidence.json")
    return search, record


def verify(tmp_path):
    return cp.evaluation.Record.verify(tmp_path / "record.json", tmp_path / "evidence.json")


def test_who_signs_sees_which_rows_a_person_looks_at(tmp_path):
    """Counted row by row; a forged share is refused."""
    votes = rows(classes=3)
    search = cp.search_weights(votes, review=cp.Review(max_share=0.05), random_state=0)
    record = search.decision.record(votes, preferences={}, search=search)
    second, best = np.sort(votes.votes * search.weights, axis=1)[:, -2:].T
    flagged = votes.multiplicity[best < search.decision.review * second].sum()
    document = json.loads(record.to_json(tmp_path / "record.json"))
    assert document["review"]["summary"]["share"] == pytest.approx(flagged / 1200)
    assert 0 < flagged <= 60
    assert "with the reviewer" in record.to_html()
    cp.evidence.write(votes, tmp_path / "evidence.json")
    assert verify(tmp_path).review.share == record.review.share
    forged(tmp_path, lambda d: d["review"]["summary"].__setitem__("share", 0.01))
    with pytest.raises(cp.InputError, match=r"review\.summary\.share does not follow"):
        verify(tmp_path)


@pytest.mark.filterwarnings("ignore::compromis.errors.GuaranteeWarning")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("constraints", CONSTRAINTS)
def test_a_stranger_computes_every_number_again(tmp_path, constraints, classes):
    search, record = recorded(tmp_path, constraints, classes, title="Screening", collected="in May", made="2026-05-31")
    again = verify(tmp_path)
    assert again.to_json() == record.to_json()
    document = json.loads((tmp_path / "record.json").read_text())
    matrix = cp.Counts.from_matrix(document["numbers"]["matrix"], search.classes)
    assert cp.evaluate(matrix, preferences=record.preferences).summary.loss == pytest.approx(
        document["numbers"]["loss"]
    )
    assert document["evidence"]["sha256"] == fingerprint((tmp_path / "evidence.json").read_bytes())
    if search.guarantee is None:
        assert document["guarantee"] is None
    else:
        assert again.guarantee.items == search.guarantee.items
        assert again.guarantee.price == search.guarantee.price


def test_a_record_of_a_planned_sample_says_so(tmp_path):
    votes = [[3, 1], [1, 3], [2, 1], [1, 2]]
    sample = cp.evidence.Sample.from_strata(["x", "x", "y", "y"], sizes={"x": 40, "y": 60})
    evidence = cp.Votes.from_proba(["ill", "well", "ill", "well"], votes, labels=["ill", "well"], sample=sample)
    record = cp.Decision(("ill", "well"), [1, 1]).record(evidence, preferences={})
    assert any("estimated for 100 rows from 4 labelled ones" in limit for limit in record.limits())
    record.to_json(tmp_path / "record.json")
    cp.evidence.write(evidence, tmp_path / "evidence.json")
    assert verify(tmp_path).counts.matrix.tolist() == [[50, 0], [0, 50]]


def forged(tmp_path, change):
    """Change the record as one who can seal it again."""
    document = json.loads((tmp_path / "record.json").read_text())
    del document["seal"]
    change(document)
    content = msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
    document["seal"] = fingerprint(content)
    (tmp_path / "record.json").write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")


FORGERIES = {
    "a rate": lambda d: d["numbers"]["by_class"]["recall"].__setitem__(0, 0.99),
    "a cell": lambda d: d["numbers"]["matrix"][0].__setitem__(0, d["numbers"]["matrix"][0][0] + 1),
    "the loss": lambda d: d["numbers"].__setitem__("loss", d["numbers"]["loss"] - 0.01),
    "the verdict": lambda d: d["verdict"].__setitem__("state", "better than ever"),
    "a weight": lambda d: d["decision"]["weights"].__setitem__(0, d["decision"]["weights"][0] * 3),
    "the level": lambda d: d["guarantee"]["items"][0].__setitem__("level", 0.99),
    "the misses": lambda d: d["guarantee"]["items"][0].__setitem__("wrong", 0),
    "the price": lambda d: d["guarantee"]["price"][0].__setitem__("precision_after", 0.9),
    "the weights without it": lambda d: d["guarantee"]["before"].__setitem__(0, 9.0),
    "the halving": lambda d: d["guarantee"].__setitem__("half", 1),
    "no guarantee": lambda d: d.__setitem__("guarantee", None),
    "whose votes": lambda d: d["guarantee"].__setitem__("calibration", "my own"),
    "exactness": lambda d: d["guarantee"].__setitem__("calibration", "out-of-bag"),
    "the preferences": lambda d: d.__setitem__("preferences", d["preferences"].replace("0.8", "0.7")),
    "no preferences": lambda d: d.__setitem__("preferences", "nothing"),
    "the limits": lambda d: d["limits"].pop(),
    "another field": lambda d: d.__setitem__("more", 1),
    "a field less": lambda d: d.pop("limits"),
    "no facts": lambda d: d.__setitem__("facts", {}),
    "a date": lambda d: d["facts"].__setitem__("made", "soon"),
    "the rows": lambda d: d["evidence"].__setitem__("rows", 7),
    "the classes": lambda d: d["decision"]["classes"].reverse(),
    "a file in place of the decision": lambda d: d.__setitem__("decision", 7),
    "another version's verdict": lambda d: (d.__setitem__("compromis", "9"), d["verdict"].__setitem__("loss", 0.0)),
    "another version's fields": lambda d: (d.__setitem__("compromis", "9"), d["verdict"].pop("loss")),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_forgeries_are_refused_although_they_are_sealed(tmp_path, forgery):
    recorded(tmp_path, CONSTRAINTS[0])
    verify(tmp_path)
    forged(tmp_path, FORGERIES[forgery])
    with pytest.raises(cp.InputError, match=r"record\.json is refused"):
        verify(tmp_path)


@pytest.mark.parametrize(("field", "value"), [("compromis", 9), ("evidence", None)])
def test_what_lacks_a_part_of_a_record_is_none(tmp_path, field, value):
    recorded(tmp_path, {})
    forged(tmp_path, lambda document: document.__setitem__(field, value))
    with pytest.raises(cp.InputError, match=r"record\.json is no record of compromis"):
        verify(tmp_path)


def test_an_untouched_record_that_is_sealed_again_is_the_same(tmp_path):
    recorded(tmp_path, CONSTRAINTS[0])
    before = (tmp_path / "record.json").read_bytes()
    forged(tmp_path, lambda _: None)
    assert (tmp_path / "record.json").read_bytes() == before


def test_another_form_of_the_same_json_is_refused(tmp_path):
    recorded(tmp_path, CONSTRAINTS[0])
    path = tmp_path / "record.json"
    path.write_text(json.dumps(json.loads(path.read_text())))
    with pytest.raises(cp.InputError, match="its seal does not fit"):
        verify(tmp_path)


def test_another_version_may_say_it_in_other_words(tmp_path):
    recorded(tmp_path, CONSTRAINTS[0])

    def reworded(document):
        document["compromis"] = "9.9.9"
        document["verdict"]["sentence"] = "well done"
        document["limits"] = ["few"]

    forged(tmp_path, reworded)
    assert verify(tmp_path).guarantee.given


@pytest.mark.parametrize("lost", [["limits"], ["verdict"], ["verdict", "sentence"]])
def test_another_version_may_not_leave_words_out(tmp_path, lost):
    recorded(tmp_path, CONSTRAINTS[0])

    def shortened(document):
        document["compromis"] = "9.9.9"
        del (document[lost[0]] if lost[1:] else document)[lost[-1]]

    forged(tmp_path, shortened)
    with pytest.raises(cp.InputError, match=r"record\.json is refused: the set of fields of"):
        verify(tmp_path)


def test_a_record_says_when_its_decision_may_not_be_used(tmp_path):
    _, record = recorded(tmp_path, CONSTRAINTS[0], made="2020-01-01", valid_until="2020-12-31")
    assert record.lapsed
    assert "lapsed on 2020-12-31" in record.failures()[0]
    with pytest.warns(cp.GuaranteeWarning):
        _, record = recorded(tmp_path, CONSTRAINTS[2])
    assert any("guarantee not given: " in failure for failure in record.failures())
    assert recorded(tmp_path, CONSTRAINTS[0])[1].failures() == []


def test_an_estimator_s_decision_is_recorded_from_its_honest_votes(tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat(["ill", "well"], [150, 600])
    X = rng.normal(size=(750, 3)) + 2 * (y == "ill")[:, np.newaxis]
    preferences = {"ill": cp.Preference(3, min_recall=0.7, confidence=0.9)}
    forest = cp.PragmaForestClassifier(30, preferences=preferences, random_state=0).fit(X, y)
    search = forest.tuning_.chosen
    record = search.decision.record(forest.patterns_, preferences=preferences, search=search)
    assert record.guarantee.calibration == "out-of-bag"
    assert any("measured, not proven" in limit for limit in record.limits())


def test_the_page_holds_all_of_it_and_no_code(tmp_path):
    _, record = recorded(tmp_path, CONSTRAINTS[0], title="<script>alert(1)</script>", collected="</p><img src=x>")
    page = record.to_html(tmp_path / "record.html")
    assert page == (tmp_path / "record.html").read_text()
    assert "<script" not in page
    assert "<img" not in page
    assert record.document()["seal"] in page
    assert "Price of the guarantee" in page


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"valid_until": "31.12.2026"}, "a date such as 2026-12-31"),
        ({"rows": "some"}, "rows is 'own'"),
        ({"evidence": "votes"}, "compromis.Votes, got str"),
        ({"preferences": None}, "give preferences"),
    ],
)
def test_what_cannot_be_recorded_is_refused(facts, sentence):
    votes, preferences = rows(), {"ill": cp.Preference(3)}
    search = cp.search_weights(votes, preferences=preferences)
    given = {"evidence": votes, "preferences": preferences, "search": search} | facts
    with pytest.raises(cp.InputError, match=sentence):
        search.decision.record(given.pop("evidence"), **given)


def test_a_search_of_other_rows_is_refused():
    preferences = {"ill": cp.Preference(3, min_recall=0.8, confidence=0.9)}
    search = cp.search_weights(rows(1), preferences=preferences, random_state=0)
    with pytest.raises(cp.InputError, match="give the Votes that were searched"):
        search.decision.record(rows(2), preferences=preferences, search=search)
    votes = rows(1)
    other = cp.Decision(("well", "ill"), [1.0, 2.0])
    with pytest.raises(cp.InputError, match=r"use Decision\.for_classes"):
        other.record(votes, preferences=preferences)
    by = cp.search_weights(
        [0, 1] * 20, np.eye(2)[[0, 1] * 20], preferences={0: cp.Preference(min_recall=0.5)}, by=[0] * 20 + [1] * 20
    )
    with pytest.raises(cp.InputError, match="which group a row is of"):
        by.decision.record(cp.Votes.from_proba([0, 1], np.eye(2)), preferences={}, search=by)


def test_preferences_that_the_search_did_not_have_are_refused():
    """'Proven best' is true of the preferences that were searched by, and of no others."""
    votes = rows()
    search = cp.search_weights(votes, preferences={"ill": cp.Preference(3)}, random_state=0)
    with pytest.raises(
        ValueError, match=r"^preferences are not those of the search: by them its loss is .*, but it found"
    ):
        search.decision.record(votes, preferences={"ill": cp.Preference(9, 0.1, 0.9)}, search=search)
    told = search.decision.record(votes, preferences={"ill": cp.Preference(3)}, search=search).limits()
    assert not [limit for limit in told if "minima" in limit]  # there are none that could be missed
