from .c45 import C45Classifier
from .model_file import load_model
from .pragma_forest import PragmaForestClassifier
from .pragma_tree import PragmaTreeClassifier
from .tuned_decision import TunedDecisionClassifier

__all__ = [
    "C45Classifier",
    "PragmaForestClassifier",
    "PragmaTreeClassifier",
    "TunedDecisionClassifier",
    "load_model",
]
