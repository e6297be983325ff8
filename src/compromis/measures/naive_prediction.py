"""Is a regression worth anything? It is judged beside the predictions that need no model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from compromis.evidence.residuals import ErrorSums
from compromis.measures.regression import mean_absolute_error, r2, root_mean_squared_error


@dataclass(frozen=True, slots=True)
class RegressionVerdict:
    """Whether predictions are better than those without a model.

    Attributes
    ----------
    informative : bool
        False when the best baseline has no larger squared error.
    sentence : str
        The same in words.
    """

    informative: bool
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def judge_predictions(sums: ErrorSums) -> RegressionVerdict:
    """Compare the predictions with the baseline that has the least squared error."""
    best = int(np.argmin(sums.baseline_squared))
    name, naive = sums.baselines[best], math.sqrt(sums.baseline_squared[best] / sums.weight)
    error, gain = float(root_mean_squared_error(sums)), float(r2(sums)[best])
    if not gain > 0:
        how = "larger than" if error > naive else "no smaller than"
        return RegressionVerdict(
            False, f"uninformative: the root mean squared error {error:.4g} is {how} the {naive:.4g} of {name}"
        )
    less = 100 * (1 - error / naive)
    sentence = f"informative: the root mean squared error {error:.4g} is {less:.0f} % below the {naive:.4g} of {name}"
    absolute = float(sums.baseline_absolute[best] / sums.weight)
    if float(mean_absolute_error(sums)) >= absolute:
        sentence += f"; but its mean absolute error is not below the {absolute:.4g} of the baseline"
    return RegressionVerdict(True, sentence)
