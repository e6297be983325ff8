from .asking import ask
from .contents import report
from .page import Report
from .panel.document import panel_document, preferences_document
from .panel.widget import panel_assets

__all__ = [
    "Report",
    "ask",
    "panel_assets",
    "panel_document",
    "preferences_document",
    "report",
]
