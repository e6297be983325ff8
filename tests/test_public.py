"""The public namespace: light, complete and documented."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path

import pytest

import compromis as cp


def test_importing_is_light():
    program = "import sys, compromis; heavy = {'numpy', 'sklearn', 'matplotlib', '_kernels'}; "
    program += "print([name for name in sys.modules if heavy & {name, name.rpartition('.')[2]}])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_studio_starts_without_the_slowest_imports():
    program = "import sys, compromis.studio.serving; print('scipy.stats' in sys.modules, 'sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"


@pytest.mark.parametrize("left_over", ["", "_kernels", "_kernels.cp311-win_arm64.pyd"])
def test_a_package_without_kernels_for_this_platform_says_so(tmp_path, left_over):
    (tmp_path / "compromis" / "tradeoffs" / left_over).mkdir(parents=True)
    for name in ("__init__.py", "__init__.pyi"):
        shutil.copy(Path(cp.__file__).with_name(name), tmp_path / "compromis")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", "import compromis"], env=environment, capture_output=True, text=True)
    sentence = done.stderr.splitlines()[-1]
    assert sentence.startswith("ImportError: this installation of compromis has no compiled kernels for Python 3.")
    assert f" on {sysconfig.get_platform()}: " in sentence
    assert "install it again with pip" in sentence


def test_evaluating_needs_no_scikit_learn():
    program = "import sys, compromis as cp; cp.evaluate([1, 2], [1, 1]); print('sklearn' in sys.modules, 'matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"


FLAT = [
    "C45Classifier",
    "CompromisError",
    "Counts",
    "Decision",
    "DeviceWarning",
    "EngineError",
    "Evaluation",
    "FewRowsWarning",
    "Guarantee",
    "GuaranteeWarning",
    "InputError",
    "Metric",
    "MissingExtra",
    "OperatingPoints",
    "OptimismWarning",
    "PairedCounts",
    "PragmaForestClassifier",
    "PragmaTreeClassifier",
    "Preference",
    "Preferences",
    "Review",
    "TradeoffCurve",
    "TunedDecisionClassifier",
    "NotBetterWarning",
    "Verdict",
    "Votes",
    "WeightSearch",
    "check",
    "compare_curves",
    "compare_models",
    "cross_evaluate",
    "evaluate",
    "metric_value",
    "monitor",
    "panel",
    "pragma_loss",
    "pragma_scorer",
    "report",
    "roc_hull",
    "search_weights",
]
ROOMS = [
    "deployment",
    "drift",
    "estimators",
    "evaluation",
    "evidence",
    "frames",
    "integrations",
    "metrics",
    "model_selection",
    "plots",
    "regression",
    "reports",
    "tradeoffs",
    "uncertainty",
    "weights",
]


def test_the_flat_names_are_these():
    assert sorted(cp.__all__) == sorted(FLAT + ROOMS)
    assert len(FLAT) <= 48


@pytest.mark.parametrize("name", FLAT)
def test_every_name_is_there_and_described(name):
    assert name in dir(cp)
    assert getattr(cp, name).__doc__


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_of_a_room_is_there_and_described(room):
    module = getattr(cp, room)
    assert module.__doc__
    for name in getattr(module, "__all__", ()):
        assert getattr(module, name).__doc__, name


def test_unknown_name():
    with pytest.raises(AttributeError, match="evalute"):
        _ = cp.evalute


def test_a_name_of_a_room_is_told_where_it_is():
    for room, name in (("model_selection", "plan_labels"), ("deployment", "to_onnx"), ("evaluation", "Record")):
        with pytest.raises(AttributeError, match=rf"has no '{name}' itself; it is compromis\.{room}\.{name}$"):
            getattr(cp, name)
        assert getattr(getattr(cp, room), name)
    assert not hasattr(cp, "__wrapped__")


def test_version():
    assert cp.__version__ == version("compromis")


def test_names_of_0_1_0_lead_to_names_that_are_there():
    text = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    told = text.partition("## From 0.1.0 to 0.2.0")[2].partition("| command or option |")[0]
    unchanged = re.findall(r"`(\w+)`", re.search(r"^Unchanged: .*$", told, re.MULTILINE)[0])
    moved = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", told, re.MULTILINE))
    assert len({*unchanged, *moved}) == 130  # what __init__.py of 0.1.0 offered
    for name in [*unchanged, *(re.search(r"`([\w.]+)`", now)[1] for now in moved.values())]:
        assert attrgetter(name)(cp) is not None, name
