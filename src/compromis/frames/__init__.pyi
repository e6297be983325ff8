from .bounds import average_precision_bounds, loss_bounds, roc_area_bounds, tradeoff_bounds
from .deciding import decide, evaluate
from .scanning import scan
from .search import FrameSearch, search_weights
from .thresholds import BestThreshold, best_threshold

__all__ = [
    "BestThreshold",
    "FrameSearch",
    "average_precision_bounds",
    "best_threshold",
    "decide",
    "evaluate",
    "loss_bounds",
    "roc_area_bounds",
    "scan",
    "search_weights",
    "tradeoff_bounds",
]
