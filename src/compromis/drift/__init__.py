"""Class shares that move: what they are now, what that does to a decision, and what to do."""

from compromis.drift.estimate import PrevalenceEstimate
from compromis.drift.monitor import Monitor, Unlabelled, monitor
from compromis.drift.prevalence import prevalence_by_confusion, prevalence_by_em

__all__ = ["Monitor", "PrevalenceEstimate", "Unlabelled", "monitor", "prevalence_by_confusion", "prevalence_by_em"]
