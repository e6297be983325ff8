"""Laws of evidence files: nothing is lost in a round trip, parts add up to the whole, small cells stay home, damage is one sentence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import compromis as cp
from tests.properties.laws import answer, law, refused
from tests.properties.strategies import (
    CLASSES,
    any_scored_rows,
    columns_of,
    labels,
    points_of,
    predicted_rows,
    vote_rows,
)

FIELDS = {
    cp.Counts: ("matrix", "classes", "rows"),
    cp.Votes: ("votes", "truth", "multiplicity", "classes", "rows", "left_out", "width"),
    cp.OperatingPoints: (
        "threshold",
        "true_positives",
        "false_positives",
        "positives",
        "negatives",
        "pos_label",
        "binned",
    ),
}


def fields(evidence):
    """What evidence holds, as plain values."""
    values = [getattr(evidence, name) for name in FIELDS[type(evidence)]]
    return [value.tolist() if isinstance(value, np.ndarray) else value for value in values]


def counts_of(rows):
    return cp.Counts.from_predictions(*columns_of(rows), labels=CLASSES)


def patterns_of(rows):
    votes, truth = columns_of(rows)
    return cp.Votes.from_proba(truth, votes, labels=CLASSES, merge=True)


def bins_of(rows):
    inside = [[flag for flag, score in rows if score == edge] for edge in range(5, -1, -1)]
    hits = [sum(flags) for flags in inside]
    alarms = [len(flags) - sum(flags) for flags in inside]
    return cp.OperatingPoints.from_bins(range(5, -1, -1), hits, alarms, pos_label=True)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("evidence") / "site.json"


@law()
@given(predicted_rows, vote_rows, any_scored_rows)
def test_evidence_survives_a_file(path, predicted, votes, scored):
    for evidence in (counts_of(predicted), patterns_of(votes), points_of(scored), bins_of(scored)):
        written = cp.evidence.write(evidence, path)
        assert fields(cp.evidence.read(path).evidence) == fields(written.evidence) == fields(evidence)
        assert written.suppressed.cells == 0


@law()
@given(labels, st.data())
def test_labels_and_weights_survive_a_file(path, classes, data):
    truth, predicted = (
        data.draw(st.lists(st.sampled_from(classes), min_size=3, max_size=3)) for _ in ("truth", "decision")
    )
    weight = data.draw(st.lists(st.floats(1e-9, 1e9), min_size=3, max_size=3))
    counts = cp.Counts.from_predictions(truth, predicted, labels=classes, sample_weight=weight)
    cp.evidence.write(counts, path)
    again = cp.evidence.read(path).evidence
    assert again.classes == tuple(classes)
    assert [type(label) for label in again.classes] == [type(label) for label in classes]
    assert again.matrix.tolist() == counts.matrix.tolist()
    assert again.squares.tolist() == counts.squares.tolist()


@law()
@given(predicted_rows, predicted_rows, any_scored_rows, any_scored_rows)
def test_files_of_parts_merge_to_the_whole_in_any_order(path, first, second, one, other):
    for made, parts in ((counts_of, (first, second)), (points_of, (one, other)), (bins_of, (one, other))):
        files = []
        for part in parts:
            cp.evidence.write(made(part), path)
            files.append(cp.evidence.read(path))
        whole = fields(made([*parts[0], *parts[1]]))
        assert fields(cp.evidence.merge(files).evidence) == whole
        assert fields(cp.evidence.merge(reversed(files)).evidence) == whole
    refused(cp.evidence.merge, [])
    refused(cp.evidence.merge, [cp.evidence.EvidenceFile(counts_of(first), files[0].suppressed), files[0]])


@law(examples=10)
@given(vote_rows, vote_rows, st.lists(st.floats(0.1, 10), min_size=3, max_size=3))
def test_merged_votes_decide_what_all_votes_decide(path, first, second, weights):
    files = []
    for part in (first, second):
        cp.evidence.write(patterns_of(part), path)
        files.append(cp.evidence.read(path))
    merged = cp.evidence.merge(files).evidence.counts(weights).matrix
    assert merged.tolist() == patterns_of([*first, *second]).counts(weights).matrix.tolist()


@law()
@given(predicted_rows, any_scored_rows, st.integers(2, 4))
@example([("a", "a")] * 3 + [("a", "b")] * 2, [(True, 1)] * 3 + [(False, 1)] * 2, 3)
def test_small_cells_stay_home_and_their_number_is_noted(path, predicted, scored, least):
    counts, points = counts_of(predicted), bins_of(scored)
    file = cp.evidence.write(counts, path, min_cell=least)
    kept = cp.evidence.read(path).evidence.matrix
    assert ((kept == 0) | (kept >= least)).all()
    assert kept[counts.matrix >= least].tolist() == counts.matrix[counts.matrix >= least].tolist()
    assert file.suppressed.cells == ((counts.matrix > 0) & (counts.matrix < least)).sum()
    assert counts.rows - kept.sum() <= file.suppressed.most_rows
    cp.evidence.write(points, path, min_cell=least)
    for name in ("true_positives", "false_positives"):
        inside = np.diff(getattr(cp.evidence.read(path).evidence, name))
        assert ((inside == 0) | (inside >= least)).all()
    refused(cp.evidence.write, counts, path, min_cell=-least)
    refused(cp.evidence.write, points_of(scored), path, min_cell=least)


@law(examples=40)
@given(predicted_rows, st.data())
def test_a_damaged_file_is_refused_in_one_sentence_or_says_something_whole(path, rows, data):
    cp.evidence.write(counts_of(rows), path)
    written = path.read_bytes()
    place = data.draw(st.integers(0, len(written) - 2))
    damaged = data.draw(
        st.sampled_from(
            [
                written[:place],
                written[:place] + b"-" + written[place + 1 :],
                written[:place] + b"\xff" + written[place:],
            ]
        )
    )
    path.write_bytes(damaged)
    again = answer(cp.evidence.read, path)
    if again is not None:  # a letter of a label, or a digit, that happens to fit
        assert again.evidence.rows == again.evidence.matrix.sum()
        assert len(again.evidence.classes) == len(CLASSES)
