from .areas import Beta
from .comparison import Comparison, Winner, compare_curves
from .costs import CostCurve, DecisionCurve, constant_cost, decision_curve, probability_cost
from .curve import BestRange, Choice, TradeoffCurve
from .roc import (
    HullPart,
    PrecisionRecallCurve,
    RocCurve,
    RocHull,
    dominance,
    dominates,
    precision_recall_points,
    roc_hull,
    roc_points,
)
from .space import PrecisionRecallSpace, domain_of_application, isoline

__all__ = [
    "BestRange",
    "Beta",
    "Choice",
    "Comparison",
    "CostCurve",
    "DecisionCurve",
    "HullPart",
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
    "precision_recall_points",
    "probability_cost",
    "roc_hull",
    "roc_points",
]
