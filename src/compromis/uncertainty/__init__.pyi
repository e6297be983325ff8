from .area_intervals import average_precision_interval, roc_area_interval, tradeoff_area_interval
from .bands import Band, precision_recall_band, roc_band, tradeoff_band
from .data_sets import DataSetComparison, ModelPair, compare_over_data_sets
from .intervals import Interval
from .ranges import SureRange, SwitchPoint, confident_winners, switch_points

__all__ = [
    "Band",
    "DataSetComparison",
    "Interval",
    "ModelPair",
    "SureRange",
    "SwitchPoint",
    "average_precision_interval",
    "compare_over_data_sets",
    "confident_winners",
    "precision_recall_band",
    "roc_area_interval",
    "roc_band",
    "switch_points",
    "tradeoff_area_interval",
    "tradeoff_band",
]
