"""plan_labels inside engines: every engine draws the same rows, and the plan is that of the rows in memory."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import compromis as cp
from compromis.frames.sampling import PRIME
from compromis.model_selection import plan_labels
from tests.frame_kinds import EVERY, make, running

ROWS = 900
RNG = np.random.default_rng(7)
TRUTH = np.where(RNG.random(ROWS) < 0.1, "fraud", "ok")
SCORE = (1 / (1 + np.exp(3 - 2 * RNG.normal(1.5 * (TRUTH == "fraud"))))).round(3)
COLUMNS = {
    "id": (RNG.permutation(ROWS) * 7 + 3).tolist(),
    "fraud": SCORE.tolist(),
    "ok": (1 - SCORE).tolist(),
    "predicted": np.where(SCORE > 0.3, "fraud", "ok").tolist(),
    "judge": np.where(RNG.random(ROWS) < 0.85, TRUTH, "ok").tolist(),
    "truth": TRUTH.tolist(),
}
OPTIONS = {"budget": 80, "preferences": {"fraud": cp.Preference(10, 0.1, 0.9)}, "random_state": 4}
WAYS = {
    "votes": ({"proba": ["fraud", "ok"], "judge": "judge", "weights": {"fraud": 2.0}}, {"weights": {"fraud": 2.0}}),
    "predictions": ({"prediction": "predicted", "judge": "judge"}, {}),
}


def in_memory(way):
    votes = np.column_stack([COLUMNS["fraud"], COLUMNS["ok"]])
    given = votes if way == "votes" else COLUMNS["predicted"]
    return plan_labels(given, labels=["fraud", "ok"], judge=COLUMNS["judge"], **WAYS[way][1], **OPTIONS)


def as_columns(frame):
    """Any engine's frame as lists by name."""
    import narwhals as nw

    opened = nw.from_native(frame)
    table = opened.collect() if isinstance(opened, nw.LazyFrame) else opened
    return {name: table[name].to_list() for name in table.columns}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", EVERY)
def test_every_engine_draws_the_same_rows(kind, way):
    with running(kind):
        frame = make(kind, COLUMNS)
        plan = plan_labels(frame, row_id="id", **WAYS[way][0], **OPTIONS)
        rows = as_columns(plan.frame)
    assert str(plan) == str(in_memory(way))
    reference = plan_labels(make("pyarrow", COLUMNS), row_id="id", **WAYS[way][0], **OPTIONS)
    np.testing.assert_array_equal(plan.rows, reference.rows)
    np.testing.assert_array_equal(plan.stratum, reference.stratum)
    assert rows["id"] == plan.rows.tolist()
    assert rows["stratum"] == plan.stratum.tolist()
    np.testing.assert_allclose(rows["probability"], plan.probability)
    place = {row: number for number, row in enumerate(COLUMNS["id"])}
    assert rows["truth"] == [COLUMNS["truth"][place[row]] for row in rows["id"]]
    assert set(COLUMNS) < set(rows)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_rows_of_eager_frames_need_no_ids(kind):
    plan = plan_labels(make(kind, COLUMNS), proba=["fraud", "ok"], judge="judge", **OPTIONS)
    rows = as_columns(plan.frame)
    assert [COLUMNS["id"][row] for row in plan.rows.tolist()] == rows["id"]
    assert "compromis row" not in rows
    counts = cp.Counts.from_predictions(rows["truth"], rows["predicted"], sample=plan)
    assert counts.total == pytest.approx(ROWS)


def test_the_next_phase_draws_other_rows():
    frame = make("polars_lazy", COLUMNS)
    options = {"proba": ["fraud", "ok"], "judge": "judge", "row_id": "id"}
    first = plan_labels(frame, **options, **OPTIONS)
    second = plan_labels(frame, **options, **OPTIONS, after=first)
    assert not {*first.rows.tolist()} & {*second.rows.tolist()}
    assert second.drawn.sum() == 160


def test_ids_are_drawn_evenly():
    """Each row has its chance, whatever its id: consecutive ones, multiples, far apart ones."""
    for ids in (np.arange(300), np.arange(300) * 1000, np.arange(300) * (PRIME // 300)):
        often = np.zeros(300)
        columns = {"id": ids.tolist(), "predicted": ["a"] * 300}
        frame = make("polars", columns)
        for seed in range(150):
            plan = plan_labels(
                frame, prediction="predicted", row_id="id", budget=30, labels=["a", "b"], random_state=seed
            )
            often[np.searchsorted(ids, plan.rows)] += 1
        chi_squared = ((often - 15) ** 2).sum() / (15 * 0.9)
        assert 200 < chi_squared < 410  # of 299 degrees of freedom


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({}, {"row_id": None}, "row_id is missing"),
        ({"id": [float(row) for row in COLUMNS["id"]]}, {}, "must hold whole numbers"),
        ({"id": [1] * ROWS}, {}, "not different in each row"),
        ({"fraud": [None, *COLUMNS["fraud"][1:]]}, {}, "1 rows have a vote that is missing"),
        ({"judge": [None, *COLUMNS["judge"][1:]]}, {}, "1 row without a label"),
        ({}, {"judge": ["ok"] * ROWS}, "judge is a column of the frame"),
        ({}, {"pos_label": "fraud"}, "leave pos_label out"),
        ({}, {"prediction": "predicted"}, "give prediction"),
        ({}, {"proba": None, "prediction": "predicted", "weights": [1, 2]}, "decided already"),
        ({}, {"judge": "jugde"}, "did you mean 'judge'"),
    ],
)
def test_mistakes_are_one_sentence(change, options, words):
    frame = make("polars_lazy", {**COLUMNS, **change}, {"fraud": pa.float64()})
    given = {"proba": ["fraud", "ok"], "judge": "judge", "row_id": "id", **OPTIONS, **options}
    with pytest.raises(cp.InputError, match=words):
        plan_labels(frame, **given)
