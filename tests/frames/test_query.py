"""Edges of bins, to the last bit."""

from __future__ import annotations

import numpy as np

from compromis.frames.query import Bins


def test_edges_are_the_first_numbers_of_their_bins(rng):
    for _ in range(300):
        low = float(rng.normal() * 10.0 ** rng.integers(-6, 7))
        high = low + float(10.0 ** rng.integers(-4, 5) * rng.uniform(0.5, 2))
        bins = Bins(low, high, int(rng.integers(2, 300)))
        edges = bins.edges()
        place = np.floor((edges - low) * bins.scale)
        before = np.floor((np.nextafter(edges[1:], -np.inf) - low) * bins.scale)
        assert (place >= np.arange(bins.count)).all()
        assert (before < np.arange(1, bins.count)).all()
