from .committee import Committee, Member, evaluate_members
from .curves import ComplexityCurve, LearningCurve, complexity_curve, preference_learning_curve
from .label_needs import LabelsNeeded, labels_needed
from .labels import LabelPlan, plan_labels
from .leaks import Leaks, find_leaks, row_groups
from .splits import Split, split, training_priors

__all__ = [
    "Committee",
    "ComplexityCurve",
    "LabelPlan",
    "LabelsNeeded",
    "Leaks",
    "LearningCurve",
    "Member",
    "Split",
    "complexity_curve",
    "evaluate_members",
    "find_leaks",
    "labels_needed",
    "plan_labels",
    "preference_learning_curve",
    "row_groups",
    "split",
    "training_priors",
]
