from .anytime import AnytimeTest, AnytimeTests
from .monitoring import Cause, Change, Monitor, Period, Unlabelled, monitor
from .prevalence import PrevalenceEstimate, prevalence_by_confusion, prevalence_by_em

__all__ = [
    "AnytimeTest",
    "AnytimeTests",
    "Cause",
    "Change",
    "Monitor",
    "Period",
    "PrevalenceEstimate",
    "Unlabelled",
    "monitor",
    "prevalence_by_confusion",
    "prevalence_by_em",
]
