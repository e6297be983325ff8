"""The trade-off space: what is best for which recall weight, who is best where, and its siblings in ROC space."""

from compromis.tradeoffs.areas import Beta
from compromis.tradeoffs.comparison import Comparison, Winner, compare_curves
from compromis.tradeoffs.costs import CostCurve, DecisionCurve, constant_cost, decision_curve, probability_cost
from compromis.tradeoffs.curve import Choice, Interval, TradeoffCurve
from compromis.tradeoffs.roc import (
    HullPart,
    PrecisionRecallCurve,
    RocCurve,
    RocHull,
    dominance,
    dominates,
    precision_recall_curve,
    roc_curve,
    roc_hull,
)
from compromis.tradeoffs.space import PrecisionRecallSpace, domain_of_application, isoline

__all__ = [
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
]
