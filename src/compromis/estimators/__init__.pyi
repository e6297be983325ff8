from .c45 import C45Classifier
from .change import Change
from .model_file import fit_table, load_model, save_model
from .pragma_forest import PragmaForestClassifier
from .pragma_tree import PragmaTreeClassifier
from .tuned_decision import TunedDecisionClassifier

__all__ = [
    "C45Classifier",
    "Change",
    "PragmaForestClassifier",
    "PragmaTreeClassifier",
    "TunedDecisionClassifier",
    "fit_table",
    "load_model",
    "save_model",
]
