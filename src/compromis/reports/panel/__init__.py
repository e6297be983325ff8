"""The interactive panel: evidence as a JSON document, and our own script and style that turn it into sliders and pictures."""

from compromis.reports.panel.document import panel_document
from compromis.reports.panel.widget import panel_assets

__all__ = ["panel_assets", "panel_document"]
