"""Class shares that move: what they are now, what that does to a decision, and what to do."""

from compromis.drift.monitoring import Monitor, Unlabelled, monitor
from compromis.drift.prevalence import PrevalenceEstimate, prevalence_by_confusion, prevalence_by_em

__all__ = ["Monitor", "PrevalenceEstimate", "Unlabelled", "monitor", "prevalence_by_confusion", "prevalence_by_em"]
