"""The family of split criteria: what each class adds to the gain of a cut.

The gain of a cut is a sum over the classes present in the node. A criterion is the summand, a function of numbers:

    left, node              weight of the class in the left child and in the node
    n_left, n               weight of all classes there
    importance              importance theta of the class
    recall_weight           recall weight l of the class: 0 = precision alone, 1 = recall alone
    prior                   share of the class among all training rows

To add one: write its function, give it a number in `CRITERIA`, and two lines in `class_gain`.
Divisions are `np.divide`, which numba does not guard against zero, so that the loops over cuts are vectorised;
no divisor here can be zero, since both children and at least two classes have weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numba
import numpy as np

from compromis._kernel import kernel
from compromis._typing import Floats

OWN: Final = -1
GINI: Final = 0
ENTROPY: Final = 1
GAIN_RATIO: Final = 2
HELLINGER: Final = 3
OFF_CENTRED: Final = 4
PRAGMA_LINEAR: Final = 5
PRAGMA_F: Final = 6
PRAGMA_PHI2: Final = 7
PRAGMA_STEADY: Final = 8

CRITERIA: Final = {
    "gini": GINI,
    "entropy": ENTROPY,
    "gain_ratio": GAIN_RATIO,
    "hellinger": HELLINGER,
    "off_centred": OFF_CENTRED,
    "pragma_linear": PRAGMA_LINEAR,
    "pragma_f": PRAGMA_F,
    "pragma_phi2": PRAGMA_PHI2,
    "pragma_steady": PRAGMA_STEADY,
}

OWN_SIGNATURE: Final = numba.types.float64(*[numba.types.float64] * 7)

Whole = int | np.integer[Any]
Flag = bool | np.bool_
OwnGain = Callable[[float, float, float, float, float, float, float], float]


@kernel
def gini(left: float, node: float, per_left: float, per_right: float, n: float) -> float:
    """Decrease of the Gini impurity 1 - sum p_k^2 (Breiman et al. 1984), from 1 / n_left and 1 / n_right."""
    right = node - left
    squares = left * left * per_left + right * right * per_right
    return (squares - np.divide(node * node, n)) * np.divide(1.0, n)


@kernel
def weighted_log(part: float, whole: float) -> float:
    """Return x log2(x / whole), and 0 where x is 0."""
    if part <= 0.0:
        return 0.0
    return part * math.log2(np.divide(part, whole))


@kernel
def entropy(left: float, node: float, n_left: float, n: float) -> float:
    """Decrease of Shannon's entropy in bits: the information gain."""
    children = weighted_log(left, n_left) + weighted_log(node - left, n - n_left)
    return np.divide(children - weighted_log(node, n), n)


@kernel
def divide_by_split_information(sizes: Floats, count: Whole, n: float, gains: Floats) -> None:
    """Turn information gains into gain ratios: divide by the entropy of the two children's sizes (Quinlan 1993)."""
    for c in range(count):
        information = -(weighted_log(sizes[c], n) + weighted_log(n - sizes[c], n))
        gains[c] *= np.divide(n, information)


@kernel
def root_of_share(part: float, whole: float) -> float:
    """sqrt(part / whole), and 0 for a part that is only the rounding error of a difference."""
    share = np.divide(part, whole)
    return math.sqrt(share) if share > 1e-12 else 0.0


@kernel
def hellinger(left: float, node: float, n_left: float, n: float) -> float:
    """Hellinger distance between a class and the rest over the two children (Cieslak and Chawla 2008).

    d_k^2 = sum over children S of (sqrt(n_kS / n_k) - sqrt((n_S - n_kS) / (n - n_k)))^2; the gain is the sum of d_k.
    """
    on_left = root_of_share(left, node) - root_of_share(n_left - left, n - node)
    on_right = root_of_share(node - left, node) - root_of_share(n - n_left - (node - left), n - node)
    return math.sqrt(on_left * on_left + on_right * on_right)


@kernel
def off_centred_entropy(share: float, prior: float) -> float:
    """One class's term p (1 - p) / ((1 - 2 w) p + w^2): largest, 1, where p equals the prior w."""
    return np.divide(share * (1.0 - share), (1.0 - 2.0 * prior) * share + prior * prior)


@kernel
def off_centred(left: float, node: float, n_left: float, n: float, prior: float) -> float:
    """Decrease of the asymmetric entropy centred on the training shares (Marcellin, Zighed, Ritschard 2006)."""
    n_right = n - n_left
    on_left = n_left * off_centred_entropy(np.divide(left, n_left), prior)
    on_right = n_right * off_centred_entropy(np.divide(node - left, n_right), prior)
    return off_centred_entropy(np.divide(node, n), prior) - (on_left + on_right) * np.divide(1.0, n)


@kernel
def surplus(left: float, node: float, n_left: float, n: float) -> float:
    """D = n_kL - n_k n_L / n: what the left child has of a class beyond a random group of its size."""
    return left - node * n_left * np.divide(1.0, n)


@kernel
def pragma_linear(left: float, node: float, n_left: float, n: float, importance: float, recall_weight: float) -> float:
    """theta_k D (l_k / n_k + (1 - l_k) / n_S): PRAGMA's plane over chance on the side S enriched in the class."""
    beyond = surplus(left, node, n_left, n)
    side = n_left if beyond > 0.0 else n - n_left
    per_row = recall_weight * np.divide(1.0, node) + np.divide(1.0 - recall_weight, side)
    return importance * abs(beyond) * per_row


@kernel
def pragma_f(left: float, node: float, n_left: float, n: float, importance: float, recall_weight: float) -> float:
    """theta_k D / (l_k n_k + (1 - l_k) n_S): the weighted F metric over chance on the enriched side S."""
    beyond = surplus(left, node, n_left, n)
    side = n_left if beyond > 0.0 else n - n_left
    return importance * np.divide(abs(beyond), recall_weight * node + (1.0 - recall_weight) * side)


@kernel
def pragma_phi2(left: float, node: float, n_left: float, n: float, importance: float) -> float:
    """theta_k D^2 n^2 / (n_L n_R n_k (n - n_k)): the squared correlation of 'is left' and 'is of the class'."""
    beyond = surplus(left, node, n_left, n)
    scale = np.divide(importance * n * n, node * (n - node))
    return scale * np.divide(beyond * beyond, n_left * (n - n_left))


@kernel
def pragma_steady(left: float, node: float, n_left: float, n: float, importance: float, recall_weight: float) -> float:
    """The F gain of the class times its correlation with the cut, theta_k F_k |phi_k|.

    phi_k is D in units of its spread over random cuts, so it asks how sure the surplus is; F_k asks what it is worth at
    the recall weight. On noise fewer of its best cuts are end cuts than gini's for l >= 0.1 (at l = 0 most are).
    """
    squared = pragma_phi2(left, node, n_left, n, 1.0)
    return pragma_f(left, node, n_left, n, importance, recall_weight) * math.sqrt(squared)


@kernel
def class_gain(
    criterion: Whole,
    left: float,
    node: float,
    n_left: float,
    n: float,
    importance: float,
    recall_weight: float,
    prior: float,
) -> float:
    """What one class adds to the gain of a cut, by the criterion of this number."""
    if criterion == HELLINGER:
        return hellinger(left, node, n_left, n)
    if criterion == OFF_CENTRED:
        return off_centred(left, node, n_left, n, prior)
    if criterion == PRAGMA_STEADY:
        return pragma_steady(left, node, n_left, n, importance, recall_weight)
    return entropy(left, node, n_left, n)  # also of gain_ratio, which is a quotient of it


@kernel
def add_gains(
    criterion: Whole,
    lefts: Floats,
    sizes: Floats,
    inverses: Floats,
    count: Whole,
    node: Floats,
    classes: Whole,
    n: float,
    gains: Floats,
) -> None:
    """Add to `gains` what each of the node's classes is worth at each of `count` cuts.

    `lefts` has the weights of each class in turn left of the cuts, `sizes` those of all classes, and
    `inverses` their inverses and the inverses of the weights on the right; the rows of `node`
    are the weights of the classes in the node, their importances, recall weights and priors. The criteria that
    forests use most have a loop of their own, which is vectorised; the loop over classes around them keeps all
    arrays in use to the end, else numba counts references at every call, at the price of the work itself.
    """
    for k in range(np.uintp(classes)):
        first = k * np.uintp(count)
        weight = node[0, k]
        theta = node[1, k]
        l = node[2, k]  # noqa: E741 (the papers' letter)
        prior = node[3, k]
        # One branch per class, outside the loop over cuts: what is inside has no branch and becomes vector instructions.
        if criterion == GINI:
            for c in range(np.uintp(count)):
                gains[c] += gini(lefts[first + c], weight, inverses[0, c], inverses[1, c], n)
        elif criterion == PRAGMA_LINEAR:
            for c in range(np.uintp(count)):
                gains[c] += pragma_linear(lefts[first + c], weight, sizes[c], n, theta, l)
        elif criterion == PRAGMA_F:
            for c in range(np.uintp(count)):
                gains[c] += pragma_f(lefts[first + c], weight, sizes[c], n, theta, l)
        elif criterion == PRAGMA_PHI2:
            for c in range(np.uintp(count)):
                gains[c] += pragma_phi2(lefts[first + c], weight, sizes[c], n, theta)
        else:
            for c in range(np.uintp(count)):
                gains[c] += class_gain(criterion, lefts[first + c], weight, sizes[c], n, theta, l, prior)


@kernel
def add_own_gains(
    own: OwnGain, lefts: Floats, sizes: Floats, count: Whole, node: Floats, classes: Whole, n: float, gains: Floats
) -> None:
    """`add_gains` by a criterion of the user's own."""
    for k in range(classes):
        for c in range(count):
            gains[c] += own(lefts[k * count + c], node[0, k], sizes[c], n, node[1, k], node[2, k], node[3, k])


def compiled_gain(function: Callable[..., float]) -> OwnGain:
    """Return a function of seven numbers as machine code that kernels can call; plain Python where numba is switched off."""
    if numba.config.DISABLE_JIT:
        return function
    return numba.cfunc(OWN_SIGNATURE)(function)
