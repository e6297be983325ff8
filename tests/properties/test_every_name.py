"""Every public function and every public class that takes data has a law, and a law calls what it names."""

from __future__ import annotations

import ast
import inspect
from collections import defaultdict
from pathlib import Path

import pytest

import compromis as cp

FOLDER = Path(__file__).parent
WITHOUT = {"__version__": "a text", "METRICS": "the laws of metric_value go through it"} | {
    name: "an error or a warning: it is raised, and the laws say when"
    for name in cp.__all__
    if inspect.isclass(getattr(cp, name)) and issubclass(getattr(cp, name), (Exception, Warning))
}
"""Names that need no law, and why."""

MADE_BY = {
    "BestCut": "best_cut",
    "Choice": "TradeoffCurve",
    "Comparison": "compare_curves",
    "ComplexityCurve": "complexity_curve",
    "CountBounds": "Votes",
    "CrossEvaluation": "cross_evaluate",
    "DataSetComparison": "compare_over_data_sets",
    "DecisionCurve": "decision_curve",
    "ErrorSums": "evaluate_regression",
    "Evaluation": "evaluate",
    "EvidenceFile": "read_evidence",
    "FrameSearch": "search_frame",
    "Check": "check",
    "HullPart": "roc_hull",
    "Interval": "TradeoffCurve",
    "Leaks": "find_leaks",
    "LearningCurve": "learning_curve",
    "ModelComparison": "compare_models",
    "PrecisionRecallCurve": "precision_recall_curve",
    "PrevalenceEstimate": "prevalence_by_em",
    "RegressionEvaluation": "evaluate_regression",
    "Report": "report",
    "RocCurve": "roc_curve",
    "RocHull": "roc_hull",
    "Split": "split",
    "Verdict": "evaluate",
    "Monitor": "monitor",
    "WeightSearch": "search_weights",
    "WeightSweep": "weight_sweep",
    "Winner": "compare_curves",
}
"""Results: nobody builds them by hand, so their law calls what makes them."""


def called(node: ast.AST, module: dict[str, ast.AST], seen: set[str]) -> set[str]:
    """The public names that code mentions as cp.name, in what it calls of its own module too."""
    found = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == "cp":
            found.add(one.attr)
        elif isinstance(one, ast.Name) and one.id in module and one.id not in seen:
            seen.add(one.id)
            found |= called(module[one.id], module, seen)
    return found


def read_laws() -> dict[str, list[tuple[str, set[str]]]]:
    """For each public name its laws, with what each of them calls."""
    laws = defaultdict(list)
    for path in sorted(FOLDER.glob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        shared = _definitions(ast.parse((FOLDER / "strategies.py").read_text(encoding="utf-8")))
        module = {**shared, **_definitions(tree)}
        for test in tree.body:
            if not isinstance(test, ast.FunctionDef) or not test.name.startswith("test_"):
                continue
            used = {_name(one): one for one in test.decorator_list if isinstance(one, ast.Call)}
            if "law" not in used:
                continue
            assert "given" in used, f"{test.name} is called a law but draws nothing"
            body = called(ast.Module([*test.body, ast.Expr(used["given"])], []), module, {test.name})
            for name in used["law"].args:
                laws[name.value].append((f"{path.name}::{test.name}", body))
    return laws


def _definitions(tree: ast.Module) -> dict[str, ast.AST]:
    found: dict[str, ast.AST] = {}
    for one in tree.body:
        if isinstance(one, (ast.FunctionDef, ast.ClassDef)):
            found[one.name] = one
        elif isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
            found[one.targets[0].id] = one.value
    return found


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


LAWS = read_laws()


def test_every_public_name_has_a_law():
    without = [name for name in cp.__all__ if name not in WITHOUT and not LAWS.get(name)]
    assert not without, "write laws in tests/properties and mark them, for example @law('roc_curve')"


@pytest.mark.parametrize("name", sorted(LAWS))
def test_a_law_calls_what_it_names(name):
    makers = {name, MADE_BY.get(name, name)}
    idle = [test for test, body in LAWS[name] if not body & makers]
    assert not idle or (name in MADE_BY and len(idle) < len(LAWS[name]))


def test_lists_of_names_are_not_out_of_date():
    assert {*WITHOUT, *MADE_BY, *MADE_BY.values()} <= {*cp.__all__}
    assert not {*WITHOUT} & {*LAWS}
