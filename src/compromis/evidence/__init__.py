"""Evidence: the small, additive tables that rows become at the door."""

from compromis.evidence.counts import Counts

__all__ = ["Counts"]
