"""Without onnx, `to_onnx` says what to install; tests/integration/test_onnx.py runs it."""

from __future__ import annotations

import importlib.util

import pytest

import compromis as cp


@pytest.mark.skipif(importlib.util.find_spec("onnx") is not None, reason="onnx is installed")
def test_onnx_is_an_extra():
    with pytest.raises(cp.MissingExtra, match=r"pip install 'compromis\[onnx\]'"):
        cp.Decision(("a", "b"), [1.0, 2.0]).to_onnx()
