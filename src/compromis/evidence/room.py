"""The room there is for counts: 64 bits, checked before anything is added up."""

from __future__ import annotations

from compromis.errors import InputError


def check_room(total: float) -> None:
    """Refuse whole counts whose sum 64 bits do not hold; numpy would wrap around without a word."""
    if isinstance(total, int) and total >= 2**63:
        raise InputError(f"counts add up to {total:.3g}, more than 64 bits hold; divide them all by a common number")
