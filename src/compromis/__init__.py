"""compromis: classifiers and evaluation for people whose classes do not matter equally.

Say what matters in two questions per class, and evaluate, tune, build and compare models by it.
Names are imported when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "compromis.errors": ["CompromisError", "InputError", "MissingExtra", "UninformativeWarning"],
    "compromis.indices": ["INDICES", "Index", "index_value"],
    "compromis.preferences": ["Preference", "Preferences"],
    "compromis.evidence": ["Counts"],
    "compromis.evidence.points": ["OperatingPoints"],
    "compromis.evidence.votes": ["VotePatterns"],
    "compromis.measures.probability": ["training_priors"],
    "compromis.measures.verdict": ["Verdict"],
    "compromis.reporting.evaluation": ["Evaluation"],
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
        "compare",
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
    "compromis.estimators.c45": ["C45Classifier"],
    "compromis.estimators.weighted_vote": ["WeightedVoteClassifier"],
    "compromis.evaluation.evaluate": ["evaluate", "evaluate_counts"],
    "compromis.evaluation.scoring": ["pragma_loss", "pragma_scorer"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]

if TYPE_CHECKING:
    from compromis.errors import CompromisError, InputError, MissingExtra, UninformativeWarning
    from compromis.estimators.c45 import C45Classifier
    from compromis.estimators.weighted_vote import WeightedVoteClassifier
    from compromis.evaluation.evaluate import evaluate, evaluate_counts
    from compromis.evaluation.scoring import pragma_loss, pragma_scorer
    from compromis.evidence import Counts
    from compromis.evidence.points import OperatingPoints
    from compromis.evidence.votes import VotePatterns
    from compromis.indices import INDICES, Index, index_value
    from compromis.measures.probability import training_priors
    from compromis.measures.verdict import Verdict
    from compromis.preferences import Preference, Preferences
    from compromis.reporting.evaluation import Evaluation
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
        compare,
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
    from compromis.weights import Annealing, Budget, Exact, Sweep, WeightSearch, search_weights
    from compromis.weights.decision import Decision


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'compromis' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
