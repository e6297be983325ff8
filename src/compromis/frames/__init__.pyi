from .bounds import average_precision_bounds, loss_bounds, roc_area_bounds, tradeoff_bounds
from .deciding import decide, evaluate
from .reading import column_names, read_pieces, read_scored, read_table, table_suffix
from .scanning import Scan, open_scan, scan
from .search import FrameSearch, search_weights
from .tables import Table, pick_column
from .thresholds import BestThreshold, best_threshold

__all__ = [
    "BestThreshold",
    "FrameSearch",
    "Scan",
    "Table",
    "average_precision_bounds",
    "best_threshold",
    "column_names",
    "decide",
    "evaluate",
    "loss_bounds",
    "open_scan",
    "pick_column",
    "read_pieces",
    "read_scored",
    "read_table",
    "roc_area_bounds",
    "scan",
    "search_weights",
    "table_suffix",
    "tradeoff_bounds",
]
