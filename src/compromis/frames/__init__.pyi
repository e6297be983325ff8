from .adding import EvidenceSum, FileScan
from .bounds import average_precision_bounds, loss_bounds, roc_area_bounds, tradeoff_bounds
from .content import table_suffix
from .deciding import decide, evaluate
from .reading import open_table, read_table
from .scanning import Scan, open_scan, scan
from .search import FrameSearch, search_weights
from .tables import Table, Texts, pick_column, to_csv
from .thresholds import BestThreshold, best_threshold

__all__ = [
    "BestThreshold",
    "EvidenceSum",
    "FileScan",
    "FrameSearch",
    "Scan",
    "Table",
    "Texts",
    "average_precision_bounds",
    "best_threshold",
    "decide",
    "evaluate",
    "loss_bounds",
    "open_scan",
    "open_table",
    "pick_column",
    "read_table",
    "roc_area_bounds",
    "scan",
    "search_weights",
    "table_suffix",
    "to_csv",
    "tradeoff_bounds",
]
