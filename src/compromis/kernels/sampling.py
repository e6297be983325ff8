"""Bootstrap samples: how often each row is drawn, and the sample a tree is grown on."""

from __future__ import annotations

import numpy as np

from compromis._typing import Floats
from compromis.kernels.criteria import Whole
from compromis.kernels.histograms import Labels, Sample
from compromis.kernels.jit import kernel


@kernel
def draw_bootstrap(rng: np.random.Generator, in_bag: Labels) -> Whole:
    """Draw as many rows as there are, with replacement; count how often each is drawn, and how many are at all."""
    distinct = 0
    for _ in range(in_bag.size):
        row = np.uintp(rng.random() * in_bag.size)
        distinct += in_bag[row] == 0
        in_bag[row] += 1
    return distinct


@kernel
def take_sample(in_bag: Labels, labels: Labels, weights: Floats, sample: Sample) -> None:
    """Fill the sample with the rows drawn, their classes, and their weights times how often they were drawn."""
    place = 0
    weighted = weights.size > 0
    for row in range(in_bag.size):
        if in_bag[row]:
            sample.rows[place] = row
            sample.classes[place] = labels[row]
            sample.weights[place] = np.float64(in_bag[row]) * weights[row] if weighted else np.float64(in_bag[row])
            place += 1
