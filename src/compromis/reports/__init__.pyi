from .panel.document import panel_document, preferences_document
from .panel.widget import panel_assets
from .result import Report, report

__all__ = [
    "Report",
    "panel_assets",
    "panel_document",
    "preferences_document",
    "report",
]
