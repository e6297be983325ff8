from .monitoring import Monitor, Unlabelled, monitor
from .prevalence import PrevalenceEstimate, prevalence_by_confusion, prevalence_by_em

__all__ = [
    "Monitor",
    "PrevalenceEstimate",
    "Unlabelled",
    "monitor",
    "prevalence_by_confusion",
    "prevalence_by_em",
]
