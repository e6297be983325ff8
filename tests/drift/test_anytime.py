"""Anytime tests: the mixture written out, its mean under the minimum, what is carried on, and what is refused."""

import json
import math
from itertools import product

import numpy as np
import pytest

import compromis as cp
from compromis.drift import AnytimeTest, AnytimeTests

FRAUD = cp.Preferences({"fraud": cp.Preference(10, 0.1, 0.9, min_recall=0.95, confidence=0.95)})


def written_out(stream, minimum):
    """The sum over starting rows and odds, from the definition."""
    chance, total = 1 - minimum, 0.0
    for times in (1.5, 2.5, 4.0, 8.0):
        other = chance * times / (1 - chance + chance * times)
        ratio = [other / chance if wrong else (1 - other) / (1 - chance) for wrong in stream]
        whole = 0.3 * math.prod(ratio)
        for start in range(len(stream)):
            left = [0.7 * math.sqrt(50 / (50 + rows)) for rows in (start, start + 1)]
            whole += (left[0] - left[1]) * math.prod(ratio[start:])
        total += whole / 4
    return total + 0.7 * math.sqrt(50 / (50 + len(stream)))


@pytest.mark.parametrize("minimum", [0.95, 0.5, 0.99])
def test_the_evidence_is_the_mixture(minimum):
    rng = np.random.default_rng(int(100 * minimum))
    stream = (rng.random(40) < 0.2).tolist()
    test = AnytimeTest(label="a", rate="recall", minimum=minimum)
    for length, wrong in enumerate(stream, start=1):
        test = test.after(1, int(wrong))
        assert test.evidence == pytest.approx(written_out(stream[:length], minimum), rel=1e-9)


@pytest.mark.parametrize("parts", [(1, 1, 1, 1, 1, 1), (2, 3, 1), (6,)])
def test_where_the_rate_is_its_minimum_the_mean_evidence_is_one(parts):
    """Ville's inequality needs no more; all 2^6 streams, each with its probability."""
    minimum, mean = 0.8, 0.0
    for stream in product((0, 1), repeat=6):
        test, done = AnytimeTest(label="a", rate="recall", minimum=minimum), 0
        for rows in parts:
            test, done = test.after(rows, sum(stream[done : done + rows])), done + rows
        mean += 0.2 ** sum(stream) * 0.8 ** (6 - sum(stream)) * test.evidence
    assert mean == pytest.approx(1, abs=1e-12)


def test_a_minimum_of_one_is_disproved_by_one_row():
    test = AnytimeTest(label="a", rate="recall", minimum=1.0).after(1_000, 0)
    assert not test.alarm
    assert test.after(1, 1).alarm


def test_a_long_stream_neither_overflows_nor_forgets():
    test = AnytimeTest(label="a", rate="recall", minimum=0.9).after(10**12, 10**10)
    assert not test.alarm
    assert test.after(10**6, 5 * 10**5).alarm


def test_an_alarm_stays():
    test = AnytimeTest(label="a", rate="recall", minimum=0.9).after(40, 30)
    assert test.alarm_rows == 40
    assert test.after(10_000, 0).alarm_rows == 40


def days(recall, number, rows=20, seed=0):
    rng = np.random.default_rng(seed)
    hits = rng.binomial(rows, recall, size=number).tolist()
    return {f"day {day}": cp.Counts.from_matrix([[hit, rows - hit], [5, 300]], ["fraud", "ok"]) for day, hit in enumerate(hits)}  # fmt: skip


REFERENCE = cp.Counts.from_matrix([[98, 2], [30, 1970]], ["fraud", "ok"])


def test_monitor_carries_the_tests_on_from_day_to_day(tmp_path):
    periods = days(0.7, 6)
    whole = cp.monitor(periods, preferences=FRAUD, reference=REFERENCE).tests
    carried = None
    for name, counts in periods.items():
        carried = cp.monitor({name: counts}, preferences=FRAUD, reference=REFERENCE, tests=carried).tests
        carried.to_json(tmp_path / "state.json")
        carried = AnytimeTests.from_json(tmp_path / "state.json")
    assert carried == whole
    assert carried.alarm
    assert "ALARM: recall of 'fraud' has fallen below 0.95" in str(cp.monitor(periods, preferences=FRAUD, reference=REFERENCE)).replace("\n", " ")  # fmt: skip
    with pytest.raises(cp.InputError, match="'day 1' were added to the tests before"):
        cp.monitor({"day 1": periods["day 1"]}, preferences=FRAUD, reference=REFERENCE, tests=carried)


def test_the_reference_is_no_new_row():
    result = cp.monitor({"accepted": REFERENCE, "day": days(0.95, 1)["day 0"]}, preferences=FRAUD)
    assert result.tests.tests[0].rows == 20
    assert result.document()["tests"]["alarm"] is False


def test_what_the_tests_do_not_take():
    weighted = cp.Counts.from_predictions(["fraud", "ok"], ["fraud", "ok"], sample_weight=[0.5, 2.0])
    tests = AnytimeTests.of(["fraud", "ok"], FRAUD)
    with pytest.raises(cp.InputError, match="leave sample weights out"):
        tests.after("day", weighted)
    other = cp.Preferences({"fraud": cp.Preference(min_recall=0.9)})
    with pytest.raises(cp.InputError, match=r"recall of 'fraud' at least 0\.95"):
        cp.monitor({"day": REFERENCE}, preferences=other, reference=REFERENCE, tests=tests)
    assert cp.monitor({"day": weighted}, preferences=FRAUD, reference=REFERENCE).tests is None


def test_each_of_several_minima_has_its_part_of_the_risk():
    both = cp.Preferences({"fraud": cp.Preference(min_recall=0.9, min_precision=0.5)})
    assert [(test.rate, test.limit) for test in AnytimeTests.of(["fraud", "ok"], both).tests] == [
        ("recall", 200),
        ("precision", 200),
    ]


@pytest.mark.parametrize("field", ["rows", "wrong", "minimum", "terms", "alarm_rows", "label", "largest", "rate"])
def test_a_spoiled_file_is_refused_in_a_sentence(tmp_path, field):
    tests = AnytimeTests.of(["fraud", "ok"], FRAUD).after("day", REFERENCE)
    document = json.loads(tests.to_json())
    document["tests"][0][field] = {"terms": [0.1], "rate": "f", "label": [1], "alarm_rows": 7}.get(field, -1)
    (tmp_path / "state.json").write_text(json.dumps(document))
    with pytest.raises(cp.InputError, match=r"state\.json"):
        AnytimeTests.from_json(tmp_path / "state.json")
