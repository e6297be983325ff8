from .checks import Check, check
from .cross_validation import CrossEvaluation, cross_evaluate
from .model_comparison import ModelComparison, compare_folds, compare_models
from .record import Record
from .scoring import pragma_loss, pragma_scorer

__all__ = [
    "Check",
    "CrossEvaluation",
    "ModelComparison",
    "Record",
    "check",
    "compare_folds",
    "compare_models",
    "cross_evaluate",
    "pragma_loss",
    "pragma_scorer",
]
