"""The page on models: every block runs with the real package, in the order of the page."""

from __future__ import annotations

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "any_model.md"
NEEDS = {"scikit-learn": [], "XGBoost": ["xgboost"], "LightGBM": ["lightgbm"], "CatBoost": ["catboost"], "Calibrate": [], "PyTorch": ["torch", "skorch"], "Spark": ["pyspark", "pandas"]}  # fmt: skip

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("ignore")]


def sections():
    parts = re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    blocks = [re.findall(r"^```python\n(.*?)^```", part, flags=re.MULTILINE | re.DOTALL) for part in parts]
    return blocks[0], {part.split("\n")[0]: found for part, found in zip(parts[1:], blocks[1:], strict=True)}


SHARED, MODELS = sections()


def test_every_section_has_code_and_known_needs():
    assert SHARED
    assert len(MODELS) == len(NEEDS)
    for title, blocks in MODELS.items():
        assert blocks, title
        assert sum(title.startswith(name) for name in NEEDS) == 1, title


@pytest.mark.parametrize("title", MODELS)
def test_section(title):
    needs = next(packages for name, packages in NEEDS.items() if title.startswith(name))
    missing = [package for package in needs if find_spec(package) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed")
    if "pyspark" in needs and shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not here")
    names: dict = {}
    try:
        for block in [*SHARED, *MODELS[title]]:
            exec(compile(block, f"{PAGE.name}: {title}", "exec"), names)
    finally:
        if "spark" in names:
            names["spark"].stop()
