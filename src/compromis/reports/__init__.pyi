from .panel.widget import panel
from .result import Report, report

__all__ = [
    "Report",
    "panel",
    "report",
]
