"""33. Mutated preferences, decisions, evidence and models through the command line: one sentence and exit code 2, nothing runs."""

from __future__ import annotations

from tests.stress.counting import in_programs
from tests.stress.mutations import DOCUMENTS
from tests.stress.outcome import Outcome, Progress, scaled, silent
from tests.stress.promise_19_hostile_files import BLOCK, spoiled_block

TITLE = "mutated preferences, decision, evidence and model files"
QUICK = 0.0009
EACH = 10_000
"""Files of each kind: of seven in eight some values are others, of the rest some bytes."""


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Read and use every file, in processes that may die; what runs beside is told by Python's own audit."""
    count = scaled(EACH, scale)
    blocks = [(kind, start, min(start + BLOCK, count)) for kind in DOCUMENTS for start in range(0, count, BLOCK)]
    return in_programs(spoiled_block, blocks, progress)
