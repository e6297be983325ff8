from .c45 import C45Classifier
from .model_file import fit_table, load_model, save_model
from .pragma_forest import PragmaForestClassifier
from .pragma_tree import PragmaTreeClassifier
from .table_votes import table_votes
from .tuned_decision import TunedDecisionClassifier
from .tuning import Tuned, tune_votes

__all__ = [
    "C45Classifier",
    "PragmaForestClassifier",
    "PragmaTreeClassifier",
    "Tuned",
    "TunedDecisionClassifier",
    "fit_table",
    "load_model",
    "save_model",
    "table_votes",
    "tune_votes",
]
