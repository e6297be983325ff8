"""Evidence in files: the same back, refused when damaged, small cells kept back; partitions and merge orders."""

from __future__ import annotations

import json
import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

import compromis as cp
from compromis.evidence.files import suppress
from tests.stress.promise_13_releases import RELEASES


def same(first, second):
    if isinstance(first, cp.Counts):
        return (
            first.classes == second.classes
            and np.array_equal(first.matrix, second.matrix)
            and first.rows == second.rows
        )
    if isinstance(first, cp.Votes):
        return (
            np.array_equal(first.votes, second.votes)
            and np.array_equal(first.truth, second.truth)
            and np.array_equal(first.multiplicity, second.multiplicity)
            and np.array_equal(first.squares, second.squares)
            and (first.rows, first.left_out, first.width) == (second.rows, second.left_out, second.width)
        )
    return (
        np.array_equal(first.threshold, second.threshold)
        and np.array_equal(first.true_positives, second.true_positives)
        and np.array_equal(first.false_positives, second.false_positives)
        and (first.pos_label, first.binned) == (second.pos_label, second.binned)
    )


def some_evidence(rng):
    truth, decision = rng.integers(0, 3, 50), rng.integers(0, 3, 50)
    votes = rng.integers(0, 5, (50, 3))
    votes[:, 0] += 1
    yield cp.Counts.from_predictions(truth, decision)
    yield cp.Counts.from_predictions(truth, decision, sample_weight=rng.random(50))
    yield cp.Votes.from_proba(truth, votes, labels=[0, 1, 2], merge=True)
    yield cp.Counts.from_predictions(truth, decision, amount=rng.random(50))
    yield cp.Votes.from_proba(truth, votes, labels=[0, 1, 2], merge=True, amount=rng.random(50))
    yield cp.Votes.from_proba(truth, votes, labels=[0, 1, 2], merge=True, sample_weight=rng.random(50))
    yield cp.OperatingPoints.from_predictions(truth == 1, rng.random(50))
    yield cp.OperatingPoints.from_bins([0.5, 0.0], [3, 1], [0, 7], pos_label="é\n😀")


def test_written_and_read_back(tmp_path, rng):
    for evidence in some_evidence(rng):
        cp.evidence.write(evidence, tmp_path / "x.json")
        assert same(cp.evidence.read(tmp_path / "x.json").evidence, evidence)


def test_every_field_that_is_damaged_is_noticed(tmp_path, rng):
    """Each field removed, and each number made negative or text, is refused with one sentence."""
    for evidence in some_evidence(rng):
        path = tmp_path / "x.json"
        cp.evidence.write(evidence, path)
        document = json.loads(path.read_text())
        for field in document["evidence"]:
            for wrong in (None, "x", -1, {}, [[-1.0]], ["a"]):
                if document["evidence"][field] is None or (field == "pos_label" and wrong in ("x", -1)):
                    continue
                damaged = json.loads(json.dumps(document))
                damaged["evidence"][field] = wrong
                if field == "squares" and wrong is None:
                    continue
                path.write_text(json.dumps(damaged))
                with pytest.raises(cp.InputError) as caught:
                    cp.evidence.read(path)
                assert "\n" not in str(caught.value)
            missing = json.loads(json.dumps(document))
            del missing["evidence"][field]
            path.write_text(json.dumps(missing))
            with pytest.raises(cp.InputError):
                cp.evidence.read(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [("truth", 2**63), ("rows", 10**400), ("left_out", 10**400), ("multiplicity", 1e308), ("votes", 10**400)],
)
def test_numbers_beyond_64_bits_are_refused(tmp_path, field, value):
    path = tmp_path / "votes.json"
    cp.evidence.write(cp.Votes.from_proba([0, 1], [[1, 2], [3, 1]], labels=[0, 1], sample_weight=[0.5, 2]), path)
    document = json.loads(path.read_text())
    part = document["evidence"]
    part[field] = value if isinstance(part[field], int) else [value] * 2 if field != "votes" else [[value, 1]] * 2
    path.write_text(json.dumps(document))
    with pytest.raises(cp.InputError) as caught:
        cp.evidence.read(path)
    assert len(str(caught.value)) <= 1000


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema": "compromis/decision"}', "\0\1"])
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(cp.InputError, match="is no evidence file of compromis"):
        cp.evidence.read(tmp_path / "x.json")


def test_a_later_version_is_refused(tmp_path):
    cp.evidence.write(cp.Counts.from_matrix([[1, 0], [0, 1]], ["a", "b"]), tmp_path / "x.json")
    text = (tmp_path / "x.json").read_text().replace('"version":2', '"version":3')
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(cp.InputError, match=r"has version 3, this compromis reads up to 2; update compromis$"):
        cp.evidence.read(tmp_path / "x.json")


@pytest.mark.parametrize("path", sorted((RELEASES / "0.1.0").glob("evidence_*.json")), ids=lambda path: path.stem)
def test_files_of_the_release_that_was_never_published_are_refused(path):
    with pytest.raises(
        cp.InputError, match=r"was written by compromis 0\.1\.0, which was never published; count again$"
    ):
        cp.evidence.read(path)


def test_small_cells_are_kept_back_and_cannot_be_found_by_subtraction():
    counts = cp.Counts.from_matrix([[90, 4, 0], [5, 40, 1], [0, 0, 3]], ["a", "b", "c"])
    kept, what = suppress(counts, 5)
    assert kept.matrix.tolist() == [[90, 0, 0], [5, 40, 0], [0, 0, 0]]
    assert kept.rows == 135  # not 143: the total would tell
    assert (what.cells, what.most_rows) == (3, 12)
    patterns = cp.Votes.from_proba(["a"] * 6 + ["b"] * 3, [[3, 1]] * 6 + [[1, 3]] * 2 + [[0, 0]], labels=["a", "b"])
    kept, what = suppress(patterns, 5)
    assert (kept.multiplicity.tolist(), kept.rows, kept.left_out, what.cells) == ([6], 6, 0, 2)
    points = cp.OperatingPoints.from_bins([0.5, 0.0], [7, 4], [2, 9], pos_label="a")
    kept, what = suppress(points, 5)
    assert (np.diff(kept.true_positives).tolist(), np.diff(kept.false_positives).tolist()) == ([7, 0], [0, 9])
    assert (kept.positives, kept.negatives, what.cells) == (7, 9, 2)


def test_what_cannot_be_kept_back():
    weighted = cp.Counts.from_predictions([0, 1], [0, 1], sample_weight=[1, 2])
    with pytest.raises(cp.InputError, match="weighted evidence"):
        suppress(weighted, 5)
    with pytest.raises(cp.InputError, match="count scores in bins"):
        suppress(cp.OperatingPoints.from_predictions([0, 1], [0.1, 0.2]), 5)
    with pytest.raises(cp.InputError, match="every pattern of votes has fewer than 5 rows"):
        suppress(cp.Votes.from_proba([0, 1], [[1, 2], [2, 1]]), 5)
    with pytest.raises(cp.InputError, match="min_cell is a whole number of at least 0, got -1"):
        suppress(weighted, -1)


def test_weighted_votes_made_by_hand_are_read_back(tmp_path):
    votes = cp.Votes(
        votes=np.eye(2), truth=np.array([0, 1]), multiplicity=np.array([2.5, 4.0]), classes=("a", "b"), rows=2
    )
    cp.evidence.write(votes, tmp_path / "x.json")
    assert cp.evidence.read(tmp_path / "x.json").evidence.squares.tolist() == [2.5, 4.0]  # what they count as


def test_kinds_do_not_mix(tmp_path):
    cp.evidence.write(cp.Counts.from_matrix([[1, 0], [0, 1]], ["a", "b"]), tmp_path / "1.json")
    cp.evidence.write(cp.OperatingPoints.from_bins([0.0], [1], [1], pos_label="a"), tmp_path / "2.json")
    parts = [cp.evidence.read(tmp_path / name) for name in ("1.json", "2.json")]
    with pytest.raises(cp.InputError, match="counts and operating points do not add up; merge files of one kind"):
        cp.evidence.merge(parts)
    with pytest.raises(cp.InputError, match="there is nothing to merge"):
        cp.evidence.merge([])


def in_parts(rng, rows):
    """Random parts of the rows, some of one row, in random order."""
    order = rng.permutation(rows)
    cuts = np.sort(rng.integers(0, rows + 1, rng.integers(0, 6)))
    return [part for part in np.split(order, cuts) if len(part)]


def merged(rng, parts):
    """Add parts pairwise in a random tree."""
    parts = list(parts)
    while len(parts) > 1:
        first, second = rng.choice(len(parts), 2, replace=False)
        joined = parts[first] + parts[second]
        parts = [part for place, part in enumerate(parts) if place not in (first, second)] + [joined]
    return parts[0]


def check_partitions(rng, cases):
    for _ in range(cases):
        rows, classes = int(rng.integers(1, 40)), int(rng.integers(2, 5))
        truth, decision = rng.integers(0, classes, rows), rng.integers(0, classes, rows)
        score, weight = np.round(rng.random(rows), 1), rng.exponential(size=rows)
        votes = rng.integers(0, 4, (rows, classes)) + np.eye(classes, dtype=int)[0]
        labels = list(range(classes))
        parts = in_parts(rng, rows)
        counts = merged(rng, [cp.Counts.from_predictions(truth[p], decision[p], labels=labels) for p in parts])
        expected = np.zeros((classes, classes), dtype=int)
        np.add.at(expected, (truth, decision), 1)
        assert np.array_equal(counts.matrix, expected)
        assert counts.rows == rows
        weighted = merged(
            rng,
            [cp.Counts.from_predictions(truth[p], decision[p], labels=labels, sample_weight=weight[p]) for p in parts],
        )
        for i, j in zip(*np.nonzero(expected), strict=True):
            exact = sum(map(Fraction, weight[(truth == i) & (decision == j)].tolist()), Fraction(0))
            assert math.isclose(weighted.matrix[i, j], float(exact), rel_tol=1e-12)
        points = merged(
            rng, [cp.OperatingPoints.from_predictions(truth[p] == 0, score[p], pos_label=True) for p in parts]
        )
        cuts = np.unique(score)[::-1]
        assert points.threshold[1:].tolist() == cuts.tolist()
        assert points.true_positives[1:].tolist() == [int(((truth == 0) & (score >= cut)).sum()) for cut in cuts]
        patterns = merged(rng, [cp.Votes.from_proba(truth[p], votes[p], labels=labels, merge=True) for p in parts])
        found = {
            (*row, t): n
            for row, t, n in zip(
                patterns.votes.tolist(), patterns.truth.tolist(), patterns.multiplicity.tolist(), strict=True
            )
        }
        keys, sizes = np.unique(np.column_stack([votes, truth]), axis=0, return_counts=True)
        assert found == {
            (*tuple(map(float, key[:-1])), int(key[-1])): int(size) for key, size in zip(keys, sizes, strict=True)
        }


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_partitions_and_merge_orders(rng):
    check_partitions(rng, 100)


@pytest.mark.stress
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_ten_thousand_partitions_and_merge_orders(rng):
    check_partitions(rng, 10_000)


def test_votes_are_written_and_read_in_little_memory(tmp_path):
    """3.9 million patterns of eight classes, from 10 MB of a compressed table, took 2.3 GB as lists of Python numbers."""
    votes = np.ones((60_000, 4))
    votes[:, 0] = np.arange(60_000)
    evidence = cp.Votes.from_proba(["a"] * 60_000, votes, labels=list("abcd"))
    tracemalloc.start()
    try:
        cp.evidence.write(evidence, tmp_path / "v.json")
        written = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        read = cp.evidence.read(tmp_path / "v.json").evidence
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    size = (tmp_path / "v.json").stat().st_size
    assert (written < 5 * size, peak - size < 6 * size) == (True, True)  # reading took 10.7 times as lists
    assert (read.dense() == evidence.dense()).all()


@pytest.mark.parametrize("spaced", [False, True])
def test_evidence_is_read_in_blocks_of_any_size(tmp_path, rng, monkeypatch, spaced):
    monkeypatch.setattr("compromis.evidence.files.READ_AT_ONCE", int(rng.integers(1, 40)))
    for evidence in some_evidence(rng):
        cp.evidence.write(evidence, tmp_path / "x.json")
        document = json.loads((tmp_path / "x.json").read_text())
        (tmp_path / "x.json").write_text(json.dumps(document, indent=1 if spaced else None))
        assert same(cp.evidence.read(tmp_path / "x.json").evidence, evidence)


@pytest.mark.parametrize("value", ["a],[b", "1,2", [1, [2]], None, True, {"a": [1, 2]}, [], -1, 0.5])
def test_what_is_no_number_is_refused_wherever_blocks_end(tmp_path, monkeypatch, value):
    monkeypatch.setattr("compromis.evidence.files.READ_AT_ONCE", 3)
    for field in ("votes", "truth", "multiplicity"):
        cp.evidence.write(
            cp.Votes.from_proba([0, 1] * 9, [[1, k] for k in range(18)], labels=[0, 1]), tmp_path / "x.json"
        )
        document = json.loads((tmp_path / "x.json").read_text())
        document["evidence"][field][7] = value
        (tmp_path / "x.json").write_text(json.dumps(document))
        with pytest.raises(cp.InputError, match=rf"x.json does not hold together: {field} must be"):
            cp.evidence.read(tmp_path / "x.json")
