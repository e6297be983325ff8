"""Independent oracle: the measures of the sources in exact arithmetic, slow and obvious.

Written from the papers alone (000 PRAGMA, 002 trade-off space, 003 trees and ROC, 004 evaluation), never from the
library. A matrix is a list of rows (truth) of columns (decision); results are Fractions, or Decimals of 60 digits where
roots or logarithms occur. None means undefined. Numbers given as int, str, float, Decimal or Fraction count exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, wraps
from itertools import pairwise
from math import inf
from typing import Any

Number = Any
Matrix = Sequence[Sequence[Number]]
Assignment = tuple[int | None, ...]
Bounds = list[list[tuple[Number, bool]]]
METRICS = ("kulczynski", "f", "fowlkes_mallows", "jaccard")


def sixty_digits(function: Callable[..., Any]) -> Callable[..., Any]:
    """Run a function with Decimals of 60 digits, and leave the caller's context alone."""

    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with localcontext(prec=60):
            return function(*args, **kwargs)

    return wrapper


def decimal(x: Number) -> Decimal:
    """A number as a Decimal in the current context."""
    return x if isinstance(x, Decimal) else Decimal(Fraction(x).numerator) / Decimal(Fraction(x).denominator)


def ratio(a: Number, b: Number) -> Number:
    """a / b, None where b is 0."""
    return Fraction(a) / Fraction(b) if b else None


def total(numbers: Iterable[Number]) -> Fraction:
    """The exact sum; whole numbers are added as they are, which is quicker."""
    return Fraction(sum(x if isinstance(x, (int, Fraction)) else Fraction(x) for x in numbers))


# Counts: 004 matrice de confusion, 003 section 2.5.


def count(
    y_true: Sequence[Any], y_pred: Sequence[Any], classes: Sequence[Any], weights: Any = None
) -> list[list[Number]]:
    """The contingency matrix of two lists of labels."""
    matrix = [[Fraction(0)] * len(classes) for _ in classes]
    for i, (truth, decision) in enumerate(zip(y_true, y_pred, strict=True)):
        matrix[classes.index(truth)][classes.index(decision)] += Fraction(1 if weights is None else weights[i])
    return matrix


def supports(matrix: Matrix) -> list[Number]:
    """Rows per true class."""
    return [total(row) for row in matrix]


def predicted(matrix: Matrix) -> list[Number]:
    """Rows per predicted class."""
    return [total(column) for column in zip(*matrix, strict=True)]


def cells(matrix: Matrix, k: int) -> tuple[Number, Number, Number, Number]:
    """TP, FP, FN, TN of class k against the rest."""
    tp, n = Fraction(matrix[k][k]), total(x for row in matrix for x in row)
    fp, fn = total(row[k] for row in matrix) - tp, total(matrix[k]) - tp
    return tp, fp, fn, n - tp - fp - fn


# One class: 004 indicateurs de performances; 002 section 2.3 for F with beta.


def recall(matrix: Matrix, k: int) -> Number:
    """VP / (VP + FN)."""
    tp, _, fn, _ = cells(matrix, k)
    return ratio(tp, tp + fn)


def precision(matrix: Matrix, k: int) -> Number:
    """VP / (VP + FP)."""
    tp, fp, _, _ = cells(matrix, k)
    return ratio(tp, tp + fp)


def specificity(matrix: Matrix, k: int) -> Number:
    """VN / (VN + FP)."""
    _, fp, _, tn = cells(matrix, k)
    return ratio(tn, tn + fp)


def npv(matrix: Matrix, k: int) -> Number:
    """VN / (VN + FN): 3590 / 3600 in the screening example."""
    _, _, fn, tn = cells(matrix, k)
    return ratio(tn, tn + fn)


def fn_rate(matrix: Matrix, k: int) -> Number:
    """FN / (VP + FN)."""
    tp, _, fn, _ = cells(matrix, k)
    return ratio(fn, tp + fn)


def fp_rate(matrix: Matrix, k: int) -> Number:
    """FP / (FP + VN)."""
    _, fp, _, tn = cells(matrix, k)
    return ratio(fp, fp + tn)


def f_beta(matrix: Matrix, k: int, beta: Number = 1) -> Number:
    """(1 + b^2) VP / ((1 + b^2) VP + b^2 FN + FP); by counts, so 0 for a class that exists but is never predicted."""
    tp, fp, fn, _ = cells(matrix, k)
    b2 = Fraction(beta) ** 2
    return ratio((1 + b2) * tp, (1 + b2) * tp + b2 * fn + fp) if tp + fp + fn else None


# All classes: 003 section 2.5.1, Weka's report in 004.


def accuracy(matrix: Matrix) -> Number:
    """Share of right decisions."""
    return ratio(sum(Fraction(matrix[k][k]) for k in range(len(matrix))), sum(supports(matrix)))


def kappa(matrix: Matrix) -> Number:
    """(observed - chance) / (1 - chance), chance from the margins; None where chance is 1."""
    t, d = supports(matrix), predicted(matrix)
    if not sum(t):
        return None
    chance = sum(a * b for a, b in zip(t, d, strict=True)) / sum(t) ** 2
    return ratio(accuracy(matrix) - chance, 1 - chance)


def balanced_accuracy(matrix: Matrix) -> Number:
    """Mean recall over the classes present in the truth."""
    return macro([recall(matrix, k) for k in range(len(matrix))])


@sixty_digits
def mcc(matrix: Matrix) -> Number:
    """Gorodkin's R_k: (c n - sum t_k d_k) / sqrt((n^2 - sum d_k^2) (n^2 - sum t_k^2))."""
    t, d = supports(matrix), predicted(matrix)
    n, c = sum(t), sum(Fraction(matrix[k][k]) for k in range(len(matrix)))
    below = (n**2 - sum(x * x for x in d)) * (n**2 - sum(x * x for x in t))
    return decimal(c * n - sum(a * b for a, b in zip(t, d, strict=True))) / decimal(below).sqrt() if below else None


@sixty_digits
def g_mean(matrix: Matrix) -> Number:
    """Geometric mean of the recalls of the classes present in the truth."""
    recalls = [recall(matrix, k) for k in range(len(matrix)) if supports(matrix)[k]]
    product = Fraction(1)
    for r in recalls:
        product *= r
    if not recalls:
        return None
    return decimal(product) ** (Decimal(1) / len(recalls)) if product else Decimal(0)


def macro(values: Sequence[Number]) -> Number:
    """Plain mean of the defined values."""
    return weighted(values, [1] * len(values))


@sixty_digits
def weighted(values: Sequence[Number], weights: Sequence[Number]) -> Number:
    """Mean of the defined values with the given weights (000 section 4.1 and Weka: weights = supports)."""
    pairs = [(v, Fraction(w)) for v, w in zip(values, weights, strict=True) if v is not None]
    if not sum(w for _, w in pairs):
        return None
    number: Callable[[Number], Number] = decimal if any(isinstance(v, Decimal) for v, _ in pairs) else Fraction
    return sum(number(v) * number(w) for v, w in pairs) / sum(number(w) for _, w in pairs)


# The metrics: 000 section 2 (two answers), 002 section 2 (values).


@sixty_digits
def recall_weight(x: Number, y: Number, metric: str) -> Number:
    """l with I(p=x, r=1) = I(p=1, r=y), 0 <= x, y < 1; for x or y = 0 the limit, for both 1/2."""
    x, y = Fraction(x), Fraction(y)
    if not (0 <= x < 1 and 0 <= y < 1):
        raise ValueError("000 section 2: 0 <= x < 1 and 0 <= y < 1")
    if metric == "kulczynski":
        return (1 - x) / ((1 - x) + (1 - y))
    if x == 0 or y == 0:
        return Fraction(1, 2) if x == y else Fraction(int(x == 0))
    if metric == "f":
        return y * (1 - x) / (y * (1 - x) + x * (1 - y))
    if metric == "fowlkes_mallows":
        return decimal(x).ln() / (decimal(x).ln() + decimal(y).ln())
    if metric == "jaccard":
        return y * (1 - x) / (2 * x * (1 - y)) if x >= y else 1 - x * (1 - y) / (2 * y * (1 - x))
    raise ValueError(metric)


@lru_cache(maxsize=100_000)
@sixty_digits
def metric_value(p: Number, r: Number, l: Number, metric: str) -> Number:
    """The weighted metric at precision p and recall r; l = 0 gives p, l = 1 gives r; Decimal for fowlkes_mallows."""
    p, r, l = Fraction(p), Fraction(r), Fraction(l)
    if metric == "kulczynski":
        return (1 - l) * p + l * r
    if l in (0, 1) or p == 0 or r == 0:
        edge = p if l == 0 else r if l == 1 else Fraction(0)
        return decimal(edge) if metric == "fowlkes_mallows" else edge
    if metric == "f":
        return 1 / (l / r + (1 - l) / p)
    if metric == "fowlkes_mallows":
        return decimal(p) ** decimal(1 - l) * decimal(r) ** decimal(l)
    if metric == "jaccard":
        return p * r / (min(2 * l, 1) * p + min(2 - 2 * l, 1) * r - (1 - abs(1 - 2 * l)) * p * r)
    raise ValueError(metric)


# PRAGMA: 000 section 2; its baselines: 002 sections 3 and 4.1; costs: 003 section 2.5.1.


@sixty_digits
def pragma(
    matrix: Matrix, importances: Sequence[Number], recall_weights: Sequence[Number], metric: str = "kulczynski"
) -> tuple[Number, list[Number]]:
    """The loss, and f = 1 - I per class: 1 where never predicted, None (left out) where absent from the truth."""
    f: list[Number] = []
    for k, l in enumerate(recall_weights):
        p, r = precision(matrix, k), recall(matrix, k)
        if r is None:
            f.append(None)
        else:
            f.append(Fraction(1) if p is None else 1 - metric_value(p, r, l, metric))
    return weighted(f, importances), f


def constant_losses(
    matrix: Matrix, importances: Sequence[Number], recall_weights: Sequence[Number], metric: str = "kulczynski"
) -> list[Number]:
    """The loss of always deciding class k, for each k (the maximal group)."""
    n, k = supports(matrix), range(len(matrix))
    always = [[[n[i] if j == c else 0 for j in k] for i in k] for c in k]
    return [pragma(m, importances, recall_weights, metric)[0] for m in always]


def random_loss(
    matrix: Matrix, importances: Sequence[Number], recall_weights: Sequence[Number], metric: str = "kulczynski"
) -> Number:
    """The loss of the expected matrix n_i n_j / n of random decisions at the priors."""
    n = supports(matrix)
    return pragma([[a * b / (sum(n) or 1) for b in n] for a in n], importances, recall_weights, metric)[0]


def cost(matrix: Matrix, cost_matrix: Matrix) -> Number:
    """Expected cost per row."""
    k = range(len(matrix))
    return ratio(sum(Fraction(matrix[i][j]) * Fraction(cost_matrix[i][j]) for i in k for j in k), sum(supports(matrix)))


# Weka's errors: the report in 004.


def weka_priors(training_counts: Sequence[int]) -> list[Number]:
    """(count + 1) / (N + K) of the training rows."""
    return [Fraction(c + 1, sum(training_counts) + len(training_counts)) for c in training_counts]


def hard(decision: int, k: int) -> list[Number]:
    """A decision as a 0/1 distribution over k classes."""
    return [Fraction(int(j == decision)) for j in range(k)]


@sixty_digits
def weka_errors(distributions: Matrix, truth: Sequence[int], priors: Sequence[Number]) -> tuple[Number, ...]:
    """MAE, RMSE over rows and classes, and the same in percent of the errors of the priors: RAE, RRSE."""

    def error(rows: Matrix, power: int) -> Number:
        return sum(
            abs(Fraction(p) - (k == t)) ** power for row, t in zip(rows, truth, strict=True) for k, p in enumerate(row)
        ) / (len(truth) * len(priors))

    naive = [priors] * len(truth)
    relative = ratio(error(distributions, 1), error(naive, 1))
    squares = ratio(error(distributions, 2), error(naive, 2))
    return (
        error(distributions, 1),
        decimal(error(distributions, 2)).sqrt(),
        None if relative is None else 100 * relative,
        None if squares is None else 100 * decimal(squares).sqrt(),
    )


# Scores: 003 section 2.5.2, 004 courbe ROC and courbe précision-rappel.


def cuts(scores: Sequence[Number], flags: Sequence[bool], weights: Any = None) -> list[tuple[Number, ...]]:
    """(threshold, TP, FP, FN, TN) of 'positive when score >= threshold', threshold falling; None: nothing positive."""
    w = [Fraction(x) for x in weights or [1] * len(scores)]
    result = []
    for t in [None, *sorted(set(scores), reverse=True)]:
        cell = {(flag, up): Fraction(0) for flag in (True, False) for up in (True, False)}
        for score, flag, weight in zip(scores, flags, w, strict=True):
            cell[bool(flag), t is not None and bool(score >= t)] += weight
        result.append((t, cell[True, True], cell[False, True], cell[True, False], cell[False, False]))
    return result


def roc(scores: Sequence[Number], flags: Sequence[bool], weights: Any = None) -> list[tuple[Number, Number, Number]]:
    """(threshold, FP rate, TP rate), from (0, 0) to (1, 1)."""
    return [(t, ratio(fp, fp + tn), ratio(tp, tp + fn)) for t, tp, fp, fn, tn in cuts(scores, flags, weights)]


def auc(scores: Sequence[Number], flags: Sequence[bool], weights: Any = None) -> Number:
    """Probability that a positive outranks a negative, ties 1/2."""
    rows = list(zip(scores, flags, [Fraction(x) for x in weights or [1] * len(scores)], strict=True))
    pairs = [((a > b) + Fraction(int(a == b), 2), u * v) for a, f, u in rows if f for b, g, v in rows if not g]
    return ratio(sum(order * mass for order, mass in pairs), sum(mass for _, mass in pairs))


def pr(scores: Sequence[Number], flags: Sequence[bool], weights: Any = None) -> list[tuple[Number, Number, Number]]:
    """(threshold, recall, precision); precision None where nothing is predicted positive (004 prints '-')."""
    return [(t, ratio(tp, tp + fn), ratio(tp, tp + fp)) for t, tp, fp, fn, _ in cuts(scores, flags, weights)]


def average_precision(scores: Sequence[Number], flags: Sequence[bool], weights: Any = None) -> Number:
    """Sum of (recall step) x (precision after the step)."""
    points = [(r, p or 0) for _, r, p in pr(scores, flags, weights)]
    if points[0][0] is None:
        return None
    return sum((b[0] - a[0]) * b[1] for a, b in pairwise(points))


def auprc(scores: Sequence[Number], flags: Sequence[bool], weights: Any = None) -> Number:
    """Area under the straight lines between the PR points, level before the first point."""
    points = [(r, p) for _, r, p in pr(scores, flags, weights) if p is not None]
    if not points or points[0][0] is None:
        return None
    points = [(Fraction(0), points[0][1]), *points]
    return sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(points))


# Weighted votes: 000 section 3. Largest weight x votes decides, ties go to the first class.


def tighter(a: tuple[Number, bool], b: tuple[Number, bool]) -> tuple[Number, bool]:
    """The tighter of two bounds (c, strict), read w_j <= c w_k, or < where strict."""
    return min(a, b, key=lambda bound: (bound[0], not bound[1]))


def chain(a: tuple[Number, bool], b: tuple[Number, bool]) -> tuple[Number, bool]:
    """Two bounds one after the other: w_i <= c w_j <= c d w_k."""
    return (inf if a[0] is inf or b[0] is inf else a[0] * b[0], a[1] or b[1])


def tighten(bounds: Bounds, votes: Sequence[Number], winner: int) -> Bounds | None:
    """Add 'winner wins this row' to the bounds on w_j / w_k, None if no positive weights are left.

    Bounds are closed under chains. Solutions exist iff no cycle has product < 1, or = 1 with a strict link.
    """
    if not votes[winner]:
        return None
    k = range(len(votes))
    to = [bounds[a][winner] for a in k]
    for j in k:
        if j != winner and votes[j]:
            lost = (votes[winner] / votes[j], j < winner)  # w_j v_j < w_winner v_winner, or = for a later class
            to = [tighter(to[a], chain(bounds[a][j], lost)) for a in k]
    if to[winner] != (1, False):
        return None
    return [[tighter(bounds[a][b], chain(to[a], bounds[winner][b])) for b in k] for a in k]


def reachable_assignments(votes: Matrix) -> list[Assignment]:
    """Every list of decisions that some positive weights give; None for a row without votes.

    Rows are added one by one, and a beginning is kept only while its inequalities on the weights have a solution.
    """
    k = range(len(votes[0]) if votes else 0)
    found: list[tuple[Assignment, Bounds]] = [((), [[(1 if a == b else inf, False) for b in k] for a in k])]
    for row in votes:
        v = [Fraction(x) for x in row]
        if any(v):
            tried = [((*done, winner), tighten(bounds, v, winner)) for done, bounds in found for winner in k]
            found = [(done, bounds) for done, bounds in tried if bounds is not None]
        else:
            found = [((*done, None), bounds) for done, bounds in found]
    return [done for done, _ in found]


def brute_force_weights(
    votes: Matrix,
    truth: Sequence[int],
    importances: Sequence[Number],
    recall_weights: Sequence[Number],
    metric: str = "kulczynski",
    allowed: Callable[[Matrix], bool] = lambda matrix: True,
) -> tuple[Number, Assignment | None]:
    """The best loss over all reachable assignments whose matrix is allowed, and the first assignment that has it."""
    first: dict[tuple[tuple[Number, ...], ...], Assignment] = {}
    for decisions in reachable_assignments(votes):
        rows = [(t, d) for t, d in zip(truth, decisions, strict=True) if d is not None]
        matrix = count([t for t, _ in rows], [d for _, d in rows], range(len(importances)))
        first.setdefault(tuple(map(tuple, matrix)), decisions)
    losses = [
        (pragma(matrix, importances, recall_weights, metric)[0], done)
        for matrix, done in first.items()
        if allowed(matrix)
    ]
    return min((pair for pair in losses if pair[0] is not None), key=lambda pair: pair[0], default=(None, None))


# The optimal trade-off curve: 002 section 4.2.


def envelope_on_grid(
    points: Sequence[tuple[Number, Number]], metric: str, lambdas: Sequence[Number]
) -> list[tuple[Number, int]]:
    """Per l the best value over the points (precision, recall), and the first point that has it."""
    values = [[metric_value(p, r, l, metric) for p, r in points] for l in lambdas]
    return [(max(row), row.index(max(row))) for row in values]
