"""Stratified samples: estimates against exact enumeration, phases that add up, and what does not go together."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

import compromis as cp
from compromis.evidence.strata import Strata

# a population of three strata: (true class, predicted class) of each row
POPULATION = {
    "flagged": [(1, 1), (1, 1), (0, 1), (1, 1)],
    "near": [(0, 0), (1, 0), (0, 0), (0, 0), (0, 1)],
    "quiet": [(0, 0)] * 5 + [(1, 0)],
}
DRAWN = {"flagged": 2, "near": 2, "quiet": 3}
SIZES = {name: len(rows) for name, rows in POPULATION.items()}


def every_sample():
    """All samples of the design: each is as probable as any other."""
    return product(*(list(combinations(rows, DRAWN[name])) for name, rows in POPULATION.items()))


def counted(drawn, **options):
    names = [name for name, rows in zip(POPULATION, drawn, strict=True) for _ in rows]
    truth, predicted = zip(*(row for rows in drawn for row in rows), strict=True)
    sample = cp.evidence.Sample.from_strata(names, sizes=SIZES)
    return cp.Counts.from_predictions(truth, predicted, labels=[0, 1], sample=sample, **options)


def test_the_mean_over_every_sample_is_the_population():
    matrices = [counted(drawn).matrix for drawn in every_sample()]
    rows = [row for stratum in POPULATION.values() for row in stratum]
    truth = cp.Counts.from_predictions(*zip(*rows, strict=True), labels=[0, 1]).matrix
    np.testing.assert_allclose(np.mean(matrices, axis=0), truth, rtol=1e-12)


def test_the_variance_over_every_sample_is_the_designs():
    cells = [counted(drawn).matrix[1, 0] for drawn in every_sample()]
    expected = Fraction(0)
    for name, rows in POPULATION.items():  # N^2 (1 - n/N) S^2 / n
        size, drawn = SIZES[name], DRAWN[name]
        values = [Fraction(row == (1, 0)) for row in rows]
        mean = sum(values) / size
        spread = sum((value - mean) ** 2 for value in values) / (size - 1)
        expected += Fraction(size * (size - drawn), drawn) * spread
    assert np.var(cells) == pytest.approx(float(expected), rel=1e-9)


def test_rates_are_ratios_of_estimates():
    drawn = next(iter(every_sample()))
    counts, weight = counted(drawn), {name: Fraction(SIZES[name], DRAWN[name]) for name in POPULATION}
    hits = misses = Fraction(0)
    for name, rows in zip(POPULATION, drawn, strict=True):
        hits += weight[name] * sum(row == (1, 1) for row in rows)
        misses += weight[name] * sum(row == (1, 0) for row in rows)
    assert cp.evaluate(counts).per_class[1].recall == pytest.approx(float(hits / (hits + misses)), rel=1e-14)
    assert counts.total == pytest.approx(sum(SIZES.values()))
    assert counts.rows == sum(DRAWN.values())
    assert counts.labelled.sum() == counts.rows


RNG = np.random.default_rng(5)
SIZE = 60
SAMPLE = cp.evidence.Sample.from_strata(RNG.permutation(["a", "b", "c"] * 20), sizes={"a": 300, "b": 100, "c": 20})
TRUTH, FIRST, SECOND = RNG.integers(0, 3, (3, SIZE))
SHARES = RNG.dirichlet(np.ones(3), 6)[RNG.integers(0, 6, SIZE)]
PHASES = [np.arange(0, 25), np.arange(25, SIZE)]


def part(rows):
    return cp.evidence.Sample(strata=SAMPLE.strata, stratum=SAMPLE.stratum[rows])


def evidence_of(kind, rows):
    options = {"labels": range(3), "sample": part(rows)}
    if kind == "counts":
        return cp.Counts.from_predictions(TRUTH[rows], FIRST[rows], **options)
    if kind == "paired":
        return cp.PairedCounts.from_predictions(TRUTH[rows], FIRST[rows], SECOND[rows], **options)
    return cp.Votes.from_proba(TRUTH[rows], SHARES[rows], merge=kind == "merged", **options)


def matrices(evidence):
    if isinstance(evidence, cp.PairedCounts):
        return [evidence.first.matrix, evidence.second.matrix, evidence.first.tables, evidence.counts]
    counts = evidence.counts([1, 2, 1]) if isinstance(evidence, cp.Votes) else evidence
    more = [np.sort(evidence.multiplicity)] if isinstance(evidence, cp.Votes) and evidence.merged else []
    return [counts.matrix, counts.squares, counts.tables, *more]


@pytest.mark.parametrize("kind", ["counts", "paired", "votes", "merged"])
def test_two_phases_add_up_to_both_at_once(kind):
    phases, whole = [evidence_of(kind, rows) for rows in PHASES], evidence_of(kind, np.arange(SIZE))
    for together in (phases[0] + phases[1], phases[1] + phases[0]):
        assert together.rows == whole.rows
        for found, expected in zip(matrices(together), matrices(whole), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_samples_of_different_populations_stand_beside_each_other():
    other = cp.evidence.Sample.from_strata(["x", "x"], sizes={"x": 10})
    both = evidence_of("counts", np.arange(SIZE)) + cp.Counts.from_predictions(
        [0, 1], [0, 0], labels=range(3), sample=other
    )
    assert both.total == pytest.approx(430)
    assert both.strata.names == ("a", "b", "c", "x")


def test_the_order_of_classes_and_new_classes_follow_the_labels():
    counts = evidence_of("counts", np.arange(SIZE)).arranged_as((2, 1, 0, 7))
    plain = evidence_of("counts", np.arange(SIZE))
    np.testing.assert_array_equal(counts.matrix[:3, :3], plain.matrix[::-1, ::-1])
    np.testing.assert_array_equal(counts.tables[:, :3, :3], plain.tables[:, ::-1, ::-1])


@pytest.mark.parametrize("kind", ["counts", "votes", "merged"])
def test_files_keep_the_strata(kind, tmp_path):
    evidence = evidence_of(kind, np.arange(SIZE))
    cp.evidence.write(evidence, tmp_path / "sample.json")
    back = cp.evidence.read(tmp_path / "sample.json").evidence
    for found, expected in zip(matrices(back), matrices(evidence), strict=False):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert back.strata.names == ("a", "b", "c")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace('"sizes":[300,', '"sizes":[3,'), "would be labelled"),
        (lambda text: text.replace('"names":["a","b"', '"names":["a","a"'), "names of their own"),
        (lambda text: text.replace('"sizes":[300,', '"sizes":[300,5,'), "sizes must be"),
    ],
)
def test_spoiled_files_are_refused(change, words, tmp_path):
    path = tmp_path / "sample.json"
    cp.evidence.write(evidence_of("counts", np.arange(SIZE)), path)
    path.write_text(change(path.read_text()))
    with pytest.raises(cp.InputError, match=words):
        cp.evidence.read(path)


def test_a_merged_pattern_has_one_stratum():
    votes = evidence_of("merged", np.arange(SIZE))
    assert votes.labelled.sum() == SIZE
    assert len(votes) < SIZE
    np.testing.assert_allclose(
        votes.multiplicity,
        votes.labelled * SAMPLE.weight[[np.flatnonzero(SAMPLE.stratum == h)[0] for h in votes.stratum]],
    )


PLAIN = cp.Counts.from_predictions(TRUTH, FIRST)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda: evidence_of("counts", PHASES[0]) + PLAIN, "do not add up"),
        (lambda: PLAIN + evidence_of("counts", PHASES[0]), "do not add up"),
        (lambda: evidence_of("votes", PHASES[0]) + cp.Votes.from_proba(TRUTH, SHARES), "do not add up"),
        (
            lambda: evidence_of("paired", PHASES[0]) + cp.PairedCounts.from_predictions(TRUTH, FIRST, SECOND),
            "groups|do not add up",
        ),
        (
            lambda: sum([evidence_of("counts", np.arange(SIZE))] * 2, evidence_of("counts", np.arange(SIZE))),
            "added twice",
        ),
        (lambda: evidence_of("counts", PHASES[0]).with_prevalence([1, 1, 1]), "with_prevalence takes no stratified"),
        (lambda: evidence_of("votes", PHASES[0]).with_prevalence([1, 1, 1]), "with_prevalence takes no stratified"),
        (lambda: cp.Counts.from_predictions(TRUTH, FIRST, sample=part(PHASES[0])), "25 rows, y_true has 60"),
        (
            lambda: cp.Counts.from_predictions(TRUTH, FIRST, sample=SAMPLE, sample_weight=np.ones(SIZE)),
            "leave out sample_weight",
        ),
        (lambda: cp.evaluate(TRUTH, FIRST, sample=SAMPLE, groups=TRUTH), "leave out groups"),
        (lambda: cp.evaluate(TRUTH, FIRST, sample="plan.json"), "got str"),
        (lambda: cp.evaluate(PLAIN, sample=SAMPLE), "leave out sample"),
        (
            lambda: cp.Votes.from_proba(TRUTH, np.where(np.arange(SIZE) == 7, 0, 1)[:, None] * SHARES, sample=SAMPLE),
            "row 7 of the sample",
        ),
        (lambda: cp.evidence.Sample.from_strata(["a"], sizes={"b": 1}), "differ: 'a', 'b'"),
        (lambda: cp.evidence.Sample.from_strata(["a", "a"], sizes={"a": 1}), "at least that, got 1"),
        (
            lambda: Strata(names=("a",), sizes=np.array([3])).join(Strata(names=("a",), sizes=np.array([4]))),
            "3 rows in one sample and 4",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(action, words):
    with pytest.raises(cp.InputError, match=words):
        action()


def test_strata_without_a_label_are_no_evaluation():
    rows = np.flatnonzero(SAMPLE.stratum > 0)
    counts = cp.Counts.from_predictions(TRUTH[rows], FIRST[rows], sample=part(rows))
    with pytest.raises(cp.InputError, match=r"1 of 3 strata have no label \(300 rows\)"):
        cp.evaluate(counts)
