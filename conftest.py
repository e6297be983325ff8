"""Every test and every example of the documentation runs in an empty folder of its own."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
