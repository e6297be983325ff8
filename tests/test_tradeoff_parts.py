"""The parts of the trade-off space at their borders, and what they say: worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta

import compromis as cp
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.frames.bounds import best_inside
from compromis.metrics import KULCZYNSKI
from compromis.tradeoffs import (
    Beta,
    CostCurve,
    PrecisionRecallSpace,
    decision_curve,
    dominance,
    isoline,
    probability_cost,
    roc_hull,
)
from compromis.tradeoffs._kernels import hull
from compromis.tradeoffs.areas import _check_density, _pieces, _quadrature, mass
from compromis.tradeoffs.comparison import meeting
from compromis.tradeoffs.envelope import (
    PAIRS,
    _changes,
    _crossing,
    _without_gaps,
    candidates_of,
    join,
    numeric_envelope,
    single,
    upper_envelope,
)
from compromis.tradeoffs.space import _merged
from tests import naive_tradeoffs as naive

SIX = ([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])


def groups(found, positives, negatives):
    """Groups of so many hits and false alarms each, in a universe of positives and negatives."""
    target = range(positives)
    named = {f"g{k}": [*range(hits), *range(positives, positives + alarms)] for k, (hits, alarms) in enumerate(found)}
    return OperatingPoints.from_groups(target, named, positives + negatives)


# --- densities ---


def test_beta_by_hand():
    """Beta(2, 2) is 6 l (1 - l); Beta(3, 1) is 3 l^2."""
    assert Beta(2, 2)(0.25) == pytest.approx(6 * 0.25 * 0.75)
    assert Beta(3, 1)(0.5) == pytest.approx(0.75)
    assert Beta(3, 1).mass(0.0, 0.5) == pytest.approx(0.125)
    assert Beta(3, 1).mass(0.8, 0.9) == pytest.approx(0.9**3 - 0.8**3)
    assert Beta(1, 40).mass(0.9, 1.0) == pytest.approx(0.1**40, rel=1e-12)  # the tail keeps its digits
    assert Beta(2, 2).over_log_odds(0.0) == pytest.approx(1.5 * 0.25)  # dl / dx = l (1 - l)
    low, *_, middle, _, _, high = Beta(2, 2).bulk()
    spread = math.sqrt(2 * (math.pi**2 / 6 - 1))  # twice the trigamma of 2
    assert (low, middle, high) == pytest.approx((-8 * spread, 0.0, 8 * spread))
    assert len(Beta(2, 2).bulk()) == 7
    assert Beta(3, 1).bulk()[3] == pytest.approx(1.5)  # digamma(3) - digamma(1) = 1 + 1/2


def test_mass_of_densities():
    assert mass(None, 0.25, 0.75) == 0.5
    assert mass(lambda w: 3 * w * w, 0.0, 0.5) == pytest.approx(0.125)
    assert mass(Beta(1, 1), 0.25, 0.5) == pytest.approx(0.25)
    with pytest.raises(InputError, match=r"no mass between 0 and 0\.1"):
        mass(lambda w: float(w > 0.2), 0.0, 0.1)


def test_pieces_end_at_multiples():
    assert _pieces(0.0, 1.0, 4) == [(0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0)]
    assert _pieces(0.25, 0.6, 2) == [(0.25, 0.5), (0.5, 0.6)]
    assert _pieces(0.5, 0.75, 4) == [(0.5, 0.75)]


def test_quadrature_refuses_what_it_doubts():
    assert _quadrature(lambda w: w**2, 0.0, 3.0) == pytest.approx(9.0)
    for wrong in (lambda w: -1.0, lambda w: 1 / w**2, lambda w: 1 / (w - 0.5)):
        with pytest.raises(InputError, match="does not integrate between 0 and 1"):
            _quadrature(wrong, 0.0, 1.0)
    _check_density(lambda w: w, 0.0, 1.0)
    _check_density(lambda w: 0.0, 0.0, 1.0)


def test_a_density_is_looked_at_inside_its_range():
    seen = []
    _check_density(lambda w: seen.append(w) or 1.0, 0.2, 0.4)
    assert len(seen) == 33
    assert (min(seen), max(seen)) == (pytest.approx(0.2 + 0.2 * 0.5 / 33), pytest.approx(0.4 - 0.2 * 0.5 / 33))


# --- bins ---


def test_bounds_of_bins_by_hand():
    """Bins of 3 + 1 and 1 + 3 rows: 9 + 3 / 2 + 3 / 2 of 16 pairs at ties half, 3 pairs in each bin unknown."""
    points = cp.OperatingPoints.from_bins([0.5, 0.0], [3, 1], [1, 3], pos_label="a")
    assert cp.frames.roc_area_bounds(points) == pytest.approx((9 / 16, 15 / 16))
    low, high = cp.frames.average_precision_bounds(points)
    # best: 3 found at precision 1, the fourth after one alarm at 4/5; worst: after 1 alarm (0 + 3/4) / 2, after 4 (3/7 + 4/8) / 2
    assert high == pytest.approx(3 / 4 + (4 / 5) / 4)
    assert low == pytest.approx((3 / 4) * (3 / 4) / 2 + (1 / 4) * (3 / 7 + 4 / 8) / 2)
    pure = cp.OperatingPoints.from_bins([0.5, 0.0], [2, 0], [0, 2], pos_label="a")
    assert cp.frames.average_precision_bounds(pure) == (1.0, 1.0)
    assert cp.frames.roc_area_bounds(pure) == (1.0, 1.0)
    exact = cp.OperatingPoints.from_predictions(*SIX)
    assert cp.frames.roc_area_bounds(exact) == pytest.approx((7 / 9, 7 / 9))
    assert cp.frames.average_precision_bounds(exact) == pytest.approx(((1 + 2 / 3 + 3 / 4) / 3,) * 2)
    assert cp.frames.tradeoff_bounds(exact, 0.5) == pytest.approx(((0.75 + 1) / 2,) * 2)


def test_the_best_that_bins_may_hide():
    """After 3 + 1 rows a bin of 1 positive: all 4 found among 5, by Kulczynski at 1/4."""
    inside = best_inside(
        cp.metrics.METRICS["kulczynski"], (np.array([0.0, 3.0]), np.array([0.0, 1.0])), np.array([3.0, 1.0]), 4.0, 0.25
    )
    assert inside.tolist() == pytest.approx([0.75 * 1 + 0.25 * 0.75, 0.75 * 0.8 + 0.25])
    points = cp.OperatingPoints.from_bins([0.5, 0.0], [3, 1], [1, 3], pos_label="a")
    assert cp.frames.tradeoff_bounds(points, 0.25) == pytest.approx((0.75, 0.9375))
    assert cp.frames.tradeoff_bounds(points, 1.0) == (1.0, 1.0)


# --- candidates ---


def test_results_that_belong_to_nobody():
    one = single((1, 2), (3, 4))
    assert (one.first_rate.tolist(), one.second_rate.tolist()) == ([0.5], [0.75])
    assert (one.position.tolist(), one.owner.tolist(), len(one)) == ([-1], [0], 1)
    both = join([candidates_of(groups([(1, 1), (2, 6)], 4, 6), PAIRS["precision-recall"]), one])
    assert both.owner.tolist() == [1]  # it dominates both groups
    twins = join([one, one])
    assert twins.owner.tolist() == [0, 1]


def test_undefined_rates_give_no_candidates():
    for pair, known in (
        ("precision-recall", 1),
        ("specificity-sensitivity", 0),
    ):  # all predicted is better than the half
        assert len(candidates_of(OperatingPoints.from_predictions([1, 1], [2, 1]), PAIRS[pair])) == known
        assert len(candidates_of(OperatingPoints.from_predictions([0, 0], [2, 1], pos_label=1), PAIRS[pair])) == 0


# --- comparison in words ---


def test_a_comparison_in_words():
    """Precision 1, recall 1/4 against precision 1/2, recall 1: they cross at 2/5; areas 5/8 and 3/4."""
    few, many = groups([(10, 0)], 40, 160), groups([(40, 40)], 40, 160)
    result = cp.compare_curves({"few": few, "many": many})
    assert result.areas == pytest.approx({"few": 0.625, "many": 0.75})
    assert result.shares == pytest.approx({"few": 0.4, "many": 0.6})
    assert result.mean(0.0, 0.4) == pytest.approx({"few": 0.85, "many": 0.6})
    assert result.distance(0.0) == pytest.approx(0.5)
    assert result.distance(1.0, "few", "many") == pytest.approx(-0.75)
    assert result.verdict == (
        "By kulczynski, few is best for recall weights from 0 to 0.4; many is best for recall weights from 0.4 to 1. "
        "Over all recall weights many has the largest area (0.75; few 0.625)."
    )
    assert str(result).splitlines()[:6] == [
        "recall weight      best     ",
        "0.0000 to 0.4000   few",
        "0.4000 to 1.0000   many",
        "",
        "algorithm   area    best on",
        "few         0.6250    40.0%",
    ]
    alone = cp.compare_curves({"few": few})
    assert alone.verdict == "By kulczynski, few is alone."
    level = cp.compare_curves({"a": few, "b": few})
    assert level.verdict == (
        "By kulczynski, a and b are equal at every recall weight. Over all recall weights a and b are level (area 0.625)."
    )
    assert (level.intervals[0].name, level.intervals[0].best) == ("a = b", ("a", "b"))
    best = cp.compare_curves({"few": few, "all": groups([(40, 0)], 40, 160)})
    assert best.verdict.startswith("By kulczynski, all is best at every recall weight. ")
    nothing = cp.compare_curves({"none": OperatingPoints.from_predictions([0, 0], [1, 2], pos_label=1)})
    assert nothing.verdict.startswith("Nothing can be compared (none: ")
    some = cp.compare_curves(
        {
            "none": OperatingPoints.from_predictions([0, 0], [1, 2], pos_label=1),
            "two": OperatingPoints.from_predictions([1, 0], [2, 1]),
        }
    )
    assert "two has the largest area (1; none nan)" in some.verdict


# --- cost curves, decision curves ---


def test_cost_curves_at_their_borders():
    assert probability_cost([0.0, 1.0]).tolist() == [0.0, 1.0]
    assert probability_cost(0.25, 0.0, 1.0) == 0.0
    assert probability_cost(0.25, 1.0, 0.0) == 1.0
    for wrong in ((-0.1, 1, 1), (1.1, 1, 1), (0.5, -1, 1), (0.5, 1, -1), (math.nan, 1, 1)):
        with pytest.raises(InputError):
            probability_cost(*wrong)
    curve = CostCurve(groups([(3, 1)], 4, 4))
    assert curve.breaks.tolist() == pytest.approx([0, 0.25, 0.75, 1])  # 1/4 = x, (1 - x) / ... by symmetry
    assert curve.value([0.0, 0.25, 0.5, 1.0]).tolist() == pytest.approx([0, 0.25, 0.25, 0])
    assert curve.area() == pytest.approx(0.25 * 0.5 + 2 * 0.25**2 / 2)
    assert curve.area(0.25, 0.75) == pytest.approx(0.125)
    assert curve.positions.tolist() == [-1, 0, -1]
    assert cp.tradeoffs.constant_cost([0.0, 0.25, 1.0]).tolist() == [0.0, 0.25, 0.0]
    for wrong in (-0.1, 1.1, math.nan):
        with pytest.raises(InputError, match="a probability cost lies between 0 and 1"):
            cp.tradeoffs.constant_cost(wrong)


def test_decision_curves_at_their_borders():
    points = OperatingPoints.from_predictions([1, 0, 1, 0], [1.0, 0.6, 0.7, 0.0])
    curve = decision_curve(points)
    assert curve.probability.tolist() == pytest.approx([k / 100 for k in range(100)])
    assert curve.model[60] == pytest.approx(2 / 4 - 1 / 4 * 0.6 / 0.4)  # at the score itself one acts
    assert curve.model[61] == pytest.approx(2 / 4)
    assert curve.model[71] == pytest.approx(1 / 4)
    assert curve.everyone[50] == 0.0
    assert curve.model[0] == curve.everyone[0] == 0.5
    assert not curve.useful[0]
    assert curve.useful[50]
    for scores in ([-0.1, 0.5], [0.5, 1.1]):
        with pytest.raises(InputError, match="needs predicted probabilities"):
            decision_curve(OperatingPoints.from_predictions([0, 1], scores))
    for wrong in ([-0.01], [1.0], [math.nan]):
        with pytest.raises(InputError, match="at least 0 and below 1"):
            decision_curve(points, wrong)
    assert decision_curve(points, [0.0]).model.tolist() == [0.5]


# --- minima and choices ---


def test_points_that_meet_minima():
    points = OperatingPoints.from_predictions(*SIX)
    assert meeting(points) is points
    assert meeting(points, min_recall=1.0).threshold.tolist() == [0.4, 0.3, 0.1]
    assert meeting(points, min_precision=0.75).threshold.tolist() == [0.9, 0.4]
    both = meeting(points, min_precision=0.75, min_recall=1 / 3)
    assert both.threshold.tolist() == [0.9, 0.4]
    assert (both.true_positives.tolist(), both.false_positives.tolist()) == ([1, 3], [0, 1])
    named = meeting(groups([(1, 0), (2, 2), (1, 3)], 4, 4), min_precision=0.5)
    assert named.names == ("g0", "g1")
    with pytest.raises(InputError, match=r"no cut has precision >= 1 and recall >= 0\.5"):
        meeting(points, min_precision=1.0, min_recall=0.5)


def test_choices_at_their_borders():
    curve = cp.TradeoffCurve(OperatingPoints.from_predictions(*SIX))
    at = curve.best(0.5, min_precision=0.75, min_recall=1.0)  # both just met
    assert (at.feasible, at.threshold, at.precision, at.recall, at.value) == (True, 0.4, 0.75, 1.0, 0.875)
    assert curve.best(0.5, min_precision=0.0, min_recall=0.0).feasible
    assert curve.best(0.5, min_precision=1.0).recall == pytest.approx(1 / 3)
    missed = curve.best(0.5, min_precision=0.9, min_recall=0.5)
    assert missed.reason == (
        "no cut has precision >= 0.9 and recall >= 0.5; with precision >= 0.9 recall reaches 0.3333, "
        "with recall >= 0.5 precision reaches 0.75"
    )
    assert math.isnan(missed.value)
    assert (missed.position, missed.name) == (-1, None)
    low = cp.TradeoffCurve(groups([(1, 1)], 4, 4)).best(0.5, min_recall=0.5)
    assert low.reason == "no group has recall >= 0.5; recall never exceeds 0.25"
    for wrong in (-0.1, 1.1):
        with pytest.raises(InputError, match="min_recall is a share between 0 and 1"):
            curve.best(0.5, min_recall=wrong)


# --- the numeric way ---


OWN = cp.Metric("own plane", lambda p, r, w: (1 - w) * p + w * r, defined_at_zero=True)


def test_crossings_of_an_index_of_ones_own():
    """(1 - l) + l / 4 = 1/2 + l / 2 at l = 2/5; and results that are level at an end."""
    first, second = np.array([1.0, 0.5]), np.array([0.25, 1.0])
    assert _crossing(first, second, OWN, 0.0, 1.0) == pytest.approx(0.4, abs=1e-13)
    assert _crossing(first, second, OWN, 0.5, 1.0) == 0.5  # already behind
    assert _crossing(first, second, OWN, 0.0, 0.25) == 0.25  # still ahead
    chosen, breaks = numeric_envelope(first, second, OWN)
    assert (chosen.tolist(), breaks.tolist()) == ([0, 1], pytest.approx([0, 0.4, 1]))
    assert list(_changes(first, second, OWN, (0.0, 0), (0.3, 0))) == []
    # a third, best between 0.39 and 0.41 only: found at the crossing of the other two
    third = np.array([1.0, 0.5, 0.71]), np.array([0.25, 1.0, 0.69])
    chosen, breaks = numeric_envelope(*third, OWN)
    assert chosen.tolist() == [0, 2, 1]
    # (1 - l) + l / 4 = 0.71 - 0.02 l, and 0.71 - 0.02 l = 1/2 + l / 2
    assert breaks.tolist() == pytest.approx([0, 0.29 / 0.73, 0.21 / 0.52, 1], abs=1e-12)


# --- the space ---


def test_the_space_at_its_borders():
    space = PrecisionRecallSpace(4, 4)
    assert (space.prevalence, space.maximal_group) == (1.0, (1.0, 1.0))
    assert space.lowest_precision([0.0, 0.5, 1.0]).tolist() == [0.0, 1.0, 1.0]
    with pytest.raises(InputError, match="more than 0 elements"):
        PrecisionRecallSpace(0, 4)
    half = PrecisionRecallSpace(2, 8)
    assert half.landmarks() == {
        "perfect": (1.0, 1.0), "null": (0.0, 0.0), "maximal": (0.25, 1.0), "single element": (1.0, 0.5),
    }  # fmt: skip
    precision, recall = half.random_groups([0, 8])
    assert (precision.tolist(), recall.tolist()) == ([0.25, 0.25], [0.0, 1.0])
    for wrong in (-1, 9):
        with pytest.raises(InputError, match="between 0 and 8 elements"):
            half.random_groups(wrong)
    curves = half.curves([0.0, 0.5, 1.0])
    assert curves["random"].tolist() == [0.25, 0.375, 0.5]  # half of the universe
    assert curves["single element"].tolist() == [1.0, 0.75, 0.5]
    assert half.curves([1.0], random_size=8)["random"].tolist() == [1.0]
    assert half.reachable(0.25, 1.0)


def test_isolines_at_their_borders():
    recall, precision = isoline(0.5, 0.5, size=3)  # p + r = 1
    assert (recall.tolist(), precision.tolist()) == ([0.0, 0.5, 1.0], pytest.approx([1.0, 0.5, 0.0]))
    recall, precision = isoline(0.25, 1.0, size=3)
    assert (recall.tolist(), precision.tolist()) == (pytest.approx([0.25] * 3), [0.0, 0.5, 1.0])
    recall, precision = isoline(0.25, 0.0, size=3)
    assert (recall.tolist(), precision.tolist()) == ([0.0, 0.5, 1.0], pytest.approx([0.25] * 3))
    assert isoline(1.0, 0.5)[0].tolist() == [1.0]
    assert isoline(0.0, 0.5)[1].tolist() == [0.0]
    assert len(isoline(0.0, 0.0)[0]) == 201
    with pytest.raises(InputError, match="values between 0 and 1"):
        isoline(-0.1, 0.5)


# --- curves in words, the hull of several models ---


def test_a_curve_in_words():
    curve = cp.TradeoffCurve(OperatingPoints.from_predictions(*SIX), metric="f")
    assert str(curve).splitlines()[1:] == [
        "recall weight         cut               precision  recall",
        "0.0000 to 0.1429   score >= 0.9         1.0000  0.3333",
        "0.1429 to 1.0000   score >= 0.4         0.7500  1.0000",
    ]
    assert repr(curve).endswith("metric='f', pair='precision-recall': 2 intervals)")
    assert "g0" in str(cp.TradeoffCurve(groups([(1, 0)], 4, 4)))
    empty = cp.TradeoffCurve(OperatingPoints.from_predictions([0, 0], [1, 2], pos_label=1))
    assert empty.reason
    assert str(empty).endswith(empty.reason)
    assert math.isnan(empty.area())
    part = curve.intervals[0]
    assert (part.position, part.specificity, part.size, part.name) == (1, 1.0, 1, None)
    both = cp.TradeoffCurve(OperatingPoints.from_predictions(*SIX), pair="specificity-sensitivity").family([0.0, 1.0])
    np.testing.assert_allclose(both[3], [2 / 3, 2 / 3])  # at 0.6 one of three negatives, two of three positives


def test_the_hull_in_words():
    hull = cp.roc_hull({"m": OperatingPoints.from_predictions([1, 1, 0, 0], [4, 2, 3, 1])})
    assert str(hull).splitlines() == [
        "slope                 fpr     tpr     models",
        "       1 to inf       0.0000  0.5000  m",
        "       0 to 1         0.5000  1.0000  m",
        "on the hull: m; none can be dropped",
    ]
    assert hull.area == pytest.approx(0.875)
    assert [part.thresholds for part in hull.parts] == [(4.0,), (2.0,)]
    for wrong in (
        {"cost_false_negative": -1},
        {"cost_false_positive": 0, "cost_false_negative": 0},
        {"cost_false_positive": math.inf},
    ):
        with pytest.raises(InputError, match="costs are at least 0 and not both 0"):
            hull.best(**wrong)
    for wrong in (0.0, 1.0, -0.1, 1.1):
        with pytest.raises(InputError, match="prevalence is a share strictly between 0 and 1"):
            hull.best(prevalence=wrong)
    assert hull.best(prevalence=0.01).tpr == 0.5
    assert hull.best(prevalence=0.99).tpr == 1.0
    assert hull.best(cost_false_positive=0).tpr == 1.0


# --- what several results have in common ---


def test_ranges_at_their_borders():
    from compromis.tradeoffs.areas import check_range

    check_range(0.0, 1.0)
    for wrong in ((0.5, 0.5), (0.7, 0.2), (-0.5, 0.5), (0.5, 1.5), (math.nan, 1.0)):
        with pytest.raises(InputError, match="0 <= low < high <= 1"):
            check_range(*wrong)
    for shape in ((0.0, 1.0), (-0.5, 1.0), (1.0, 0.0), (1.0, -0.5), (math.inf, 1.0), (1.0, math.inf)):
        with pytest.raises(InputError, match="a and b above 0"):
            Beta(*shape)


def test_a_density_over_all_trade_offs_keeps_its_ends():
    """Beta(a, b) with most mass at an end: the plane's mean is at a / (a + b), whatever lies beyond the farthest log-odds."""
    curve = cp.TradeoffCurve(groups([(17, 3)], 34, 100))
    for a, b in ((0.01, 1.0), (1.0, 0.01), (0.01, 0.01)):
        mean = a / (a + b)
        assert curve.area(0, 1, Beta(a, b)) == pytest.approx((1 - mean) * 0.85 + mean * 0.5, rel=1e-9)
    assert curve.area(0.25, 0.75, Beta(1, 1)) == pytest.approx(0.5 * (0.85 + 0.5) / 2, rel=1e-12)
    assert Beta(2, 2).mass(0.6, 0.6 + 1e-9) == pytest.approx(1e-9 * 6 * 0.6 * 0.4, rel=1e-5)


def test_densities_that_do_not_integrate_at_either_end():
    from compromis.tradeoffs.areas import _check_ends

    _check_ends(lambda w: 1.0, 0.0, 1.0)
    _check_ends(lambda w: w**-0.5, 0.0, 1.0)
    _check_ends(lambda w: 0.0, 0.0, 1.0)
    seen = []
    _check_ends(lambda w: seen.append(w) or 1.0, 0.2, 0.6)
    assert min(seen) == pytest.approx(0.2 + 0.4 * 1e-12, abs=1e-15)
    assert max(seen) == pytest.approx(0.6 - 0.4 * 1e-12, abs=1e-15)
    assert sorted(seen)[65] == pytest.approx(0.2 + 0.4 * 1e-4)
    assert len(seen) == 4 * 33
    for wrong in (lambda w: w**-1.5, lambda w: (1 - w) ** -1.5):
        with pytest.raises(InputError, match="does not integrate"):
            _check_ends(wrong, 0.0, 1.0)


def test_spaces_of_points_and_slopes_between_whole_numbers():
    assert PrecisionRecallSpace.of(OperatingPoints.from_predictions(*SIX)).universe_size == 6
    hull = cp.roc_hull({"m": OperatingPoints.from_predictions([1, 1, 0, 0, 0], [4, 2, 3, 1, 0])})
    # corners (0, 1/2) and (1/3, 1): between them the slope is 3/2
    assert [part.slope_low for part in hull.parts] == pytest.approx([1.5, 0.0])
    assert hull.best(cost_false_positive=1.4, prevalence=0.5).tpr == 1.0
    assert hull.best(cost_false_positive=1.6, prevalence=0.5).tpr == 0.5


def test_names_of_the_first_of_two():
    with pytest.raises(InputError, match=r"got 1\.5"):
        cp.tradeoffs.constant_cost([0.5, 1.5, 2.5])
    several = cp.TradeoffCurve(OperatingPoints.from_predictions(*SIX)).family([0.0])
    np.testing.assert_allclose(several[3, 0], 2 / 3)  # precision, not specificity
    rates = cp.OperatingPoints.from_bins([0.5, 0.0], [1, 1], [0, 2], pos_label="a")
    assert cp.frames.tradeoff_bounds(rates, 0.0) == (1.0, 1.0)  # one row alone has a precision too


def test_answers_cannot_be_changed_and_options_are_named():
    points = groups([(3, 1)], 4, 4)
    result = cp.compare_curves({"m": points})
    for value, name in (
        (Beta(2, 2), "a"),
        (result.intervals[0], "low"),
        (candidates_of(points, PAIRS["precision-recall"]), "owner"),
        (PrecisionRecallSpace(2, 8), "target_size"),
        (cp.roc_hull({"m": points}).parts[0], "fpr"),
    ):
        with pytest.raises(AttributeError):
            setattr(value, name, 0)
    assert result.mean() == result.area() == result.areas
    for call in (
        lambda: cp.compare_curves({"m": points}, "f", "precision-recall"),
        lambda: isoline(0.5, 0.5, "f", 3),
        lambda: cp.roc_hull({"m": points}).best(1.0),
        lambda: cp.TradeoffCurve(points, "f", "precision-recall"),
    ):
        with pytest.raises(TypeError):
            call()


# --- borders that only a wrong program would move ---

PLANE = cp.Metric("plane", lambda p, r, w: (1 - w) * p + w * r)


@pytest.mark.parametrize(
    ("first", "second", "chosen", "breaks"),
    [
        ((0.5, 0.9), (0.8, 0.8), [1], [0, 1]),  # level at 1 only
        ((0.9, 0.9), (0.3, 0.8), [1], [0, 1]),  # level at 0 only
        (
            (0.5, 0.75, 0.25),
            (0.5, 0.25, 0.75),
            [1, 2],
            [0, 0.5, 1],
        ),  # three are level at 1/2, where the first has no room
    ],
)
def test_results_that_are_level_at_a_single_weight_have_no_interval(first, second, chosen, breaks):
    found, edges = numeric_envelope(np.array(first), np.array(second), PLANE)
    assert (found.tolist(), edges.tolist()) == (chosen, breaks)


def test_envelopes_without_room():
    nothing = upper_envelope(
        candidates_of(OperatingPoints.from_predictions([0, 0], [2, 1], pos_label=1), PAIRS["precision-recall"]),
        KULCZYNSKI,
    )
    assert (len(nothing.chosen), len(nothing.breaks)) == (0, 0)
    closed = _without_gaps(np.array([3, 4, 5]), np.array([0.0, 0.25, 1.0]))
    assert (closed.chosen.tolist(), closed.breaks.tolist()) == ([3, 4], [0, 0.25, 1])


def test_ranges_touch_or_stay_apart():
    assert _merged([(0.0, 0.1), (0.2, 0.3), (0.3, 0.4), (0.6, 0.7)]) == ((0.0, 0.1), (0.2, 0.4), (0.6, 0.7))


def test_every_score_of_a_decision_curve_is_a_probability():
    for scores in ([0.5, 0.2, -0.1], [1.5, 0.2, 0.1], [0.5, -0.2, -0.1]):
        with pytest.raises(InputError, match=f"got scores from {min(scores):g} to {max(scores):g}"):
            decision_curve(OperatingPoints.from_predictions([1, 0, 1], scores))
    assert decision_curve(OperatingPoints.from_predictions([1, 0, 1], [1.0, 0.5, 0.0]), [0.0]).model.tolist() == [2 / 3]


def test_a_target_of_one_element_and_less():
    assert PrecisionRecallSpace(1, 5).maximal_group == (0.2, 1.0)
    assert PrecisionRecallSpace(0.5, 5).maximal_group == (0.1, 1.0)  # weights
    for target in (0, -1, 6):
        with pytest.raises(InputError, match="more than 0 elements"):
            PrecisionRecallSpace(target, 5)


def test_of_equal_values_the_better_all_in_all_is_chosen():
    """Precision 5/8 and recall 1/8, or 1/2 each: with a recall weight of 1/4 both are worth 1/2, their sums are 3/4 and 1."""
    best = cp.TradeoffCurve(groups([(5, 3), (20, 20)], 40, 40)).best(0.25)
    assert (best.value, best.precision, best.recall, best.name) == (0.5, 0.5, 0.5, "g1")


def test_a_tail_keeps_its_digits_on_either_side():
    for a, b in ((0.5, 3.0), (3.0, 0.5), (2.0, 5.0)):
        assert Beta(a, b).mass(1 - 1e-9, 1) == pytest.approx(beta.sf(1 - 1e-9, a, b), rel=1e-12)
        assert Beta(a, b).mass(0, 1e-9) == pytest.approx(beta.cdf(1e-9, a, b), rel=1e-12)


@pytest.mark.parametrize(("a", "b"), [(1.0, 0.01), (0.01, 1.0), (0.01, 0.01)])
def test_mass_beyond_what_floats_can_tell_from_the_ends_counts(a, b):
    """A perfect result is worth 1 everywhere, so its area is the whole mass."""
    points = OperatingPoints.from_predictions([1, 0], [0.9, 0.1])
    for metric in ("kulczynski", "f"):
        assert cp.TradeoffCurve(points, metric).area(density=Beta(a, b)) == pytest.approx(1, rel=1e-9)


def test_a_hull_of_groups_begins_and_ends_with_the_constant_decisions():
    hull = roc_hull({"groups": groups([(3, 1), (2, 5)], 4, 8)})
    assert [(part.fpr, part.tpr) for part in hull.parts] == [(0, 0), (1 / 8, 3 / 4), (1, 1)]


def test_ratios_of_costs_at_the_prevalence_of_the_data():
    """4 positives, 8 negatives; (0, 0) to (1/8, 3/4) has slope 6, to (1, 1) 2/7; a ratio of costs is half a slope."""
    hull = roc_hull({"groups": groups([(3, 1)], 4, 8)})
    ratios = [(part.cost_ratio_low, part.cost_ratio_high) for part in hull.parts]
    assert np.allclose(ratios, [(3, math.inf), (1 / 7, 3), (0, 1 / 7)])
    for part, ratio in zip(hull.parts, (4, 1, 0.1), strict=True):
        assert hull.best(cost_false_positive=ratio, cost_false_negative=1) == part


def test_who_dominates_whom():
    models = {
        name: OperatingPoints.from_predictions([1, 1, 0, 0], scores)
        for name, scores in (("right", [4, 3, 2, 1]), ("mixed", [4, 2, 3, 1]), ("wrong", [1, 2, 3, 4]))
    }
    assert dominance(models) == {"right": ("mixed", "wrong"), "mixed": ("wrong",), "wrong": ()}


def test_costs_below_zero_are_refused():
    hull = roc_hull({"groups": groups([(3, 1)], 4, 8)})
    for costs in ((-0.5, 1), (1, -0.5), (0, 0), (math.inf, 1), (math.nan, 1)):
        with pytest.raises(InputError, match="costs are at least 0 and not both 0"):
            hull.best(cost_false_positive=costs[0], cost_false_negative=costs[1])


def test_bounds_of_an_area_stay_between_0_and_1():
    """One bin holds everything: the area may be anything."""
    points = OperatingPoints.from_bins([0.0], [3], [5], pos_label=1)
    assert cp.frames.roc_area_bounds(points) == (0.0, 1.0)


def test_a_minimum_that_is_just_reached_counts_in_the_reason():
    """Precision 3/4 with recall 3/4, precision 1 with recall 1/4: no group has precision 1 and recall 3/4."""
    curve = cp.TradeoffCurve(groups([(3, 1), (1, 0)], 4, 8))
    reason = curve.best(0.5, min_precision=1.0, min_recall=0.75).reason
    assert reason.endswith("with precision >= 1 recall reaches 0.25, with recall >= 0.75 precision reaches 0.75")


def test_promising_keeps_every_dominating_point() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        first, second = rng.random(300).round(2), rng.random(300).round(2)
        marked = np.empty(300, dtype=bool)
        hull.mark_promising(first, second, np.empty(17), marked)
        expected = np.array(naive.dominating(list(zip(first.tolist(), second.tolist(), strict=True))))
        assert marked[expected].all()
        assert marked.sum() < 300
