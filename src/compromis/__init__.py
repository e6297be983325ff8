"""compromis: classifiers and evaluation for people whose classes do not matter equally.

Say what matters in two questions per class, and evaluate, tune, build and compare models by it.
Names are imported when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "compromis.errors": [
        "CompromisError",
        "DeviceWarning",
        "EngineError",
        "InputError",
        "MissingExtra",
        "OptimismWarning",
        "UninformativeWarning",
    ],
    "compromis.metrics": ["METRICS", "Metric", "metric_value"],
    "compromis.preferences": ["Preference", "Preferences"],
    "compromis.evidence": ["Counts"],
    "compromis.evidence.grouped": ["GroupedCounts"],
    "compromis.evidence.paired": ["PairedCounts"],
    "compromis.evidence.points": ["OperatingPoints"],
    "compromis.evidence.votes": ["Votes"],
    "compromis.measures.probability": ["training_priors"],
    "compromis.measures.verdict": ["Verdict"],
    "compromis.uncertainty.areas": ["average_precision_interval", "roc_area_interval", "tradeoff_area_interval"],
    "compromis.uncertainty.bands": ["precision_recall_band", "roc_band", "tradeoff_band"],
    "compromis.uncertainty.data_sets": ["DataSetComparison", "compare_over_data_sets"],
    "compromis.uncertainty.ranges": ["exchanges", "sure_ranges"],
    "compromis.plots.critical_difference": ["CriticalDifferenceDisplay"],
    "compromis.evaluation.cross_validation": ["CrossEvaluation", "cross_evaluate"],
    "compromis.evaluation.evaluate": ["Evaluation", "evaluate", "evaluate_counts"],
    "compromis.evaluation.comparison": ["ModelComparison", "compare_folds", "compare_models"],
    "compromis.reports.panel.widget": ["panel"],
    "compromis.reports.result": ["Report", "report"],
    "compromis.tradeoffs": [
        "Beta",
        "Choice",
        "Comparison",
        "CostCurve",
        "DecisionCurve",
        "HullPart",
        "Interval",
        "PrecisionRecallCurve",
        "PrecisionRecallSpace",
        "RocCurve",
        "RocHull",
        "TradeoffCurve",
        "Winner",
        "compare_curves",
        "constant_cost",
        "decision_curve",
        "domain_of_application",
        "dominance",
        "dominates",
        "isoline",
        "precision_recall_curve",
        "probability_cost",
        "roc_curve",
        "roc_hull",
    ],
    "compromis.weights": ["Annealing", "Budget", "Exact", "Sweep", "WeightSearch", "search_weights"],
    "compromis.weights.decision": ["Decision"],
    "compromis.drift": [
        "PrevalenceEstimate",
        "Unlabelled",
        "Monitor",
        "prevalence_by_confusion",
        "prevalence_by_em",
        "monitor",
    ],
    "compromis.frames.thresholds": ["BestCut", "best_cut"],
    "compromis.frames.deciding": ["decide", "evaluate_frame"],
    "compromis.frames.bounds": ["average_precision_bounds", "loss_bounds", "roc_area_bounds", "tradeoff_bounds"],
    "compromis.evidence.bounds": ["CountBounds"],
    "compromis.evidence.files": ["EvidenceFile", "merge_evidence", "read_evidence", "write_evidence"],
    "compromis.frames.scanning": ["scan"],
    "compromis.frames.search": ["FrameSearch", "search_frame"],
    "compromis.estimators.c45": ["C45Classifier"],
    "compromis.estimators.pragma_forest": ["PragmaForestClassifier"],
    "compromis.estimators.pragma_tree": ["PragmaTreeClassifier"],
    "compromis.estimators.tuned_decision": ["TunedDecisionClassifier"],
    "compromis.evaluation.checks": ["Check", "check"],
    "compromis.integrations.skore": ["add_to_skore", "skore_metrics"],
    "compromis.integrations.mlflow": ["log_to_mlflow"],
    "compromis.evidence.residuals": ["ErrorSums"],
    "compromis.regression.evaluation": ["RegressionEvaluation", "evaluate_error_sums", "evaluate_regression"],
    "compromis.model_selection.curves": ["ComplexityCurve", "LearningCurve", "complexity_curve", "learning_curve"],
    "compromis.plots.learning_curve": ["PreferenceLearningCurveDisplay"],
    "compromis.plots.residuals": ["PredictedAgainstTrueDisplay", "ResidualDisplay"],
    "compromis.model_selection.leaks": ["Leaks", "find_leaks", "row_groups"],
    "compromis.model_selection.splitting": ["Split", "split"],
    "compromis.evaluation.scoring": ["pragma_loss", "pragma_scorer"],
    "compromis.plots.class_balance": ["ClassBalanceDisplay"],
    "compromis.plots.precision_recall_space": ["PrecisionRecallSpaceDisplay"],
    "compromis.plots.preference": ["PreferenceDisplay"],
    "compromis.plots.roc_hull": ["RocHullDisplay"],
    "compromis.plots.tradeoff": ["TradeoffDisplay"],
    "compromis.plots.votes": ["VoteDisplay"],
    "compromis.plots.weight_sweep": ["WeightSweepDisplay"],
    "compromis.weights.sweep_curve": ["WeightSweep", "weight_sweep"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]

if TYPE_CHECKING:
    from compromis.drift import (
        Monitor,
        PrevalenceEstimate,
        Unlabelled,
        monitor,
        prevalence_by_confusion,
        prevalence_by_em,
    )
    from compromis.errors import (
        CompromisError,
        DeviceWarning,
        EngineError,
        InputError,
        MissingExtra,
        OptimismWarning,
        UninformativeWarning,
    )
    from compromis.estimators.c45 import C45Classifier
    from compromis.estimators.pragma_forest import PragmaForestClassifier
    from compromis.estimators.pragma_tree import PragmaTreeClassifier
    from compromis.estimators.tuned_decision import TunedDecisionClassifier
    from compromis.evaluation.checks import Check, check
    from compromis.evaluation.comparison import ModelComparison, compare_folds, compare_models
    from compromis.evaluation.cross_validation import CrossEvaluation, cross_evaluate
    from compromis.evaluation.evaluate import Evaluation, evaluate, evaluate_counts
    from compromis.evaluation.scoring import pragma_loss, pragma_scorer
    from compromis.evidence import Counts
    from compromis.evidence.bounds import CountBounds
    from compromis.evidence.files import EvidenceFile, merge_evidence, read_evidence, write_evidence
    from compromis.evidence.grouped import GroupedCounts
    from compromis.evidence.paired import PairedCounts
    from compromis.evidence.points import OperatingPoints
    from compromis.evidence.residuals import ErrorSums
    from compromis.evidence.votes import Votes
    from compromis.frames.bounds import average_precision_bounds, loss_bounds, roc_area_bounds, tradeoff_bounds
    from compromis.frames.deciding import decide, evaluate_frame
    from compromis.frames.scanning import scan
    from compromis.frames.search import FrameSearch, search_frame
    from compromis.frames.thresholds import BestCut, best_cut
    from compromis.integrations.mlflow import log_to_mlflow
    from compromis.integrations.skore import add_to_skore, skore_metrics
    from compromis.measures.probability import training_priors
    from compromis.measures.verdict import Verdict
    from compromis.metrics import METRICS, Metric, metric_value
    from compromis.model_selection.curves import ComplexityCurve, LearningCurve, complexity_curve, learning_curve
    from compromis.model_selection.leaks import Leaks, find_leaks, row_groups
    from compromis.model_selection.splitting import Split, split
    from compromis.plots.class_balance import ClassBalanceDisplay
    from compromis.plots.critical_difference import CriticalDifferenceDisplay
    from compromis.plots.learning_curve import PreferenceLearningCurveDisplay
    from compromis.plots.precision_recall_space import PrecisionRecallSpaceDisplay
    from compromis.plots.preference import PreferenceDisplay
    from compromis.plots.residuals import PredictedAgainstTrueDisplay, ResidualDisplay
    from compromis.plots.roc_hull import RocHullDisplay
    from compromis.plots.tradeoff import TradeoffDisplay
    from compromis.plots.votes import VoteDisplay
    from compromis.plots.weight_sweep import WeightSweepDisplay
    from compromis.preferences import Preference, Preferences
    from compromis.regression.evaluation import RegressionEvaluation, evaluate_error_sums, evaluate_regression
    from compromis.reports.panel.widget import panel
    from compromis.reports.result import Report, report
    from compromis.tradeoffs import (
        Beta,
        Choice,
        Comparison,
        CostCurve,
        DecisionCurve,
        HullPart,
        Interval,
        PrecisionRecallCurve,
        PrecisionRecallSpace,
        RocCurve,
        RocHull,
        TradeoffCurve,
        Winner,
        compare_curves,
        constant_cost,
        decision_curve,
        domain_of_application,
        dominance,
        dominates,
        isoline,
        precision_recall_curve,
        probability_cost,
        roc_curve,
        roc_hull,
    )
    from compromis.uncertainty.areas import average_precision_interval, roc_area_interval, tradeoff_area_interval
    from compromis.uncertainty.bands import precision_recall_band, roc_band, tradeoff_band
    from compromis.uncertainty.data_sets import DataSetComparison, compare_over_data_sets
    from compromis.uncertainty.ranges import exchanges, sure_ranges
    from compromis.weights import Annealing, Budget, Exact, Sweep, WeightSearch, search_weights
    from compromis.weights.decision import Decision
    from compromis.weights.sweep_curve import WeightSweep, weight_sweep


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'compromis' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
