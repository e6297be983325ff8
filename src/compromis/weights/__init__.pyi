from .annealing import Annealing
from .decision import Decision
from .exact import Exact
from .guarantee import Guarantee
from .review import Review, Reviewed
from .search import WeightSearch, search_weights
from .stability import Stability
from .sweep import Sweep
from .sweep_curve import WeightSweep, weight_sweep

__all__ = [
    "Annealing",
    "Decision",
    "Exact",
    "Guarantee",
    "Review",
    "Reviewed",
    "Stability",
    "Sweep",
    "WeightSearch",
    "WeightSweep",
    "search_weights",
    "weight_sweep",
]
