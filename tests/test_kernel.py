"""The cache of compiled kernels against damage."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import numpy as np
from compromis.evidence.vote_table_old import count_row_votes
start = np.zeros(4, dtype=np.int64)
count_row_votes(np.array([[1.0, 0.0], [0.0, 0.0], [0.5, 0.5]]), start)
print(start.tolist())
"""


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="there is no cache without compilation")
def test_the_cache_is_private_and_survives_damage(tmp_path):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)

    def run():
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert run() == "[0, 1, 1, 3]"
    folder = next((tmp_path / "compromis" / "kernels").iterdir())
    assert folder.stat().st_mode & 0o077 == 0
    files = [path for path in folder.rglob("*") if path.suffix in {".nbi", ".nbc"}]
    assert files
    for damage in (b"", b"\x80\x04garbage"):
        for path in files:
            path.write_bytes(path.read_bytes()[: len(path.read_bytes()) // 2] if damage == b"" else damage)
        assert run() == "[0, 1, 1, 3]"
    Path(folder).chmod(0o777)  # anyone could plant a pickle here: it must not be read
    for path in files:
        path.unlink(missing_ok=True)
    assert run() == "[0, 1, 1, 3]"
    assert not list(folder.rglob("*.nbi"))
