"""Class shares that move: what they are now, what that does to a decision, and what to do."""

from compromis.drift.estimate import PrevalenceEstimate
from compromis.drift.prevalence import prevalence_by_confusion, prevalence_by_em
from compromis.drift.watching import Unlabelled, Watch, watch

__all__ = ["PrevalenceEstimate", "Unlabelled", "Watch", "prevalence_by_confusion", "prevalence_by_em", "watch"]
