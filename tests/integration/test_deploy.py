"""The page docs/deploy.md: what is no doctest session, because it needs other packages, runs here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import compromis as cp

PAGE = Path(__file__).parents[2] / "docs" / "deploy.md"
BLOCKS = [
    body
    for body in re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    if not body.startswith(">>>")
]

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("ignore")]


def test_the_blocks_run(tmp_path):
    pytest.importorskip("skl2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y = load_breast_cancer(return_X_y=True)
    preferences = cp.Preferences(
        {0: cp.Preference(10, precision_at_full_recall=0.5, recall_at_full_precision=0.95)}, metric="f"
    )
    forest = RandomForestClassifier(10, random_state=0)
    tuned = cp.TunedDecisionClassifier(forest, preferences=preferences, random_state=0).fit(X[::2], y[::2])
    names = {
        "cp": cp,
        "X": X[::2],
        "y": y[::2],
        "X_held": X[1::2],
        "y_held": y[1::2],
        "preferences": preferences,
        "tuned": tuned,
    }
    for body in BLOCKS:
        exec(compile(body, PAGE.name, "exec"), names)
    written = sorted(path.name for path in tmp_path.glob("*.onnx"))
    assert written == ["model.onnx", "tuned.onnx"]
    for name in written:
        outputs = [output.name for output in onnxruntime.InferenceSession(tmp_path / name).get_outputs()]
        assert outputs == ["decision", "votes"]
