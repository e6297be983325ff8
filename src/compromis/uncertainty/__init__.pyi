from .areas import average_precision_interval, roc_area_interval, tradeoff_area_interval
from .bands import precision_recall_band, roc_band, tradeoff_band
from .data_sets import DataSetComparison, compare_over_data_sets
from .intervals import Interval
from .ranges import confident_winners, switch_points

__all__ = [
    "DataSetComparison",
    "Interval",
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
