from .bounds import average_precision_bounds, loss_bounds, roc_area_bounds, tradeoff_bounds
from .deciding import decide, evaluate
from .reading import pick_column, read_pieces, table_suffix
from .scanning import scan
from .search import FrameSearch, search_weights
from .tables import Table
from .thresholds import BestThreshold, best_threshold

__all__ = [
    "BestThreshold",
    "FrameSearch",
    "Table",
    "average_precision_bounds",
    "best_threshold",
    "decide",
    "evaluate",
    "loss_bounds",
    "pick_column",
    "read_pieces",
    "roc_area_bounds",
    "scan",
    "search_weights",
    "table_suffix",
    "tradeoff_bounds",
]
