from .class_balance import ClassBalanceDisplay
from .critical_difference import CriticalDifferenceDisplay
from .learning_curve import PreferenceLearningCurveDisplay
from .precision_recall_space import PrecisionRecallSpaceDisplay
from .predicted_numbers import PredictedAgainstTrueDisplay, ResidualDisplay
from .preference import PreferenceDisplay
from .roc_hull import RocHullDisplay
from .tradeoff_curves import TradeoffDisplay
from .vote_shares import VoteDisplay
from .weight_sweep import WeightSweepDisplay

__all__ = [
    "ClassBalanceDisplay",
    "CriticalDifferenceDisplay",
    "PrecisionRecallSpaceDisplay",
    "PredictedAgainstTrueDisplay",
    "PreferenceDisplay",
    "PreferenceLearningCurveDisplay",
    "ResidualDisplay",
    "RocHullDisplay",
    "TradeoffDisplay",
    "VoteDisplay",
    "WeightSweepDisplay",
]
