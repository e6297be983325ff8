"""How a report was computed: versions, and a fingerprint of the evidence."""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from compromis.evidence import Counts
from compromis.evidence.votes import Votes
from compromis.reporting.panel.binning import dense_votes
from compromis.reporting.version import running_version

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def versions() -> dict[str, str]:
    """Return the versions of Python and of what the numbers rest on."""
    found = {"compromis": running_version(), "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def fingerprint(counts: Counts, patterns: Votes | None) -> str:
    """Return a hash of the evidence, the same for the same rows in any order."""
    digest = hashlib.sha256(repr(counts.classes).encode())
    digest.update(np.ascontiguousarray(counts.matrix).tobytes())
    if patterns is not None:
        votes = dense_votes(patterns)
        order = np.lexsort([*votes.T, patterns.truth])
        for part in (votes[order], patterns.truth[order], patterns.multiplicity[order]):
            digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:16]
