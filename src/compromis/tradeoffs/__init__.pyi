from .areas import Beta
from .comparison import Comparison, ComparisonVerdict, Winner, compare_curves
from .costs import CostCurve, DecisionCurve, constant_cost, decision_curve, probability_cost
from .curve import BestRange, Choice, TradeoffCurve, domain_of_application
from .interview import Interview, Known, Question
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
from .space import PrecisionRecallSpace, isoline

__all__ = [
    "BestRange",
    "Beta",
    "Choice",
    "Comparison",
    "ComparisonVerdict",
    "CostCurve",
    "DecisionCurve",
    "HullPart",
    "Interview",
    "Known",
    "PrecisionRecallCurve",
    "PrecisionRecallSpace",
    "Question",
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
