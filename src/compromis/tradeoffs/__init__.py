"""The trade-off space: what is best for which recall weight, who is best where, and its siblings in ROC space."""

from compromis.tradeoffs.areas import Beta
from compromis.tradeoffs.comparison import Comparison, Winner, compare_curves
from compromis.tradeoffs.cost_curves import CostCurve, constant_cost, probability_cost
from compromis.tradeoffs.curve import TradeoffCurve
from compromis.tradeoffs.decision_curve import DecisionCurve, decision_curve
from compromis.tradeoffs.domain import domain_of_application
from compromis.tradeoffs.interval import Choice, Interval
from compromis.tradeoffs.roc import (
    PrecisionRecallCurve,
    RocCurve,
    dominance,
    dominates,
    precision_recall_curve,
    roc_curve,
)
from compromis.tradeoffs.roc_hull import HullPart, RocHull, roc_hull
from compromis.tradeoffs.space import PrecisionRecallSpace, isoline

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
